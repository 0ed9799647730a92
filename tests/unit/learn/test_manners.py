"""scikit-learn's own suite of checks, on every estimator; what is exempt is listed with its reason."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from sklearn.utils.estimator_checks import check_estimator

from sfumato.learn import LinearSVC, LogisticRegression, PoissonRegressor

ALL = {
    "check_fit_idempotent": "fitted twice, it has noise of its own each time",
    "check_estimators_empty_data_messages": "no error depends on data: without rows there is a model too",
    "check_supervised_y_no_nan": "rows with a missing target are left out, and infinite ones moved into bounds",
    "check_dtype_object": "values that are no numbers are refused in words of ours",
    "check_supervised_y_2d": "a target of one column is taken without a warning",
}
CLASSES = {
    "check_classifiers_classes": "classes are stated, never read from data; the check brings others",
    "check_classifiers_train": "classes are stated, never read from data; the check brings others",
    "check_classifiers_regression_target": "what is none of the stated classes is left out, without an error",
    "check_classifiers_one_label": "classes are stated: all of them can be predicted whatever the data has",
}
NUMBERS = {
    "check_regressors_train": "it brings targets beyond any bounds that were stated for counts",
    "check_regressors_int": "two fits have different noise",
    "check_regressor_data_not_an_array": "two fits have different noise",
}
ESTIMATORS: list[tuple[Any, dict[str, str]]] = [
    (LogisticRegression(epsilon=10**4, between=(-10, 10), classes=[0, 1]), CLASSES),
    (LinearSVC(epsilon=10**4, between=(-10, 10), classes=[0, 1]), CLASSES),
    (PoissonRegressor(epsilon=10**4, between=(-10, 10), target_between=(0, 20)), NUMBERS),
]


@pytest.mark.parametrize(("estimator", "exempt"), ESTIMATORS, ids=lambda one: type(one).__name__)
def test_it_has_scikit_learns_manners(estimator: Any, exempt: dict[str, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks={**ALL, **exempt}, on_fail=None, on_skip=None)
    wrong = {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}
    assert not wrong and sum(one["status"] == "passed" for one in results) > 30
