"""OpenDP: questions in a composition at the same (ε, δ), each with an equal part of δ, and in a filter at that ρ."""

from __future__ import annotations

import sys
from bisect import bisect_left

import opendp.prelude as dp

from contenders.limits.cases import DELTA, EPSILON, MOST, Case
from side_by_side.stopwatch import report, report_version

dp.enable_features("contrib")

SPACE = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
ROWS = list(range(100))


def noisy(number: int, case: Case) -> dp.Measurement:
    """A count with the noise of a question: Gaussian noise has a loss in ρ, Laplace noise in ε."""
    noise = dp.m.then_gaussian(float(case.scale)) if case.gaussian(number) else dp.m.then_laplace(case.laplace_scale)
    measurement: dp.Measurement = SPACE >> dp.t.then_count() >> noise
    return measurement


def at_delta(number: int, case: Case, delta: float) -> dp.Measurement:
    """A question priced in (ε, δ)."""
    if case.gaussian(number):
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noisy(number, case)), delta)
    return dp.c.make_approximate(noisy(number, case))


def under_epsilon(case: Case) -> int:
    """Asks as many questions as fit when their (ε, δ) are added up; the compositor is asked all of them."""

    def parts(questions: int) -> tuple[list[dp.Measurement], list[tuple[float, float]]]:
        delta = DELTA / max(1, case.of_gaussian(questions))
        two = [at_delta(number, case, delta) for number in range(2)]
        prices = [one.map(1) for one in two]  # type: ignore[no-untyped-call]
        return [two[number % 2] for number in range(questions)], [prices[number % 2] for number in range(questions)]

    def too_many(questions: int) -> bool:
        return sum(epsilon for epsilon, _ in parts(questions)[1]) > case.limit

    most = bisect_left(range(1, MOST + 1), True, key=too_many)
    each, prices = parts(most)
    measure = dp.approximate(dp.max_divergence())
    compositor = dp.c.make_adaptive_composition(*SPACE, output_measure=measure, d_in=1, d_mids=prices)
    queryable = compositor(ROWS)
    for one in each:
        queryable(one)
    return most


def under_rho(case: Case) -> int:
    """Asks a filter until it refuses; Laplace noise is restated in ρ."""
    odometer = dp.c.make_fully_adaptive_composition(*SPACE, output_measure=dp.zero_concentrated_divergence())
    queryable = dp.c.make_privacy_filter(odometer, d_in=1, d_out=case.limit)(ROWS)
    for number in range(MOST):
        plain = noisy(number, case)
        try:
            queryable(plain if case.gaussian(number) else dp.c.make_pureDP_to_zCDP(plain))
        except dp.OpenDPException:
            return number
    return MOST


def main(*cases: str) -> None:
    """Reports how many questions of each case fit."""
    report_version("opendp")
    for text in cases:
        case = Case.read(text)
        answers = under_epsilon(case) if case.measure == EPSILON else under_rho(case)
        report(f"{case.session} {case.limit:g}", kind="peer", **case._asdict(), answers=answers)


main(*sys.argv[1:])
