"""Counts that look like counts: noisy ones made non-negative, whole, and true to a total, moved as little as possible.

Everything here works on released numbers alone, so it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.core.domains import Array
from sfumato.errors import BadArgument
from sfumato.exact import Number, non_negative

Ratio = tuple[int, int]
"""A rational, as numerator and denominator."""


def consistent_counts(
    noisy: Sequence[Number] | Array,
    total: Number | Mapping[Hashable, Number] | None = None,
    *,
    whole: bool = True,
    groups: Sequence[Hashable] | None = None,
) -> Array:
    """Finds the counts nearest to noisy ones (in the sum of squares) that are non-negative and add up to a total.

    Without a ``total`` negative counts become 0, and whole ones keep the sum, rounded. With ``whole`` they are the
    nearest whole numbers with that sum, which is what largest remainders give; ties go to earlier places. ``groups``
    labels the counts: each group is then treated on its own, and ``total`` maps labels to totals. The arithmetic is
    exact, and a result that is given again does not change.

    >>> consistent_counts([5.5, -2.0, 3.2], 8).tolist()
    [5, 0, 3]
    >>> consistent_counts([1.25, 1.25, 0.5], groups=["a", "a", "b"], total={"a": 4, "b": 1}).tolist()
    [2, 2, 1]
    """
    values = _read(noisy)
    if groups is None:
        if isinstance(total, Mapping):
            raise BadArgument("total", "one number, unless groups are given", "a mapping")
        return _nearest(values, _total(total, whole=whole), whole=whole)
    labels = list(groups)
    if len(labels) != len(values) or not (total is None or isinstance(total, Mapping)):
        raise BadArgument("groups", "one label for each count, with a total for each label or none", len(labels))
    members: dict[Hashable, list[int]] = {}
    for place, label in enumerate(labels):
        members.setdefault(label, []).append(place)
    if total is not None and set(total) != set(members):
        raise BadArgument("total", "given for every group, and for no other", len(total))
    counts = np.empty(len(values), dtype=np.int64 if whole else np.float64)
    for label, places in members.items():
        part = [values[place] for place in places]
        fitted = _nearest(part, None if total is None else _total(total[label], whole=whole), whole=whole)
        counts = counts.astype(object) if fitted.dtype == object else counts
        counts[places] = fitted
    return counts


def _read(noisy: Sequence[Number] | Array) -> list[Ratio]:
    if getattr(noisy, "ndim", 1) != 1 or isinstance(noisy, str | bytes | Mapping):
        raise BadArgument("noisy", "a list of finite numbers", type(noisy).__name__)
    listed: list[Any] = [value.item() if isinstance(value, np.generic) else value for value in noisy]
    if not all(_is_finite(value) for value in listed):
        raise BadArgument("noisy", "a list of finite numbers", "something else")
    return [value.as_integer_ratio() for value in listed]


def _is_finite(value: object) -> bool:
    number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    return number and math.isfinite(value)  # type: ignore[arg-type]  # one of these by now


def _total(total: Number | None, *, whole: bool) -> Fraction | None:
    if total is None:
        return None
    amount = non_negative(total, "total")
    if whole and amount.denominator != 1:
        raise BadArgument("total", "a whole number, for whole counts", total)
    return amount


def _nearest(values: list[Ratio], total: Fraction | None, *, whole: bool) -> Array:
    if total is not None and not values and total > 0:
        raise BadArgument("total", "0 where there are no counts", total)
    # In whole numbers of one unit: exact, and much faster than rationals.
    unit = math.lcm(1 if total is None else total.denominator, *(bottom for _, bottom in values))
    entries = [top * (unit // bottom) for top, bottom in values]
    if total is None:
        entries = [max(entry, 0) for entry in entries]
        wanted = (2 * sum(entries) + unit) // (2 * unit)
    else:
        entries, count = project_to_sum(entries, int(total * unit))
        wanted, unit = math.floor(total), unit * count
    if not whole:
        return np.array([entry / unit for entry in entries], dtype=np.float64)
    counts = round_to_sum(entries, unit, wanted)
    return np.array(counts, dtype=np.int64 if max(counts, default=0) < 1 << 63 else object)


def project_to_sum(entries: list[int], total: int) -> tuple[list[int], int]:
    """The nearest non-negative numbers with a sum, in whole numbers of a unit, and how often that was divided.

    They are all less by one and the same amount, where that is above 0.
    """
    if total == 0:
        return [0] * len(entries), 1
    above, less, divided = 0, 0, 1
    for count, entry in enumerate(sorted(entries, reverse=True), start=1):
        above += entry
        if entry * count <= above - total:
            break
        less, divided = above - total, count
    return [max(entry * divided - less, 0) for entry in entries], divided


def round_to_sum(entries: list[int], unit: int, total: int) -> list[int]:
    """Rounds to whole numbers with a sum: each number of units down, and 1 more for the largest remainders."""
    floors = [entry // unit for entry in entries]
    order = sorted(range(len(entries)), key=lambda place: -(entries[place] % unit))
    for place in order[: total - sum(floors)]:
        floors[place] += 1
    return floors
