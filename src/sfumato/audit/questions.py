"""What a claim says in numbers that can be measured: one question for each, and the answer over many pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.convert.convert import convert
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from sfumato.accounting.losses.piecewise_linear import edges
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.audit.divergences import (
    Found,
    concentrated_rho,
    delta,
    gaussian_mu,
    loss_range,
    pure_epsilon,
    renyi_divergence,
    uncovered,
)
from sfumato.audit.record import Line, Verdict
from sfumato.audit.tables import LawPair
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import BITS, Extended, ball, digits_up, precision, rational_up

ORDERS = (Fraction(2), Fraction(4), Fraction(16))
"""At which orders Rényi divergences are measured, unless the caller names others."""

EPSILONS = tuple(Fraction(step, 2) for step in range(9))
"""At which ε a claim without corners of its own is compared."""

ASIDE = (Fraction(1, 10), Fraction(1, 10**3), Fraction(1, 10**6))
"""At which further δ an approximate zCDP claim is compared."""

SHOWN = 8
"""The most lines that are kept of a claim in many parts: those that speak worst of it."""

Measure = Callable[[LawPair, Extended], Found]
"""Measures one pair; it need not be sharp from above where the bound is below the largest one found so far."""


@final
@dataclass(frozen=True)
class Question:
    """One number of a claim, and how to measure it; ``epsilon`` is where events are cut, None for single ones."""

    what: str
    claimed: Extended | None
    measure: Measure
    epsilon: Extended | None = None


def questions(claim: Loss, orders: Sequence[Fraction], epsilons: Sequence[Fraction]) -> list[Question]:
    """Lists what to measure for a claim, and what the caller wants to know besides."""
    asked = list(_of_claim(claim, orders or ORDERS))
    known = {question.what for question in asked}
    further = [*(_renyi(order, None) for order in orders), *(_delta(epsilon, None) for epsilon in epsilons)]
    return [*asked, *(question for question in further if question.what not in known)]


def _of_claim(claim: Loss, orders: Sequence[Fraction]) -> Iterator[Question]:
    match claim:
        case Pure(epsilon=epsilon):
            yield _pure(epsilon)
        case Approx(epsilon=epsilon, delta=promised):
            yield _delta(epsilon, promised)
            yield _pure(None)
        case ZCDP(rho=rho) | ApproxZCDP(rho=rho, delta=Fraction(numerator=0)):
            yield Question("ρ", rho, concentrated_rho)
            # What zCDP says at one order follows from ρ: these are for information.
            yield from (_renyi(order, None) for order in orders)
        case ApproxZCDP(delta=aside):
            yield from (_consequence(claim, aside + (1 - aside) * share) for share in ASIDE)
        case BoundedRange(eta=eta):
            yield Question("η", eta, lambda table, _: loss_range(table))
        case GDP(mu=mu):
            yield Question("μ", rational_up(mu), lambda table, _: gaussian_mu(table))
        case Renyi():
            yield from (_renyi(order, claim.at(order)) for order in claim.orders().listed or orders)
        case Profile(points=points):
            yield from (_delta(epsilon, promised) for epsilon, promised in points)
        case TradeOff(points=points):
            yield from (_line(tall, steep) for tall, steep in edges(points))
        case PLD():
            yield from (_delta(epsilon, claim.delta(epsilon).upper) for epsilon in EPSILONS)
        case _:
            yield from (_consequence(claim, share) for share in ASIDE)


def _pure(claimed: Extended | None) -> Question:
    return Question("ε", claimed, lambda table, _: pure_epsilon(table))


def _delta(epsilon: Extended, claimed: Extended | None) -> Question:
    return Question(f"δ at ε = {digits_up(epsilon)}", claimed, lambda table, _: delta(table, epsilon), epsilon)


def _renyi(order: Fraction, claimed: Extended | None) -> Question:
    name = f"Rényi divergence of order {digits_up(order)}"
    return Question(name, claimed, lambda table, _: renyi_divergence(table, order))


def _line(tall: Fraction, steep: Fraction) -> Question:
    """Asks about one line of a trade-off curve: no test has hits − steep · false alarms above 1 − tall."""

    def measure(table: LawPair, _: Extended) -> Found:
        with precision(BITS):
            return uncovered(table, ball(steep))

    return Question(f"hits − {digits_up(steep)} · false alarms", 1 - tall, measure)


def _consequence(claim: Loss, allowed: Fraction) -> Question:
    """Asks about something that follows from a claim, and does not imply it."""
    try:
        epsilon = convert(claim, Approx, delta=allowed).epsilon
    except NoProvenRoute:
        must = "one that this auditor knows, or that a theorem takes to (ε, δ)"
        raise BadArgument("the kind of loss that is claimed", must, type(claim).__name__) from None
    name = f"δ at ε = {digits_up(epsilon)}"
    return Question(name, allowed, lambda table, _: (delta(table, epsilon)[0], None), epsilon)


@final
class Findings:
    """Collects what a question finds over many pairs: the largest bounds, and where the largest was."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.low: Extended = Fraction(0)
        self.high: Extended | None = Fraction(0)
        self.place = 0

    def see(self, table: LawPair, place: int) -> None:
        low, high = self.question.measure(table, self.low)
        if low > self.low:
            self.low, self.place = low, place
        self.high = None if self.high is None or high is None else max(self.high, high)

    def line(self) -> Line:
        return Line(self.question.what, self.question.claimed, self.low, self.high)


WORST_FIRST = (Verdict.VIOLATED, Verdict.OPEN, Verdict.SOUND, Verdict.TIGHT)


def worst_first(answers: Sequence[Findings]) -> list[Findings]:
    """Puts answers to the claim in order, the worst first; of those that speak alike, the nearest to the claim."""
    own = [answer for answer in answers if answer.question.claimed is not None]

    def key(answer: Findings) -> tuple[int, float]:
        claimed = float(answer.question.claimed or 0)
        return WORST_FIRST.index(answer.line().verdict), -float(answer.low) / claimed if claimed else -math.inf

    return sorted(own, key=key)


def kept_lines(answers: Sequence[Findings]) -> tuple[Line, ...]:
    """The lines of an audit, in the order of the questions: all, or the worst of many."""
    worst = set(map(id, worst_first(answers)[:SHOWN]))
    return tuple(answer.line() for answer in answers if answer.question.claimed is None or id(answer) in worst)


def event_words(table: LawPair, epsilon: Extended | None) -> str:
    """Says what tells a pair apart best: one outcome, or all that are likelier by more than exp(ε)."""
    factor = math.inf if epsilon is None else math.exp(min(700.0, float(epsilon)))
    left, right = [float(mass) for mass in table.left], [float(mass) for mass in table.right]
    places = [place for place, mass in enumerate(left) if mass > factor * right[place] * (1 + 1e-12)]
    if epsilon is None or not places:
        places = [max(range(len(left)), key=lambda place: _ratio(left[place], right[place]))]
    names = ", ".join(repr(table.outcomes[place]) for place in places[:3]) + (", …" if len(places) > 3 else "")
    what = f"the outcome {names}" if len(places) == 1 else f"{len(places)} outcomes ({names})"
    here, there = (sum(masses[place] for place in places) for masses in (left, right))
    return f"{what}: probability {here:.6g} against {there:.6g}"


def _ratio(mass: float, other_mass: float) -> float:
    return math.inf if mass > 0 == other_mass else mass / other_mass if other_mass else 0.0
