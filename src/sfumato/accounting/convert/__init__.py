"""Conversions between kinds of loss: one row for each theorem, and the search for the tightest way through them."""
