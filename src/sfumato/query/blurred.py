"""Blurred numbers: those of all groups with the law of the noise on them, and how far sums and ratios of them are off.

A ratio, such as an average, is found by Fieller's way: at the exact ratio r, top − r · bottom is 0 but for noise, so
that the ratios for which it is no further from 0 than noise of that weight reaches cover the exact one as often as
stated, whatever the numbers are (proofs/accuracy.md#ratios, #waves).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np

from sfumato.exact import up
from sfumato.query.vectors import Array
from sfumato.release.waves import Wave, widths

Law: TypeAlias = tuple[tuple[Wave, float, int], ...]
"""Independent noises on one number: each with its weight, in the number's own unit, and how many there are of it."""

Ends: TypeAlias = tuple[Array, Array]
"""Where exact numbers lie, for each group."""

FEW = 8
"""Of so many noises it is looked whether the sum of their own widths is less."""

SEGMENTS = 16
"""A range of ratios is looked at in so many segments; the width of each is that of its largest weights."""


@final
@dataclass(frozen=True, eq=False)
class Blurred:
    """Is one number for each group, in its own unit, and the noise on it.

    ``which`` says for each group which of the laws its noise has; ``off`` how far the numbers may be off besides.
    """

    values: Array
    laws: tuple[Law, ...]
    which: Array
    off: float = 0.0

    @staticmethod
    def by(values: Array, law: Law) -> Blurred:
        """Gives numbers whose noise has one law in all groups."""
        return Blurred(values, (law,), np.zeros(len(values), dtype=np.intp))


@final
@dataclass(frozen=True, eq=False)
class Together:
    """Is several blurred numbers, whose noises are independent: any sum of them, with weights, is only so far off."""

    numbers: tuple[Blurred, ...]

    def reach(self, factors: Array, missed: float, *, varied: Sequence[bool] | None = None) -> Array:
        """Gives how far the noise of weighted sums reaches, for each row of ``factors``, and groups for each column.

        ``factors`` has a row for each way to weigh, a column for each group, and a last axis for the numbers. It holds
        for all smaller weights of the same numbers too: for that, one step of each noise is added, but for those of
        which ``varied`` says that they alone are weighed less.
        """
        found = np.zeros(factors.shape[:2])
        which = np.stack([number.which for number in self.numbers], axis=1)
        for laws in np.unique(which, axis=0):
            cells = np.flatnonzero((which == laws).all(axis=1))
            parts = [number.laws[at] for number, at in zip(self.numbers, laws, strict=True)]
            found[:, cells] = _reach(parts, np.abs(factors[:, cells]), missed, varied or (False,) * len(parts))
        off = np.array([number.off for number in self.numbers])
        return np.asarray(found + np.abs(factors) @ off)


def _reach(parts: Sequence[Law], factors: Array, missed: float, varied: Sequence[bool]) -> Array:
    """Gives widths of sums whose noises have the same laws; sums with the same weights are worked out once."""
    noises = [noise for law in parts for noise, _, _ in law]
    times = [many for law in parts for _, _, many in law]
    flat = factors.reshape(-1, len(parts))
    rows, back = np.unique(flat, axis=0, return_inverse=True)
    columns = [rows[:, at] * abs(weight) for at, law in enumerate(parts) for _, weight, _ in law]
    steps = np.array(
        [
            0.0 if alone else sum(abs(weight) * many for _, weight, many in law)
            for law, alone in zip(parts, varied, strict=True)
        ]
    )
    weights = np.stack(columns, axis=1)
    found = widths(noises, weights, times, missed) + rows @ steps
    if sum(times) <= FEW:  # of noise that is all but none, a step is much
        found = np.minimum(
            found,
            weights
            @ np.array([many * _end(noise, missed / sum(times)) for noise, many in zip(noises, times, strict=True)]),
        )
    return np.asarray(found[back.reshape(-1)].reshape(factors.shape[:2]))


@lru_cache(maxsize=1024)
def _end(noise: Wave, missed: float) -> float:
    """Gives how far from 0 one noise is, but for a chance."""
    return up(noise.half_width(1 - Fraction(missed)))


def ratio_ends(top: Blurred, bottom: Blurred, missed: float, within: tuple[float, float] | None = None) -> Ends:
    """Gives where ratios of two independent numbers lie; ``within`` is where they lie anyway."""
    return shared_ratio_ends((top, bottom), (1.0, 0.0), (0.0, 1.0), missed, within)


def shared_ratio_ends(
    numbers: Sequence[Blurred],
    above: Sequence[float],
    below: Sequence[float],
    missed: float,
    within: tuple[float, float] | None = None,
    *,
    plus: tuple[float, float] = (0.0, 0.0),
) -> Ends:
    """Gives where ratios of two weighted sums of the same numbers lie, of which ``plus`` are the constants."""
    over, under = (
        sum((weight * number.values for weight, number in zip(weights, numbers, strict=True)), constant)
        for weights, constant in zip((above, below), plus, strict=True)
    )
    search = _Search(
        Together(tuple(numbers)), np.asarray(over), np.asarray(under), np.array(above), np.array(below), missed
    )
    if within is not None:
        return search.slopes(np.linspace(*within, 2 * SEGMENTS + 1)).ends(*within)
    ratio = search.turn
    held = search.slopes(_symmetric(ratio)), search.inverses(_symmetric(1 / ratio))
    return held[0].or_(held[1]).ends(-np.inf, np.inf)


def _symmetric(most: float) -> Array:
    """Gives edges of segments on both sides of 0, which is one of them."""
    half = np.linspace(0.0, most, SEGMENTS + 1)
    return np.concatenate([-half[:0:-1], half])


@final
@dataclass(frozen=True, eq=False)
class _Held:
    """Is the least and the greatest ratio that is held, for each group; +∞ and −∞ where none is."""

    low: Array
    high: Array

    def or_(self, other: _Held) -> _Held:
        return _Held(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def ends(self, least: float, most: float) -> Ends:
        none = self.low > self.high
        return np.where(none, least, self.low), np.where(none, most, self.high)


@final
@dataclass(frozen=True, eq=False)
class _Search:
    numbers: Together
    over: Array
    under: Array
    above: Array
    below: Array
    missed: float

    @property
    def turn(self) -> float:
        """Is about the ratio at which both sums are equally noisy."""
        deviations = [
            math.sqrt(
                sum((weight * _size(number)) ** 2 for weight, number in zip(side, self.numbers.numbers, strict=True))
            )
            for side in (self.above, self.below)
        ]
        return deviations[0] / deviations[1] if min(deviations) > 0 else 1.0

    def slopes(self, edges: Array) -> _Held:
        """Holds the ratios r between edges for which |over − r · under| is within reach."""
        alone = [not above for above in self.above] if not (self.above * self.below).any() else None
        low, high = self._lines(self.over, self.under, self.above, self.below, edges, alone)
        return _Held(low.min(axis=0), high.max(axis=0))

    def inverses(self, edges: Array) -> _Held:
        """Holds the ratios 1 / y, for y between edges, for which |under − y · over| is within reach."""
        low, high = self._lines(self.under, self.over, self.below, self.above, edges, None)
        held, positive = low <= high, (edges[1:] > 0)[:, None]
        with np.errstate(divide="ignore"):
            ends = 1 / np.abs(low), 1 / np.abs(high)
        near, far = np.minimum(*ends), np.maximum(*ends)
        least, most = np.where(positive, near, -far), np.where(positive, far, -near)
        return _Held(
            np.where(held, least, np.inf).min(axis=0),
            np.where(held, most, -np.inf).max(axis=0),
        )

    def _lines(
        self, first: Array, second: Array, one: Array, other: Array, edges: Array, alone: Sequence[bool] | None
    ) -> tuple[Array, Array]:
        """Gives for each segment and group the least and greatest r with |first − r · second| within reach."""
        lower, upper = edges[:-1, None], edges[1:, None]
        weights = np.maximum(np.abs(one - lower * other), np.abs(one - upper * other))
        factors = np.broadcast_to(weights[:, None, :], (len(weights), len(first), len(one)))
        reach = self.numbers.reach(factors, self.missed, varied=alone)
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = (first - reach) / second, (first + reach) / second
        flat = second == 0
        inside = np.abs(first) <= reach
        low = np.where(flat, np.where(inside, -np.inf, np.inf), np.minimum(*ends))
        high = np.where(flat, np.where(inside, np.inf, -np.inf), np.maximum(*ends))
        low, high = np.maximum(low, lower), np.minimum(high, upper)
        held = low <= high
        return np.where(held, low, np.inf), np.where(held, high, -np.inf)


def _size(number: Blurred) -> float:
    """Gives about the standard deviation of the noise on a number."""
    return math.sqrt(sum(many * weight**2 * float(noise.variance().mid()) for noise, weight, many in number.laws[0]))
