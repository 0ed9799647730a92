"""What operators do to released numbers and public keys, group by group: post-processing, which never sees data.

Numbers are `Vector`s, which carry intervals; truth values, texts and days are arrays of objects, None where missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from sfumato.release.vectors import Array, Vector

Released: TypeAlias = Vector | Array
Rule: TypeAlias = Callable[[Sequence[Released]], Released]


def numbers_of(cells: Array) -> Vector:
    """Reads public numbers without error bars, missing ones as NaN."""
    if all(type(cell) is int for cell in cells):
        return Vector.exact(np.array(cells.tolist(), dtype=object if _large(cells) else np.int64), whole=True)
    return Vector.exact(np.array([np.nan if cell is None else float(cell) for cell in cells], dtype=np.float64))


def _large(cells: Array) -> bool:
    return any(abs(cell) >= 1 << 62 for cell in cells)


def _vector(part: Released) -> Vector:
    return part if isinstance(part, Vector) else numbers_of(part)


def negated(parts: Sequence[Released]) -> Released:
    """Turns the sign of numbers, and with it their error bars."""
    return -_vector(parts[0])


def objects_of(part: Released) -> Array:
    """Cells as Python objects, with None for what is missing."""
    if not isinstance(part, Vector):
        return part
    values = part.values.astype(object)
    values[np.isnan(part.floats)] = None
    return values


def _unbounded(values: Array) -> Vector:
    nowhere = np.full(len(values), np.inf)
    return Vector(values, -nowhere, nowhere)


def of_two(operate: Callable[[Vector, Vector], Vector]) -> Rule:
    """Applies an operation of two numbers."""
    return lambda parts: operate(_vector(parts[0]), _vector(parts[1]))


def monotonic(function: Callable[[Array], Array]) -> Rule:
    """Applies a function that keeps the order of numbers; missing where it has no value."""

    def apply(parts: Sequence[Released]) -> Released:
        moved = _vector(parts[0]).monotonic(function)
        return Vector(np.where(np.isfinite(moved.values), moved.values, np.nan), moved.low, moved.high)

    return apply


def powered(parts: Sequence[Released]) -> Released:
    """Powers; of the error bar nothing is said where numbers may be negative, or the exponent is noisy."""
    base, exponent = map(_vector, parts)
    sure = (base.low >= 0) & (exponent.low == exponent.high)
    with np.errstate(all="ignore"):
        ends = [np.where(sure, np.power(end, exponent.low), np.nan) for end in (base.low, base.high)]
        values = np.power(base.floats, exponent.floats)
    low, high = np.minimum(*ends), np.maximum(*ends)
    return Vector(np.where(np.isfinite(values), values, np.nan), low, high)


def absolute(parts: Sequence[Released]) -> Released:
    """Absolute values; the error bar begins at 0 where the sign is not certain."""
    one = _vector(parts[0])
    across = (one.low <= 0) & (one.high >= 0)
    ends = np.abs(one.low), np.abs(one.high)
    return Vector(np.abs(one.values), np.where(across, 0.0, np.minimum(*ends)), np.maximum(*ends), one.whole)


def extreme(pick: Any) -> Rule:
    """Builds the rule for the least, or the greatest, of several numbers, ends of error bars included."""

    def apply(parts: Sequence[Released]) -> Released:
        vectors = [_vector(part) for part in parts]
        return Vector(*(pick.reduce([get(one) for one in vectors]) for get in (_floats, _low, _high)))

    return apply


def _floats(one: Vector) -> Array:
    return one.floats


def _low(one: Vector) -> Array:
    return one.low


def _high(one: Vector) -> Array:
    return one.high


def clamped(parts: Sequence[Released]) -> Released:
    """Moves numbers into bounds."""
    return _vector(parts[0]).within(_vector(parts[1]).floats, _vector(parts[2]).floats)


def compared(compare: Callable[[Any, Any], bool]) -> Rule:
    """Compares two values; missing where one of them is."""

    def apply(parts: Sequence[Released]) -> Released:
        left, right = map(objects_of, parts)
        pairs = zip(left, right, strict=True)
        return _cells(None if a is None or b is None else bool(compare(a, b)) for a, b in pairs)

    return apply


def _cells(values: Any) -> Array:
    cells = list(values)
    made = np.empty(len(cells), dtype=object)
    made[:] = cells
    return made


def conjunction(parts: Sequence[Released]) -> Released:
    """Tells whether all conditions are true."""
    rows = zip(*map(objects_of, parts), strict=True)
    return _cells(False if False in row else None if None in row else True for row in rows)


def disjunction(parts: Sequence[Released]) -> Released:
    """Tells whether a condition is true."""
    rows = zip(*map(objects_of, parts), strict=True)
    return _cells(True if True in row else None if None in row else False for row in rows)


def opposite(parts: Sequence[Released]) -> Released:
    """Tells whether a condition is false."""
    return _cells(None if cell is None else not cell for cell in objects_of(parts[0]))


def missing(parts: Sequence[Released]) -> Released:
    """Tells where values are missing."""
    return _cells(cell is None for cell in objects_of(parts[0]))


def among(parts: Sequence[Released]) -> Released:
    """Tells whether values are among constants."""
    value, *constants = map(objects_of, parts)
    return _cells(None if cell is None else cell in others for cell, *others in zip(value, *constants, strict=True))


def _chosen(parts: Sequence[Released], picks: Callable[[tuple[Any, ...]], Any]) -> Released:
    """Picks one of several values, cell by cell; the pick depends on noisy numbers, so nothing is said of its error."""
    cells = _cells(picks(row) for row in zip(*map(objects_of, parts), strict=True))
    numeric = any(isinstance(part, Vector) for part in parts)
    return _unbounded(numbers_of(cells).values) if numeric and not any(isinstance(c, str) for c in cells) else cells


def first_true(parts: Sequence[Released]) -> Released:
    """The value of the first condition that is true, or the last value."""

    def pick(row: tuple[Any, ...]) -> Any:
        return next((row[at + 1] for at in range(0, len(row) - 1, 2) if row[at] is True), row[-1])

    return _chosen(parts, pick)


def first_there(parts: Sequence[Released]) -> Released:
    """The first value that is not missing."""
    return _chosen(parts, lambda row: next((cell for cell in row if cell is not None), None))


def unless_equal(parts: Sequence[Released]) -> Released:
    """The first values, missing where they equal the second ones."""
    return _chosen(parts, lambda row: None if row[0] == row[1] else row[0])
