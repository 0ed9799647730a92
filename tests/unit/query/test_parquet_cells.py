"""Parquet and DuckDB files: an answer is what the rows say, whatever a file says of them and whatever a cell holds."""

from __future__ import annotations

import datetime
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.profiles import examples

from sfumato.errors import BadArgument
from sfumato.query.engines.duckdb.dialect import DUCKDB
from sfumato.query.engines.duckdb.engine import DuckDBEngine
from sfumato.query.engines.duckdb.sources import open_source
from sfumato.query.engines.inputs.files import SMALL
from sfumato.query.engines.sql.cells import statement_of
from sfumato.query.engines.sql.relations import Relations
from sfumato.query.engines.sql.statement import Statement
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Owner, Relation, Scan, Where
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Units

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars")

MANY, EACH = 3000, 500
"""Rows of a file, and of each of its row groups."""

UNIT = Facts((Fraction(0), Fraction(1)))
COLUMNS = (
    Column("id", Kind.INT, Facts(), "t.id", 0),
    Column("x", Kind.FLOAT, UNIT),
    Column("n", Kind.INT, Facts((Fraction(0), Fraction(100)))),
    Column("free", Kind.INT),
    Column("flag", Kind.BOOL),
)
ID, X, N, FREE, FLAG = COLUMNS
TABLE = Scan("t", COLUMNS, Owner("id"))
ROWS = Scan("t", COLUMNS, Owner())


@dataclass(frozen=True)
class Book:
    """Stands for a catalog: tables with their columns."""

    tables: Mapping[str, Scan]


def opened(path: Path, *columns: Column, small: int = SMALL) -> DuckDBEngine:
    return open_source(path, Book({"t": Scan("t", columns or COLUMNS)}), small=small)  # type: ignore[arg-type]


def held() -> dict[str, Any]:
    place = np.arange(MANY)
    return {
        "id": place // 3,
        "x": np.where(place % 10 == 0, np.nan, place / MANY),
        "n": place % 90,
        "free": place % 7,
        "flag": place % 2 == 0,
    }


def by_pyarrow(path: Path) -> None:
    pq.write_table(pa.table(held()), path, row_group_size=EACH, write_page_index=True)


def by_polars(path: Path) -> None:
    pl.DataFrame(held()).write_parquet(path, row_group_size=EACH, statistics="full")


def in_footer(path: Path, old: bytes, new: bytes) -> None:
    """Changes what a Parquet file says of itself after its pages."""
    whole = path.read_bytes()
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    assert old in whole[start:]
    path.write_bytes(whole[:start] + whole[start:].replace(old, new))


def lying_numbers(path: Path) -> None:
    """All numbers of the column n lie between 200 and 210, says the footer; and free is 50."""
    by_pyarrow(path)
    for old, new in ((0, 200), (89, 210), (6, 50)):
        in_footer(path, b"\x08" + struct.pack("<q", old), b"\x08" + struct.pack("<q", new))


def lying_missing(path: Path) -> None:
    """No value of free is missing, says the footer."""
    columns = held() | {"free": pa.array([None if place % 3 == 0 else place % 7 for place in range(MANY)])}
    pq.write_table(pa.table(columns), path, row_group_size=EACH)
    least = struct.pack("<q", 0) + b"\x16"  # in what is said of a column, the count of missing values stands behind it
    for counted in (b"\xce\x02", b"\xcc\x02"):  # 167 and 166
        in_footer(path, least + counted, least + b"\x80\x00")


WRITERS: dict[str, Callable[[Path], None]] = {
    "NaN by pyarrow": by_pyarrow,
    "NaN by polars": by_polars,
    "wrong least and greatest": lying_numbers,
    "wrong count of missing": lying_missing,
}


def plain(path: Path) -> Path:
    """Gives the same rows in a file that says nothing of them."""
    table = pq.read_table(path)
    table = pa.table({name: pa.array(table.column(name).to_pylist()) for name in table.column_names})
    other = path.with_name("plain.parquet")
    pq.write_table(table, other, write_statistics=False)
    return other


def where(*conditions: Expression, over: Relation = TABLE) -> Relation:
    for condition in conditions:
        over = Where(over, condition)
    return over


QUESTIONS = {
    "there": Cells(TABLE, (), (Rows(X), Rows(N), Rows(FREE), Rows(FLAG), Units())),
    "rows": Cells(ROWS, (), (Rows(X), Rows(N), Rows(FREE), Rows(FLAG))),
    "equal": Cells(where(call("eq", FREE, literal(3))), (), (Rows(), Units())),
    "below": Cells(where(call("lt", N, literal(50))), (N,), (Rows(), Rows(X))),
    "above": Cells(where(call("gt", X, literal(0.5))), (), (Rows(), Rows(X))),
    "missing": Cells(where(call("is_null", FREE)), (), (Rows(), Units())),
    "there only": Cells(where(call("not", call("is_null", FREE))), (FREE,), (Rows(), Units()), Bound(2, 2)),
    "flag": Cells(where(FLAG), (FREE,), (Rows(), Units())),
    "no x": Cells(where(call("is_null", X)), (), (Rows(), Units())),
}


def numbers(engine: DuckDBEngine, cells: Cells) -> Any:
    found = engine.run(cells)
    return [column.tolist() for column in found.numbers], [list(keys) for keys in found.keys]


@pytest.mark.parametrize("small", [0, SMALL], ids=["in place", "copied"])
@pytest.mark.parametrize("writer", WRITERS)
def test_what_a_file_says_of_its_rows_changes_no_answer(tmp_path: Path, writer: str, small: int) -> None:
    path = tmp_path / "x.parquet"
    WRITERS[writer](path)
    engine, honest = opened(path, small=small), opened(plain(path))
    for name, cells in QUESTIONS.items():
        assert numbers(engine, cells) == numbers(honest, cells), name


def test_the_files_lie(tmp_path: Path) -> None:
    """Were DuckDB to believe them, answers would differ: what is tested above is not empty."""
    found = {}
    for name, writer in WRITERS.items():
        path = tmp_path / "x.parquet"
        writer(path)
        asked = f"SELECT count(x), count(*) FILTER (x BETWEEN 0 AND 1), (SELECT count(*) FROM '{path}' WHERE x > 2)"
        asked += f", (SELECT count(*) FROM '{path}' WHERE n < 50), (SELECT count(*) FROM '{path}' WHERE free IS NULL)"
        found[name] = duckdb.connect().execute(f"{asked} FROM '{path}'").fetchall()[0]
        engine = opened(path, small=0)
        with engine._connection.cursor() as cursor:
            blind = cursor.execute(f"{asked} FROM '{path}'").fetchall()[0]
        assert found[name] != blind, name


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_condition_reaches_a_scan(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.parquet"
    by_pyarrow(path)
    engine = opened(path, small=0)
    statement = Statement(DUCKDB)
    text = statement_of(QUESTIONS[name], Relations(engine._tables, statement))
    with engine._connection.cursor() as cursor:
        plan = cursor.execute(f"EXPLAIN {text}", statement.bound(text)).fetchall()[0][1]
    assert "READ_PARQUET" in plan
    assert "Filters:" not in plan
    assert "Empty Result" not in plan


def test_no_step_of_the_optimiser_is_on_that_nobody_looked_at() -> None:
    from sfumato.query.engines.duckdb.connection import BLIND, connected

    with connected() as connection:
        off = set(
            connection.cursor().execute("SELECT current_setting('disabled_optimizers')").fetchall()[0][0].split(",")
        )
        known = {name for (name,) in connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()}
    assert known - off == BLIND


# Cells that DuckDB's own reader, or its casts, give up at


def of_bits(kind: Any, *values: int) -> Any:
    width = kind.bit_width // 8
    data = b"".join(value.to_bytes(width, "little", signed=True) for value in values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(data)])


def of_bytes(*texts: bytes) -> Any:
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(texts), [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(texts))]
    )


FAR = (2**62, -(2**62), 2**63 - 1, -(2**63), -(2**63) + 1)
WIDE = (-(2**127), 2**127 - 1, 10**38, -(10**38))
CELLS: dict[str, tuple[Kind, Any, list[Value]]] = {
    **{
        f"timestamp {unit} {zone}": (
            Kind.TIME,
            of_bits(pa.timestamp(unit, zone), *FAR, 86_400 * 10 ** (3 * place)),
            [None] * len(FAR) + [datetime.datetime(1970, 1, 2)],
        )
        for place, unit in ((1, "ms"), (2, "us"))
        for zone in (None, "UTC")
    },
    **{
        f"timestamp ns {zone}": (
            Kind.TIME,
            of_bits(pa.timestamp("ns", zone), 2**62, -(2**63), 86_400 * 10**9, 2**63 - 1),
            [
                datetime.datetime(2116, 2, 20, 23, 53, 38, 427388),
                datetime.datetime(1677, 9, 21, 0, 12, 43, 145224),
                datetime.datetime(1970, 1, 2),
                None,
            ],
        )
        for zone in (None, "UTC")
    },
    "date": (
        Kind.DATE,
        of_bits(pa.date32(), 2**31 - 1, -(2**31), 2_932_897, -719_163, 1),
        [None, None, None, None, datetime.date(1970, 1, 2)],
    ),
    "text": (
        Kind.TEXT,
        of_bytes(b"\xff\xfe", b"", b"\xed\xa0\x80", b"\xc3", b"a\0b", b"\xc3\xa9"),
        [None, "", None, None, "a\0b", "é"],
    ),
    "words": (
        Kind.TEXT,
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), of_bytes(b"a", b"\xff", b"b")),
        ["a", None, "b", "a"],
    ),
    "text as id": (Kind.INT, of_bytes(b"\xff", b"7", b"1e5"), [None, 7, 100_000]),
    **{
        f"decimal({digits},{places}) as {kind.value}": (
            kind,
            of_bits(
                pa.decimal128(digits, places), *(WIDE if digits > 18 else (10**digits, -(10**digits))), 7 * 10**places
            ),
            [None] * (4 if digits > 18 else 2) + [7],
        )
        for digits, places in ((38, 0), (38, 10), (18, 2), (9, 0))
        for kind in (Kind.INT, Kind.FLOAT)
    },
    "half": (Kind.FLOAT, np.array([1.5, np.nan, np.inf, -np.inf], np.float16), [1.5, None, None, None]),
    "single": (Kind.INT, np.array([1.5, np.nan, np.inf, 3e38, 2.5], np.float32), [2, None, None, None, 2]),
    "unsigned": (Kind.INT, np.array([2**64 - 1, 5], np.uint64), [None, 5]),
}


@pytest.mark.parametrize("small", [0, SMALL], ids=["in place", "copied"])
@pytest.mark.parametrize("name", CELLS)
def test_no_cell_makes_a_question_fail(tmp_path: Path, name: str, small: int) -> None:
    kind, cells, expected = CELLS[name]
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"place": np.arange(len(cells)), "x": cells}), path)
    columns = (Column("place", Kind.INT), Column("x", kind))
    engine = opened(path, *columns, small=small)
    found = engine.rows(Scan("t", columns))
    assert list(zip(found["place"], found["x"], strict=True)) == list(enumerate(expected))
    present = sum(value is not None for value in expected)
    x = columns[1]
    assert engine.run(Cells(Scan("t", columns, Owner()), (), (Rows(x),))).numbers[0].tolist() == [present]
    assert engine.run(Cells(Scan("t", columns, Owner("x")), (), (Rows(x),))).numbers[0][0] <= present  # as an id
    assert engine.run(Cells(Scan("t", columns[:1], Owner()), (), (Rows(),))).numbers[0].tolist() == [len(cells)]


def test_a_table_in_a_database_may_hold_such_cells_too(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as writing:
        writing.register("given", pa.table({"x": of_bits(pa.decimal128(38, 5), *WIDE, 7 * 10**5)}))
        writing.execute("CREATE TABLE t AS FROM given")
    for kind in (Kind.INT, Kind.FLOAT):
        found = opened(path, Column("x", kind)).rows(Scan("t", (Column("x", kind),)))
        assert found["x"] == [None] * 4 + [7]


def test_what_breaks_one_question_breaks_no_other(tmp_path: Path) -> None:
    """Should DuckDB give up for a reason that nobody has seen yet, it goes on answering."""
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": of_bits(pa.decimal128(38, 0), *WIDE)}), path)
    engine = opened(path, Column("x", Kind.INT))
    with engine._connection.cursor() as cursor, pytest.raises(duckdb.Error):
        cursor.execute("SELECT max(CAST(c0 AS VARCHAR)) FROM t1").fetchall()
    assert engine.run(Cells(Scan("t", (), Owner()), (), (Rows(),))).numbers[0].tolist() == [4]


def test_texts_in_other_columns_break_no_time_or_duration(tmp_path: Path) -> None:
    """Times as Spark writes them, in 96 bits, and Arrow's own types beside a text that is none."""
    path = tmp_path / "x.parquet"
    times = of_bits(pa.timestamp("us"), 2**62, -(2**62), 253_402_300_799_999_999, -62_135_596_800_000_000, 1)
    lengths = of_bits(pa.duration("us"), 2**62, -(2**62), 0, 1, 2)
    texts = of_bytes(b"a", b"\xff", b"b", b"", b"c")
    columns = (Column("at", Kind.TIME), Column("long", Kind.INT), Column("x", Kind.TEXT))
    pq.write_table(pa.table({"at": times, "long": lengths, "x": texts}), path, use_deprecated_int96_timestamps=True)
    for small in (0, SMALL):
        found = opened(path, *columns, small=small).rows(Scan("t", columns))
        assert sorted(zip(*found.values(), strict=True), key=lambda row: row[1]) == [
            (None, -(2**62), None),
            (datetime.datetime.max, 0, "b"),
            (datetime.datetime.min, 1, ""),
            (datetime.datetime(1970, 1, 1, 0, 0, 0, 1), 2, "c"),
            (None, 2**62, "a"),
        ]


def test_decimals_that_duckdb_would_round_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": pa.array([Decimal(1)], pa.decimal256(39, 0))}), path)
    with pytest.raises(BadArgument, match="at most 38 digits"):
        opened(path, Column("x", Kind.FLOAT))


# The two ways of reading agree

FINITE = st.floats(allow_nan=True, allow_infinity=True)
TYPES: dict[str, tuple[Any, Any, Kind]] = {
    "int8": (pa.int8(), st.integers(-128, 127), Kind.INT),
    "uint64": (pa.uint64(), st.integers(0, 2**64 - 1), Kind.INT),
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1), Kind.FLOAT),
    "float": (pa.float32(), st.floats(width=32), Kind.FLOAT),
    "double": (pa.float64(), FINITE, Kind.INT),
    "bool": (pa.bool_(), st.booleans(), Kind.BOOL),
    "text": (pa.string(), st.text(st.characters(exclude_categories=("Cs",)), max_size=5), Kind.TEXT),
    "long text": (pa.large_string(), st.text("ab", min_size=995, max_size=1005), Kind.TEXT),
    "words": (pa.dictionary(pa.int32(), pa.string()), st.sampled_from(("a", "é", "", "🙂")), Kind.TEXT),
    "numbers": (pa.string(), st.sampled_from(("7", "1.5", "-2.5", "x", "", "1e5")), Kind.INT),
    "many words": (pa.dictionary(pa.int32(), pa.large_string()), st.sampled_from(("a", "", "7")), Kind.INT),
    "duration": (pa.duration("us"), st.integers(-(2**63), 2**63 - 1), Kind.INT),
    "decimal": (pa.decimal128(20, 3), st.decimals(-(10**15), 10**15, places=3, allow_nan=False), Kind.FLOAT),
    "date": (pa.date32(), st.dates(), Kind.DATE),
    **{
        f"time {unit} {zone}": (pa.timestamp(unit, zone), st.integers(-most, most), Kind.TIME)
        for unit, most in (("s", 10**10), ("ms", 10**13), ("us", 10**16), ("ns", 10**18))
        for zone in (None, "UTC")
    },
}


@st.composite
def tables(draw: Any) -> tuple[Any, tuple[Column, ...]]:
    names = draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=5, unique=True))
    many = draw(st.integers(0, 12))
    columns: dict[str, Any] = {"place": pa.array(range(many), pa.int64())}
    for name in names:
        kind, values, _ = TYPES[name]
        drawn = draw(st.lists(st.none() | values, min_size=many, max_size=many))
        if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
            columns[name] = pa.array(drawn, pa.int64()).view(kind)
        else:
            columns[name] = pa.array([_exact(value) for value in drawn], kind)
    read = (Column("place", Kind.INT), *(Column(name, TYPES[name][2]) for name in names))
    return pa.table(columns), read


def _exact(value: Any) -> Any:
    return value if not isinstance(value, Decimal) else value.quantize(Decimal("0.001"))


@given(tables(), st.integers(1, 5), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(60))
def test_both_ways_of_reading_give_the_same(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[Any, tuple[Column, ...]], each: int, old: bool
) -> None:
    table, columns = made
    path = tmp_path_factory.mktemp("both") / "x.parquet"
    pq.write_table(table, path, row_group_size=each, use_deprecated_int96_timestamps=old)
    engine = opened(path, *columns, small=0)
    quick = engine.rows(Scan("t", columns))
    assert engine._otherwise()
    total = engine.rows(Scan("t", columns))
    for name in quick:
        assert list(map(repr, quick[name])) == list(map(repr, total[name])), name
    assert not engine._otherwise()


def test_columns_are_found_by_their_place(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    names = ["a.b", "a", "X", "x", "z"]
    pq.write_table(pa.table([[place] for place in range(5)], names=names), path)
    columns = tuple(Column(name, Kind.INT) for name in ("z", "a", "X", "a.b"))
    engine = opened(path, *columns, small=0)
    quick = engine.rows(Scan("t", columns))
    assert quick == {"z": [4], "a": [1], "X": [2], "a.b": [0]}
    assert engine._otherwise()
    assert engine.rows(Scan("t", columns)) == quick


def test_files_whose_columns_stand_in_another_order_are_one_table(tmp_path: Path) -> None:
    good, bad = (pa.table({"x": ["a"], "n": [1]}), pa.table({"n": [2, 3], "x": of_bytes(b"\xff", b"b")}))
    pq.write_table(good, tmp_path / "1.parquet")
    pq.write_table(bad, tmp_path / "2.parquet")
    columns = (Column("n", Kind.INT), Column("x", Kind.TEXT))
    for small in (0, SMALL):
        engine = open_source(str(tmp_path / "*.parquet"), Book({"t": Scan("t", columns)}), small=small)  # type: ignore[arg-type]
        assert engine.rows(Scan("t", columns)) == {"n": [1, 2, 3], "x": ["a", None, "b"]}


def test_the_weight_of_somebody_else_is_not_in_the_scales(tmp_path: Path) -> None:
    """The attack: one person, added, whose value lies outside; everybody else's NaN must be read as before."""
    values = held()
    found = []
    for more in ([], [5.0]):
        path = tmp_path / f"{len(more)}.parquet"
        x = np.concatenate([values["x"], more])
        pq.write_table(pa.table({"id": np.arange(len(x)), "x": x}), path)
        columns = (replace(ID), X)
        engine = opened(path, *columns, small=0)
        found.append(engine.run(Cells(Scan("t", columns, Owner("id")), (), (Rows(X),))).numbers[0].tolist()[0])
    assert found[1] - found[0] == 1
    assert found[0] == sum(not math.isnan(value) for value in values["x"])
