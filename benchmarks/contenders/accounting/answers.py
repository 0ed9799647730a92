"""Times answers from a cold start and reports them; standard library only, as `cases`."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import TypeVar

from contenders.accounting.cases import SIGMA_DELTA, Calibration, Question, Setting
from side_by_side.stopwatch import ROUNDS, SECONDS, Timing, best_round, report

Ends = tuple[float | None, float]
"""A lower bound, where a library has one, and an upper bound."""

T = TypeVar("T")


def cold(work: Callable[[], T]) -> Callable[[], T]:
    """Makes work forget, before each round, what any cached function remembers from the round before."""
    remembering = [found for found in gc.get_objects() if type(found) is functools._lru_cache_wrapper]

    def round_from_scratch() -> T:
        for function in remembering:
            function.cache_clear()
        return work()

    return round_from_scratch


def timed(work: Callable[[], T], *, rounds: int) -> tuple[Timing, T]:
    """Times the best of a few rounds, each from scratch, and gives what the last one answered.

    A first round that is not counted imports what is imported on first use; where one round is all that patience
    allows, it is the one that counts.
    """
    answers = [work()] if rounds > 1 else []
    again = cold(work)
    best = best_round(lambda: answers.append(again()), rounds=rounds, seconds=SECONDS if rounds > 1 else 0)
    return best, answers[-1]


def answer(question: Question, *, way: str, work: Callable[[], Ends], rounds: int = ROUNDS) -> None:
    """Reports the ends that a way of accounting gives for ε, and how long it takes from nothing to the answer."""
    best, (lower, upper) = timed(work, rounds=rounds)
    facts = {"way": way, "delta": question.delta, "relation": question.relation, "lower": lower, "upper": upper}
    report(question.case, kind="epsilon", seconds=best.seconds, share=best.share, **facts)


def answer_setting(setting: Setting, *, way: str, work: Callable[[], Ends]) -> None:
    """Reports the ends for one setting of the grid, and the time of one round."""
    best, (lower, upper) = timed(work, rounds=1)
    facts = {"way": way, "delta": setting.delta, "lower": lower, "upper": upper, "seconds": best.seconds}
    report(setting.name, kind="grid", **facts)


def answer_calibration(asked: Calibration, *, way: str, work: Callable[[], float]) -> None:
    """Reports calibrated noise, and the time of one search."""
    best, sigma = timed(work, rounds=1)
    facts = {"way": way, "delta": asked.delta, "upper": sigma, "seconds": best.seconds}
    report(f"ε = {asked.epsilon:g}, rate {asked.rate:.4g}, {asked.steps} steps", kind="calibration", **facts)


def answer_sigma(*, way: str, work: Callable[[], float], rounds: int = ROUNDS) -> None:
    """Reports the noise that a way of accounting calibrates, and how long it searches."""
    best, sigma = timed(work, rounds=rounds)
    facts = {"way": way, "delta": SIGMA_DELTA, "upper": sigma, "seconds": best.seconds, "share": best.share}
    report("sigma", kind="sigma", **facts)


def refuse(question: Question, *, way: str, reason: str) -> None:
    """Reports that a way of accounting has no answer."""
    facts = {"way": way, "delta": question.delta, "relation": question.relation, "reason": reason}
    report(question.case, kind="refusal", **facts)
