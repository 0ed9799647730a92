"""Rows in canonical form: what makes two records the same, for distances between data sets."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Hashable

import numpy as np

from sfumato.core.atoms import Data


def records(data: Data) -> Counter[Hashable]:
    """The multiset of rows of a data set."""
    return Counter(rows_of(data))


def rows_of(data: Data) -> list[Hashable]:
    """The rows of a column, matrix or frame, in order, each in canonical form."""
    if hasattr(data, "keys") and getattr(data, "ndim", 2) == 2:  # a pandas column has keys too: its row labels
        names = sorted(data.keys())
        return [tuple(map(canonical, row)) for row in zip(*(list(data[name]) for name in names), strict=True)]
    if isinstance(data, np.ndarray):
        data = data.tolist()
    return [
        tuple(map(canonical, row)) if isinstance(row, list | tuple | np.ndarray) else canonical(row) for row in data
    ]


def canonical(value: Data) -> Hashable:
    """A key that is equal for indistinguishable values only: NaN is one value, -0.0 is not 0.0, 1 is not True."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return ("float", "nan") if math.isnan(value) else ("float", struct.pack("<d", value))
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(map(canonical, value))
    return (type(value).__name__, value)
