"""Parquet and DuckDB files: an answer is what the rows say, whatever a file says of them and whatever a cell holds."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.examples.lying_files import (
    CELLS,
    COLUMNS,
    ID,
    QUESTIONS,
    WIDE,
    WRITERS,
    X,
    by_pyarrow,
    held,
    of_bits,
    of_bytes,
    plain,
)
from tests.profiles import examples

from sfumato.errors import BadArgument
from sfumato.query.engines.duckdb.dialect import DUCKDB
from sfumato.query.engines.duckdb.engine import DuckDBEngine
from sfumato.query.engines.duckdb.sources import open_source
from sfumato.query.engines.inputs.files import SMALL
from sfumato.query.engines.sql.cells import statement_of
from sfumato.query.engines.sql.relations import Relations
from sfumato.query.engines.sql.statement import Statement
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Owner, Scan
from sfumato.query.plan.engine_plan import Cells, Rows

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars")


@dataclass(frozen=True)
class Book:
    """Stands for a catalog: tables with their columns."""

    tables: Mapping[str, Scan]


def opened(path: Path, *columns: Column, small: int = SMALL) -> DuckDBEngine:
    return open_source(path, Book({"t": Scan("t", columns or COLUMNS)}), small=small)  # type: ignore[arg-type]


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
