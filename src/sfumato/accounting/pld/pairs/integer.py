"""The pair of integer noise on one whole number: the noise about 0 against the same about a shift."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, final

from flint import arb, ctx

from sfumato.accounting.facts.table import registered
from sfumato.accounting.pld.pairs.pair import Lines, Pair
from sfumato.errors import BadArgument
from sfumato.exact import endpoints, integer
from sfumato.noise.distribution import Noise
from sfumato.plain import record

MOST_HINTS = 512
"""No more hints than this are listed, however many points the noise falls on."""

DENSE = 16
"""Noise that spreads this far beyond one point is taken for smooth once it is sampled; any choice is sound."""


@final
@dataclass(frozen=True)
class ShiftedNoise:
    """What is known of a noise about 0 against the same about a whole number, its shift: functions of noise and shift.

    ``lines`` are the pair's supporting lines, ``hints`` losses that show where its mass lies (with the chance that may
    be left out), ``largest`` its largest loss, ``pitch`` the distance between two losses, or half of it where they
    straddle 0. With a rate, ``cut`` gives the outcome, whole or not, at which a loss is met after an exchange in a
    Poisson sample; without it there is no such pair. Masses must be symmetric and log-concave (proofs/events.md#noise);
    ``covers`` tells of which noises of the kind that is true.
    """

    lines: Callable[[Any, int], Lines]
    hints: Callable[[Any, int, float], list[float]]
    largest: Callable[[Any, int], Fraction | None]
    pitch: Callable[[Any, int], Fraction | None]
    cut: Callable[[Any, int, Fraction], Callable[[arb], arb]] | None = None
    covers: Callable[[Any], bool] = lambda noise: True


SHIFTED: dict[type, ShiftedNoise] = {}
"""The noises that have a pair; `facts` fills it, a file for each noise."""


def shifted(noise: object) -> ShiftedNoise | None:
    """Looks up what is known of the pair of a noise."""
    known = registered(SHIFTED, type(noise))
    return known if known is not None and known.covers(noise) else None


@final
@record("IntegerNoisePair")
class IntegerNoisePair(Pair):
    """Integer noise about 0 against the same about a whole number.

    >>> from sfumato.noise.discrete_laplace import DiscreteLaplace
    >>> pair = IntegerNoisePair(DiscreteLaplace(Fraction(2)), shift=1)
    >>> pair.hints(1e-9)
    [-0.5, 0.5]
    """

    noise: Noise
    shift: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "shift", integer(self.shift, "shift", least=1))
        _ = self.known

    @property
    def known(self) -> ShiftedNoise:
        """What is known of its noise."""
        known = shifted(self.noise)
        if known is None:
            raise BadArgument("noise", "one with a pair, such as discrete Laplace or discrete Gaussian", self.noise)
        return known

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return self.known.lines(self.noise, self.shift)

    def reversed(self) -> IntegerNoisePair:
        """Itself: reflecting the axis exchanges the two."""
        return self

    def hints(self, tail: float) -> list[float]:
        """The losses of the points that the noise falls on, or enough of them."""
        return self.known.hints(self.noise, self.shift, tail)

    @property
    def largest(self) -> Fraction | None:
        """The largest loss; none where it has no end."""
        return self.known.largest(self.noise, self.shift)

    @property
    def smooth(self) -> bool:
        """No: the losses are points."""
        return False

    @property
    def dense(self) -> bool:
        """When the points lie close beside its spread, and none has much of the mass for itself."""
        return self.largest is None and self.noise.variance() > DENSE**2

    @property
    def pitch(self) -> Fraction | None:
        """The distance between two losses, or half of it where they straddle 0."""
        return self.known.pitch(self.noise, self.shift)


def thinned(places: range) -> list[int]:
    """Leaves out most of very many places, never the last: at an end of the losses much of the mass may lie."""
    return sorted({*places[:: max(1, len(places) // MOST_HINTS)], places[-1]})


def ceiling(value: arb) -> int:
    """The ceiling of the ball's upper end: a point that the ball cannot be told from is taken."""
    return whole_above(value.upper())


def whole_above(point: arb) -> int:
    """The least whole number that is not below an exact ball."""
    whole = point.ceil().unique_fmpz()
    return math.ceil(endpoints(point)[1]) if whole is None else int(whole)


def masses_below(noise: Noise) -> Callable[[int], arb]:
    """Prepares P(Z <= k), each worked out once: many losses lie between two points of the noise."""
    bits = int(ctx.prec)

    @cache
    def mass(value: int) -> arb:
        return noise.cdf(value, bits=bits)

    return mass
