"""What reviewers broke, each as the smallest program that shows it: the numbers before noise, or a refusal."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import BadArgument, BadCodebook, QueryRefused
from sfumato.query.build.settings import Settings
from sfumato.query.engines.duckdb.dialect import DUCKDB
from sfumato.query.engines.sizes import largest
from sfumato.query.engines.sql.expressions import value
from sfumato.query.engines.sql.statement import Scope, Statement
from sfumato.query.nodes.expressions import Column, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.plan.compile import compile_question
from sfumato.query.plan.engine_plan import Rows, Total
from sfumato.query.sql import read_sql
from sfumato.session.open_data import open_tables

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")

Book = dict[str, Any]


def book(columns: Book, *, unit: Book | None = None, **table: Any) -> Book:
    protects = unit or {"protects": "a person", "id": "u"}
    return {"codebook": 1, "title": "t", "unit": protects, "tables": {"t": {"columns": columns, **table}}}


def numbers(data: Any, codebook: Book, text: str, **settings: Any) -> tuple[list[np.ndarray[Any, Any]], Any]:
    """Gives the whole numbers of the first level of a question before noise, and the level."""
    opened, held = open_tables(data, sf.Codebook.read(codebook))
    asked = read_sql(text, opened.catalog).question
    assert asked is not None
    ready = compile_question(asked, Settings.read(loss=sf.Approx(1, "1e-6"), **settings), opened, limit=sf.Approx)
    level = ready.levels[0]
    return list(held.engine.run(level.cells).numbers), level


def test_ids_through_other_tables_have_no_window() -> None:
    """The row of a key is in one window, and would decide over rows in all others."""
    date = {"type": "date", "between": ["2026-01-01", "2026-12-31"], "source": "the year"}
    codebook = {
        "codebook": 1,
        "title": "t",
        "unit": {"protects": "a person in a month", "id": "u", "window": {"column": "d", "every": "month"}},
        "tables": {
            "accounts": {"key": ["a"], "columns": {"a": {"type": "int"}, "u": {"type": "int"}, "d": date}},
            "orders": {"id": {"through": "a", "of": "accounts"}, "columns": {"a": {"type": "int"}, "d": date}},
        },
    }
    none = pa.table({"a": pa.array([], pa.int64()), "u": pa.array([], pa.int64()), "d": pa.array([], pa.date32())})
    with pytest.raises(QueryRefused, match=r"^orders reaches its ids through other tables, and the unit is one id"):
        sf.Dataset({"accounts": none, "orders": none.drop_columns("u")}, codebook=codebook, name="x")


def test_ids_are_of_one_kind_in_all_tables() -> None:
    """A float beside a whole number is compared as a float, and 64-bit ids collide there."""
    codebook = book({"u": {"type": "int"}})
    codebook["tables"]["s"] = {"columns": {"u": {"type": "float"}}}
    empty = pa.table({"u": pa.array([], pa.int64())})
    with pytest.raises(QueryRefused, match=r"^ids must be of one kind in all tables.*int in t, float in s\.$"):
        sf.Dataset({"t": empty, "s": empty}, codebook=codebook, name="x")


def test_rows_in_each_group_are_held_by_cutting_for_reading_may_merge_keys() -> None:
    hours = {"u": {"type": "int"}, "hour": {"type": "int", "between": [0, 23], "source": "a day"}}
    facts = {"contributions": {"rows_each": {"hour": 1}, "source": "a clock"}}
    data = pa.table({"u": [1] * 20, "hour": list(range(100, 120))})  # all of them are read as 23
    found, level = numbers(data, book(hours, **facts), "SELECT hour, COUNT(*) FROM t GROUP BY hour", max_groups=1)
    assert max(found[0]) == 1 == level.influence(Rows()).l1


def test_views_are_no_tables(tmp_path: Path) -> None:
    """A view may mix the rows of people, or compare their ids by a collation."""
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE base AS SELECT 'ann' AS u")
        connection.execute("CREATE VIEW t AS SELECT u COLLATE NOCASE AS u FROM base")
    with pytest.raises(BadArgument, match="in which t is a table"):
        sf.Dataset(path, codebook=book({"u": {"type": "str"}}))


def test_foreign_keys_of_other_kinds_are_refused() -> None:
    codebook = book({"u": {"type": "int"}, "k": {"categories": [1, 2], "source": "s"}}, key=["k"])
    codebook["tables"]["o"] = {
        "id": {"through": "k", "of": "t"},
        "columns": {"k": {"categories": ["1"], "source": "s"}},
    }
    with pytest.raises(
        BadCodebook, match=r"o\.k is categories \(str\) and refers to t\.k, which is categories \(int\)"
    ):
        sf.Codebook.read(codebook)


def test_totals_of_no_keys_are_nothing() -> None:
    days = {"u": {"type": "int"}, "day": {"type": "int", "between": [0, 9], "source": "s"}}
    data = pa.table({"u": [1] * 10, "day": list(range(10))})
    session = sf.Dataset(data, codebook=book(days)).session(limit=sf.Pure(10**7), ledger="memory:")
    release = session.sql(
        "SELECT day, COUNT(*) AS n FROM t GROUP BY ROLLUP(day)",
        loss=sf.Pure(10**6),
        max_groups=1,
        max_rows_per_group=2,
        keys=sf.KeySet.of(day=[1]) - sf.KeySet.of(day=[1]),
    )
    assert release.value["n"].values.tolist() == [0]  # and not 10: what is in no key adds to no total


def test_a_person_is_no_person_month() -> None:
    date = {"type": "date", "between": ["2026-01-01", "2026-12-31"], "source": "the year"}
    unit = {"protects": "a person in a month", "id": "u", "window": {"column": "d", "every": "month"}}
    empty = pa.table({"u": pa.array([], pa.int64()), "d": pa.array([], pa.date32())})
    with pytest.raises(BadArgument, match="the codebook protects an id in one month only"):
        sf.Dataset(empty, codebook=book({"u": {"type": "int"}, "d": date}, unit=unit), unit=sf.Person("u"))


@pytest.mark.parametrize(
    ("ids", "people"),
    [
        (pa.array([1.1, 1.2, 2.0]), 3),
        (pa.array(["1.1", "1.2", "2", "2.0"]), 3),
        (pa.array(["1x", "", "2", "NA", "1y"]), 3),
    ],
    ids=["floats", "texts", "words"],
)
def test_what_is_no_whole_number_is_somebodys_id_all_the_same(ids: Any, people: int) -> None:
    found, _ = numbers(pa.table({"u": ids}), book({"u": {"type": "int"}}), "SELECT COUNT(DISTINCT u) FROM t")
    assert found[0].tolist() == [people]


def test_sums_of_whole_numbers_are_scaled_finely() -> None:
    """Of a unit with 1 yes in 5 rows, of which one counts, a fifth of a yes is counted, and not none."""
    yes = {"u": {"type": "int"}, "yes": {"type": "int", "between": [0, 1], "source": "a box"}}
    data = pa.table({"u": [person for person in range(100) for _ in range(5)], "yes": [1, 0, 0, 0, 0] * 100})
    session = sf.Dataset(data, codebook=book(yes)).session(limit=sf.Pure(10**9), ledger="memory:")
    sure = {"loss": sf.Pure(10**6), "max_rows_per_group": 1}
    release = session.sql("SELECT AVG(yes) AS a, VAR_POP(yes) AS v FROM t", **sure)
    assert release.value["a"].values[0] == pytest.approx(0.2, abs=0.01)
    assert release.value["v"].values[0] == pytest.approx(0.16, abs=0.01)
    total = session.sql("SELECT SUM(yes) AS s FROM t", **sure).value["s"].values
    assert total.tolist() == [20]
    assert total.dtype == np.int64


def test_intervals_of_variances_allow_for_the_grid() -> None:
    """With next to no noise, what the grid moves is all there is."""
    numbers_ = {"u": {"type": "int"}, "x": {"type": "float", "between": [0, 1], "source": "s"}}
    data = pa.table({"u": list(range(20_000)), "x": [0.1, 0.9] * 10_000})
    session = sf.Dataset(data, codebook=book(numbers_)).session(limit=sf.Pure(10**12), ledger="memory:")
    release = session.sql("SELECT VAR_POP(x) AS v, CORR(x, x) AS c FROM t", loss=sf.Pure(10**9), max_rows_per_group=1)
    v, c = release.value["v"], release.value["c"]
    assert v.low is not None
    assert v.high is not None
    assert v.low[0] <= 0.16 <= v.high[0] < v.low[0] + 1e-5
    assert c.high is not None
    assert c.high[0] == 1


def test_what_has_no_answer_has_bounds_all_the_same() -> None:
    columns = {name: {"type": "float", "between": [0, 1], "source": "s"} for name in ("x", "y")}
    data = pa.table({"u": [1], "x": [0.5], "y": [0.5]})
    session = sf.Dataset(data, codebook=book({"u": {"type": "int"}, **columns})).session(
        limit=sf.Pure(10**9), ledger="memory:"
    )
    found = session.sql("SELECT CORR(x, y) AS c FROM t", loss=sf.Pure("0.001"), max_rows_per_group=1).value["c"]
    assert found.low is not None
    assert found.low[0] == -1  # next to nothing is known, whether or not the noisy numbers have a correlation
    deviation = session.sql("SELECT STDDEV(x) AS s FROM t", loss=sf.Pure("0.001"), max_rows_per_group=1).value["s"]
    assert deviation.high is not None
    assert deviation.high[0] <= 0.7072


def test_rows_in_all_are_cut_before_anything_is_grouped() -> None:
    """Of the rows of a unit, so many are kept wherever they are: by the question, its OPTIONS, or the codebook."""
    sites = {"u": {"type": "int"}, "site": {"type": "int", "between": [0, 3], "source": "s"}}
    data = pa.table({"u": [1] * 12 + [2, 2], "site": [0, 1, 2, 3] * 3 + [0, 0]})
    text = "SELECT site, COUNT(*) AS n, SUM(site) AS s FROM t GROUP BY site"
    for codebook, settings in (
        (book(sites), {"max_rows": 5}),
        (book(sites, contributions={"rows": 5, "by": "truncation", "source": "chosen"}), {}),
    ):
        found, level = numbers(data, codebook, text, **settings)
        assert int(found[0].sum()) == 7
        assert level.influence(Rows()).l1 == 5
        total = next(tally for tally in level.tallies if isinstance(tally, Total))
        assert level.influence(total).l1 == 5 * level.influence(total).most
    clause = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_rows_contributed=5)"
    options = f"SELECT {clause} site, COUNT(*) FROM t GROUP BY site"
    session = sf.Dataset(data, codebook=book(sites)).session(limit=sf.Pure(10), ledger="memory:")
    assert dict(session.sql(options).how.parameters)["rows"] == "Laplace, scale 5"


def test_a_window_is_one_group_of_its_unit_or_two_with_missing_times() -> None:
    date = {"type": "date", "between": ["2026-01-10", "2026-12-31"], "source": "the year"}
    unit = {"protects": "a person in a month", "id": "u", "window": {"column": "d", "every": "month"}}
    days = [datetime.date(2026, month, day) for month in range(1, 13) for day in (1, 15, 28)]
    data = pa.table({"u": [1] * len(days), "d": days})
    codebook = book({"u": {"type": "int"}, "d": date}, unit=unit)
    for word, most in (("month", 2), ("quarter", 2), ("year", 2), ("week", None)):
        text = f"SELECT DATE_TRUNC('{word}', d) AS w, COUNT(*) FROM t GROUP BY w"
        if most is None:
            with pytest.raises(QueryRefused, match="any number of"):
                numbers(data, codebook, text)
            continue
        found, level = numbers(data, codebook, text, max_rows_per_group=3)
        assert level.placed.spread.parts == most
        assert level.placed.bound.groups is None
        # One unit less: one (person, month), whose days are in one window, or read as missing.
        for month in (1, 2, 12):
            kept = [day for day in days if day.month != month]
            fewer, _ = numbers(pa.table({"u": [1] * len(kept), "d": kept}), codebook, text, max_rows_per_group=3)
            assert abs(int(found[0].sum()) - int(fewer[0].sum())) <= level.influence(Rows()).l1


def test_tables_with_a_schema_are_found_by_their_last_name() -> None:
    codebook = book({"u": {"type": "int"}})
    codebook["tables"] = {"PUMS.PUMS": codebook["tables"]["t"]}
    data = {"PUMS.PUMS": pa.table({"u": [1, 2]})}
    session = sf.Dataset(data, codebook=codebook, name="x").session(limit=sf.Pure(10**9), ledger="memory:")
    for name in ("PUMS.PUMS", "pums", '"PUMS.PUMS"'):
        release = session.sql(f"SELECT COUNT(DISTINCT u) FROM {name}", loss=sf.Pure(10**6))
        assert release.value.only() == 2


def test_semicolons_in_the_header_are_what_values_stand_between(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("u;x\n1;2,5\n2;3\n", encoding="utf-8")
    columns = {"u": {"type": "int"}, "x": {"type": "str"}}
    found, _ = numbers(path, book(columns), "SELECT COUNT(DISTINCT u), COUNT(DISTINCT x) FROM t", max_rows_per_group=1)
    assert [int(one[0]) for one in found] == [2, 2]


def test_an_expression_is_not_taken_for_one_that_lay_at_its_place() -> None:
    scope = Scope(Statement(DUCKDB), {"a": "f0", "b": "f1", "c": "f2"})
    made = [value(call("to_float", Column(name, Kind.INT)), scope).text for name in "abc" * 20]
    assert made == ["CAST(f0 AS DOUBLE)", "CAST(f1 AS DOUBLE)", "CAST(f2 AS DOUBLE)"] * 20
    sizes = [largest(Literal(number, Kind.INT), scope) for number in range(60)]
    assert sizes == list(range(60))
