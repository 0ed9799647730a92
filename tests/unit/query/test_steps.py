"""Steps that both front ends share: whose rows may meet in a join, constants in one form, and pruning that changes
nothing."""

from __future__ import annotations

import datetime
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from tests.examples.visits import CATALOG, table
from tests.profiles import examples
from tests.reference.laws import interpreted
from tests.reference.plans import Case, cases

from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.build.prune import pruned, used
from sfumato.query.build.question import build_question
from sfumato.query.build.relation import all_of, any_of, folded, joined, owner_of, scans
from sfumato.query.frame import col, count_rows
from sfumato.query.nodes.expressions import Column, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.literals import literal, value_of
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.questions import Count, StatisticValue
from sfumato.query.nodes.relations import Fold, Hop, Join, Match, Meet, Owner, Relation, Scan, Select

VISITS = CATALOG.table("visits")


def scan(name: str, owner: Owner | None, *columns: str) -> Scan:
    units = {} if owner is None or owner.hops else {owner.id: 0}
    made = (Column(f"{name} {one}", Kind.TEXT, Facts(), f"{name}.{one}", units.get(one)) for one in columns)
    return Scan(name, tuple(made), owner)


USERS = Owner("user")
ORDERS = scan("orders", USERS, "order", "user")
LINES = scan("lines", Owner("user", (Hop("order", "orders", "order"),)), "order", "item")


def test_a_foreign_key_joins_rows_of_one_unit() -> None:
    assert joined(LINES, ORDERS, [("lines order", "orders order")]).private
    assert joined(ORDERS, LINES, [("orders order", "lines order")]).private
    assert isinstance(joined(LINES, ORDERS, [("lines item", "orders order")]), Meet)
    with pytest.raises(QueryRefused, match=r"rows of other units.* Join them on user as well"):
        joined(LINES, ORDERS, [("lines item", "orders order")], Match.LEFT)


def test_a_foreign_key_that_was_computed_anew_is_none() -> None:
    order = LINES.columns[0]
    lower = Select(LINES, (("lines order", call("lower", order)),))
    assert isinstance(joined(lower, ORDERS, [("lines order", "orders order")]), Meet)


def test_tables_whose_rows_are_units_meet() -> None:
    left, right = scan("a", Owner(), "x"), scan("b", Owner(), "x")
    assert isinstance(joined(left, right, [("a x", "b x")]), Meet)
    with pytest.raises(QueryRefused, match="Nothing says here whose a row is"):
        joined(left, right, [("a x", "b x")], Match.SEMI)
    assert joined(left, scan("b", None, "x"), [("a x", "b x")]).private


def test_ids_in_windows_of_time_join_within_one_window() -> None:
    monthly = Owner("user", window=("day", "month"))
    made = joined(scan("a", monthly, "user", "day"), scan("b", monthly, "user", "day"), [("a user", "b user")])
    assert owner_of(made) == monthly


def test_a_table_joins_what_was_summed_up_of_it() -> None:
    visits = table("visits")
    both = visits.join(visits.per_unit(total=visits.minutes.sum()), on="user_id")
    assert both.columns == (*visits.columns, "total")
    assert [one.table for one in scans(both.relation)] == ["visits", "visits"]


def test_conditions_are_spread_out_and_a_single_one_is_itself() -> None:
    paid = Column("paid", Kind.BOOL)
    assert all_of([paid]) is paid
    assert all_of([all_of([paid, paid]), any_of([paid, paid])]) == call("and", paid, paid, call("or", paid, paid))
    with pytest.raises(QueryRefused, match="or takes conditions; got bool, int"):
        any_of([paid, Literal(1, Kind.INT)])


@pytest.mark.parametrize(
    ("between", "ends"),
    [((-3, -1), (-float("inf"), 0)), ((0, 5), (0, float("inf"))), ((-1, 5), None), (None, None)],
)
def test_what_is_known_of_a_sum_within_a_unit(between: tuple[int, int] | None, ends: object) -> None:
    bounds = None if between is None else (Fraction(between[0]), Fraction(between[1]))
    made = folded(Fold.SUM, Column("x", Kind.INT, Facts(bounds)), "total")
    assert made.column.facts.between == ends
    assert made.column.facts.nullable  # a sum may leave 64 bits
    assert made.grid is not None
    assert made.grid.ends == (between or (-(2**63), 2**63 - 1))


def test_wide_bounds_of_floats_are_refused_or_fit_the_grid() -> None:
    tiny = Column("x", Kind.FLOAT, Facts((Fraction(0), Fraction(1, 10**200))))
    grid = folded(Fold.MEAN, tiny, "mean").grid
    assert grid is not None
    assert 2**38 < grid.ends[1] <= 2**40
    with pytest.raises(QueryRefused, match="too wide or too narrow"):
        folded(Fold.MEAN, Column("x", Kind.FLOAT, Facts((Fraction(0), Fraction(1, 10**300)))), "mean")


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (True, True),
        (np.bool_(1), True),
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (np.str_("a"), "a"),
        (Decimal("1.50"), 1.5),
        (Decimal("2.0"), 2),
        (Fraction(1, 4), 0.25),
        (pd.Timestamp("2024-01-31 10:00"), datetime.datetime(2024, 1, 31, 10)),
        (np.datetime64("2024-01-31"), datetime.date(2024, 1, 31)),
        (np.datetime64("2024-01-31T10", "ns"), datetime.datetime(2024, 1, 31, 10)),
        (Decimal("1e18"), 10**18),
        (Decimal("1e-999999"), 0.0),
        (datetime.datetime(2024, 1, 31, 10, tzinfo=datetime.UTC), datetime.datetime(2024, 1, 31, 10)),
        (None, None),
    ],
    ids=str,
)
def test_values_have_one_form(given: object, value: object) -> None:
    found = value_of(given)
    assert found == value
    assert type(found) is type(value)
    assert literal(given).value == value


@pytest.mark.parametrize(
    "given",
    [float("nan"), float("-inf"), 2**63, -(2**63) - 1, "a" * 1001, b"a", [1], np.array([1, 2]), object(), 1j],
    ids=lambda given: type(given).__name__,
)
def test_other_values_are_refused(given: object) -> None:
    with pytest.raises(BadArgument, match="a constant must be a truth value, a whole number of 64 bits"):
        value_of(given)


def test_numbers_that_are_no_numbers_are_refused() -> None:
    for given_value in (
        Decimal("nan"),
        Decimal("snan"),
        Decimal("inf"),
        Decimal("1e999999"),
        Fraction(10**400),
        pd.NaT,
        pd.NA,
    ):
        with pytest.raises(BadArgument):
            value_of(given_value)


# Pruning.


def looked_at(case: Case) -> set[str]:
    """The columns of the source that cells look at."""

    tallies = (
        made
        for tally in case.cells.tallies
        for made in (
            *filter(None, (getattr(tally, "of", None), *getattr(tally, "others", ()), tally.where)),
            *(term.of for term in getattr(tally, "terms", ())),
        )
    )
    return used([*case.cells.keys, *case.cells.inner, *tallies])


@pytest.mark.parametrize("spare", [True, False])
@settings(max_examples=examples(150), deadline=None)
@given(case=cases())
def test_pruning_changes_no_answer(spare: bool, case: Case) -> None:
    # Which rows are cut depends on all columns of a row, so that none are cut here, and none where keys meet.
    assume(not any(isinstance(one, Meet) for one in every(case.cells.source)))
    cells = replace(case.cells, bound=replace(case.cells.bound, cut=False))
    lean = replace(cells, source=pruned(cells.source, looked_at(case), spare=spare))
    assert interpreted(case.world, lean) == interpreted(case.world, cells)


@settings(max_examples=examples(150), deadline=None)
@given(cases())
def test_pruned_joins_have_names_that_differ(case: Case) -> None:
    source = pruned(case.cells.source, looked_at(case))
    for relation in every(source):
        names = [column.name for column in relation.fields]
        assert len(set(names)) == len(names)
    assert pruned(source, looked_at(case)) == source


def every(relation: Relation) -> list[Relation]:
    return [relation, *(inner for source in relation.sources for inner in every(source))]


def test_a_column_that_is_left_out_before_a_join_stays_out() -> None:
    visits, sites = table("visits"), table("sites")
    named = sites.select(place=sites.site, region=sites.region, note=sites.region)
    named = named.filter(col("note") != "x").drop("note")
    made = visits.join(named, on={"site": "place"}).group_by("note", "region").agg(n=count_rows()).question.source
    assert isinstance(made, Join)
    assert [column.name for column in made.fields].count("note") == 1


def test_a_limit_is_no_negative_number() -> None:
    with pytest.raises(BadArgument, match="limit must be"):
        build_question(VISITS, (), (("n", StatisticValue(Count())),), limit=-1)
