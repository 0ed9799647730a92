from .duckdb.opening import DuckDB
from .elsewhere.compiling import compile_sql
from .postgres.opening import Postgres

__all__ = ["DuckDB", "Postgres", "compile_sql"]
