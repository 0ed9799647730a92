"""Ordered points on a line that is cut into pieces, drawn exactly: the more evenly they part the pieces, the likelier.

A walk along tables of floats draws in which pieces the points lie. It goes each way with a probability that is an exact
rational, and a last coin makes up for the difference from the true law, so floats only steer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod
from typing import TypeAlias, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.exact import ball
from sfumato.guarantee import guarantee
from sfumato.noise.inversion import WORD, IndexLaw, resolve
from sfumato.noise.selection import exact_sums
from sfumato.noise.wide import DEEPEST, Wide, exp_near, fading_sums, nothing, powers

MOST_POINTS, MOST_PIECES = 256, 1 << 26
"""For more points or pieces than these, the error bounds of the tables do not hold."""

TICKET_BITS, DIGITS = 61, 53
"""A choice has at most 2^61 tickets; a float has 53 binary digits."""

ROOMY, UPWARDS = 1 + 2.0**-30, 1 + 2.0**-36
"""Tables are raised by the first factor and tickets by the second, far beyond the errors of either."""

Run: TypeAlias = tuple[int, int]
"""A piece, and how many of the points are in it."""


@final
@dataclass(frozen=True, eq=False)
class Tickets:
    """One choice on a walk: way w has ``counts[w]`` of ``total`` tickets; those of no way mean to begin again.

    ``prices`` is what the tables say of what follows each way, and a ticket stands for 2^``unit``.
    """

    counts: NDArray[np.int64]
    total: int
    unit: int
    prices: Wide

    def odds(self, way: int) -> Odds:
        """The price of a way over what its tickets stand for."""
        digits = int(self.prices.mantissas[way] * 2.0**DIGITS)
        power = int(self.prices.exponents[way]) - DIGITS - self.unit
        return Odds(Fraction(digits, int(self.counts[way])), power)


@final
@dataclass(frozen=True)
class Odds:
    """A number, ratio × 2^power."""

    ratio: Fraction
    power: int

    def times(self, other: Odds) -> Odds:
        return Odds(self.ratio * other.ratio, self.power + other.power)


@final
@dataclass(frozen=True, eq=False)
class Walk:
    """What steers the draw: estimates of the weight of all that may follow.

    ``after[j]`` is by the piece of point j, the next points being in later pieces; ``runs[j]`` by the piece in which
    point j is the first (``runs[0]`` is empty); ``fits[j]`` by the number of rows between points j and j + 1.
    """

    widths: NDArray[np.int64]
    targets: tuple[Fraction, ...]
    rate: Fraction
    fits: list[Wide]
    after: list[Wide]
    runs: list[Wide]

    @property
    def points(self) -> int:
        return len(self.targets) - 1


@guarantee(
    claim="after and runs are at least the sums that they estimate, by a relative 2^-31 or more",
    proof="proofs/ordered_points.md#tables",
    reviewed="1bda33a6cacf",
)
def plan_walk(widths: NDArray[np.int64], targets: Sequence[Fraction], rate: Fraction) -> Walk:
    """Computes the tables of a walk, from the last point to the first."""
    points = len(targets) - 1
    fading = powers(rate, len(widths))
    fits = [gap_weights(target, rate, fading) for target in targets]
    roomy = Wide.of(np.array([ROOMY]))
    after, runs = [nothing(0)] * points + [fits[points][::-1].times(roomy)], [nothing(0)] * (points + 1)
    sizes = widths.astype(np.float64)
    for point in range(points, 0, -1):
        longer = after[points]
        for done in range(points - 1, point - 1, -1):
            more = Wide.of((sizes + (done - point + 1)) / (done - point + 2)).times(fits[done][:1])
            longer = after[done].plus(more.times(longer))
        runs[point] = longer.times(Wide.of(sizes)).times(roomy)
        if point > 1:
            after[point - 1] = later_pieces(runs[point], targets[point - 1], rate).times(roomy)
    return Walk(widths, tuple(targets), rate, fits, after, runs)


def gap_weights(target: Fraction, rate: Fraction, fading: Wide) -> Wide:
    """Computes exp(-rate |gap - target|) for gaps of 0 … last rows."""
    last = len(fading) - 1
    turn = min(int(target), last)
    below = fading[turn::-1].times(exp_near(rate * (target - turn)))
    return Wide.joined([below, fading[: last - turn].times(exp_near(rate * abs(turn + 1 - target)))])


def later_pieces(values: Wide, target: Fraction, rate: Fraction) -> Wide:
    """Adds up, for each piece, the values of all later ones, each times exp(-rate |rows between - target|)."""
    last = len(values) - 1
    turn = min(int(target), last)
    near = fading_sums(Wide.joined([values, nothing(turn)]), rate, turn)[turn:].times(exp_near(rate * (target - turn)))
    suffix = fading_sums(values[::-1], rate, 1 << len(values).bit_length())[::-1]
    far = Wide.joined([suffix[turn + 1 :], nothing(turn + 1)])
    return near.plus(far.times(exp_near(rate * abs(turn + 1 - target))))


@guarantee(
    claim="counts 2^unit >= weight × price for every way; their sum is at most total; total 2^unit is whole, if given",
    proof="proofs/ordered_points.md#tickets",
    reviewed="a80eeb98e727",
)
def tickets(weights: Wide, prices: Wide, whole: Wide | None) -> Tickets:
    """Shares out the tickets of a choice by weight times price, rounded up; a way that is worth nothing gets none."""
    worth = weights.times(prices)
    if whole is None:
        unit = int(worth.exponents.max()) + len(worth).bit_length() + 2 - TICKET_BITS
    else:
        unit = int(whole.exponents[0]) - TICKET_BITS
    shifts = np.clip(worth.exponents - unit, DEEPEST, TICKET_BITS)
    counts = np.ceil(np.ldexp(worth.mantissas * UPWARDS, shifts)).astype(np.int64) + 1
    counts[worth.mantissas == 0] = 0
    spent = exact_sums(counts, np.zeros(1, dtype=np.int64))[0]
    total = spent if whole is None else int(whole.mantissas[0] * 2.0**TICKET_BITS)
    if not 0 < spent <= total or (whole is not None and int(worth.exponents.max()) - unit > TICKET_BITS):
        raise ArithmeticError("the tables of a walk are too small: their proof must be wrong")
    return Tickets(counts, total, unit, prices)


def piece_tickets(walk: Walk, placed: int, piece: int | None) -> Tickets:
    """The choice of a piece for the next point, when ``placed`` are drawn, the last of them in an earlier piece."""
    start, come_from = (0, 0) if piece is None else (piece + 1, piece)
    prices = walk.runs[placed + 1][start:]
    weights = walk.fits[placed][start - come_from :][: len(prices)]
    return tickets(weights, prices, None if piece is None else walk.after[placed][piece : piece + 1])


def length_tickets(walk: Walk, point: int, piece: int) -> Tickets:
    """The choice of how many points, from one on, are in the piece of that one: way w is w + 1 of them."""
    width = float(walk.widths[piece])
    weights = [Wide.of(np.array([width]))]
    for done in range(point, walk.points):
        more = Wide.of(np.array([(width + (done - point + 1)) / (done - point + 2)]))
        weights.append(weights[-1].times(more).times(walk.fits[done][:1]))
    prices = [walk.after[done][piece : piece + 1] for done in range(point, walk.points + 1)]
    return tickets(Wide.joined(weights), Wide.joined(prices), walk.runs[point][piece : piece + 1])


def pick_way(choice: Tickets, entropy: Entropy) -> int | None:
    """Draws a ticket and finds the way it belongs to; None where it belongs to none."""
    ticket = entropy.below(choice.total)
    way = int(np.searchsorted(np.cumsum(choice.counts), ticket, side="right"))
    return way if way < len(choice.counts) else None


def try_walk(walk: Walk, entropy: Entropy) -> tuple[list[Run], Odds] | None:
    """Walks once: the pieces with their numbers of points and the product of all odds; None to begin again."""
    runs: list[Run] = []
    odds, placed = Odds(Fraction(1), 0), 0
    while placed < walk.points:
        come_from = runs[-1][0] if runs else None
        choice = piece_tickets(walk, placed, come_from)
        way = pick_way(choice, entropy)
        if way is None:
            return None
        piece = way if come_from is None else come_from + 1 + way
        lengths = length_tickets(walk, placed + 1, piece)
        more = pick_way(lengths, entropy)
        if more is None:
            return None
        odds = odds.times(choice.odds(way)).times(lengths.odds(more))
        runs.append((piece, more + 1))
        placed += more + 1
    return runs, odds


@guarantee(
    claim="weight of the runs × odds / last price, the chance to keep a walk, at most 1",
    proof="proofs/ordered_points.md#walk",
    reviewed="8561c63432f1",
)
def kept_chance(walk: Walk, runs: Sequence[Run], odds: Odds) -> IndexLaw:
    """The law of the coin that ends a walk: index 0 keeps it."""
    placed = [piece for piece, count in runs for _ in range(count)]
    gaps = np.diff([0, *placed, len(walk.widths) - 1]).tolist()
    misfit = sum(abs(gap - target) for gap, target in zip(gaps, walk.targets, strict=True)) * walk.rate
    ways = prod(comb(int(walk.widths[piece]) + count - 1, count) for piece, count in runs)
    end = walk.after[walk.points]
    ratio = odds.ratio * ways / int(end.mantissas[placed[-1]] * 2.0**DIGITS)
    power = odds.power - int(end.exponents[placed[-1]]) + DIGITS
    return IndexLaw(lambda _: ball(ratio) * (power * arb(2).log() - ball(misfit)).exp(), 2)


@guarantee(
    claim="count points in order out of width, all such sequences alike",
    proof="proofs/ordered_points.md#inside",
    reviewed="4e77dfd13e00",
)
def points_inside(width: int, count: int, entropy: Entropy) -> list[int]:
    """Draws points of a piece, which may coincide, in order: a subset of a few more points, pushed together."""
    chosen: set[int] = set()
    for top in range(width - 1, width + count - 1):
        pick = entropy.below(top + 1)
        chosen.add(top if pick in chosen else pick)
    return [point - place for place, point in enumerate(sorted(chosen))]


@guarantee(
    claim="every ordered sequence of points with probability proportional to exp(-rate × the sum of |gap - target|)",
    proof="proofs/ordered_points.md#walk",
    reviewed="fcb93e0cec8f",
)
def draw_ordered(
    widths: NDArray[np.int64], *, targets: Sequence[Fraction], rate: Fraction, entropy: Entropy
) -> list[tuple[int, int]]:
    """Draws points in order, as (piece, offset): one less of them than there are targets.

    Pieces are numbered from 0, and a gap is the difference in number between the pieces of two points that follow each
    other; the first gap is from piece 0, the last to the last piece.
    """
    walk = plan_walk(widths, targets, rate)
    while True:
        attempt = try_walk(walk, entropy)
        if attempt is None:
            continue
        runs, odds = attempt
        if resolve(kept_chance(walk, runs, odds), entropy.bits(WORD), WORD, entropy) == 0:
            return [
                (piece, offset) for piece, count in runs for offset in points_inside(int(widths[piece]), count, entropy)
            ]
