from .duckdb.opening import DuckDB

__all__ = ["DuckDB"]
