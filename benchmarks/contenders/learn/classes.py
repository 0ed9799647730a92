"""Cases of classes: models that are fitted on some rows and asked about others; numpy and scikit-learn's data only."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_wine

from side_by_side.stopwatch import report

Array: TypeAlias = NDArray[Any]

FITS, HELD_OUT = 30, 0.3
"""How often a case is fitted, and the part of the rows that each fit is then asked about."""

FAIR = Path(tempfile.gettempdir()) / "sfumato-benchmark-fair.csv"
"""Marriages of Fair's survey of 1978, eight columns and hours of affairs, which the benchmark has statsmodels write."""


@final
@dataclass(frozen=True)
class Classes:
    """Rows with numbers between −1 and 1, classes, an ε and perhaps a δ."""

    kind: str
    data: str
    epsilon: float
    delta: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.kind}, {self.data}, ε = {self.epsilon:g}" + (f", δ = {self.delta:g}" if self.delta else "")

    @property
    def there(self) -> bool:
        """Whether the data can be had."""
        return self.data != "fair" or FAIR.exists()

    @cached_property
    def drawn(self) -> tuple[Array, Array]:
        """Rows and classes: real ones, between the least and the greatest of each column, or made up."""
        if "×" in self.data:
            count, width = (int(part) for part in self.data.split("×"))
            return self._made_up(np.random.default_rng(5), count, width)
        if self.data == "fair":
            table = np.loadtxt(FAIR, delimiter=",", skiprows=1)
            return self._between_ends(table[:, :-1]), (table[:, -1] > 0).astype(np.int64)
        name, _, columns = self.data.partition(" ")
        rows, labels = (load_wine if name == "wine" else load_breast_cancer)(return_X_y=True)
        rows = rows[:, : int(columns)] if columns else rows
        return self._between_ends(rows), labels

    @staticmethod
    def _between_ends(rows: Array) -> Array:
        low, high = rows.min(axis=0), rows.max(axis=0)
        return np.asarray(2 * (rows - low) / (high - low) - 1)

    def _made_up(self, rng: np.random.Generator, count: int, width: int) -> tuple[Array, Array]:
        """Three clouds for naive Bayes; a wave, a bend and a slope for trees."""
        if self.kind == "bayes":
            labels = rng.integers(0, 3, count)
            middles = rng.uniform(-0.3, 0.3, (3, width))
            return np.clip(middles[labels] + 0.25 * rng.normal(size=(count, width)), -1, 1), labels
        rows = rng.uniform(-1, 1, (count, width))
        score = 3 * np.sin(3 * rows[:, 0]) + 2 * (3 * rows[:, 1] ** 2 - 1) + 2 * rows[:, 2]
        return rows, (rng.random(count) < 1 / (1 + np.exp(-score))).astype(np.int64)

    @property
    def known(self) -> list[int]:
        """All classes, which are public."""
        return sorted(set(self.drawn[1].tolist()))


DATA = {
    "bayes": ("wine", "cancer", "1000×5", "10000×10"),
    "trees": ("cancer 10", "cancer", "1000×5", "10000×10", "fair"),
}
EPSILONS, DELTA = (0.1, 1.0, 10.0), 1e-6
CASES = [
    *(Classes(kind, data, epsilon) for kind, some in DATA.items() for data in some for epsilon in EPSILONS),
    *(Classes("trees", data, epsilon, DELTA) for data in DATA["trees"] for epsilon in EPSILONS),
]
"""Cases with a δ are for additive models that need one; a loss of ε alone is within them too."""


def trial(case: Classes, *, way: str, make: Callable[[Classes], Any]) -> None:
    """Fits a case again and again, on other rows each time; reports how often the class of a held-out row is wrong."""
    rows, labels = case.drawn
    wrong, seconds = [], 0.0
    for seed in range(FITS):
        order = np.random.default_rng(seed).permutation(len(rows))
        asked, given = np.split(order, [int(HELD_OUT * len(rows))])
        begun = time.perf_counter()
        model = make(case).fit(rows[given], labels[given])
        seconds += time.perf_counter() - begun
        wrong.append(float(np.mean(model.predict(rows[asked]) != labels[asked])))
    spread = float(np.std(wrong, ddof=1)) / FITS**0.5 / max(float(np.mean(wrong)), 1e-9)
    facts = {"kind": case.kind, "way": way, "error": float(np.mean(wrong)), "spread": spread}
    report(case.name, **facts, runs=FITS, seconds=seconds / FITS)
