"""Local hashing: a value is hashed into a few buckets by a public function drawn anew, and the bucket is randomized.

The hash functions are a linear code: value v is a point c_v of a projective space over a field of g elements, a seed s
is a vector, and the bucket is the inner product ⟨s, c_v⟩. Over all seeds, the buckets of any two values are exactly
uniform on pairs. So there is nothing to assume of a hash function, and a collision tells what chance would tell.
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
from sfumato.local.device import WHOLE
from sfumato.local.fields import Field, field, fitting, hyperplane_counts, length_for, point_codes
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.protocol import Drawn
from sfumato.local.reports import Layout
from sfumato.local.response import respond, truth_weight
from sfumato.local.values import Values
from sfumato.noise.uniform import below_many

MOST_CELLS = 1 << 24
"""Buckets are so few that a tally has at most so many sums, unless more are asked for."""


@guarantee(
    claim="a public seed, and its bucket by randomized response over g: P(report | v) <= e^epsilon P(report | w)",
    proof="proofs/local_codes.md#hashing",
    reviewed="5c4e12aef03b",
)
def hashed_weight(epsilon: Fraction, buckets: int) -> int:
    """The chance that a report is made of the bucket of the truth, rounded down, in 53 binary digits."""
    return truth_weight(epsilon, buckets)


def best_buckets(size: int, epsilon: float) -> int:
    """The number of buckets, of those that a field has, with the least error for so many values.

    >>> best_buckets(1000, 1.0), best_buckets(1000, math.log(7))
    (4, 8)
    """

    def error(buckets: int) -> float:
        other = 1 / buckets
        truth = 1 / (1 + (buckets - 1) * math.exp(-epsilon))
        return ((size - 1) * other * (1 - other) + truth * (1 - truth)) / (truth - other) ** 2

    return min((order for order, _ in fitting(size, MOST_CELLS, extra=1)), key=error)


@final
@dataclass(frozen=True)
class LocalHashing(FrequencyProtocol):
    """Optimised local hashing: a report is a seed and a bucket, and supports all values that the seed puts there.

    Takes:      the values, the loss of a report, and the number of buckets: the best one unless given
    Guarantee:  P(report | value) ≤ e^ε P(report | other value), reached up to 2⁻⁵³  (proofs/local_codes.md#hashing)
    Cost:       about 0.2 µs a report for many, and a fast transform of all counts; messages of a few bytes
    Best:       variance 4 e^ε / (e^ε − 1)² a person at e^ε + 1 buckets, whatever the number of values; the nearest
                number of buckets that is the order of a field, and keeps the tally small, is taken

    >>> LocalHashing(Values(range(1000)), Pure(1)).layout.size
    2
    """

    values: Values
    loss: Pure
    buckets: int | None = None

    def __post_init__(self) -> None:
        epsilon = read_epsilon(self.loss)
        object.__setattr__(self, "loss", Pure(epsilon))
        chosen = best_buckets(len(self.values), float(epsilon)) if self.buckets is None else self.buckets
        object.__setattr__(self, "buckets", field(integer(chosen, "buckets", least=2)).order)

    @property
    def _field(self) -> Field:
        return field(self.buckets or 2)

    @cached_property
    def _length(self) -> int:
        return length_for(self._field.order, len(self.values))

    @cached_property
    def _truth(self) -> int:
        return hashed_weight(Fraction(self.loss.epsilon), self._field.order)

    @property
    def seeds(self) -> int:
        """The number of hash functions."""
        return int(self._field.order**self._length)

    @property
    def layout(self) -> Layout:
        """One cell for each seed and bucket."""
        return Layout(self.seeds * self._field.order)

    @property
    def supports_other(self) -> Fraction:
        """The chance that a seed puts another value into the bucket: one in so many buckets, exactly."""
        return Fraction(1, self._field.order)

    @property
    def supports_truth(self) -> Fraction:
        """The chance of the bucket of the true value."""
        return Fraction(self._truth, WHOLE) + Fraction(WHOLE - self._truth, WHOLE * self._field.order)

    @property
    @guarantee(
        claim="a value owns the pairs of a seed and its bucket; two values collide for 1 seed in g",
        proof="proofs/local.md#shuffling",
        reviewed="05f9169950e4",
    )
    def hiding(self) -> Hiding:
        """A value owns the pairs of a seed and the bucket that it falls into."""
        return Hiding.of_hashing(self._field.order, self.supports_truth, collisions=self.supports_other)

    def randomizer(self) -> dict[str, Any]:
        """The field, the number of cells, and the chance of the truth."""
        return {"kind": "hashed", "cells": self.layout.cells, "bits": 0, "truth": self._truth, **self._field.recipe()}

    def draw(self, inputs: NDArray[Any], entropy: Entropy) -> Drawn:
        """Draws seeds, hashes places, and answers with randomized buckets."""
        order = self._field.order
        seeds = below_many(self.seeds, count=len(inputs), entropy=entropy)
        codes = point_codes(order, len(self.values))[inputs]
        buckets = respond(self._field.inner(seeds, codes, self._length), order, self._truth, entropy)
        return seeds * order + buckets, np.zeros((len(inputs), 0), dtype=np.uint64)

    def support(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """A report supports the values that its seed puts into its bucket."""
        return hyperplane_counts(sums[:, 0], self._field, self._length, len(self.values))
