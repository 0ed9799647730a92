"""Asks a contender the same thing again and again, and reports how wrong it is on average; numpy only."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from contenders.algorithms.cases import SETS, Array, Case
from side_by_side.stopwatch import report

SECONDS = {"quantile": 0.8, "quantiles": 0.5, "ranges": 0.5, "keys": 0.5, "mean": 1.0}
LEAST = {"quantile": 12 * SETS}
MOST = 1000
"""A question is put once for every data set (one quantile, whose error varies most, twelve times), and then again
until this time is up or it was put so often."""


def average(errors: Array, power: int) -> tuple[float, float]:
    """Gives the mean of errors (with power 2 their root mean square), and its standard error as a share of it."""
    powers = errors**power
    mean = float(powers.mean())
    if mean == 0:
        return 0.0, 0.0
    share = float(powers.std(ddof=1)) / len(powers) ** 0.5 / mean
    return mean ** (1 / power), share / power


def trial(case: Case, *, way: str, work: Callable[[Array], Any]) -> None:
    """Puts a case to a contender until its time is up, and reports each of its errors."""
    runs: list[dict[str, float]] = []
    spent = 0.0
    least = LEAST.get(case.kind, SETS)
    while len(runs) < least or (len(runs) < MOST and spent < SECONDS[case.kind]):
        rows = case.sets[len(runs) % SETS]
        begun = time.perf_counter()
        answer = work(rows)
        spent += time.perf_counter() - begun
        runs.append(case.errors(answer, rows))
    for measure, slack in case.slack.items():
        error, spread = average(np.array([run[measure] for run in runs]), case.power)
        facts = {"kind": case.kind, "way": way, "measure": measure, "slack": slack, "error": error, "spread": spread}
        report(case.name, **facts, runs=len(runs), seconds=spent / len(runs))
