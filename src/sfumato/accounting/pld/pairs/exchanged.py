"""The pair of noise on a Poisson sample of which one unit is exchanged: two mixtures that lean to opposite sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import final

import numpy as np
from flint import arb, ctx

from sfumato.accounting.pld.pairs.integer import IntegerNoisePair, whole_above
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.pair import ALL, NONE, Line, Lines, Pair
from sfumato.accounting.pld.pairs.sampled import STEEP
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Number, ball, probability, up, upper
from sfumato.guarantee import guarantee
from sfumato.plain import record


@final
@record("ExchangedNoisePair")
class ExchangedNoisePair(Pair):
    """(1−q)·Z + q·(Z + s) against (1−q)·Z + q·(Z − s), for noise Z: one unit of a Poisson sample exchanged.

    ``pair`` is that of the unsampled mechanism, for the presence of a unit: Z + s against Z.

    >>> pair = ExchangedNoisePair(LaplacePair(1), "0.1")
    >>> round(float(pair.largest), 6)
    0.223863
    """

    pair: LaplacePair | IntegerNoisePair
    rate: Fraction

    def __init__(self, pair: LaplacePair | IntegerNoisePair, rate: Number) -> None:
        if not isinstance(pair, LaplacePair | IntegerNoisePair):
            raise BadArgument("pair", "that of Laplace or integer noise, without sampling", pair)
        if isinstance(pair, IntegerNoisePair):
            met_at(pair, Fraction(1, 2))
        object.__setattr__(self, "pair", pair)
        object.__setattr__(self, "rate", probability(rate, "rate"))
        if not 0 < self.rate < 1:
            raise BadArgument("rate", "greater than 0 and less than 1; a rate of 1 is no sampling", rate)

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        if isinstance(self.pair, LaplacePair):
            return exchanged_laplace_lines(self.pair.ratio, self.rate)
        return exchanged_integer_lines(self.pair, self.rate)

    def reversed(self) -> ExchangedNoisePair:
        """Itself: reflecting the axis exchanges the two."""
        return self

    def hints(self, tail: float) -> list[float]:
        """Losses above 0 at outcomes that show where the mass lies, and their mirror images."""
        rate, end = up(self.rate), self.pair.largest

        def mixed(moved: float) -> float:
            return float(np.logaddexp(math.log1p(-rate), math.log(rate) + moved)) if rate < 1 else moved

        def mirrored(moved: float) -> float:
            return -up(end) if end is not None else -moved - _squared_ratio(self.pair)

        above = sorted({mixed(moved) - mixed(mirrored(moved)) for moved in self.pair.hints(tail)})
        positive = [loss for loss in above if loss > 0]
        return [-loss for loss in reversed(positive)] + [0.0, *positive]

    @property
    def largest(self) -> Fraction | None:
        """The upper end for Laplace noise, rounded up; none for Gaussian, or where it is astronomical."""
        end = self.pair.largest
        if end is None or end > STEEP:
            return None
        return Fraction(upper(lambda: _end(ball(end), self.rate)))

    @property
    def smooth(self) -> bool:
        """When the points of the noise lie close; else ends or points carry mass."""
        return self.pair.dense

    @property
    def pitch(self) -> None:
        """None: sampling bends the losses."""
        return None


def met_at(pair: IntegerNoisePair, rate: Fraction) -> Callable[[arb], arb]:
    """Prepares the outcome, whole or not, at which a loss is met."""
    if pair.known.cut is None:
        raise NoProvenRoute(
            f"what an exchange in a Poisson sample costs is not known of {type(pair.noise).__name__} noise: account "
            "for units that are added or removed, or in Approx or Renyi."
        )
    return pair.known.cut(pair.noise, pair.shift, rate)


def _squared_ratio(pair: LaplacePair | IntegerNoisePair) -> float:
    """(shift / deviation)² of integer noise, about."""
    return pair.shift**2 / float(pair.noise.variance().mid()) if isinstance(pair, IntegerNoisePair) else 0.0


def _end(ratio: arb, rate: Fraction) -> arb:
    """Encloses the largest loss ln[(1 − q + q·e^r)/(1 − q + q·e^−r)] for Laplace noise."""
    taken, kept, fall = ball(rate), ball(1 - rate), (-ratio).exp()
    end: arb = ratio + ((kept * fall + taken) / (kept + taken * fall)).log()
    return end


def laplace_cut(ratio: arb, rate: Fraction) -> Callable[[arb], arb]:
    """Prepares the outcome at which a loss between the ends is met, for Laplace noise of scale 1."""
    odds = ball((1 - rate) / rate)

    def cut(loss: arb) -> arb:
        if loss < 0:
            return -cut(-loss)
        grown = odds * loss.expm1() + (loss - ratio).exp()
        return ((ratio + grown.log()) / 2).min(ratio)

    return cut


@guarantee(
    claim="for 0 <= l <= the end, the best test rejects above (r + ln(((1-q)/q)(x-1) + x e^-r))/2, x = exp(l); below 0 "
    "above its mirror image",
    proof="proofs/pairs.md#exchanged",
    reviewed="7a2e2f693bcc",
)
def exchanged_laplace_lines(ratio: Fraction, rate: Fraction) -> Lines:
    """Prepares the lines of two mixtures of Laplace noise whose rarer parts lie on opposite sides."""
    shift, taken, kept = ball(ratio), ball(rate), ball(1 - rate)
    end, place = _end(shift, rate), laplace_cut(shift, rate)

    def line(loss: arb) -> Line:
        if loss > end:
            return NONE
        if loss < -end:
            return ALL
        cut = place(loss)
        base = kept * _laplace_above(cut)
        return Line(base + taken * _laplace_above(cut - shift), base + taken * _laplace_above(cut + shift))

    return line


def _laplace_above(value: arb) -> arb:
    """Encloses P(Z > value) for Laplace noise of scale 1."""
    if value >= 0:
        return (-value).exp() / 2
    below: arb = 1 - value.exp() / 2
    return below if value <= 0 else below.union((-value).exp() / 2)


@guarantee(
    claim="the best test rejects whole numbers above the outcome at which the loss is met; for Gaussian noise that is "
    "ln(u) sigma²/s, u the positive root of qcu² + (1-q)(1-x)u = xqc, c = exp(-s²/2 sigma²)",
    proof="proofs/pairs.md#exchanged",
    reviewed="d038b1593d21",
)
def exchanged_integer_lines(pair: IntegerNoisePair, rate: Fraction) -> Lines:
    """Prepares the lines of two mixtures of integer noise whose rarer parts lie on opposite sides."""
    noise, shift, bits = pair.noise, pair.shift, int(ctx.prec)
    taken, kept = ball(rate), ball(1 - rate)
    cut = met_at(pair, rate)
    end = None if pair.largest is None else _end(ball(pair.largest), rate)

    @cache
    def below(value: int) -> arb:
        return noise.cdf(value, bits=bits)

    def line(loss: arb) -> Line:
        if end is not None and loss > end:
            return NONE
        if end is not None and loss < -end:
            return ALL
        first = whole_above(cut(loss).lower())  # a point that the ball cannot be told from is taken
        base = kept * below(-first)
        return Line(base + taken * below(shift - first), base + taken * below(-shift - first))

    return line
