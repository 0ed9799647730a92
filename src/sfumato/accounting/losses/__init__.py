"""Privacy losses as values: how each composes, compares and prints, and what it promises."""
