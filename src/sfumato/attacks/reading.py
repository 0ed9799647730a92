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
    read = plain_array(given, name, must)
    fits = read.dtype.kind in "biuf" or not any(isinstance(one, str | bytes) for one in read.flat)
    try:
        if fits and read.dtype.kind in "biufO":
            return read.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise BadArgument(name, must, f"{read.dtype} of shape {read.shape}")


def places(given: Iterable[int] | None, count: int, name: str) -> NDArray[np.int64]:
    """Reads places among so many, one or more of them; all, where none are named."""
    if given is None:
        return np.arange(count)
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else []
    if not listed or not all(
        isinstance(one, int | np.integer) and not isinstance(one, bool) and 0 <= one < count for one in listed
    ):
        raise BadArgument(name, f"places between 0 and {count - 1}, one or more", given)
    return np.array(listed, dtype=np.int64)
