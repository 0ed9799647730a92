"""Estimators have scikit-learn's manners: its own checks pass, but for those that no private estimator can pass."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from sfumato.learn import LinearRegression, NaiveBayes

WIDE = {"between": (-100, 100), "epsilon": 10**6}

ESTIMATORS: list[Any] = [
    LinearRegression(**WIDE, target_between=(-300, 300)),
    NaiveBayes(**WIDE, classes=[0, 1, 2, 3]),
]
"""One of each estimator, with bounds that hold what scikit-learn's checks make up, and hardly any noise."""

EXEMPT = {
    "check_fit_idempotent": "every fit draws new noise",
    "check_regressor_data_not_an_array": "compares two fits to 1 %: every fit draws new noise",
    "check_regressors_int": "compares two fits to 1 %: every fit draws new noise",
    "check_estimators_empty_data_messages": "no rows are data like any other: an error would tell how many there are",
    "check_supervised_y_2d": "compares two fits: every fit draws new noise",
    "check_supervised_y_no_nan": "rows with something missing are left out, and infinity is moved to a bound",
    "check_dtype_object": "takes an object for a category only where categories are stated",
    "check_pipeline_consistency": "every fit draws new noise",
    "check_array_api_input": "needs a setting of SciPy's",
    "check_classifiers_classes": "classes are stated, never read from data; the check brings others",
    "check_classifiers_train": "classes are stated, never read from data; the check brings others",
    "check_classifiers_regression_target": "what is none of the stated classes is left out, without an error",
}
"""Checks that ask for what a private estimator must not do, and why."""


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_scikit_learns_own_checks_pass(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in checks if one["status"] != "passed"}
    assert not {name: error for name, error in failed.items() if name not in EXEMPT}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_constructors_store_what_they_are_given_and_nothing_else(estimator: Any) -> None:
    again = clone(estimator)
    assert again.get_params() == estimator.get_params() and vars(again).keys() == again.get_params().keys()
