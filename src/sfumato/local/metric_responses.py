"""One of a few values reported so that values near each other look alike, whatever "near" means.

The exponential mechanism on a finite set with distances: a value is reported the likelier the nearer it is to the
truth. Two truths can be told apart in proportion to their distance.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, integer, non_negative
from sfumato.guarantee import guarantee
from sfumato.local.place_maps import PlaceRemap, best_choices
from sfumato.noise.exponential_tables import exponential_table
from sfumato.noise.inversion import InversionTable
from sfumato.noise.selection_laws import exponential_probabilities

MOST_VALUES = 1000

Table = tuple[tuple[Fraction, ...], ...]


@final
@dataclass(frozen=True)
class MetricResponse:
    """Reports one of a few values with a chance proportional to exp(-ε d(truth, value) / 2).

    Takes:      values; the table of their distances; epsilon, the loss for a distance of 1
    Guarantee:  a report is at most exp(ε D) times as likely from one value as from another, D the largest difference
                of their distances to any value: their own distance where the triangle inequality holds
                (proofs/places.md#finite)
    Cost:       a table for each truth, and 2 bytes of entropy a report

    >>> near = metric_response(["low", "middle", "high"], distance=[[0, 1, 2], [1, 0, 1], [2, 1, 0]], epsilon=1)
    >>> near.loss("low", "high")
    Pure(epsilon=2.0)
    """

    values: tuple[Hashable, ...]
    distances: Table
    epsilon: Fraction

    def randomize(self, value: Hashable, *, entropy: Entropy | None = None) -> Hashable:
        """Reports one value."""
        source = entropy if entropy is not None else system()
        return self.values[self._table(self._number(value)).one(source)]

    def randomize_many(self, values: Iterable[Hashable], *, entropy: Entropy | None = None) -> list[Hashable]:
        """Reports many values, each on its own."""
        source = entropy if entropy is not None else system()
        numbers = np.array([self._number(value) for value in values], dtype=np.int64)
        reported = np.zeros(len(numbers), dtype=np.int64)
        for truth in np.unique(numbers).tolist():
            here = np.flatnonzero(numbers == truth)
            reported[here] = self._table(truth).many(len(here), source)[0]
        return [self.values[place] for place in reported.tolist()]

    @guarantee(
        claim="epsilon times the largest difference of the distances of two values to any third, for each report",
        proof="proofs/places.md#finite",
        reviewed="bbc3b8891e40",
    )
    def loss(self, first: Hashable, second: Hashable, *, reports: int = 1) -> Pure:
        """What so many reports tell between two values: ε times their distance."""
        one, other = self.distances[self._number(first)], self.distances[self._number(second)]
        way = max(abs(a - b) for a, b in zip(one, other, strict=True))
        return Pure(integer(reports, "reports", least=1) * self.epsilon * way)

    def law(self) -> NDArray[np.float64]:
        """The chance of each report (column) from each truth (row), in floats."""
        rows = [exponential_probabilities(self._exponents(truth)) for truth in range(len(self.values))]
        return np.array([[float(chance.mid()) for chance in row] for row in rows])

    def remap(self, prior: ArrayLike) -> PlaceRemap:
        """Finds the best guess for each report, given public weights of the values; costs nothing.

        Entry i of its table is the number of the value to take for value number i.
        """
        return best_choices(self.law(), prior, np.array(self.distances, dtype=np.float64))

    def _exponents(self, truth: int) -> list[Fraction]:
        return [-self.epsilon * way / 2 for way in self.distances[truth]]

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {value: number for number, value in enumerate(self.values)}

    @cached_property
    def _built(self) -> dict[int, InversionTable]:
        return {}

    def _table(self, truth: int) -> InversionTable:
        """The table of one truth, built when it is first asked for."""
        if truth not in self._built:
            self._built[truth] = exponential_table(self._exponents(truth))
        return self._built[truth]

    def _number(self, value: Hashable) -> int:
        number = self._numbers.get(value) if isinstance(value, Hashable) else None
        if number is None:
            raise BadArgument("value", "one of the values that were named", Unseen())
        return number


def metric_response(
    values: Iterable[Hashable],
    *,
    distance: Callable[[Hashable, Hashable], Number] | Sequence[Sequence[Number]],
    epsilon: Number,
) -> MetricResponse:
    """Plans reports of one of a few values, private in proportion to a distance: a function, or a table."""
    listed = tuple(values)
    if not all(isinstance(value, Hashable) for value in listed):
        raise BadArgument("values", "values that can be told apart, such as texts, numbers or tuples", listed)
    if not 1 <= len(listed) <= MOST_VALUES or len(set(listed)) != len(listed):
        raise BadArgument("values", f"between 1 and {MOST_VALUES} different values", listed)
    rows = [[distance(a, b) for b in listed] for a in listed] if callable(distance) else distance
    if not hasattr(rows, "__len__") or not all(hasattr(row, "__len__") for row in rows):
        raise BadArgument("distance", "a function, or a table", rows)
    if len(rows) != len(listed) or any(len(row) != len(listed) for row in rows):
        raise BadArgument("distance", f"a function, or a table with {len(listed)} rows and columns", rows)
    table = tuple(tuple(non_negative(way, "distance") for way in row) for row in rows)
    for place, row in enumerate(table):
        if row[place] != 0 or any(way != table[other][place] for other, way in enumerate(row)):
            raise BadArgument("distance", "0 from a value to itself, and the same both ways", rows)
    return MetricResponse(listed, table, non_negative(epsilon, "epsilon"))
