"""Spark, in the short form of what the other tests of engines ask: each statement takes it a quarter of a second."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from decimal import Decimal
from typing import Any

import pytest
from tests.examples.operators import BOOLS, CONSTANTS, DAYS, FLOATS, TEXTS, TIMES, WHOLE
from tests.examples.spark import opened_in_spark, spark_session
from tests.fuzz.plans import nasty_case, stays_close
from tests.reference.choices import Seeded
from tests.reference.duck import by_rank
from tests.reference.laws import agree
from tests.reference.plans import Case, cells
from tests.reference.spark import computed, computed_by_value
from tests.reference.texts import read_text
from tests.reference.values import read
from tests.reference.worlds import world

from sfumato.errors import BadArgument
from sfumato.query.engines.needs import needs_of_cells
from sfumato.query.engines.protocol import Engine
from sfumato.query.engines.spark.dialect import LACKS, SPARK
from sfumato.query.engines.sql.dialect import LARGEST, LIMB
from sfumato.query.nodes.expressions import Column, Expression, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import MOST_INT, MOST_ROWS, Kind, Value
from sfumato.query.nodes.operators import OPERATORS, call
from sfumato.query.nodes.relations import Owner, Placed, Placing, Scan, Windowed
from sfumato.query.plan.engine_plan import Bound, Cells, PublicKeys, Rows, Term, Total, Units
from sfumato.query.plan.grids import Grid

pa = pytest.importorskip("pyarrow")

KINDS = (Kind.INT, Kind.FLOAT, Kind.TEXT, Kind.BOOL, Kind.DATE, Kind.TIME)
B, I, F, T, D, M = Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIME  # noqa: E741
TOGETHER = 40
"""So many operations are asked for in one statement."""

PART = pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.nightly) for part in range(1, 20))])


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with closing(opened_in_spark({}, {})) as made:
        yield made


CASES = [
    *(
        (operator, [(kind, value) for value in operands], 0, expected)
        for kind, cases in zip(KINDS, (WHOLE, FLOATS, TEXTS, BOOLS, DAYS, TIMES), strict=True)
        for operator, operands, expected in cases
    ),
    *((operator, list(operands), constants, expected) for operator, operands, constants, expected in CONSTANTS),
]
ABLE = [case for case in CASES if case[0] not in LACKS]
LAST = list({case[0]: case for case in ABLE}.values())
"""One case of each operator."""


@pytest.mark.parametrize("start", range(0, len(LAST), TOGETHER))
def test_operators_give_what_the_page_says(engine: Engine, start: int) -> None:
    asked_at_once(engine, LAST[start : start + TOGETHER])


def test_letters_are_those_of_no_language(engine: Engine) -> None:
    """The machine is set to Turkish (`tests/examples/spark.py`), where the small letter of I has no dot."""
    asked_at_once(engine, [("lower", [(T, "IÉ")], 0, "ié"), ("upper", [(T, "ié")], 0, "IÉ")])


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(0, len(ABLE), TOGETHER))
def test_operators_give_what_the_page_says_of_every_case(engine: Engine, start: int) -> None:
    asked_at_once(engine, ABLE[start : start + TOGETHER])


def asked_at_once(engine: Engine, cases: Sequence[tuple[str, Any, int, Value]]) -> None:
    """Asks for several operations in one statement."""
    made: list[Expression] = []
    leaves: dict[tuple[Kind, str], tuple[Column, tuple[Value, ...]]] = {}
    for operator, operands, constants, _ in cases:
        first = len(operands) - constants
        parts: list[Expression] = [Literal(value, kind) for kind, value in operands]
        for place, (kind, value) in enumerate(operands[:first]):
            column = Column(f"x{len(leaves)}", kind)
            parts[place] = leaves.setdefault((kind, repr(value)), (column, (value,)))[0]
        made.append(call(operator, *parts))
    (found,) = engine.images(made, list(leaves.values()))
    for (operator, operands, _, expected), value in zip(cases, found, strict=True):
        assert (operator, operands, type(value), value) == (operator, operands, type(expected), expected)
        assert not isinstance(value, float) or math.copysign(1, value) == 1 or value < 0


def test_every_operator_is_tried_or_refused() -> None:
    assert {case[0] for case in CASES} == set(OPERATORS)
    assert set(OPERATORS) - {case[0] for case in ABLE} == LACKS


NUMBERS = ["12", "-0.5", ".5", "1.", "+7", "1e+05", "1,000", "0x1f", "inf", "NaN", "", " 12.5 ", "2.5", "3.5", "-2.5",
           "9223372036854775807", "9223372036854775808", "-9223372036854775808.4", "1e400", "1e-400", "1e18", "1d", "٣",
           "0.49999999999999999999999999", "9" * 60, "12\n", "1\0", "1 2", "00012", "-0"]  # fmt: skip
TRUTHS = ["true", "T", "yes", "Y", "1", "1.0", "false", "F", "no", "n", "0", "0.0", "2", "", "tru", "NULL", " yes\t"]
MOMENTS = ["2012-01-31", "2012/1/31", "20120131", "2012-1-5", "2012-02-30", "0000-01-01", "0001-01-01", "9999-12-31",
           "2012-01-31T9:05", "2012-01-31 09:05:30.25", "2012-01-31 09:05:30.1234567", "2012-01-31T23:59:59Z",
           "2012-01-31 00:30:00+02", "2012-01-31 00:30:00 +0200", "2012-01-31 00:30:00-02:30", "2012-01-31 24:00",
           "2012-01-31 23:59:60", "20120131 10:00", "01/02/2012", "2012-01-31 10:00 UTC", "2012-13-01", "12345-01-01",
           "2012-01-31 10:00:00." + "9" * 40, "2012-01-31  10:00", "2012/1-31", "0001-01-01 00:00+02"]  # fmt: skip


@pytest.mark.parametrize(("kind", "texts"), [(I, NUMBERS), (F, NUMBERS), (B, TRUTHS), (D, MOMENTS), (M, MOMENTS)])
def test_texts_read_as_the_page_says(engine: Engine, kind: Kind, texts: list[str]) -> None:
    column = Column("t", T)
    pairs = engine.images([column, call(f"to_{WORDS[kind]}", column)], [(column, tuple(texts))])
    found = {str(text): value for text, value in pairs}
    expected = {text: read(text, kind) for text in texts}
    assert {text: (found[text], type(found[text])) for text in texts} == {
        text: (value, type(value)) for text, value in expected.items()
    }
    assert any(read_text(text, kind) is not None for text in texts)


WORDS = {I: "int", F: "float", B: "bool", D: "date", M: "time"}


# The engine and the interpreter agree, to the integer; neighbours move numbers no further than declared.


@PART
def test_cells_agree(part: int) -> None:
    for seed in range(part * 5, part * 5 + (5 if part else 3)):
        choices = Seeded(40_000 + seed)
        here = world(choices)
        asked = cells(choices, here)
        if is_able(asked):
            agree(Case(here, asked), computed_by_value, by_rank)


@PART
def test_neighbours_move_numbers_no_further_than_declared(part: int) -> None:
    for seed in range(part * 2, part * 2 + 2):
        choices = Seeded(500_000 + seed)
        case = nasty_case(choices)
        if is_able(case.cells):
            stays_close(choices, case, computed, most=1)


def is_able(asked: Cells) -> bool:
    """Tells whether Spark has all that is asked for; the planner refuses the rest."""
    return not LACKS & set(needs_of_cells(asked))


# Bounds, whatever the hash does


USER = Column("user", I, Facts(), "t.user", 0)
SITE, X = Column("site", T, Facts(), "t.site"), Column("x", F, Facts(), "t.x")
TABLE = Scan("t", (USER, SITE, X), Owner("user"))
GRID = Grid(-8.0, 8.0, 0.0, 4)
TALLIES = (Rows(), Total((Term(X, GRID),)), Rows(X), Units())


def numbers(engine: Engine, asked: Cells) -> dict[Any, tuple[int, ...]]:
    found = engine.run(asked)
    many = len(found.numbers[0])
    keys = (
        [(int(place),) for place in found.places] if found.places is not None else list(zip(*found.keys, strict=True))
    )
    return dict(zip(keys or [()] * many, zip(*(map(int, one) for one in found.numbers), strict=True), strict=True))


def test_a_person_in_all_groups_with_very_many_rows_counts_as_any_other() -> None:
    crowd(200_000)


@pytest.mark.nightly
def test_a_person_with_ten_million_rows_counts_as_any_other() -> None:
    crowd(10_000_000)


def crowd(many: int) -> None:
    """Asks about a table in which one person has so many rows, and hundred others have one."""
    session = spark_session()
    frame = session.sql(
        f"SELECT IF(id < {many}, 7, 1000 + id) AS user, CAST(id % 4 AS STRING) AS site, CAST(id % 3 AS DOUBLE) AS x"
        f" FROM range(0, {many + 100}, 1, 2)"
    )
    with closing(opened_in_spark({"t": frame}, {"t": TABLE})) as engine:
        listed = PublicKeys((("0", "1", "2", "3"),), certain=True)
        found = numbers(engine, Cells(TABLE, (SITE,), TALLIES, Bound(2, 3), listed))
        cut = numbers(engine, Cells(TABLE, (), (Rows(), Units()), Bound(None, 5, cut=True)))
    assert cut == {(): (105, 101)}
    assert sum(one[0] for one in found.values()) == 100 + 2 * 3
    assert sum(one[3] for one in found.values()) == 100 + 2
    assert len(found) == 4 and all(25 <= one[0] <= 28 for one in found.values())


def test_without_an_order_all_rows_of_a_unit_are_first() -> None:
    """Spark itself refuses such windows."""
    ranks = [Column("r", I), Column("d", I)]
    placed = zip((Placing.RANK, Placing.DENSE_RANK), ranks, strict=True)
    scan = Scan("t", (USER, X), Owner("user"))
    window = Windowed(scan, (), (), tuple(Placed(placing, None, column) for placing, column in placed))
    table = pa.table({"user": [1, 1, 2], "x": [0.5, 1.5, 2.5]})
    with closing(opened_in_spark({"t": table}, {"t": scan})) as engine:
        assert numbers(engine, Cells(window, tuple(ranks), (Rows(),), Bound(None, 9))) == {(1, 1): (3,)}


@pytest.mark.parametrize("bits", [0, 40, 59])
def test_sums_are_exact_whatever_their_size(bits: int) -> None:
    """In 64 bits, in two limbs, and in decimals."""
    most = 2**bits
    column = Column("n", I)
    scan = Scan("t", (USER, column), Owner("user"))
    rows = [(user, sign * (most - user)) for user in range(4) for sign in (1, 1, -1, 1, 1)]
    table = pa.table({"user": [user for user, _ in rows], "n": [number for _, number in rows]})
    total = Total((Term(column, Grid(-most, most, 0, 0)),))
    for bound in (Bound(), Bound(1, None), Bound(1, 2), Bound(None, 3)):
        with closing(opened_in_spark({"t": table}, {"t": scan})) as engine:
            (found,) = numbers(engine, Cells(scan, (), (total,), bound)).values()
        held = [3 * max(most - user, -most) for user in range(4)]  # of five rows each
        wanted = sum(held) if bound.rows is None else sum(one * bound.rows // 5 for one in held if one >= 0)
        wanted -= 0 if bound.rows is None else sum(-one * bound.rows // 5 for one in held if one < 0)
        assert found == (wanted,), (bound, found)


def test_limbs_have_room_for_the_rows_of_any_table() -> None:
    """No test has so many rows: the rule is checked at its edges."""
    assert SPARK.parts_of_sum("v", 2**22) == ["coalesce(sum(v), 0L)"]
    assert len(SPARK.parts_of_sum("v", 2**23)) == len(SPARK.parts_of_sum("v", LARGEST - 1)) == 2
    assert SPARK.parts_of_sum("v", LARGEST) == SPARK.parts_of_sum("v", None) == [SPARK.wide_sum.format("v")]
    assert (LARGEST >> LIMB) * MOST_ROWS + MOST_ROWS <= MOST_INT and 2**LIMB * MOST_ROWS <= MOST_INT + 1


# What Spark holds


def test_every_type_is_read_as_the_page_says(tmp_path: Any) -> None:
    session = spark_session()
    frame = session.sql(
        "SELECT 1 AS user, 2.5F AS f, 2.5BD AS exact, double('NaN') AS nan, double('-Infinity') AS inf, -0.0D AS zero,"
        " TIMESTAMP '2024-01-01 00:00:00 America/New_York' AS at, TIMESTAMP_NTZ '2024-01-01 00:00:00' AS local,"
        " DATE '2024-02-29' AS day, array('a', NULL) AS tags, 'A' COLLATE UTF8_LCASE AS word, 3Y AS tiny,"
        " X'61' AS bytes, CAST(X'61ff' AS STRING) AS broken, date_add(DATE '9999-12-31', 1) AS late, TRUE AS flag,"
        " map(1, 2) AS pairs"
    )
    kinds = {"f": I, "exact": I, "nan": F, "inf": F, "zero": F, "at": M, "local": M, "day": D, "word": T, "tiny": I}
    kinds |= {"broken": T, "late": D, "flag": B}
    columns = {name: Column(name, kind, Facts(), f"t.{name}") for name, kind in kinds.items()}
    scan = Scan("t", tuple(columns.values()))
    with closing(opened_in_spark({"t": frame}, {"t": scan})) as engine:
        found = {name: values[0] for name, values in engine.rows(scan).items()}
    assert found == {
        "f": 2, "exact": 2, "nan": None, "inf": None, "zero": 0.0, "at": datetime.datetime(2024, 1, 1, 5),
        "local": datetime.datetime(2024, 1, 1), "day": datetime.date(2024, 2, 29), "word": "A", "tiny": 3,
        "broken": None, "late": None, "flag": True,
    }  # fmt: skip
    for name, kind in (("bytes", T), ("pairs", T), ("day", I), ("flag", F)):
        with pytest.raises(BadArgument, match=f"t.{name} can be read as {kind.value}"):
            opened_in_spark({"t": frame}, {"t": Scan("t", (Column(name, kind),))})
    with pytest.raises(BadArgument, match="case matters"):
        opened_in_spark({"t": frame}, {"t": Scan("t", (Column("USER", I),))})


IDS = [
    ("bigint", [1, 2, None, 2**63 - 1], 3),
    ("double", [0.0, -0.0, math.nan, 1.5, math.inf, None], 3),
    ("decimal(38,2)", [Decimal("1.00"), Decimal("1.01"), Decimal("1"), None], 2),
    ("string", ["a", "A", "a ", None, ""], 4),
    ("date", [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None], 2),
]


@pytest.mark.parametrize(("held", "ids", "different"), IDS, ids=[held for held, _, _ in IDS])
def test_people_are_told_apart_as_the_source_holds_them(held: str, ids: list[Any], different: int) -> None:
    frame = spark_session().createDataFrame([(one,) for one in ids], f"user {held}")
    kind = {"bigint": I, "double": F, "string": T, "date": D}.get(held, I)
    scan = Scan("t", (Column("user", kind, Facts(), "t.user", 0),), Owner("user"))
    with closing(opened_in_spark({"t": frame}, {"t": scan})) as engine:
        (found,) = numbers(engine, Cells(scan, (), (Units(), Rows()), Bound(None, 1, cut=True))).values()
    assert found[0] == different
    assert found[1] == different
