"""How a limit is shared out among statistics so that their errors, weighed and added up, come to least."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from sfumato.accounting.adaptive.charge import Rule, charge_to
from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import Exhausted, LimitReached, QueryRefused, SfumatoError
from sfumato.exact import Extended, decimal_of
from sfumato.planning.desk import Candidate, Offer
from sfumato.planning.wishes import Target

Errors: TypeAlias = Callable[[Fraction], float]
"""The error of a statistic at a share of the limit, as a multiple of what it is measured by."""

ROUNDS, NEAR = 40, 1e-4
"""How often shares are moved to where they gain most, and how little they move when that is done."""

STEP = 1.25
"""Over such a step of its share the fall of an error is measured."""

DIGITS = 4
"""Prices have so many digits."""

UNTOLD = 0.01
"""Where no error can be foretold, it is taken to be this at the whole limit, as a share of the number."""

KNOTS = 2
"""Between a share and twice the share, errors are worked out so many times."""

PARTS = 10_000
"""Shares are multiples of one in so many, rounded down: together they never exceed the whole."""

HALVINGS = 18
"""With so many halvings a price, or a factor, is looked for: to five digits or so."""

CHEAPEST, DEAREST = 2.0**-40, 2.0**20
"""Between which multiples of a limit the price of a target is looked for."""


def best_shares(errors: Sequence[Errors], weights: Sequence[float]) -> list[Fraction]:
    """Divides 1 so that the weighed errors add up to about the least.

    Where the error falls as c/sᵖ, the sum Σ w·c/sᵖ under Σ s = 1 is convex, and at its least (Lagrange) the gains
    w·p·c/sᵖ⁺¹ are equal, so that s is proportional to (w·p·c)^(1/(p+1)): the square root for Laplace noise (p = 1,
    s a share of ε), the power 2/3 for Gaussian noise (p = ½, s a share of ρ). Errors here follow such laws only nearly,
    so that p is measured at each share, and the shares are moved until they stay.

    >>> [float(share) for share in best_shares([lambda s: 1 / float(s), lambda s: 9 / float(s)], [1, 1])]
    [0.25, 0.75]
    """
    shares = [1 / len(errors)] * len(errors)
    for _ in range(ROUNDS if len(errors) > 1 else 0):
        wanted = [_moved(*one) for one in zip(errors, weights, shares, strict=True)]
        new = [one / sum(wanted) for one in wanted]
        far = max(abs(math.log(one / other)) for one, other in zip(new, shares, strict=True))
        shares = new
        if far < NEAR:
            break
    return [Fraction(max(1, math.floor(share * PARTS * (1 + 1e-9))), PARTS) for share in shares]


def _moved(errors: Errors, weight: float, share: float) -> float:
    """The share, up to a common factor, at which an error with this fall would gain as much as others do."""
    here, further = errors(Fraction(share)), errors(Fraction(share * STEP))
    fall = math.log(here / further) / math.log(STEP) if 0 < further < here else 1 / 8
    power = 1 / (1 + fall)
    return float(share ** (1 - power) * (weight * fall * here) ** power)


def error_of(offer: Offer, candidate: Candidate) -> float:
    """The largest error of a statistic, as a multiple of its target, or else as a share of the number itself."""
    worst = 0.0
    for number in offer.numbers:
        target = candidate.wanted.target(number.column)
        allowed = allowed_width(target, number.value)
        if number.half_width is not None and allowed:
            worst = max(worst, number.half_width / allowed)
    return worst


def allowed_width(target: Target | None, value: float | None) -> float | None:
    """What an error is measured by: the half-width that is allowed, or else about the number itself."""
    if target is not None:
        return target.width(value)
    return abs(value) if value else None


def errors_at(candidate: Candidate, whole: Loss) -> Errors:
    """The error of a statistic at shares of a loss; where nothing is foretold, one that falls as the share grows.

    It is worked out at a few shares, and between them taken to be a power of the share: this decides who gets how much,
    and not what anybody is told.
    """

    @cache
    def known(knot: int) -> float:
        share = Fraction(2.0 ** (knot / KNOTS))
        return math.log(error_of(candidate.at(whole.scaled(share)), candidate) or UNTOLD / float(share))

    def error(share: Fraction) -> float:
        place = KNOTS * math.log2(share)
        knot = math.floor(place)
        part = place - knot
        return math.exp((1 - part) * known(knot) + part * known(knot + 1))

    return error


def least_share(candidate: Candidate, whole: Loss, factor: float = 1.0) -> Fraction | None:
    """The least multiple of a loss, to four digits, at which a statistic meets its targets, or a multiple of them."""

    def meets(share: float) -> bool:
        try:
            return (
                error_of(candidate.at(whole.scaled(_four_digits(Fraction(share), ROUND_CEILING))), candidate) <= factor
            )
        except (OverflowError, SfumatoError):  # noise beyond all numbers
            return False

    low, high = 1.0, 1.0
    while not meets(high):
        low, high = high, 2 * high
        if high > DEAREST:
            return None
    while low == high or meets(low):
        low, high = low / 2, low
        if low < CHEAPEST:
            return _four_digits(Fraction(high), ROUND_CEILING)
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    return _four_digits(Fraction(high), ROUND_CEILING)


def few_digits_up(value: Extended) -> Extended:
    """A number with four digits that is no less: what is paid for a target."""
    return value if value in (0, math.inf) else _four_digits(Fraction(value), ROUND_CEILING)


def few_digits_down(value: Extended) -> Extended:
    """A number with four digits that is no more: a share of what is left."""
    return value if value in (0, math.inf) else _four_digits(Fraction(value), ROUND_FLOOR)


def _four_digits(value: Fraction, rounding: str) -> Fraction:
    return Fraction(decimal_of(value, DIGITS, rounding))


def charged_to(rule: Rule, costs: Sequence[Cost]) -> Rule | None:
    """The rule after all charges, one after another, as a ledger would decide; None where one does not fit."""
    try:
        for cost in costs:
            rule = charge_to(rule, cost)
    except (Exhausted, LimitReached, QueryRefused):
        return None
    return rule


def stretched(fits: Callable[[Fraction], bool], most: int = 64) -> Fraction | None:
    """The greatest multiple at which something still fits, from 1 on to ``most``, or below 1; to three digits."""
    low, high = Fraction(1), Fraction(2)
    if not fits(low):
        low, high = Fraction(1, most), Fraction(1)
        if not fits(low):
            return None
    else:
        while high <= most and fits(high):
            low, high = high, 2 * high
    for _ in range(HALVINGS // 2):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return Fraction(math.floor(low * 1000), 1000) if low * 1000 >= 1 else low
