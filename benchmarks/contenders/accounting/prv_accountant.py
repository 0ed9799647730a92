"""Microsoft's prv_accountant: privacy random variables, with a bracket around its answer."""

from __future__ import annotations

from functools import partial

from prv_accountant import (
    GaussianMechanism,
    LaplaceMechanism,
    PoissonSubsampledGaussianMechanism,
    PrivacyRandomVariable,
    PRVAccountant,
)

from contenders.accounting.answers import Ends, answer, refuse
from contenders.accounting.cases import (
    COUNT,
    DPSGD,
    GAUSS,
    GAUSSIANS,
    HETERO,
    LAPLACES,
    LONG,
    SCALE,
    SWEEP,
    TRAININGS,
    Question,
)
from side_by_side.stopwatch import report_version

ERROR = 0.01
SHARP = 0.001
WIDE = 0.1
"""What it is allowed to err in ε: it takes 2 GB at `SHARP` for DP-SGD, and over a minute at `ERROR` for `HETERO`."""

DELTA_SHARE = 1e-4
"""What it is allowed to err in δ, as a share of δ."""


def plan(case: str) -> tuple[list[PrivacyRandomVariable], list[int]]:
    """Describes a case: random variables, and how often each is used."""
    if case in TRAININGS:
        asked = TRAININGS[case]
        once = PoissonSubsampledGaussianMechanism(noise_multiplier=asked.noise, sampling_probability=asked.rate)
        return [once], [asked.steps]
    if case == "gauss":
        return [GaussianMechanism(SCALE)], [COUNT]
    different = [*map(GaussianMechanism, GAUSSIANS), *(LaplaceMechanism(1 / scale) for scale in LAPLACES)]
    return different, [1] * len(different)


def epsilon(question: Question, error: float) -> Ends:
    """Works the bracket out."""
    variables, counts = plan(question.case)
    allowed = DELTA_SHARE * question.delta
    fresh = PRVAccountant(variables, eps_error=error, delta_error=allowed, max_self_compositions=counts)
    lower, _, upper = fresh.compute_epsilon(question.delta, counts)
    return float(lower), float(upper)


def ask(question: Question, error: float, *, rounds: int = 1) -> None:
    """Answers one question, or says that the library refuses it."""
    way = f"PRV {error:g}"
    try:
        answer(question, way=way, work=partial(epsilon, question, error), rounds=rounds)
    except ValueError as refusal:
        refuse(question, way=way, reason=str(refusal))


def main() -> None:
    """Answers what it can; it knows no exchanged units, no Rényi curves and no calibration."""
    report_version("prv-accountant")
    for question in GAUSS:
        ask(question, ERROR, rounds=3)
    for question in (DPSGD, *SWEEP, LONG):
        ask(question, ERROR)
    ask(DPSGD, SHARP)
    ask(HETERO, WIDE)


main()
