"""sfumato: sessions that ask until they are refused, under the best rule, and under one that adds up."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sfumato as sf
from contenders.limits.cases import DELTA, EPSILONS, GAUSSIAN, KINDS, LAPLACE, MIXED, MOST, QUESTIONS
from sfumato.accounting.adaptive.approx_filter import filter_for
from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.facts.gaussian import exact_discrete_delta
from sfumato.accounting.plans.search import greatest_integer, least_integer
from sfumato.errors import LimitReached
from side_by_side.stopwatch import report, report_version

ROWS = list(range(1000))
SPACE = sf.vector(int)


def question(number: int, kind: str, scale: int) -> sf.Measurement:
    """A count of other rows than before, with noise of the same error; both kinds of noise take turns in mixed ones."""
    gaussian = kind == GAUSSIAN or (kind == MIXED and number % 2 == 1)
    noise = sf.gaussian(scale=scale) if gaussian else sf.laplace(scale=Fraction(196, 300) * scale)
    return SPACE >> sf.keep(sf.between(number, number + 500)) >> sf.count() >> noise


def answers_all(limit: sf.Approx, kind: str, scale: int) -> bool:
    """Tells whether our rule answers as many questions as it should, by its arithmetic alone."""
    each = [question(number, kind, scale) for number in range(2)]
    costs = [Cost(one.map(1), one.event_at(1)) for one in each]
    rule: Any = filter_for(limit)
    for number in range(QUESTIONS):
        if not rule.admits(costs[number % 2]):
            return False
        rule = rule.after(costs[number % 2])
    return True


def asked(limit: sf.Loss | SumFilter, ask: Callable[[int], sf.Measurement]) -> int:
    """Asks a session until it refuses, or has been asked enough."""
    session = sf.Dataset(ROWS, space=SPACE, name="rows").session(limit=limit, ledger="memory:")
    for number in range(MOST):
        try:
            session.run(ask(number))
        except LimitReached:
            return number
    return MOST


def added_up(limit: sf.Approx, kind: str, scale: int) -> int:
    """Asks under adding up, with the δ of each question that lets most of them be asked."""
    noise = sf.noise.DiscreteGaussian(Fraction(scale))

    def of_gaussian(questions: int) -> int:
        return {LAPLACE: 0, GAUSSIAN: questions, MIXED: questions // 2}[kind]

    def fits(questions: int) -> bool:
        many = of_gaussian(questions)
        rest = Fraction(limit.epsilon) - (questions - many) / (Fraction(196, 300) * scale)
        return rest >= 0 and (not many or exact_discrete_delta(noise, 1, rest / many) <= limit.delta / many)

    most = greatest_integer(fits, high=MOST)
    many = max(1, of_gaussian(most))

    def ask(number: int) -> sf.Measurement:
        plain = question(number, kind, scale)
        return sf.convert_measure(plain, sf.Approx, delta=limit.delta / many)

    found = asked(SumFilter(limit), ask)
    return max(most, found)


def main() -> None:
    """Reports how many questions each limit answers, and the scale of one question that takes all of it."""
    report_version("sfumato")
    for epsilon in EPSILONS:
        limit = sf.Approx(epsilon, DELTA)
        for kind in KINDS:
            scale = least_integer(lambda scale, kind=kind, limit=limit: answers_all(limit, kind, scale), high=10**6)  # type: ignore[misc]
            ours = asked(limit, lambda number, kind=kind, scale=scale: question(number, kind, scale))  # type: ignore[misc]
            facts = {"kind": "answers", "epsilon": epsilon, "session": kind, "scale": scale}
            report(f"{kind} {epsilon}", **facts, best=ours, added=added_up(limit, kind, scale))
    whole = sf.Approx(1, DELTA)
    bought = sf.calibrate_parameter(
        lambda scale: sf.convert_measure(SPACE >> sf.count() >> sf.gaussian(scale=scale), sf.Approx, delta=DELTA),
        d_in=1,
        loss=whole,
    )
    report("scale", kind="scale", scale=float(bought))


main()
