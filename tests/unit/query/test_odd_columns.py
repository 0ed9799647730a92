"""Columns as other people's frames have them: types of pandas alone, half floats, names that no SQL has, lists."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import BadArgument, BadCodebook, QueryRefused

ROW = sf.Unit("a row", sf.AddRemove(), bound=1)
WEIGHTS = [2500.0, 3800.0, None, 5200.0] * 40


def asked(data: object, question: str, **stated: Any) -> list[tuple[object, ...]]:
    """Asks where noise is next to nothing."""
    session = sf.Dataset(data, unit=ROW, **stated).session(epsilon=10**9, delta=1e-3, ledger="memory:")
    return [*session.sql(question, epsilon=10**6, delta=1e-6).to_polars().rows()]


def counts(data: object, column: str, **stated: Any) -> dict[object, object]:
    rows = asked(data, f'SELECT "{column}", COUNT(*) AS n FROM data GROUP BY 1', **stated)
    return {key: n for key, n in rows if n}


def test_intervals_are_written_alike_whoever_is_missing() -> None:
    cut = pd.DataFrame({"size": pd.cut(pd.Series(WEIGHTS), [2000, 4000, 7000])})
    assert counts(cut, "size") == {None: 40, "(2000, 4000]": 80, "(4000, 7000]": 40}
    assert counts(cut.dropna(), "size") == {"(2000, 4000]": 80, "(4000, 7000]": 40}


def test_periods_are_the_texts_of_pandas_and_never_numbers() -> None:
    months = pd.PeriodIndex(["2020-01", "2020-02"] * 80, freq="M")
    assert counts(pd.DataFrame({"month": months}), "month") == {"2020-01": 80, "2020-02": 80}
    days = pd.DataFrame({"day": months.asfreq("D", "start")})
    between = {"day": ("2020-01-01", "2020-02-03")}
    assert counts(days, "day", between=between) == {datetime.date(2020, month, 1): 80 for month in (1, 2)}


NUMBERS = {
    "half floats": pd.DataFrame({"x": pd.Series(WEIGHTS, dtype="float16")}),
    "sparse": pd.DataFrame({"x": pd.arrays.SparseArray(pd.Series(WEIGHTS))}),
    "half floats of Arrow": pa.table({"x": pa.array(np.array(WEIGHTS, dtype=np.float16), from_pandas=True)}),
    "categories": pd.DataFrame({"x": pd.Series(WEIGHTS, dtype="category")}),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_every_width_open_and_add_up(kind: str) -> None:
    assert asked(NUMBERS[kind], "SELECT COUNT(*), COUNT(x) FROM data") == [(160, 120)]
    [found] = asked(NUMBERS[kind], "SELECT COUNT(x), AVG(x) FROM data", between={"x": (0, 9000)})
    assert found == pytest.approx((120, 11500 / 3), rel=1e-6)


def test_times_of_day_in_a_column_of_anything_are_texts() -> None:
    shifts = [datetime.time(8), datetime.time(20, 30), None]
    assert counts(pd.DataFrame({"begins": pd.Series(shifts * 50, dtype=object)}), "begins") == {
        None: 50,
        "08:00:00": 50,
        "20:30:00": 50,
    }


HOURS = [datetime.timedelta(hours=1), None]
UNASKABLE = {
    "duration": (pl.DataFrame({"x": [1, 2], "odd": HOURS}), "INTERVAL"),
    "bytes": (pa.table({"x": [1], "odd": [b"a"]}), "BLOB"),
    "list": (pl.DataFrame({"x": [1], "odd": [[1, 2]]}), "BIGINT[]"),
    "wide decimal": (
        pa.table({"x": [1], "odd": pa.array([Decimal(1)], pa.decimal256(50, 2))}),
        "decimal256(50, 2)",
    ),
}


@pytest.mark.parametrize("kind", UNASKABLE)
def test_a_column_that_cannot_be_asked_about_is_told_from_one_that_is_not_there(kind: str) -> None:
    frame, held = UNASKABLE[kind]
    why = f"it holds {held}, which has no type in a codebook. Turn it into numbers, texts or days first"
    for name in ("odd", "data.ODD"):
        with pytest.raises(QueryRefused) as caught:
            asked(frame, f"SELECT COUNT({name}) FROM data")
        assert str(caught.value) == f"nothing can be asked about 'odd': {why}."
    with pytest.raises(BadArgument) as unit:
        sf.Dataset(frame, unit="odd")
    assert str(unit.value) == f"unit must be about a column that can be read: {why}; got 'odd'."


def test_names_that_other_tools_make() -> None:
    frame = pl.DataFrame({"": [1, 2], "Sepal.Length": [5.1, 4.9], "first name": ["a", "b"]})  # "" is R's row names
    assert asked(frame, 'SELECT COUNT("Sepal.Length"), COUNT(`first name`) FROM `data`') == [(2, 2)]
    with pytest.raises(QueryRefused, match=r'write "Sepal\.Length", in double quotes'):
        asked(frame, "SELECT COUNT(Sepal.Length) FROM data")


STATED = {
    "a text for a list": ({"categories": {"k": "ab"}}, "categories of k must be a list of values; got 'ab'."),
    "two kinds": (
        {"categories": {"k": ["a", 1]}},
        "codebook, table 'data', column 'k': categories must be of one kind, as the values of a column are; got numbers"
        " and texts.",
    ),
    "a number beyond all": (
        {"categories": {"k": [2**64]}},
        "codebook, table 'data', column 'k': a category must be a whole number of 64 bits; got 18446744073709551616. "
        "Write such keys as texts.",
    ),
    "days": (
        {"categories": {"k": [datetime.date(2020, 1, 1)]}},
        "codebook, table 'data', column 'k': a category must be a text, a number, true or false (of days and times say "
        "between); got 2020-01-01.",
    ),
    "halves of whole numbers": (
        {"between": {"n": (0.5, 3)}},
        "codebook, table 'data', column 'n': between must be whole numbers for an int column; got 0.5 and 3.",
    ),
}


@pytest.mark.parametrize("kind", STATED)
def test_what_is_stated_wrongly_is_refused_in_our_words(kind: str) -> None:
    stated, said = STATED[kind]
    with pytest.raises((BadArgument, BadCodebook)) as caught:
        sf.Dataset(pd.DataFrame({"k": ["a", "b"], "n": [1, 2]}), unit=ROW, **stated)
    assert str(caught.value) == said


def test_a_set_of_categories_has_one_order_and_numbers_one_type() -> None:
    frame = pd.DataFrame({"k": ["b", "a"], "dose": [0.5, 2]})
    data = sf.Dataset(frame, unit=ROW, categories={"k": {"b", "a", "c"}, "dose": [2, 0.5]})
    assert data.codebook is not None
    assert [column.categories for column in data.codebook.tables[0].columns] == [("a", "b", "c"), (2.0, 0.5)]
    assert counts(frame, "dose", categories={"dose": [2, 0.5]}) == {2.0: 1, 0.5: 1}


def test_frames_that_are_none_say_so() -> None:
    weights = pd.DataFrame({"who": [1, 2], "x": [1.0, 2.0]})
    with pytest.raises(BadArgument, match=r"'who' is a column: frame.reset_index\(\)"):
        sf.Dataset(weights.set_index("who"), unit="who")
    with pytest.raises(BadArgument, match=r"must be a path, a data frame .* got 'Series'"):
        sf.Dataset(weights["x"], unit=ROW)
    with pytest.raises(BadArgument, match="names differ by more than case: rename one of x, X"):
        sf.Dataset(weights.rename(columns={"who": "X"})[["x", "X"]], unit=ROW)
