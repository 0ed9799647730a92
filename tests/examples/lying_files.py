"""Parquet files that say what is not so of their rows, cells that their types cannot hold, and questions about both."""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Owner, Relation, Scan, Where
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Units

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
