"""What joining the dots can have added: a lower bound for laws whose losses sit between lattice points.

Joining the dots moves each loss to one of its two neighbours on the lattice. All such moves together spread the law no
more than independent coins of one step each would (proofs/lattice.md#spread). So the spread law's profile is at most an
average of the true one over a narrow, known law, and the true one, being convex, cannot be far below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from flint import arb

from sfumato.exact import Extended, ball, endpoints
from sfumato.guarantee import guarantee

NEAR = 1.6
"""Chords reach this many standard deviations of the coins: the best choice for a profile that bends evenly."""

EDGES = (1.6, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0, 14.0)
"""Where further moves are put together, in standard deviations."""

MOST_COINS = 10**8
"""With more coins than this no lower bound is worked out."""


@final
@dataclass(frozen=True)
class Coins:
    """The law of the sum of all coins: weights of the chords' ends, and of moves beyond them.

    ``stay`` is the weight of the middle, ``up`` and ``down`` those of the two ends ``reach`` away; ``far`` lists
    (move, weight) with the move to the end that gives the larger profile; ``lost`` is the weight of everything else.
    """

    reach: Fraction
    stay: arb
    up: arb
    down: arb
    far: tuple[tuple[Fraction, arb], ...]
    lost: arb


@guarantee(
    claim="masses of a sum of n signs with P(+) = e^step / (1 + e^step), gathered outwards",
    proof="proofs/lattice.md#coins",
    reviewed="8e9615ceb4bc",
)
def coins(count: int, step: Fraction) -> Coins:
    """The law of the sum of ``count`` coins of ±step, tilted so that its exponential has mean 1 backwards."""
    deviation = math.sqrt(count)
    near = max(2, math.ceil(NEAR * deviation))
    reach = near * step
    first = max(0, math.floor((count - EDGES[-1] * deviation) / 2))
    last = min(count, math.ceil((count + EDGES[-1] * deviation) / 2))
    growth = ball(step).exp()
    mass = _binomial(count, first, growth)
    stay = up = down = arb(0)
    sums: dict[int, arb] = {}
    lost = arb(1)
    left, right = (-ball(reach)).exp(), ball(reach).exp()
    for heads in range(first, last + 1):
        move = 2 * heads - count
        lost -= mass
        if abs(move) <= near:
            share = (ball(-move * step).exp() - 1) / ((left if move > 0 else right) - 1) if move else arb(0)
            stay += mass * (1 - share)
            up, down = (up + mass * share, down) if move > 0 else (up, down + mass * share)
        else:
            edge = _edge(move, deviation)
            sums[edge] = sums.get(edge, arb(0)) + mass
        mass = mass * growth * (count - heads) / (heads + 1)
    far = tuple((edge * step, weight) for edge, weight in sorted(sums.items()))
    return Coins(reach, stay, up, down, far, lost.nonnegative_part())


def _edge(move: int, deviation: float) -> int:
    """The whole number at which a far move is counted: the outer edge upwards, the inner one downwards."""
    size = abs(move)
    if move > 0:
        return next((math.ceil(edge * deviation) for edge in EDGES if math.ceil(edge * deviation) >= size), size)
    return -max(math.ceil(edge * deviation) for edge in EDGES if math.ceil(edge * deviation) <= size)


def _binomial(count: int, heads: int, growth: arb) -> arb:
    """Encloses P(exactly this many heads) of coins with P(heads) = growth / (1 + growth)."""
    ways = (arb(count + 1).lgamma() - arb(heads + 1).lgamma() - arb(count - heads + 1).lgamma()).exp()
    return ways * growth**heads / (1 + growth) ** count


@guarantee(
    claim="h(x) >= (h'(x) - up h'(x e^-b) - down h'(x e^b) - far and lost parts) / stay",
    proof="proofs/lattice.md#unspread",
    reviewed="2d5b6e81d665",
)
def unspread(law: Coins, low: Extended, above: Callable[[Fraction], Extended]) -> Extended:
    """A lower bound of the profile at a point from one of the spread law's there, and from bounds around it.

    ``above`` takes a move and gives an upper bound of the profile that far to the left (a positive move) or right.
    """
    rest = law.up * _bound(above(law.reach)) + law.down * _bound(above(-law.reach)) + law.lost
    for move, weight in law.far:
        rest += weight * _bound(above(move))
    return max(Fraction(0), endpoints((ball(Fraction(low)) - rest) / law.stay)[0])


def _bound(value: Extended) -> arb:
    return ball(Fraction(min(Fraction(1), value)))
