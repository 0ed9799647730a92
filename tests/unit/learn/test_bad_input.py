"""Bad input, to every estimator there is: a clear refusal before anything is charged, or a model of finite numbers.

Whatever rows hold is data like any other; what is stated of them is refused in words. New estimators join by standing
in `ESTIMATORS` of test_manners.
"""

from __future__ import annotations

import datetime
import importlib.util
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import sfumato as sf
from sfumato.errors import BadArgument, LimitReached, SfumatoError


def listed() -> list[Any]:
    """The estimators of test_manners: no test module imports another, so it is read as a file."""
    found = importlib.util.spec_from_file_location("manners", Path(__file__).with_name("test_manners.py"))
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return [one for one in module.ESTIMATORS if hasattr(one, "takes")]


EVERY = pytest.mark.parametrize("estimator", listed(), ids=lambda one: type(one).__name__)
COUNT = 12
ROWS = np.random.default_rng(3).uniform(-1, 1, (COUNT, 2))
ODD = 'we"ird; DROP TABLE "t" --\' ü'
CAREFUL = (SfumatoError, ValueError, TypeError)
"""What a refusal may be: sfumato's own, or what scikit-learn asks for where shapes are wrong."""


def target_of(estimator: Any, count: int = COUNT) -> Any:
    return {"number": np.linspace(0, 1, count), "nothing": None}.get(estimator.takes, np.arange(count) % 2)


def changed(estimator: Any, **parameters: Any) -> Any:
    known = clone(estimator).get_params()
    return clone(estimator).set_params(**{name: held for name, held in parameters.items() if name in known})


def numbers_of(held: Any) -> Iterator[float]:
    """All numbers that a model holds; NaN marks what a category has none of, and is none of them."""
    if isinstance(held, dict):
        for part in held.values():
            yield from numbers_of(part)
    elif isinstance(held, float):
        yield held
    elif isinstance(held, np.ndarray) and held.dtype.kind == "f":
        yield from held.ravel().tolist()


def check_finite(model: Any, columns: int = 2) -> None:
    held = [one for name, part in vars(model).items() if name.endswith("_") for one in numbers_of(part)]
    assert not any(math.isinf(one) for one in held)
    assert any(math.isfinite(one) for one in held) or not held
    if hasattr(model, "predict"):
        predicted = model.predict([[0.5] * columns, [None] * columns])
        assert len(predicted) == 2 and (predicted.dtype.kind != "f" or np.isfinite(predicted).all())


DATA: dict[str, Any] = {
    "no rows": np.empty((0, 2)),
    "one row": [[0.1, 0.2]],
    "constant": np.full((COUNT, 2), 0.5),
    "collinear": np.repeat(ROWS[:, :1], 2, axis=1),
    "missing": np.full((COUNT, 2), np.nan),
    "infinite": np.full((COUNT, 2), -np.inf),
    "huge": np.full((COUNT, 2), 1e308),
    "no floats": [[10**400, Decimal("0.2")]] * COUNT,
    "truth values": np.array([[True, False]] * COUNT),
    "none": [[None, 0.1]] * COUNT,
    "negative zeros and tiny numbers": np.array([[-0.0, 5e-324]] * COUNT),
    "an index": pd.DataFrame(ROWS, index=range(90, 90 + COUNT), columns=["a", "b"]),
    "polars": pl.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1]}),
    "arrow": pa.table({"a": ROWS[:, 0], "b": ROWS[:, 1]}),
    "odd names": pd.DataFrame(ROWS, columns=[ODD, "b c\n"]),
    "whole numbers that may be missing": pd.DataFrame({"a": pd.array([1, None] * 6, dtype="Int64"), "b": ROWS[:, 0]}),
    "half floats": ROWS.astype(np.float16),
    "a mask": np.ma.masked_array(ROWS, mask=ROWS > 0.5),
}


@EVERY
def test_whatever_rows_hold_gives_a_finite_model(estimator: Any) -> None:
    for rows in DATA.values():
        check_finite(clone(estimator).fit(rows, target_of(estimator, len(rows))))


TARGETS: dict[str, Any] = {
    "one class": np.zeros(COUNT),
    "missing": np.full(COUNT, np.nan),
    "infinite": np.full(COUNT, np.inf),
    "truth values": np.array([True, False] * 6),
    "whole numbers": [0, 1] * 6,
    "a series": pd.Series([0, 1] * 6, name="t"),
    "of polars": pl.Series("t", [0.0, 1.0] * 6),
    "numbers and none": [0, 1.0, None, Decimal(1), 2**70, True] * 2,
}


@EVERY
def test_whatever_targets_hold_gives_a_finite_model(estimator: Any) -> None:
    if estimator.takes == "nothing":
        return
    for target in TARGETS.values():
        check_finite(clone(estimator).fit(ROWS, target))


REFUSED: dict[str, Any] = {
    "nothing": None,
    "a text": "abc",
    "one dimension": [1, 2, 3],
    "three dimensions": np.zeros((2, 2, 2)),
    "no columns": np.empty((COUNT, 0)),
    "complex": np.ones((COUNT, 2)) * 1j,
    "ragged": [[1, 2], [3]],
    "a dictionary": {"a": [1, 2]},
    "texts": np.array([["a", "b"]] * COUNT, dtype=object),
    "one text": [[0.1, 0.2]] * (COUNT - 1) + [["x", 0.2]],
    "days": np.array([["2020-01-01"] * 2] * COUNT, dtype="datetime64[D]"),
    "times": [[datetime.datetime(2020, 1, 1), 0.1]] * COUNT,
    "two columns of one name": pd.DataFrame(ROWS, columns=["a", "a"]),
}


@EVERY
def test_what_is_no_table_of_numbers_is_refused_and_leaves_the_model_as_it_was(estimator: Any) -> None:
    model = clone(estimator).fit(ROWS, target_of(estimator))
    before = dict(vars(model))
    for rows in REFUSED.values():
        with pytest.raises(CAREFUL) as refused:
            model.fit(rows, target_of(estimator))
        assert "'x'" not in str(refused.value) and "2020" not in str(refused.value)
        assert vars(model) == before


LOSSES: dict[str, dict[str, Any]] = {
    "none": {"epsilon": None},
    "nothing": {"epsilon": None, "loss": sf.Pure(0)},
    "infinite": {"epsilon": None, "loss": sf.Pure(math.inf)},
    "next to nothing": {"epsilon": "1e-200"},
    "both": {"loss": sf.Pure(1)},
    "a text": {"epsilon": "abc"},
    "NaN": {"epsilon": math.nan},
    "below 0": {"epsilon": -1},
    "a δ beyond 1": {"delta": 2},
}
STATED: dict[str, dict[str, Any]] = {
    "reversed": {"between": (1, -1), "target_between": (1, -1)},
    "NaN": {"between": (0, math.nan), "target_between": (0, math.nan)},
    "infinite": {"between": (-math.inf, math.inf), "target_between": (0, math.inf)},
    "beyond floats": {"between": (0, 10**400), "target_between": (0, 10**400)},
    "whose squares are no floats": {"between": (-1e300, 1e300), "target_between": (0, 1e300)},
    "a number": {"between": 5},
    "a text": {"between": "ab"},
    "an unknown column": {"between": {"x7": (0, 1)}},
    "one column only": {"between": {"x0": (0, 1)}},
    "no categories": {"categories": {"x0": []}},
    "categories twice": {"categories": {"x0": [1, 1.0]}},
    "categories that are lists": {"categories": {"x0": [[1], [2]]}},
    "categories of no column": {"categories": ["a"]},
}
CLASSES: dict[str, Any] = {
    "none": [],
    "twice": [0, 0.0],
    "a text": "ab",
    "NaN": [0, math.nan],
    "lists": [[0], [1]],
}


@EVERY
def test_losses_and_bounds_that_cannot_be_are_refused_in_words(estimator: Any) -> None:
    for stated in [*LOSSES.values(), *STATED.values()]:
        with pytest.raises(SfumatoError):
            changed(estimator, **stated).fit(ROWS, target_of(estimator))
    for classes in CLASSES.values() if estimator.takes == "classes" else ():
        with pytest.raises(SfumatoError):
            changed(estimator, classes=classes).fit(ROWS, target_of(estimator))


OTHER_NUMBERS = (0, -1, 1e300, 10**400, math.nan, math.inf, 1e-300, "abc", None, [1], True)
STATED_ELSEWHERE = {"loss", "epsilon", "delta", "between", "categories", "classes", "target_between"}


@EVERY
def test_every_other_parameter_is_taken_or_refused_in_words(estimator: Any) -> None:
    for name in estimator.get_params().keys() - STATED_ELSEWHERE:
        for value in OTHER_NUMBERS:
            model = clone(estimator).set_params(**{name: value})
            try:
                model.fit(ROWS, target_of(estimator))
            except BadArgument:
                continue
            check_finite(model)


@EVERY
def test_losses_at_both_ends_and_bounds_that_are_equal_give_a_finite_model(estimator: Any) -> None:
    for stated in (
        {"epsilon": "1e-9"},
        {"epsilon": 10**9},
        {"epsilon": "1e-50"},
        {"between": (0, 0), "target_between": (1, 1)},
        {"between": (-1e100, 1e100), "target_between": (0, 1e100)},
        {"between": (0, 5e-324)},
    ):
        try:
            check_finite(changed(estimator, **stated).fit(ROWS, target_of(estimator)))
        except BadArgument as refused:  # of columns that have one value no question can be asked
            assert "something to ask" in str(refused) and stated["between"][0] == 0


@pytest.fixture(scope="module")
def session() -> Any:
    """A session on people with two rows each, with columns of every sort."""
    many = 2 * COUNT
    held = {
        "id": [place // 2 for place in range(many)],
        "a": np.linspace(-1, 1, many),
        "b": [None if place % 5 == 0 else float(place % 3) for place in range(many)],
        "k": ["uvw"[place % 3] for place in range(many)],
        "class": [place % 2 for place in range(many)],
        "number": np.linspace(0, 1, many),
        "nothing": [math.nan] * many,
        "money": [Decimal(place) for place in range(many)],
        "when": [datetime.datetime(2020, 1, 1 + place) for place in range(many)],
        "text": ["x"] * many,
        "list": [[1, 2]] * many,
        ODD: [math.inf] * many,
    }
    between = dict.fromkeys(("a", "b", "number", "nothing", "money", ODD), (-1, 24))
    opened = sf.Dataset(
        pl.DataFrame(held, schema_overrides={"money": pl.Decimal(10, 2)}),
        unit="id",
        between={**between, "number": (0, 1)},
        categories={"k": ["u", "v", "w"], "class": [0, 1]},
    )
    return opened.session(limit=sf.Pure(10**6), ledger="memory:")


FITTED: list[dict[str, Any]] = [{"features": ["money", ODD]}, {"features": ["nothing", "a"]}, {"features": ["a", "b"]}]
UNFIT: list[dict[str, Any]] = [
    {"features": ["a"], "max_rows": None},
    {"features": ["a"], "max_rows": 0},
    {"features": ["a"], "max_rows": "3"},
    {"features": ["a", "a"]},
    {"features": []},
    {"features": "a"},
    {"features": ["nowhere"]},
    {"features": ["text"]},
    {"features": ["when"]},
    {"features": ["list"]},
    {"features": ["id"]},
    {"features": ["a"], "y": [1]},
]
UNFIT_TARGETS = ("nowhere", "a", "when", "text", "list", "id")


def asked(estimator: Any, **parameters: Any) -> Any:
    return changed(estimator, **{"between": None, "target_between": None, "classes": None, "epsilon": 1, **parameters})


def target_in(estimator: Any) -> dict[str, str]:
    return {} if estimator.takes == "nothing" else {"target": "number" if estimator.takes == "number" else "class"}


@EVERY
def test_of_a_table_a_refusal_costs_nothing_and_a_model_what_was_stated(estimator: Any, session: Any) -> None:
    tables, named = session.table(), target_in(estimator)
    before = session.spent
    refusals: list[Callable[[], Any]] = [
        lambda given=given: asked(estimator).fit(tables, **{"max_rows": 1, **named, **given}) for given in UNFIT
    ]
    refusals += [
        lambda other=other: asked(estimator).fit(tables, features=["a"], target=other, max_rows=1)
        for other in UNFIT_TARGETS
    ]
    for refused in refusals:
        with pytest.raises(SfumatoError):
            refused()
    assert session.spent == before
    for given in FITTED:
        model = asked(estimator).fit(tables, **named, **given, max_rows=2)
        check_finite(model)
        assert model.release_.loss.within(sf.Pure(1)) and str(model)


@EVERY
def test_a_limit_that_is_reached_leaves_model_and_account_as_they_were(estimator: Any, session: Any) -> None:
    named = target_in(estimator)
    model = asked(estimator).fit(session.table(), features=["a", "b"], **named, max_rows=2)
    before, spent = dict(vars(model.set_params(epsilon=10**7))), session.spent
    with pytest.raises(LimitReached, match="Nothing ran and nothing was charged"):
        model.fit(session.table(), features=["b", "a", "nothing"], **named, max_rows=2)
    assert vars(model) == before and session.spent == spent
    check_finite(model)
