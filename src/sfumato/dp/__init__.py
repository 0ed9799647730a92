"""One line for one number, with ε: ``sf.dp.mean(ages, between=(0, 120), epsilon=1)``.

Each entry of a column is one person; whoever has several is protected that much less. Neighbours have one entry more or
less, so how many there are is private too. Missing entries (None, NaN, null) are left out. Columns are lists, or those
of NumPy, pandas, Polars and Arrow. Nothing is charged: several lines on the same people add up, and a `Session` counts.
"""

from sfumato.dp.numbers import count, max, mean, median, min, quantile, quantiles, std, sum, variance
from sfumato.dp.tables import count_by, histogram, top_k

__all__ = [
    "count",
    "count_by",
    "histogram",
    "max",
    "mean",
    "median",
    "min",
    "quantile",
    "quantiles",
    "std",
    "sum",
    "top_k",
    "variance",
]
