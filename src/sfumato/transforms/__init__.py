"""Stable transformations: what happens to data before noise, each with the map that says how far neighbours move."""
