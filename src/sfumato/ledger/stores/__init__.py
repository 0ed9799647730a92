"""Where books are kept: in memory (for tests), in an SQLite file, on a PostgreSQL server."""
