"""The pair of integer noise on one whole number: the noise about 0 against the same about a shift."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import final

from flint import arb, ctx

from sfumato.accounting.pairs.pair import ALL, NONE, Line, Lines, Pair
from sfumato.errors import BadArgument
from sfumato.exact import ball, endpoints, integer, up
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace

MOST_HINTS = 512
"""No more hints than this are listed, however many points the noise falls on."""


@final
@dataclass(frozen=True)
class IntegerNoisePair(Pair):
    """Is discrete Laplace or Gaussian noise about 0 against the same about a whole number.

    >>> pair = IntegerNoisePair(DiscreteLaplace(Fraction(2)), shift=1)
    >>> pair.hints(1e-9)
    [-0.5, 0.5]
    """

    noise: DiscreteLaplace | DiscreteGaussian
    shift: int

    def __post_init__(self) -> None:
        if not isinstance(self.noise, DiscreteLaplace | DiscreteGaussian):
            raise BadArgument("noise", "discrete Laplace or discrete Gaussian noise", self.noise)
        object.__setattr__(self, "shift", integer(self.shift, "shift", least=1))

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        if isinstance(self.noise, DiscreteLaplace):
            return discrete_laplace_lines(self.noise, self.shift)
        return discrete_gaussian_lines(self.noise, self.shift)

    def reversed(self) -> IntegerNoisePair:
        """Gives itself: reflecting the axis exchanges the two."""
        return self

    def hints(self, tail: float) -> list[float]:
        """Gives the losses of the points that the noise falls on, or enough of them."""
        if isinstance(self.noise, DiscreteLaplace):
            places, scale = range(self.shift + 1), up(self.noise.scale)
            return [(2 * place - self.shift) / scale for place in _thinned(places)]
        square = up(self.noise.square)
        reach = math.ceil(math.sqrt(-2 * math.log(tail) * square)) + 1
        places = range(-reach, reach + self.shift + 1)
        return [self.shift * (place - self.shift / 2) / square for place in _thinned(places)]

    @property
    def largest(self) -> Fraction | None:
        """Gives shift over scale for Laplace noise, none for Gaussian."""
        return self.shift / self.noise.scale if isinstance(self.noise, DiscreteLaplace) else None

    @property
    def smooth(self) -> bool:
        """Is not: the losses are points."""
        return False

    @property
    def pitch(self) -> Fraction:
        """Gives the distance between two losses, or half of it where they straddle 0."""
        straddle = 2 - self.shift % 2
        if isinstance(self.noise, DiscreteLaplace):
            return straddle / self.noise.scale
        return straddle * self.shift / (2 * self.noise.square)


def _thinned(places: range) -> list[int]:
    """Leaves out most of very many places, never the last: at an end of the losses much of the mass may lie."""
    return sorted({*places[:: max(1, len(places) // MOST_HINTS)], places[-1]})


@guarantee(
    claim="between -s/b and s/b the best test rejects k < (s - l b)/2",
    proof="proofs/pairs.md#discrete-laplace",
    reviewed="a7b766b55a32",
)
def discrete_laplace_lines(noise: DiscreteLaplace, shift: int) -> Lines:
    """Prepares the lines of discrete Laplace noise about 0 against the same about a shift."""
    end, scale, below = ball(Fraction(shift) / noise.scale), ball(noise.scale), _below(noise)

    def line(loss: arb) -> Line:
        if loss >= end:
            return NONE
        if loss < -end:
            return ALL
        last = _ceiling((shift - loss * scale) / 2) - 1
        return Line(below(last), below(last - shift))

    return line


@guarantee(
    claim="the best test at a loss l rejects k < s/2 - l sigma²/s",
    proof="proofs/pairs.md#discrete-gaussian",
    reviewed="447066344562",
)
def discrete_gaussian_lines(noise: DiscreteGaussian, shift: int) -> Lines:
    """Prepares the lines of discrete Gaussian noise about 0 against the same about a shift."""
    square, half, below = ball(noise.square / shift), ball(Fraction(shift, 2)), _below(noise)

    def line(loss: arb) -> Line:
        last = _ceiling(half - loss * square) - 1
        return Line(below(last), below(last - shift))

    return line


def _ceiling(value: arb) -> int:
    """Gives the ceiling of the ball's upper end: a point that the ball cannot be told from is taken."""
    return math.ceil(endpoints(value)[1])


def _below(noise: DiscreteLaplace | DiscreteGaussian) -> Callable[[int], arb]:
    """Prepares P(Z <= k), each worked out once: many losses lie between two points of the noise."""
    bits = int(ctx.prec)

    @cache
    def mass(value: int) -> arb:
        return noise.cdf(value, bits=bits)

    return mass
