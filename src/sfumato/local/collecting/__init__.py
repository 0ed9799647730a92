"""Where reports are kept: a DuckDB file or a folder of Parquet files, summed up by SQL."""
