"""What one of several mechanisms costs that is drawn with public weights, of each kind of loss.

The draw does not look at the data and may be published.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from sfumato.accounting.losses.concentrated import ApproxZCDP
from sfumato.accounting.losses.measures import Approx, BoundedRange, Loss
from sfumato.accounting.losses.pld import PLD, covering
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.profile_points import coarse
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.accounting.pld.pairs.finite import FinitePair
from sfumato.accounting.pld.pairs.mixed import MixedPair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.renyi.mixed_curve import MixedCurve
from sfumato.errors import NoProvenRoute
from sfumato.guarantee import guarantee

L = TypeVar("L", bound=Loss)

USUAL = Fraction(1, 10**6)
"""Where two distributions that both hold cannot be compared everywhere, they are compared at this δ."""

NEVER = FinitePair(((0, 1),))
"""The pair of something that does not depend on the data."""


@guarantee(
    claim="a public draw among mechanisms costs their mean where losses average (delta at each epsilon, exponentials "
    "of Rényi divergences), else no more than the dearest of them; bounded range: refused",
    proof="proofs/plan_loss.md#mixture",
    reviewed="d14422670abb",
)
def mixture_loss(parts: Sequence[tuple[L, Fraction]], kind: type[L]) -> L:
    """The loss of one of several mechanisms, each with a weight above 0, drawn without the data."""
    if kind is BoundedRange and len(parts) > 1:
        raise NoProvenRoute(
            "a draw among mechanisms of bounded range may have twice that range (proofs/plan_loss.md): ask for Pure."
        )
    shares: dict[L, Fraction] = {}
    for loss, weight in parts:
        shares[loss] = shares.get(loss, Fraction(0)) + weight
    if len(shares) == 1:
        return next(iter(shares))
    mixed: L = MIXED[kind](shares) if kind in MIXED else kind.widest(list(shares), count=1)
    return mixed


@guarantee(
    claim="(the largest finite epsilon, the mean delta); a part without a finite one has delta 1",
    proof="proofs/plan_loss.md#mixture",
    reviewed="37ff0890d428",
)
def mixed_approx(shares: dict[Approx, Fraction]) -> Approx:
    """The (ε, δ) of a draw."""
    finite = [loss.epsilon for loss in shares if loss.epsilon < math.inf]
    delta = sum(weight * (loss.delta if loss.epsilon < math.inf else 1) for loss, weight in shares.items())
    return Approx(max(finite, default=0), delta)


@guarantee(
    claim="(the largest rho, the mean delta)",
    proof="proofs/plan_loss.md#mixture",
    reviewed="d31a92ab1412",
)
def mixed_approx_zcdp(shares: dict[ApproxZCDP, Fraction]) -> ApproxZCDP:
    """The approximate zCDP of a draw."""
    return ApproxZCDP(max(loss.rho for loss in shares), sum(weight * loss.delta for loss, weight in shares.items()))


@guarantee(
    claim="the mean of the profiles, at all their corners",
    proof="proofs/plan_loss.md#mixture",
    reviewed="b13e2c801239",
)
def mixed_profile(shares: dict[Profile, Fraction]) -> Profile:
    """The profile of a draw."""
    places = sorted({epsilon for loss in shares for epsilon, _ in loss.points})
    means = [sum(weight * loss.delta(place) for loss, weight in shares.items()) for place in places]
    return Profile(
        [(place, min(Fraction(1), coarse(Fraction(mean)))) for place, mean in zip(places, means, strict=True)]
    )


def mixed_pld(shares: dict[PLD, Fraction]) -> PLD:
    """The distribution of a draw: of single pairs, or of the profiles of what is composed of several."""
    pairs = {loss: _single(loss) for loss in shares}
    simple = [pair for pair in pairs.values() if pair is not None]
    known = simple if len(simple) == len(pairs) else [pair or _profiled(loss) for loss, pair in pairs.items()]
    mixed = PLD.of(MixedPair(known, shares.values()))
    if len(simple) == len(pairs):
        return mixed
    return min((mixed, PLD.widest(list(shares))), key=lambda loss: loss.epsilon(USUAL, tolerance=0.01).upper)


def _single(loss: PLD) -> Pair | None:
    """The one pair that a loss is made of, if it is."""
    composition = covering(loss.alternatives)
    if not composition:
        return NEVER
    (pair, count), *others = composition
    return pair if count == 1 and not others else None


def _profiled(loss: PLD) -> Pair:
    return Profile(loss.promises()).pair()


MIXED: dict[type[Loss], Callable[[dict[Any, Fraction]], Any]] = {
    Approx: mixed_approx,
    ApproxZCDP: mixed_approx_zcdp,
    PLD: mixed_pld,
    Profile: mixed_profile,
    Renyi: lambda shares: Renyi.of(MixedCurve(tuple(shares), tuple(shares.values()))),
    TradeOff: lambda shares: TradeOff.of(mixed_profile({loss.profile(): weight for loss, weight in shares.items()})),
}
"""How a draw is priced, by kind of loss; of a kind that is not here, as the dearest that can be drawn."""
