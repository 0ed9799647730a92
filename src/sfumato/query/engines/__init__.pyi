from .duckdb.opening import DuckDB
from .postgres.opening import Postgres

__all__ = ["DuckDB", "Postgres"]
