"""Responses by projective geometry: a report is a point, and supports the values whose hyperplane it lies in.

Hyperplanes are sets of points as subset selection draws them, only fewer: any two of them share equally many points. So
the errors are nearly those of the optimum, while a report is the number of a point, and all counts come of one fast
transform.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events.hiding import Hiding
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.exact import integer
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon
from sfumato.local.device import BITS, WHOLE
from sfumato.local.fields import (
    Field,
    codes_of,
    field,
    fitting,
    hyperplane_counts,
    leading,
    length_for,
    places_of,
    plane_counts,
    points_of,
)
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.optimum import mean_variance, set_weight
from sfumato.local.protocol import Drawn
from sfumato.local.reports import Layout
from sfumato.local.values import Values
from sfumato.noise.uniform import below_many

MOST_VECTORS = 1 << 24
"""Fields are so small that a tally's transform works on at most so many vectors, unless a larger one is asked for."""


def best_order(size: int, epsilon: float) -> int:
    """The order of the field with the least error for so many values: about e^ε + 1.

    >>> best_order(1000, 1.0), best_order(1000, math.log(7))
    (4, 8)
    """

    def error(order: int) -> float:
        length = length_for(order, size)
        every, inside = points_of(order, length), points_of(order, length - 1)
        truth = 1 / (1 + math.exp(-epsilon) * (every - inside) / inside)
        return mean_variance(size, truth, _support_of_others(truth, order, length))

    return min((order for order, _ in fitting(size, MOST_VECTORS, extra=0)), key=error)


def _support_of_others(truth: Any, order: int, length: int) -> Any:
    """The chance that a report on one value lies in the hyperplane of another one."""
    within, shared = points_of(order, length - 1), points_of(order, length - 2)
    outside = points_of(order, length) - within
    return truth * Fraction(shared, within) + (1 - truth) * Fraction(within - shared, outside)


@final
@dataclass(frozen=True)
class GeometryResponse(FrequencyProtocol):
    """Projective-geometry response: a report is a point, likelier in the hyperplane that belongs to the value.

    Takes:      the values, the loss of a report, and the order of the field: the best one unless given
    Guarantee:  P(report | value) ≤ e^ε P(report | other value), reached up to 2⁻⁵³  (proofs/local_codes.md#plane)
    Cost:       about 0.1 µs a report for many, and a fast transform of all counts; messages of a few bytes
    Best:       many values: the least error there is where e^ε + 1 is the order of a field, and some per cent more
                elsewhere, in the shortest messages of all

    >>> GeometryResponse(Values(range(1000)), Pure(1)).layout.size
    2
    """

    values: Values
    loss: Pure
    order: int | None = None

    def __post_init__(self) -> None:
        epsilon = read_epsilon(self.loss)
        object.__setattr__(self, "loss", Pure(epsilon))
        chosen = best_order(len(self.values), float(epsilon)) if self.order is None else self.order
        object.__setattr__(self, "order", field(integer(chosen, "order", least=2)).order)

    @property
    def _field(self) -> Field:
        return field(self.order or 2)

    @cached_property
    def _length(self) -> int:
        return length_for(self._field.order, len(self.values))

    @property
    def _inside(self) -> int:
        """The number of points of a hyperplane."""
        return points_of(self._field.order, self._length - 1)

    @property
    def _outside(self) -> int:
        """The number of all other points."""
        return int(self._field.order ** (self._length - 1))

    @cached_property
    def _truth(self) -> int:
        return set_weight(Fraction(self.loss.epsilon), self._inside, self._outside)

    @property
    def layout(self) -> Layout:
        """One cell for each point."""
        return Layout(self._inside + self._outside)

    @property
    def supports_truth(self) -> Fraction:
        """The chance of a point of the value's hyperplane."""
        return Fraction(self._truth, WHOLE)

    @cached_property
    def supports_other(self) -> Fraction:
        """The chance of a point of another hyperplane, which has one point in about so many as the field of the own."""
        return Fraction(_support_of_others(self.supports_truth, self._field.order, self._length))

    @property
    @guarantee(
        claim="a value owns its hyperplane of the points; any two share a space of one dimension less",
        proof="proofs/local.md#shuffling",
        reviewed="90ed085d04c7",
    )
    def hiding(self) -> Hiding:
        """A value owns the points of its hyperplane."""
        order, every = self._field.order, self.layout.cells
        shared = points_of(order, self._length - 2)
        return Hiding(self.supports_truth, share=Fraction(self._inside, every), overlap=Fraction(shared, every))

    def randomizer(self) -> dict[str, Any]:
        """The field, the number of points, and the chance of the hyperplane."""
        return {"kind": "plane", "cells": self.layout.cells, "bits": 0, "truth": self._truth, **self._field.recipe()}

    def draw(self, inputs: NDArray[Any], entropy: Entropy) -> Drawn:
        """Draws points of hyperplanes, and others, by the numbers of what their other entries are."""
        of, people = self._field, len(inputs)
        told = entropy.words(people) >> np.uint64(64 - BITS) < np.uint64(self._truth)
        inside, outside = np.flatnonzero(told), np.flatnonzero(~told)
        codes = codes_of(of.order, inputs)
        below = self._outside // leading(of.order, codes)
        later, low, more = (np.zeros(people, dtype=np.int64) for _ in range(3))
        drawn = codes_of(of.order, below_many(self._inside, count=len(inside), entropy=entropy))
        later[inside], low[inside] = np.divmod(drawn, below[inside])
        rest, low[outside] = np.divmod(below_many(self._outside, count=len(outside), entropy=entropy), below[outside])
        point, step = np.divmod(rest - 1, of.order - 1)  # of the point −1 nothing is taken
        later[outside] = np.where(rest > 0, codes_of(of.order, np.maximum(point, 0)), 0)
        more[outside] = np.where(rest > 0, step + 1, 1)
        entry = of.plus(of.inner(later, codes, self._length), more)
        points = places_of(of.order, low + below * (entry + of.order * later))
        return points, np.zeros((people, 0), dtype=np.uint64)

    def support(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """A report supports the values whose hyperplanes it lies in."""
        return plane_counts(sums[:, 0], self._field, self._length, len(self.values))


@final
@dataclass(frozen=True)
class HadamardResponse(FrequencyProtocol):
    """Hadamard response: a report is a column of a Hadamard matrix, likelier where the row of the value has a 1.

    Takes:      the values, and the loss of a report
    Guarantee:  P(report | value) ≤ e^ε P(report | other value), reached up to 2⁻⁵³  (proofs/local_codes.md#hadamard)
    Cost:       about 50 ns a report for many, and a fast transform of all counts; messages of a few bytes
    Best:       comparison, and ε far below 1, where it is nearly the best; `GeometryResponse` is never worse

    >>> HadamardResponse(Values(range(1000)), Pure(1)).layout.cells
    1024
    """

    values: Values
    loss: Pure

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))

    @cached_property
    def _truth(self) -> int:
        return set_weight(Fraction(self.loss.epsilon), 1, 1)

    @property
    def layout(self) -> Layout:
        """One cell for each column: as many as the next power of 2 that is above the number of values."""
        return Layout(1 << len(self.values).bit_length())

    @property
    def supports_truth(self) -> Fraction:
        """The chance of a column with a 1 in the row of the value."""
        return Fraction(self._truth, WHOLE)

    @property
    def supports_other(self) -> Fraction:
        """Half of the columns with a 1 in one row have a 1 in another, and half of those with a −1."""
        return Fraction(1, 2)

    @property
    @guarantee(
        claim="a value owns half of the columns; two values share a quarter of all",
        proof="proofs/local.md#shuffling",
        reviewed="39dfa1d5470f",
    )
    def hiding(self) -> Hiding:
        """A value owns the columns with a 1 in its row."""
        return Hiding.of_hadamard(self.supports_truth)

    def randomizer(self) -> dict[str, Any]:
        """The number of columns, and the chance of one with a 1."""
        return {"kind": "hadamard", "cells": self.layout.cells, "bits": 0, "truth": self._truth}

    def draw(self, inputs: NDArray[Any], entropy: Entropy) -> Drawn:
        """Draws any columns, and turns those over that are of the wrong half."""
        codes = codes_of(2, inputs)
        drawn = below_many(self.layout.cells, count=len(inputs), entropy=entropy)
        lies = entropy.words(len(inputs)) >> np.uint64(64 - BITS) >= np.uint64(self._truth)
        odd = (np.bitwise_count(drawn & codes) & 1).astype(np.bool_)
        return drawn ^ np.where(odd == lies, 0, leading(2, codes)), np.zeros((len(inputs), 0), dtype=np.uint64)

    def support(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """A report supports the values whose rows have a 1 in its column."""
        even = np.stack([sums[:, 0], np.zeros(len(sums), dtype=np.int64)], axis=1)
        return hyperplane_counts(even, field(2), len(sums).bit_length() - 1, len(self.values))
