"""Numbers of which a row moves one only cost together what one does; and nothing else is taken for such."""

from __future__ import annotations

import datetime
import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples
from tests.reference.interpreter import ByValue, Reference
from tests.reference.planning import catalog_of, planned
from tests.reference.values import evaluate

import sfumato as sf
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.query.nodes.expressions import Column, Expression, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind, Value, kind_of
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Owner, Scan
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Bound, Cells, ExactAggregate, Rows, Term, Total, Units
from sfumato.query.plan.grids import Grid
from sfumato.query.plan.sensitivity import influence
from sfumato.session.open_data import open_tables

LARGE = 2**53
N, F, T, B, D = (
    Column(name, kind, Facts(nullable=True))
    for name, kind in (("i", Kind.INT), ("f", Kind.FLOAT), ("t", Kind.TEXT), ("b", Kind.BOOL), ("d", Kind.DATE))
)
VALUES: dict[str, list[Value]] = {
    "i": [None, 0, 1, 2, LARGE, LARGE + 1],
    "f": [None, -1.0, 0.0, 1.0, 1.5, 2.0, float(LARGE)],
    "t": [None, "a", "b", ""],
    "b": [None, True, False],
    "d": [None, datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)],
}


def literal(value: Value) -> Literal:
    return Literal(value, kind_of(value))


def comparisons() -> st.SearchStrategy[Expression]:
    compare = st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"])
    numbers = st.sampled_from([0, 1, 2, LARGE, LARGE + 1, 0.0, 1.0, 1.5, float(LARGE)])
    sides = st.one_of(
        st.tuples(st.sampled_from([N, F]), numbers.map(literal)),
        st.tuples(st.just(T), st.sampled_from(["a", "b", ""]).map(literal)),
        st.tuples(st.just(D), st.sampled_from([one for one in VALUES["d"] if one is not None]).map(literal)),
        st.tuples(st.just(B), st.booleans().map(literal)),
        st.just((N, F)),
    )
    turned = st.tuples(sides, st.booleans()).map(lambda one: one[0][::-1] if one[1] else one[0])
    whole = st.lists(st.sampled_from([0, 1, 2, LARGE, LARGE + 1]), min_size=1, max_size=3)
    listed = st.tuples(st.sampled_from([N, F]), whole).map(lambda one: call("in", one[0], *map(literal, one[1])))
    missing = st.sampled_from([call("is_null", one) for one in (N, F, T, B, D)])
    return st.one_of(st.tuples(compare, turned).map(lambda one: call(one[0], *one[1])), listed, missing, st.just(B))


def conditions() -> st.SearchStrategy[Expression]:
    return st.recursive(
        comparisons(),
        lambda inner: st.one_of(
            inner.map(lambda one: call("not", one)),
            st.tuples(inner, inner).map(lambda two: call("and", *two)),
            st.tuples(inner, inner).map(lambda two: call("or", *two)),
        ),
        max_leaves=4,
    )


@settings(max_examples=examples(400))
@given(conditions(), conditions())
def test_no_row_meets_two_exclusive_conditions(one: Expression, other: Expression) -> None:
    """All rows are tried, with whole numbers that are the same as floats among them."""
    from sfumato.query.plan.exclusive import exclusive

    if not exclusive(one, other):
        return
    assert exclusive(other, one)
    used = sorted({column.name for condition in (one, other) for column in condition.columns()})
    for values in itertools.product(*(VALUES[name] for name in used)):
        row = dict(zip(used, values, strict=True))
        assert not (evaluate(one, row) is True and evaluate(other, row) is True)


def test_what_pivots_ask_for_is_seen() -> None:
    from sfumato.query.plan.exclusive import exclusive

    a, b = (call("eq", T, literal(value)) for value in "ab")
    low, high = call("lt", F, literal(1.0)), call("ge", F, literal(1))
    pairs = [
        (a, b),
        (a, call("not", a)),
        (a, call("ne", T, literal("a"))),
        (B, call("not", B)),
        (B, call("eq", B, literal(False))),
        (low, high),
        (call("is_null", N), call("not", call("is_null", N))),
        (call("is_null", N), call("eq", N, literal(1))),
        (call("in", N, literal(0), literal(1)), call("in", N, literal(2), literal(LARGE))),
        (call("in", N, literal(0), literal(1)), call("ge", N, literal(2))),
        (call("and", low, a), call("and", a, high)),
        (call("or", a, b), call("is_null", T)),
        (call("and", B, call("or", a, low)), call("and", b, high)),
        (call("lt", D, literal(VALUES["d"][2])), call("ge", D, literal(VALUES["d"][2]))),
    ]
    assert [exclusive(*pair) for pair in pairs] == [True] * len(pairs)
    others = [(a, a), (a, low), (None, a), (low, call("le", F, literal(1))), (a, call("is_null", N))]
    assert [exclusive(*pair) for pair in others] == [False] * len(others)


# One unit in an enumerated world: at most four rows, each of one of two groups, a category and a value.

K, G, X = Column("k", Kind.TEXT), Column("g", Kind.INT), Column("x", Kind.INT)
SCAN = Scan("t", (Column("u", Kind.INT, unit=0), K, G, X), Owner("u"))
TERM = Term(X, Grid(-2, 3, 0))


def pivot() -> tuple[ExactAggregate, ...]:
    return (
        Rows(None, call("eq", K, literal("a")), 4),
        Total((TERM,), call("eq", K, literal("b"))),
        Total((TERM, TERM), call("not", call("in", K, literal("a"), literal("b")))),
    )


def moves(rows: Sequence[tuple[str, int, int]], bound: Bound) -> dict[int, list[int]]:
    """Gives by how much one unit moves each number of each group."""
    others = [{"u": 2, "k": k, "g": g, "x": x} for k, g, x in (("a", 0, 3), ("b", 1, -2))]
    mine = [{"u": 1, "k": k, "g": g, "x": x} for k, g, x in rows]
    cells = Cells(SCAN, (G,), pivot(), bound)
    before, after = (Reference({"t": table}, ByValue()).cells(cells) for table in (others, [*others, *mine]))
    nothing = (0,) * len(pivot())
    return {
        key[0][0]: [b - a for a, b in zip(before.get(key, nothing), after.get(key, nothing), strict=True)]
        for key in {*before, *after}
    }


@pytest.mark.parametrize("most", [1, 2])
def test_all_numbers_of_a_set_move_together_no_further_than_one_of_them(most: int) -> None:
    """Enumerated over all rows that one unit may have, in L1 and L2; and it is reached."""
    from sfumato.query.plan.exclusive import exclusive_sets

    assert exclusive_sets(pivot()) == (pivot(),)
    spread = GroupedDistance(2, math.inf, most)
    each = [influence(tally, spread).most for tally in pivot()]
    furthest = [Fraction(0), Fraction(0)]
    kinds = list(itertools.product("abc", (0, 1), (-2, 3)))
    for many in (1, 2, 3, 4):
        for rows in itertools.combinations_with_replacement(kinds, many):
            if many == 4 and len(set(rows)) > 2:
                continue
            found = moves(rows, Bound(2, most))
            parts = [
                [Fraction(abs(moved), size) for moved, size in zip(one, each, strict=True)] for one in found.values()
            ]
            lengths = sum(map(sum, parts)), sum(part**2 for one in parts for part in one)
            assert lengths[0] <= spread.rows
            assert lengths[1] <= spread.squares
            furthest = [max(pair) for pair in zip(furthest, lengths, strict=True)]
    assert furthest == [spread.rows, spread.squares]


COLUMNS = {
    "u": {"type": "int"},
    "k": {"categories": ["a", "b", "c", "d"], "source": "s"},
    "x": {"type": "float", "between": [-5, 5], "source": "s"},
}
CATALOG = catalog_of(
    {"codebook": 1, "title": "t", "unit": {"protects": "a person", "id": "u"}, "tables": {"t": {"columns": COLUMNS}}}
)


def scales(plan: CompiledQuery) -> list[Fraction]:
    return [Fraction(part.noise.scale) / part.influence.most for part in plan.noises[0].values()]  # type: ignore[attr-defined]


def asked(columns: Sequence[str], **said: Any) -> CompiledQuery:
    said = {"loss": sf.Pure(1), "max_rows_per_group": 3, **said}
    named = ", ".join(f"{column} AS c{place}" for place, column in enumerate(columns))
    return planned(f"SELECT {named} FROM t", CATALOG, **said)


PIVOT = [f"SUM(CASE WHEN k = '{k}' THEN 1 ELSE 0 END)" for k in "abcd"]


@pytest.mark.parametrize(
    "columns",
    [
        PIVOT,
        [f"COUNT(*) FILTER (WHERE k = '{k}')" for k in "abcd"],
        [f"SUM(CASE WHEN k = '{k}' THEN x END)" for k in "abcd"],
        ["SUM(x) FILTER (WHERE x < 0)", "COUNT_IF(x >= 0 AND x < 1)", "SUM(x) FILTER (WHERE x >= 1)"],
        ["COUNT(x)", "COUNT_IF(x IS NULL)"],
    ],
)
def test_a_pivot_costs_what_one_of_its_numbers_does(columns: list[str]) -> None:
    """Every number has the noise that it would have alone; the price is the one that was asked for."""
    plan = asked(columns)
    assert set(scales(plan)) == set(scales(asked(columns[:1])))
    assert plan.pricing.loss(1) == sf.Pure(1)
    assert plan.pricing.loss(2) == sf.Pure(2)
    assert any("a row can count in one only" in why for why in plan.levels[0].placed.why)
    concentrated = asked(columns, loss=sf.ZCDP("0.5"))
    assert concentrated.pricing.loss(1) == sf.ZCDP("0.5")
    assert concentrated.pricing.loss(3) == sf.ZCDP("4.5")


def test_numbers_that_one_row_may_move_share_the_loss() -> None:
    def parts(*columns: str) -> int:
        plan = asked(columns)
        assert plan.pricing.loss(1) == sf.Pure(1)
        return len(plan.pricing.parts)

    assert parts("COUNT(*)", *PIVOT) == 2
    assert parts(*PIVOT, "COUNT_IF(x > 0)") == 2
    assert parts("COUNT_IF(k = 'a')", "COUNT_IF(k IN ('a', 'b'))") == 2
    assert parts("AVG(x) FILTER (WHERE k = 'a')", "AVG(x) FILTER (WHERE k = 'b')") == 2
    # A person may have rows of both kinds, and is counted by each.
    people = [f"COUNT(DISTINCT u) FILTER (WHERE k = '{k}')" for k in "ab"]
    assert parts(*people) == 2
    assert not any(isinstance(tally, Units) for tally in asked(PIVOT).levels[0].tallies)


def test_how_near_each_must_come_is_paid_once() -> None:
    near = {"c0": (40, 0.95), "c1": (10, 0.95)}
    both = asked(PIVOT[:2], loss=None, accuracy=near)
    dear = asked(PIVOT[1:2], loss=None, accuracy={"c0": (10, 0.95)})
    assert both.pricing.loss(1) == dear.pricing.loss(1)


def test_weights_of_columns_count_once_for_a_set() -> None:
    plan = asked([*PIVOT, "COUNT(*)"], weights={"c0": 3, "c1": 1, "c2": 1, "c3": 1, "c4": 1})
    pivot, rest = scales(plan)[:4], scales(plan)[4]
    assert {scale * Fraction(3, 4) for scale in pivot} == {rest / 4}


@pytest.mark.parametrize("seed", range(6))
def test_no_person_moves_an_executed_pivot_by_more_than_is_paid_for(seed: int) -> None:
    """With the real engine: every person is taken out of a made-up table, and what that costs is added up."""
    pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    draw = random.Random(seed)
    rows = [
        {"u": draw.randrange(6), "k": draw.choice("abcd"), "x": draw.choice([None, -5.0, 5.0, 1.5])}
        for _ in range(draw.randrange(10, 60))
    ]
    columns = [*PIVOT, "SUM(x) FILTER (WHERE k = 'a')", "SUM(x) FILTER (WHERE k <> 'a')", "COUNT_IF(x IS NULL)"]
    named = ", ".join(f"{column} AS c{place}" for place, column in enumerate(columns))
    spent = []
    plan = planned(f"SELECT {named} FROM t", CATALOG, loss=sf.Pure(1), max_rows_per_group=2)
    assert len(plan.pricing.parts) < len(plan.levels[0].tallies)

    def numbers(table: list[dict[str, Any]]) -> list[int]:
        schema = pa.schema([("u", pa.int64()), ("k", pa.string()), ("x", pa.float64())])
        _, held = open_tables(pa.Table.from_pylist(table, schema=schema), CATALOG.codebook)
        return [int(found[0]) for found in held.engine.run(plan.levels[0].cells).numbers]

    whole = numbers(rows)
    for who in range(6):
        less = numbers([row for row in rows if row["u"] != who])
        scale = [Fraction(plan.noises[0][tally].noise.scale) for tally in plan.levels[0].cells.tallies]  # type: ignore[attr-defined]
        spent.append(sum((abs(a - b) / one for a, b, one in zip(whole, less, scale, strict=True)), Fraction(0)))
    assert 0 < max(spent) <= 1
