"""What Laplace noise cut off at a distance costs: discrete, as it is drawn, and continuous, as the texts have it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from sfumato.accounting.facts.table import fact
from sfumato.accounting.losses.measures import Approx
from sfumato.accounting.plans.search import least_integer
from sfumato.accounting.pld.pairs.integer import SHIFTED, ShiftedNoise, ceiling, masses_below, thinned
from sfumato.accounting.pld.pairs.pair import Line, Lines
from sfumato.errors import NoProvenRoute
from sfumato.exact import Distance, Number, ball, non_negative, positive, probability, rational_up, up, upper
from sfumato.guarantee import guarantee
from sfumato.noise.bounded import Truncated
from sfumato.noise.discrete_laplace import DiscreteLaplace


@fact(Truncated, Approx)
@guarantee(
    claim="epsilon = shift / scale, delta = the mass within shift of an end of the range; 1 if longer than the range",
    proof="proofs/truncated_laplace.md#discrete",
    reviewed="455d1ed64cdc",
)
def truncated_laplace_approx(noise: Truncated, shift: Distance) -> Approx:
    """The loss of truncated discrete Laplace noise on one whole number."""
    if not isinstance(noise.noise, DiscreteLaplace):
        raise NoProvenRoute("the loss of truncated noise is on file for Laplace noise only.")
    whole = math.floor(rational_up(shift))
    epsilon = whole / noise.noise.scale
    if whole > noise.high - noise.low:
        return Approx(epsilon, 1)
    ends = upper(lambda: noise.cdf(noise.low + whole - 1)), upper(lambda: noise.upper_tail(noise.high - whole + 1))
    return Approx(epsilon, min(Fraction(1), max(Fraction(end) for end in ends)) if whole else 0)


@guarantee(
    claim="the best test at a loss l rejects k < (s - l b)/2, and all that only the first can give, k < s - reach",
    proof="proofs/truncated_laplace.md#pair",
    reviewed="1e10553bae4b",
)
def truncated_laplace_lines(noise: Truncated, shift: int) -> Lines:
    """Prepares the lines of truncated discrete Laplace noise about 0 against the same about a shift."""
    base: Any = noise.noise
    end, scale, below = ball(Fraction(shift) / base.scale), ball(base.scale), masses_below(noise)

    def line(loss: arb) -> Line:
        last = noise.high if loss < -end else ceiling((shift - loss * scale) / 2) - 1
        last = min(noise.high, max(last if loss < end else noise.low, shift + noise.low - 1))
        return Line(below(last), below(last - shift))

    return line


def _hints(noise: Truncated, shift: int, tail: float) -> list[float]:
    base: Any = noise.noise
    return [(2 * place - shift) / up(base.scale) for place in thinned(range(shift + 1))]


def _scale(noise: Truncated) -> Fraction:
    base: Any = noise.noise
    return Fraction(base.scale)


SHIFTED[Truncated] = ShiftedNoise(
    truncated_laplace_lines,
    _hints,
    largest=lambda noise, shift: shift / _scale(noise),
    pitch=lambda noise, shift: (2 - shift % 2) / _scale(noise),
    covers=lambda noise: isinstance(noise.noise, DiscreteLaplace) and noise.low == -noise.high,
)


def truncation_reach(*, scale: Fraction, shift: int, delta: Fraction) -> int:
    """The least reach, in steps, at which truncated Laplace noise of a scale keeps a δ for a shift.

    >>> truncation_reach(scale=Fraction(1), shift=1, delta=Fraction(1, 10**6))
    14
    """

    def keeps(reach: int) -> bool:
        return (
            truncated_laplace_approx(Truncated.within(DiscreteLaplace(scale), radius=reach), Fraction(shift)).delta
            <= delta
        )

    # There δ is far below what is asked for; much further out masses are too small to write down.
    enough = shift + math.ceil(scale * (delta.denominator.bit_length() + 64))
    return least_integer(keeps, low=max(1, shift), high=enough, what="reach")


@guarantee(
    claim="epsilon = shift / scale; delta = (e^(shift/scale) − 1) / (2 (e^(reach/scale) − 1)) up to reach, and "
    "the mass out of the shifted noise's reach beyond it",
    proof="proofs/truncated_laplace.md#continuous",
    reviewed="e59604786853",
)
def continuous_truncated_laplace(shift: Number, *, scale: Number, reach: Number) -> Approx:
    """The loss of *continuous* Laplace noise conditioned on |noise| <= reach; for comparison, nothing draws it.

    >>> continuous_truncated_laplace(2, scale=1, reach=1).delta
    Fraction(1, 1)
    """
    moved, size, cut = non_negative(shift, "shift"), positive(scale, "scale"), positive(reach, "reach")
    if moved == 0:
        return Approx(0, 0)
    if moved >= 2 * cut:
        return Approx(moved / size, 1)
    if moved <= cut:
        delta = upper(lambda: ball(moved / size).expm1() / (2 * ball(cut / size).expm1()))
    else:
        delta = upper(
            lambda: 1 - (ball(-(moved - cut) / size).exp() - ball(-cut / size).exp()) / (-2 * ball(-cut / size).expm1())
        )
    return Approx(moved / size, min(Fraction(1), Fraction(delta)))


def continuous_reach(shift: Number, *, scale: Number, delta: Number) -> Fraction:
    """The reach at which *continuous* truncated Laplace noise keeps a δ for a shift, rounded up.

    >>> float(continuous_reach(0.01, scale=0.01, delta=1e-6)).__round__(6)
    0.136637
    """
    moved, size, wanted = positive(shift, "shift"), positive(scale, "scale"), probability(delta, "delta")
    reach = upper(lambda: ball(size) * (ball(moved / size).expm1() / (2 * ball(positive(wanted, "delta")))).log1p())
    return max(moved, Fraction(reach))
