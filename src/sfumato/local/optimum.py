"""What theory knows of counting values: the chances of reports from sets, and the least error of any protocol."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, ball, integer, lower
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon, weight_below
from sfumato.local.device import BITS


@guarantee(
    claim="one of s reports with chance p, else one of o others: 1 < p o / ((1 - p) s) <= e^epsilon",
    proof="proofs/local.md#sets",
    reviewed="7d35175ce2cc",
)
def set_weight(epsilon: Fraction, inside: int, outside: int) -> int:
    """The chance of a report from the value's own set of so many reports, rounded down, in 53 binary digits."""
    weight = weight_below(lambda: 1 / (1 + (-ball(epsilon)).exp() * outside / inside))
    if weight * (inside + outside) <= inside << BITS:
        raise BadArgument(
            "the epsilon of a report",
            "so large that the chances of reports differ, which are multiples of 2^-53",
            float(epsilon),
        )
    return weight


def mean_variance(size: int, truth: float, other: float) -> float:
    """The variance of an estimated count a person, as a mean over all values, by the chances of support."""
    return ((size - 1) * other * (1 - other) + truth * (1 - truth)) / (truth - other) ** 2 / size


def best_set(size: int, epsilon: Fraction) -> int:
    """The size of the sets of values whose error is least: about k / (e^ε + 1), and at least 1.

    >>> best_set(1000, Fraction(1)), best_set(3, Fraction(1)), best_set(2, Fraction(1, 100))
    (269, 1, 1)
    """
    grown = math.exp(epsilon)
    return min(_near(size, epsilon), key=lambda some: (some * grown + size - some) ** 2 / (some * (size - some)))


def _near(size: int, epsilon: Fraction) -> list[int]:
    """The possible sizes of sets next to k / (e^ε + 1)."""
    below = math.floor(size / (math.exp(epsilon) + 1))
    return [some for some in (below, below + 1) if 0 < some < size]


@guarantee(
    claim="no private protocol whose counts are unbiased has a smaller mean squared error, as a mean over all data",
    proof="proofs/local.md#optimum",
    reviewed="cfd4fab35dcc",
)
def least_error(size: int, *, loss: Pure | Number | None = None, epsilon: Number | None = None, users: int) -> Fraction:
    """The least mean squared error of estimated shares of so many values that any protocol can have, rounded down.

    Of all protocols in which each report keeps the loss and counts are unbiased; as a mean over all values and all
    data. `SubsetSelection` has it for any data.

    >>> round(float(least_error(1000, loss=1, users=100_000)), 8)
    3.674e-05
    """
    options, people = integer(size, "size", least=2), integer(users, "users", least=1)
    kept = read_epsilon(loss, epsilon)

    def error(some: int) -> Any:
        grown = ball(kept).exp()
        spread = (some * grown + options - some) ** 2 / (some * (options - some) * (grown - 1) ** 2)
        return ((options - 1) ** 2 * spread / options - 1 + ball(Fraction(1, options))) / (options * people)

    return min(Fraction(lower(partial(error, some))) for some in _near(options, kept))
