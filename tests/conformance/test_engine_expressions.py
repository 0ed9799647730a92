"""Every operator in every engine, on nasty values, against what docs/semantics.md says (and not against an engine)."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples.engines import Opening
from tests.profiles import examples
from tests.reference.values import evaluate

from sfumato.query.engines.duckdb.dialect import DUCKDB
from sfumato.query.engines.protocol import Engine
from sfumato.query.engines.sql.expressions import largest
from sfumato.query.engines.sql.statement import Scope, Statement, quoted
from sfumato.query.nodes.expressions import Column, Expression, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.operators import OPERATORS, call
from sfumato.query.nodes.operators.functions import FUNCTIONS

B, I, F, T, D, M = Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIME  # noqa: E741
LEAST, MOST = -(2**63), 2**63 - 1
DAY, MOMENT = datetime.date, datetime.datetime
LATE = MOMENT(2024, 2, 29, 23, 59, 59, 999999)


@pytest.fixture(scope="module")
def engine(opening: Opening) -> Iterator[Engine]:
    made = opening({}, {})
    yield made
    made.close()


def valued(engine: Engine, operator: str, *operands: tuple[Kind, Value], constants: int = 0) -> Value:
    """Gives what an operation makes of columns that hold one value each; the last ``constants`` are written out."""
    first = len(operands) - constants
    columns = [Column(f"x{place}", kind) for place, (kind, _) in enumerate(operands[:first])]
    parts: list[Expression] = [*columns, *(Literal(value, kind) for kind, value in operands[first:])]
    leaves = [(column, (value,)) for column, (_, value) in zip(columns, operands, strict=False)]
    ((found,),) = engine.images([call(operator, *parts)], leaves)
    return found


WHOLE: list[tuple[str, tuple[Value, ...], Value]] = [
    ("neg", (LEAST,), None),
    ("neg", (MOST,), -MOST),
    ("abs", (LEAST,), None),
    ("abs", (-5,), 5),
    ("sign", (LEAST,), -1),
    ("sign", (0,), 0),
    ("add", (MOST, 1), None),
    ("add", (MOST, 0), MOST),
    ("add", (LEAST, -1), None),
    ("add", (1, None), None),
    ("sub", (LEAST, 1), None),
    ("sub", (0, LEAST), None),
    ("mul", (2**32, 2**31), None),
    ("mul", (2**32, -(2**31)), LEAST),
    ("mul", (LEAST, LEAST), None),
    ("mul", (LEAST, -1), None),
    ("div", (1, 3), 1 / 3),
    ("div", (1, 0), None),
    ("div", (0, 0), None),
    ("div", (2**53 + 1, 1), 2.0**53),
    ("mod", (-7, 3), -1),
    ("mod", (7, -3), 1),
    ("mod", (7, 0), None),
    ("mod", (LEAST, -1), 0),
    ("mod", (None, 0), None),
    ("int_div", (-7, 2), -3),
    ("int_div", (7, -2), -3),
    ("int_div", (7, 0), None),
    ("int_div", (LEAST, -1), None),
    ("int_div", (LEAST, 1), LEAST),
    ("floor", (MOST,), MOST),
    ("trunc", (MOST,), MOST),
    ("round", (5,), 5),
    ("power", (2, 10), 1024.0),
    ("to_bool", (-3,), True),
    ("to_text", (LEAST,), "-9223372036854775808"),
    ("sqrt", (16,), 4.0),
    ("sqrt", (-1,), None),
    ("ln", (0,), None),
    ("ln", (1,), 0.0),
    ("least", (None, 3, 2), 2),
    ("least", (None, None), None),
    ("greatest", (None, -3), -3),
    ("to_int", (7,), 7),
    ("to_float", (2**53 + 1,), 2.0**53),
    ("eq", (MOST, MOST - 1), False),
    ("lt", (LEAST, MOST), True),
    ("ne", (1, None), None),
    ("gt", (MOST, LEAST), True),
    ("ge", (3, 3), True),
    ("le", (4, 3), False),
    ("is_null", (None,), True),
    ("is_null", (0,), False),
    ("coalesce", (None, None, 4), 4),
    ("nullif", (3, 3), None),
    ("nullif", (3, None), 3),
    ("nullif", (None, 3), None),
]
FLOATS: list[tuple[str, tuple[Value, ...], Value]] = [
    ("neg", (1.5,), -1.5),
    ("abs", (-1.5,), 1.5),
    ("neg", (0.0,), 0.0),
    ("sign", (-0.0,), 0),
    ("sign", (-5e-324,), -1),
    ("add", (1e308, 1e308), None),
    ("add", (0.1, 0.2), 0.1 + 0.2),
    ("sub", (-1.7e308, 1.7e308), None),
    ("mul", (1e200, 1e200), None),
    ("mul", (5e-324, 0.5), 0.0),
    ("div", (1.0, 0.0), None),
    ("div", (0.0, 0.0), None),
    ("div", (1e308, 1e-10), None),
    ("div", (1.0, 3.0), 1 / 3),
    ("floor", (-0.5,), -1),
    ("floor", (1e300,), None),
    ("floor", (9.3e18,), None),
    ("floor", (-(2.0**63),), LEAST),
    ("ceil", (-0.5,), 0),
    ("ceil", (2.0**63,), None),
    ("round", (0.5,), 0),
    ("round", (1.5,), 2),
    ("round", (2.5,), 2),
    ("round", (-2.5,), -2),
    ("round", (0.49999999999999994,), 0),
    ("round", (4503599627370497.5,), 4503599627370498),
    ("to_int", (2.5,), 2),
    ("to_int", (-3.5,), -4),
    ("to_int", (2.0**63,), None),
    ("to_int", (2.0**63 - 1024,), 2**63 - 1024),
    ("sqrt", (2.0,), math.sqrt(2)),
    ("sqrt", (-5e-324,), None),
    ("sqrt", (-0.0,), 0.0),
    ("ln", (-1.0,), None),
    ("ln", (0.0,), None),
    ("exp", (1000.0,), None),
    ("log10", (1000.0,), 3.0),
    ("log10", (0.0,), None),
    ("log2", (8.0,), 3.0),
    ("log2", (-1.0,), None),
    ("power", (-8.0, 0.5), None),
    ("power", (0.0, -1.0), None),
    ("power", (0.0, 0.0), 1.0),
    ("power", (1e308, 2.0), None),
    ("sin", (0.0,), 0.0),
    ("cos", (0.0,), 1.0),
    ("tan", (0.0,), 0.0),
    ("asin", (1.0000000000000002,), None),
    ("acos", (1.0,), 0.0),
    ("acos", (-1.5,), None),
    ("atan", (0.0,), 0.0),
    ("atan2", (0.0, 1.0), 0.0),
    ("atan2", (-0.0, -1.0), math.pi),
    ("sinh", (1000.0,), None),
    ("sinh", (0.0,), 0.0),
    ("cosh", (-1000.0,), None),
    ("tanh", (1000.0,), 1.0),
    ("trunc", (-2.7,), -2),
    ("trunc", (1e300,), None),
    ("mod", (-7.5, 2.0), -1.5),
    ("mod", (-4.0, 2.0), 0.0),
    ("mod", (1.0, 0.0), None),
    ("mod", (1e308, 1e-300), math.fmod(1e308, 1e-300)),
    ("to_bool", (-0.0,), False),
    ("exp", (-1000.0,), 0.0),
    ("exp", (0.0,), 1.0),
    ("least", (None, 2.5, 1.5), 1.5),
    ("greatest", (None, None), None),
    ("eq", (0.0, -0.0), True),
    ("lt", (-0.0, 0.0), False),
    ("to_float", (1.5,), 1.5),
    ("coalesce", (None, 1.5), 1.5),
    ("nullif", (0.0, -0.0), None),
]
TEXTS: list[tuple[str, tuple[Value, ...], Value]] = [
    ("lower", ("ÀB",), "àb"),
    ("upper", ("ab",), "AB"),
    ("trim", ("  a b\t ",), "a b\t"),
    ("trim", ("\u00a0a",), "\u00a0a"),
    ("ltrim", ("  a ",), "a "),
    ("rtrim", (" a  ",), " a"),
    ("reverse", ("e\u0301a",), "a\u0301e"),
    ("reverse", ("",), ""),
    ("strpos", ("a🙂b", "b"), 3),
    ("strpos", ("", ""), 1),
    ("strpos", ("abc", "d"), 0),
    ("starts_with", ("a\0b", "a\0"), True),
    ("ends_with", ("abc", ""), True),
    ("contains", ("abc", "B"), False),
    ("to_int", (" 12.5 ",), 12),
    ("to_int", ("9223372036854775808",), None),
    ("to_int", ("1,000",), None),
    ("to_float", ("1e400",), None),
    ("to_float", ("inf",), None),
    ("to_bool", ("Yes",), True),
    ("to_bool", ("2",), None),
    ("to_date", ("2024-02-30",), None),
    ("to_date", ("2024-2-9 10:00",), DAY(2024, 2, 9)),
    ("to_time", ("2024-02-09T10:00Z",), MOMENT(2024, 2, 9, 10)),
    ("length", ("e\u0301",), 2),
    ("length", ("👩‍👩‍👧",), 5),
    ("length", ("",), 0),
    ("length", ("a\0b",), 3),
    ("concat", ("x" * 600, "y" * 600), "x" * 600 + "y" * 400),
    ("concat", ("a", None), None),
    ("concat", ("a", "", "c"), "ac"),
    ("eq", ("a", "a "), False),
    ("eq", ("é", "e\u0301"), False),
    ("lt", ("Z", "a"), True),
    ("lt", ("\ue000", "🙂"), True),
    ("lt", ("a", "a\0"), True),
    ("coalesce", (None, "a"), "a"),
    ("nullif", ("a", "a"), None),
    ("is_null", ("",), False),
]
BOOLS: list[tuple[str, tuple[Value, ...], Value]] = [
    ("and", (True, None), None),
    ("and", (False, None), False),
    ("or", (True, None), True),
    ("or", (False, None), None),
    ("or", (None, None), None),
    ("not", (None,), None),
    ("not", (True,), False),
    ("lt", (False, True), True),
    ("to_int", (True,), 1),
    ("to_float", (False,), 0.0),
    ("to_text", (True,), "true"),
    ("to_bool", (None,), None),
    ("coalesce", (None, False), False),
]
DAYS: list[tuple[str, tuple[Value, ...], Value]] = [
    ("year", (DAY(1, 1, 1),), 1),
    ("quarter", (DAY(2024, 12, 31),), 4),
    ("month", (DAY(2024, 2, 29),), 2),
    ("day", (DAY(2024, 2, 29),), 29),
    ("weekday", (DAY(2024, 5, 5),), 7),
    ("weekday", (DAY(1, 1, 1),), 1),
    ("sub", (DAY(9999, 12, 31), DAY(1, 1, 1)), 3652058),
    ("sub", (DAY(2024, 1, 1), None), None),
    ("to_date", (DAY(2024, 1, 1),), DAY(2024, 1, 1)),
    ("to_time", (DAY(1, 1, 1),), MOMENT(1, 1, 1)),
    ("to_text", (DAY(9, 1, 1),), "0009-01-01"),
    ("isoyear", (DAY(2021, 1, 3),), 2020),
    ("week", (DAY(2021, 1, 3),), 53),
    ("week", (DAY(9999, 12, 31),), 52),
    ("dayofyear", (DAY(2024, 12, 31),), 366),
    ("least", (None, DAY(2024, 1, 1)), DAY(2024, 1, 1)),
    ("lt", (DAY(1969, 12, 31), DAY(1970, 1, 1)), True),
]
TIMES: list[tuple[str, tuple[Value, ...], Value]] = [
    ("year", (LATE,), 2024),
    ("weekday", (LATE,), 4),
    ("hour", (LATE,), 23),
    ("minute", (MOMENT(1969, 12, 31, 0, 7, 59, 1),), 7),
    ("to_date", (LATE,), DAY(2024, 2, 29)),
    ("to_date", (MOMENT(1969, 12, 31, 23, 59, 59, 999999),), DAY(1969, 12, 31)),
    ("to_date", (MOMENT(9999, 12, 31, 23, 59, 59, 999999),), DAY(9999, 12, 31)),
    ("greatest", (LATE, None), LATE),
    ("second", (LATE,), 59),
    ("to_text", (LATE,), "2024-02-29 23:59:59.999999"),
    ("to_text", (MOMENT(1, 1, 1, 0, 0, 0, 500000),), "0001-01-01 00:00:00.5"),
    ("eq", (LATE, LATE), True),
]
ALL = [
    (kind, *case) for kind, cases in zip((I, F, T, B, D, M), (WHOLE, FLOATS, TEXTS, BOOLS, DAYS, TIMES), strict=True)
    for case in cases
]  # fmt: skip


@pytest.mark.parametrize(("kind", "operator", "operands", "expected"), ALL, ids=range(len(ALL)))
def test_an_operator_gives_what_the_page_says(
    engine: Engine, kind: Kind, operator: str, operands: tuple[Value, ...], expected: Value
) -> None:
    found = valued(engine, operator, *((kind, value) for value in operands))
    assert (type(found), found) == (type(expected), expected)
    if isinstance(found, float):
        assert math.copysign(1, found) == 1 or found < 0


CONSTANTS: list[tuple[str, tuple[tuple[Kind, Value], ...], int, Value]] = [
    ("clamp", ((I, LEAST), (I, 0), (I, 5)), 2, 0),
    ("clamp", ((I, None), (I, 0), (I, 5)), 2, None),
    ("clamp", ((I, 7), (F, 0.5), (F, 5.5)), 2, 5.5),
    ("clamp", ((F, -1e300), (F, -1.5), (F, 1.5)), 2, -1.5),
    ("in", ((I, 3), (I, 1), (I, 3)), 2, True),
    ("in", ((I, None), (I, 1)), 1, None),
    ("in", ((I, 3), (F, 3.0)), 1, True),
    ("in", ((F, -0.0), (F, 0.0)), 1, True),
    ("in", ((T, "a"), (T, "A"), (T, "b")), 2, False),
    ("in", ((T, "'"), (T, "'"), (T, '"; DROP TABLE t')), 2, True),
    ("in", ((I, 7), *((I, value) for value in range(1000))), 1000, True),
    ("in", ((I, -7), *((I, value) for value in range(1000))), 1000, False),
    ("in", ((I, None), *((I, value) for value in range(1000))), 1000, None),
    ("like", ((T, "a%b"), (T, "a\\%b")), 1, False),
    ("like", ((T, "a\\xb"), (T, "a\\%b")), 1, True),
    ("like", ((T, "🙂b"), (T, "_b")), 1, True),
    ("like", ((T, "line\nline"), (T, "l%e")), 1, True),
    ("like", ((T, "A"), (T, "a")), 1, False),
    ("like", ((T, None), (T, "%")), 1, None),
    ("substring", ((T, "äé🙂x"), (I, 2), (I, 2)), 2, "é🙂"),
    ("substring", ((T, "abc"), (I, 5), (I, 2)), 2, ""),
    ("substring", ((T, "abc"), (I, 1), (I, 0)), 2, ""),
    ("substring", ((T, "abc"), (I, 2), (I, MOST)), 2, "bc"),
    ("substring", ((T, "abc"), (I, MOST), (I, MOST)), 2, ""),
    ("date_trunc", ((D, DAY(2024, 2, 29)), (T, "month")), 1, DAY(2024, 2, 1)),
    ("date_trunc", ((D, DAY(2024, 3, 3)), (T, "week")), 1, DAY(2024, 2, 26)),
    ("date_trunc", ((D, DAY(1, 1, 3)), (T, "week")), 1, DAY(1, 1, 1)),
    ("date_trunc", ((D, DAY(2024, 6, 30)), (T, "quarter")), 1, DAY(2024, 4, 1)),
    ("date_trunc", ((D, DAY(9999, 12, 31)), (T, "year")), 1, DAY(9999, 1, 1)),
    ("date_trunc", ((M, LATE), (T, "hour")), 1, MOMENT(2024, 2, 29, 23)),
    ("date_trunc", ((M, LATE), (T, "day")), 1, MOMENT(2024, 2, 29)),
    ("date_trunc", ((M, MOMENT(1969, 12, 31, 23, 1)), (T, "week")), 1, MOMENT(1969, 12, 29)),
    ("date_trunc", ((D, DAY(5, 5, 5)), (T, "decade")), 1, DAY(1, 1, 1)),
    ("date_trunc", ((D, None), (T, "decade")), 1, None),
    ("date_trunc", ((M, LATE), (T, "minute")), 1, MOMENT(2024, 2, 29, 23, 59)),
    ("trim", ((T, "xyaxy"), (T, "yx")), 1, "a"),
    ("lpad", ((T, "abc"), (I, 2), (T, "x")), 2, "ab"),
    ("lpad", ((T, "a"), (I, 4), (T, "xy")), 2, "xyxa"),
    ("rpad", ((T, "🙂"), (I, 1000), (T, "é")), 2, "🙂" + "é" * 999),
    ("right", ((T, "a🙂b"), (I, 2)), 1, "🙂b"),
    ("right", ((T, "ab"), (I, 1000)), 1, "ab"),
    ("replace", ((T, "aaa"), (T, "aa"), (T, "b")), 2, "ba"),
    ("replace", ((T, "a" * 1000), (T, "a"), (T, "b" * 20)), 2, "b" * 1000),
    ("split_part", ((T, "a,b,,c"), (T, ","), (I, 3)), 2, ""),
    ("split_part", ((T, "a,b"), (T, ","), (I, 1000)), 2, ""),
    ("regexp_matches", ((T, "abc\n"), (T, "c$")), 1, False),
    ("regexp_matches", ((T, "line\nb"), (T, "e.b")), 1, False),
    ("regexp_full_match", ((T, "🙂"), (T, ".")), 1, True),
    ("regexp_full_match", ((T, "AB"), (T, "(?i)ab")), 1, True),
    ("regexp_extract", ((T, "abcd"), (T, "(b)(c|d)"), (I, 2)), 2, "c"),
    ("regexp_extract", ((T, "abcd"), (T, "x"), (I, 0)), 2, ""),
    ("regexp_replace", ((T, "a1b22"), (T, "[0-9]+"), (T, "#"), (T, "g")), 3, "a#b#"),
    ("regexp_replace", ((T, "a1b22"), (T, "[0-9]"), (T, "#"), (T, "")), 3, "a#b22"),
    ("periods", ((D, DAY(1, 1, 1)), (T, "week")), 1, 0),
    ("periods", ((D, DAY(1970, 1, 1)), (T, "day")), 1, 719162),
    ("periods", ((M, MOMENT.max), (T, "microsecond")), 1, 315537897599999999),
    ("periods", ((M, LATE), (T, "quarter")), 1, 8092),
    ("periods", ((D, DAY(1970, 1, 1)), (T, "decade")), 1, 197),
    ("shift", ((D, DAY(2024, 1, 31)), (I, 1), (T, "month")), 1, DAY(2024, 2, 29)),
    ("shift", ((D, DAY(9999, 12, 31)), (I, 1), (T, "day")), 1, None),
    ("shift", ((D, DAY(1, 1, 1)), (I, LEAST), (T, "month")), 1, None),
    ("shift", ((M, MOMENT(1, 1, 1)), (I, -1), (T, "microsecond")), 1, None),
    ("shift", ((M, LATE), (I, -12), (T, "month")), 1, LATE.replace(year=2023, day=28)),
    (
        "strftime",
        ((D, DAY(9, 1, 1)), (T, "%Y %y %% %B %A %j %u %w %G-%V %a %b %d %m")),
        1,
        "0009 09 % January Thursday 001 4 4 0009-01 Thu Jan 01 01",
    ),
    ("strftime", ((M, LATE), (T, "%H:%M:%S.%f %I %p")), 1, "23:59:59.999999 11 PM"),
    ("add", ((I, MOST), (F, 0.0)), 0, 2.0**63),
    ("eq", ((I, MOST), (F, 2.0**63)), 0, True),
    ("case", ((B, None), (I, 1), (B, True), (F, 2.5), (I, 3)), 0, 2.5),
    ("case", ((B, None), (I, 1), (I, 3)), 0, 3),
    ("case", ((B, False), (T, "a"), (T, None)), 1, None),
    ("coalesce", ((I, None), (F, None), (I, 2)), 0, 2.0),
    ("least", ((I, 2), (F, None), (F, 1.5)), 0, 1.5),
]


@pytest.mark.parametrize(("operator", "operands", "constants", "expected"), CONSTANTS, ids=range(len(CONSTANTS)))
def test_an_operator_with_constants_gives_what_the_page_says(
    engine: Engine, operator: str, operands: tuple[tuple[Kind, Value], ...], constants: int, expected: Value
) -> None:
    found = valued(engine, operator, *operands, constants=constants)
    assert (type(found), found) == (type(expected), expected)


def test_every_operator_is_tried() -> None:
    tried = {case[1] for case in ALL} | {case[0] for case in CONSTANTS}
    assert set(OPERATORS) == tried


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**400, math.inf, math.nan, None])
def test_a_constant_that_no_kind_holds_is_missing(engine: Engine, value: Value) -> None:
    kind = F if isinstance(value, float) else I
    assert engine.images([Literal(value, kind)], []) == ((None,),)


def test_names_and_constants_cannot_leave_their_places(engine: Engine) -> None:
    name, text = 'x" FROM t; --', "'); DROP TABLE t; --"
    column = Column(name, T)
    assert engine.images([call("eq", column, Literal(text, T))], [(column, (text, "a"))]) == ((False,), (True,))
    assert quoted(name) == '"x"" FROM t; --"'


def test_images_are_the_different_tuples_in_order_with_missing_ones_first(engine: Engine) -> None:
    day, flag = Column("day", D), Column("flag", B)
    days = (DAY(2024, 1, 31), DAY(2024, 1, 1), None, DAY(2023, 5, 5))
    made = [call("date_trunc", day, Literal("month", T)), flag]
    assert engine.images(made, [(day, days), (flag, (True, None))]) == (
        (None, None),
        (None, True),
        (DAY(2023, 5, 1), None),
        (DAY(2023, 5, 1), True),
        (DAY(2024, 1, 1), None),
        (DAY(2024, 1, 1), True),
    )


def test_deep_expressions_do_not_grow_by_powers(engine: Engine) -> None:
    depth = 60 if engine.name == "DuckDB" else 12  # SQLite reads nothing that is nested much deeper
    number: Expression = Column("x", F)
    text: Expression = Column("t", T)
    whole: Expression = Column("n", I)
    for _ in range(depth):
        number = call("div", call("mul", number, number), Literal(3.0, F))
        text = call("concat", text, text)
        whole = call("sub", call("clamp", whole, *ENDS), call("clamp", call("neg", whole), *ENDS))
    assert engine.images([number], [(Column("x", F), (1.0, 3.0))])[-1] == (3.0,)
    assert engine.images([text], [(Column("t", T), ("ab",))]) == (("ab" * 500,),)
    assert engine.images([whole], [(Column("n", I), (1,))]) == ((2,),)


ENDS = (Literal(-1, I), Literal(1, I))


def test_bounds_that_hold_only_if_nothing_is_missing_prove_nothing() -> None:
    """least(x, y) is at most x; but if x is missing, though its codebook says that it never is, it is y."""
    bounded = Column("x", I, Facts((Fraction(0), Fraction(10)), nullable=False))
    least = call("least", bounded, Column("y", I))
    scope = Scope(Statement(DUCKDB), {"x": "f0", "y": "f1"}, {"x": (0, 10)})
    assert largest(bounded, scope) == 10
    assert largest(least, scope) == 2**63
    assert largest(call("mul", bounded, Literal(-7, I)), scope) == 70


NASTY: dict[Kind, list[Any]] = {
    I: [0, 1, -1, 7, 2**31, 2**53 + 1, 2**62, MOST, LEAST, None],
    F: [0.0, 0.5, 2.5, -1.5, 1e308, -1.7e308, 5e-324, 2.0**63, -(2.0**63), None],
    T: ["", "a", "\0", "🙂", "x" * 1000, "%", None],
    B: [True, False, None],
    D: [DAY(1, 1, 1), DAY(9999, 12, 31), DAY(2024, 2, 29), None],
    M: [MOMENT(1, 1, 1), MOMENT.max, LATE, None],
}
LEAVES = [(Column(kind.value, kind), values) for kind, values in NASTY.items()]
GROWING = ("neg", "abs", "add", "sub", "mul", "div", "mod", "floor", "round", "trunc", "to_int", "to_float", "int_div")
GROWING += tuple(one.name for one in FUNCTIONS)


@st.composite
def expressions(draw: st.DrawFn) -> Expression:
    made: Expression = draw(st.sampled_from([Column("int", I), Column("float", F)]))
    for _ in range(draw(st.integers(1, 6))):
        operator = draw(st.sampled_from(GROWING))
        other = draw(st.sampled_from([Column("int", I), Column("float", F), Literal(0, I), Literal(-1, I), made]))
        parts = [made] if OPERATORS[operator].most == 1 else draw(st.permutations([made, other]))
        if operator == "int_div":
            parts = [call("to_int", part) for part in parts]
        made = call(operator, *parts)
    return made


@given(expressions())
@settings(max_examples=examples(150), deadline=None)
def test_nothing_raises_and_what_comes_is_a_number_or_missing(engine: Engine, made: Expression) -> None:
    found = engine.images([made], LEAVES[:2])
    for (value,) in found:
        assert value is None or math.isfinite(value)  # type: ignore[arg-type]
        assert value is None or isinstance(value, int if made.kind is I else float)
        assert not isinstance(value, int) or LEAST <= value <= MOST


ENDS_TRIED = [(0.0, 1.0), (1.0, 1000.0), (-3.0, 2.0), (0.5, 0.5), (1e-300, 1e300), (-1e9, 1e-9), (-745.0, 709.7)]


@pytest.mark.parametrize("ends", ENDS_TRIED, ids=str)
@pytest.mark.parametrize("name", [one.name for one in FUNCTIONS])
def test_functions_lie_in_their_ranges_and_near_the_reference(
    engine: Engine, name: str, ends: tuple[float, float]
) -> None:
    low, high = ends
    column = Column("x", F, Facts((Fraction(low), Fraction(high)), nullable=False))
    points = sorted({low, high, *(low + (high - low) * place / 64 for place in range(65)), math.nextafter(low, high)})
    points += [math.nextafter(high, low), *([0.0, 1.0] if low <= 0 and high >= 1 else [])]
    many = OPERATORS[name].most or 1
    exponents = [Literal(power, F) for power in (-1.0, 0.5, 2.0, 3.0)] if many == 2 else [None]
    for exponent in exponents:
        made = call(name, column, *([] if exponent is None else [exponent]))
        for point, value in engine.images([column, made], [(column, tuple(dict.fromkeys(points)))]):
            assert isinstance(point, float)
            expected = evaluate(made, {"x": point})
            assert (value is None) == (expected is None)
            if value is not None and isinstance(expected, float):
                assert isinstance(value, float) and math.isclose(value, expected, rel_tol=1e-13, abs_tol=1e-300)
                between = made.facts.numbers
                assert between is None or between[0] <= value <= between[1], (name, point, value)
