"""sfumato's models with their defaults, at pure ε for one row that is added or removed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import sfumato as sf
from contenders.learn import classes, clusters, logistic
from contenders.learn.cases import COMPONENTS, LINEAR, ROBUST, Array, Components, Linear, made_up
from contenders.learn.trials import trial
from side_by_side.stopwatch import report, report_version

COVERED = [(size, width, epsilon) for size in (2_000, 20_000) for width in (2, 6) for epsilon in (1.0, 10.0)]
INTERVALS = 4000
"""So many intervals are asked for of each kind, on data sets that are drawn from one population each."""


def linear(case: Linear) -> Array:
    """Fits a line."""
    rows, target = case.held
    model = sf.learn.LinearRegression(epsilon=case.epsilon, between=(-1, 1), target_between=(-1, 1)).fit(rows, target)
    return np.append(model.intercept_, model.coef_)


def robust(case: Linear) -> Array:
    """Fits a line that few rows hardly move."""
    rows, target = case.held
    model = sf.learn.HuberRegressor(epsilon=case.epsilon, between=(-1, 1), target_between=(-1, 1)).fit(rows, target)
    return np.append(model.intercept_, model.coef_)


def components(case: Components) -> Array:
    """Finds components."""
    return sf.learn.PCA(case.many, epsilon=case.epsilon, between=(-1, 1)).fit(case.held).components_


def shares(rows: Array, labels: Array, epsilon: float) -> Array:
    """Fits a logistic regression."""
    model = sf.learn.LogisticRegression(epsilon=epsilon, between=(-1, 1), classes=[0, 1]).fit(rows, labels)
    return np.concatenate([model.intercept_, model.coef_[0]])


def classifier(case: classes.Classes) -> Any:
    """Naive Bayes, or boosted trees."""
    kind = sf.learn.NaiveBayes if case.kind == "bayes" else sf.learn.AdaBoostClassifier
    return kind(epsilon=case.epsilon, delta=case.delta or None, between=(-1, 1), classes=case.known)


def centres(case: clusters.Clusters) -> Array:
    """Finds clusters."""
    return sf.learn.KMeans(case.many, epsilon=case.epsilon, between=(-1, 1)).fit(case.held).cluster_centers_


def scales(case: clusters.Scales) -> Array:
    """Finds means and deviations."""
    model = sf.learn.StandardScaler(epsilon=case.epsilon, between=(-1, 1)).fit(case.held)
    return np.stack([model.mean_, model.scale_])


def coverage(size: int, width: int, epsilon: float) -> None:
    """Reports how many of the intervals of slopes at 95 % hold the population's; those without ends do not count."""
    held = stated = 0
    draws = INTERVALS // width
    for place in range(draws):
        rows, target, slopes = made_up(size, width, place)
        model = sf.learn.LinearRegression(epsilon=epsilon, between=(-1, 1), target_between=(-1, 1)).fit(rows, target)
        for (low, high), slope in zip(model.intervals().values(), slopes, strict=True):
            stated += bool(np.isfinite(high - low))
            held += bool(np.isfinite(high - low) and low <= slope <= high)
    share = held / stated if stated else None
    report(f"{size}×{width} ε={epsilon:g}", kind="coverage", covered=share, stated=stated, asked=draws * width)


def main() -> None:
    """Answers every case."""
    report_version("sfumato")
    for line in LINEAR:
        trial(line, way="", fit=partial(linear, line))
    for single in ROBUST:
        trial(single, way="", fit=partial(robust, single))
    for asked in COMPONENTS:
        trial(asked, way="", fit=partial(components, asked))
    for told in logistic.CASES:
        logistic.trial(told, way="", fit=shares)
    for known in classes.CASES:
        if known.there:
            classes.trial(known, way="", make=classifier)
    for crowd in clusters.CLUSTERS:
        clusters.trial(crowd, way="", fit=partial(centres, crowd))
    for column in clusters.SCALES:
        clusters.trial(column, way="", fit=partial(scales, column))
    for shape in COVERED:
        coverage(*shape)


if __name__ == "__main__":
    main()
