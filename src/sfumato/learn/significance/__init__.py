"""Tests of hypotheses from noisy sums: what left the data is released once, and its noise is part of every null."""
