"""Noise on whole vectors: as likely as its largest coordinate is small."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import final

import numpy as np
from flint import acb, arb, ctx

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, Number, ball, integer, positive, precision, probability
from sfumato.guarantee import guarantee
from sfumato.noise.distribution import at_most, least
from sfumato.noise.inversion import WORD, IndexLaw, resolve
from sfumato.noise.sampling import Integers
from sfumato.noise.uniform import below_many

HALF = Fraction(1, 2)
SMOOTH = 1
"""From this scale on sums are integrals with few corrections; below it they have few terms."""

GUARD_BITS = 64

SECANTS = 12
"""So many steps towards a quantile at most, before it is searched for."""


@final
@dataclass(frozen=True)
class Cube:
    """Draws vectors of integers with P(z) proportional to exp(-max|zᵢ| / scale): uniform on cubes of a random radius.

    Takes:      scale, a rational greater than 0; size, the number of coordinates, at least 1
    Guarantee:  exactly this law, which on one coordinate is that of discrete Laplace noise (proofs/k_norm.md#law)
    Cost:       some 0.1 ms for the radius, and 50 ns a coordinate

    >>> Cube(Fraction(1), 1).half_width(Fraction(95, 100))
    3
    """

    scale: Fraction
    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))
        object.__setattr__(self, "size", integer(self.size, "size", least=1))

    def sample(self, entropy: Entropy) -> Integers:
        """Draws one vector: 64-bit integers, or Python's where those do not hold them all."""
        return uniform_on_cube(self.radius(entropy), size=self.size, entropy=entropy)

    def radius(self, entropy: Entropy) -> int:
        """Draws the radius R of the cube {-R … R}ᵐ on which a vector is uniform."""
        return draw_radius(envelope(self.scale, self.size), entropy)

    def pmf(self, norm: int, *, bits: int = BITS) -> arb:
        """Encloses the probability of one vector whose largest coordinate is so large."""
        with precision(bits):
            ratio = ball(-norm / self.scale).exp() / -ball(-1 / self.scale).expm1()
            return ratio / (arb(2) ** self.size * self._whole())

    def radius_tail(self, radius: int, *, bits: int = BITS) -> arb:
        """Encloses P(R >= radius)."""
        with precision(bits):
            return arb(1) if radius <= 0 else power_sum(self.scale, self.size, radius) / self._whole()

    def tail(self, distance: int, *, bits: int = BITS) -> arb:
        """Encloses the probability that some coordinate is a distance or more from 0."""
        with precision(bits):
            return arb(1) if distance <= 0 else norm_tail(self.scale, self.size, distance) / self._whole()

    def coordinate_tail(self, distance: int, *, bits: int = BITS) -> arb:
        """Encloses P(|Z₁| >= distance): of one coordinate alone."""
        with precision(bits):
            return arb(1) if distance <= 0 else coordinate_tail(self.scale, self.size, distance) / self._whole()

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance of one coordinate, nearly (m + 1)(m + 2) scale² / 3; no two are correlated."""
        with precision(bits):
            return power_sum(self.scale, self.size + 2, 0) / (3 * self._whole()) - arb(1) / 12

    def half_width(self, confidence: Number) -> int:
        """The least t within which all coordinates are with a confidence."""
        return self._least_width(self.tail, confidence)

    def coordinate_half_width(self, confidence: Number) -> int:
        """The least t within which one coordinate is with a confidence."""
        return self._least_width(self.coordinate_tail, confidence)

    def _least_width(self, tail: Callable[..., arb], confidence: Number) -> int:
        missed = 1 - probability(confidence, "confidence")
        if missed == 0:
            raise BadArgument("confidence", "less than 1, for the distribution is unbounded", confidence)
        near = self._about(tail, missed)
        return least(lambda t: t >= 0 and at_most(lambda bits: tail(t + 1, bits=bits), missed), near=near)

    def _about(self, tail: Callable[..., arb], missed: Fraction) -> int:
        """About where a tail is so heavy, by secants of its logarithm, which is nearly straight: to begin with."""
        goal = float(ball(missed).log())
        sure, step = NormalDist().inv_cdf(min(max(1 - float(missed), 1e-9), 1 - 1e-9)), 1 / math.sqrt(9 * self.size)
        middle = self.size * max(1 - step**2 + sure * step, 0.1) ** 3  # Wilson and Hilferty: norms are about gamma
        places = [int(self.scale * Fraction(middle)), int(self.scale * Fraction(middle * 1.001)) + 1]
        heights = [_log_of(tail(place)) - goal for place in places]
        for _ in range(SECANTS):
            slope = (heights[-1] - heights[-2]) / (places[-1] - places[-2])
            if not math.isfinite(slope) or slope >= 0:
                break
            place = places[-1] - round(Fraction(heights[-1]) / Fraction(slope))
            if place < 1 or place in places:
                break
            places.append(place)
            heights.append(_log_of(tail(place)) - goal)
        return places[-1]

    def _whole(self) -> arb:
        return _known_sum(self.scale, self.size, ctx.prec)


@lru_cache(maxsize=64)
def _known_sum(scale: Fraction, size: int, bits: int) -> arb:
    with precision(bits):
        return power_sum(scale, size, 0)


def _log_of(value: arb) -> float:
    """The logarithm of the middle of a ball, as a float; that of 0 is −∞."""
    middle = value.mid()
    return float(middle.log()) if middle > 0 else -math.inf


@guarantee(
    claim="P(max|Zᵢ| >= t) is this over the whole sum, for t >= 1",
    proof="proofs/k_norm.md#tails",
    reviewed="6c2e43ae9fd4",
)
def norm_tail(scale: Fraction, size: int, distance: int) -> arb:
    """Encloses the weight of the vectors with a coordinate that far from 0, in the unit of `power_sum`."""
    inside = ball(distance - HALF) ** size * ball(-distance / scale).exp() / -ball(-1 / scale).expm1()
    return power_sum(scale, size, distance) - inside


@guarantee(
    claim="P(|Z₁| >= t) is this over the whole sum, for t >= 1", proof="proofs/k_norm.md#tails", reviewed="b2951a0090e6"
)
def coordinate_tail(scale: Fraction, size: int, distance: int) -> arb:
    """Encloses the weight of the vectors whose first coordinate is that far from 0, in the unit of `power_sum`."""
    fewer = power_sum(scale, size - 1, distance)
    return power_sum(scale, size, distance) - ball(distance - HALF) * fewer


@guarantee(
    claim="encloses Σ_{r >= start} (r + ½)^power exp(-r / scale)",
    proof="proofs/k_norm.md#sums",
    reviewed="946d570a5771",
)
def power_sum(scale: Fraction, power: int, start: int) -> arb:
    """Encloses the sum of powers that radii, norms and coordinates are weighed by, at the working precision."""
    rate, first = ball(-1 / scale), ball(-start / scale).exp()
    if power == 0:
        return first / -rate.expm1()
    if scale < SMOOTH:
        return first * acb(rate.exp()).lerch_phi(acb(-power), acb(ball(start + HALF))).real
    with precision(ctx.prec + GUARD_BITS):
        size = ball(1 / (2 * scale)).exp() * arb(power).fac() * ball(scale) ** (power + 1)
        return size * smooth_sum(scale, power, start)


@guarantee(
    claim="that sum over exp(1 / (2 scale)) power! scale^(power + 1), by Euler and Maclaurin, its remainder enclosed",
    proof="proofs/k_norm.md#sums",
    reviewed="6acc90c9a9ef",
)
def smooth_sum(scale: Fraction, power: int, start: int) -> arb:
    """Encloses a sum at a scale of at least 1 as an integral, half the first term, and derivatives there."""
    digits = math.log2(math.pi) + math.log2(scale.numerator) - math.log2(scale.denominator)
    pairs = 1 + math.ceil(ctx.prec / (2 * digits))
    place, inverse = ball((start + HALF) / scale), ball(1 / scale)
    rising = [place**power / arb(power).fac()]
    falling = [(-place).exp()]
    for i in range(2 * pairs - 1):
        rising.append(rising[-1] * (power - i) / ((i + 1) * place))
        falling.append(-falling[-1] / (i + 1))
    corrections = rising[0] * falling[0] / 2
    for j in range(1, pairs + 1):
        slope = sum((rising[i] * falling[2 * j - 1 - i] for i in range(2 * j)), arb(0))
        corrections -= arb.bernoulli(2 * j) / (2 * j) * slope * inverse ** (2 * j - 1)
    remainder = abs(arb.bernoulli(2 * pairs)) / arb(2 * pairs).fac() * (2 * inverse) ** (2 * pairs)
    return place.gamma_upper(arb(power + 1), True) + inverse * corrections + arb(0, remainder.upper())


@final
@dataclass(frozen=True)
class Envelope:
    """Where radii are proposed: around the likeliest one, and as far to each side as they are e times less likely."""

    scale: Fraction
    size: int
    mode: int
    right: int
    left: int

    def height(self, radius: int) -> arb:
        """Encloses the logarithm of the probability of a radius over that of the likeliest one."""
        return height(self.scale, self.size, radius, self.mode)


def height(scale: Fraction, size: int, radius: int, mode: int) -> arb:
    """Encloses log P(R = radius) - log P(R = mode)."""
    times = arb(2 * radius + 1) / (2 * mode + 1)
    return size * times.log() - arb((radius - mode) * scale.denominator) / scale.numerator


@lru_cache(maxsize=64)
@guarantee(
    claim="P(R = r) is largest at the mode, and at most 1/e of that from `right` above and `left` below it",
    proof="proofs/k_norm.md#radius",
    reviewed="cf50e34f5c7c",
)
def envelope(scale: Fraction, size: int) -> Envelope:
    """Finds the likeliest radius, and how far to each side the radii are at least 1/e as likely."""
    mode = least(lambda r: r >= 0 and at_most(lambda _: size * ball(Fraction(2, 2 * r + 1)).log1p(), 1 / scale))

    def low(radius: int) -> bool:
        return radius < 0 or at_most(lambda _: height(scale, size, radius, mode), Fraction(-1))

    right = least(lambda far: far >= 1 and low(mode + far))
    left = least(lambda far: far >= 1 and low(mode - far))
    return Envelope(scale, size, mode, right, left)


@guarantee(
    claim="P(R = r) proportional to (2r + 1)^size exp(-r / scale), r >= 0",
    proof="proofs/k_norm.md#radius",
    reviewed="93955fc8d223",
)
def draw_radius(around: Envelope, entropy: Entropy) -> int:
    """Draws a radius by rejection: the chance to accept is more than 1/9 at any scale and size, and mostly 2/5."""
    centre = around.left + around.right - 1
    while True:
        place, halvings = entropy.below(2 * centre + 1) - centre, 0
        if place < 0:
            radius = around.mode + around.right + place
        else:
            halvings = 1
            while entropy.bits(1):
                halvings += 1
            if place < around.right:
                radius = around.mode + halvings * around.right + place
            else:
                radius = around.mode - halvings * around.left - (place - around.right)
        if radius >= 0 and _accepted(around, radius, halvings, entropy):
            return radius


def _accepted(around: Envelope, radius: int, halvings: int, entropy: Entropy) -> bool:
    """Flips a coin of the chance of a radius over that of the likeliest, times 2 for each halving."""
    if radius == around.mode:
        return True
    law = IndexLaw(lambda _: (around.height(radius) + halvings * arb(2).log()).exp(), 2)
    return resolve(law, entropy.bits(WORD), WORD, entropy) == 0


@guarantee(claim="uniform on {-radius … radius}^size", proof="proofs/k_norm.md#law", reviewed="309e27675b42")
def uniform_on_cube(radius: int, *, size: int, entropy: Entropy) -> Integers:
    """Draws a vector of independent integers, each uniform within a radius."""
    if 2 * radius + 1 <= 1 << 63:
        return below_many(2 * radius + 1, count=size, entropy=entropy) - radius
    return np.array([entropy.below(2 * radius + 1) - radius for _ in range(size)], dtype=object)
