from .duckdb.opening import DuckDB
from .elsewhere.compiling import compile_sql
from .polars.opening import Polars
from .postgres.opening import Postgres
from .spark.opening import Spark

__all__ = ["DuckDB", "Polars", "Postgres", "Spark", "compile_sql"]
