"""What a plan costs in (ε, δ): every way of accounting that gives an answer, and the tightest of them.

A plan is an event fixed in advance. Spending that is chosen on the way needs a filter (`adaptive`), not this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from html import escape
from typing import Any, TypeAlias, TypeVar, final, overload

from sfumato.accounting.compose import parts_of, total
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
from sfumato.errors import BadArgument, NoProvenRoute, Several, Unseen, elements
from sfumato.exact import Extended, Number, digits_up, non_negative, probability
from sfumato.guarantee import guarantee
from sfumato.plain import record, registered

Kind: TypeAlias = type[Loss]

Numbers: TypeAlias = Sequence[int] | Sequence[float] | Sequence[Decimal] | Sequence[Fraction]
"""A list, tuple or array of what people type; no texts, which are sequences of texts."""

Result = TypeVar("Result")

WAYS: tuple[Kind, ...] = (Pure, Approx, ZCDP, GDP, Renyi, PLD)
"""The kinds of loss in which a plan is added up, cheap ones first."""


@final
@record("Way")
class Way:
    """One way of accounting: the kind of loss that was added up, the (ε, δ) it proves, and by which theorem."""

    name: str
    loss: Approx
    theorem: str
    bracket: Bracket

    def __post_init__(self) -> None:
        if not (issubclass(self.kind, Loss) and isinstance(self.theorem, str)):
            raise BadArgument(
                "name and theorem", "texts, the first that of a kind of loss", Several(self.name, self.theorem)
            )
        if not (isinstance(self.loss, Approx) and isinstance(self.bracket, Bracket)):
            raise BadArgument("loss and bracket", "an sf.Approx and an sf.accounting.Bracket", Unseen())

    @property
    def kind(self) -> Kind:
        """The kind of loss of that name."""
        known = registered(self.name)
        if known is None:
            raise BadArgument("name", "that of a kind of loss, such as 'Pure'", self.name)
        return known.kind


@final
@record("CostReport")
class CostReport:
    """What a plan costs: a proven (ε, δ), how far from the truth it can be, and the ways that were tried.

    ``epsilon`` and ``delta`` are floats, rounded up, that know the exact bracket they come from (``lower``, ``upper``);
    the one that was asked for is a single point. No number below the lower end holds for every mechanism that fits the
    plan; it is 0 where that is not known. One that was stored says what was found then: ask again to have it proved.
    """

    event: Event
    relation: Relation
    epsilon: Bracket
    delta: Bracket
    ways: tuple[Way, ...]

    def __post_init__(self) -> None:
        ends = isinstance(self.epsilon, Bracket) and isinstance(self.delta, Bracket)
        ways = isinstance(self.ways, tuple) and self.ways and all(isinstance(way, Way) for way in self.ways)
        if not (ends and ways and isinstance(self.event, Event) and isinstance(self.relation, Relation)):
            raise BadArgument("a report", "what sf.account(event, delta=…) gives", Unseen())

    @property
    def loss(self) -> Approx:
        """The (ε, δ) that the plan keeps."""
        return self.ways[0].loss

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken on trust about parts of the plan, in words."""
        waiting, words = [self.event], dict[str, None]()
        while waiting:
            part = waiting.pop()
            words[part.assumptions] = None
            waiting.extend(parts_of(part))
        return tuple(filter(None, words))

    def __str__(self) -> str:
        first = f"ε = {_shown(self.epsilon)}, δ = {_shown(self.delta)}, {self.relation.value}"
        rows = (f"  {way.name:<7}{digits_up(way.bracket.upper):>13}  {way.theorem}" for way in self.ways)
        return "\n".join((first, *rows, *(f"  if {words}" for words in self.assumptions)))

    def _repr_html_(self) -> str:
        """What notebooks show: what the plan costs, each way that was tried, and what is taken on trust."""
        first = f"ε = {_shown(self.epsilon)}, δ = {_shown(self.delta)}, {self.relation.value}"
        cells = ((way.name, digits_up(way.bracket.upper), way.theorem) for way in self.ways)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in cells)
        trusted = "".join(f"<li>if {escape(words)}</li>" for words in self.assumptions)
        listed = f"<ul>{trusted}</ul>" if trusted else ""
        return f"<p>{escape(first)}</p><table><tr><th>counted as</th><th>ε</th><th>by</th></tr>{rows}</table>{listed}"


def _shown(bracket: Bracket) -> str:
    return digits_up(bracket.upper) if bracket.lower in (0, bracket.upper) else str(bracket)


@overload
def account(
    event: Event,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    relation: Relation = Relation.ADD_REMOVE,
    ways: tuple[Kind, ...] = WAYS,
    tolerance: float = TOLERANCE,
) -> CostReport: ...


@overload
def account(
    event: Event,
    *,
    delta: Numbers,
    relation: Relation = Relation.ADD_REMOVE,
    ways: tuple[Kind, ...] = WAYS,
    tolerance: float = TOLERANCE,
) -> tuple[CostReport, ...]: ...


@overload
def account(
    event: Event,
    *,
    epsilon: Numbers,
    relation: Relation = Relation.ADD_REMOVE,
    ways: tuple[Kind, ...] = WAYS,
    tolerance: float = TOLERANCE,
) -> tuple[CostReport, ...]: ...


def account(
    event: Event,
    *,
    delta: Number | Numbers | None = None,
    epsilon: Number | Numbers | None = None,
    relation: Relation = Relation.ADD_REMOVE,
    ways: tuple[Kind, ...] = WAYS,
    tolerance: float = TOLERANCE,
) -> CostReport | tuple[CostReport, ...]:
    """What a plan costs at a δ (or at an ε): the tightest of all ways that give an answer.

    A list of δ (or of ε) is answered with a report for each, and the plan is added up once. ``ways`` names the kinds of
    loss to add up; leave out `PLD` where a quick answer will do. ``tolerance`` is how wide a bracket may be.

    >>> from sfumato.accounting.events import Gaussian, Repeat
    >>> report = account(Repeat(Gaussian(scale=30), 1000), delta=1e-6, ways=(ZCDP, GDP))
    >>> [(way.name, round(way.bracket, 6)) for way in report.ways]
    [('GDP', 5.189037), ('ZCDP', 5.542757)]
    >>> [round(report.delta, 4) for report in account(Gaussian(scale=1), epsilon=[1, 2, 3])]
    [0.1269, 0.0209, 0.0015]
    """
    if (delta is None) == (epsilon is None):
        raise BadArgument("delta and epsilon", "given one of them: the other is the answer", Several(delta, epsilon))
    if not isinstance(relation, Relation):
        raise BadArgument("relation", "sf.accounting.Relation.ADD_REMOVE, CHANGE_ONE or ZERO_OUT", relation)
    if not isinstance(ways, tuple) or not ways or not all(kind in WAYS for kind in ways):
        names = ", ".join(kind.__name__ for kind in WAYS)
        raise BadArgument("ways", f"a tuple of one or more of the kinds {names}", ways)
    asked, many = _questions(delta, epsilon)
    sums, sharp = _sums(event, relation, ways), attained(event, relation)
    reports = []
    for question in asked:
        tried = _tried(sums, relation, question, tolerance)
        wanted, given = enclosed(tried, sharp=sharp), Bracket(question.given, question.given)
        brackets = (wanted, given) if question.at_delta else (given, wanted)
        reports.append(CostReport(event, relation, *brackets, tuple(tried)))
    return tuple(reports) if many else reports[0]


@final
@dataclass(frozen=True)
class _Question:
    """One of the two numbers; the other is asked for."""

    given: Fraction
    at_delta: bool

    def read(self, loss: Loss, tolerance: float) -> Bracket:
        """Reads the answer off a loss."""
        return (_epsilon if self.at_delta else _delta)(loss, self.given, tolerance)

    def pair(self, answer: Extended) -> Approx:
        """The number that was given and the answer, as a loss."""
        return Approx(answer, self.given) if self.at_delta else Approx(self.given, answer)


def _questions(delta: Number | Numbers | None, epsilon: Number | Numbers | None) -> tuple[list[_Question], bool]:
    """Reads what is asked, and whether it is a list."""
    given: Any = epsilon if delta is None else delta
    read, name = (non_negative, "epsilon") if delta is None else (probability, "delta")
    many = not isinstance(given, str) and hasattr(given, "__len__") and getattr(given, "ndim", 1) == 1
    if not many:
        return [_Question(read(given, name), delta is not None)], False
    if not len(given):
        raise BadArgument(name, "a number, or a list of one or more", given)
    with elements():
        return [_Question(read(each, name), delta is not None) for each in given], True


def _sums(event: Event, relation: Relation, ways: tuple[Kind, ...]) -> dict[Kind, Loss | str]:
    """Adds the plan up in every kind of loss; where a kind gives no answer, says why."""
    return {kind: _or_why_not(partial(total, event, kind, relation=relation)) for kind in dict.fromkeys(ways)}


def _tried(sums: Mapping[Kind, Loss | str], relation: Relation, question: _Question, tolerance: float) -> list[Way]:
    """Reads the answer off every sum; tightest first."""
    answers: list[Way] = []
    refusals: dict[str, list[str]] = {}
    for kind, loss in sums.items():
        answer = loss if isinstance(loss, str) else _or_why_not(partial(question.read, loss, tolerance))
        if isinstance(answer, Bracket) and answer.upper == math.inf:
            answer = "there is no finite answer here."
        if isinstance(answer, str):
            refusals.setdefault(answer, []).append(kind.__name__)
        else:
            answers.append(Way(kind.__name__, question.pair(answer.upper), CONVERSIONS[kind][Approx].theorem, answer))
    if not answers:
        reasons = [f"{', '.join(kinds)}: {reason}" for reason, kinds in reversed(refusals.items())]
        raise NoProvenRoute(f"no way of accounting gives an answer, {relation.value}. " + " ".join(reasons))
    return sorted(answers, key=lambda way: way.bracket.upper)


def _or_why_not(compute: Callable[[], Result]) -> Result | str:
    """What is computed, or in one sentence why there is no proof or no float for it."""
    try:
        return compute()
    except NoProvenRoute as refusal:
        return str(_root(refusal))
    except (OverflowError, ZeroDivisionError):  # one way beyond what floats can hold is no reason to leave the rest
        return "the numbers are beyond floating point here."


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
