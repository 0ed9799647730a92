"""What randomness before or after a mechanism saves: sampling, allocation, a sample of a population, shuffling."""

from __future__ import annotations

from sfumato.accounting.amplify import allocation, pld_rows, population, rates, sampled_rows, shuffle

ROWS = (rates, sampled_rows, pld_rows, allocation, shuffle)
"""The modules that file rows in the accountant's tables."""

__all__ = ["ROWS", "population"]
