"""What is one number is bought once: across statistics, spellings of conditions, and counts that bounds make equal."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.interpreter import ByValue, Reference

import sfumato as sf
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.expressions import Column, Expression, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Owner, Scan
from sfumato.query.plan.compile import compile_question
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Bound, Cells, Distinct, ExactAggregate, Rows, Term, Total, Units
from sfumato.query.plan.grids import float_grid, whole_grid
from sfumato.query.sql import read_sql
from sfumato.session.open_data import open_tables

pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")

MUCH = sf.Approx(10**7, "1e-9")
X = {"type": "float", "between": [0, 10], "source": "s", "nullable": False}
Y = {"type": "int", "between": [0, 100], "source": "s", "nullable": False}
WIDE = {"type": "int", "between": [0, 2**21], "source": "s", "nullable": False}
KEY = {"type": "str", "nullable": False, "source": "s"}
TIME = {"type": "date", "between": ["2026-01-01", "2026-12-31"], "source": "the year"}


def planned(data: Any, columns: dict[str, Any], text: str, **said: Any) -> tuple[CompiledQuery, Any]:
    """Gives a question as it is planned, and the data that it is asked of."""
    unit = said.pop("unit", {"protects": "a person", "id": "u"})
    table = {"columns": {"u": {"type": "int"}, **columns}, **said.pop("table", {})}
    book = {"codebook": 1, "title": "t", "unit": unit, "tables": {"t": table}}
    opened, held = open_tables(pa.table(data), sf.Codebook.read(book))
    asked = read_sql(text, opened.catalog).question
    assert asked is not None
    said.setdefault("loss", sf.Approx(1, "1e-6"))
    return compile_question(asked, Settings.read(**said), opened, limit=sf.Approx), held


def bought(plan: CompiledQuery) -> list[ExactAggregate]:
    return [tally for level in plan.levels for tally in level.tallies]


EMPTY = {"u": pa.array([], pa.int64()), "x": pa.array([], pa.float64()), "y": pa.array([], pa.int64())}


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ("AVG(x), VARIANCE(x), STDDEV(x), SUM(x), COUNT(*)", 3),
        ("AVG(y), VAR_POP(y), STDDEV(y), SUM(y), COUNT(y)", 3),
        ("CORR(x, y), COVAR_POP(y, x), STDDEV(x), VARIANCE(y), AVG(x), AVG(y), COUNT(*)", 6),
        ("CORR(x, y), CORR(y, x)", 6),
        ("AVG(x) FILTER (WHERE x > 1 AND y > 2), VARIANCE(x) FILTER (WHERE y > 2 AND x > 1)", 3),
    ],
)
@pytest.mark.parametrize("cut", [{"table": {"contributions": {"rows": 1, "source": "s"}}}, {"max_rows_per_group": 3}])
def test_each_sum_is_bought_once(asked: str, numbers: int, cut: dict[str, Any]) -> None:
    plan, _ = planned(EMPTY, {"x": X, "y": Y}, f"SELECT {asked} FROM t", **cut)
    assert len(bought(plan)) == numbers


def test_sums_of_large_whole_numbers_too_though_their_squares_have_another_centre() -> None:
    values = [5, 2**21, 2**20 + 1, 77]
    data = {"u": [1, 2, 3, 4], "x": values}
    columns = {"x": WIDE | {"between": [0, 2**21 + 1]}}
    said: dict[str, Any] = {"table": {"contributions": {"rows": 1, "source": "s"}}, "loss": MUCH}
    plan, _ = planned(data, columns, "SELECT AVG(x), VAR_POP(x) FROM t", **said)
    assert len(bought(plan)) == 3
    session = sf.Dataset(
        pa.table(data),
        codebook={
            "codebook": 1,
            "title": "t",
            "unit": {"protects": "a person", "id": "u"},
            "tables": {"t": {"columns": {"u": {"type": "int"}, **columns}, **said["table"]}},
        },
    ).session(limit=MUCH, ledger="memory:")
    release = session.sql("SELECT AVG(x) AS a, VAR_POP(x) AS v FROM t", loss=MUCH)
    mean = sum(values) / 4
    assert release.value["a"].values[0] == pytest.approx(mean)
    assert release.value["v"].values[0] == pytest.approx(sum((x - mean) ** 2 for x in values) / 4, rel=1e-4)


def test_what_may_be_missing_is_shared_only_where_the_rows_are_the_same() -> None:
    """CORR looks at rows that have both numbers, AVG at those that have its own."""
    some = {"x": X | {"nullable": True}, "y": Y | {"nullable": True}}
    d_in, _ = planned(EMPTY, some, "SELECT CORR(x, y), AVG(x), AVG(y) FROM t", max_rows_per_group=1)
    assert len(bought(d_in)) == 6 + 4
    # y is always there, so that all rows with x have both.
    half, _ = planned(EMPTY, {**some, "y": Y}, "SELECT CORR(x, y), STDDEV(x) FROM t", max_rows_per_group=1)
    assert len(bought(half)) == 6


COLUMNS = (
    Column("a", Kind.INT, Facts(nullable=True)),
    Column("b", Kind.INT, Facts(nullable=True)),
)
TERMS = [(of, grid) for of in COLUMNS for grid in (whole_grid((0, 4), centred=True, bits=8),)]


def conditions() -> st.SearchStrategy[Expression | None]:
    there = [call("not", call("is_null", of)) for of in COLUMNS]
    plain = [call("gt", of, Literal(1, Kind.INT)) for of in COLUMNS]
    one = st.sampled_from([*there, *plain])
    return st.none() | one | st.lists(one, min_size=2, max_size=3).map(lambda all_of: call("and", *all_of))


def tallies() -> st.SearchStrategy[ExactAggregate]:
    term = st.sampled_from([Term(*one) for one in TERMS])
    floats = st.sampled_from([Term(call("to_float", of), float_grid((0, 4), centred=False, bits=4)) for of in COLUMNS])
    return st.one_of(
        st.builds(Rows, st.none() | st.sampled_from(COLUMNS), conditions()),
        st.builds(Total, st.lists(term | floats, min_size=1, max_size=2).map(tuple), conditions()),
        st.builds(Units, conditions()),
        st.builds(Distinct, st.sampled_from(COLUMNS), conditions()),
    )


values = st.none() | st.integers(0, 4)
rows = st.lists(st.fixed_dictionaries({"u": st.integers(0, 2), "a": values, "b": values}), max_size=6)


@given(st.lists(tallies(), min_size=2, max_size=8), rows, st.sampled_from([None, 1, 2]))
def test_what_means_the_same_is_the_same_number_in_every_table(
    found: list[ExactAggregate], table: list[dict[str, Any]], most: int | None
) -> None:
    from sfumato.query.plan.sharing import meaning

    scan = Scan("t", (Column("u", Kind.INT, unit=0), *COLUMNS), Owner("u"))
    cells = Cells(scan, (), tuple(found), Bound(rows=most))
    numbers = Reference({"t": table}, ByValue()).cells(cells)[(), ()]
    known: dict[Any, int] = {}
    for tally, number in zip(found, numbers, strict=True):
        assert known.setdefault(meaning(tally), number) == number


ONE_ROW = {"contributions": {"rows": 1, "source": "s"}}
KEYED = {"u": pa.array([], pa.int64()), "k": pa.array([], pa.string()), "x": pa.array([], pa.float64())}


@pytest.mark.parametrize("bound", [{"table": ONE_ROW}, {"max_rows_per_group": 1, "max_groups": 1}])
def test_rows_are_units_where_nobody_has_two_in_a_group(bound: dict[str, Any]) -> None:
    """Keys are then chosen by the very count that is asked for, which gets all of the loss."""
    said = {"loss": sf.Approx(1, "1e-6"), **bound}
    rows, _ = planned(KEYED, {"k": KEY, "x": X}, "SELECT k, COUNT(*) AS n FROM t GROUP BY k", **said)
    units, _ = planned(KEYED, {"k": KEY, "x": X}, "SELECT k, COUNT(DISTINCT u) AS n FROM t GROUP BY k", **said)
    assert bought(rows) == [] == bought(units)
    assert rows.pricing.selections == units.pricing.selections
    assert rows.pricing.selections[0].noise.least_shown == 14
    both, _ = planned(
        KEYED, {"k": KEY, "x": X}, "SELECT k, COUNT(*), COUNT(DISTINCT u), AVG(x) FROM t GROUP BY k", **said
    )
    assert len(bought(both)) == 1  # the sum


def test_rows_are_units_with_public_keys_too() -> None:
    plan, _ = planned(
        KEYED, {"k": KEY, "x": X}, "SELECT COUNT(*) AS n, COUNT(DISTINCT u) AS m FROM t", max_rows_per_group=1
    )
    assert len(bought(plan)) == 1
    some = "COUNT(*) FILTER (WHERE x > 1), COUNT(DISTINCT u) FILTER (WHERE x > 1)"
    facts, _ = planned(KEYED, {"k": KEY, "x": X}, f"SELECT {some} FROM t", table=ONE_ROW)
    assert len(bought(facts)) == 1
    # Of a person with several rows, those for which a condition is true may count as less than one.
    cut, _ = planned(KEYED, {"k": KEY, "x": X}, f"SELECT {some} FROM t", max_rows_per_group=1)
    assert len(bought(cut)) == 2
    several, _ = planned(KEYED, {"k": KEY, "x": X}, "SELECT COUNT(*), COUNT(DISTINCT u) FROM t", max_rows_per_group=2)
    assert len(bought(several)) == 2


def test_how_near_both_must_come_is_kept_by_the_one_number() -> None:
    accuracy = {"n": (50, 0.95), "m": (5, 0.95)}
    plan, _ = planned(
        KEYED,
        {"k": KEY, "x": X},
        "SELECT COUNT(*) AS n, COUNT(DISTINCT u) AS m FROM t",
        max_rows_per_group=1,
        loss=None,
        accuracy=accuracy,
    )
    (noise,) = plan.noises[0].values()
    assert noise.noise.half_width(Fraction("0.95")) <= 5


MONTH = {"protects": "a person in a month", "id": "u", "window": {"column": "d", "every": "month"}}


def test_a_person_in_a_month_is_one_different_person_at_most() -> None:
    """However many rows there are; so none need be cut."""
    data = {"u": pa.array([], pa.int64()), "d": pa.array([], pa.date32()), "k": pa.array([], pa.string())}
    asked = "SELECT k, COUNT(DISTINCT u) AS n FROM t GROUP BY k"
    plan, _ = planned(data, {"d": TIME, "k": KEY}, asked, unit=MONTH, max_groups=3)
    level = plan.levels[0]
    (tally,) = (one for one in level.cells.tallies if isinstance(one, Distinct))
    assert level.influence(tally).l1 == 3
    assert level.placed.bound == Bound(3, None)
    beside, _ = planned(
        data,
        {"d": TIME, "k": KEY},
        asked.replace("AS n", "AS n, COUNT(*)"),
        unit=MONTH,
        max_groups=3,
        max_rows_per_group=20,
    )
    assert [beside.levels[0].influence(one).l1 for one in beside.levels[0].tallies] == [3, 60]


def test_different_values_are_no_more_than_the_facts_allow() -> None:
    """Who is in at most two groups by site has at most two sites, in whichever groups."""
    table = {"contributions": {"groups": {"k": 2}, "source": "s"}}
    said: dict[str, Any] = {"table": table, "max_rows_per_group": 9}
    plan, _ = planned(KEYED, {"k": KEY, "x": X}, "SELECT COUNT(DISTINCT k) FROM t", **said)
    assert [plan.levels[0].influence(one).l1 for one in plan.levels[0].tallies] == [2]
    mixed, _ = planned(KEYED, {"k": KEY, "x": X}, "SELECT COUNT(DISTINCT CONCAT(k, 'a')) FROM t", **said)
    assert [mixed.levels[0].influence(one).l1 for one in mixed.levels[0].tallies] == [2]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from("ab")), max_size=7),
    st.integers(0, 2),
    st.integers(1, 3),
)
def test_adding_a_person_in_a_month_adds_one_at_most_to_each_of_its_groups(
    others: list[tuple[int, int, str]], who: int, month: int
) -> None:
    """The unit's rows may be any: here, several in both groups. The move is never above what is claimed."""

    def table(rows: list[tuple[int, int, str]]) -> list[dict[str, Any]]:
        return [{"u": u, "d": datetime.date(2026, m, 3), "k": k} for u, m, k in rows]

    rest = [row for row in others if (row[0], row[1]) != (who, month)]
    mine = [(who, month, k) for k in "aabbb"]
    columns = (Column("u", Kind.INT, unit=0), Column("d", Kind.DATE), Column("k", Kind.TEXT))
    scan = Scan("t", columns, Owner("u", window=("d", "month")))
    cells = Cells(scan, (columns[2],), (Distinct(columns[0]),), Bound(groups=2))
    before, after = (Reference({"t": table(one)}, ByValue()).cells(cells) for one in (rest, [*rest, *mine]))
    moved = [abs(after.get(key, (0,))[0] - before.get(key, (0,))[0]) for key in {*before, *after}]
    assert max(moved, default=0) <= 1
    assert sum(moved) <= 2
    assert rest or sum(moved) == 2  # and that is reached


def test_ids_that_tables_read_in_different_ways_are_several_values_of_one_person() -> None:
    """Bounds are a table's own: 9 is 9 in one table and 5 in the other. One person moves the count by both."""
    few, many = ({"type": "int", "between": [0, most], "source": "s"} for most in (5, 10))
    tables = {name: {"columns": {"u": column}} for name, column in (("low", few), ("high", many))}
    book = {"codebook": 1, "title": "t", "unit": {"protects": "a person", "id": "u"}, "tables": tables}
    union = "(SELECT u FROM low UNION ALL SELECT u FROM high)"

    def held(*ids: int) -> tuple[Any, Any]:
        return open_tables({name: pa.table({"u": list(ids)}) for name in tables}, sf.Codebook.read(book))

    def plan(source: str) -> CompiledQuery:
        question = read_sql(f"SELECT COUNT(DISTINCT u % 7) AS n FROM {source}", held(1)[0].catalog, ()).question
        assert question is not None
        return compile_question(
            question, Settings.read(loss=sf.Pure(1), max_rows_per_group=3), held(1)[0], limit=sf.Pure
        )

    (level,) = plan(union).levels
    less, more = (int(held(*ids)[1].engine.run(level.cells).numbers[0][0]) for ids in ((1,), (1, 9)))
    assert more - less == 2
    assert level.influence(level.tallies[0]).l1 >= 2
    (alone,) = plan("high").levels
    assert alone.influence(alone.tallies[0]).l1 == 1
