"""Reads the numbers that attacks are given, and says what is wrong with them before any of them is used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument


def plain_array(given: object, name: str, must: str) -> NDArray[Any]:
    """Reads an array of any kind; rows of different lengths are none."""
    try:
        return np.asarray(given)
    except (TypeError, ValueError):
        raise BadArgument(name, must, "rows of different lengths") from None


def floats(given: object, name: str, must: str = "numbers") -> NDArray[np.float64]:
    """Reads an array of numbers; texts that look like numbers are none.

    >>> floats([1, True, 0.5], "answers").tolist()
    [1.0, 1.0, 0.5]
    """
    array = plain_array(given, name, must)
    fits = array.dtype.kind in "biuf" or not any(isinstance(cell, str | bytes) for cell in array.flat)
    try:
        if fits and array.dtype.kind in "biufO":
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise BadArgument(name, must, f"{array.dtype} of shape {array.shape}")


def places(given: Iterable[int] | None, count: int, name: str) -> NDArray[np.int64]:
    """Reads one or more places in 0 … count - 1; all of them, where ``given`` is None."""
    if given is None:
        return np.arange(count)
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else []
    if not listed or not all(
        isinstance(place, int | np.integer) and not isinstance(place, bool) and 0 <= place < count for place in listed
    ):
        raise BadArgument(name, f"places between 0 and {count - 1}, one or more", given)
    return np.array(listed, dtype=np.int64)
