"""SQL becomes the nodes it means, or is refused by name: two tables of cases, in the text files beside this one."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from tests.examples.sql import BOOK, catalog, question, shown

from sfumato.codebook import Codebook
from sfumato.errors import BadArgument, QueryRefused, UnboundedColumn
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import PerUnit
from sfumato.query.sql import read_sql


def cases(name: str) -> list[tuple[str, str]]:
    """Reads a table of cases: a line of SQL and, indented, what becomes of it."""
    lines = (Path(__file__).parent / name).read_text().splitlines()
    return [(sql, result.strip()) for sql, result in pairwise(lines) if result.startswith("    ")]


def listed(name: str) -> pytest.MarkDecorator:
    """Gives each case of a table an id of its own."""
    found = cases(name)
    return pytest.mark.parametrize(("sql", "result"), found, ids=[re.sub(r"\W+", " ", sql)[:90] for sql, _ in found])


@listed("sql_readings.txt")
def test_sql_is_read_as_the_nodes_it_means(sql: str, result: str) -> None:
    asked = read_sql(sql, catalog())
    assert shown(asked.question or asked.rows) == result
    assert not asked.explain
    assert (asked.question is None) == result.startswith(
        ("sites", "select(sites", "select(where(sites", "select(left(sites")
    )


@listed("sql_refusals.txt")
def test_what_is_not_known_is_refused_by_name(sql: str, result: str) -> None:
    with pytest.raises(QueryRefused) as caught:
        read_sql(sql, catalog())
    if result.startswith("~ "):
        assert result[2:] in str(caught.value)
    else:
        assert str(caught.value) == result


def test_there_are_enough_cases() -> None:
    assert len(cases("sql_readings.txt")) >= 60
    assert len(cases("sql_refusals.txt")) >= 150


@pytest.mark.parametrize(
    "columns", ["*", "age", "user_id, age", "v.*", "age + 1", "site, COUNT(*)", "CONCAT(note, site)"]
)
@pytest.mark.parametrize("where", ["", " WHERE age > 18", " WHERE site = 'a' AND first"])
def test_A1_156_rows_of_private_tables_are_refused(columns: str, where: str) -> None:
    with pytest.raises(QueryRefused, match="would show rows"):
        read_sql(f"SELECT {columns} FROM visits v{where}", catalog())


@pytest.mark.parametrize("columns", ["*", "user_id"])
def test_A3_103_rows_and_ids_are_refused_and_public_rows_are_not(columns: str) -> None:
    with pytest.raises(QueryRefused, match=r"COUNT\(DISTINCT user_id\)"):
        read_sql(f"SELECT {columns} FROM visits", catalog())
    rows = read_sql("SELECT * FROM sites", catalog()).rows
    assert rows is not None
    assert not rows.private


def test_A1_157_a_sum_without_bounds_carries_none_and_is_refused_within_a_unit() -> None:
    (statistic,) = question("SELECT SUM(weight) FROM visits").statistics
    assert statistic.operands[0].facts.between is None
    with pytest.raises(UnboundedColumn, match="sum"):
        question("SELECT AVG(w) FROM (SELECT user_id, SUM(weight) AS w FROM visits GROUP BY user_id)")


def test_facts_follow_expressions() -> None:
    made = question("SELECT SUM(CLAMP(weight, -1, 2.5) * 2), SUM(age - 20) FROM visits")
    first, second = (statistic.operands[0].facts for statistic in made.statistics)
    assert first.numbers == (-2, 5)
    assert second.numbers == (-20, 100)


def test_a_new_column_of_an_old_name_has_facts_of_its_own() -> None:
    made = question("SELECT SUM(age) FROM (SELECT weight AS age FROM visits)")
    assert made.statistics[0].operands[0].facts.between is None


def test_columns_may_be_missing_after_a_left_join_and_no_longer_say_whose_rows_are() -> None:
    made = question(
        "SELECT COUNT(a.plan), COUNT(DISTINCT a.user_id) FROM visits v LEFT JOIN accounts a USING (user_id)"
    )
    plan, who = (statistic.operands[0] for statistic in made.statistics)
    assert isinstance(plan, Column)
    assert isinstance(who, Column)
    assert plan.facts.nullable
    assert who.unit is None


def test_keys_of_totals_may_be_missing() -> None:
    made = question("SELECT site, first, COUNT(*) FROM visits GROUP BY site, ROLLUP (first)")
    assert [column.facts.nullable for _, column in made.columns] == [False, True, True]


def test_sums_within_a_unit_are_added_up_on_a_grid() -> None:
    made = question(
        "SELECT AVG(s), AVG(n) FROM (SELECT user_id, SUM(minutes) s, SUM(age) n FROM visits GROUP BY user_id)"
    )
    assert isinstance(made.source, PerUnit)
    floats, wholes = (folded.grid for folded in made.source.folds)
    assert floats is not None
    assert (floats.low, floats.high, floats.centre) == (0.0, 90.0, 0.0)
    assert wholes is not None
    assert (wholes.low, wholes.high, wholes.exponent) == (0, 120, 0)
    assert [column.kind for column in made.source.fields] == [Kind.TEXT, Kind.FLOAT, Kind.INT]


def test_shares_are_read_exactly() -> None:
    made = question("SELECT QUANTILE(age, [0.1, 1e-1, 0.30]) FROM visits")
    assert [one.at for one in made.statistics] == [Fraction(1, 10), Fraction(3, 10)]  # type: ignore[attr-defined]


def test_one_statistic_that_is_asked_for_twice_is_one() -> None:
    made = question("SELECT site, SUM(age), SUM(age) / COUNT(*) FROM visits GROUP BY site ORDER BY COUNT(*)")
    assert len(made.statistics) == 2


def windowed() -> Catalog:
    """Gives the tables where the unit is one visitor in one month."""
    window = {"column": "day", "every": "month", "reason": "made up"}
    tables = {"visits": BOOK["tables"]["visits"]}  # type: ignore[index]
    return Catalog(
        Codebook.read({**BOOK, "unit": {"protects": "a month", "id": "user_id", "window": window}, "tables": tables})
    )


def test_sums_within_a_unit_of_one_month_are_by_month() -> None:
    inner = "SELECT AVG(n) FROM (SELECT user_id, {} AS t, COUNT(*) AS n FROM visits GROUP BY user_id, t)"
    made = read_sql(inner.format("DATE_TRUNC('month', day)"), windowed()).question
    assert (
        shown(made)
        == "perunit(visits[user_id day], user_id, t=date_trunc(day, 'month'), n=count()) | give avg_n=MEAN(n)"
    )
    for other in ("site", "DATE_TRUNC('year', day)", "DATE_TRUNC('month', began)"):
        with pytest.raises(QueryRefused, match=r"Add DATE_TRUNC\('month', day\) to the inner GROUP BY"):
            read_sql(inner.format(other), windowed())


def test_ids_that_are_counted_where_the_unit_is_a_month_are_values() -> None:
    made = read_sql("SELECT COUNT(DISTINCT user_id) FROM visits", windowed()).question
    assert shown(made) == "visits[user_id] | give count_user_id=COUNT_DISTINCT(user_id)"


def test_rows_that_are_units_have_nothing_to_sum_up() -> None:
    book = Codebook.read({**BOOK, "unit": {"protects": "a visit"}, "tables": {"visits": BOOK["tables"]["visits"]}})  # type: ignore[index]
    text = "SELECT AVG(n) AS a FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id)"
    worked = read_sql(text, Catalog(book)).worked  # nobody has several rows: the sums are over several units
    assert worked is not None and worked.text == "SELECT AVG(n) AS a FROM answer"


@pytest.mark.parametrize("given", [None, 3, b"SELECT 1", ["SELECT 1"]])
def test_what_is_no_text_is_refused(given: object) -> None:
    with pytest.raises(BadArgument, match="the question must be a text"):
        read_sql(given, catalog())  # type: ignore[arg-type]


def test_positions_count_lines() -> None:
    with pytest.raises(QueryRefused, match=r"line 3, column 8: did not expect 'b'"):
        read_sql("SELECT -- a comment\nCOUNT(*)\n  AS a b\nFROM visits", catalog())


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 40_000 + "1" + ")" * 40_000 + " FROM visits",
        "SELECT COUNT(*) FROM visits WHERE age = " + "1 + " * 20_000 + "1",
        "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 3_000 + "visits" + ")" * 3_000,
        "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 20_000 + "first",
    ],
    ids=["brackets", "sum", "tables", "not"],
)
def test_deep_texts_are_refused(text: str) -> None:
    with pytest.raises(QueryRefused, match="nested too deeply"):
        read_sql(text, catalog())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "WITH w0 AS (SELECT age FROM visits), "
            + ", ".join(f"w{n} AS (SELECT * FROM w{n - 1} UNION ALL SELECT * FROM w{n - 1})" for n in range(1, 40))
            + " SELECT COUNT(*) FROM w39",
            "more than 64 times",
        ),
        ("SELECT SUM(" + "POWER(" * 20 + "age" + ", 4)" * 20 + ") FROM visits", "so large an expression"),
        ("SELECT COUNT(*) FROM visits WHERE " + "(" * 40 + "first" + " BETWEEN TRUE AND FALSE)" * 40, "so large an"),
        ("SELECT " + "SUM(age), " * 2_000 + "1 FROM visits", "2001 columns; at most 1000"),
        ("SELECT COUNT(*) FROM visits GROUP BY ROLLUP (" + "age, " * 100 + "site)", "101 keys is refused"),
        ("SELECT COUNT(*) FROM visits GROUP BY " + ", ".join(["ROLLUP (age, site)"] * 9), "19683 grouping sets"),
        ("SELECT COUNT(*) FROM visits" + " " * 100_000, "100027 characters; at most 100000"),
        (f"SELECT COUNT(*) FROM visits WHERE note = '{'a' * 1001}'", "a text has 1001 characters"),
    ],
    ids=["doubling", "power", "between", "columns", "keys", "sets", "length", "literal"],
)
def test_small_texts_cannot_ask_for_huge_work(text: str, why: str) -> None:
    with pytest.raises(QueryRefused, match=re.escape(why)):
        read_sql(text, catalog())
