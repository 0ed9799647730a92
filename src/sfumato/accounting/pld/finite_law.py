"""A list of promises as two finite distributions, and their products: composition without a grid.

The privacy loss of the pair takes the values ±ε of the promises, so losses of products are sums of rationals. Masses
are whole numbers of 2**-bits, rounded so that the profile can only grow.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil, floor, lcm
from operator import mul
from typing import final

import numpy as np

from sfumato.accounting.losses.profile_points import NOTHING, Promises, coarse, hull
from sfumato.accounting.pld.pairs.finite import FinitePair
from sfumato.exact import Extended, ball, endpoints, precision
from sfumato.guarantee import guarantee

MOST = 256
"""A product keeps at most this many promises; every further one is replaced by the chord that covers it."""

FINE, FINEST = 192, 4096
"""Masses are counted in units of 2**-FINE, finer where losses are large, up to 2**-FINEST."""

NEGLIGIBLE, RATIO = 2.0**-100, 1.125
"""A product that must be thinned out is stated evenly up to a loss that is exceeded less often than this; beyond, ever
more widely: each place is this many times the one before."""


@final
@dataclass(frozen=True)
class FiniteLaw:
    """The law of a privacy loss: losses from the least to the largest, their masses, and the mass at infinity.

    All masses are in units of 2**-bits and add up to exactly one.
    """

    losses: tuple[Fraction, ...]
    masses: tuple[int, ...]
    infinite: int
    bits: int

    def pair(self) -> FinitePair:
        """The same law for the numerical accountant."""
        unit = 1 << self.bits
        atoms = tuple((loss, Fraction(mass, unit)) for loss, mass in zip(self.losses, self.masses, strict=True))
        return FinitePair(atoms, Fraction(self.infinite, unit))


@guarantee(
    claim="the profile of the two distributions is at least the chords through the promises and their mirror images",
    proof="proofs/profile.md#pair",
    reviewed="aee581a05c4c",
)
def law_of(promises: Promises, *, bits: int = FINE) -> FiniteLaw:
    """Two distributions that are at least as easy to tell apart as the promises allow."""
    unit = 1 << bits
    left = unit - ceil(promises[-1][1] * unit)
    infinite = unit - left
    losses: list[Fraction] = []
    masses: list[int] = []
    for loss, wanted in _corners(promises, bits):  # from the largest loss down
        given = min(left, wanted)
        if given > 0:
            losses.append(loss)
            masses.append(given)
            left -= given
    if left > 0 and masses:
        masses[-1] += left
    elif left > 0:
        losses, masses = [Fraction(0)], [left]
    return FiniteLaw(tuple(reversed(losses)), tuple(reversed(masses)), infinite, bits)


def _corners(promises: Promises, bits: int) -> list[tuple[Fraction, int]]:
    """The loss and the mass, rounded up, that belong to each corner and its mirror image; largest loss first."""
    if len(promises) == 1:
        return [(Fraction(0), 1 << bits)]
    unit, above, below = 1 << bits, [], []
    with precision(bits + 64):
        # The fall of each chord, per relative step in exp(ε), seen from its left end and from its right end.
        gaps = [(ball(right[0] - left[0]), ball(left[1] - right[1])) for left, right in pairwise(promises)]
        from_left = [fall * (-gap).exp() / -(-gap).expm1() for gap, fall in gaps]
        from_right = [fall / -(-gap).expm1() for gap, fall in gaps]
        middle = ball(1 - promises[0][1]) - 2 * from_left[0]
        for place, (epsilon, _) in enumerate(promises[1:]):
            mass = from_right[place] - (from_left[place + 1] if place + 1 < len(gaps) else 0)
            above.append((epsilon, _units(endpoints(mass)[1], unit)))
            below.append((-epsilon, _units(endpoints(mass * ball(-epsilon).exp())[1], unit)))
        centre = (Fraction(0), _units(endpoints(middle)[1], unit))
    return [*reversed(above), centre, *below]


def _units(mass: Extended, unit: int) -> int:
    return unit if mass >= 1 else max(0, ceil(Fraction(mass) * unit))


@guarantee(
    claim="the profile of a product of dominating pairs, at chosen places, promises for the composition",
    proof="proofs/profile.md#composition",
    reviewed="8b7511d37087",
)
def composed(first: Promises, second: Promises, *, most: int = MOST) -> Promises:
    """The promises of two mechanisms together; exact but for rounding up to ``most`` corners, thinned beyond."""
    if NOTHING in (first, second):
        return second if first == NOTHING else first
    reach = first[-1][0] + second[-1][0]
    bits = min(FINEST, FINE + ceil(Fraction(3, 2) * reach))
    one, other = law_of(first, bits=bits), law_of(second, bits=bits)
    return hull(list(product_promises(one, other, _places(one, other, most))))


@guarantee(
    claim="delta(eps) of a product is P(loss > eps) - exp(eps) Q(loss > eps), rounded up",
    proof="proofs/profile.md#product",
    reviewed="0f8d14d8357a",
)
def product_promises(one: FiniteLaw, other: FiniteLaw, places: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """δ at each of several ε for a product of two pairs, rounded up; both laws count in the same unit."""
    scale = lcm(*(loss.denominator for loss in (*one.losses, *other.losses, *places)))
    keys, steps = _whole(one.losses, scale), _whole(other.losses, scale)
    here = [*_from_the_top(one.masses, one.infinite), one.infinite]
    there = [*_from_the_top(_other_side(one), 0), 0]
    other_there = _other_side(other)
    promises = []
    for place, key in zip(places, _whole(places, scale), strict=True):
        cut = [bisect_right(keys, key - step) for step in steps]
        above = sum(map(mul, other.masses, [here[index] for index in cut])) + (other.infinite << one.bits)
        covered = sum(map(mul, other_there, [there[index] for index in cut]))
        with precision(one.bits + 64):
            most = endpoints((ball(above) - ball(place).exp() * ball(covered)) / ball(1 << 2 * one.bits))[1]
        promises.append((place, coarse(min(Fraction(above, 1 << 2 * one.bits), max(Fraction(0), Fraction(most))))))
    return promises


def _other_side(law: FiniteLaw) -> list[int]:
    """The masses of the same outcomes under the other distribution, rounded down."""
    with precision(law.bits + 64):
        exact = [
            endpoints(ball(mass) * ball(-loss).exp())[0] for loss, mass in zip(law.losses, law.masses, strict=True)
        ]
    return [max(0, floor(mass)) for mass in exact]


def _from_the_top(masses: Sequence[int], start: int) -> list[int]:
    """For each place the sum of the masses from there on, and the start."""
    return list(accumulate(reversed(masses), initial=start))[:0:-1]


def _places(one: FiniteLaw, other: FiniteLaw, most: int) -> list[Fraction]:
    """Chooses where to state a product's promises: at all its losses where they are few, else spread out evenly."""
    scale = lcm(*(loss.denominator for loss in (*one.losses, *other.losses)))
    steps = _whole(other.losses, scale)
    corners = sorted({0} | {key + step for key in _whole(one.losses, scale) for step in steps if key + step >= 0})
    if len(corners) <= most:
        return [Fraction(value, scale) for value in corners]
    last, top = Fraction(corners[-1], scale), _mostly_below(one, other)
    # One chord from there to the last loss would leave all of its mass at the last loss, and the next product would
    # have to reach that far; a few more places on the way keep it near.
    far = [place for place in accumulate([RATIO] * (most // 4), mul, initial=top) if top < place < last]
    even = [top * step / (most - len(far) - 2) for step in range(most - len(far) - 1)]
    return sorted({last} | {Fraction(floor(place * 2**24), 2**24) for place in (*even, *far)})


def _whole(losses: Iterable[Fraction], scale: int) -> list[int]:
    """Rationals as whole numbers of a common step."""
    return [loss.numerator * (scale // loss.denominator) for loss in losses]


def _mostly_below(one: FiniteLaw, other: FiniteLaw) -> float:
    """A loss that a product exceeds with negligible probability, infinite ones apart; it only steers."""
    sums = np.add.outer(np.array(one.losses, float), np.array(other.losses, float)).ravel()
    weights = [np.array([mass / (1 << law.bits) for mass in law.masses]) for law in (one, other)]
    order = np.argsort(sums)[::-1]
    exceeded = np.cumsum(np.multiply.outer(*weights).ravel()[order])
    return float(max(0.0, sums[order][np.searchsorted(exceeded, NEGLIGIBLE).clip(max=len(order) - 1)]))
