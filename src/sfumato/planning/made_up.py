"""Data that is made up in the shape of a codebook: nobody in it exists, and nothing of it comes from anybody."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.codebook.book import Codebook
from sfumato.codebook.tables import FACT, Table
from sfumato.datasets.making import Maker
from sfumato.exact import integer
from sfumato.planning.shape import Tables, arrow_types, check_public
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Scan

MISSING = 0.02
"""The share of values that are missing, of columns that may have missing ones."""

WORDS, DAYS, NUMBERS = 20, 365, 100
"""Of texts so many different ones, of days so many, of numbers so many: where nothing is known of them."""

FIRST_DAY = datetime.date(2026, 1, 1)

ITEMS = 3
"""The most items of a list, where nothing is known of how many there are."""


def made_up_rows(
    book: Codebook, *, rows: int, people: int | None = None, public: Tables | None = None, seed: int = 0
) -> dict[str, Any]:
    """Makes up all private tables of a codebook, with about so many rows each; public ones are taken as they are.

    Values are spread evenly over what the codebook allows, which no real data is; errors of counts and sums do not hang
    on that. A person has about the same number of rows as others, and no more than a stated fact allows.
    """
    catalog = Catalog(book)
    given = dict(public or {})
    check_public(catalog, given)
    many = integer(rows, "rows", least=1)
    heads = max(1, many // 5) if people is None else integer(people, "people", least=1)
    made: dict[str, Any] = {}
    for table in book.tables:
        scan = catalog.tables[table.name]
        made[table.name] = given[table.name] if table.public else _Shape(table, scan, given, seed).table(many, heads)
    return made


@final
@dataclass(frozen=True, eq=False)
class _Shape:
    """A private table to be made up."""

    declared: Table
    scan: Scan
    public: Mapping[str, Any]
    seed: int

    def table(self, rows: int, people: int) -> Any:
        import pyarrow as pa

        many, whose = self._whose(rows, people)
        types = arrow_types()
        columns = {}
        for column in self.scan.columns:
            maker = Maker.seeded(f"made up {self.declared.name} {column.name}", self.seed)
            values = self._values(column, maker, many, whose)
            full = values if column.name in self._names_of_people else _with_gaps(values, column, maker)
            columns[column.name] = pa.array(full, types[column.kind])
        for items in self.scan.lists:
            maker = Maker.seeded(f"made up {self.declared.name} {items.column}", self.seed)
            lengths = maker.below(min(ITEMS, items.most or ITEMS) + 1, many)
            flat = iter(_values(items.item, maker, int(lengths.sum())))
            listed = [[next(flat) for _ in range(length)] for length in lengths.tolist()]
            columns[items.column] = pa.array(listed, pa.list_(types[items.item.kind]))
        return pa.table(columns)

    @property
    def _names_of_people(self) -> set[str]:
        """The columns that say whose a row is, in which nothing is missing."""
        link = self.declared.link
        return {self.declared.id, *self.declared.key} | ({link.column} if link is not None else set())

    def _whose(self, rows: int, people: int) -> tuple[int, NDArray[np.int64]]:
        """How many rows there are, and whose each is: no more of one person than a stated fact allows."""
        stated, size = self.declared.contributions, self.declared.size
        many = rows if size is None else size
        if (
            stated is not None
            and stated.by == FACT
            and stated.rows is not None
            and self.scan.owner
            and self.scan.owner.id
        ):
            many = min(many, stated.rows * people)
        return many, np.arange(many, dtype=np.int64) % people

    def _values(self, column: Column, maker: Maker, many: int, whose: NDArray[np.int64]) -> list[Any]:
        link = self.declared.link
        if column.name == self.declared.id or (link is not None and column.name == link.column):
            return _named(whose, column.kind)
        if column.name in self.declared.key:
            return _named(np.arange(many, dtype=np.int64), column.kind)
        described = self.declared[column.name]
        if described.keys is not None:
            listed = _column_of(self.public[described.keys.table], described.keys.column)
            return [listed[place] for place in maker.below(len(listed), many).tolist()]
        return _values(column, maker, many)


def _named(places: NDArray[np.int64], kind: Kind) -> list[Any]:
    """Ids of somebody, by a number."""
    if kind is Kind.TEXT:
        return [f"id {place}" for place in places.tolist()]
    return [float(place) for place in places.tolist()] if kind is Kind.FLOAT else places.tolist()


def _column_of(table: Any, name: str) -> list[Any]:
    import pyarrow as pa

    arrow = table if isinstance(table, pa.Table) else pa.table(table)
    return [value for value in dict.fromkeys(arrow[name].to_pylist()) if value is not None]


def _values(column: Column, maker: Maker, many: int) -> list[Any]:
    """Values spread evenly over what a column may have."""
    facts = column.facts
    if facts.keys:
        return [facts.keys[place] for place in maker.below(len(facts.keys), many).tolist()]
    ends: Any = facts.between
    match column.kind:
        case Kind.BOOL:
            return [bool(one) for one in maker.below(2, many).tolist()]
        case Kind.INT:
            low, high = (0, NUMBERS) if ends is None else (int(ends[0]), int(ends[1]))
            return [low + one for one in maker.below(high - low + 1, many).tolist()]
        case Kind.FLOAT:
            least, most = (0.0, float(NUMBERS)) if ends is None else (float(ends[0]), float(ends[1]))
            return [least + (most - least) * one for one in maker.fractions(many).tolist()]
        case Kind.DATE:
            first, last = ends or (FIRST_DAY, FIRST_DAY + datetime.timedelta(DAYS - 1))
            days = maker.below((last - first).days + 1, many).tolist()
            return [first + datetime.timedelta(day) for day in days]
        case Kind.TIME:
            start = datetime.datetime.combine(FIRST_DAY, datetime.time())
            first, last = ends or (start, start + datetime.timedelta(DAYS))
            seconds = maker.below(int((last - first).total_seconds()) + 1, many).tolist()
            return [first + datetime.timedelta(seconds=one) for one in seconds]
    return [f"word {one}" for one in maker.below(WORDS, many).tolist()]


def _with_gaps(values: list[Any], column: Column, maker: Maker) -> list[Any]:
    """Leaves some values out, of columns that may have missing ones."""
    if not column.facts.nullable:
        return values
    missing = (maker.fractions(len(values)) < MISSING).tolist()
    return [None if gone else value for value, gone in zip(values, missing, strict=True)]
