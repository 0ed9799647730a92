from .duckdb.opening import DuckDB
from .elsewhere.compiling import compile_sql
from .polars.opening import Polars
from .postgres.opening import Postgres

__all__ = ["DuckDB", "Polars", "Postgres", "compile_sql"]
