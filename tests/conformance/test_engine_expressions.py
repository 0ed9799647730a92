"""Every operator in every engine, on nasty values, against what docs/semantics.md says (and not against an engine)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples.engines import WITHOUT_NUL, Opening
from tests.examples.operators import BOOLS, CONSTANTS, DAY, DAYS, FLOATS, LATE, LEAST, MOMENT, MOST, TEXTS, TIMES, WHOLE
from tests.profiles import examples
from tests.reference.values import evaluate

from sfumato.errors import QueryRefused
from sfumato.query.engines.duckdb.dialect import DUCKDB
from sfumato.query.engines.needs import refuse_lacking
from sfumato.query.engines.protocol import Engine
from sfumato.query.engines.sizes import largest
from sfumato.query.engines.sql.statement import Scope, Statement, quoted
from sfumato.query.nodes.expressions import Column, Expression, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.operators import OPERATORS, call
from sfumato.query.nodes.operators.functions import FUNCTIONS

B, I, F, T, D, M = Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIME  # noqa: E741


@pytest.fixture(scope="module")
def engine(opening: Opening) -> Iterator[Engine]:
    made = opening({}, {})
    yield made
    made.close()


def valued(engine: Engine, operator: str, *operands: tuple[Kind, Value], constants: int = 0) -> Value:
    """Gives what an operation makes of columns that hold one value each; the last ``constants`` are written out.

    What an engine lacks is asserted to be refused, and is not tried.
    """
    if operator in engine.lacks:
        with pytest.raises(QueryRefused, match=f"{engine.name} cannot compute {operator}"):
            refuse_lacking(engine.name, engine.lacks, [operator])
        pytest.skip(f"{engine.name} has no {operator}")
    if engine.name in WITHOUT_NUL and any(isinstance(value, str) and "\0" in value for _, value in operands):
        with pytest.raises(QueryRefused, match=r"U\+0000"):
            made_of(engine, operator, *operands, constants=constants)
        pytest.skip(f"{engine.name} has no text with U+0000")
    return made_of(engine, operator, *operands, constants=constants)


def made_of(engine: Engine, operator: str, *operands: tuple[Kind, Value], constants: int) -> Value:
    first = len(operands) - constants
    columns = [Column(f"x{place}", kind) for place, (kind, _) in enumerate(operands[:first])]
    parts: list[Expression] = [*columns, *(Literal(value, kind) for kind, value in operands[first:])]
    leaves = [(column, (value,)) for column, (_, value) in zip(columns, operands, strict=False)]
    ((found,),) = engine.images([call(operator, *parts)], leaves)
    return found


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
def test_functions_lie_in_their_ranges_near_the_reference(engine: Engine, name: str, ends: tuple[float, float]) -> None:
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
