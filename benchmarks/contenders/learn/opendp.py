"""OpenDP's models: Theil–Sen with one predictor, and principal components.

Both are plugins in Python on its core. The scale of Theil–Sen is searched for by its map, which is taken at its word
(a row that is added or removed may move two slopes where it counts one). Its slope is the best of a hundred on a grid.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from contenders.learn.cases import COMPONENTS, ROBUST, Array, Components, Linear
from contenders.learn.trials import trial
from side_by_side.stopwatch import report_version

dp: Any = import_module("opendp.prelude")
dp.enable_features("contrib", "floating-point", "honest-but-curious", "idealized-numerics")

ENDS = (-1.0, 1.0)
RUNS = (1, 4)
"""How many matchings of the rows: more of them cost more noise."""

FOUND = ("1000×5",)
"""Data whose components it finds at every ε: on the others it proposes directions and rejects them without an end."""


def line(case: Linear, *, runs: int) -> Array:
    """Fits a line by the slopes between pairs of rows."""
    rows, target = case.held

    def made(scale: float) -> Any:
        return dp.sklearn.linear_model.LinearRegression(
            dp.max_divergence(), x_bounds=[ENDS], y_bounds=ENDS, scale=scale, runs=runs
        )

    scale = dp.binary_search(lambda scale: made(scale).measurement.map(1) <= case.epsilon, bounds=(1e-3, 1e6))
    model = made(scale).fit(rows, target)
    return np.append(model.intercept_, model.coef_)


def components(case: Components) -> Array:
    """Finds components."""
    size, width = case.held.shape
    model = dp.sklearn.decomposition.PCA(
        epsilon=case.epsilon, row_norm=width**0.5, n_samples=size, n_features=width, n_components=case.many
    )
    return np.asarray(model.fit(case.held).components_)


def main() -> None:
    """Answers the cases that it can."""
    report_version("opendp")
    for asked in ROBUST:
        for runs in RUNS:
            trial(asked, way=f"{runs} matching{'s' * (runs > 1)}", fit=partial(line, asked, runs=runs))
    for wanted in COMPONENTS:
        if wanted.data in FOUND:
            trial(wanted, way="", fit=partial(components, wanted))


if __name__ == "__main__":
    main()
