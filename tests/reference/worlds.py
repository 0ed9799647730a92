"""Worlds: tables of a small clinic, with units of every sort and values of every nasty sort."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
from tests.reference.choices import Choices
from tests.reference.texts import Written

from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Hop, Owner, Scan

DAY, MOMENT = datetime.date, datetime.datetime

INTS = (0, 1, 2, 3, -1, 7, 90, 91, None, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**31, 2**62)
FLOATS = (
    0.0, 1.0, 0.5, 1.5, 2.5, -0.5, -1.5, -0.0, 0.1, 1000.5, None, math.nan, math.inf, -math.inf, 5e-324, -2.2e-308,
    1e308, -1.7e308, 2.0**53 + 2, 9.3e18, -(2.0**63), 2.0**63, 3.0, 1e-9,
)  # fmt: skip
TEXTS = (
    "a", "b", "", "A", "ab", " a ", None, "%", "a_b", "x" * 5000, "x" * 999 + "é", "\0", "a\0b", "🙂", "e\u0301", "é",
    "👩‍👩‍👧", "\U0010ffff", "\ud7ff", "line\nline", "\\", "'; --", "  ", "NULL",
)  # fmt: skip
DAYS = (
    DAY(2024, 2, 29), DAY(2024, 3, 1), DAY(2024, 3, 2), DAY(2023, 12, 31), None, DAY(1, 1, 1), DAY(9999, 12, 31),
    DAY(1970, 1, 1), DAY(1969, 12, 31), DAY(2026, 3, 30),
)  # fmt: skip
TIMES = (
    MOMENT(2024, 2, 29, 23, 59, 59, 999999), MOMENT(2024, 3, 1), MOMENT(2024, 3, 1, 12, 30), None,
    MOMENT(1, 1, 1), MOMENT(9999, 12, 31, 23, 59, 59, 999999), MOMENT(1969, 12, 31, 23, 0, 0, 1), MOMENT(1970, 1, 1),
)  # fmt: skip
BOOLS = (True, False, None)
POOLS: dict[Kind, tuple[Any, ...]] = {
    Kind.INT: INTS,
    Kind.FLOAT: FLOATS,
    Kind.TEXT: TEXTS,
    Kind.DATE: DAYS,
    Kind.TIME: TIMES,
    Kind.BOOL: BOOLS,
}

TWINS = ("x" * 1000 + "a", "x" * 1000 + "b")
IDS: dict[Kind, tuple[tuple[Any, ...], ...]] = {
    Kind.INT: ((1, 1, 1, 2, 2, 3, 4, None, -(2**63), 2**53, 2**53 + 1), (1, 1, 1, 1, 2, None)),
    Kind.TEXT: (("u", "u", "u", "v", "v", "", "\0", None, "🙂", *TWINS), TWINS, ("u", "u", "u", "u", "v", None)),
}
"""Pools of ids: many units, or few with much each, or two that differ only beyond what is kept of a text."""

ARROW = {
    Kind.INT: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.DATE: pa.date32(),
    Kind.TIME: pa.timestamp("us"),
    Kind.BOOL: pa.bool_(),
}
OTHER_TYPES: dict[Kind, tuple[Any, ...]] = {
    Kind.INT: (pa.float64(), pa.decimal128(20, 2), pa.uint64(), pa.int8()),
    Kind.FLOAT: (pa.float32(), pa.decimal128(20, 2), pa.int64()),
    Kind.TIME: (pa.timestamp("us", "UTC"),),
}
"""Types that a table may hold a kind in, besides the usual one."""

NUMBERS = (
    "2", "2.4", "02", " 2", "2.0", "+2", "2e0", "1", "90", "91.5", "1e+05", "0.5", "1.5", "-0", "9007199254740993",
    "9007199254740992", "9223372036854775807.5", "x", "NA", "", "1e400", "1" + "0" * 40, "nan", "inf", None,
)  # fmt: skip
MOMENTS = (
    "2024-02-29", "2024/2/29", "20240229", "2024-02-29T23:59:59.999999", "2024-02-29 12:30", "2024-03-01T00:30+02:00",
    "2024-02-29 22:30:00 UTC", "2024-02-30", "29/02/2024", "NA", "", None, "2024-02-29 12:30:00.0000001",
    "2024-02-29 12:30:00.0000002",
)  # fmt: skip
TRUTHS = ("true", "F", "Yes", "n", "1", "0", " t ", "maybe", "NULL", "", None)


def written(texts: tuple[str | None, ...], kind: Kind) -> tuple[Written | None, ...]:
    """Gives texts in a column of another type."""
    return tuple(text if text is None else Written(text, kind) for text in texts)


WRITTEN: dict[Kind, tuple[Any, ...]] = {
    Kind.INT: written(NUMBERS, Kind.INT),
    Kind.FLOAT: written(NUMBERS, Kind.FLOAT),
    Kind.DATE: written(MOMENTS, Kind.DATE),
    Kind.TIME: written(MOMENTS, Kind.TIME),
    Kind.BOOL: written(TRUTHS, Kind.BOOL),
}
MIXED_NUMBERS: dict[Any, tuple[Any, ...]] = {
    pa.int64(): (1, 1, 2, 2, 3, 2**53, 2**53 + 1, None, -(2**63)),
    pa.float64(): (1.0, 1.0, 1.4, 2.0, 2.0, 2.4, 0.0, -0.0, math.inf, math.nan, 2.0**53, 2.0**62, 1e300, None),
    pa.decimal128(20, 2): (*map(Decimal, ("1", "1.4", "2", "2.4", "9007199254740993")), None),
    pa.uint64(): (1, 2, 2**63, 2**64 - 1, None),
}
MIXED_DAYS: dict[Any, tuple[Any, ...]] = {
    pa.date32(): DAYS,
    pa.timestamp("us"): (MOMENT(2024, 2, 29), MOMENT(2024, 2, 29, 12), MOMENT(2024, 2, 29, 12, 30), *TIMES),
    pa.timestamp("us", "UTC"): tuple(value and value.replace(tzinfo=datetime.UTC) for value in TIMES),
}
MIXED_IDS: dict[Kind, dict[Any, tuple[Any, ...]]] = {
    Kind.INT: {**MIXED_NUMBERS, pa.string(): written(NUMBERS, Kind.INT)},
    Kind.FLOAT: {**MIXED_NUMBERS, pa.string(): written(NUMBERS, Kind.FLOAT)},
    Kind.DATE: {**MIXED_DAYS, pa.string(): written(MOMENTS, Kind.DATE)},
    Kind.TIME: {**MIXED_DAYS, pa.string(): written(MOMENTS, Kind.TIME)},
    Kind.TEXT: {pa.string(): IDS[Kind.TEXT][0]},
}
"""Ids as tables may hold them, of which some look alike and are not, and some are alike and do not look it."""

MIXED_KEYS: dict[Any, tuple[Any, ...]] = {
    pa.int64(): (1, 2, 3, 2**53, 2**53 + 1, None),
    pa.float64(): (1.0, 1.4, 2.0, 2.0**53, 3.0, None),
    pa.string(): written(("1", "1.4", "2.0", "9007199254740993", "x", None), Kind.INT),
    pa.decimal128(20, 2): (*map(Decimal, ("1", "1.4", "2", "9007199254740993")), None),
}
"""Keys in which no two rows agree, as tables may hold them."""

PERSON, ROW, WINDOW = "person", "row", "window"


def ends(low: Any, high: Any) -> tuple[Fraction, Fraction]:
    """Gives bounds of numbers."""
    return Fraction(low), Fraction(high)


def described(table: str, **columns: tuple[Kind, Facts]) -> tuple[Column, ...]:
    """Gives the columns of a table."""
    return tuple(Column(name, kind, facts, f"{table}.{name}") for name, (kind, facts) in columns.items())


VISITS = described(
    "visits",
    ward=(Kind.TEXT, Facts(keys=("a", "b", "ab"))),
    minutes=(Kind.INT, Facts(between=ends(0, 90))),
    price=(Kind.FLOAT, Facts(between=ends("-1000.5", "1000.1"))),
    day=(Kind.DATE, Facts(between=(DAY(2023, 12, 31), DAY(2024, 3, 1)))),
    at=(Kind.TIME, Facts()),
    note=(Kind.TEXT, Facts()),
    number=(Kind.INT, Facts()),
    ratio=(Kind.FLOAT, Facts()),
    flag=(Kind.BOOL, Facts()),
    level=(Kind.INT, Facts(keys=(1, 2, 3))),
    row=(Kind.INT, Facts(nullable=False)),
)
PEOPLE = described(
    "people", person=(Kind.INT, Facts()), age=(Kind.INT, Facts(between=ends(0, 120))), town=(Kind.TEXT, Facts()),
    day=(Kind.DATE, Facts()),
)  # fmt: skip
ORDERS = described(
    "orders", order=(Kind.TEXT, Facts()), person=(Kind.INT, Facts()), amount=(Kind.FLOAT, Facts(between=ends(0, 500))),
    day=(Kind.DATE, Facts()),
)  # fmt: skip
ITEMS = described(
    "items", order=(Kind.TEXT, Facts()), many=(Kind.INT, Facts(between=ends(1, 9))), name=(Kind.TEXT, Facts()),
    day=(Kind.DATE, Facts()),
)  # fmt: skip
WARDS = described(
    "wards", ward=(Kind.TEXT, Facts(keys=("a", "b", "ab"))), floor=(Kind.INT, Facts()), rate=(Kind.FLOAT, Facts()),
)  # fmt: skip
PRIVATE = {"visits": VISITS, "people": PEOPLE, "orders": ORDERS, "items": ITEMS}
ID_TABLES = ("visits", "people")
HOPS = {
    "visits": (),
    "people": (),
    "orders": (Hop("person", "people", "person"),),
    "items": (Hop("order", "orders", "order"), Hop("person", "people", "person")),
}
UNIQUE = {"people": "person", "orders": "order"}
"""Keys that foreign keys refer to: no two rows agree in them."""


@dataclass(frozen=True)
class Held:
    """Is a table as an engine gets it: types of its columns, and rows."""

    types: dict[str, pa.DataType]
    rows: list[dict[str, Any]]

    def arrow(self, *, chunk: int | None = None) -> pa.Table:
        """Gives the table for engines to read, in pieces of some length."""
        schema = pa.schema(list(self.types.items()))
        size = chunk or max(len(self.rows), 1)
        pieces = [self.rows[start : start + size] for start in range(0, len(self.rows), size)]
        return pa.Table.from_batches([pa.RecordBatch.from_pylist(piece, schema) for piece in pieces], schema)


@dataclass(frozen=True)
class World:
    """Is a set of tables with their data, and what one unit is."""

    scans: dict[str, Scan]
    held: dict[str, Held]
    unit: str
    window: str = ""

    @property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Are the rows of each table."""
        return {name: held.rows for name, held in self.held.items()}

    def with_rows(self, rows: dict[str, list[dict[str, Any]]]) -> World:
        """Gives the same tables with other rows."""
        return replace(self, held={name: replace(held, rows=rows[name]) for name, held in self.held.items()})


def world(
    choices: Choices, *, most_rows: int = 12, obedient: bool = False, fancy: bool = True, mixed: bool = False
) -> World:
    """Makes tables with data. ``obedient``: columns that are not nullable have no missing values. ``mixed``: each table
    holds ids and keys in a type of its own, and many columns hold texts."""
    unit = choices.of((PERSON, PERSON, WINDOW, ROW))
    window = choices.of(("month", "week", "year")) if unit == WINDOW else ""
    kind = choices.of(tuple(MIXED_IDS) if mixed else (Kind.INT, Kind.TEXT))
    ids = (None,) if mixed else choices.of(IDS[kind])
    user = {name: (Column("user", kind, Facts(), f"{name}.user", 0),) for name in ID_TABLES}
    scans, held = {}, {}
    for name, columns in PRIVATE.items():
        columns = tuple(nullable_or_not(choices, column) for column in (*user.get(name, ()), *columns))
        owner = Owner() if unit == ROW else Owner("user", HOPS[name], ("day", window) if window else None)
        scans[name] = Scan(name, columns, owner)
        held[name] = data(
            choices,
            scans[name],
            choices.whole(most_rows // 3 if choices.often(8) else 0, most_rows),
            ids,
            obedient=obedient,
            fancy=fancy,
        )
        if mixed:
            held[name] = with_mixed_types(choices, scans[name], held[name])
    scans["wards"] = Scan("wards", WARDS)
    held["wards"] = data(choices, scans["wards"], choices.whole(0, 5), ids, obedient=obedient, fancy=fancy)
    return World(scans, held, unit, window)


def nullable_or_not(choices: Choices, column: Column) -> Column:
    """Gives a column, sometimes declared as never missing."""
    if column.name in ("person", "order", "row") or choices.often(4):
        return column
    return replace(column, facts=replace(column.facts, nullable=False))


def data(choices: Choices, scan: Scan, count: int, ids: tuple[Any, ...], *, obedient: bool, fancy: bool) -> Held:
    """Makes the rows of a table."""
    types, rows = {}, [dict[str, Any]() for _ in range(count)]
    for column in scan.columns:
        others = OTHER_TYPES.get(column.kind, ()) if fancy and column.unit is None else ()
        kept = column.name in ("person", "order", "day", "row") or choices.often(3)
        types[column.name] = ARROW[column.kind] if kept or not others else choices.of(others)
        pool = ids if column.unit is not None else values(column, types[column.name])
        if obedient and not column.facts.nullable:
            pool = tuple(value for value in pool if always_present(value, column)) or pool
        unique = UNIQUE.get(scan.table) == column.name
        for place, row in enumerate(rows):
            row[column.name] = choices.of(pool) if not unique else pool[place] if place < len(pool) else None
            if column.name == "row":
                row[column.name] = place
    return Held(types, rows)


def with_mixed_types(choices: Choices, scan: Scan, held: Held) -> Held:
    """Gives a table that holds ids, keys and some other columns in types that are not usual, with values of those."""
    types, rows = dict(held.types), [dict(row) for row in held.rows]
    for column in scan.columns:
        unique = UNIQUE.get(scan.table) == column.name
        if column.unit is not None:
            types[column.name], pool = choices.of(tuple(MIXED_IDS[column.kind].items()))
        elif column.name == "person":
            types[column.name], pool = choices.of(tuple(MIXED_KEYS.items()))
        elif column.name not in ("day", "row", "order") and column.kind in WRITTEN and choices.often(2):
            types[column.name], pool = pa.string(), WRITTEN[column.kind]
        else:
            continue
        for place, row in enumerate(rows):
            row[column.name] = choices.of(pool) if not unique else pool[place] if place < len(pool) else None
    return Held(types, rows)


def values(column: Column, held: pa.DataType) -> tuple[Any, ...]:
    """Gives what a column may hold."""
    if column.name in ("person", "order"):
        return (1, 2, 3, 2**53, 2**53 + 1, None) if column.kind is Kind.INT else ("a", "b", "", "🙂", "\0", None)
    if pa.types.is_decimal(held):
        return (*map(Decimal, ("0", "1", "0.5", "1.5", "2.5", "-0.5", "90.51", "7", "-1e17")), None)
    if held == pa.uint64():
        return (0, 1, 2, 3, 90, None, 2**63, 2**64 - 1, 2**53 + 1)
    if held == pa.int8():
        return (0, 1, 2, 3, 90, None, -128, 127)
    if held == pa.float32():
        return (0.0, 1.0, 0.5, -0.0, 0.10000000149011612, math.nan, math.inf, None, 1000.5)
    if held == pa.int64() and column.kind is Kind.FLOAT:
        return INTS
    if held == pa.float64():
        return FLOATS
    if held == pa.timestamp("us", "UTC"):
        return tuple(value and value.replace(tzinfo=datetime.UTC) for value in TIMES)
    return POOLS[column.kind]


def always_present(value: Any, column: Column) -> bool:
    """Tells whether something held is read as a value that is not missing."""
    from tests.reference.reading import read

    return read(value, column) is not None
