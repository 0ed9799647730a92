"""DuckDB: its dialect, its connections, and the files, frames and databases that it reads."""
