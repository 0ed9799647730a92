"""Columns as people have them: lists, and the columns of NumPy, pandas, Polars and Arrow.

What is missing (None, NaN, NaT, a masked or null entry) is left out, entry by entry; how many are there is private.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Number as AnyNumber
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument

ONE_COLUMN = "one column of entries: a list, an array, or a column such as frame['age']"


def numbers(values: object) -> NDArray[np.float64]:
    """A column of numbers as floats, NaN where one is missing.

    All numbers are read as floats: whether a column is one of whole numbers could depend on a single entry.
    """
    array = _array(values)
    if array is None or array.dtype.kind == "O":
        listed = as_list(values) if array is None else array.tolist()
        return np.fromiter((_number(entry) for entry in listed), dtype=np.float64, count=len(listed))
    if array.dtype.kind not in "biuf":
        raise BadArgument("values", f"numbers: {_other(array.dtype.kind)}", array.dtype.name)
    return array.astype(np.float64)


def present(values: object) -> NDArray[np.bool_]:
    """Tells of each entry of a column whether it is there."""
    array = _array(values)
    if array is not None and array.dtype.kind in "biuf":
        return ~np.isnan(array.astype(np.float64))
    return np.array([not is_missing(entry) for entry in as_list(values)], dtype=np.bool_)


def entries(values: object) -> list[Hashable]:
    """A column of anything, without what is missing: texts, whole numbers, truth values, dates."""
    present = [entry.item() if isinstance(entry, np.generic) else entry for entry in as_list(values)]
    present = [entry for entry in present if not is_missing(entry)]
    if not all(isinstance(entry, Hashable) for entry in present):
        raise BadArgument("values", ONE_COLUMN, "lists or tables in it")
    return present


def is_missing(entry: object) -> bool:
    """Tells whether an entry stands for none: None, or what is not equal to itself (NaN, NaT), or nobody knows (NA)."""
    if entry is None:
        return True
    try:
        return bool(entry != entry)  # which is what they have in common
    except (TypeError, ValueError):  # pandas' NA has no truth value
        return type(entry).__name__ == "NAType"


def _array(values: object) -> NDArray[Any] | None:
    """A column as an array of NumPy with NaN for what is missing, where its library makes one."""
    if isinstance(values, np.ma.MaskedArray):
        return None if values.ndim != 1 else np.ma.filled(values.astype(np.float64), math.nan)
    if isinstance(values, np.ndarray):
        return _flat(values)
    if isinstance(values, list | tuple | range | str | bytes | Mapping):
        return None
    own: Callable[..., Any] | None = getattr(values, "to_numpy", None)
    if own is None:
        return None
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    nulls: dict[str, Any] = {
        "dtype": np.float64,
        "na_value": math.nan,
    }  # as pandas says it, of numbers: dates would become numbers too
    ways: list[dict[str, Any]] = [{"zero_copy_only": False}, {}]  # the first as Arrow says it
    for arguments in [nulls, *ways] if kind in ("i", "u", "f") else ways:
        try:
            return _flat(np.asarray(own(**arguments)))
        except TypeError:
            continue
    return None


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim != 1:
        raise BadArgument("values", ONE_COLUMN, f"{array.ndim} dimensions")
    return array


def as_list(values: object) -> list[Any]:
    """The entries of a column as Python has them."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable) or hasattr(values, "columns"):
        raise BadArgument("values", ONE_COLUMN, type(values).__name__)
    if isinstance(values, np.ndarray):
        _flat(values)
    for way in ("to_pylist", "to_list", "tolist"):
        if callable(own := getattr(values, way, None)):
            return list(own())
    return list(values)


def _number(entry: object) -> float:
    if isinstance(entry, np.generic):
        entry = entry.item()
    if isinstance(entry, int | float | Decimal | Fraction):
        try:
            return float(entry)
        except OverflowError:
            return math.inf if entry > 0 else -math.inf
        except ValueError:  # a signalling NaN
            return math.nan
    if is_missing(entry):
        return math.nan
    kind = "texts" if isinstance(entry, str) else "complex" if isinstance(entry, AnyNumber) else type(entry).__name__
    raise BadArgument("values", f"numbers: {_other('U' if kind == 'texts' else '')}", kind)


def _other(kind: str) -> str:
    """What to do with entries that are none."""
    if kind in "US" and kind:
        return "of texts, sf.dp.count_by and sf.dp.top_k can be asked"
    return "read dates as numbers first, such as days since a public day" if kind in "mM" and kind else "they are not"
