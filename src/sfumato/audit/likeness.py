"""Whether two outcomes are the same to whoever sees them: in values, types, order, names and shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from types import NoneType
from typing import Any

import numpy as np

from sfumato.core.looks import looks
from sfumato.core.rows import canonical

PLAIN = {int, bool, str, bytes, NoneType, date, datetime, Fraction}
"""Kinds of values of which equal ones look alike."""


UNCLEAR = "what cannot be compared"
"""Stands for two outcomes that may or may not differ."""


def difference(left: Any, right: Any) -> str:
    """Says in what two outcomes differ, and nothing of what is in them; nothing where they are the same.

    NaN is one value; −0.0 is not 0.0, 1 is not True and not 1.0. Frames are read to their last entry, and objects by
    what is in them; of what shows nothing of what is in it, such as a function, it gives `UNCLEAR`.

    >>> difference((1, float("nan")), (1, float("nan"))), difference([1], [1.0]), difference({"a": 1}, {"b": 1})
    ('', 'the type', 'the keys')
    """
    try:
        return _difference(left, right)
    except RecursionError:  # what holds itself has no end
        return UNCLEAR


def _difference(left: Any, right: Any) -> str:
    kind = type(left)
    if kind is not type(right):
        return _object_difference(left, right) if _full_name(kind) == _full_name(type(right)) else "the type"
    if kind in PLAIN:
        return "" if left == right else "the value"
    match left:
        case np.ndarray():
            return _arrays(left, right)
        case Mapping():
            if unlike := _difference(list(left), list(right)):
                return UNCLEAR if unlike == UNCLEAR else "the keys"
            return _worst(_difference(left[ours], right[theirs]) for ours, theirs in zip(left, right, strict=True))
        case list() | tuple():
            if len(left) != len(right):
                return "the length"
            if set(map(type, left)) <= PLAIN and list(map(type, left)) == list(map(type, right)):
                return "" if left == right else "the value"
            return _worst(_difference(ours, theirs) for ours, theirs in zip(left, right, strict=True))
    if is_dataclass(left) and not isinstance(left, type):
        names = [field.name for field in fields(left) if field.compare]
        return _worst(_difference(getattr(left, name), getattr(right, name)) for name in names)
    if isinstance(left, float | np.generic):
        return "" if canonical(left) == canonical(right) else "the value"
    return _object_difference(left, right)


def _full_name(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


def _object_difference(left: Any, right: Any) -> str:
    """Compares objects by what is in them; one that both runs give may have been changed since the first."""
    if left is right and hasattr(left, "__dict__") and not isinstance(left, Enum | type):
        return UNCLEAR
    try:
        return "" if looks(left) == looks(right) else "the value"
    except Exception:  # an object of somebody else's may fail in any way
        return UNCLEAR


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
        return _difference(left.ravel().tolist(), right.ravel().tolist())
    if left.dtype.kind in "cV":  # a NaN may have other bits, and records gaps
        return "" if looks(left.tolist()) == looks(right.tolist()) else "the value"
    return "" if left.tobytes() == right.tobytes() else "the value"


def _worst(differences: Iterable[str]) -> str:
    """The first that is a difference for sure, or else the first that is unclear."""
    unclear = ""
    for words in differences:
        if words and words != UNCLEAR:
            return words
        unclear = unclear or words
    return unclear
