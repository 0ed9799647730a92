"""Means of vectors of bounded length, such as gradients: each report names a public random direction near the own one.

A group of normal directions is drawn in public. With some chance the report is one of the K that point most as the
vector does, else one of the others, so that however directions fall, two vectors differ by one factor. The mean of what
is reported is the vector times a number that depends on no vector. With many directions this is PrivUnitG (Asi, Feldman
and Talwar 2022), which no unbiased ε-private report of a unit vector beats by more than lower-order terms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events.hiding import Hiding
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, ball, integer, positive, probability
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon, weight_below
from sfumato.local.device import BITS, LARGEST, WHOLE, read_vector
from sfumato.local.direction_plans import MOST_CELLS, Gains, best_plan, gains
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.reports import NONE_REJECTED, Layout, Rejected
from sfumato.noise.uniform import below_many

AT_ONCE = 1 << 22
"""Entries of directions that are worked on at a time."""

_STEP = np.uint64(0x9E3779B97F4A7C15)


def directions_of(key: int, cells: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """The public directions of cells, one a row: the same numbers as `device.direction` makes, but for last digits."""
    pairs = (size + 1) >> 1
    every: NDArray[np.uint64] = np.arange(pairs, dtype=np.uint64) + cells.astype(np.uint64)[:, None] * np.uint64(pairs)
    first: NDArray[np.uint64] = every << np.uint64(1)
    ones, twos = _mixed(key, first), _mixed(key, first | np.uint64(1))
    lengths = np.sqrt(-2 * np.log(((ones >> np.uint64(11)) + np.uint64(1)).astype(np.float64) / WHOLE))
    angles = 2 * math.pi * ((twos >> np.uint64(11)).astype(np.float64) / WHOLE)
    entries = np.empty((len(cells), 2 * pairs))
    entries[:, 0::2], entries[:, 1::2] = lengths * np.cos(angles), lengths * np.sin(angles)
    return entries[:, :size]


def _mixed(key: int, places: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = np.uint64(key) + (places + np.uint64(1)) * _STEP
    words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = words ^ words >> np.uint64(31)
    return mixed


@guarantee(
    claim="one of K near ones of N directions with chance p, else one of the rest: e^epsilon >= p (N-K) / (K (1-p))",
    proof="proofs/local_vectors.md#loss",
    reviewed="daf305ccb015",
)
def near_weight(epsilon: Fraction, directions: int, near: int) -> int:
    """The chance of a near direction, rounded down, in 53 binary digits."""
    others = Fraction(directions - near, near)
    return weight_below(lambda: 1 / (1 + ball(others) / ball(epsilon).exp()))


@final
@dataclass(frozen=True)
class VectorMean(LocalProtocol["MeanVector"]):
    """Reports one of a group of public random directions, of which those near the own vector are likelier.

    Takes:      the number of entries; the length that no vector exceeds (longer ones are shortened); the loss of a
                report; the number of groups, of directions in each, and of near ones: `vectors` finds them; a public
                key, drawn at random, for the directions
    Guarantee:  P(report | vector) ≤ e^ε P(report | other vector), reached up to 2⁻⁵³ (proofs/local_vectors.md#loss)
    Cost:       directions × entries normal numbers for a report; messages of a few bytes
    Best:       vectors whose length is known, of any number of entries; error grows with its root

    >>> vectors(3, radius=1, loss=Pure(2), users=100, key=1).layout.size
    2
    """

    size: int
    radius: Fraction
    loss: Pure
    groups: int
    directions: int
    near: int
    key: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))
        object.__setattr__(self, "radius", positive(self.radius, "radius"))
        integer(self.size, "size", least=1)
        integer(self.directions, "directions", least=2)
        integer(self.near, "near", least=1, most=self.directions - 1)
        integer(self.groups, "groups", least=1, most=max(1, MOST_CELLS // self.directions))
        integer(self.key, "key", least=0, most=(1 << BITS) - 1)
        if not 1e-300 < float(self.radius) < 1e300:
            raise BadArgument("radius", "between 1e-300 and 1e300", self.radius)

    @cached_property
    def _truth(self) -> int:
        return near_weight(Fraction(self.loss.epsilon), self.directions, self.near)

    @cached_property
    def _gains(self) -> Gains:
        return gains(self.directions, self.near, self._truth / WHOLE)

    @property
    def layout(self) -> Layout:
        """One cell for each direction of each group."""
        return Layout(self.groups * self.directions)

    @property
    @guarantee(
        claim="a vector owns the near directions of each group, K of N; two vectors share at least 2K - N of them",
        proof="proofs/local_vectors.md#shuffling",
        reviewed="394e42b8b830",
    )
    def hiding(self) -> Hiding:
        """A vector owns its near directions."""
        share = Fraction(self.near, self.directions)
        return Hiding(Fraction(self._truth, WHOLE), share=share, overlap=max(Fraction(0), 2 * share - 1))

    def randomizer(self) -> dict[str, Any]:
        """The numbers of cells, directions, near ones and entries, the chance of a near one, and the public key."""
        return {
            "kind": "directions",
            "cells": self.layout.cells,
            "bits": 0,
            "directions": self.directions,
            "near": self.near,
            "size": self.size,
            "truth": self._truth,
            "key": self.key,
        }

    def domain(self) -> dict[str, Any]:
        """The number of entries, and the greatest length."""
        return {"vector": {"size": self.size, "radius": float(self.radius)}}

    def input_of(self, value: Any) -> Any:
        """The vector over its largest entry, and the weight with which it is not turned round."""
        try:
            return read_vector([float(entry) for entry in value], self.size, float(self.radius))
        except (TypeError, ValueError, OverflowError):
            raise BadArgument("the vector", f"a list of {self.size} finite numbers", Unseen()) from None

    def inputs_of(self, values: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The same for many vectors, one a row."""
        try:
            rows = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            rows = np.empty((0, 0))
        if rows.size == 0 and rows.ndim <= 2:
            rows = rows.reshape(0, self.size) if _none(values) else rows
        if rows.ndim != 2 or rows.shape[1] != self.size or not (np.abs(rows) <= LARGEST).all():
            raise BadArgument("the vectors", f"a table of finite numbers with {self.size} columns", Unseen())
        largest = np.abs(rows).max(axis=1, initial=0)
        scaled = rows / np.where(largest > 0, largest, 1)[:, None]
        lengths = np.sqrt((scaled * scaled).sum(axis=1))
        shares = np.minimum(1.0, lengths * (largest / float(self.radius)))
        return scaled, np.floor((1 + shares) * (1 << (BITS - 1))).astype(np.int64)

    def draw(self, inputs: Any, entropy: Entropy) -> Drawn:
        """Draws groups, turns vectors round, finds their near directions a group at a time, and answers."""
        rows, weights = inputs
        people = len(rows)
        group = below_many(self.groups, count=people, entropy=entropy)
        forward = _coins(people, entropy) < weights
        inside = _coins(people, entropy) < self._truth
        rank = np.empty(people, dtype=np.int64)
        for where, least, many in ((inside, 0, self.near), (~inside, self.near, self.directions - self.near)):
            places = np.flatnonzero(where)
            rank[places] = least + below_many(many, count=len(places), entropy=entropy)
        numbers = np.empty(people, dtype=np.int64)
        order = np.argsort(group, kind="stable")
        for several in _pieces(group[order], max(1, AT_ONCE // (self.directions * self.size))):
            asked = order[several]
            kinds, own = np.unique(group[asked], return_inverse=True)
            every = (kinds[:, None] * self.directions + np.arange(self.directions)).ravel()
            table = directions_of(self.key, every, self.size).reshape(len(kinds), self.directions, self.size)
            signed = np.where(forward[asked], 1.0, -1.0)[:, None] * rows[asked]
            for number, kind in enumerate(table):
                here = np.flatnonzero(own == number)
                nearest_first = np.argsort(-(signed[here] @ kind.T), axis=1, kind="stable")
                numbers[asked[here]] = nearest_first[np.arange(len(here)), rank[asked[here]]]
        return group * self.directions + numbers, np.zeros((people, 0), dtype=np.uint64)

    def variance(self, *, users: int) -> Fraction:
        """About the expected squared error of the mean, summed over entries; a little less for long vectors."""
        people = integer(users, "users", least=1)
        return Fraction(self._gains.squared_error(self.size, users=people, groups=self.groups)) * self.radius**2

    def estimate(self, tally: Tally) -> MeanVector:
        """Reads the mean: the sum of the directions that were reported, over what a report adds of its vector."""
        total, squares = np.zeros(self.size), np.zeros(self.size)
        cells = np.flatnonzero(tally.sums[:, 0])
        step = max(1, AT_ONCE // self.size)
        for start in range(0, len(cells), step):
            piece = cells[start : start + step]
            rows, counts = directions_of(self.key, piece, self.size), tally.sums[piece, 0].astype(np.float64)
            total += counts @ rows
            squares += counts @ (rows * rows)
        unit = float(self.radius) / self._gains.gain
        common = unit * math.sqrt(self._gains.shared / self.groups)
        return MeanVector(total * unit, squares * unit**2, common, tally.users, self.radius, self.loss, tally.rejected)


@final
@dataclass(frozen=True, eq=False)
class MeanVector:
    """An estimated mean of vectors, unbiased over the public key, with the errors that chance has made."""

    total: NDArray[np.float64]
    squares: NDArray[np.float64]
    common: float
    users: int
    radius: Fraction
    loss: Pure
    rejected: Rejected = NONE_REJECTED

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of the vectors of all who reported; no numbers where nobody did."""
        return self.total / self.users if self.users else np.full(len(self.total), math.nan)

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The standard deviation of each entry, as the reports themselves show it; unknown for less than two people.

        It counts what people differ by, so that it holds for those whom they stand for, and what groups of directions
        could have in common (``common``), were all vectors alike.
        """
        if self.users < 2:
            return np.full(len(self.total), math.nan)
        spread = (self.squares - self.total**2 / self.users) / (self.users - 1)
        deviations: NDArray[np.float64] = np.sqrt(np.maximum(spread, 0) / self.users + self.common**2)
        return deviations

    def interval(self, confidence: Number = Fraction(95, 100)) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends for each entry by itself, by the normal law: for some hundred people and more."""
        level = probability(confidence, "confidence")
        if not 0 < level < 1:
            raise BadArgument("confidence", "greater than 0 and less than 1", confidence)
        reach = NormalDist().inv_cdf(float((1 + level) / 2)) * self.deviations
        return self.mean - reach, self.mean + reach

    def within(self) -> NDArray[np.float64]:
        """The mean shortened to the radius where it is longer: no mean of such vectors is."""
        length = float(np.linalg.norm(self.mean))
        return self.mean * min(1.0, float(self.radius) / length) if length else self.mean

    def __str__(self) -> str:
        return (
            f"the mean of {self.users} vectors of {len(self.total)} entries up to {float(self.radius):.3g}, {self.loss}"
        )


def vectors(
    size: int,
    *,
    radius: Number,
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    key: int | None = None,
) -> VectorMean:
    """Plans reports of vectors with the least error for so many people.

    The public ``key`` makes the directions; it is drawn at random unless given, and must not be chosen by anybody who
    knows the vectors: estimates would be biased, though reports hide as much.

    >>> vectors(100, radius=1, loss=Pure(4), users=10_000, key=1).loss
    Pure(epsilon=4.0)
    """
    epsilon, people = read_epsilon(loss, epsilon), integer(users, "users", least=1)
    plan = best_plan(float(epsilon), people)
    drawn = system().below(1 << BITS) if key is None else key
    length = positive(radius, "radius")
    return VectorMean(size, length, Pure(epsilon), plan.groups, plan.directions, plan.near, drawn)


def _coins(count: int, entropy: Entropy) -> NDArray[np.int64]:
    return (entropy.words(count) >> np.uint64(64 - BITS)).astype(np.int64)


def _none(values: Any) -> bool:
    return hasattr(values, "__len__") and len(values) == 0


def _pieces(groups: NDArray[np.int64], most: int) -> Any:
    """Slices of sorted groups with at most so many different ones each."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    for first in range(0, len(starts), most):
        end = starts[first + most] if first + most < len(starts) else len(groups)
        yield slice(int(starts[first]), int(end))
