from .duckdb.opening import DuckDB
from .polars.opening import Polars

__all__ = ["DuckDB", "Polars"]
