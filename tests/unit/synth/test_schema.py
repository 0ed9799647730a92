"""Schemas: which codes columns have, by the codebook and by what is stated; and what cannot occur."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.query.frame import Frame
from sfumato.query.nodes.kinds import Kind
from sfumato.synth.columns import BinnedColumn, ListedColumn
from sfumato.synth.schema import schema_of_rows, schema_of_table

DAY, MOMENT = datetime.date, datetime.datetime

BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "A survey",
    "unit": {"protects": "a person", "id": "who"},
    "tables": {
        "survey": {
            "columns": {
                "who": {"type": "int"},
                "age": {"type": "int", "between": [0, 120], "bins": [15, 65], "source": "people"},
                "weight": {"type": "float", "between": [0, 300], "bins": 8, "source": "people"},
                "height": {"type": "float", "between": [0, 3], "source": "people"},
                "children": {"type": "int", "between": [0, 20], "nullable": False, "source": "the form"},
                "state": {"categories": ["single", "married"], "source": "the form"},
                "born": {"type": "date", "between": ["1900-01-01", "2026-01-01"], "bins": 4, "source": "the form"},
                "seen": {"type": "time", "bins": ["2026-01-01T00:00:00", "2026-01-02T12:00:00"]},
                "member": {"type": "bool"},
                "job": {"type": "str"},
            },
            "impossible": [{"where": {"age": {"between": [0, 13]}, "state": "married"}, "source": "the law"}],
        }
    },
}

ROWS = pl.DataFrame(
    {
        "who": [1, 2],
        "age": [12, 40],
        "weight": [40.0, 80.0],
        "height": [1.5, None],
        "children": [0, 2],
        "state": ["single", "married"],
        "born": [DAY(2012, 1, 1), None],
        "seen": [MOMENT(2026, 1, 1), MOMENT(2026, 1, 1, 5)],
        "member": [True, None],
        "job": ["a", "b"],
    }
)
KNOWN = [name for name in ROWS.columns if name not in ("who", "job")]


def table() -> Frame:
    return sf.Dataset(ROWS, codebook=BOOK).session(limit=sf.Pure(1), ledger="memory:").table("survey")


def test_the_codebook_says_which_codes_there_are() -> None:
    schema = schema_of_table(table(), columns=KNOWN)
    age = schema["age"]
    assert isinstance(age, BinnedColumn) and age.edges == (0, 14, 15, 65, 120)  # cut where it is impossible
    assert schema["weight"].size == 9 and schema["height"].size == 17
    children = schema["children"]
    assert isinstance(children, ListedColumn) and children.values == tuple(range(21)) and not children.may_miss
    assert schema["state"].labels == ["single", "married", "missing"]
    assert schema["member"].labels == ["False", "True", "missing"]
    born, seen = schema["born"], schema["seen"]
    assert isinstance(born, BinnedColumn) and born.bins == 4 and born.edges[-1] == DAY(2026, 1, 1)
    assert isinstance(seen, BinnedColumn) and seen.kind is Kind.TIME and seen.bins == 1
    zeros = schema.zeros["age", "state"]
    assert zeros.shape == (5, 3) and zeros.sum() == 1 and zeros[0, 1]


def test_what_is_stated_comes_before_the_codebook() -> None:
    made = schema_of_table(
        table(),
        columns=["age", "weight", "job", "seen"],
        bins={"age": [30], "weight": 3, "seen": 2},
        between={"seen": ("2026-01-01", "2026-01-03")},
        categories={"job": ["a", "c"]},
    )
    assert [one.size for one in made.columns] == [3, 4, 3, 3]
    assert made.zeros == {}  # a combination with a column that is left out is no combination of these
    assert schema_of_table(table(), columns=KNOWN, bins=5)["state"].size == 3  # bins of all, where there are bins


def test_renamed_columns_keep_their_codes_and_changed_ones_do_not() -> None:
    renamed = table().rename({"age": "years"})
    made = schema_of_table(renamed, columns=["years", "state"])
    assert made["years"].size == 5 and ("years", "state") in made.zeros
    changed = table().with_columns(age=table()["age"].clip(0, 60))
    again = schema_of_table(changed, columns=["age", "state"])
    assert again.zeros == {} and again["age"].size == 17


def test_filtered_tables_keep_what_is_known() -> None:
    made = schema_of_table(table().filter(table()["age"] > 3), columns=["age", "state"])
    assert ("age", "state") in made.zeros


def test_rows_that_one_holds() -> None:
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 99], dtype="Int64"),
            "number": [0.5, np.nan, np.inf],
            "day": pd.to_datetime(["2020-01-01", None, "2020-06-01"]),
            "sort": pd.Categorical(["x", None, "z"]),
        }
    )
    made = schema_of_rows(
        frame,
        between={"whole": (0, 10), "number": (0, 1), "day": (DAY(2020, 1, 1), DAY(2020, 12, 31))},
        categories={"sort": ["x", "y"]},
        bins={"number": 2, "day": 2},
    )
    assert [one.kind for one in made.columns] == [Kind.INT, Kind.FLOAT, Kind.DATE, Kind.TEXT]
    codes = made.encode(frame)
    assert codes[1].tolist() == [one.size - 1 for one in made.columns]


def test_arrays_of_nanoseconds_are_days() -> None:
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", None, "2020-06-01"])})
    made = schema_of_rows(frame, between={"day": (DAY(2020, 1, 1), DAY(2020, 12, 31))}, bins={"day": 2})
    assert made.encode(frame).tolist() == [[0], [2], [0]]


def test_rows_are_decoded_in_the_types_of_the_codebook() -> None:
    made = schema_of_table(table(), columns=KNOWN)
    codes = np.zeros((4, len(KNOWN)), dtype=np.uint8)
    frame = pl.from_arrow(made.decode(codes, ReplayEntropy(1)))
    assert isinstance(frame, pl.DataFrame)
    assert frame.schema == {
        "age": pl.Int64,
        "weight": pl.Float64,
        "height": pl.Float64,
        "children": pl.Int64,
        "state": pl.String,
        "born": pl.Date,
        "seen": pl.Datetime("us"),
        "member": pl.Boolean,
    }
    assert (made.encode(frame) == codes).all()


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ([{"agee": 3}], "about columns that are synthesised"),
        ([{}], "a list of combinations"),
        ({"age": 3}, "a list of combinations"),
        ("age", "a list of combinations"),
        ([{"age": {"between": (9, 3)}}], "lower end first"),
        ([{"age": {"from": 3}}], "between: [lower, upper]"),
        ([{"age": "old"}], "must be a number"),
        ([{"age": float("nan")}], "must be a number"),
        ([{"state": "divorced"}], "is none of them"),
        ([{"state": {"between": ("a", "b")}}], "list its values"),
        ([{"age": None}], "missing is none"),
        ([{"state": ["single", "married"]}, {"age": {"between": (0, 200)}}], None),
        ([{"born": MOMENT(2020, 1, 1)}], "must be a date"),
    ],
)
def test_combinations_that_are_refused(stated: Any, message: str | None) -> None:
    if message is None:
        assert schema_of_table(table(), columns=KNOWN, impossible=stated).zeros["state",].tolist() == [
            True,
            True,
            False,
        ]
        return
    with pytest.raises(sf.errors.BadArgument) as refused:
        schema_of_table(table(), columns=KNOWN, impossible=stated)
    assert message in str(refused.value)


def test_a_column_that_can_have_no_value_is_refused() -> None:
    with pytest.raises(sf.errors.BadArgument, match="some row is possible"):
        schema_of_table(table(), columns=["children"], impossible=[{"children": {"between": (0, 20)}}])
