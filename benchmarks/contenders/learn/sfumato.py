"""sfumato's models with their defaults, at a loss for one row that is added or removed."""

from __future__ import annotations

import numpy as np

import sfumato as sf
from contenders.learn.logistic import CASES, Array, trial
from side_by_side.stopwatch import report_version


def logistic(rows: Array, labels: Array, epsilon: float) -> Array:
    """Fits a logistic regression."""
    model = sf.learn.LogisticRegression(epsilon=epsilon, between=(-1, 1), classes=[0, 1]).fit(rows, labels)
    return np.concatenate([model.intercept_, model.coef_[0]])


def main() -> None:
    """Answers every case."""
    report_version("sfumato")
    for case in CASES:
        trial(case, way="", fit=logistic)


if __name__ == "__main__":
    main()
