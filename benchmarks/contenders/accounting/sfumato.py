"""sfumato's accountant: the certified bracket of the tightest way, and Rényi curves alone."""

from __future__ import annotations

import sys
from functools import partial

from contenders.accounting.answers import Ends, answer, answer_calibration, answer_setting, answer_sigma
from contenders.accounting.cases import (
    CALIBRATIONS,
    CHANGE_ONE,
    COUNT,
    EXCHANGE,
    GAUSSIANS,
    GRID,
    GRID_ONLY,
    LAPLACES,
    QUESTIONS,
    SCALE,
    SIGMA_DELTA,
    SIGMA_EPSILON,
    SIGMA_RATE,
    SIGMA_STEPS,
    TRAININGS,
    Calibration,
    Question,
    Setting,
    Training,
)
from sfumato.accounting import events
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.plans.account import account
from sfumato.accounting.plans.calibration import noise_multiplier
from sfumato.accounting.relation import Relation
from sfumato.exact import down, up
from side_by_side.stopwatch import report_version


def training(asked: Training) -> events.Event:
    """Describes DP-SGD."""
    return events.Repeat(events.Sampled(events.Gaussian(asked.noise), events.Poisson(asked.rate)), asked.steps)


def plan(case: str) -> events.Event:
    """Describes a case."""
    if case in TRAININGS:
        return training(TRAININGS[case])
    if case == "gauss":
        return events.Repeat(events.Gaussian(SCALE), COUNT)
    return events.Sequence(*map(events.Gaussian, GAUSSIANS), *map(events.Laplace, LAPLACES))


def relation(question: Question) -> Relation:
    """Gives the neighbours that a question is about."""
    return Relation.CHANGE_ONE if question.relation == CHANGE_ONE else Relation.ADD_REMOVE


def bracket(question: Question) -> Ends:
    """Works ε out in the tightest way."""
    found = account(plan(question.case), delta=question.delta, relation=relation(question)).epsilon
    return down(found.lower), up(found.upper)


def by_renyi(question: Question) -> Ends:
    """Works ε out by Rényi curves."""
    found = account(plan(question.case), delta=question.delta, relation=relation(question), ways=(Renyi,))
    return None, up(found.epsilon.upper)


def sigma() -> float:
    """Calibrates the noise of DP-SGD."""
    return up(noise_multiplier(SIGMA_EPSILON, delta=SIGMA_DELTA, rate=SIGMA_RATE, steps=SIGMA_STEPS))


def setting_bracket(setting: Setting) -> Ends:
    """Works ε out for one setting of the grid."""
    found = account(training(setting.training), delta=setting.delta).epsilon
    return down(found.lower), up(found.upper)


def calibrated(asked: Calibration) -> float:
    """Calibrates noise."""
    return up(noise_multiplier(asked.epsilon, delta=asked.delta, rate=asked.rate, steps=asked.steps))


def answer_questions() -> None:
    """Answers all questions but those of the grid."""
    for question in QUESTIONS:
        answer(question, way="bracket", work=partial(bracket, question))
        if question != EXCHANGE:
            answer(question, way="RDP", work=partial(by_renyi, question))
    answer_sigma(way="bracket", work=sigma)


def main(*flags: str) -> None:
    """Answers every question, or those of the grid."""
    report_version("sfumato")
    if GRID_ONLY not in flags:
        answer_questions()
    for setting in GRID:
        answer_setting(setting, way="bracket", work=partial(setting_bracket, setting))
    for asked in CALIBRATIONS:
        answer_calibration(asked, way="bracket", work=partial(calibrated, asked))


main(*sys.argv[1:])
