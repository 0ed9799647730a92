"""Sums and rows for other mechanisms, on the engine itself: no unit that leaves moves them further than the map says.

Tables of nasty values, every source of units, every way to make a relation; what a unit is claimed to move is reached.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.reference.choices import Seeded

import sfumato as sf
from sfumato.core.metrics import L1, L2, LInf, Unit, VectorMetric
from sfumato.core.pieces import PiecewiseLInf
from sfumato.core.transformation import Transformation
from sfumato.errors import QueryRefused
from sfumato.exact import squared
from sfumato.learn.columns import Bins, Category, Number, Square
from sfumato.query.frame import Frame
from sfumato.query.plan.stable import gram_of_tables, rows_of_tables

SAID = {"source": "a test"}
SCHEMA = {"id": pl.Int64, "firm": pl.Int64, "g": pl.Int64, "x": pl.Float64, "c": pl.String, "y": pl.Float64}
COLUMNS = {
    "id": {"type": "int"},
    "firm": {"type": "int"},
    "g": {"type": "int", "between": [0, 3], **SAID},
    "x": {"type": "float", "between": [0, 4], **SAID},
    "c": {"categories": ["a", "b", "z"], **SAID},
    "y": {"type": "float", "between": [-1, 1], **SAID},
    "tags": {"type": "list", "items": {"categories": ["a", "b", "z"], **SAID}},
}
PUBLIC = {"public": True, "columns": {"g": {"type": "int"}, "w": {"type": "float", "between": [0, 1], **SAID}}}
PEOPLE = {"protects": "a person", "id": "id"}
UNITS: dict[str, tuple[dict[str, Any], dict[str, Any], int | None]] = {
    "people who are scaled down": ({"unit": PEOPLE}, {}, 2),
    "people with a fact": ({"unit": PEOPLE}, {"contributions": {"rows": 6, **SAID}}, None),
    "people with a fact, scaled down": ({"unit": PEOPLE}, {"contributions": {"rows": 6, **SAID}}, 1),
    "people who are cut": ({"unit": PEOPLE}, {"contributions": {"rows": 2, "by": "truncation", **SAID}}, None),
    "rows": ({"unit": {"protects": "a visit"}}, {"contributions": {"rows": 2, **SAID}}, 5),
    "firms beside people": (
        {"units": {"people": PEOPLE, "firms": {"protects": "a firm", "id": "firm"}}},
        {"contributions": {"firms": {"rows": 6, "groups": {"id": 2}, **SAID}}},
        1,
    ),
}
"""By their names: the unit of a codebook, what a table says of it, and how many rows are asked for."""


def plain(table: Frame, _: Frame) -> Frame:
    return table


def chosen(table: Frame, _: Frame) -> Frame:
    return table.filter(table.y > -1)


def stacked(table: Frame, _: Frame) -> Frame:
    return table.union(table.filter(table.x > 1))


def beside_public(table: Frame, public: Frame) -> Frame:
    return table.join(public, on="g", how="left")


def listed(table: Frame, _: Frame) -> Frame:
    return table.explode("tags", max_items=2)


SHAPES: tuple[Callable[[Frame, Frame], Frame], ...] = (plain, chosen, stacked, beside_public, listed)

Row = tuple[Any, ...]


def rows_by(choices: Seeded) -> list[Row]:
    """Rows of two people and two firms, mostly with all there is, and mostly at the ends of bounds."""
    return [
        (
            choices.of((1, 1, 2, None)),
            choices.of((1, 1, 2, None)),
            choices.of((0, 2, 2, None)),
            choices.of((4.0, 9.0, 0.0, math.inf, -1e308, -0.0, math.nan)),
            choices.of(("a", "a", "b", "z", "other", None)),
            choices.of((1.0, 5.0, -1.0, 1.0, 5e-324, None)),
            choices.of((["a"], ["a", "b", "a"], ["z", None, "a"], [])),
        )
        for _ in range(choices.of((1, 4, 6)))
    ]


def opened(rows: list[Row], unit: str) -> tuple[Any, Frame, Frame]:
    named, said, _ = UNITS[unit]
    schema = {**SCHEMA, "tags": pl.List(pl.String)}
    table = {"columns": COLUMNS, **said}
    book = {"codebook": 1, "title": "T", **named, "tables": {"t": table, "p": PUBLIC}}
    public = pl.DataFrame({"g": [0, 2, 2], "w": [0.0, 1.0, 1.0]})
    data = sf.Dataset({"t": pl.DataFrame(rows, schema=schema, orient="row"), "p": public}, codebook=book)
    limit: Any = sf.Pure(10**9)
    limits = dict.fromkeys(named["units"], limit) if "units" in named else limit
    session = data.session(limit=limits, ledger="memory:")
    return session, session.table("t"), session.table("p")


def gone(rows: list[Row], unit: str) -> list[Row]:
    """The rows without those of one unit: person 1, firm 1, or a visit, which has two."""
    if unit == "rows":
        return rows[2:]
    place = 1 if unit.startswith("firms") else 0
    return [row for row in rows if row[place] != 1]


def exact_of(table: Frame, made: Transformation) -> Any:
    """What a transformation gives, taken out by a measurement that claims whatever it likes."""
    taken = sf.measurement(
        made.target, sf.Pure, function=lambda held, _: held, map=lambda _: sf.Pure(0), claim=sf.claim("a test")
    )
    return table.asker.run(made >> taken, loss=None, key=None).value


def moved(one: Any, other: Any, metric: VectorMetric) -> Fraction:
    """How far vectors are apart; squared in L2."""
    steps = [Fraction(float(gap)) for gap in np.asarray(one, dtype=object) - np.asarray(other, dtype=object)]
    if isinstance(metric, L2):
        return sum((step * step for step in steps), Fraction(0))
    return Fraction(metric.distance(steps, [Fraction(0)] * len(steps)))  # type: ignore[arg-type]


METRICS: tuple[VectorMetric, ...] = (L1(), L2(), LInf(), PiecewiseLInf(3))


def reached(rows: list[Row], unit: str, shape: Callable[[Frame, Frame], Frame]) -> Mapping[str, Fraction]:
    """The part of what is claimed by which one unit moves the cells, in each distance, and the rows."""
    most = UNITS[unit][2]
    sides: list[dict[str, Any]] = []
    claimed: dict[str, Any] = {}
    for own in (rows, gone(rows, unit)):
        session, table, public = opened(own, unit)
        made = shape(table, public)
        d_in: Unit = session.dataset.others.get("firms", session.dataset.unit)
        x, c = Number("x", Fraction(0), Fraction(4)), Category("tags" if shape is listed else "c", ("a", "b", "z"))
        entries = [one.entry(made.relation) for one in (x, Square(x), Bins.read(x, 2), c)]

        def sums(metric: VectorMetric, made: Frame = made, entries: Any = entries) -> Transformation:
            pairs = [(one, 4) for one in range(4)] if isinstance(metric, PiecewiseLInf) else None
            opening = made.asker.opened
            return gram_of_tables(made.relation, entries, opening, max_rows=most, metric=metric, pairs=pairs)

        kept = rows_of_tables(made.relation, entries, made.asker.opened, max_rows=most)
        claimed = claimed or {**{name_of(metric): sums(metric).map(d_in) for metric in METRICS}, "rows": kept.map(d_in)}
        whole, dealt = exact_of(made, sums(L1())), exact_of(made, sums(PiecewiseLInf(3)))
        held = Counter(map(tuple, exact_of(made, kept).tolist()))
        sides.append({**dict.fromkeys(map(name_of, METRICS), whole), "PiecewiseLInf": dealt, "rows": held})
    before, after = sides
    found = {name_of(metric): moved(before[name_of(metric)], after[name_of(metric)], metric) for metric in METRICS}
    found["rows"] = Fraction(((before["rows"] - after["rows"]) + (after["rows"] - before["rows"])).total())
    return {
        name: share / Fraction(squared(claimed[name]) if name == "L2" else claimed[name])
        for name, share in found.items()
    }


def name_of(metric: VectorMetric) -> str:
    return type(metric).__name__


@pytest.mark.parametrize("unit", UNITS)
def test_no_unit_moves_sums_or_rows_further_than_is_claimed(unit: str) -> None:
    furthest: Counter[str] = Counter()
    place = list(UNITS).index(unit)
    for seed in range(place, place + 3):
        shape = SHAPES[seed % len(SHAPES)]
        if shape is beside_public and unit == "people who are cut":
            continue  # how often a row is repeated is not known before it is cut: refused
        for what, share in reached(rows_by(Seeded(seed + 20)), unit, shape).items():
            assert share <= 1, (unit, shape.__name__, what)
            furthest[what] = max(furthest[what], share)  # type: ignore[assignment, call-overload]
    assert all(furthest.values()), "what leaves is seen"


@pytest.mark.parametrize("unit", ["people who are scaled down", "rows"])
def test_what_is_claimed_is_reached(unit: str) -> None:
    full: Row = (1, 1, 2, 4.0, "a", 1.0, ["a", "a"])
    assert set(reached([full] * 3, unit, plain).values()) == {Fraction(1)}


def test_of_people_who_are_cut_a_firm_moves_rows_that_come_in_for_its_own() -> None:
    """A row goes with the firm and another one of the same person comes in: twice the people, and it is reached."""
    people = combinations(range(4, 8), 2)
    rows = ([(u, f, 0, x, "a", 1.0, []) for u in pair for f, x in ((1, 0.0), (2, 4.0))] for pair in people)
    assert max(reached(own, "firms beside people", plain)["rows"] for own in rows) == 1


def test_a_table_that_does_not_say_whose_a_row_is_cannot_be_asked() -> None:
    named, said, _ = UNITS["firms beside people"]
    other = {name: column for name, column in COLUMNS.items() if name != "firm"}
    book = {
        "codebook": 1,
        "title": "T",
        **named,
        "tables": {"t": {"columns": COLUMNS, **said}, "o": {"columns": other}},
    }
    empty = pl.DataFrame(schema={**SCHEMA, "tags": pl.List(pl.String)})
    session = sf.Dataset({"t": empty, "o": empty.drop("firm")}, codebook=book, name="both").session(
        limit={"people": sf.Pure(1), "firms": sf.Pure(9)}, ledger="memory:"
    )
    table = session.table("o")
    entry = Number("x", Fraction(0), Fraction(4)).entry(table.relation)
    for build in (
        lambda: gram_of_tables(table.relation, [entry], table.asker.opened, max_rows=1, metric=L1()),
        lambda: rows_of_tables(table.relation, [entry], table.asker.opened, max_rows=1),
    ):
        with pytest.raises(QueryRefused, match="no column firm"):
            build()


def test_plans_tell_pieces_apart_and_one_piece_needs_no_classes() -> None:
    _, table, _ = opened([], "people who are scaled down")
    number, kind = (one.entry(table.relation) for one in (
        Number("x", Fraction(0), Fraction(4)), Category("c", ("a", "b"))
    ))  # fmt: skip
    one = gram_of_tables(
        table.relation, [number], table.asker.opened, max_rows=3, metric=PiecewiseLInf(1), pairs=[(0, 1)]
    )
    assert one.map(1) == 3
    two = gram_of_tables(
        table.relation, [kind], table.asker.opened, max_rows=3, metric=PiecewiseLInf(2), pairs=[(0, 1)]
    )
    assert one.plan is not None and two.plan is not None
    assert [plan["steps"][0]["with"]["pieces"] for plan in (one.plan, two.plan)] == [1, 2]  # type: ignore[index, call-overload]
