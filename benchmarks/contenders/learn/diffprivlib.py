"""diffprivlib's models; their noise is floating point, and the number of rows counts as public.

Its regression takes too little noise for squares (of both bounds it looks at the lower one only); it is called at the ε
that it states all the same. Rows of components are clipped to the norm that follows from the bounds.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from diffprivlib.models import PCA, LinearRegression

from contenders.learn.cases import COMPONENTS, LINEAR, Array, Components, Linear
from contenders.learn.trials import trial
from side_by_side.stopwatch import report_version


def linear(case: Linear) -> Array:
    """Fits a line."""
    rows, target = case.held
    model = LinearRegression(epsilon=case.epsilon, bounds_X=(-1, 1), bounds_y=(-1, 1)).fit(rows, target)
    return np.append(model.intercept_, model.coef_)


def components(case: Components) -> Array:
    """Finds components."""
    norm = case.held.shape[1] ** 0.5
    model = PCA(case.many, epsilon=case.epsilon, bounds=(-1, 1), data_norm=norm).fit(case.held)
    return np.asarray(model.components_)


def main() -> None:
    """Answers every case."""
    warnings.simplefilter("ignore")
    report_version("diffprivlib")
    for line in LINEAR:
        trial(line, way="", fit=partial(linear, line))
    for asked in COMPONENTS:
        trial(asked, way="", fit=partial(components, asked))


if __name__ == "__main__":
    main()
