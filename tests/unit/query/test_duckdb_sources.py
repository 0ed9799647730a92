"""Sources in DuckDB: every type is read as docs/semantics.md says, and nothing else can be read."""

from __future__ import annotations

import datetime
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.errors import BadArgument
from sfumato.query.engines.duckdb.engine import BROKE_OFF, DuckDBEngine
from sfumato.query.engines.duckdb.reading import readable
from sfumato.query.engines.duckdb.sources import open_source
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.relations import Owner, Scan
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Units

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

DAY, MOMENT = datetime.date, datetime.datetime
LEAST, MOST = -(2**63), 2**63 - 1
BOUNDS = Facts((Fraction(0), Fraction(90)))


@dataclass(frozen=True)
class Book:
    """Stands for a catalog: tables with their columns."""

    tables: Mapping[str, Scan]


def book(*columns: Column, owner: Owner | None = None, table: str = "t") -> Any:
    return Book({table: Scan(table, columns, owner)})


def read(source: Any, kind: Kind, facts: Facts | None = None) -> list[Value]:
    """Gives the column x of a source, in the order of its column n."""
    columns = (Column("n", Kind.INT), Column("x", kind, facts or Facts()))
    engine = open_source(source, book(*columns))
    found = engine.rows(Scan("t", columns))
    engine.close()
    assert list(found["n"]) == list(range(len(found["n"])))
    return list(found["x"])


def held(tmp_path: Path, type_: str, *texts: str) -> Path:
    """Gives a DuckDB file with a table of one column of a type."""
    path = tmp_path / f"held-{len(list(tmp_path.iterdir()))}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t (n INTEGER, x {type_})")
        for place, text in enumerate(texts):
            connection.execute(f"INSERT INTO t VALUES ({place}, {text})")
    return path


HELD: list[tuple[str, tuple[str, ...], Kind, Facts, list[Value]]] = [
    ("TINYINT", ("-128", "127", "NULL"), Kind.INT, Facts(), [-128, 127, None]),
    ("SMALLINT", ("-5", "500"), Kind.INT, BOUNDS, [0, 90]),
    ("INTEGER", ("-2147483648",), Kind.INT, Facts(), [-(2**31)]),
    ("BIGINT", (str(LEAST), str(MOST)), Kind.INT, Facts(), [LEAST, MOST]),
    ("BIGINT", (str(LEAST), str(MOST), "7"), Kind.INT, BOUNDS, [0, 90, 7]),
    ("HUGEINT", ("170141183460469231731687303715884105727", "-5"), Kind.INT, Facts(), [None, -5]),
    ("HUGEINT", ("9223372036854775808", "91"), Kind.INT, BOUNDS, [None, 90]),
    ("UTINYINT", ("255",), Kind.INT, Facts(), [255]),
    ("UTINYINT", ("255", "3"), Kind.INT, BOUNDS, [90, 3]),
    ("UBIGINT", ("18446744073709551615", "5"), Kind.INT, Facts(), [None, 5]),
    ("UHUGEINT", ("340282366920938463463374607431768211455", "5"), Kind.INT, Facts(), [None, 5]),
    ("DECIMAL(10,1)", ("0.5", "1.5", "-2.5", "2.6"), Kind.INT, Facts(), [0, 2, -2, 3]),
    ("DECIMAL(38,0)", ("99999999999999999999999999999999999999", "7"), Kind.INT, Facts(), [None, 7]),
    ("DECIMAL(38,2)", ("999999999999999999999999999999999999.99", "0.50"), Kind.INT, Facts(), [None, 0]),
    ("DOUBLE", ("0.5", "1.5", "'nan'", "'inf'", "9.3e18", "-1e300"), Kind.INT, Facts(), [0, 2, None, None, None, None]),
    ("FLOAT", ("2.5", "'-inf'"), Kind.INT, Facts(), [2, None]),
    ("VARCHAR", ("'12'", "'-2.5'", "'3.50'", "'1e5'", "' 1'", "''"), Kind.INT, Facts(),
     [12, -2, 4, 100_000, 1, None]),
    ("FLOAT", ("0.1", "'nan'", "'inf'"), Kind.FLOAT, Facts(), [0.10000000149011612, None, None]),
    ("DOUBLE", ("-0.0", "'nan'", "'-inf'", "1e308"), Kind.FLOAT, Facts(), [0.0, None, None, 1e308]),
    ("DOUBLE", ("-1e308", "'nan'", "'inf'", "'-inf'", "91.5", "5e-324"), Kind.FLOAT, BOUNDS,
     [0.0, None, None, None, 90.0, 5e-324]),
    ("DECIMAL(38,20)", ("0.10000000000000000001",), Kind.FLOAT, Facts(), [0.1]),
    ("HUGEINT", ("36893488147419107329", "-3"), Kind.FLOAT, Facts(), [float(36893488147419107329), -3.0]),
    ("BIGINT", ("9007199254740993",), Kind.FLOAT, Facts(), [2.0**53]),
    ("VARCHAR", ("'1.5'", "'+.5'", "'nan'", "'inf'", "'1e3'", "'0x1p3'", "repeat('9', 400)"), Kind.FLOAT, Facts(),
     [1.5, 0.5, None, None, 1000.0, None, None]),
    ("BOOLEAN", ("true", "NULL"), Kind.BOOL, Facts(), [True, None]),
    ("VARCHAR", ("'true'", "'False'", "'1'", "'yes'"), Kind.BOOL, Facts(), [True, False, True, True]),
    ("VARCHAR", ("repeat('é', 1001)", "repeat('x', 1000)", "''"), Kind.TEXT, Facts(), ["é" * 1000, "x" * 1000, ""]),
    ("VARCHAR", ("'a'", "'A'", "'zz'"), Kind.TEXT, Facts(keys=("a", "zz")), ["a", None, "zz"]),
    ("VARCHAR COLLATE NOCASE", ("'a'", "'A'"), Kind.TEXT, Facts(keys=("a",)), ["a", None]),
    ("ENUM('p', 'q')", ("'q'", "NULL"), Kind.TEXT, Facts(), ["q", None]),
    ("ENUM('7', 'q')", ("'q'", "'7'"), Kind.INT, Facts(), [None, 7]),
    ("UUID", ("'A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a11'",), Kind.TEXT, Facts(), ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]),
    ("BIGINT", ("1", "4", "2"), Kind.INT, Facts(keys=(1, 2)), [1, None, 2]),
    ("DATE", ("'infinity'", "'0001-01-01'", "'10000-01-01'", "'0001-12-31 (BC)'"), Kind.DATE, Facts(),
     [None, DAY(1, 1, 1), None, None]),
    ("DATE", ("'2024-01-01'", "'2023-12-31'"), Kind.DATE, Facts((DAY(2024, 1, 1), DAY(2024, 2, 1))),
     [DAY(2024, 1, 1), None]),
    ("TIMESTAMP", ("'infinity'", "'2024-02-29 23:59:59.999999'"), Kind.TIME, Facts(),
     [None, MOMENT(2024, 2, 29, 23, 59, 59, 999999)]),
    ("TIMESTAMP", ("'-infinity'", "'1969-12-31 23:00'"), Kind.DATE, Facts(), [None, DAY(1969, 12, 31)]),
    ("TIMESTAMP_S", ("'2024-01-01 01:02:03'", "'290000-01-01'"), Kind.TIME, Facts(),
     [MOMENT(2024, 1, 1, 1, 2, 3), None]),
    ("TIMESTAMP_MS", ("'2024-01-01 01:02:03.5'",), Kind.DATE, Facts(), [DAY(2024, 1, 1)]),
    ("TIMESTAMP_NS", ("'2024-01-01 01:02:03.000001'",), Kind.TIME, Facts(), [MOMENT(2024, 1, 1, 1, 2, 3, 1)]),
    ("TIMESTAMPTZ", ("'2024-01-01 00:30:00+02'", "'infinity'"), Kind.TIME, Facts(),
     [MOMENT(2023, 12, 31, 22, 30), None]),
    ("TIMESTAMPTZ", ("'2024-01-01 00:30:00+02'",), Kind.DATE, Facts(), [DAY(2023, 12, 31)]),
    ("DATE", ("'2024-01-01'", "'infinity'"), Kind.TIME, Facts(), [MOMENT(2024, 1, 1), None]),
    ("VARCHAR", ("'2024-02-29'", "'2023-02-29'", "'2024-2-9'", "'0000-01-01'"), Kind.DATE, Facts(),
     [DAY(2024, 2, 29), None, DAY(2024, 2, 9), None]),
    ("VARCHAR", ("'2024-02-29T01:02'", "'2024-02-29 01:02:03.5Z'", "'2024-02-29T01:02:03+02:00'", "'2024-02-29T24:00'",
     "'2024-02-29'"), Kind.TIME, Facts(), [MOMENT(2024, 2, 29, 1, 2), MOMENT(2024, 2, 29, 1, 2, 3, 500000),
     MOMENT(2024, 2, 28, 23, 2, 3), None, MOMENT(2024, 2, 29)]),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "texts", "kind", "facts", "expected"), HELD, ids=range(len(HELD)))
def test_a_column_of_any_type_is_read_as_the_page_says(
    tmp_path: Path, type_: str, texts: tuple[str, ...], kind: Kind, facts: Facts, expected: list[Value]
) -> None:
    found = read(held(tmp_path, type_, *texts), kind, facts)
    assert [(type(one), one) for one in found] == [(type(one), one) for one in expected]
    assert not any(isinstance(one, float) and one == 0 and math.copysign(1, one) < 0 for one in found)


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        ("INTEGER[]", Kind.INT),
        ("BLOB", Kind.TEXT),
        ("BLOB", Kind.INT),
        ("BOOLEAN", Kind.INT),
        ("BIGINT", Kind.TEXT),
        ("BIGINT", Kind.BOOL),
        ("TIME", Kind.TIME),
        ("INTERVAL", Kind.INT),
        ("DATE", Kind.INT),
        ("STRUCT(a INTEGER)", Kind.TEXT),
        ("DOUBLE", Kind.TEXT),
    ],
    ids=str,
)
def test_a_type_that_cannot_be_read_as_the_kind_is_refused_at_once(tmp_path: Path, type_: str, kind: Kind) -> None:
    with pytest.raises(BadArgument, match=r"t\.x can be read as"):
        read(held(tmp_path, type_), kind)


def test_whatever_a_text_holds_reading_it_fails_for_no_kind() -> None:
    nasty = [
        "",
        "-",
        "+",
        ".",
        "9" * 5000,
        "-" + "9" * 38 + ".9",
        "170141183460469231731687303715884105727.9",
        "\0",
        "1\0",
    ]
    nasty += [
        "9999-12-31T23:59:59.9999999Z",
        "0001-01-01T00:00+15:59",
        "9999-12-31T23:59-15",
        "2024-13-01",
        "9" * 37 + ".5",
    ]
    nasty += ["infinity", "-infinity", "epoch", "today", "NaN", "1_000", "0b1", "\U0010ffff", "true ", "ｔrue", "１"]
    source = {"n": list(range(len(nasty))), "x": nasty}
    for kind in (Kind.INT, Kind.FLOAT, Kind.BOOL, Kind.DATE, Kind.TIME):
        found = set(read(source, kind)) - {None}
        assert found <= {float(text) for text in nasty if text.strip("-.9") == "" and text[-2:-1] == "."} | {
            True,
            DAY(9999, 12, 31),
            1.7014118346046923e38,
            MOMENT(9999, 12, 31, 23, 59, 59, 999999),
            1e37,
        }


COLUMNS = (
    Column("id", Kind.INT, unit=0),
    Column("day", Kind.DATE),
    Column("x", Kind.FLOAT, BOUNDS),
    Column("s", Kind.TEXT),
)
ROWS = [(1, DAY(2024, 1, 1), 1.5, "a"), (2, DAY(2024, 1, 2), 91.0, 'say "ü", so'), (None, None, None, None)]
ARROW = pa.table({name: [row[place] for row in ROWS] for place, name in enumerate(("id", "day", "x", "s"))})
CLAMPED = {
    "id": [None, 1, 2],
    "day": [None, ROWS[0][1], ROWS[1][1]],
    "x": [None, 1.5, 90.0],
    "s": [None, "a", ROWS[1][3]],
}


def files(tmp_path: Path) -> dict[str, Any]:
    """Gives the same table in every form."""
    pq.write_table(ARROW, tmp_path / "one.parquet")
    for place in range(3):
        pq.write_table(ARROW.slice(place, 1), tmp_path / f"part-{place}.parquet")
    lines = ["id,day,x,s,extra", "1,2024-01-01,1.5,a,!", '2,2024-01-02,91,"say ""ü"", so",!', ",,,,"]
    (tmp_path / "one.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "one.tsv").write_text("\n".join(line.replace(",", "\t", 3) for line in lines[1:]), encoding="utf-8")
    text = (tmp_path / "one.tsv").read_text(encoding="utf-8").replace(",!", "\t!").replace("\t\t\t,", "\t\t\t\t")
    (tmp_path / "one.tsv").write_text("id\tday\tx\ts\textra\n" + text, encoding="utf-8")
    objects = [
        '{"id": 1, "day": "2024-01-01", "x": 1.5, "s": "a"}',
        '{"id": 2, "day": "2024-01-02", "x": 91, "s": "say \\"ü\\", so", "more": [1]}',
        '{"id": null}',
    ]
    (tmp_path / "one.jsonl").write_text("\n".join(objects), encoding="utf-8")
    (tmp_path / "one.json").write_text(f"[{','.join(objects)}]", encoding="utf-8")
    with duckdb.connect(str(tmp_path / "one.duckdb")) as connection:
        connection.register("given", ARROW)
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return {
        "parquet": tmp_path / "one.parquet",
        "glob": str(tmp_path / "part-*.parquet"),
        "csv": tmp_path / "one.csv",
        "tsv": tmp_path / "one.tsv",
        "json lines": tmp_path / "one.jsonl",
        "json": str(tmp_path / "one.json"),
        "duckdb": tmp_path / "one.duckdb",
        "by name": {"t": tmp_path / "one.parquet"},
        "arrow": ARROW,
        "pandas": ARROW.to_pandas(),
        "polars": pytest.importorskip("polars").from_arrow(ARROW),
        "columns": {name: ARROW[name].to_pylist() for name in ARROW.column_names},
        "arrays": {"t": {name: np.array(ARROW[name].to_pylist(), object) for name in ARROW.column_names}},
    }


def test_every_form_of_a_table_gives_the_same_rows(tmp_path: Path) -> None:
    for form, source in files(tmp_path).items():
        engine = open_source(source, book(*COLUMNS))
        assert engine.rows(Scan("t", COLUMNS)) == CLAMPED, form
        assert engine.run(Cells(Scan("t", COLUMNS, Owner("id")), (), (Rows(), Units()))).numbers[0].tolist() == [2], (
            form
        )
        engine.close()


def test_types_are_never_guessed_from_values(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("n,x\n0,007\n1,1e5\n2,2024-01-01\n")
    assert read(path, Kind.TEXT) == ["007", "1e5", "2024-01-01"]
    assert read(path, Kind.INT) == [7, 100_000, None]


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "same header"), ("n,N\n1,2\n", "same header"), (",\n1,2\n", "same header")],
)
def test_a_csv_file_with_a_broken_header_is_refused_when_it_is_opened(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "broken.csv"
    path.write_text(text)
    with pytest.raises(BadArgument, match=why):
        read(path, Kind.TEXT)


def test_what_is_missing_is_named_when_a_source_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"n": [1], "X": [1]}), path)
    with pytest.raises(BadArgument, match=r"column t\.x, which the codebook describes"):
        read(path, Kind.INT)
    with pytest.raises(BadArgument, match="a file that there is"):
        read(tmp_path / "none.parquet", Kind.INT)
    with pytest.raises(BadArgument, match="files that end in"):
        (tmp_path / "x.xlsx").write_text("")
        read(tmp_path / "x.xlsx", Kind.INT)
    with pytest.raises(BadArgument, match="a DuckDB file with a table t"):
        with duckdb.connect(str(tmp_path / "empty.db")):
            pass
        read(tmp_path / "empty.db", Kind.INT)
    with pytest.raises(BadArgument, match="given for each table"):
        open_source(path, Book({"a": Scan("a", ()), "b": Scan("b", ())}))  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="a path, a data frame"):
        read(object(), Kind.INT)
    with pytest.raises(BadArgument, match="columns of one length"):
        read({"n": [0], "x": [1, 2]}, Kind.INT)
    with pytest.raises(BadArgument, match="same types"):
        pq.write_table(pa.table({"n": [1], "x": [1.5]}), tmp_path / "y-1.parquet")
        pq.write_table(pa.table({"n": [1], "x": ["a"]}), tmp_path / "y-2.parquet")
        read(str(tmp_path / "y-*.parquet"), Kind.FLOAT)


def test_an_engine_reads_what_was_opened_and_nothing_else(tmp_path: Path) -> None:
    for source in files(tmp_path).values():
        engine = open_source(source, book(*COLUMNS))
        cursor = engine._connection.cursor()
        (tmp_path / "secret.csv").write_text("a\n1\n")
        for text in (
            f"SELECT * FROM '{tmp_path / 'secret.csv'}'",
            f"SELECT * FROM read_text('{tmp_path / 'secret.csv'}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            f"ATTACH '{tmp_path / 'new.duckdb'}'",
            "INSTALL httpfs",
            "SET enable_external_access = true",
            "SET allowed_paths = ['/']",
            "SET threads = 1",
            "SELECT * FROM ARROW",
        ):
            with pytest.raises(duckdb.Error):
                cursor.execute(text)
        engine.close()
    assert not (tmp_path / "out.csv").exists()


def test_what_happens_to_the_original_afterwards_changes_nothing(tmp_path: Path) -> None:
    x = np.array([1.0, 2.0])
    engine = open_source({"x": x}, book(Column("x", Kind.FLOAT)))
    x[:] = 7
    assert engine.rows(Scan("t", (Column("x", Kind.FLOAT),))) == {"x": [1.0, 2.0]}
    path = tmp_path / "x.csv"
    path.write_text("x\n1\n")
    engine = open_source(path, book(Column("x", Kind.FLOAT)))
    path.write_text("x\n2\n")
    assert engine.rows(Scan("t", (Column("x", Kind.FLOAT),))) == {"x": [1.0]}


def test_small_files_are_copied_when_they_are_opened(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": [1.5, 2.5]}), path)
    engine = open_source(path, book(Column("x", Kind.FLOAT)))
    path.unlink()
    assert engine.run(Cells(Scan("t", (Column("x", Kind.FLOAT),), Owner()), (), (Rows(),))).numbers[0].tolist() == [2]


def test_a_failure_is_told_without_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": [1.5]}), path)
    column = Column("x", Kind.FLOAT)
    engine = open_source(path, book(column), small=0)  # larger files are read where they are
    path.unlink()
    with pytest.raises(RuntimeError) as caught:
        engine.run(Cells(Scan("t", (column,), Owner()), (), (Rows(),)))
    assert str(caught.value) == BROKE_OFF
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_versions_tell_data_apart_under_a_key(tmp_path: Path) -> None:
    def version(source: Any, key: bytes = b"key") -> str:
        engine = open_source(source, book(Column("x", Kind.INT)))
        found = engine.fingerprints(key)["t"]
        engine.close()
        return found

    one, other = {"x": [1, 2]}, {"x": [2, 1]}
    assert version(one) == version(dict(one)) != version(other)
    assert version(pa.table(one)) == version(pa.table(dict(one))) != version(pa.table(other))
    assert version(one) != version(one, b"another")
    for suffix, write in ((".csv", lambda path, x: path.write_text("x\n" + "\n".join(map(str, x)))),
                          (".parquet", lambda path, x: pq.write_table(pa.table({"x": x}), path))):  # fmt: skip
        path = tmp_path / f"x{suffix}"
        write(path, [1, 2])
        first = version(path)
        assert version(path) == first
        write(path, [2, 1])
        assert version(path) != first


def test_ids_are_never_split_and_text_ids_are_not_cut() -> None:
    long = "x" * 1000
    ids = {
        "str": (Kind.TEXT, ["a", "a", "A", long + "1", long + "2", long + "2", "", None], 5),
        "int": (Kind.INT, [1, 1, -1, MOST, LEAST, None], 4),
        "float": (Kind.FLOAT, [0.0, -0.0, 1.5, math.nan, None], 2),
        "wide": (Kind.INT, pa.array([1, 1, 2**63, 2**64 - 1, 2**64 - 1, None], pa.uint64()), 3),
        "decimal": (Kind.INT, [Decimal("1"), Decimal("2"), Decimal("1")], 2),
        "days": (Kind.DATE, [DAY(2024, 1, 1), DAY(2024, 1, 1), None], 1),
    }
    for name, (kind, values, expected) in ids.items():
        column = Column("id", kind, Facts((Fraction(0), Fraction(1))) if kind is Kind.INT else Facts(), unit=0)
        engine = open_source({"id": values}, book(column))
        for cells in (
            Cells(Scan("t", (), Owner("id")), (), (Units(),)),
            Cells(Scan("t", (), Owner("id")), (), (Units(),), Bound(rows=1)),
            Cells(Scan("t", (), Owner("id")), (), (Rows(),), Bound(rows=1)),
        ):
            assert engine.run(cells).numbers[0].tolist() == [expected], name


def test_threads_may_ask_at_once() -> None:
    column = Column("x", Kind.INT)
    engine = open_source({"x": list(range(1000))}, book(column))
    found: list[int] = []

    def ask() -> None:
        for _ in range(20):
            found.append(int(engine.run(Cells(Scan("t", (column,), Owner()), (), (Rows(),))).numbers[0][0]))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1000] * 80


def test_the_schema_is_that_of_the_engine(tmp_path: Path) -> None:
    engine = open_source(held(tmp_path, "UBIGINT"), book(Column("x", Kind.INT)))
    assert engine.schema() == {"t": {"x": "UBIGINT"}}
    assert isinstance(engine, DuckDBEngine)
    assert readable(Kind.INT, "UBIGINT")


def test_limits_are_those_that_were_asked_for() -> None:
    engine = open_source({"x": [1]}, book(Column("x", Kind.INT)), memory="64MB", threads=1)
    ((threads,),) = engine._connection.cursor().execute("SELECT current_setting('threads')").fetchall()
    assert threads == 1
