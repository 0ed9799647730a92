"""diffprivlib's models; their noise is floating point, and the number of rows counts as public.

Rows are clipped to a norm, which follows from the bounds: the root of the number of columns. How strong the ridge is
(1/C) it leaves to the caller; the best of four, looked up with the data in hand, is more than anybody could have.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from diffprivlib.models import GaussianNB, LogisticRegression, RandomForestClassifier

from contenders.learn import classes
from contenders.learn.logistic import CASES, Array, trial
from side_by_side.stopwatch import report_version

STRENGTHS = (0.01, 0.1, 1.0, 10.0)
FORESTS = ((5, 3), (10, 5), (20, 8))
"""Trees, and how deep each is."""


def logistic(rows: Array, labels: Array, epsilon: float, *, strength: float) -> Array:
    """Fits a logistic regression."""
    model = LogisticRegression(epsilon=epsilon, data_norm=rows.shape[1] ** 0.5, C=strength).fit(rows, labels)
    return np.concatenate([np.atleast_1d(model.intercept_), model.coef_[0]])


def bayes(case: classes.Classes) -> Any:
    """Gaussian naive Bayes."""
    return GaussianNB(epsilon=case.epsilon, bounds=(-1, 1))


def forest(case: classes.Classes, *, trees: int, depth: int) -> Any:
    """A forest of random trees."""
    return RandomForestClassifier(trees, max_depth=depth, epsilon=case.epsilon, bounds=(-1, 1), classes=case.known)


def main() -> None:
    """Answers every case in four ways."""
    warnings.simplefilter("ignore")
    report_version("diffprivlib")
    for case in CASES:
        for strength in STRENGTHS:
            trial(case, way=f"C = {strength:g}", fit=partial(logistic, strength=strength))
    for asked in classes.CASES:
        if asked.kind == "bayes":
            classes.trial(asked, way="", make=bayes)
        for trees, depth in FORESTS if asked.kind == "trees" else ():
            classes.trial(asked, way=f"{trees} trees", make=partial(forest, trees=trees, depth=depth))


if __name__ == "__main__":
    main()
