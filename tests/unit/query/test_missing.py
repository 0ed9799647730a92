"""Missing values are the default of every column; a codebook that says "never" and is wrong makes no number up."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.query.opened import MUCH, ready, session_of

import sfumato as sf
from sfumato.errors import BadCodebook
from sfumato.session.session import Session

SAID = {"source": "a test"}
HALF = [90.0, None] * 50
"""Half of the values are missing; the middle of the bounds is 50."""


def book(*, unit: dict[str, Any] | None = None, **x: Any) -> dict[str, Any]:
    number = {"type": "float", "between": [0, 100], **SAID, **x}
    columns = {"u": {"type": "int"}, "x": number, "y": number, "k": {"categories": ["a", "b"], **SAID, **x}}
    table = {"columns": columns, "contributions": {"rows": 1, **SAID}}
    return {"codebook": 1, "title": "Gaps", "unit": unit or {"protects": "a row"}, "tables": {"t": table}}


def session(**x: Any) -> Session:
    data = {"u": list(range(100)), "x": HALF, "y": [10.0] * 25 + [None] * 75, "k": ["a", None] * 50}
    return session_of(sf.Dataset(pa.table(data), codebook=sf.Codebook.read(book(**x))))


STATED: tuple[dict[str, Any], ...] = ({}, {"nullable": True}, {"nullable": False})
PEOPLE = {"unit": {"protects": "a person", "id": "u"}}


@pytest.mark.parametrize("more", [{}, PEOPLE], ids=["rows", "people"])
@pytest.mark.parametrize("stated", STATED, ids=["unsaid", "true", "false"])
def test_no_number_is_made_up_for_a_missing_one(stated: dict[str, Any], more: dict[str, Any]) -> None:
    asked = session(**stated, **more)
    text = "SELECT AVG(x) AS mean, SUM(x) AS sum, COUNT(x) AS n, STDDEV_POP(x) AS spread FROM t"
    found = asked.sql(text, loss=MUCH).value
    assert found["mean"].values[0] == pytest.approx(90, abs=1e-3)
    assert found["sum"].values[0] == pytest.approx(4500, abs=1e-1)
    assert found["n"].values[0] == 50
    assert found["spread"].values[0] == pytest.approx(0, abs=1e-1)


@pytest.mark.parametrize("stated", STATED, ids=["unsaid", "true", "false"])
def test_a_sum_is_the_same_whatever_stands_beside_it(stated: dict[str, Any]) -> None:
    for beside in ("", ", COUNT(*) AS n", ", COUNT(x) AS n", ", AVG(x) AS m", ", COUNT(*) AS n, AVG(x) AS m"):
        found = session(**stated).sql(f"SELECT SUM(x) AS sum{beside} FROM t", loss=MUCH).value
        assert found["sum"].values[0] == pytest.approx(4500, abs=1e-1), beside


def test_rows_without_what_all_rows_are_said_to_have_are_left_out_of_everything() -> None:
    """Both columns are said to be never missing, so one count serves for both: of the rows that have both."""
    found = session(nullable=False).sql("SELECT SUM(x) AS x, SUM(y) AS y, COUNT(*) AS n FROM t", loss=MUCH).value
    assert found["n"].values[0] == 13
    assert (round(found["x"].values[0]), round(found["y"].values[0])) == (13 * 90, 13 * 10)


@pytest.mark.parametrize("stated", STATED, ids=["unsaid", "true", "false"])
def test_correlations_are_of_rows_that_have_both(stated: dict[str, Any]) -> None:
    found = session(**stated).sql("SELECT COVAR_POP(x, y) AS c FROM t", loss=MUCH).value
    assert found["c"].values[0] == pytest.approx(0, abs=1)


def test_missing_keys_are_a_group_unless_a_fact_says_that_there_are_none() -> None:
    text = "SELECT k, COUNT(*) AS n FROM t GROUP BY k"
    told = session().sql(text, loss=MUCH).value
    assert dict(zip(told["k"].values, told["n"].values, strict=True)) == {None: 50, "a": 50, "b": 0}
    told = session(nullable=False).sql(text, loss=MUCH).value
    assert dict(zip(told["k"].values, told["n"].values, strict=True)) == {"a": 50, "b": 0}


def sources(table: pa.Table, folder: Path) -> dict[str, Any]:
    """Gives a table in every kind of source."""
    import duckdb
    import polars as pl

    frame = table.to_pandas()
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_json(folder / "t.jsonl", orient="records", lines=True, date_format="iso")
    pq.write_table(table, folder / "t.parquet")
    with duckdb.connect(folder / "t.duckdb") as base:
        base.register("given", table)
        base.execute("CREATE TABLE t AS SELECT * FROM given")
    files = {name: folder / name for name in ("t.csv", "t.jsonl", "t.parquet", "t.duckdb")}
    nullable = {"pandas": frame, "pandas, nullable": frame.convert_dtypes()}
    return {**files, **nullable, "polars": pl.from_arrow(table), "arrow": table}


def test_missing_values_are_the_same_in_every_source(tmp_path: Path) -> None:
    """Plain SQL on the table says what is right: NaN and NULL, empty fields and missing entries are all missing."""
    import duckdb

    texts = ["a", "b", None, "a", None, "b", "b"] * 10
    held = {
        "k": pa.array(texts).dictionary_encode(),
        "x": pa.array([1.5, None, 2.5, None, 4.0, 0.0, -1.0] * 10),
        "n": pa.array([1, 2, None, 4, 5, None, 7] * 10),
        "b": pa.array([True, None, False, None, True, True, False] * 10),
        "d": pa.array([datetime.datetime(2024, 1, 1, 9), None] * 35),
    }
    number = {"between": [-10, 10], **SAID}
    columns = {
        "k": {"categories": ["a", "b"], **SAID},
        "x": {"type": "float", **number},
        "n": {"type": "int", **number},
        "b": {"type": "bool"},
        "d": {"type": "time"},
    }
    facts = {**book(), "tables": {"t": {"columns": columns, "contributions": {"rows": 1, **SAID}}}}
    text = (
        "SELECT k, COUNT(*) AS rows, COUNT(x) AS x, SUM(x) AS xs, COUNT(n) AS n, COUNT(d) AS d, "
        "COUNT(*) FILTER (WHERE NOT b) AS no, SUM(x * n) AS both FROM t GROUP BY k"
    )
    t = pa.table(held)  # noqa: F841, which DuckDB finds by its name
    right = sorted(duckdb.sql(text).fetchall(), key=str)
    for name, source in sources(pa.table(held), tmp_path).items():
        found = session_of(sf.Dataset(source, codebook=facts, name="t")).sql(text, loss=MUCH).value
        told = sorted(zip(*(column.values for column in found.columns), strict=True), key=str)
        assert [row[0] for row in told] == [row[0] for row in right], name
        assert [row[1:] for row in told] == [pytest.approx(row[1:], abs=1e-2) for row in right], name


def test_never_missing_is_a_fact_with_a_source() -> None:
    with pytest.raises(BadCodebook, match="source is missing: say where that it is never missing is known from"):
        sf.Codebook.read({**book(), "tables": {"t": {"columns": {"u": {"type": "int", "nullable": False}}}}})
    stated = sf.Codebook.read(book(nullable=False))
    facts = {fact.what: fact.source for fact in stated.facts()}
    assert facts["t.x is never missing"] == "a test"
    assert "t.u is never missing" not in facts
    assert sf.Codebook.read(stated.to_plain()) == stated
    assert len({sf.Codebook.read(book(**said)).digest for said in STATED}) == 3
    release = session(nullable=False).sql("SELECT AVG(x) AS m FROM t", loss=sf.Pure(1))
    assert "t.x is never missing" in {fact.what for fact in release.facts}


def test_one_count_serves_for_columns_that_are_never_missing() -> None:
    text = "SELECT COUNT(*) AS n, AVG(x) AS a, AVG(y) AS b FROM t"
    assert len(ready(session(nullable=False), text, loss=sf.Pure(1)).levels[0].tallies) == 3
    assert len(ready(session(), text, loss=sf.Pure(1)).levels[0].tallies) == 5


def test_in_memory_a_column_has_missing_values_only_where_it_says_so() -> None:
    atoms = [sf.Codebook.read(book(**said)).table("t")["x"].atom for said in STATED]
    assert [atom.nan for atom in atoms if isinstance(atom, sf.Floats)] == [False, True, False]
