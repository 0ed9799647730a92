"""Google's dp_accounting: privacy-loss distributions at three grids, and Rényi curves."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from dp_accounting import NeighboringRelation, dp_event
from dp_accounting.mechanism_calibration import calibrate_dp_mechanism
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant

from contenders.accounting.answers import Ends, answer, answer_setting, answer_sigma
from contenders.accounting.cases import (
    CHANGE_ONE,
    COUNT,
    EXCHANGE,
    GAUSS,
    GAUSSIANS,
    GRID,
    GRID_ONLY,
    HETERO,
    LAPLACES,
    QUESTIONS,
    SCALE,
    SIGMA_DELTA,
    SIGMA_EPSILON,
    SIGMA_RATE,
    SIGMA_STEPS,
    TRAININGS,
    Question,
    Setting,
)
from side_by_side.stopwatch import report_version

GRIDS = (1e-3, 3e-4, 1e-4)
"""The last is the default of the library."""


def training(noise: float, *, rate: float, steps: int) -> dp_event.DpEvent:
    """Describes DP-SGD."""
    return dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(noise)), steps)


def plan(case: str) -> dp_event.DpEvent:
    """Describes a case."""
    if case in TRAININGS:
        asked = TRAININGS[case]
        return training(asked.noise, rate=asked.rate, steps=asked.steps)
    if case == "gauss":
        return dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(SCALE), COUNT)
    gaussians = [dp_event.GaussianDpEvent(scale) for scale in GAUSSIANS]
    return dp_event.ComposedDpEvent([*gaussians, *map(dp_event.LaplaceDpEvent, LAPLACES)])


def accountant(question: Question, grid: float) -> PLDAccountant:
    """Makes a fresh accountant of privacy-loss distributions."""
    exchange = question.relation == CHANGE_ONE
    relation = NeighboringRelation.REPLACE_ONE if exchange else NeighboringRelation.ADD_OR_REMOVE_ONE
    return PLDAccountant(relation, value_discretization_interval=grid)


def by_distribution(question: Question, grid: float) -> Ends:
    """Works ε out by privacy-loss distributions."""
    return None, accountant(question, grid).compose(plan(question.case)).get_epsilon(question.delta)


def by_transform(question: Question, grid: float) -> Ends:
    """Works ε out by composing one distribution with itself, which the accountant avoids for Gaussians."""
    once = privacy_loss_distribution.from_gaussian_mechanism(SCALE, value_discretization_interval=grid)
    return None, once.self_compose(COUNT).get_epsilon_for_delta(question.delta)


def by_renyi(question: Question) -> Ends:
    """Works ε out by Rényi curves."""
    return None, float(RdpAccountant().compose(plan(question.case)).get_epsilon(question.delta))


LARGEST, FINEST, PLACES = 20.0, 2e-6, 10_000
"""Up to which ε (by Rényi curves) it is asked in the grid, how fine its own grid may be, and how many places ε has."""

PATIENCE = 10
"""How many seconds it may take for one setting: rounding each of very many steps outwards makes it slow and wide."""


def by_fine_distribution(setting: Setting, rough: float) -> Ends:
    """Works ε out on a grid that is fine next to a rough answer."""
    grid = min(GRIDS[-1], max(FINEST, rough / PLACES))
    accountant = PLDAccountant(value_discretization_interval=grid)
    return None, accountant.compose(described(setting)).get_epsilon(setting.delta)


def described(setting: Setting) -> dp_event.DpEvent:
    """Describes a setting of the grid."""
    asked = setting.training
    return training(asked.noise, rate=asked.rate, steps=asked.steps)


def ask_setting(setting: Setting) -> None:
    """Answers one setting of the grid, where its own grid would fit into memory and patience."""
    rough = float(RdpAccountant().compose(described(setting)).get_epsilon(setting.delta))
    if 1e-3 < rough < LARGEST:
        signal.alarm(PATIENCE)
        try:
            answer_setting(setting, way="PLD", work=partial(by_fine_distribution, setting, rough))
        except TimeoutError:
            pass
        finally:
            signal.alarm(0)


def give_up(number: int, frame: object) -> None:
    """Ends an answer that takes too long."""
    raise TimeoutError


def sigma(fresh: Callable[[], Any]) -> float:
    """Calibrates the noise of DP-SGD."""
    describe = partial(training, rate=SIGMA_RATE, steps=SIGMA_STEPS)
    return float(calibrate_dp_mechanism(fresh, describe, SIGMA_EPSILON, SIGMA_DELTA))


def answer_questions() -> None:
    """Answers all questions but those of the grid, in every way."""
    for question in QUESTIONS:
        for grid in GRIDS:
            rounds = 1 if question == HETERO else 3
            answer(question, way=f"PLD {grid:g}", work=partial(by_distribution, question, grid), rounds=rounds)
        if question != EXCHANGE:  # its Rényi accountant refuses sampling between exchanged units
            answer(question, way="RDP", work=partial(by_renyi, question))
    for question in GAUSS:
        answer(question, way="PLD 0.0001 by FFT", work=partial(by_transform, question, GRIDS[-1]))
    for grid in GRIDS:
        fresh = partial(PLDAccountant, value_discretization_interval=grid)
        answer_sigma(way=f"PLD {grid:g}", work=partial(sigma, fresh))
    answer_sigma(way="RDP", work=partial(sigma, RdpAccountant))


def main(*flags: str) -> None:
    """Answers every question, or those of the grid."""
    report_version("dp-accounting")
    signal.signal(signal.SIGALRM, give_up)
    if GRID_ONLY not in flags:
        answer_questions()
    for setting in GRID:
        ask_setting(setting)


main(*sys.argv[1:])
