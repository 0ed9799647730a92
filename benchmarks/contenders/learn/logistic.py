"""Cases of logistic regression, and how wrong a fit is; numpy and scikit-learn's data sets only."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_wine

from side_by_side.stopwatch import report

Array: TypeAlias = NDArray[np.float64]

FITS, FEWER = 30, 10
"""How often a case is fitted; a case with many rows less often."""

RIDGE = 0.01
"""The fit without privacy is the best up to this ridge: some of the data could be told apart without an error."""


def loss(rows: Array, labels: Array, theta: Array) -> float:
    """The mean logistic loss of coefficients, the constant's first."""
    scores = rows @ theta[1:] + theta[0]
    return float(np.mean(np.logaddexp(0.0, scores) - labels * scores))


@final
@dataclass(frozen=True)
class Logistic:
    """Rows with numbers between −1 and 1, two classes, and an ε."""

    data: str
    epsilon: float
    kind: str = "logistic"

    @property
    def name(self) -> str:
        return f"{self.data}, ε = {self.epsilon:g}"

    @cached_property
    def drawn(self) -> tuple[Array, Array]:
        """Rows and classes: real ones, between the least and the greatest of each column, or made up."""
        if "×" in self.data:
            count, width = (int(part) for part in self.data.split("×"))
            rng = np.random.default_rng(5)
            rows, slopes = rng.uniform(-1, 1, (count, width)), 2 * rng.normal(size=width)
            return rows, (rng.random(count) < 1 / (1 + np.exp(-rows @ slopes))).astype(np.float64)
        name, _, columns = self.data.partition(" ")
        rows, labels = (load_wine if name == "wine" else load_breast_cancer)(return_X_y=True)
        rows = rows[:, : int(columns)] if columns else rows
        low, high = rows.min(axis=0), rows.max(axis=0)
        return 2 * (rows - low) / (high - low) - 1, (labels == 0).astype(np.float64)

    @cached_property
    def best(self) -> float:
        """The mean loss of the fit without privacy, by Newton's method."""
        rows, labels = self.drawn
        whole = np.concatenate([np.ones((len(rows), 1)), rows], axis=1)
        theta = np.zeros(whole.shape[1])
        for _ in range(100):
            share = 1 / (1 + np.exp(-np.clip(whole @ theta, -500, 500)))
            slope = whole.T @ (share - labels) + RIDGE * theta
            bend = (whole * (share * (1 - share))[:, None]).T @ whole + RIDGE * np.eye(len(theta))
            theta = theta - np.linalg.solve(bend, slope)
        return loss(rows, labels, theta)


DATA = ("cancer 2", "cancer 10", "cancer", "wine", "1000×5", "10000×10", "100000×10")
CASES = [Logistic(data, epsilon) for data in DATA for epsilon in (0.1, 1.0, 10.0)]


def trial(case: Logistic, *, way: str, fit: Callable[[Array, Array, float], Array]) -> None:
    """Fits a case again and again, and reports the mean excess of its loss over that without privacy."""
    rows, labels = case.drawn
    found, begun = [], time.perf_counter()
    for _ in range(FITS if len(rows) < 50_000 else FEWER):
        found.append(loss(rows, labels, fit(rows, labels, case.epsilon)) - case.best)
    seconds = (time.perf_counter() - begun) / len(found)
    spread = float(np.std(found, ddof=1)) / len(found) ** 0.5 / float(np.mean(found))
    facts = {"kind": case.kind, "way": way, "error": float(np.mean(found)), "spread": spread}
    report(case.name, **facts, runs=len(found), seconds=seconds)
