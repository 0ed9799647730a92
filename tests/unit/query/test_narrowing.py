"""Conditions on columns without lists leave out keys that are made of them: days of moments, whole parts of floats."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples
from tests.reference.planning import catalog_of, planned
from tests.reference.values import evaluate

import sfumato as sf
from sfumato.query.nodes.expressions import Column, Expression, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind, Value, kind_of
from sfumato.query.nodes.narrowing import left_by, narrowed
from sfumato.query.nodes.operators import call

LARGE = 2**53
MOMENT, DAY = datetime.datetime, datetime.date
VALUES: dict[str, list[Value]] = {
    "i": [None, -LARGE - 1, -1, 0, 1, 2, 5, LARGE, LARGE + 1],
    "f": [None, -1.0, -5e-324, 0.0, 1.0, 1.5, 2.0, float(LARGE)],
    "d": [None, DAY(1, 1, 1), DAY(2023, 12, 31), DAY(2024, 1, 1), DAY(2024, 2, 29), DAY(2024, 3, 1), DAY(9999, 12, 31)],
    "t": [
        None,
        MOMENT.min,
        MOMENT(2023, 12, 31, 23, 59, 59, 999999),
        MOMENT(2024, 1, 1),
        MOMENT(2024, 1, 1, 7, 30),
        MOMENT(2024, 1, 7, 0, 0, 0, 1),
        MOMENT(2024, 3, 1),
        MOMENT.max,
    ],
}
KINDS = {"i": Kind.INT, "f": Kind.FLOAT, "d": Kind.DATE, "t": Kind.TIME}
OPERATORS = ("eq", "ne", "lt", "le", "gt", "ge")
PARTS = ("year", "quarter", "month", "day", "weekday", "to_date")
MADE = {"i": ("neg", "abs"), "f": ("floor", "ceil"), "d": PARTS, "t": (*PARTS, "hour", "minute")}


def literal(value: Value) -> Literal:
    return Literal(value, kind_of(value))


def there(name: str) -> list[Value]:
    return [value for value in VALUES[name] if value is not None]


@st.composite
def asked(draw: st.DrawFn, name: str, column: Column) -> Expression:
    """Makes a condition on a column, its day or its year."""
    about: Expression = column
    values = [*there("i"), *there("f")] if name in "if" else there(name)
    if name in "dt" and draw(st.booleans()):
        about = call(draw(st.sampled_from(["year", "to_date"])), column)
        values = [0, 1, 2023, 2024, 9999, 10000, 2023.5] if about.kind is Kind.INT else there("d")
    whole = [value for value in values if kind_of(value) is about.kind]
    if draw(st.booleans()):
        sides = [about, literal(draw(st.sampled_from(values)))]
        made = call(draw(st.sampled_from(OPERATORS)), *(sides[::-1] if draw(st.booleans()) else sides))
    else:
        made = call("in", about, *map(literal, draw(st.lists(st.sampled_from(whole), min_size=1, max_size=2))))
    return call("not", made) if draw(st.booleans()) else made


@settings(max_examples=examples(300))
@given(st.data())
def test_no_value_that_meets_the_conditions_is_left_out(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from("ifdt"))
    values: list[Any] = there(name)
    between: Any = data.draw(st.sampled_from([None, (values[0], values[-1]), (values[1], values[-3])]))
    if between is not None and name in "if":
        between = (Fraction(between[0]), Fraction(between[1]))
    column = Column(name, KINDS[name], Facts(between))
    conditions = data.draw(st.lists(asked(name, column), min_size=1, max_size=3))
    made: list[Expression] = [column, *(call(operator, column) for operator in MADE[name])]
    known = [narrowed(one, left_by(conditions)) for one in made]
    for value in VALUES[name]:
        row = {name: value}
        inside = value is None or between is None or between[0] <= value <= between[1]
        if not inside or not all(evaluate(one, row) is True for one in conditions):
            continue
        for one in known:
            found, facts = evaluate(one, row), one.facts
            assert found is not None or facts.nullable
            ends: Any = facts.between
            assert found is None or ends is None or ends[0] <= found <= ends[1], (conditions, one, found, ends)


SAID = {"source": "a test"}
CATALOG = catalog_of(
    {
        "codebook": 1,
        "title": "Flights",
        "unit": {"protects": "a plane", "id": "u"},
        "tables": {
            "t": {
                "contributions": {"rows": 2, **SAID},
                "columns": {
                    "u": {"type": "int"},
                    "at": {"type": "time", "between": ["2024-01-01 00:00:00", "2024-12-31 23:59:59"], **SAID},
                    "free": {"type": "time"},
                    "x": {"type": "float", "between": [0, 2.5], **SAID},
                    "a": {"type": "int", "between": [0, 999], **SAID},
                    "b": {"type": "int", "between": [0, 999], **SAID},
                    "whole": {"type": "int"},
                },
            }
        },
    }
)


def keys(what: str, where: str, **said: Any) -> list[Any]:
    text = f"SELECT {what} AS k, COUNT(*) AS n FROM t WHERE {where} GROUP BY k"
    (level,) = planned(text, CATALOG, loss=sf.Pure(1), **said).levels
    assert level.listed is not None
    return list(level.listed.columns[0])


@pytest.mark.parametrize(
    ("what", "where", "expected"),
    [
        ("MONTH(at)", "at >= TIMESTAMP '2024-06-01 00:00:00' AND at < TIMESTAMP '2024-08-01 00:00:00'", [6, 7]),
        ("MONTH(free)", "YEAR(free) = 2024 AND free > TIMESTAMP '2024-11-05 00:00:00'", [11, 12]),
        ("MONTH(free)", "CAST(free AS DATE) BETWEEN DATE '2024-03-31' AND DATE '2024-04-01'", [3, 4]),
        ("HOUR(at)", "at BETWEEN TIMESTAMP '2024-03-03 22:00:00' AND TIMESTAMP '2024-03-03 23:30:00'", [22, 23]),
        ("CAST(at AS DATE)", "at > TIMESTAMP '2024-12-30 12:00:00'", [DAY(2024, 12, 30), DAY(2024, 12, 31)]),
        ("YEAR(at)", "at IS NOT NULL", [2024]),
        ("FLOOR(x)", "x < 1", [0]),
        ("FLOOR(x)", "x >= 1", [1, 2]),
        ("FLOOR(x)", "NOT x < 2", [2]),
        ("CEIL(x)", "x BETWEEN 1.5 AND 2", [2]),
        ("CASE WHEN x > 3 THEN 'much' ELSE 'little' END", "a = 1", ["little"]),
        ("CASE WHEN x < 1 THEN 'p' WHEN x < 2 THEN 'q' ELSE 'r' END", "x > 1.5", ["q", "r"]),
    ],
)
def test_keys_that_conditions_on_their_columns_exclude_are_not_answered(
    what: str, where: str, expected: list[Any]
) -> None:
    assert keys(what, where) == expected


def test_keys_of_whoever_asks_are_held_to_the_conditions_too() -> None:
    months, days = sf.KeySet.of(k=range(1, 13)), sf.KeySet.of(k=[DAY(2024, 1, day) for day in range(1, 32)])
    assert keys("MONTH(at)", "at >= TIMESTAMP '2024-12-01 00:00:00'", keys=months) == [12]
    assert keys("CAST(free AS DATE)", "free < TIMESTAMP '2024-01-03 00:00:00'", keys=days) == [
        DAY(2024, 1, 1),
        DAY(2024, 1, 2),
    ]


def test_a_condition_makes_no_list_of_keys_where_there_was_none() -> None:
    """Keys that nobody listed stay to be chosen: of a long range, most would be noise."""
    text = "SELECT whole, COUNT(*) AS n FROM t WHERE whole BETWEEN 1 AND 50000 GROUP BY whole"
    (level,) = planned(text, CATALOG, loss=sf.Approx(1, 1e-6)).levels
    assert level.listed is None and level.chooser is not None


def test_totals_of_listed_keys_are_of_the_same_keys() -> None:
    """Of both keys there are too many combinations to try out, of one there are not."""
    given = sf.KeySet.of(k=range(10)) * sf.KeySet.of(b=[1, 2])
    text = "SELECT a % 10 AS k, b, COUNT(*) AS n FROM t WHERE a < 500 AND a % 10 < 5 GROUP BY CUBE (k, b)"
    levels = planned(text, CATALOG, loss=sf.Pure(1), keys=given).levels
    assert sorted(len(level.listed) if level.listed else 1 for level in levels) == [1, 2, 5, 10]


def test_the_day_of_a_text_narrows_no_text() -> None:
    text = Column("s", Kind.TEXT)
    for operator in OPERATORS:
        assert text not in left_by([call(operator, call("to_date", text), literal(DAY(2024, 1, 1)))])
