"""sfumato: sessions that ask until they are refused, under the best rule, and under one that adds up."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sfumato as sf
from contenders.limits.cases import ASKED, DELTA, EPSILON, KINDS, LIMITS, MOST, QUESTIONS, Case
from sfumato.accounting.adaptive.approx_filter import filter_for
from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.facts.gaussian import exact_discrete_delta
from sfumato.accounting.plans.search import greatest_integer, least_integer
from sfumato.errors import LimitReached
from side_by_side.stopwatch import report, report_version

ROWS = list(range(100))
SPACE = sf.vector(int)


def limit_of(case: Case) -> sf.Approx | sf.ZCDP:
    """The limit of a session."""
    return sf.Approx(case.limit, DELTA) if case.measure == EPSILON else sf.ZCDP(case.limit)


def laplace_scale(case: Case) -> Fraction:
    """The scale of Laplace noise of the same error, exactly."""
    return Fraction(196, 300) * case.scale


def question(number: int, case: Case) -> sf.Measurement:
    """A count of other rows than before, with noise of the same error."""
    noise = sf.gaussian(scale=case.scale) if case.gaussian(number) else sf.laplace(scale=laplace_scale(case))
    return SPACE >> sf.keep(sf.between(number, number + 50)) >> sf.count() >> noise


def counted(case: Case, *, most: int) -> int:
    """How many questions our rule answers, by its arithmetic alone."""
    limit = limit_of(case)
    rule: Any = filter_for(limit)
    each: list[Any] = [question(number, case) for number in range(2)]
    costs: list[sf.Loss | Cost] = [
        Cost(one.map(1), one.event_at(1)) if isinstance(limit, sf.Approx) else sf.convert_measure(one, sf.ZCDP).map(1)
        for one in each
    ]
    for number in range(most):
        if not rule.admits(costs[number % 2]):
            return number
        rule = rule.after(costs[number % 2])
    return most


def asked(limit: sf.Loss | SumFilter, ask: Callable[[int], sf.Measurement]) -> int:
    """Asks a session until it refuses, or has been asked enough."""
    session = sf.Dataset(ROWS, space=SPACE, name="rows").session(limit=limit, ledger="memory:")
    for number in range(MOST):
        try:
            session.run(ask(number))
        except LimitReached:
            return number
    return MOST


def added_up(case: Case) -> int:
    """Asks under adding up: ρ as it is, which is our rule too, and (ε, δ) with the best δ of each question."""
    limit = limit_of(case)
    if isinstance(limit, sf.ZCDP):
        return counted(case, most=MOST)
    noise = sf.noise.DiscreteGaussian(Fraction(case.scale))

    def fits(questions: int) -> bool:
        many = case.of_gaussian(questions)
        rest = Fraction(limit.epsilon) - (questions - many) / laplace_scale(case)
        return rest >= 0 and (not many or exact_discrete_delta(noise, 1, rest / many) <= limit.delta / many)

    most = greatest_integer(fits, high=MOST)
    many = max(1, case.of_gaussian(most))

    def ask(number: int) -> sf.Measurement:
        return sf.convert_measure(question(number, case), sf.Approx, delta=limit.delta / many)

    return max(most, asked(SumFilter(limit), ask))


def measured(measure: str, limit: float, session: str, questions: int) -> None:
    """Finds the least scale at which our rule answers so many questions, and asks them; very many are only counted."""

    def at(scale: int) -> Case:
        return Case(measure, limit, session, questions, scale)

    case = at(least_integer(lambda scale: counted(at(scale), most=questions) == questions, high=10**6))
    best = counted(case, most=MOST)
    if questions <= ASKED and best != asked(limit_of(case), lambda number: question(number, case)):
        raise AssertionError("a session answers as many questions as its rule counts")
    report(f"{session} {limit:g} {questions}", kind="answers", **case._asdict(), best=best, added=added_up(case))


def main() -> None:
    """Reports how many questions each limit answers, and the scale of one question that takes all of it."""
    report_version("sfumato")
    for measure, limit in LIMITS:
        for questions in QUESTIONS[measure]:
            for session in KINDS:
                measured(measure, limit, session, questions)
    bought = sf.calibrate_parameter(
        lambda scale: sf.convert_measure(SPACE >> sf.count() >> sf.gaussian(scale=scale), sf.Approx, delta=DELTA),
        d_in=1,
        loss=sf.Approx(1, DELTA),
    )
    report("scale", kind="scale", bought=float(bought))


main()
