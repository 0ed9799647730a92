"""What a plan costs in (ε, δ): every way of accounting that gives an answer, and the tightest of them.

A plan is an event fixed in advance. Spending that is chosen on the way needs a filter (`adaptive`), not this.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from sfumato.accounting.compose import total
from sfumato.accounting.convert.renyi import renyi_delta, zcdp_delta
from sfumato.accounting.convert.routes import CONVERSIONS
from sfumato.accounting.events import Event
from sfumato.accounting.facts.gaussian import exact_gaussian_delta
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.plans.attainability import attained
from sfumato.accounting.pld.evaluate import TOLERANCE
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute, Several
from sfumato.exact import Extended, Number, digits_up, non_negative, probability
from sfumato.guarantee import guarantee

Kind: TypeAlias = type[Loss]

WAYS: tuple[Kind, ...] = (Pure, Approx, ZCDP, GDP, Renyi, PLD)
"""The kinds of loss in which a plan is added up, cheap ones first."""


@final
@dataclass(frozen=True)
class Way:
    """One way of accounting: the kind of loss that was added up, the (ε, δ) it proves, and by which theorem."""

    kind: Kind
    loss: Approx
    theorem: str
    bracket: Bracket

    @property
    def name(self) -> str:
        """The name of the kind of loss."""
        return self.kind.__name__


@final
@dataclass(frozen=True)
class CostReport:
    """What a plan costs: a proven (ε, δ), how far from the truth it can be, and the ways that were tried.

    ``epsilon`` and ``delta`` are brackets; the one that was asked for is a single point. No number below the lower end
    holds for every mechanism that fits the plan; it is 0 where that is not known.
    """

    event: Event
    relation: Relation
    epsilon: Bracket
    delta: Bracket
    ways: tuple[Way, ...]

    @property
    def loss(self) -> Approx:
        """The (ε, δ) that the plan keeps."""
        return self.ways[0].loss

    def __str__(self) -> str:
        first = f"ε = {_shown(self.epsilon)}, δ = {_shown(self.delta)}, {self.relation.value}"
        rows = (f"  {way.name:<7}{digits_up(way.bracket.upper):>13}  {way.theorem}" for way in self.ways)
        return "\n".join((first, *rows))


def _shown(bracket: Bracket) -> str:
    return digits_up(bracket.upper) if bracket.lower in (0, bracket.upper) else str(bracket)


def account(
    event: Event,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    relation: Relation = Relation.ADD_REMOVE,
    ways: tuple[Kind, ...] = WAYS,
    tolerance: float = TOLERANCE,
) -> CostReport:
    """What a plan costs at a δ (or at an ε): the tightest of all ways that give an answer.

    ``ways`` names the kinds of loss to add up; leave out `PLD` where a quick answer will do. ``tolerance`` is how wide
    a bracket may be.

    >>> from sfumato.accounting.events import Gaussian, Repeat
    >>> found = account(Repeat(Gaussian(scale=30), 1000), delta=1e-6, ways=(ZCDP, GDP))
    >>> [(way.name, round(float(way.loss.epsilon), 6)) for way in found.ways]
    [('GDP', 5.189037), ('ZCDP', 5.542757)]
    """
    if (delta is None) == (epsilon is None):
        raise BadArgument("delta and epsilon", "given one of them: the other is the answer", Several(delta, epsilon))
    if not isinstance(relation, Relation):
        raise BadArgument(
            "relation", "sf.accounting.Relation.ADD_REMOVE or sf.accounting.Relation.CHANGE_ONE", relation
        )
    if not isinstance(ways, tuple) or not ways or not all(kind in WAYS for kind in ways):
        names = ", ".join(kind.__name__ for kind in WAYS)
        raise BadArgument("ways", f"a tuple of one or more of the kinds {names}", ways)
    sharp = attained(event, relation)
    if delta is not None:
        allowed = probability(delta, "delta")
        tried = _tried(
            event, relation, ways, lambda loss: _epsilon(loss, allowed, tolerance), lambda high: Approx(high, allowed)
        )
        return CostReport(event, relation, enclosed(tried, sharp=sharp), Bracket(allowed, allowed), tuple(tried))
    price = non_negative(epsilon, "epsilon") if epsilon is not None else Fraction(0)
    tried = _tried(event, relation, ways, lambda loss: _delta(loss, price, tolerance), lambda high: Approx(price, high))
    return CostReport(event, relation, Bracket(price, price), enclosed(tried, sharp=sharp), tuple(tried))


def _tried(
    event: Event,
    relation: Relation,
    ways: tuple[Kind, ...],
    read: Callable[[Loss], Bracket],
    pair: Callable[[Extended], Approx],
) -> list[Way]:
    """Adds the plan up in every kind of loss and reads the answer off; tightest first."""
    answers: list[Way] = []
    refusals: dict[str, list[str]] = {}
    for kind in dict.fromkeys(ways):
        try:
            bracket = read(total(event, kind, relation=relation))
        except NoProvenRoute as refusal:
            refusals.setdefault(str(_root(refusal)), []).append(kind.__name__)
            continue
        except (OverflowError, ZeroDivisionError):  # one way beyond what floats can hold is no reason to leave the rest
            refusals.setdefault("the numbers are beyond floating point here.", []).append(kind.__name__)
            continue
        if bracket.upper == math.inf:
            refusals.setdefault("there is no finite answer here.", []).append(kind.__name__)
            continue
        answers.append(Way(kind, pair(bracket.upper), CONVERSIONS[kind][Approx].theorem, bracket))
    if not answers:
        reasons = [f"{', '.join(kinds)}: {reason}" for reason, kinds in reversed(refusals.items())]
        raise NoProvenRoute(f"no way of accounting gives an answer, {relation.value}. " + " ".join(reasons))
    return sorted(answers, key=lambda way: way.bracket.upper)


def _root(refusal: BaseException) -> BaseException:
    """The first reason in a chain of refusals."""
    while refusal.__cause__ is not None:
        refusal = refusal.__cause__
    return refusal


def _epsilon(loss: Loss, delta: Fraction, tolerance: float) -> Bracket:
    """Reads the ε at a δ off a loss, in one step, so that each way stays what its name says."""
    if isinstance(loss, PLD):
        if not 0 < delta < 1:
            raise NoProvenRoute("a privacy-loss distribution answers for δ between 0 and 1.")
        return loss.epsilon(delta, tolerance=tolerance)
    if isinstance(loss, Approx) and loss.delta > delta:
        raise NoProvenRoute(f"the δ of the parts adds up to {digits_up(loss.delta)} already.")
    stated = CONVERSIONS[type(loss)][Approx].apply(loss, delta)
    if not isinstance(stated, Approx):
        raise BadArgument("what a conversion gives", "Approx", type(stated).__name__)
    return _above(stated.epsilon)


def _delta(loss: Loss, epsilon: Fraction, tolerance: float) -> Bracket:
    """Reads the δ at an ε off a loss."""
    match loss:
        case PLD():
            return loss.delta(epsilon, tolerance=tolerance)
        case Pure() | Approx():
            return _above(Profile.of(loss).delta(epsilon))
        case ZCDP(rho=rho):
            return _above(zcdp_delta(rho, epsilon=epsilon))
        case Renyi():
            return _above(renyi_delta(loss, epsilon=epsilon))
        case GDP(mu=mu):
            return _above(exact_gaussian_delta(epsilon, mu, Fraction(1)) if mu != math.inf else Fraction(1))
    raise NoProvenRoute(f"no theorem on file reads a δ off {type(loss).__name__}.")


def _above(value: Extended) -> Bracket:
    """A bracket of which only the upper end is known."""
    return Bracket(Fraction(0), value)


@guarantee(
    claim="the least upper end; a lower end of privacy-loss distributions where they are attained",
    proof="proofs/plan_loss.md#ways",
    reviewed="191f5c207b86",
)
def enclosed(ways: list[Way], *, sharp: bool) -> Bracket:
    """The best upper end of several ways that all hold, and a lower end where one is known."""
    best, low = min(way.bracket.upper for way in ways), max(way.bracket.lower for way in ways)
    if sharp and low > best:
        raise RuntimeError("two ways of accounting contradict each other; please report the plan")
    return Bracket(low if sharp else Fraction(0), best)
