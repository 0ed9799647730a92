"""The pair of a Gaussian mechanism: N(μ, 1) against N(0, 1)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

from flint import arb

from sfumato.accounting.facts.gaussian import gaussian_upper_tail
from sfumato.accounting.pld.pairs.pair import Line, Lines, Pair
from sfumato.errors import BadArgument
from sfumato.exact import Number, ball, positive, probability, up
from sfumato.guarantee import guarantee
from sfumato.plain import record

SPACING = 0.25
"""Hints are this far apart, in standard deviations of the noise."""


@final
@record("GaussianPair")
class GaussianPair(Pair):
    """N(μ, 1) against N(0, 1), by μ²: continuous Gaussian noise of scale σ on answers a distance μσ apart.

    >>> GaussianPair(1).reversed() == GaussianPair(1)
    True
    """

    square: Fraction

    def __init__(self, square: Number) -> None:
        object.__setattr__(self, "square", positive(square, "square"))

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return gaussian_lines(self.square)

    def reversed(self) -> GaussianPair:
        """Itself: reflecting the axis exchanges the two."""
        return self

    def hints(self, tail: float) -> list[float]:
        """Losses at evenly spaced outcomes."""
        mu = math.sqrt(up(self.square))
        return [mu * (y - mu / 2) for y in outcomes(tail, centre=mu)]

    @property
    def smooth(self) -> bool:
        """Yes: the loss has a density."""
        return True

    @property
    def pitch(self) -> None:
        """None: the losses fill an interval."""
        return None


def outcomes(tail: float, *, centre: float) -> list[float]:
    """Evenly spaced outcomes of unit Gaussian noise about 0 and about a centre, out to a tail."""
    reach = math.sqrt(-2 * math.log(tail)) + SPACING
    least, most = min(0.0, centre) - reach, max(0.0, centre) + reach
    count = min(4000, math.ceil((most - least) / SPACING))
    return [least + (most - least) * place / count for place in range(count + 1)]


@guarantee(
    claim="the best test at a loss l rejects above l/mu + mu/2; its masses are upper tails at l/mu -+ mu/2",
    proof="proofs/pairs.md#gaussian",
    reviewed="08da7bcc589f",
)
def gaussian_lines(square: Fraction) -> Lines:
    """Prepares the lines of N(μ, 1) against N(0, 1)."""
    mu = ball(square).sqrt()
    half = mu / 2

    def line(loss: arb) -> Line:
        middle = loss / mu
        return Line(gaussian_upper_tail(middle - half), gaussian_upper_tail(middle + half))

    return line


@final
@record("ExchangedGaussianPair")
class ExchangedGaussianPair(Pair):
    """(1−q)·N(0, 1) + q·N(μ, 1) against (1−q)·N(0, 1) + q·N(−μ, 1): one unit of a Poisson sample exchanged."""

    square: Fraction
    rate: Fraction

    def __init__(self, square: Number, rate: Number) -> None:
        object.__setattr__(self, "square", positive(square, "square"))
        object.__setattr__(self, "rate", probability(rate, "rate"))
        if self.rate == 0:
            raise BadArgument("rate", "greater than 0", rate)

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return exchanged_lines(self.square, self.rate)

    def reversed(self) -> ExchangedGaussianPair:
        """Itself: reflecting the axis exchanges the two."""
        return self

    def hints(self, tail: float) -> list[float]:
        """Losses at evenly spaced outcomes."""
        mu, rate = math.sqrt(up(self.square)), up(self.rate)

        def loss(outcome: float) -> float:
            grown = [math.log1p(-rate) if rate < 1 else -math.inf] * 2
            return _log_add(grown[0], math.log(rate) + mu * outcome - mu * mu / 2) - _log_add(
                grown[1], math.log(rate) - mu * outcome - mu * mu / 2
            )

        reach = outcomes(tail, centre=mu)
        return sorted({loss(y) for y in reach} | {loss(-y) for y in reach})

    @property
    def smooth(self) -> bool:
        """Yes: the loss has a density."""
        return True

    @property
    def pitch(self) -> None:
        """None: the losses fill an interval."""
        return None


def _log_add(left: float, right: float) -> float:
    high, low = max(left, right), min(left, right)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


@guarantee(
    claim="the best test at x = exp(l) rejects above ln(u)/mu, u the positive root of qcu² + (1-q)(1-x)u = xqc, "
    "c = exp(-mu²/2)",
    proof="proofs/pairs.md#exchanged",
    reviewed="a344cb8d386c",
)
def exchanged_lines(square: Fraction, rate: Fraction) -> Lines:
    """Prepares the lines of two mixtures whose rarer parts lie on opposite sides."""
    mu, taken, kept = ball(square).sqrt(), ball(rate), ball(1 - rate)
    weight = taken * (-ball(square) / 2).exp()

    def line(loss: arb) -> Line:
        ratio = loss.exp()
        linear = kept * (1 - ratio)
        surd = (linear**2 + 4 * ratio * weight**2).sqrt()
        # Of two equal forms of the root, the one that does not cancel.
        root = 2 * ratio * weight / (linear + surd) if linear.mid() > 0 else (surd - linear) / (2 * weight)
        cut = root.log() / mu
        base = kept * gaussian_upper_tail(cut)
        return Line(base + taken * gaussian_upper_tail(cut - mu), base + taken * gaussian_upper_tail(cut + mu))

    return line
