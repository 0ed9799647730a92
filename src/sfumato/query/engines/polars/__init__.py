"""Polars: lazy frames and expressions, collected by its streaming engine; the frames and files that it reads."""
