"""Neighbours in every kind and size of source: what is read of somebody's rows never depends on another's."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from tests.fuzz.plans import as_declared, nasty_case, stays_close
from tests.fuzz.sources import KINDS, TYPED, computed_from, opened, parted
from tests.reference.choices import Seeded
from tests.reference.duck import answers
from tests.reference.interpreter import Answers, ByValue, Reference

from sfumato.query.engines.duckdb import connection
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Owner, Scan, Where
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Term, Total, Units
from sfumato.query.plan.grids import float_grid

EVERY = pytest.mark.parametrize("kind", parted(KINDS))

# Random plans on random tables


@pytest.mark.parametrize("kind", parted(TYPED))
def test_random_plans_on_every_kind_of_source(kind: str) -> None:
    for seed in range(3):
        choices = Seeded(700_000 + seed)
        stays_close(choices, nasty_case(choices), computed_from(kind), most=1)


# Tame tables, in which one person with nasty values is added: the only ones in which everybody's statistics change

DAY, MOMENT = datetime.date, datetime.datetime
FIRST, LAST = DAY(2024, 1, 1), DAY(2024, 12, 31)
COLUMNS = (
    Column("u", Kind.INT, Facts(), "t.u", 0),
    Column("x", Kind.FLOAT, Facts((Fraction(0), Fraction(1)))),
    Column("free", Kind.FLOAT),
    Column("n", Kind.INT, Facts((Fraction(0), Fraction(9)))),
    Column("level", Kind.INT, Facts(keys=(1, 2, 3))),
    Column("flag", Kind.BOOL),
    Column("word", Kind.TEXT),
    Column("day", Kind.DATE, Facts((FIRST, LAST))),
    Column("at", Kind.TIME),
)
U, X, FREE, N, LEVEL, FLAG, WORD, WHEN, AT = COLUMNS
SCAN = Scan("t", COLUMNS, Owner("u"))
TYPES = {
    "u": pa.int64(), "x": pa.float64(), "free": pa.float64(), "n": pa.int64(), "level": pa.int64(), "flag": pa.bool_(),
    "word": pa.string(), "day": pa.date32(), "at": pa.timestamp("us"),
}  # fmt: skip
TAME: dict[str, tuple[Any, ...]] = {
    "x": (0.25, 0.5, math.nan, 1.0, None),
    "free": (0.5, math.nan, 2.0, 3.0),
    "n": (1, 2, 5),
    "level": (1, 2, 3),
    "flag": (True, True),
    "word": ("a", "b", "c"),
    "day": (DAY(2024, 3, 1), DAY(2024, 5, 1)),
    "at": (MOMENT(2024, 3, 1, 12), MOMENT(2024, 5, 1)),
}
NASTY: dict[str, tuple[Any, ...]] = {
    "x": (math.nan, 5.0, math.inf, -math.inf, None, -1.0, 1e308, -0.0),
    "free": (math.nan, math.inf, -math.inf, None, 1e308, 5e-324),
    "n": (2**63 - 1, -(2**63), None, 10, -1),
    "level": (7, None, -(2**63), 1),
    "flag": (False, None, True),
    "word": (None, "\U0010ffff", "z" * 2000, "A"),
    "day": (DAY(1, 1, 1), DAY(9999, 12, 31), None, DAY(2023, 12, 31)),
    "at": (MOMENT(1, 1, 1), MOMENT(9999, 12, 31, 23, 59, 59, 999999), None),
}
ADDED = 77
OTHERS = {
    "nothing but NaN": {"x": (math.nan,), "free": (math.nan,)},
    "nothing at all": dict.fromkeys(NASTY, (None,)),
    **{f"{name} of every sort": {name: values} for name, values in NASTY.items()},
    "everything": NASTY,
}


def rows_of(pools: dict[str, tuple[Any, ...]], person: int, many: int, start: int) -> list[dict[str, Any]]:
    return [
        {"u": person, **{name: pool[(start + place) % len(pool)] for name, pool in pools.items()}}
        for place in range(many)
    ]


def table(person: str | None) -> pa.Table:
    """Gives ten people with tame values and with NaN, and perhaps one more."""
    rows = [row for who in range(10) for row in rows_of(TAME, who, 3, 5 * who)]
    if person is not None:
        rows += rows_of({**TAME, **OTHERS[person]}, ADDED, 8, 0)
    return pa.Table.from_pylist(rows, pa.schema(list(TYPES.items())))


GRID = float_grid((Fraction(0), Fraction(1)), centred=False, bits=30)
TALLIES = (Rows(), *(Rows(column) for column in COLUMNS[1:]), Total((Term(X, GRID),)))
QUESTIONS = {
    "each": Cells(SCAN, (U,), TALLIES),
    "by level": Cells(SCAN, (LEVEL,), (Rows(), Units(), Rows(X), Total((Term(X, GRID),))), Bound(2, 2)),
    "all": Cells(SCAN, (), (Rows(X), Rows(FREE), Rows(N), Rows(FLAG), Units()), Bound(None, 2)),
    **{
        name: Cells(Where(SCAN, condition), (U,), (Rows(), Rows(X), Rows(FREE)))
        for name, condition in {
            "above": call("gt", FREE, literal(2.5)),
            "one": call("eq", N, literal(5)),
            "flag": FLAG,
            "no flag": call("not", FLAG),
            "none": call("is_null", X),
            "some": call("not", call("is_null", FREE)),
            "early": call("lt", WHEN, literal(DAY(2024, 4, 1))),
            "late": call("ge", AT, literal(MOMENT(2024, 4, 1))),
            "word": call("eq", WORD, literal("b")),
        }.items()
    },
}
BOUNDED = ("by level", "all")


def all_answers(kind: str, person: str | None) -> dict[str, Answers]:
    with opened(KINDS[kind], {"t": table(person)}, {"t": SCAN}) as engine:
        return {name: answers(engine.run(cells), cells) for name, cells in QUESTIONS.items()}


def all_are_read_alike(kind: str, people: Iterable[str]) -> None:
    """Asserts that answers about others stay as they are when somebody is added."""
    before = all_answers(kind, None)
    for person in people:
        after = all_answers(kind, person)
        for name, cells in QUESTIONS.items():
            if name in BOUNDED:
                as_declared(before[name], after[name], cells, cells.bound)
            else:
                others = {place: numbers for place, numbers in after[name].items() if place[0] != (ADDED,)}
                assert others == before[name], (person, name)


@EVERY
def test_nobody_else_is_read_otherwise(kind: str) -> None:
    all_are_read_alike(kind, ["nothing but NaN", "nothing at all", "everything"])


@pytest.mark.nightly
@EVERY
def test_nobody_else_is_read_otherwise_whatever_column_is_nasty(kind: str) -> None:
    all_are_read_alike(kind, OTHERS)


@pytest.mark.parametrize("kind", ["Parquet by pyarrow", "Parquet by polars"])
def test_an_engine_that_believes_what_files_say_is_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BLIND", connection.BLIND | {"statistics_propagation"})
    with pytest.raises(AssertionError):
        all_are_read_alike(kind, ["nothing but NaN"])


@EVERY
def test_every_kind_of_source_gives_the_same_answers(kind: str) -> None:
    exact = kind in (
        *TYPED,
        "dict",
        "dict, in Polars",
        "Arrow file, in Polars",
    )  # others round some numbers, or write them in ways that are not read
    for person in (None, "everything") if exact else (None,):
        rows = table(person).to_pylist()
        found = all_answers(kind, person)
        for name in QUESTIONS.keys() - BOUNDED:
            assert found[name] == Reference({"t": rows}, ByValue()).cells(QUESTIONS[name]), name
