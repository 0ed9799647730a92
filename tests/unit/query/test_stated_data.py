"""Data sets without a codebook of their own, from everything that holds a table."""

from __future__ import annotations

import datetime
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.codebook.stating import STATED
from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.engines.registry import worked_out
from sfumato.query.engines.scratch import Given
from sfumato.query.nodes.kinds import Kind

pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))

COLUMNS: dict[str, list[Any]] = {
    "user_id": [place // 4 for place in range(400)],
    "minutes": [None if place % 10 == 0 else float(place % 60) for place in range(400)],
    "site": [("north", "south")[place % 2] for place in range(400)],
    "day": [datetime.date(2026, 2, 1 + place % 28) for place in range(400)],
}
PRESENT = [minutes for minutes in COLUMNS["minutes"] if minutes is not None]


class Foreign:
    """Is a data frame of a library that nobody knows: it has the interchange protocol alone."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __dataframe__(self, **options: Any) -> Any:
        return self._frame.__dataframe__(**options)


def sources(folder: Path) -> dict[str, Any]:
    frame = pandas.DataFrame(COLUMNS)
    frame.to_csv(folder / "data.csv", index=False)
    with closing(sqlite3.connect(folder / "book.db")) as base, base:
        base.execute("CREATE TABLE data (user_id INTEGER, minutes REAL, site TEXT, day DATE)")
        base.executemany(
            "INSERT INTO data VALUES (?, ?, ?, ?)",
            [[*row[:3], str(row[3])] for row in zip(*COLUMNS.values(), strict=True)],
        )
    return {
        "pandas": frame,
        "Polars": polars.DataFrame(COLUMNS),
        "lazy": polars.DataFrame(COLUMNS).lazy(),
        "Arrow": pyarrow.table(COLUMNS),
        "columns": COLUMNS,
        "rows": frame.to_dict("records"),
        "records": frame.to_records(index=False),
        "interchange": Foreign(pyarrow.table({**COLUMNS, "day": [day.isoformat() for day in COLUMNS["day"]]})),
        "CSV": folder / "data.csv",
        "SQLite": str(folder / "book.db"),
    }


def test_every_table_opens_with_what_is_stated_about_it(tmp_path: Path) -> None:
    for kind, data in sources(tmp_path).items():
        opened = sf.Dataset(
            data,
            unit="user_id",
            between={"minutes": (0, 60), "day": (datetime.date(2026, 2, 1), datetime.date(2026, 2, 28))},
            categories={"site": ["north", "south"]},
        )
        assert opened.unit.protects == "a person", kind
        session = opened.session(epsilon=10**6, ledger="memory:")
        release = session.sql("SELECT COUNT(*) AS n, AVG(minutes) AS m FROM data", epsilon=10**5, max_rows=4)
        assert release.value["n"].values.tolist() == [400], kind
        assert release.value["m"].values[0] == pytest.approx(np.mean(PRESENT), abs=0.1), kind
        days = session.sql(
            "SELECT day, COUNT(*) AS n FROM data GROUP BY day", epsilon=10**5, max_groups=4, max_rows_per_group=1
        )
        assert len(days.value) >= 28 and int(days.value["n"].values.sum()) == 400, kind
        assert all(fact.source == STATED for fact in release.facts), kind


def test_rows_may_be_people(tmp_path: Path) -> None:
    person = sf.Unit("a patient", sf.AddRemove(), bound=1)
    data = sf.Dataset(pandas.DataFrame(COLUMNS), unit=person, between={"minutes": (0, 60)}, name="stays")
    session = data.session(epsilon=10**6, ledger="memory:")
    release = session.sql("SELECT COUNT(*) AS n FROM stays", epsilon=10**5)
    assert (release.value.only(), release.unit) == (400, "a patient")
    assert any("at most 1 row" in str(fact) for fact in release.facts)


def test_a_name_comes_from_the_codebook() -> None:
    book = {
        "codebook": 1,
        "title": "p",
        "unit": {"protects": "a visit"},
        "tables": {
            "t": {
                "contributions": {"rows": 1, "source": "so"},
                "columns": {"x": {"type": "int", "between": [0, 1], "source": "b"}},
            }
        },
    }
    assert sf.Dataset({"x": [0, 1]}, codebook=book).name == "t"


def test_views_of_sqlite_are_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "book.sqlite")) as base, base:
        base.execute("CREATE TABLE t (user_id INTEGER)")
        base.execute("CREATE VIEW data AS SELECT max(user_id) AS user_id FROM t")
    book = sf.Codebook.draft({"user_id": [1]}, unit="user_id", protects="a person")
    with pytest.raises(sf.errors.BadArgument, match="a view may mix the rows of several people"):
        sf.Dataset(tmp_path / "book.sqlite", codebook=book)
    assert "t:" in sf.Codebook.draft(tmp_path / "book.sqlite", unit="user_id")


def test_rows_that_are_none_are_left_out() -> None:
    rows = [None, {"user_id": 1, "x": 5}, {"user_id": 2}]
    session = sf.Dataset(rows, unit="user_id", between={"x": (0, 9)}).session(epsilon=10**6, ledger="memory:")
    release = session.sql("SELECT COUNT(*) AS n, COUNT(x) AS x FROM data", epsilon=10**5, max_rows=1)
    assert release.value.to_dict() == {"n": [2], "x": [1]}


@pytest.mark.parametrize("given", [lambda rows: rows, lambda rows: {"t": rows}], ids=["by themselves", "named"])
def test_keys_of_rows_are_their_own_and_show_nowhere(given: Any) -> None:
    rows: list[dict[str, Any]] = [{"id": 1, "x": 1.0}, {"id": 2, "x": 2.0}]
    plain, told = (
        sf.Dataset(given(each), name="t", unit="id", between={"x": (0, 9)})
        for each in (rows, [*rows, {"id": 3, "illness": 1}])
    )
    assert plain.codebook == told.codebook and "illness" not in str(told)
    session = told.session(epsilon=10**9, ledger="memory:")
    assert float(session.sql("SELECT COUNT(*) FROM t", epsilon=10**8, max_rows=1)) == 3
    assert "illness" not in str(session.sql("DESCRIBE t"))


def test_one_table_may_be_given_under_a_name_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "2026-02.csv").write_text("id,x\n1,2\n2,3\n")
    for given in (tmp_path / "2026-02.csv", {"id": [1, 2], "x": [2, 3]}, pandas.DataFrame({"id": [1, 2], "x": [2, 3]})):
        session = sf.Dataset({"visits": given}, unit="id").session(epsilon=10**9, ledger="memory:")
        assert float(session.sql("SELECT COUNT(DISTINCT id) FROM visits", epsilon=10**8)) == 2
    with pytest.raises(BadArgument, match="columns of arrays, each with a value for every row; got 'dict'"):
        sf.Dataset({"id": [1, 2], "x": {"a": 1}}, unit="id")


def test_a_number_too_large_to_be_worked_with_is_refused_in_our_words() -> None:
    with pytest.raises(QueryRefused, match="does not fit"):
        worked_out("SELECT * FROM t", {"t": [Given("n", Kind.INT, [10**40], wide=True)]})
