"""Bad input, to every method there is: a clear refusal before anything is charged, or rows like any others."""

from __future__ import annotations

import datetime
import inspect
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import BadArgument, BadCodebook, SfumatoError

DAY, MOMENT = datetime.date, datetime.datetime
METHODS = [
    one
    for one in (getattr(sf.synth, name) for name in sf.synth.__all__)
    if isinstance(one, type)
    and issubclass(one, sf.synth.Synthesizer)
    and not inspect.isabstract(one)
    and all(part.default is not part.empty for part in inspect.signature(one).parameters.values())
]
"""The methods that need nothing but a loss."""

EVERY = pytest.mark.parametrize("method", METHODS, ids=lambda one: one.__name__)
COUNT = 40
LOSS = sf.Approx(1, 1e-6)


def frame(count: int = COUNT) -> pl.DataFrame:
    places = range(count)
    return pl.DataFrame(
        {
            "who": [place // 2 for place in places],
            "age": [place * 3 % 90 for place in places],
            "height": [1 + place / COUNT for place in places],
            "sort": ["xyz"[place % 3] for place in places],
            "day": [DAY(2020, 1, 1) + datetime.timedelta(place) for place in places],
            "word": [f"word {place % 5}" for place in places],
        },
        schema={
            "who": pl.Int64,
            "age": pl.Int64,
            "height": pl.Float64,
            "sort": pl.String,
            "day": pl.Date,
            "word": pl.String,
        },
    )


STATED: dict[str, Any] = {
    "between": {"age": (0, 90), "height": (0, 3), "day": (DAY(2020, 1, 1), DAY(2020, 12, 31))},
    "categories": {"sort": ["x", "y", "z"]},
}
KNOWN = ["age", "height", "sort", "day"]


def opened(rows: Any = None, *, limit: sf.Loss | None = None, people: bool = True, **stated: Any) -> Any:
    unit: Any = "who" if people else sf.Unit("a row", sf.AddRemove(), bound=1)
    held = frame() if rows is None else rows
    return sf.Dataset(held, name="rows", unit=unit, **{**STATED, **stated}).session(
        limit=limit or sf.Approx(10, 1e-5), ledger="memory:"
    )


def refused(session: Any, method: Any, message: str, *, loss: Any = LOSS, **settings: Any) -> None:
    """Asserts a refusal in words, with nothing charged."""
    with pytest.raises(SfumatoError) as refusal:
        method(loss=loss).fit(session.table(), **{"max_rows": 2, "columns": KNOWN, **settings})
    assert message in str(refusal.value)
    assert session.spent == session.spent.nothing()


@EVERY
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"columns": None}, "known of word"),
        ({"columns": ["word"]}, "buy=['word']"),
        ({"columns": ["who", "age"]}, "not whose a row is"),
        ({"columns": ["agee"]}, "did you mean 'age'"),
        ({"columns": []}, "one or more names"),
        ({"columns": "age"}, "one or more names"),
        ({"columns": ["age", "age"]}, "none twice"),
        ({"columns": [3]}, "names of columns"),
        ({"bins": {"agee": 3}}, "did you mean 'age'"),
        ({"bins": {"sort": 3}}, "sort is text"),
        ({"bins": 0}, "the bins of age"),
        ({"bins": {"age": 2.5}}, "the bins of age"),
        ({"bins": {"age": [50, 20]}}, "rising order"),
        ({"bins": {"age": [20, 500]}}, "within its bounds"),
        ({"bins": {"age": [20.5]}}, "a whole number"),
        ({"bins": {"height": [math.nan]}}, "an edge of height"),
        ({"bins": {"height": 10**6}}, "at most 4,000 codes"),
        ({"bins": {"day": [3]}}, "a date or a datetime"),
        ({"between": {"agee": (0, 1)}}, "did you mean 'age'"),
        ({"between": {"age": (90, 0)}}, "the lower bound first"),
        ({"between": {"height": (0, math.inf)}}, ""),
        ({"between": {"height": (math.nan, 1)}}, ""),
        ({"between": {"day": (DAY(2021, 1, 1), DAY(2020, 1, 1))}}, "the first one first"),
        ({"between": {"day": (0, 1)}}, "a date or a datetime"),
        ({"columns": ["word"], "between": {"word": (0, 1)}}, "word is text"),
        ({"categories": {"sorts": ["x"]}}, "did you mean 'sort'"),
        ({"categories": {"sort": []}}, "one or more values"),
        ({"categories": {"sort": ["x", "x"]}}, "none twice"),
        ({"categories": {"sort": [None]}}, "none missing"),
        ({"categories": {"sort": [1, 2]}}, "values of its kind"),
        ({"categories": {"sort": "xyz"}}, "a list of values"),
        ({"categories": {"sort": [f"{place}" for place in range(4_001)]}}, "at most 4,000 codes"),
        ({"rows": 0}, "rows"),
        ({"rows": 2.5}, "rows"),
        ({"max_rows": 0}, "max_rows"),
        ({"max_rows": None}, "max_rows="),
        ({"impossible": [{"sort": ["x", "y", "z"]}, {"height": {"between": (5, 4)}}]}, "lower end first"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_is_stated_wrongly_is_refused_before_payment(method: Any, settings: dict[str, Any], message: str) -> None:
    refused(opened(), method, message, **settings)


@EVERY
@pytest.mark.parametrize(
    "loss",
    [
        sf.Pure(0),
        sf.Approx(0, 0),
        sf.ZCDP(0),
        sf.Pure(math.inf),
        sf.ZCDP(math.inf),
        sf.Pure("1e-200"),
        sf.GDP(1),
        None,
        3,
    ],
    ids=str,
)
def test_losses_that_buy_nothing_or_are_of_another_kind(method: Any, loss: Any) -> None:
    refused(opened(), method, "", loss=loss)


@EVERY
def test_a_tiny_loss_is_spent_and_rows_are_rows(method: Any) -> None:
    session = opened(limit=sf.Pure(1))
    made = method(loss=sf.Pure("1e-6")).fit(session.table(), columns=["age", "sort"], max_rows=2)
    assert made.sample(50).height == 50 and session.spent.within(sf.Pure("1e-6"))


@EVERY
def test_a_limit_that_is_exhausted_or_of_another_kind(method: Any) -> None:
    refused(opened(limit=sf.Approx(0.5, 1e-6)), method, "left")
    refused(opened(limit=sf.Pure(10)), method, "")
    spent = opened(limit=sf.Pure(1))
    method(loss=sf.Pure(1)).fit(spent.table(), columns=["sort"], max_rows=2)
    with pytest.raises(SfumatoError):
        method(loss=sf.Pure("0.1")).fit(spent.table(), columns=["sort"], max_rows=2)
    assert spent.spent == sf.Pure(1)


@EVERY
def test_a_session_in_another_kind_that_pays_all_the_same(method: Any) -> None:
    session = opened(limit=sf.ZCDP(1))
    made = method(loss=sf.Pure("0.5")).fit(session.table(), columns=["sort", "age"], max_rows=2)
    assert made.sample(3).height == 3 and session.spent.within(sf.ZCDP("0.125"))


@EVERY
def test_a_part_that_is_closed_pays_for_nothing(method: Any) -> None:
    session = opened(limit=sf.Pure(1))
    part = session.part("ada", limit=sf.Pure("0.5"))
    session.ledger.close_account("rows/ada")
    with pytest.raises(SfumatoError, match="closed"):
        method(loss=sf.Pure("0.1")).fit(part.table(), columns=["sort"], max_rows=2)
    assert session.spent == session.spent.nothing()


@EVERY
def test_a_key_is_for_one_question(method: Any) -> None:
    session = opened(limit=sf.Pure(2))
    recipe = method(loss=sf.Pure(1))
    first = recipe.fit(session.table(), columns=["sort", "age"], max_rows=2, key="once")
    again = recipe.fit(session.table(), columns=["sort", "age"], max_rows=2, key="once")
    assert [one.counts.tolist() for one in first.measured] == [one.counts.tolist() for one in again.measured]
    assert session.spent == sf.Pure(1)
    for loss, columns in ((sf.Pure(1), ["sort", "height"]), (sf.Pure("0.5"), ["sort", "age"])):
        with pytest.raises(SfumatoError):
            method(loss=loss).fit(session.table(), columns=columns, max_rows=2, key="once")
    assert session.spent == sf.Pure(1)


@EVERY
@pytest.mark.parametrize("count", [0, 1])
def test_no_rows_and_one_row(method: Any, count: int) -> None:
    made = method(epsilon=1, delta=1e-6).fit(opened(frame(count)).table(), columns=KNOWN, max_rows=2)
    assert made.sample(20).height == 20 and made.sample(0).height == 0
    assert made.sample(20)["sort"].is_in(["x", "y", "z", None], nulls_equal=True).all()


@EVERY
def test_columns_that_are_constant_or_all_missing(method: Any) -> None:
    rows = frame().with_columns(age=pl.lit(7, pl.Int64), height=pl.lit(None, pl.Float64), sort=pl.lit(None, pl.String))
    session = opened(rows, limit=sf.Pure(10**7))
    made = method(epsilon=10**6).fit(session.table(), columns=["age", "height", "sort"], max_rows=2, bins={"age": 90})
    drawn = made.sample(100)
    assert drawn["height"].null_count() > 95 and drawn["sort"].null_count() > 95
    assert made.rows == COUNT


@EVERY
def test_a_table_in_which_everything_is_missing(method: Any) -> None:
    rows = frame().with_columns(pl.lit(None).cast(pl.Int64).alias("who"))
    made = method(epsilon=1, delta=1e-6).fit(opened(rows).table(), columns=KNOWN, max_rows=2)
    assert made.sample(5).height == 5


@EVERY
def test_one_column_with_one_value(method: Any) -> None:
    made = method(epsilon=1).fit(
        opened(limit=sf.Pure(1)).table(), columns=["sort"], max_rows=2, categories={"sort": ["x"]}
    )
    assert set(made.sample(50)["sort"]) <= {"x", None}


SLOW_WHERE_LARGE = {sf.synth.AIM, sf.synth.MST, sf.synth.RAP}


@pytest.mark.parametrize(
    "method",
    [pytest.param(one, marks=pytest.mark.nightly) if one in SLOW_WHERE_LARGE else one for one in METHODS],
    ids=lambda one: one.__name__,
)
def test_tables_that_are_larger_than_memory_are_named(method: Any) -> None:
    session = opened()
    try:
        method(loss=sf.Approx(1, 1e-6)).fit(
            session.table(), columns=["height", "day", "age"], max_rows=2, bins={"height": 3_900}
        )
    except SfumatoError as refusal:
        assert "codes" in str(refusal) or "cells" in str(refusal)
        assert session.spent == session.spent.nothing()


@EVERY
def test_values_that_are_odd_are_data_like_any_others(method: Any) -> None:
    rows = pd.DataFrame(
        {
            "age": pd.array([1, None, 2**62, -5], dtype="Int64"),
            "height": [math.nan, math.inf, -math.inf, -0.0],
            "sort": pd.Categorical(["x", None, "'; DROP TABLE rows --", "ü"]),
            "day": pd.to_datetime(["2020-05-05", None, "1700-01-01", "2250-01-01"]),
        }
    )
    ends = {**STATED["between"], "day": (MOMENT(2020, 1, 1), MOMENT(2020, 12, 31))}
    session = opened(rows, people=False, limit=sf.Pure(10**7), between=ends)
    made = method(epsilon=10**6).fit(session.table(), bins={"age": [50], "day": 3})
    assert np.rint(made.marginal(["height"])[-1]) == 3  # NaN and the infinite ones are missing, −0.0 is 0
    assert np.rint(made.marginal(["age"])).tolist() == [2, 1, 1]
    assert np.rint(made.marginal(["sort"])).tolist() == [1, 0, 0, 3]
    assert np.rint(made.marginal(["day"])[-1]) == 3  # days beyond the bounds are missing


@EVERY
def test_texts_where_numbers_should_be_are_missing(method: Any) -> None:
    rows = pl.DataFrame({"age": ["1", "x", "", "90", None], "sort": ["x"] * 5})
    session = opened(rows, people=False, between={"age": (0, 90)}, limit=sf.Pure(10**7))
    made = method(epsilon=10**6).fit(session.table(), bins={"age": [50]})
    assert np.rint(made.marginal(["age"])).tolist() == [1, 1, 3]


@EVERY
def test_rows_that_one_holds(method: Any) -> None:
    rows = frame().drop("who", "word")
    made = method(epsilon=10**5).fit(rows, **STATED)
    assert np.rint(made.marginal(["sort"])).tolist() == [14, 13, 13, 0]
    for settings in ({"max_rows": 1}, {"key": "x"}, {"buy": ["age"]}):
        with pytest.raises(BadArgument):
            method(epsilon=1).fit(rows, **STATED, **settings)
    for wrong in ("rows.csv", opened(), None, 3):
        with pytest.raises((SfumatoError, ValueError, TypeError)):
            method(epsilon=1).fit(wrong, **STATED)


def test_a_million_categories_are_refused_and_say_what_to_do() -> None:
    many = [f"{place}" for place in range(30_000)]
    session = opened(categories={"sort": many})
    refused(session, sf.synth.MST, "buy=['sort']")
    with pytest.raises((BadArgument, BadCodebook)):
        opened(categories={"sort": []})


@pytest.mark.parametrize(
    "workload", [0, -1, [("age", "nothing")], "age", ["age"], [()], [], {("age", "sort"): -1}, {("age",): math.nan}]
)
def test_workloads_that_are_refused(workload: Any) -> None:
    session = opened()
    with pytest.raises(SfumatoError):
        sf.synth.AIM(epsilon=1, delta=1e-6, workload=workload).fit(session.table(), columns=KNOWN, max_rows=2)
    assert session.spent == session.spent.nothing()
