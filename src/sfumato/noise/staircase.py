"""The discrete staircase distribution of Geng and Viswanath (2012, arXiv 1212.1186)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from flint import arb

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, ball, integer, positive, precision
from sfumato.guarantee import guarantee
from sfumato.noise.digits import DigitSampler
from sfumato.noise.distribution import Noise
from sfumato.noise.geometric import Geometric
from sfumato.noise.inversion import IndexLaw, InversionTable
from sfumato.noise.sampling import Integers, draw_array, put
from sfumato.noise.uniform import below_many
from sfumato.plain import record

WIDEST = 1 << 51
"""Up to this width / decay, |Z| >= 2^62 has a chance below exp(-1024): 64-bit integers do."""


@final
@record("Staircase")
class Staircase(Noise):
    """Draws integers whose mass falls by exp(-decay) over each width, in two flat steps.

    Takes:      decay, a rational greater than 0; width, a whole number; step, a whole number in 1 … width
    Guarantee:  P(z) = c for |z| < step, c exp(-decay) for step <= |z| < width, and P(|z| + width) = exp(-decay) P(|z|),
                exactly (proofs/staircase.md#law)
    Cost:       about 6 bytes of entropy for a small width

    With width 1 it is the discrete Laplace distribution of scale 1 / decay.

    >>> Staircase(Fraction(1), width=3, step=1).half_width(Fraction(95, 100))
    9
    """

    decay: Fraction
    width: int
    step: int

    symmetric = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "decay", positive(self.decay, "decay"))
        object.__setattr__(self, "width", integer(self.width, "width", least=1))
        object.__setattr__(self, "step", integer(self.step, "step", least=1))
        if self.step > self.width:
            raise BadArgument("step", "at most the width", self.step)
        if self.width > 1 << 50:
            raise BadArgument("width", "at most 2^50", self.width)

    def sample(self, entropy: Entropy) -> int:
        return StairSampler(self).one(entropy)

    def samples(self, count: int, entropy: Entropy) -> Integers:
        wide = self.width / self.decay > WIDEST
        return draw_array(StairSampler(self), count=count, entropy=entropy, wide=wide)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            steps, place = divmod(abs(value), self.width)
            return self._height() * ball(-(steps + (place >= self.step)) * self.decay).exp()

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return self.upper_tail(-value, bits=bits) if value < 0 else 1 - self.upper_tail(value + 1, bits=bits)

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            if value < 1:
                return 1 - self.upper_tail(1 - value, bits=bits)
            steps, place = divmod(value, self.width)
            fall = ball(-self.decay).exp()
            high, low = max(self.step - place, 0), self.width - max(place, self.step)
            whole = (self.step + fall * (self.width - self.step)) * fall / -ball(-self.decay).expm1()
            return self._height() * ball(-steps * self.decay).exp() * (high + fall * low + whole)

    def variance(self, *, bits: int = BITS) -> arb:
        with precision(bits):
            fall, rest, width = ball(-self.decay).exp(), -ball(-self.decay).expm1(), self.width
            mass, first, second = (
                total_power(self.step, power) * (1 - fall) + total_power(width, power) * fall for power in (0, 1, 2)
            )
            one_turn = second + 2 * width * first * fall / rest + width**2 * mass * fall * (1 + fall) / rest**2
            return 2 * self._height() * one_turn / rest

    @property
    def support(self) -> tuple[None, None]:
        """Every integer."""
        return None, None

    def _height(self) -> arb:
        fall, rest = ball(-self.decay).exp(), -ball(-self.decay).expm1()
        return rest / (2 * self.step + 2 * fall * (self.width - self.step) - rest)


def total_power(count: int, power: int) -> int:
    """Sums i^power over 0 … count - 1, for a power of 0, 1 or 2."""
    match power:
        case 0:
            return count
        case 1:
            return count * (count - 1) // 2
        case _:
            return (count - 1) * count * (2 * count - 1) // 6


@guarantee(
    claim="index 0 (the high step) has probability step / (step + exp(-decay) (width - step))",
    proof="proofs/staircase.md#law",
    reviewed="5b0112aa5648",
)
def step_law(staircase: Staircase) -> IndexLaw:
    """The law of which of the two steps a magnitude falls on."""
    decay, step, low = staircase.decay, staircase.step, staircase.width - staircase.step
    return IndexLaw(lambda _: step / (step + ball(-decay).exp() * low), 2)


@lru_cache(maxsize=64)
def _steps(staircase: Staircase) -> DigitSampler:
    return DigitSampler.of(InversionTable.listing(step_law(staircase), 2), base=lambda index: index)


@final
@dataclass(frozen=True)
class StairSampler:
    """Draws a staircase variable as sign, number of whole widths, step and place in the step; minus zero is redrawn."""

    staircase: Staircase

    def one(self, entropy: Entropy) -> int:
        stairs = self.staircase
        while True:
            turns = Geometric(1 / stairs.decay).sample(entropy)
            lower = stairs.step < stairs.width and _steps(stairs).one(entropy) == 1
            place = stairs.step + entropy.below(stairs.width - stairs.step) if lower else entropy.below(stairs.step)
            value, negative = turns * stairs.width + place, entropy.bits(1)
            if value or not negative:
                return -value if negative else value

    def many(self, count: int, entropy: Entropy) -> Integers:
        """Draws an array of integers, of Python's where 64 bits might not hold one of them."""
        stairs = self.staircase
        turns = Geometric(1 / stairs.decay).samples(count, entropy)
        place = below_many(stairs.step, count=count, entropy=entropy)
        if stairs.step < stairs.width:
            lower = np.flatnonzero(_steps(stairs).many(count, entropy))
            place[lower] = stairs.step + below_many(stairs.width - stairs.step, count=len(lower), entropy=entropy)
        if int(turns.max(initial=0)) > (1 << 62) // stairs.width:
            turns = turns.astype(object)
        value: Integers = turns * stairs.width + place
        negative = (entropy.halves(count) & np.uint16(1)).astype(np.int64)
        redrawn = np.flatnonzero((value == 0) & (negative == 1))
        value = np.where(negative == 1, -value, value)
        return put(value, redrawn, self.many(len(redrawn), entropy)) if len(redrawn) else value
