"""Models of whole tables from noisy counts of few columns at a time: post-processing alone, which sees no data."""
