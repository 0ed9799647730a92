"""The worst adaptive spender, found exactly.

A spender chooses each next mechanism from a menu in the light of all answers, and stops when they like. `worst_*` give
the supremum over *all* of their strategies, by recursion over what the filter has seen: the divergences of a first
answer and of what follows it multiply, so that the best continuation can be chosen for each answer on its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Protocol

from tests.exact.enumerated import response

from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.errors import NoProvenRoute
from sfumato.exact import ball, log_up, upper

Pairs = tuple[tuple[Fraction, Fraction], ...]
"""For each answer its probabilities on the data and on a neighbour."""


@dataclass(frozen=True)
class Offer:
    """Is a mechanism on the menu, with the loss that is stated for it."""

    pairs: Pairs
    loss: Loss


class Rule(Protocol):
    """Is whatever decides; the wrong rules below are meant too."""

    def admits(self, loss: Loss) -> bool: ...

    def after(self, loss: Loss) -> Rule: ...


def together(*parts: Pairs) -> Pairs:
    """Gives all answers of independent mechanisms."""
    return tuple(
        (math.prod(p for p, _ in answers), math.prod(q for _, q in answers)) for answers in itertools.product(*parts)
    )


def stick(pairs: Iterable[tuple[Fraction, Fraction]], growth: Fraction) -> Fraction:
    """Gives δ at ε = ln(growth)."""
    return sum((max(Fraction(0), p - growth * q) for p, q in pairs), Fraction(0))


def moment(pairs: Pairs, order: int) -> Fraction:
    """Gives exp((order − 1) · Rényi divergence)."""
    return sum((p**order / q ** (order - 1) for p, q in pairs), Fraction(0))


def worst_delta(rule: Rule, menu: tuple[Offer, ...], rounds: int, growth: Fraction) -> Fraction:
    """Gives the largest δ at ε = ln(growth) over all strategies; after an answer the growth is judged by its ratio."""

    @cache
    def value(state: Rule, at: Fraction, left: int) -> Fraction:
        best = max(Fraction(0), 1 - at)  # of stopping here
        for offer in menu if left else ():
            if admitted(state, offer.loss):
                after = state.after(offer.loss)
                best = max(best, sum(p * value(after, at * q / p, left - 1) for p, q in offer.pairs if p > 0))
        return best

    return value(rule, growth, rounds)


def admitted(rule: Rule, loss: Loss) -> bool:
    """Asks a rule; one that does not count a kind of loss admits none of it."""
    try:
        return rule.admits(loss)
    except NoProvenRoute:
        return False


def worst_moment(rule: Rule, menu: tuple[Offer, ...], rounds: int, order: int) -> Fraction:
    """Gives the largest exp((order − 1) · Rényi divergence) over all strategies."""

    @cache
    def value(state: Rule, left: int) -> Fraction:
        tried = (offer for offer in menu if left and state.admits(offer.loss))
        return max(
            (moment(offer.pairs, order) * value(state.after(offer.loss), left - 1) for offer in tried),
            default=Fraction(1),
        )

    return value(rule, rounds)


def worst_ratio(rule: Rule, menu: tuple[Offer, ...], rounds: int) -> Fraction:
    """Gives the largest likelihood ratio of any transcript."""
    tried = [offer for offer in menu if rounds and rule.admits(offer.loss)]
    return max(
        (max(p / q for p, q in offer.pairs) * worst_ratio(rule.after(offer.loss), menu, rounds - 1) for offer in tried),
        default=Fraction(1),
    )


def pure_menu(*ratios: Fraction | int) -> tuple[Offer, ...]:
    return tuple(Offer(response(ratio), Pure(log_up(Fraction(ratio)))) for ratio in ratios)


def approx_menu(*offers: tuple[Fraction | int, Fraction | int]) -> tuple[Offer, ...]:
    return tuple(Offer(response(ratio, leak=leak), Approx(log_up(Fraction(ratio)), leak)) for ratio, leak in offers)


def mu_of(ratio: Fraction | int) -> GDP:
    """Gives the least μ of randomized response: its trade-off curve has one corner, which the Gaussian's must pass."""
    exact = Fraction(ratio)
    corner = 1 / (1 + exact)
    return GDP(upper(lambda: 2 * ball(2).sqrt() * ball(2 * corner).erfcinv()))
