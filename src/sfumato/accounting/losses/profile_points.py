"""Finitely many (ε, δ) promises that hold together: their convex hull, and what lies between and beyond them.

A list of promises is an upper bound of a privacy profile, the least δ for each ε, in both directions between any two
neighbours. In x = exp(ε) a profile is convex and falls, so that two promises also promise the chord between them.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from flint import arb

from sfumato.exact import BITS, Extended, ball, precision, upper
from sfumato.guarantee import guarantee

Promise: TypeAlias = tuple[Fraction, Fraction]
"""One promise: ε of at least 0, and its δ."""

Promises: TypeAlias = tuple[Promise, ...]
"""Promises from ε = 0 on: ε grows, δ falls, and all of them are corners of their convex hull."""

ROUNDING = Fraction(1, 1 << (BITS - 32))
"""Numbers that are closer than this, relatively, may be the same one."""

NOTHING: Promises = ((Fraction(0), Fraction(0)),)
"""What holds for something that does not depend on the data."""


@guarantee(
    claim="the lower convex hull in exp(epsilon) of promises and of their mirror images is promised too",
    proof="proofs/profile.md#hull",
    reviewed="7107967b7286",
)
def hull(promises: Sequence[Promise]) -> Promises:
    """The corners of the lower convex hull; a corner that is not certainly one is left out, which is weaker."""
    stated = min((delta for epsilon, delta in promises if epsilon == 0), default=Fraction(1))
    implied = min(at_zero(epsilon, delta) for epsilon, delta in promises)
    # What is stated and what is implied often are the same number, rounded twice: then the stated one stays.
    corners = [(Fraction(0), implied if implied < stated * (1 - ROUNDING) else stated)]
    with precision(BITS):
        for epsilon, delta in sorted(promises):
            if delta >= corners[-1][1]:
                continue
            while len(corners) > 1 and not _below(corners[-2], corners[-1], (epsilon, delta)):
                corners.pop()
            corners.append((epsilon, delta))
    return tuple(corners)


@guarantee(
    claim="(epsilon, delta) implies (0, delta + (1 - delta) tanh(epsilon / 2)), rounded up",
    proof="proofs/profile.md#hull",
    reviewed="744b9d0d5736",
)
def at_zero(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The δ at ε = 0 that a promise implies: the chord between it and its mirror image, at the middle."""
    if epsilon == 0 or delta == 1:
        return delta
    return min(Fraction(1), Fraction(upper(lambda: ball(delta) + ball(1 - delta) * ball(epsilon / 2).tanh())))


def _below(left: Promise, middle: Promise, right: Promise) -> bool:
    """Tells whether a promise is certainly below the chord of its neighbours."""
    return bool(_chord(left, right, middle[0]) > ball(middle[1]))


def _chord(left: Promise, right: Promise, epsilon: Fraction) -> arb:
    """Encloses the chord between two promises in exp(ε); both differences are from the right end, so none is huge."""
    share: arb = ball(epsilon - right[0]).expm1() / ball(left[0] - right[0]).expm1()
    return ball(right[1]) + ball(left[1] - right[1]) * share


@guarantee(
    claim="delta(epsilon) is at most the chord in exp(epsilon) of the promises beside it, and the last delta beyond",
    proof="proofs/profile.md#between",
    reviewed="38a1cddf0de7",
)
def delta_at(promises: Promises, epsilon: Fraction) -> Fraction:
    """The δ that is promised at an ε of at least 0, rounded up."""
    place = bisect_right(promises, epsilon, key=lambda promise: promise[0])
    left = promises[place - 1]
    if epsilon == left[0] or place == len(promises):
        return left[1]
    return min(left[1], Fraction(upper(lambda: _chord(left, promises[place], epsilon))))


@guarantee(
    claim="epsilon(delta) is where the chord meets delta, rounded up; infinite below the last delta",
    proof="proofs/profile.md#between",
    reviewed="8fa11bdde44e",
)
def epsilon_at(promises: Promises, delta: Fraction) -> Extended:
    """The least ε that is promised at a δ, rounded up; ``math.inf`` where no ε is."""
    place = bisect_left(promises, -delta, key=lambda promise: -promise[1])
    if place == len(promises):
        return math.inf
    right = promises[place]
    if place == 0 or delta == right[1]:
        return right[0]
    left = promises[place - 1]
    share = (delta - right[1]) / (left[1] - right[1])
    crossing = upper(lambda: ball(right[0]) + (ball(share) * ball(left[0] - right[0]).expm1()).log1p())
    return max(left[0], min(right[0], crossing))


@guarantee(
    claim="for groups of k: (k eps, delta (exp(k eps) - 1)/(exp(eps) - 1)) for each promise, and (0, k delta) at 0",
    proof="proofs/profile.md#group",
    reviewed="b92bdd2749b2",
)
def grouped(promises: Promises, size: int) -> Promises:
    """The promises for groups of a size, each from one promise for single units."""
    of_groups = [(Fraction(0), min(Fraction(1), size * promises[0][1]))]
    for epsilon, delta in promises[1:]:
        factor = _chain_factor(epsilon, size)
        grown = delta * Fraction(factor) if factor < math.inf else Fraction(delta > 0)
        of_groups.append((size * epsilon, coarse(min(Fraction(1), grown))))
    return hull(of_groups)


def _chain_factor(epsilon: Fraction, size: int) -> Extended:
    """1 + exp(ε) + … + exp((size − 1) ε), rounded up."""
    return upper(lambda: ball(size * epsilon).expm1() / ball(epsilon).expm1())


@guarantee(
    claim="the largest of several profiles is at most its chords between all their corners",
    proof="proofs/profile.md#widest",
    reviewed="a370555cb4e1",
)
def largest(lists: Sequence[Promises]) -> Promises:
    """One list of promises that each of several lists keeps."""
    places = {epsilon for promises in lists for epsilon, _ in promises} | _crossings(lists)
    return hull([(place, max(delta_at(promises, place) for promises in lists)) for place in sorted(places)])


def _crossings(lists: Sequence[Promises]) -> set[Fraction]:
    """Places near which two profiles cross: there the largest has a corner that none of them has. Only hints."""
    places = sorted({epsilon for promises in lists for epsilon, _ in promises})
    heights = [[float(delta_at(promises, place)) for place in places] for promises in lists]
    near_crossings = set()
    for one in range(len(lists)):
        for other in range(one):
            gaps = [a - b for a, b in zip(heights[one], heights[other], strict=True)]
            for (low, gap), (high, next_gap) in pairwise(zip(places, gaps, strict=True)):
                if gap * next_gap < 0:
                    share = gap / (gap - next_gap)
                    near_crossings.add(low + _rounded(math.log1p(share * math.expm1(float(high - low)))))
    return near_crossings


def _rounded(value: float) -> Fraction:
    return Fraction(round(value * 2**40), 2**40)


def coarse(value: Fraction) -> Fraction:
    """Rounds a number up to about as many digits as balls have, so that numbers do not grow by being used."""
    return value if value.denominator.bit_length() <= BITS else Fraction(upper(lambda: ball(value)))
