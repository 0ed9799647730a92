"""Spark: tables where they are, classic sessions and Spark Connect, from one machine to many."""
