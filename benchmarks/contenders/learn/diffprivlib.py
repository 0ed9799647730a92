"""diffprivlib's models; their noise is floating point, and the number of rows counts as public.

Its regression takes too little noise for squares (of both bounds it looks at the lower one only); it is called at the ε
that it states all the same. Rows of components are clipped to the norm that follows from the bounds.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from diffprivlib.models import (
    PCA,
    GaussianNB,
    KMeans,
    LinearRegression,
    LogisticRegression,
    RandomForestClassifier,
    StandardScaler,
)

from contenders.learn import classes, clusters, logistic
from contenders.learn.cases import COMPONENTS, LINEAR, Array, Components, Linear
from contenders.learn.trials import trial
from side_by_side.stopwatch import report_version

STRENGTHS = (0.01, 0.1, 1.0, 10.0)
"""How strong the ridge is (1/C): the best, looked up with the data in hand, is more than anybody could have."""

FORESTS = ((5, 3), (10, 5), (20, 8))
"""Trees, and how deep each is."""


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


def shares(rows: Array, labels: Array, epsilon: float, *, strength: float) -> Array:
    """Fits a logistic regression."""
    model = LogisticRegression(epsilon=epsilon, data_norm=rows.shape[1] ** 0.5, C=strength).fit(rows, labels)
    return np.concatenate([np.atleast_1d(model.intercept_), model.coef_[0]])


def bayes(case: classes.Classes) -> Any:
    """Gaussian naive Bayes."""
    return GaussianNB(epsilon=case.epsilon, bounds=(-1, 1))


def forest(case: classes.Classes, *, trees: int, depth: int) -> Any:
    """A forest of random trees."""
    return RandomForestClassifier(trees, max_depth=depth, epsilon=case.epsilon, bounds=(-1, 1), classes=case.known)


def centres(case: clusters.Clusters) -> Array:
    """Finds clusters."""
    return np.asarray(KMeans(case.many, epsilon=case.epsilon, bounds=(-1, 1)).fit(case.held).cluster_centers_)


def scales(case: clusters.Scales) -> Array:
    """Finds means and deviations."""
    model = StandardScaler(epsilon=case.epsilon, bounds=(-1, 1)).fit(case.held)
    return np.stack([model.mean_, model.scale_])


def main() -> None:
    """Answers every case."""
    warnings.simplefilter("ignore")
    report_version("diffprivlib")
    for line in LINEAR:
        trial(line, way="", fit=partial(linear, line))
    for asked in COMPONENTS:
        trial(asked, way="", fit=partial(components, asked))
    for told in logistic.CASES:
        for strength in STRENGTHS:
            logistic.trial(told, way=f"C = {strength:g}", fit=partial(shares, strength=strength))
    for known in (one for one in classes.CASES if one.there):
        if known.kind == "bayes":
            classes.trial(known, way="", make=bayes)
        for trees, depth in FORESTS if known.kind == "trees" else ():
            classes.trial(known, way=f"{trees} trees", make=partial(forest, trees=trees, depth=depth))
    for crowd in clusters.CLUSTERS:
        clusters.trial(crowd, way="", fit=partial(centres, crowd))
    for column in clusters.SCALES:
        clusters.trial(column, way="", fit=partial(scales, column))


if __name__ == "__main__":
    main()
