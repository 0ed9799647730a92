"""Tables of a server: looked up by name, with their columns and what else of them decides whether they are opened.

Only the catalog is read. What is refused is said to whoever opens the data, and names public things: tables, columns,
types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, final

from sfumato.errors import BadArgument, did_you_mean
from sfumato.query.engines.postgres.reading import HELD, making, plain, readable
from sfumato.query.engines.sql.held import Held, item_type
from sfumato.query.engines.sql.statement import listing, quoted
from sfumato.query.nodes.relations import Scan

if TYPE_CHECKING:
    from sfumato.query.engines.postgres.server import Connection

VIEWS = ("v", "m")
MODEST = 300
"""Decimals of at most so many digits before and behind the point are neither too large nor too small for a float."""


FIND = """
SELECT c.oid::int8, n.nspname::text, c.relname::text, c.relkind::text,
       c.relkind = 'f' OR EXISTS (
           WITH RECURSIVE below AS (
               SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = c.oid
               UNION ALL SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i JOIN below AS b ON i.inhparent = b.inhrelid)
           SELECT 1 FROM below AS b JOIN pg_catalog.pg_class AS r ON r.oid = b.inhrelid WHERE r.relkind = 'f'),
       coalesce(pg_catalog.array_position(pg_catalog.current_schemas(false), n.nspname), 0)
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
  AND n.nspname !~ '^pg_temp_'
ORDER BY 2, 3
"""

COLUMNS = """
WITH RECURSIVE base AS (
    SELECT a.attnum, a.attname::text AS name, a.atttypid AS type, a.atttypmod AS mod,
           pg_catalog.format_type(a.atttypid, a.atttypmod) AS shown
    FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT b.attnum, b.name, t.typbasetype, CASE WHEN t.typtypmod < 0 THEN b.mod ELSE t.typtypmod END, b.shown
    FROM base AS b JOIN pg_catalog.pg_type AS t ON t.oid = b.type AND t.typtype = 'd'),
known AS (
    SELECT b.*, t.typname::text AS word, t.typtype::text AS sort, t.typelem AS item, t.typcategory::text AS category,
           n.nspname::text AS place
    FROM base AS b JOIN pg_catalog.pg_type AS t ON t.oid = b.type JOIN pg_catalog.pg_namespace AS n
         ON n.oid = t.typnamespace WHERE t.typtype <> 'd')
SELECT k.name, k.word, k.sort, k.place, k.mod::int8, k.shown, i.typname::text, i.typtype::text, j.nspname::text
FROM known AS k LEFT JOIN pg_catalog.pg_type AS i ON k.category = 'A' AND i.oid = k.item
     LEFT JOIN pg_catalog.pg_namespace AS j ON j.oid = i.typnamespace
ORDER BY k.attnum
"""

# What a view is made of, and views below it: the tree of its rule names functions and tables by number.
VIEW = """
WITH RECURSIVE trees AS (
    SELECT r.ev_class, r.ev_action::text AS tree FROM pg_catalog.pg_rewrite AS r
    WHERE r.ev_class = $1 AND r.ev_type = '1'
    UNION
    SELECT r.ev_class, r.ev_action::text FROM trees AS t
    CROSS JOIN LATERAL pg_catalog.regexp_matches(t.tree, ':relid ([0-9]+)', 'g') AS m
    JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = m[1]::oid AND r.ev_type = '1' AND r.ev_class <> t.ev_class),
called AS (
    SELECT DISTINCT m[1]::oid AS oid FROM trees AS t CROSS JOIN LATERAL
    pg_catalog.regexp_matches(t.tree, ':(?:funcid|opfuncid|aggfnoid|winfnoid) ([0-9]+)', 'g') AS m)
SELECT EXISTS (SELECT 1 FROM called JOIN pg_catalog.pg_proc AS p USING (oid) WHERE p.provolatile = 'v'),
       EXISTS (SELECT 1 FROM trees AS t WHERE t.tree ~ ':hasAggs true'),
       EXISTS (SELECT 1 FROM trees AS t WHERE t.tree ~ ':hasWindowFuncs true'),
       EXISTS (SELECT 1 FROM trees AS t WHERE t.tree ~ ':(limitCount|limitOffset) [{]'),
       EXISTS (SELECT 1 FROM trees AS t WHERE t.tree ~ ':(groupClause|distinctClause) [(][{]'),
       EXISTS (SELECT 1 FROM trees AS t WHERE t.tree ~ ':op [23] :all'
           OR t.tree ~ '[{]SETOPERATIONSTMT :op [0-9] :all false'),
       EXISTS (SELECT 1 FROM trees AS t WHERE t.tree ~ '[{]TABLESAMPLECLAUSE ')
"""
MIXING = ("", "aggregates", "ranks", "cuts with LIMIT", "groups", "takes apart or out what is alike", "samples")


def refuse(must: str, got: object) -> NoReturn:
    """Refuses data."""
    raise BadArgument("data", must, got)


@final
@dataclass(frozen=True)
class Column:
    """A column of a table: its name, the type as it is read, and the type as the server shows it."""

    name: str
    held: str
    shown: str


@final
@dataclass(frozen=True)
class Table:
    """A table of a server, by its number there; ``promised``: what is said of its rows nobody has enforced."""

    oid: int
    schema: str
    name: str
    kind: str
    promised: bool
    place: int

    @property
    def full(self) -> str:
        """Its name with that of its schema."""
        return f"{self.schema}.{self.name}"

    @property
    def quoted(self) -> str:
        """The same in SQL."""
        return f"{quoted(self.schema)}.{quoted(self.name)}"


def tables_of(connection: Connection) -> list[Table]:
    """All tables of a database that are anybody's; rights are looked at when one is opened."""
    return [Table(*row) for row in connection.execute(FIND.encode()).fetchall()]


def find(tables: Sequence[Table], name: str, schema: str = "") -> Table:
    """The table of a name, in its exact letters: in a schema, or in those of the search path, or as schema.table."""
    if schema:
        named = [one for one in tables if one.schema == schema and one.name == name]
    else:
        named = sorted((one for one in tables if one.name == name and one.place), key=lambda one: one.place)
        named = named or [one for one in tables if name in (one.full, one.quoted, f"{one.schema}.{quoted(one.name)}")]
    if named:
        return named[0]
    alike = [one.full for one in tables if one.name == name or one.full.casefold() == name.casefold()]
    known = {one.name: one for one in tables} | {one.full: one for one in tables}
    hint = f" (there is {', '.join(alike[:5])})" if alike else did_you_mean(name, known)
    where = f" in the schema {schema}" if schema else " (case matters); others are named as schema.table"
    return refuse(f"a database with a table {name}{where}{hint}", "none")


def columns_of(connection: Connection, table: Table) -> dict[str, Column]:
    """The columns of a table, in order."""
    rows = connection.execute(COLUMNS.encode(), (table.oid,)).fetchall()
    columns = {}
    for name, word, sort, place, mod, shown, item, item_sort, item_place in rows:
        held = f"{_word(item, item_sort, item_place)}[]" if item else _word(word, sort, place)
        digits, places = (mod - 4) >> 16 & 0xFFFF, (mod - 4) & 0x7FF
        if held == "numeric" and mod >= 4 and max(digits, places) <= MODEST:
            held = f"numeric({digits},{places})"
        columns[name] = Column(name, held, shown)
    return columns


def _word(word: str, sort: str, place: str) -> str:
    """The word of a type that is read; of others a word that no type has."""
    if sort == "e":
        return "enum"
    return word if word == "citext" or (place == "pg_catalog" and word in HELD) else f"other {word}"


def check_view(connection: Connection, table: Table, vouched: Sequence[str]) -> None:
    """Refuses a view whose rows may be made of those of several units, and one that is another each time.

    Conditions, expressions and joins pass: that a row comes of the rows of one unit alone is said by whoever holds the
    data, in the codebook. What takes rows together, ranks or cuts them is passed where it is vouched for by name.
    """
    if table.kind not in VIEWS:
        return
    (row,) = connection.execute(VIEW.encode(), (table.oid,)).fetchall()
    if row[0] and table.kind == "v":
        refuse(
            f"a view that is the same whenever it is looked at: {table.full} calls a function that is volatile",
            "another one each time",
        )
    mixes = [word for word, does in zip(MIXING[1:], row[1:], strict=True) if does]
    if mixes and not {table.name, table.full} & set(vouched):
        refuse(
            f"a view whose rows are each made of rows of one unit: {table.full} {' and '.join(mixes)}; if all rows "
            f"that it takes together are one unit's, say so: engine=sf.engines.Postgres(vouched=({table.full!r},))",
            "one that may mix them",
        )


def held_table(place: str, scan: Scan, columns: Mapping[str, Column]) -> Held:
    """A table in which every column can be read as its codebook says; refuses, and names, one that cannot."""
    made: dict[str, tuple[str, str, Any]] = {}
    for number, column in enumerate(scan.columns):
        there = _column(scan, column.name, columns)
        if plain(there.held) not in HELD or not readable(column.kind, there.held):
            refuse(f"a table in which {scan.table}.{column.name} can be read as {column.kind.value}", there.shown)
        if column.facts.written and column.kind.temporal and there.held in HELD and HELD[there.held][0] == "text":
            refuse(
                f"a table in which {scan.table}.{column.name} is a date or timestamp, or a text as 2012-01-31: the "
                "PostgreSQL engine has no format:",
                f"one with format: {column.facts.written}",
            )
        made[column.name] = (f"c{number}", there.held, column.kind)
    for number, items in enumerate(scan.lists, start=len(scan.columns)):
        there = _column(scan, items.column, columns)
        item = item_type(there.held)
        if plain(item) not in HELD or not readable(items.item.kind, item):
            refuse(f"a table in which {scan.table}.{items.column} is a list of {items.item.kind.value}", there.shown)
        made[items.column] = (f"c{number}", there.held, items.item.kind)
    written = {column.name: column.facts.written for column in scan.columns if column.facts.written}
    return Held(place, made, written=written, owner=scan.owner)


def _column(scan: Scan, name: str, columns: Mapping[str, Column]) -> Column:
    if name not in columns:
        refuse(
            f"a table with the column {scan.table}.{name}, which the codebook describes (case matters)"
            f"{did_you_mean(name, columns)}",
            "none",
        )
    return columns[name]


def select_of(table: Table, held: Held) -> str:
    """The SELECT of a table with the columns of a question; of what is only promised of its rows nothing is believed.

    OFFSET 0 keeps conditions and beliefs away from foreign tables and views: each row is taken as it comes.
    """
    made = listing(f"{making(kind).format(quoted(name))} AS {ours}" for name, (ours, kind, _) in held.columns.items())
    fence = " OFFSET 0" if table.promised or table.kind == "v" else ""
    return f"SELECT {made or '1 AS one'} FROM {table.quoted}{fence}"
