from .duckdb.opening import DuckDB
from .spark.opening import Spark

__all__ = ["DuckDB", "Spark"]
