"""Intervals of a mean, and of the difference of two: what their tests would not reject."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Unpack

from sfumato.learn.significance.asking import Bounds, Paying
from sfumato.learn.significance.finding import IntervalEstimate
from sfumato.learn.significance.means import t_test


def mean_interval(
    data: object,
    other: object = None,
    *,
    paired: bool = False,
    column: str | None = None,
    by: object = None,
    between: Bounds = None,
    groups: Sequence[Hashable] | None = None,
    **paying: Unpack[Paying],
) -> IntervalEstimate:
    """Estimates the mean of a population, or how far two are apart, with an interval that counts noise and drawing.

    ``mean_interval(x, between=(0, 10), epsilon=1)`` on numbers that one holds, or of a table ``column="score"``. With a
    second sample, or ``by="arm"``, it is the first mean minus the second; ``paired=True`` asks for the mean of
    differences. What is asked and what it costs are those of `t_test`, and so is what is assumed: the interval is what
    that test would not reject (proofs/significance.md#means). Numbers are moved into their bounds: it is the mean of
    those.

    >>> import numpy as np
    >>> found = mean_interval(np.arange(5000.0) % 10, between=(0, 9), epsilon=1)
    >>> low, high = found.interval()
    >>> 4.2 < low < 4.5 < high < 4.8
    True
    """
    tested = t_test(data, other, paired=paired, column=column, by=by, between=between, groups=groups, **paying)
    what = column if column is not None else "x"
    compared = by is not None or (other is not None and not paired)
    asked = f"how far are the means of {what} apart?" if compared else f"what is the mean of {what}?"
    return IntervalEstimate(asked, tested.estimate, tested.interval, tested.release_, tested.rows)
