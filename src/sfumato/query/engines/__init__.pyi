from .duckdb.opening import DuckDB
from .elsewhere.compiling import compile_sql

__all__ = ["DuckDB", "compile_sql"]
