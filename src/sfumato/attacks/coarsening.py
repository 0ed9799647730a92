"""Coarsening is not privacy: whatever is published without chance and ever changes when one person leaves, tells it.

A publication that is a function of the data has no finite ε as soon as one departure changes it: what is certain before
is impossible after. Ranges, rounding, a fixed offset and swapping only change for whom that happens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from sfumato.attacks.result import Attack, Success, Violation
from sfumato.attacks.tables import Cell, same_cell
from sfumato.errors import BadArgument
from sfumato.exact import Number, positive, rational

Publication: TypeAlias = Callable[[Sequence[Fraction]], Cell]
"""From some numbers to what is published of them, without chance."""


@final
@dataclass(frozen=True)
class Departure:
    """A person whose leaving shows: the row, and what is published before and after."""

    row: int
    before: Cell
    after: Cell


def departures(values: Sequence[Number], publish: Publication, *, against: str = "coarsening") -> Attack:
    """Counts the people whose leaving changes what is published: of each of them it is certain that they left.

    Somebody who sees no publication is never certain, so the baseline is 0; nor is anybody who sees one with a pure ε.
    NaN and NaN are the same publication.

    >>> scores = (85, 84, 85, 89, 92, 95, 100, 83, 70, 67)
    >>> found = departures(scores, range_of_mean(5))
    >>> found.success, found.found[0]
    (Success(hits=4, trials=10), Departure(row=3, before=(85, 90), after=(80, 85)))
    """
    numbers = [rational(value, "a value") for value in values]
    if len(numbers) < 2:
        raise BadArgument("values", "two or more, so that somebody stays", len(numbers))
    before, departed = publish(numbers), []
    for row in range(len(numbers)):
        after = publish(numbers[:row] + numbers[row + 1 :])
        if not same_cell(after, before):
            departed.append(Departure(row, before, after))
    return Attack(
        name="departures",
        violation=Violation.MEMBERSHIP,
        against=against,
        success=Success(len(departed), len(numbers)),
        baseline=0.0,
        found=tuple(departed),
    )


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def range_of_mean(width: Number) -> Publication:
    """Publishes the band of a width that the mean lies in, such as 80 to 90."""
    step = positive(width, "width")

    def publish(values: Sequence[Fraction]) -> Cell:
        low = math.floor(_mean(values) / step) * step
        return (low, low + step) if low.denominator != 1 or step.denominator != 1 else (int(low), int(low + step))

    return publish


def rounded_mean(to: Number) -> Publication:
    """Publishes the mean, rounded to the nearest multiple."""
    step = positive(to, "to")
    return lambda values: math.floor(_mean(values) / step + Fraction(1, 2)) * step


def offset_mean(by: Number) -> Publication:
    """Publishes the mean plus a fixed secret number: two publications differ as the means do."""
    shift = rational(by, "by")
    return lambda values: _mean(values) + shift


def swapped_mean() -> Publication:
    """Publishes the mean of a table in which values were exchanged between rows: no exchange changes it."""
    return lambda values: _mean(tuple(reversed(values)))
