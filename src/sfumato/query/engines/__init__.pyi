from .duckdb.opening import DuckDB
from .elsewhere.compiling import compile_sql
from .polars.opening import Polars

__all__ = ["DuckDB", "Polars", "compile_sql"]
