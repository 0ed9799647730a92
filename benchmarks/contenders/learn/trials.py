"""Fits a case again and again, and reports how much worse than the fit without privacy it is on average."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from contenders.learn.cases import Array, Case
from side_by_side.stopwatch import report

FITS = 30


def trial(case: Case, *, way: str, fit: Callable[[], Array]) -> None:
    """Reports the mean excess of a case, its standard error as a share of it, and the time of processors for a fit."""
    found, spent = [], 0.0
    for _ in range(FITS):
        begun = time.process_time()
        answer = fit()
        spent += time.process_time() - begun
        found.append(case.excess(np.asarray(answer, dtype=np.float64)))
    error = float(np.mean(found))
    spread = float(np.std(found, ddof=1)) / len(found) ** 0.5 / error if error else 0.0
    facts = {"kind": case.kind, "way": way, "error": error, "spread": spread}
    report(case.name, **facts, runs=len(found), seconds=spent / len(found))
