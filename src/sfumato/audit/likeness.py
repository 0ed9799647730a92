"""Whether two outcomes are the same to whoever sees them: in values, types, order, names and shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from fractions import Fraction
from types import NoneType
from typing import Any

import numpy as np

from sfumato.core.rows import canonical

PLAIN = {int, bool, str, bytes, NoneType, date, datetime, Fraction}
"""Kinds of values of which equal ones look alike."""


def difference(left: Any, right: Any) -> str:
    """Says in what two outcomes differ, and nothing of what is in them; nothing where they are the same.

    NaN is one value; −0.0 is not 0.0, 1 is not True and not 1.0.

    >>> difference((1, float("nan")), (1, float("nan"))), difference([1], [1.0]), difference({"a": 1}, {"b": 1})
    ('', 'the type', 'the keys')
    """
    if type(left) is not type(right):
        return "the type"
    match left:
        case np.ndarray():
            return _arrays(left, right)
        case Mapping():
            if difference(list(left), list(right)):
                return "the keys"
            return _first(difference(left[one], right[other]) for one, other in zip(left, right, strict=True))
        case list() | tuple():
            if len(left) != len(right):
                return "the length"
            kinds = set(map(type, left))
            if kinds <= PLAIN and list(map(type, left)) == list(map(type, right)):
                return "" if left == right else "the value"
            return _first(difference(one, other) for one, other in zip(left, right, strict=True))
    if is_dataclass(left) and not isinstance(left, type):
        names = [field.name for field in fields(left) if field.compare]
        return _first(difference(getattr(left, name), getattr(right, name)) for name in names)
    if isinstance(left, float | np.generic):
        return "" if canonical(left) == canonical(right) else "the value"
    return "" if bool(left == right) else "the value"


def _arrays(left: Any, right: Any) -> str:
    if left.dtype != right.dtype:
        return "the dtype"
    if left.shape != right.shape:
        return "the shape"
    if left.dtype.kind == "f":
        # Bits tell −0.0 from 0.0; every NaN is one value.
        words = np.dtype(f"u{left.dtype.itemsize}") if left.dtype.itemsize <= 8 else None
        alike = (left == right) if words is None else (left.view(words) == right.view(words))
        return "" if bool(np.all(alike | (np.isnan(left) & np.isnan(right)))) else "the value"
    if left.dtype.kind == "O":
        return difference(left.ravel().tolist(), right.ravel().tolist())
    return "" if left.tobytes() == right.tobytes() else "the value"


def _first(found: Iterable[str]) -> str:
    return next((one for one in found if one), "")
