"""OpenDP: questions in an interactive composition at the same (ε, δ), each with an equal part of δ."""

from __future__ import annotations

import sys

import opendp.prelude as dp

from contenders.limits.cases import DELTA, MOST
from side_by_side.stopwatch import report, report_version

dp.enable_features("contrib")

SPACE = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()


def question(scale: float, delta: float) -> dp.Measurement:
    """A count with Gaussian noise, priced at a δ."""
    noisy = SPACE >> dp.t.then_count() >> dp.m.then_gaussian(scale)
    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noisy), delta)


def main(*scales: str) -> None:
    """Reports how many questions of each scale (ε=scale) fit; the compositor is asked all of them."""
    report_version("opendp")
    for pair in scales:
        epsilon, scale = map(float, pair.split("="))
        most = 0
        for questions in range(1, MOST):
            if questions * question(scale, DELTA / questions).map(1)[0] > epsilon:  # type: ignore[no-untyped-call]
                break
            most = questions
        parts = [(epsilon / most, DELTA / most)] * most
        measure = dp.approximate(dp.max_divergence())
        compositor = dp.c.make_adaptive_composition(*SPACE, output_measure=measure, d_in=1, d_mids=parts)
        queryable = compositor(list(range(1000)))
        for _ in range(most):
            queryable(question(scale, DELTA / most))
        report(f"gaussian {epsilon:g}", kind="peer", epsilon=epsilon, answers=most)


main(*sys.argv[1:])
