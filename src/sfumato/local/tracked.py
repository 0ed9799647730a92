"""How many people have a property, step by step, at one loss for a whole lifetime: one change of each person is told.

A history is a sum of changes. Each device keeps one of its first k changes, and a level of a binary tree over time,
both drawn once; at the end of each stretch of its level it draws a sign, which leans towards the kept change if that
lies in the stretch, and is a fair coin else (after Erlingsson, Feldman, Mironov, Raghunathan, Talwar, Thakurta 2019,
arXiv 1811.12469; here the whole ε goes into the one sign that leans).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, ball, integer
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon, weight_below
from sfumato.local.device import BITS, WHOLE
from sfumato.local.linear_counts import LinearCounts
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.reports import Layout
from sfumato.noise.uniform import below_many

MOST_STEPS = 1 << 12
"""The longest history."""


@guarantee(
    claim="signs are fair coins but for one, which leans: any two whole histories differ by a factor of t / (1 - t)",
    proof="proofs/local_again.md#changes",
    reviewed="86a9be85cd35",
)
def leaning_weight(epsilon: Fraction) -> int:
    """The chance that the sign of the kept change is told as it is, rounded down, in 53 binary digits."""
    return weight_below(lambda: 1 / ((-ball(epsilon)).exp() + 1))


@final
@dataclass(frozen=True)
class Tracked(LocalProtocol[LinearCounts]):
    """Histories of yes and no over ``steps`` steps of time, with at most ``changes`` changes in each that are counted.

    A history begins at no, so that a yes in the first step is a change. A message tells all stretches that have ended:
    the last one of each device is enough, and a device with a memory adds to the earlier ones.

    Takes:      the number of steps, a power of 2; the number of changes; the loss of a lifetime
    Guarantee:  all messages ever cost ε, between any two histories, with however many changes
                (proofs/local_again.md#changes); with more changes than stated, only the estimate is biased
    Cost:       messages of a byte and a bit for each step
    Best:       few changes over many steps; for small ε, deviations up to 2 k log₂(2 steps) √n / ε

    >>> Tracked(8, 2, Pure(1)).layout.cells
    4
    """

    steps: int
    changes: int
    loss: Pure

    def __post_init__(self) -> None:
        steps = integer(self.steps, "steps", least=1, most=MOST_STEPS)
        if steps & (steps - 1):
            raise BadArgument("steps", "a power of 2 (take the next one, and stop early)", steps)
        if integer(self.changes, "changes", least=1) > steps:
            raise BadArgument("changes", "at most one for each step", self.changes)
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))

    @property
    def levels(self) -> int:
        """The number of levels of the tree: stretches of 1, 2, 4, … steps."""
        return self.steps.bit_length()

    @property
    def truth(self) -> int:
        """The weight of the sign that leans."""
        return leaning_weight(Fraction(self.loss.epsilon))

    @property
    def layout(self) -> Layout:
        """The level of the device, and a sign for each stretch that could have ended."""
        return Layout(self.levels, self.steps)

    def randomizer(self) -> dict[str, Any]:
        """The number of levels and steps, of changes, and the chance of the sign that leans."""
        return {
            "kind": "tracked",
            "cells": self.levels,
            "bits": self.steps,
            "changes": self.changes,
            "truth": self.truth,
        }

    def domain(self) -> dict[str, Any]:
        """Lists of 0 and 1, one for each step so far."""
        return {"history": {"longest": self.steps}}

    def input_of(self, value: Any) -> list[int]:
        """The history as a list of 0 and 1."""
        bits = list(value) if isinstance(value, list | tuple | np.ndarray) else []
        if not 0 < len(bits) <= self.steps or not all(bit in (0, 1) for bit in bits):
            raise BadArgument("the value", f"a history: 1 to {self.steps} of 0 and 1, one for each step", Unseen())
        return [int(bit) for bit in bits]

    def inputs_of(self, values: Any) -> NDArray[np.uint8]:
        """Histories of many people, one row each, all as long."""
        rows = np.asarray(values)
        if rows.ndim != 2 or rows.dtype.kind not in "iub" or not 0 < rows.shape[1] <= self.steps:
            raise BadArgument("the histories", f"rows of 1 to {self.steps} of 0 and 1, all as long", Unseen())
        if ((rows != 0) & (rows != 1)).any():
            raise BadArgument("the histories", f"rows of 1 to {self.steps} of 0 and 1, all as long", Unseen())
        return rows.astype(np.uint8)

    def draw(self, inputs: NDArray[np.uint8], entropy: Entropy) -> Drawn:
        """Draws levels, kept changes, fair signs for all stretches that have ended, and the one that leans."""
        people, length = inputs.shape
        levels = below_many(self.levels, count=people, entropy=entropy)
        kept = below_many(self.changes, count=people, entropy=entropy)
        signs = entropy.words(people * self.layout.words).reshape(people, self.layout.words)
        signs = signs & self._ended(length)[levels]
        changed = np.diff(inputs, axis=1, prepend=np.uint8(0)) != 0
        chosen = changed & (np.cumsum(changed, axis=1, dtype=np.int32) == kept[:, None] + 1)
        rows = np.flatnonzero(chosen.any(axis=1))
        steps = np.argmax(chosen[rows], axis=1)
        stretches = steps >> levels[rows]
        inside = stretches < length >> levels[rows]
        rows, steps, stretches = rows[inside], steps[inside], stretches[inside]
        told = entropy.words(len(rows)) >> np.uint64(64 - BITS) < np.uint64(self.truth)
        up = told == (inputs[rows, steps] == 1)
        own = np.uint64(1) << (stretches & 63).astype(np.uint64)
        columns = stretches >> 6
        signs[rows, columns] = (signs[rows, columns] & ~own) | np.where(up, own, np.uint64(0))
        return levels, signs

    def _ended(self, length: int) -> NDArray[np.uint64]:
        """For each level, the bits of the stretches that have ended."""
        every = [(1 << (length >> level)) - 1 for level in range(self.levels)]
        words = [[one >> 64 * word & (1 << 64) - 1 for word in range(self.layout.words)] for one in every]
        return np.array(words, dtype=np.uint64)

    def estimate(self, tally: Tally) -> LinearCounts:
        """How many people have the property in each step, from messages that tell all steps; see `so_far`."""
        return self.so_far(tally, steps=self.steps)

    def so_far(self, tally: Tally, *, steps: int) -> LinearCounts:
        """The same for the first steps, from messages that were sent when so many had passed (or later)."""
        last = integer(steps, "steps", least=1, most=self.steps)
        users = tally.users
        gain = self._gain()
        leaning = 2 * tally.sums[:, 1:] - tally.sums[:, :1]  # ones less zeros, of each level and stretch
        counts, parts = np.zeros(last), np.zeros(last)
        for level in range(self.levels):
            ends = np.arange(1, last + 1) >> level
            used = np.flatnonzero(ends & 1)  # the dyadic stretches of [0, end) have the set bits of end as lengths
            counts[used] += leaning[level, ends[used] - 1]
            parts[used] += 1
        spread = float(gain**2 / self.levels) * parts
        return LinearCounts(
            range(1, last + 1), users, counts * float(gain), spread - 1, spread, self.loss, tally.rejected
        )

    def variance(self, *, step: int, users: int, count: Number = 0) -> Fraction:
        """The exact variance of the estimate of a step in which ``count`` of ``users`` people have the property."""
        parts = integer(step, "step", least=1, most=self.steps).bit_count()
        return self._gain() ** 2 / self.levels * parts * users - Fraction(count)

    def _gain(self) -> Fraction:
        """What a sign counts for: 1 in so many levels, 1 in so many changes, and how much it leans."""
        return self.levels * self.changes / (2 * Fraction(self.truth, WHOLE) - 1)


def tracked(*, steps: int, changes: int, loss: Pure | Number | None = None, epsilon: Number | None = None) -> Tracked:
    """Counts of people with a property in every step, at one loss for all of them, for few changes of each person.

    >>> tracked(steps=365, changes=2, loss=1).steps
    512
    """
    length = integer(steps, "steps", least=1, most=MOST_STEPS)
    return Tracked(1 << (length - 1).bit_length(), changes, Pure(read_epsilon(loss, epsilon)))
