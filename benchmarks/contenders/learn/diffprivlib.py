"""diffprivlib's models; their noise is floating point, and the number of rows counts as public.

Rows are clipped to a norm, which follows from the bounds: the root of the number of columns. How strong the ridge is
(1/C) it leaves to the caller; the best of four, looked up with the data in hand, is more than anybody could have.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from diffprivlib.models import LogisticRegression

from contenders.learn.logistic import CASES, Array, trial
from side_by_side.stopwatch import report_version

STRENGTHS = (0.01, 0.1, 1.0, 10.0)


def logistic(rows: Array, labels: Array, epsilon: float, *, strength: float) -> Array:
    """Fits a logistic regression."""
    model = LogisticRegression(epsilon=epsilon, data_norm=rows.shape[1] ** 0.5, C=strength).fit(rows, labels)
    return np.concatenate([np.atleast_1d(model.intercept_), model.coef_[0]])


def main() -> None:
    """Answers every case in four ways."""
    warnings.simplefilter("ignore")
    report_version("diffprivlib")
    for case in CASES:
        for strength in STRENGTHS:
            trial(case, way=f"C = {strength:g}", fit=partial(logistic, strength=strength))


if __name__ == "__main__":
    main()
