"""Shares of a limit: what each of several parts may cost, so that all of them together cost no more than the limit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from sfumato.accounting.concentrated import GDP, ApproxZCDP
from sfumato.accounting.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.renyi import Renyi
from sfumato.accounting.shapes import Linear, Tabulated
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Extended, Number, positive
from sfumato.guarantee import guarantee

L = TypeVar("L", bound=Loss)


def split(limit: L, among: Mapping[str, Number] | Sequence[str], *, ranked: bool = False) -> dict[str, L]:
    """Divides a limit among named parts: equally, by weights, or by rank; composed, they come to the limit.

    A mapping gives each name its weight; a list of names shares equally. With ``ranked`` the list is in order of
    importance: the last of n names has the weight 1, the one before it 2, the first n. Weights divide what adds up: ε
    and δ, ρ, the square of μ, the divergence of every order. A part may be split again.

    >>> split(Pure(1), {"quantiles": 1, "mean": 9})
    {'quantiles': Pure(epsilon=0.1), 'mean': Pure(epsilon=0.9)}
    >>> split(Pure("0.6"), ["shares of men and women", "head count"], ranked=True)
    {'shares of men and women': Pure(epsilon=0.4), 'head count': Pure(epsilon=0.2)}
    """
    if not isinstance(limit, Loss):
        raise BadArgument("the limit", "a privacy loss such as sf.Pure(1)", limit)
    weights = _weights(among, ranked=ranked)
    whole = sum(weights.values(), Fraction(0))
    return {name: share_of(limit, weight / whole) for name, weight in weights.items()}


def _weights(among: Mapping[str, Number] | Sequence[str], *, ranked: bool) -> dict[str, Fraction]:
    if isinstance(among, str) or not isinstance(among, Mapping | Sequence) or not among:
        raise BadArgument("the parts", 'names with weights, {"mean": 9, "bounds": 1}, or a list of names', among)
    names = list(among)
    if not all(isinstance(name, str) and name.strip() for name in names) or len(set(names)) < len(names):
        raise BadArgument("the parts", "distinct names", names)
    if isinstance(among, Mapping):
        if ranked:
            raise BadArgument("the parts", "a list in order of importance: ranks are weights already", among)
        return {name: positive(weight, f"the weight of {name}") for name, weight in among.items()}
    return {name: Fraction(len(names) - place if ranked else 1) for place, name in enumerate(names)}


@guarantee(
    claim="parts with shares s ≥ 0 of one limit, the s adding up to at most 1, compose to at most the limit",
    proof="proofs/shares.md#parts",
    reviewed="bb4ad453ec79",
)
def share_of(limit: L, share: Fraction) -> L:
    """Gives a part of a limit; parts whose shares make up 1 come to the limit, or just below for approximate zCDP."""
    found: Loss
    match limit:
        case Pure():
            found = Pure(_times(share, limit.epsilon))
        case Approx():
            found = Approx(_times(share, limit.epsilon), share * limit.delta)
        case ZCDP():
            found = ZCDP(_times(share, limit.rho))
        case ApproxZCDP():
            found = ApproxZCDP(_times(share, limit.rho), share * limit.delta)
        case GDP():
            found = GDP.of_square(_times(share, limit.square))
        case Renyi() if all(isinstance(curve, Linear) for curve, _ in limit.terms):
            found = Renyi([(Linear(_times(share, c.rho)), n) for c, n in limit.terms if isinstance(c, Linear)])
        case Renyi() if all(isinstance(curve, Tabulated) for curve, _ in limit.terms):
            found = Renyi({order: _times(share, limit.at(order)) for order in limit.orders().listed or ()})
        case _:
            raise NoProvenRoute(NOT_SUMMED)
    return found  # type: ignore[return-value]  # of the kind that was matched


NOT_SUMMED = (
    "this kind of loss has no shares that add up to it again. State the limit as Pure, Approx, ZCDP, ApproxZCDP or "
    "GDP, or as Renyi at chosen orders, such as sf.Renyi({2: 0.5, 8: 1.0}); sf.convert says what it comes to."
)


def _times(share: Fraction, amount: Extended) -> Extended:
    """Gives a share of an amount; none of an infinite one is 0."""
    return share * amount if amount != math.inf else math.inf if share else Fraction(0)
