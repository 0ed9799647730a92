"""The least μ for which a curve is Gaussian differential privacy, or is but for a small δ: one number for a whole plan.

A curve with a tail heavier than every small Gaussian (DP-SGD has one, at probabilities that nobody will ever see) has a
useless μ, or none. What holds but for a δ is then the number to state, with its δ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from sfumato.accounting.facts.gaussian import exact_gaussian_delta
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.losses.piecewise_linear import Corner, Corners, edges
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Extended, Number, ball, enclose, positive, probability
from sfumato.guarantee import guarantee

TOLERANCE = 1e-3
"""How wide a bracket for μ may be, relative to μ, unless told."""

FIRST_PLACES, MOST_PLACES = 9, 64
"""At how many ε a distribution is looked at first, and at most."""

FARTHEST = 14
"""An ε at which nothing is left is sought up to 2 to this power."""

FINER = 0.1
"""How much narrower the brackets are of which one for μ is made."""

HALVINGS = 24
"""How often the interval in which a least μ lies is halved."""


def least_mu(
    loss: PLD | Profile | TradeOff | Pure | Approx, *, delta: Number = 0, tolerance: float = TOLERANCE
) -> Bracket:
    """Encloses the least μ with δ(ε) ≤ δ_μ(ε) + ``delta`` at every ε, where δ_μ is that of two unit Gaussians μ apart.

    Without a ``delta`` it is the least μ for which the loss is μ-GDP. No smaller one than the lower end is true of the
    loss as it is stated. ``tolerance`` is how wide the bracket may be, relative to μ.

    >>> round(least_mu(Pure(1)), 6)  # 2 Φ⁻¹(e / (1 + e))
    1.232035
    """
    allowed, width = probability(delta, "delta"), float(positive(tolerance, "tolerance"))
    match loss:
        case PLD():
            gaussian = _gaussian(loss)
            return gaussian if gaussian is not None and not allowed else distribution_mu(loss, allowed, width)
        case Profile():
            promised = loss
        case TradeOff():
            promised = loss.profile()
        case Pure() | Approx():
            promised = Profile.of(loss)
        case _:
            raise BadArgument("loss", "a PLD, Profile, TradeOff, Pure or Approx, as sf.total(plan, sf.PLD) gives", loss)
    low, high = mu_of(_curve(promised.points, allowed))
    return Bracket(low, high)


def _gaussian(loss: PLD) -> Bracket | None:
    """The μ of Gaussian noise, which is what the distribution is made of; None where it is made of something else."""
    squares = [Fraction(0)]
    for one in loss.alternatives:
        squares += [pair.square * count for pair, count in one if isinstance(pair, GaussianPair)]
        if not all(isinstance(pair, GaussianPair) for pair, _ in one):
            return None
    return Bracket(*enclose(lambda: ball(max(squares)).sqrt()))


def _curve(promises: Iterable[tuple[Fraction, Fraction]], delta: Fraction) -> Corners:
    """The trade-off curve of promises, each less a δ that is granted."""
    return TradeOff.of(Profile([(epsilon, max(Fraction(0), high - delta)) for epsilon, high in promises])).points


@guarantee(
    claim="the curve through these corners is nowhere below that of N(0, 1) and N(mu, 1) for the second number, but "
    "somewhere for any less than the first",
    proof="proofs/trade_off.md#least-mu",
    reviewed="31fc8267d6ad",
)
def mu_of(corners: Corners) -> tuple[Extended, Extended]:
    """Encloses the least μ whose Gaussian trade-off curve is nowhere above a piecewise linear one."""
    least: tuple[Extended, Extended] = Fraction(0), Fraction(0)
    for corner in corners:
        low, high = mu_at(corner)
        least = max(least[0], low), max(least[1], high)
    return least


def mu_at(corner: Corner) -> tuple[Extended, Extended]:
    """Encloses the least μ with Φ(Φ⁻¹(1 − α) − μ) ≤ β."""
    alpha, beta = corner
    if alpha + beta == 1:
        return Fraction(0), Fraction(0)
    if 0 in corner:
        return math.inf, math.inf
    return enclose(lambda: ball(2).sqrt() * (ball(2 * alpha).erfcinv() + ball(2 * beta).erfcinv()))


@guarantee(
    claim="at every epsilon delta(epsilon) is at most that of two unit Gaussians mu apart plus the delta granted, for "
    "the upper end; for no mu below the lower end",
    proof="proofs/trade_off.md#least-mu",
    reviewed="6a2c2a4812ae",
)
def distribution_mu(loss: PLD, delta: Fraction, tolerance: float) -> Bracket:
    """Looks at more and more ε, beside the corners that ask for the greatest μ."""
    width = FINER * tolerance
    end = _end(loss, delta, width)
    places = [end * step / (FIRST_PLACES - 1) for step in range(FIRST_PLACES - 1)]
    promises, low = {end: delta}, Fraction(0)
    while True:
        for place in places:
            bracket = loss.delta(place, tolerance=width)
            promises[place] = Fraction(bracket.upper)
            low = _at_least(low, place, Fraction(bracket.lower) - delta)
        corners = _curve(promises.items(), delta)
        high = mu_of(corners)[1]
        places = [place for place in _beside(corners, low, tolerance) if 0 < place < end and place not in promises]
        if not places or len(promises) >= MOST_PLACES:
            return Bracket(min(low, high), high)


def _end(loss: PLD, delta: Fraction, width: float) -> Fraction:
    """An ε at which no more than a δ is left."""
    if delta:
        end = loss.epsilon(delta, tolerance=width).upper
        if end < math.inf:
            return Fraction(end)
    else:
        for power in range(FARTHEST):
            if loss.delta(2**power, tolerance=width).upper == 0:
                return Fraction(2**power)
    raise NoProvenRoute(
        "no finite μ is known for this distribution: its losses have no end, or a part of them is infinite. Ask for a "
        "μ that holds but for a small δ: sf.accounting.least_mu(loss, delta=1e-9)."
    )


def _at_least(low: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """A μ of at least ``low`` that is not too large: two unit Gaussians less far apart do not reach a δ at an ε."""

    def reaches(mu: Fraction) -> bool:
        return exact_gaussian_delta(epsilon, mu, Fraction(1)) > delta

    if delta <= 0 or reaches(low):
        return low
    high = 2 * low + 1
    while not reaches(high):
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return low


def _beside(corners: Corners, low: Fraction, tolerance: float) -> set[Fraction]:
    """An ε between those of two lines that meet, for every corner that asks for clearly more than a μ; floats."""
    logs = [math.log(slope) for _, slope in edges(corners)]
    return {
        Fraction(abs(steep + flat) / 2)
        for corner, (steep, flat) in zip(corners[1:-1], pairwise(logs), strict=False)
        if mu_at(corner)[1] * Fraction(1 - tolerance) > low
    }
