"""Data sets as PostgreSQL would describe them: schemas, tables, columns with types, keys. All of it from codebooks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from sfumato.codebook.book import Codebook
from sfumato.codebook.columns import Column as Stated
from sfumato.codebook.tables import Table as StatedTable
from sfumato.server.postgres.catalog.types import array_of

LEAST, MOST = 100_000_000, 2_000_000_000
"""Between these are the numbers of our own objects: above all of PostgreSQL's, and no negative ones in 32 bits."""

KINDS = {
    "bool": "bool",
    "date": "date",
    "float": "float8",
    "int": "int8",
    "str": "text",
    "time": "timestamp",
}
"""Types of codebooks, and PostgreSQL's."""

OWNER, OWNER_OID = "sfumato", 10


@final
@dataclass(frozen=True)
class Described:
    """A data set that somebody may see: its name, its codebook, and the schema in which its tables stand."""

    name: str
    codebook: Codebook
    schema: str = ""

    @property
    def namespace(self) -> str:
        """The schema of its tables: its own name, unless another one is said."""
        return self.schema or self.name


@final
@dataclass(frozen=True)
class Attribute:
    """A column: its number in the table, name, type, whether it may be missing, and what the codebook says of it."""

    number: int
    name: str
    type: str
    never: bool
    comment: str


@final
@dataclass(frozen=True)
class Constraint:
    """A key of a table (``p`` or ``u``), which has an index, or a reference (``f``) to the key of another one."""

    oid: int
    index: int
    name: str
    kind: str
    numbers: tuple[int, ...]
    target: tuple[int, tuple[int, ...]] | None = None


@final
@dataclass(frozen=True)
class Entry:
    """A table: where it stands, its number, its columns and keys."""

    data_set: str
    schema: str
    schema_oid: int
    oid: int
    stated: StatedTable
    attributes: tuple[Attribute, ...]
    keys: tuple[Constraint, ...]
    references: tuple[Constraint, ...] = ()

    @property
    def name(self) -> str:
        return self.stated.name

    @property
    def comment(self) -> str:
        """What the codebook says of the table."""
        whose = "public" if self.stated.public else ""
        return " · ".join(part for part in (self.stated.description, whose) if part)

    def names(self, numbers: Sequence[int]) -> list[str]:
        """Names of columns, by their numbers."""
        return [self.attributes[number - 1].name for number in numbers]


def number_of(*words: str) -> int:
    """The number of an object: the same in every process, since it follows from names alone."""
    digest = hashlib.blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return LEAST + int.from_bytes(digest, "big") % (MOST - LEAST)


@final
@dataclass(frozen=True)
class Database:
    """All that one person may see: the data sets, in the order in which names are looked up in them."""

    visible: tuple[Described, ...]
    person: str
    name: str
    looked_in: tuple[str, ...] = ()

    @cached_property
    def person_oid(self) -> int:
        """The number of the role of whoever asks."""
        return OWNER_OID if self.person == OWNER else number_of("role", self.person)

    @cached_property
    def oid(self) -> int:
        return number_of("database", self.name)

    @cached_property
    def schemas(self) -> dict[str, int]:
        """Schemas of data sets, with their numbers; those of several data sets may be one."""
        names = dict.fromkeys(one.namespace for one in self.visible)
        return {name: 2200 if name == "public" else number_of("schema", name) for name in names}

    @property
    def path(self) -> tuple[str, ...]:
        """Where names without a schema are looked up: in the schemas that were said, or else in all, in their order."""
        said = tuple(name for name in self.looked_in if name in self.schemas)
        return said or tuple(self.schemas) or ("public",)

    @cached_property
    def tables(self) -> tuple[Entry, ...]:
        """All tables, of all data sets."""
        return tuple(entry for one in self.visible for entry in self._entries(one))

    @cached_property
    def first(self) -> dict[str, Entry]:
        """Tables by name alone: of several, the one whose schema is looked in first."""
        found = [one for schema in self.path for one in self.tables if one.schema == schema]
        return {one.name: one for one in reversed(found)}

    def _entries(self, described: Described) -> Iterator[Entry]:
        schema = described.namespace
        plain = {one.name: self._entry(described, schema, one) for one in described.codebook.tables}
        for name, entry in plain.items():
            references = tuple(self._references(described.name, entry, plain))
            yield Entry(
                entry.data_set,
                entry.schema,
                entry.schema_oid,
                entry.oid,
                plain[name].stated,
                entry.attributes,
                entry.keys,
                references,
            )

    def _entry(self, described: Described, schema: str, table: StatedTable) -> Entry:
        columns = tuple(
            Attribute(place, one.name, type_of(one), one.nullable is False, comment_of(one))
            for place, one in enumerate(table.columns, 1)
        )
        place = {one.name: one for one in columns}
        words = (described.name, table.name)
        keys: tuple[Constraint, ...] = ()
        if table.key:
            never = all(place[name].never for name in table.key)
            name = f"{table.name}_{'pkey' if never else '_'.join(table.key) + '_key'}"
            numbers = tuple(place[name].number for name in table.key)
            keys = (Constraint(number_of("key", *words), number_of("index", *words), name, "pu"[not never], numbers),)
        return Entry(described.name, schema, self.schemas[schema], number_of("table", *words), table, columns, keys)

    @staticmethod
    def _references(data_set: str, entry: Entry, tables: dict[str, Entry]) -> Iterator[Constraint]:
        """References to keys, as far as those that they lead to are known not to repeat."""
        leads = [(one.name, one.keys.table, one.keys.column) for one in entry.stated.columns if one.keys is not None]
        if (link := entry.stated.link) is not None and link.of in tables and len(tables[link.of].stated.key) == 1:
            leads.append((link.column, link.of, tables[link.of].stated.key[0]))
        for column, table, target in leads:
            there = tables.get(table)
            if there is None or there.stated.key != (target,):
                continue
            numbers = tuple(one.number for one in entry.attributes if one.name == column)
            to = (there.oid, there.keys[0].numbers)
            oid = number_of("reference", data_set, entry.name, column)
            yield Constraint(oid, there.keys[0].index, f"{entry.name}_{column}_fkey", "f", numbers, to)


def type_of(column: Stated) -> str:
    """PostgreSQL's type of a column."""
    if column.type == "list":
        return array_of("text" if column.items is None else type_of(column.items))
    if column.type != "categories":
        return KINDS[column.type]
    match column.categories[0]:
        case bool():
            return "bool"
        case int():
            return "int8"
        case float():
            return "float8"
    return "text"


def comment_of(column: Stated) -> str:
    """What the codebook says of a column: what it is, and which values it may have."""
    _, _, values, _, _ = column.row()
    return " · ".join(part for part in (column.description, values) if part)
