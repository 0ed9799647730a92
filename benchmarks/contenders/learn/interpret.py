"""interpret's private additive models with their defaults, told all bounds, so that they infer nothing."""

from __future__ import annotations

import warnings
from typing import Any

from interpret.privacy import DPExplainableBoostingClassifier

from contenders.learn import classes
from side_by_side.stopwatch import report_version


def additive(case: classes.Classes) -> Any:
    """A private additive model of two classes, on one core."""
    width = case.drawn[0].shape[1]
    return DPExplainableBoostingClassifier(
        epsilon=case.epsilon,
        delta=case.delta,
        feature_types=["continuous"] * width,
        privacy_bounds=dict.fromkeys(range(width), (-1.0, 1.0)),
        n_jobs=1,
    )


def main() -> None:
    """Answers every case that has a δ: it needs one."""
    warnings.simplefilter("ignore")
    report_version("interpret-core")
    for case in classes.CASES:
        if case.kind == "trees" and case.delta and case.there:
            classes.trial(case, way="", make=additive)


if __name__ == "__main__":
    main()
