"""SQLite behind the shared SQL back end: an engine for tests, which shows what a second dialect takes.

It has few types and fewer functions, no wide numbers and no days, so that whatever the back end takes for granted shows
here. Tables are copied and read by the reference's rules, and what SQLite has no function for is the reference's. Wide
numbers and days are texts. It is slow, holds all data in memory, and is for nothing else.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from functools import cached_property
from typing import Any, ClassVar, final

from tests.reference.reading import of_kind
from tests.reference.texts import Written, identity
from tests.reference.values import OPERATIONS, ROUNDED_BY_ENGINE, held, read, text_of

from sfumato.query.engines.inputs.frames import columns_of
from sfumato.query.engines.sql.dialect import ColumnTypes, Dialect
from sfumato.query.engines.sql.engine import Answer, SQLEngine, Tuples
from sfumato.query.engines.sql.held import Held
from sfumato.query.engines.sql.statement import Piece, Scope, Statement, listing
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.operators.time import BY_CALENDAR, PERIODS, SHIFTS
from sfumato.query.nodes.relations import Scan

OF_TEXTS = (
    "like",
    "reverse",
    "trim",
    "ltrim",
    "rtrim",
    "lpad",
    "rpad",
    "right",
    "replace",
    "split_part",
    "strpos",
    "contains",
)
OF_TEXTS += ("starts_with", "ends_with", "regexp_matches", "regexp_full_match", "regexp_extract", "regexp_replace")
OF_NUMBERS = ("sqrt", "mod", *ROUNDED_BY_ENGINE)
OF_MOMENTS = ("second", "isoyear", "week", "dayofyear", "periods", "shift", "strftime")

BROKE_OFF = "SQLite broke off."
"""Which it does for nothing but statements that are nested too deeply for it."""

# Functions that SQLite does not have, or not for every value. What is missing stays missing.


def stored(value: Any) -> Any:
    """A value as SQLite holds it: whole numbers beyond 64 bits, days and times as texts that sort as they do."""
    match value:
        case bool():
            return int(value)
        case int():
            return value if -(2**63) <= value < 2**63 else str(value)
        case datetime.datetime():
            return value.isoformat(" ", "microseconds")
        case datetime.date():
            return value.isoformat()
    return value


def shown(value: Any, kind: Kind) -> Value:
    """A value as Python holds it."""
    match kind:
        case Kind.BOOL if value is not None:
            return bool(value)
        case Kind.DATE if value is not None:
            return datetime.date.fromisoformat(value)
        case Kind.TIME if value is not None:
            return datetime.datetime.fromisoformat(value)
    return value  # type: ignore[no-any-return]


def to_whole(number: int | float | str) -> int | None:
    """A number as a whole one of 64 bits, the even one of two."""
    if isinstance(number, float) and not math.isfinite(number):
        return None
    whole = round(number) if isinstance(number, float) else int(number)
    return whole if -(2**63) <= whole < 2**63 else None


def scaled(number: int | str, every: int, most: int) -> int:
    """A number scaled down towards 0, where there are too many rows."""
    whole = int(number)
    if every <= most:
        return whole
    return (abs(whole) * most // every) * (-1 if whole < 0 else 1)


def part(when: str, word: str) -> int:
    """A part of a day or a time."""
    moment = datetime.datetime.fromisoformat(when)
    parts = {"weekday": moment.isoweekday(), "quarter": (moment.month + 2) // 3}
    return parts.get(word) or int(getattr(moment, word, 0))


def start(when: str, word: str) -> str:
    """The start of the stretch of time in which a day or a time lies; nothing lies before the first year."""
    moment = datetime.datetime.fromisoformat(when)
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match word:
        case "week":
            day -= min(datetime.timedelta(moment.weekday()), day - datetime.datetime.min)
        case "month":
            day = day.replace(day=1)
        case "quarter":
            day = day.replace(month=(moment.month - 1) // 3 * 3 + 1, day=1)
        case "year":
            day = day.replace(month=1, day=1)
        case "hour":
            day = moment.replace(minute=0, second=0, microsecond=0)
        case "minute":
            day = moment.replace(second=0, microsecond=0)
        case "second":
            day = moment.replace(microsecond=0)
        case "decade":
            day = day.replace(year=max(day.year // 10 * 10, 1), month=1, day=1)
    return str(stored(day.date() if len(when) == len("2024-01-01") else day))


def of_moments(name: str) -> Callable[..., Any]:
    """An operation of the reference on a day or a time, which is a text here."""

    def apply(when: str, *others: Any) -> Any:
        return OPERATIONS[name](shown(when, Kind.DATE if len(when) == len("2024-01-01") else Kind.TIME), *others)

    return apply


def to_text(value: Any) -> str:
    """The text of a whole number, a day or a time."""
    moment = re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", value) if isinstance(value, str) else None
    return str(value) if moment is None else str(text_of(shown(value, Kind.TIME)))


def or_missing(name: str) -> Callable[..., Any]:
    """An operation of the reference on numbers, missing where it is not finite."""
    return lambda *values: held(OPERATIONS[name](*values), Kind.FLOAT)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: OPERATIONS[name] for name in OF_TEXTS},
    **{name: or_missing(name) for name in OF_NUMBERS},
    **{name: of_moments(name) for name in OF_MOMENTS},
    **{f"read_{kind.value}": lambda text, kind=kind: read(text, kind) for kind in Kind if kind is not Kind.LIST},
    "to_text": to_text,
    "int_div": OPERATIONS["int_div"],
    "trunc": math.trunc,
    "floor": lambda value: math.floor(value) if math.isfinite(value) else None,
    "ceil": lambda value: math.ceil(value) if math.isfinite(value) else None,
    "lower": str.lower,
    "upper": str.upper,
    "length": len,
    "substring": lambda text, first, many: text[first - 1 : first - 1 + many],
    "part": part,
    "start": start,
    "days": lambda left, right: (datetime.date.fromisoformat(left) - datetime.date.fromisoformat(right)).days,
    "finite": lambda value: value if math.isfinite(value) else None,
    "to_whole": to_whole,
    "to_float": lambda number: float(int(number)),
    "rounded": lambda number: round(number) if isinstance(number, float) else number,
    "neg": lambda number: -int(number),
    "abs": lambda number: abs(int(number)),
    "add": lambda left, right: int(left) + int(right),
    "sub": lambda left, right: int(left) - int(right),
    "mul": lambda left, right: int(left) * int(right),
    "scaled": scaled,
}


def total(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for SQLite that is missing where an operand is."""
    return lambda *given: None if any(value is None for value in given) else stored(function(*given))


class WideSum:
    """Adds up whole numbers of any size."""

    def __init__(self) -> None:
        self.sum = 0

    def step(self, number: int | str | None) -> None:
        """Adds a number that is there."""
        self.sum += 0 if number is None else int(number)

    def inverse(self, number: int | str | None) -> None:
        """Takes a number away."""
        self.sum -= 0 if number is None else int(number)

    def value(self) -> int | str:
        """Gives the sum so far."""
        return stored(self.sum)  # type: ignore[no-any-return]

    finalize = value


def present(values: Iterable[Any]) -> list[Any]:
    """Values that are not missing."""
    return [value for value in values if value is not None]


def hashed(*values: Any) -> int:
    """A hash of values."""
    return int.from_bytes(hashlib.blake2b(repr(values).encode(), digest_size=6).digest(), "big")


def connected(*, by_hash: bool = True) -> sqlite3.Connection:
    """A new database that has all functions."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    for name, function in FUNCTIONS.items():
        connection.create_function(f"f_{name}", -1, total(function), deterministic=True)
    connection.create_function("least", -1, lambda *given: min(present(given), default=None), deterministic=True)
    connection.create_function("greatest", -1, lambda *given: max(present(given), default=None), deterministic=True)
    connection.create_function("f_hash", -1, hashed if by_hash else lambda *given: 0, deterministic=True)
    connection.create_function("f_tuple", -1, lambda *given: repr(given), deterministic=True)
    connection.create_window_function("f_sum", 1, WideSum)  # type: ignore[arg-type]
    return connection


def as_held(raw: Piece, held: str, kind: Kind, scope: Scope, written: str = "") -> Piece:
    """A column as it is: it was read when it was copied; a text that is cast is read now."""
    return scope.fill(f"f_read_{kind.value}({{0}})", raw) if held == "TEXT" and kind is not Kind.TEXT else raw


def exact(raw: Piece, held: str, kind: Kind, wanted: str, scope: Scope, written: str = "") -> Piece:
    """Ids have columns of their own (`Held.exact`)."""
    raise TypeError(held)


PLAIN = ("floor", "ceil", "trunc", "lower", "upper", "length")


def called(name: str, operands: int, *words: str) -> str:
    """The template of a function, with words behind its operands."""
    places = [f"{{{place}}}" for place in range(operands)]
    return f"f_{name}({listing([*places, *(repr(word) for word in words)])})"


SEVERAL = {"lpad": 3, "rpad": 3, "replace": 3, "split_part": 3, "regexp_extract": 3, "reverse": 1}
MOVED = {
    **{f"periods {unit}": called("periods", 1, unit) for unit in (*PERIODS, *BY_CALENDAR)},
    **{f"shift {unit}": called("shift", 2, unit) for unit in SHIFTS},
}
PARTS = ("year", "quarter", "month", "day", "weekday", "hour", "minute")

SQLITE = Dialect(
    types=dict.fromkeys(Kind, "TEXT") | {Kind.BOOL: "INTEGER", Kind.INT: "INTEGER", Kind.FLOAT: "REAL"},
    operators={
        "sign": "CASE WHEN {0} > 0 THEN 1 WHEN {0} < 0 THEN -1 WHEN {0} = 0 THEN 0 END",
        "substring": "f_substring({0}, {1}, {2})",
        "to_date": "substr({0}, 1, 10)",
        "to_time": "substr({0} || ' 00:00:00.000000', 1, 26)",
        "date_sub": "f_days({0}, {1})",
        **{name: called(name, SEVERAL.get(name, 2)) for name in OF_TEXTS},
        **{name: called(name, 2 if name in ("atan2", "power") else 1) for name in OF_NUMBERS},
        **{name: called(name, 1) for name in (*OF_MOMENTS, "to_text")},
        **MOVED,
        "mod": "({0} % {1})",
        "float_mod": called("mod", 2),
        "int_div": "f_to_whole(f_int_div({0}, {1}))",
        "regexp_replace": called("regexp_replace", 3, ""),
        "regexp_replace g": called("regexp_replace", 3, "g"),
        "strftime": called("strftime", 2),
        **{name: f"f_{name}({{0}})" for name in PLAIN},
        **{name: f"f_part({{0}}, '{name}')" for name in PARTS},
    },
    columns=ColumnTypes(as_held, as_held, exact, lambda kind, held: "TEXT", lambda forms: "TEXT", {}),
    parameter="?{}",
    finite="f_finite({0})",
    clamped_float="CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END",
    to_whole="f_to_whole({0})",
    wide_to_float="f_to_float({0})",
    first_letters="f_substring({0}, 1, {1})",
    short_text="f_substring({0}, 1, {1})",
    truncated="f_start({0}, {1})",
    whole_types=((63, "INTEGER"), (127, "TEXT")),
    key_types=(),
    wide={
        **{name: f"f_{name}({{0}})" for name in ("neg", "abs")},
        **{name: f"f_{name}({{0}}, {{1}})" for name in ("add", "sub", "mul")},
    },
    rounded="f_rounded({0})",
    wide_sum="coalesce(f_sum({0}), 0)",
    wide_product="f_mul({0}, {1})",
    scaled="f_scaled({0}, {1}, {2})",
    least="min({0}, {1})",
    hashed="f_hash({0})",
    rank_hash="f_hash({0})",
    key_hash="f_hash({0})",
    number_type="INTEGER",
    distinct_tuple="f_tuple({0})",
    # A limit keeps SQLite from writing expressions out again where they are named.
    layer="SELECT *, {0} FROM ({1}) AS q LIMIT -1",
    numbered="SELECT {0}, row_number() OVER (PARTITION BY {0}) AS j FROM ({1})",
    wide_sum_over="coalesce(f_sum({0}) OVER peers, 0)",
    semi_join="SELECT {0}.* FROM {0} WHERE EXISTS (SELECT 1 FROM {1} WHERE {2})",
    anti_join="SELECT {0}.* FROM {0} WHERE NOT EXISTS (SELECT 1 FROM {1} WHERE {2})",
)


@final
class Stored(Answer):
    """Tuples of SQLite."""

    def __init__(self, names: list[str], rows: list[tuple[Any, ...]]) -> None:
        self._names, self._rows = names, rows

    def numbers(self, name: str) -> Any:
        place = self._names.index(name)
        return Tuples([name], [(int(row[place]),) for row in self._rows]).numbers(name)

    def values(self, name: str, kind: Kind) -> list[Value]:
        place = self._names.index(name)
        return [shown(row[place], kind) for row in self._rows]


class SQLiteEngine(SQLEngine):
    """Tables in SQLite."""

    name: ClassVar[str] = "SQLite"
    lacks: ClassVar[frozenset[str]] = frozenset({"Items"})

    def __init__(self, tables: Mapping[str, Held], connection: sqlite3.Connection) -> None:
        self._tables, self._connection = tables, connection

    @property
    def dialect(self) -> Dialect:
        return SQLITE

    @property
    def held(self) -> Mapping[str, Held]:
        return self._tables

    @cached_property
    def empty(self) -> SQLiteEngine:
        twin = SQLiteEngine(self._tables, connected())
        for table in self._tables.values():
            create(twin._connection, table, [])
        return twin

    def answer(self, text: str, statement: Statement, *, few: bool) -> Answer:
        with closing(self._connection.cursor()) as cursor:
            try:
                for name, columns in statement.lists.items():
                    names = listing([*(f"k{place}" for place in range(len(columns))), "place"])
                    cursor.execute(f"CREATE TEMP TABLE {name} ({names})")
                    rows = zip(*(map(stored, values) for _, values in columns), range(len(columns[0][1])), strict=True)
                    cursor.executemany(f"INSERT INTO {name} VALUES ({listing('?' * (len(columns) + 1))})", rows)
                given = {place: stored(value) for place, value in statement.bound(text).items()}
                rows = cursor.execute(text, given).fetchall()
                return Stored([column[0] for column in cursor.description], rows)
            except sqlite3.Error:
                pass
            finally:
                for name in statement.lists:
                    cursor.execute(f"DROP TABLE IF EXISTS temp.{name}")
        raise RuntimeError(BROKE_OFF)

    def fingerprints(self, key: bytes) -> Mapping[str, str]:
        return dict.fromkeys(self._tables, "")

    def close(self) -> None:
        self._connection.close()


def create(connection: sqlite3.Connection, table: Held, rows: list[tuple[Any, ...]]) -> None:
    """Makes a table with its rows."""
    names = [*(ours for ours, _, _ in table.columns.values()), *(name for name in table.exact.values() if name)]
    connection.execute(f"CREATE TABLE {table.name} ({listing(names) or 'one'})")
    if names:
        connection.executemany(f"INSERT INTO {table.name} VALUES ({listing('?' * len(names))})", rows)
    else:
        connection.executemany(f"INSERT INTO {table.name} VALUES (1)", [()] * len(rows))


def name_of(value: Any) -> str | None:
    """A text that names what is held, exactly."""
    name = identity(value)
    return None if name is None else repr(name)


def copied(connection: sqlite3.Connection, place: str, scan: Scan, data: Any) -> Held:
    """Copies a table: each value as the kind of its column, and beside it a text that names exactly what was held."""
    made, texts = columns_of(data, [column.name for column in scan.columns])
    columns = {
        column.name: [
            Written(value, column.kind) if column.name in texts and value is not None else value
            for value in made.column(column.name).to_pylist()
        ]
        for column in scan.columns
    }
    kept = [[stored(of_kind(value, column.kind)) for value in columns[column.name]] for column in scan.columns]
    exact_values = [[name_of(value) for value in columns[column.name]] for column in scan.columns]
    held = {column.name: (f"c{number}", "", column.kind) for number, column in enumerate(scan.columns)}
    names = {column.name: f"e{number}" for number, column in enumerate(scan.columns)}
    table = Held(place, held, names, owner=scan.owner)
    create(connection, table, list(zip(*kept, *exact_values, strict=True)) or [()] * made.num_rows)
    return table


def open_sqlite(data: Mapping[str, Any], tables: Mapping[str, Scan], *, by_hash: bool = True) -> SQLiteEngine:
    """Opens tables in SQLite."""
    connection = connected(by_hash=by_hash)
    places = {name: f"t{number}" for number, name in enumerate(tables)}
    held = {name: copied(connection, places[name], scan, data[name]) for name, scan in tables.items()}
    return SQLiteEngine(held, connection)
