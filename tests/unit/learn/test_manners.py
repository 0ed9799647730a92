"""Estimators have scikit-learn's manners: its own checks pass, but for those that no private estimator can pass."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from sfumato.errors import UnknownFormat
from sfumato.learn import (
    PCA,
    AdaBoostClassifier,
    Binner,
    Covariance,
    DecisionTreeClassifier,
    Encoder,
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
    GridSearch,
    HuberRegressor,
    KMeans,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    NaiveBayes,
    PoissonRegressor,
    PolynomialFeatures,
    QuantileTransformer,
    RandomForestClassifier,
    SimpleImputer,
    StandardScaler,
    load,
    save,
)
from sfumato.learn.columns import Category
from sfumato.learn.estimator import columns_of
from sfumato.learn.saving import model_to_plain

WIDE = {"between": (-100, 100), "epsilon": 10**6}

ESTIMATORS: list[Any] = [
    LinearRegression(**WIDE, target_between=(-300, 300)),
    Covariance(**WIDE),
    PCA(**WIDE),
    LogisticRegression(**WIDE, classes=[0, 1]),
    LinearSVC(**WIDE, classes=[0, 1]),
    HuberRegressor(**WIDE, target_between=(-300, 300)),
    PoissonRegressor(**WIDE, target_between=(0, 300)),
    Encoder(between=(-100, 100)),
    Binner(edges=[-1.0, 1.0]),
    NaiveBayes(**WIDE, classes=[0, 1, 2, 3]),
    ExplainableBoostingClassifier(**WIDE, classes=[0, 1]),
    DecisionTreeClassifier(**WIDE, classes=[0, 1, 2, 3], max_depth=3, bins=400),
    RandomForestClassifier(2, **WIDE, classes=[0, 1, 2, 3], max_depth=3, bins=400),
    AdaBoostClassifier(2, **WIDE, classes=[0, 1], max_depth=2, bins=400),
    ExplainableBoostingRegressor(epsilon=10**6, between=(-5, 5), target_between=(-5, 5)),
    KMeans(2, **WIDE),
    StandardScaler(**WIDE),
    QuantileTransformer(5, **WIDE),
    SimpleImputer(),
    PolynomialFeatures(),
    GridSearch(LinearRegression(between=(-100, 100), target_between=(-300, 300)), {"alpha": [0.0]}, epsilon=10**6),
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
    "check_classifier_data_not_an_array": "compares two fits: a forest deals out rows anew",
    "check_pipeline_consistency": "every fit draws new noise",
    "check_transformer_data_not_an_array": "every fit draws new noise",
    "check_transformer_general": "every fit draws new noise",
    "check_classifiers_classes": "classes are stated, never read from data; the check brings others",
    "check_classifiers_train": "classes are stated, never read from data; the check brings others",
    "check_classifiers_regression_target": "what is none of the stated classes is left out, without an error",
    "check_classifiers_one_label": "classes are stated: all of them can be predicted whatever the data has",
    "check_regressors_train": "brings targets below 0, where a model of counts has none",
    "check_array_api_input": "needs a setting of SciPy's",
    "check_classifier_not_supporting_multiclass": "rows of classes that were not stated are left out, without an error",
}
"""Checks that ask for what a private estimator must not do, and why."""


def name_of(estimator: Any) -> str:
    return type(estimator).__name__


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_scikit_learns_own_checks_pass(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in checks if one["status"] != "passed"}
    assert not {name: error for name, error in failed.items() if name not in EXEMPT}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_constructors_store_what_they_are_given_and_nothing_else(estimator: Any) -> None:
    again = clone(estimator)
    stored = again.get_params(deep=False)
    assert str(stored) == str(estimator.get_params(deep=False)) and vars(again).keys() == stored.keys()


def fitted(estimator: Any) -> Any:
    """A copy, fitted on a few rows of two columns."""
    rows, takes = np.random.default_rng(4).uniform(-1, 1, (60, 2)), estimator.takes
    target = {"number": rows[:, 0], "nothing": None}.get(takes, (rows[:, 0] > 0).astype(int))
    return clone(estimator).fit(rows, target)


@pytest.mark.parametrize("estimator", [one for one in ESTIMATORS if hasattr(one, "takes")], ids=name_of)
def test_models_come_back_from_json_with_their_release(estimator: Any, tmp_path: Path) -> None:
    model = fitted(estimator)
    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.get_params() == model.get_params() and again.release_.loss == model.release_.loss
    assert str(again) == str(model) and str(model.release_.loss) in str(model) and "uncharged" in str(model)
    for ask in ("predict", "transform", "predict_proba"):
        if hasattr(model, ask):
            assert np.array_equal(getattr(again, ask)([[0.5, -0.5]]), getattr(model, ask)([[0.5, -0.5]]))


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"format": "sfumato/model", "version": 2}', "OTHER", "HIDDEN", "RECORD"],
    ids=["empty", "no model", "another version", "another class", "an attribute that none has", "a strange record"],
)
def test_files_that_are_no_models_are_refused(text: str, tmp_path: Path) -> None:
    path, good = tmp_path / "model.json", model_to_plain(fitted(ESTIMATORS[0]))
    broken: dict[str, Any] = {
        "OTHER": {**good, "model": "save"},
        "HIDDEN": {**good, "fitted": {"__class__": 1}},
        "RECORD": {**good, "fitted": {"columns_": {"record": ["Popen", "ls"]}}},
    }
    path.write_text(json.dumps(broken[text]) if text in broken else text)
    with pytest.raises(UnknownFormat):
        load(path)


@pytest.mark.parametrize("last", ["a", 2.5, -1, None, ["x"], {}, 2**70])
def test_no_row_changes_how_another_is_read(last: object) -> None:
    """In an array of NumPy one text would make texts of all numbers, one negative number would round large ones."""
    known = Category.read("c", [1, 2, 2**63])
    alone, beside = ([[1], [2], [2**63], *more] for more in ([], [[last]]))
    codes = [known.encode(columns_of(rows)[1][0]).tolist() for rows in (alone, beside)]
    assert codes[0] == [0.0, 1.0, 2.0] == codes[1][:3]
    assert codes[1][3:] == [-1.0] or last is None


def test_categories_of_arrow_are_told_apart() -> None:
    names, (column,) = columns_of(pa.table({"c": ["u", "v", None, "w"]}))
    assert names == ["c"] and np.array_equal(Category.read("c", ["u", "v"]).encode(column), [0, 1, np.nan, -1], True)
