"""Blurred numbers: those of all groups with the law of the noise on them, and how far sums and ratios of them are off.

A ratio, such as an average, is found by Fieller's way: at the exact ratio r, top − r · bottom is 0 but for noise, so
that the ratios for which it is no further from 0 than noise of that weight reaches cover the exact one as often as
stated, whatever the numbers are (proofs/accuracy.md#ratios, #waves).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from typing import TypeAlias, final

import numpy as np

from sfumato.exact import up
from sfumato.release.vectors import Array
from sfumato.release.waves import Wave, widths

Law: TypeAlias = tuple[tuple[Wave, float, int], ...]
"""Independent noises on one number: each with its weight, in the number's own unit, and how many there are of it."""

Ends: TypeAlias = tuple[Array, Array]
"""Where exact numbers lie, for each group."""

FEW = 8
"""Up to this many noises, it is checked whether the sum of their own widths is less."""

MOST_REMEMBERED = 256
"""Tables of no more weights than this are kept with their widths."""

SEGMENTS = 16
"""A range of ratios is looked at in this many segments; the width of each is that of its largest weights."""


FEW_GROUPS = 4
"""Up to this many groups, the ends of ratios are looked at again."""

AT_ONCE = 1 << 16
"""Cells of the table of segments and groups that are worked out at once."""

NEAR = np.array([0, 1 / 128, 1 / 64, 1 / 32, 3 / 64, 1 / 16, 3 / 32, 1 / 8, 1 / 4])
"""Edges of the segments near an end, as shares of what is held: the rest of it stays held."""


@final
@dataclass(frozen=True, eq=False)
class Blurred:
    """One number for each group, in its own unit, and the noise on it.

    ``which`` says for each group which of the laws its noise has; ``off`` how far the numbers may be off besides.
    """

    values: Array
    laws: tuple[Law, ...]
    which: Array
    off: float = 0.0

    @staticmethod
    def by(values: Array, law: Law) -> Blurred:
        """Numbers with noise of one law in all groups."""
        return Blurred(values, (law,), np.zeros(len(values), dtype=np.intp))


@final
@dataclass(frozen=True, eq=False)
class Together:
    """Several blurred numbers with independent noises: says how far any weighted sum of them can be off."""

    numbers: tuple[Blurred, ...]

    @cached_property
    def kinds(self) -> tuple[Array, Array]:
        """The combinations of laws that groups have, and which of them each group has."""
        if all(len(number.laws) == 1 for number in self.numbers):
            which = self.numbers[0].which
            return np.zeros((1, len(self.numbers)), dtype=np.intp), np.zeros(len(which), dtype=np.intp)
        distinct, back = np.unique(
            np.stack([number.which for number in self.numbers], axis=1), axis=0, return_inverse=True
        )
        return distinct, back.reshape(-1)

    def reach(self, factors: Array, missed: float, *, varied: Sequence[bool] | None = None) -> Array:
        """How far the noise of a weighted sum reaches in each group; ``factors`` has a row for each of them.

        It holds for all smaller weights of the same numbers too: for that, one step of each noise is added, but for
        those of which ``varied`` says that they alone are weighed less.
        """
        kinds, which = self.kinds
        widths = np.zeros(len(factors))
        for place, laws in enumerate(kinds):
            cells = slice(None) if len(kinds) == 1 else np.flatnonzero(which == place)
            rows, back = distinct(np.abs(factors[cells]))
            widths[cells] = self._reach(laws, rows, missed, varied)[back]
        return widths

    def reaches(self, weights: Array, missed: float, *, varied: Sequence[bool] | None = None) -> Array:
        """As `reach`, for sums that are weighed alike in all groups: a row for each, a column for each kind."""
        rows, back = distinct(np.abs(weights))
        return np.stack([self._reach(laws, rows, missed, varied)[back] for laws in self.kinds[0]], axis=1)

    def _reach(self, laws: Array, rows: Array, missed: float, varied: Sequence[bool] | None) -> Array:
        """Widths of sums of noises with certain laws, for each row of weights."""
        parts = [number.laws[at] for number, at in zip(self.numbers, laws, strict=True)]
        noises = [noise for law in parts for noise, _, _ in law]
        times = [many for law in parts for _, _, many in law]
        weights = np.stack([rows[:, at] * abs(weight) for at, law in enumerate(parts) for _, weight, _ in law], axis=1)
        steps = np.array([sum(abs(weight) * many for _, weight, many in law) for law in parts])
        blurred = steps if varied is None else np.where(varied, 0.0, steps)
        widths = _widths(tuple(noises), weights, tuple(times), missed) + rows @ blurred
        if sum(times) <= FEW:  # of noise that is all but none, a step is much
            ends = [many * _end(noise, missed / sum(times)) for noise, many in zip(noises, times, strict=True)]
            widths = np.minimum(widths, weights @ np.array(ends))
        return np.asarray(widths + rows @ np.array([number.off for number in self.numbers]))


def _widths(noises: tuple[Wave, ...], weights: Array, times: tuple[int, ...], missed: float) -> Array:
    """How far weighted noises reach; worked out once for a table of weights that is asked for again and again.

    Segments of averages are the same in a rehearsal, an explanation and an answer, whatever the numbers are.
    """
    if len(weights) > MOST_REMEMBERED:
        return np.asarray(widths(noises, weights, times, missed))
    return _remembered(noises, weights.tobytes(), times, missed)


@lru_cache(maxsize=512)
def _remembered(noises: tuple[Wave, ...], weights: bytes, times: tuple[int, ...], missed: float) -> Array:
    return np.asarray(widths(noises, np.frombuffer(weights).reshape(-1, len(noises)), times, missed))


def distinct(rows: Array) -> tuple[Array, Array]:
    """The different rows of a table, and for each row which of them it is."""
    code = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:  # a column at a time: that is much faster than to sort rows
        _, place = np.unique(column, return_inverse=True)
        code = np.unique(code * (int(place.max(initial=0)) + 1) + place.reshape(-1), return_inverse=True)[1].reshape(-1)
    first = np.unique(code, return_index=True)[1]
    return rows[first], code


@lru_cache(maxsize=1024)
def _end(noise: Wave, missed: float) -> float:
    """How far from 0 one noise is, but for a chance of ``missed``."""
    return up(noise.half_width(1 - Fraction(missed)))


def ratio_ends(top: Blurred, bottom: Blurred, missed: float, within: tuple[float, float] | None = None) -> Ends:
    """Where ratios of two independent numbers lie; ``within`` is where they lie anyway."""
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
    """Where ratios of two weighted sums of the same numbers lie; ``plus`` are the constants of the two sums."""
    over, under = (
        sum((weight * number.values for weight, number in zip(weights, numbers, strict=True)), constant)
        for weights, constant in zip((above, below), plus, strict=True)
    )
    search = _Search(
        Together(tuple(numbers)), np.asarray(over), np.asarray(under), np.array(above), np.array(below), missed
    )
    if within is not None:
        return search.sharper(search.slopes(np.linspace(*within, 2 * SEGMENTS + 1))).ends(*within)
    ratio = search.turn
    held = search.slopes(_symmetric(ratio)).or_(search.inverses(_symmetric(1 / ratio)))
    return search.sharper(held).ends(-np.inf, np.inf)


def _symmetric(most: float) -> Array:
    """Edges of segments on both sides of 0, which is one of them."""
    half = np.linspace(0.0, most, SEGMENTS + 1)
    return np.concatenate([-half[:0:-1], half])


@final
@dataclass(frozen=True, eq=False)
class _Held:
    """The least and the greatest ratio that is held, for each group; +∞ and −∞ where none is."""

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
        """Roughly the ratio at which both sums are equally noisy; 1 where one of them has no noise."""
        deviations = [
            math.sqrt(
                sum((weight * _size(number)) ** 2 for weight, number in zip(side, self.numbers.numbers, strict=True))
            )
            for side in (self.above, self.below)
        ]
        return deviations[0] / deviations[1] if min(deviations) > 0 else 1.0

    def slopes(self, edges: Array) -> _Held:
        """Holds the ratios r between edges for which |over − r · under| is within reach."""
        return reduce(_Held.or_, (_widest(one) for one, _ in self._sloping(edges[:-1], edges[1:])))

    def _sloping(self, lower: Array, upper: Array) -> Iterator[tuple[Ends, Array]]:
        alone = [not above for above in self.above] if not (self.above * self.below).any() else None
        return self._lines((self.over, self.under), (self.above, self.below), (lower, upper), alone)

    def sharper(self, held: _Held) -> _Held:
        """Looks again near the ends of what is held, in finer segments; not of many groups, for each has its own."""
        low, high = held.low.copy(), held.high.copy()
        groups = np.flatnonzero(np.isfinite(low) & np.isfinite(high) & (low < high))
        if len(low) > FEW_GROUPS or not len(groups):
            return held
        near = (high - low)[groups, None] * NEAR
        edges = np.stack([low[groups, None] + near, (high[groups, None] - near)[:, ::-1]], axis=1)
        [((least, most), _)] = self._sloping(edges[..., :-1].reshape(-1), edges[..., 1:].reshape(-1))
        for place, group in enumerate(groups):
            below, above = (ends[:, group].reshape(len(groups), 2, -1)[place] for ends in (least, most))
            low[group] = min(below[0].min(), edges[place, 0, -1])
            high[group] = max(above[1].max(), edges[place, 1, 0])
        return _Held(low, high)

    def inverses(self, edges: Array) -> _Held:
        """Holds the ratios 1 / y, for y between edges, for which |under − y · over| is within reach."""
        lines = self._lines((self.under, self.over), (self.below, self.above), (edges[:-1], edges[1:]), None)
        return reduce(_Held.or_, (_widest(_inverse(one, last)) for one, last in lines))

    def _lines(
        self, sums: Ends, weighed: Ends, edges: Ends, alone: Sequence[bool] | None
    ) -> Iterator[tuple[Ends, Array]]:
        """For each segment (a row), and each group, the least and greatest r with |first − r · second| within reach.

        Of many groups only some segments are worked out at once: tables of all of them would fill the memory.
        """
        (first, second), (one, other), (lower, upper) = sums, weighed, (side[:, None] for side in edges)
        weights = np.maximum(np.abs(one - lower * other), np.abs(one - upper * other))
        kinds, which = self.numbers.reaches(weights, self.missed, varied=alone), self.numbers.kinds[1]
        flat, many = second == 0, max(1, AT_ONCE // max(1, len(first)))
        for start in range(0, len(kinds), many):
            here = slice(start, start + many)
            reach = kinds[here][:, which]
            with np.errstate(divide="ignore", invalid="ignore"):
                ends = (first - reach) / second, (first + reach) / second
            everywhere = np.where(np.abs(first) <= reach, np.inf, -np.inf)
            low = np.maximum(np.where(flat, -everywhere, np.minimum(*ends)), lower[here])
            high = np.minimum(np.where(flat, everywhere, np.maximum(*ends)), upper[here])
            held = low <= high
            yield (np.where(held, low, np.inf), np.where(held, high, -np.inf)), upper[here]


def _widest(ends: Ends) -> _Held:
    """The least and the greatest of all segments."""
    return _Held(ends[0].min(axis=0), ends[1].max(axis=0))


def _inverse(ends: Ends, last: Array) -> Ends:
    """What is held of 1 / y, for y that lie on one side of 0 in each segment, up to a last one."""
    low, high = ends
    with np.errstate(divide="ignore"):
        near, far = np.sort([1 / np.abs(low), 1 / np.abs(high)], axis=0)
    held, above = low <= high, last > 0
    least, most = np.where(above, near, -far), np.where(above, far, -near)
    return np.where(held, least, np.inf), np.where(held, most, -np.inf)


def _size(number: Blurred) -> float:
    """Roughly the standard deviation of the noise on a number, by the first of its laws."""
    return math.sqrt(sum(many * weight**2 * float(noise.variance().mid()) for noise, weight, many in number.laws[0]))
