"""Nodes: the typed, frozen trees of queries, and what is public about their values."""
