"""The catalog: tables by name, as their codebook describes them, for front ends to look names up in."""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import final

from sfumato.codebook import Codebook
from sfumato.codebook.columns import Column as Described
from sfumato.codebook.tables import FACT, TRUNCATION, Table
from sfumato.errors import BadArgument, QueryRefused, did_you_mean, shown
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.facts import Ends, Facts
from sfumato.query.nodes.kinds import Kind, Value, kind_of
from sfumato.query.nodes.relations import Hop, Items, Owner, Scan
from sfumato.query.plan.contribution_facts import Reach

UNNAMED = "data"
"""What a table is called that was opened without a name."""

KINDS = {
    "float": Kind.FLOAT,
    "int": Kind.INT,
    "bool": Kind.BOOL,
    "str": Kind.TEXT,
    "date": Kind.DATE,
    "time": Kind.TIME,
}


@final
@dataclass(frozen=True)
class Catalog:
    """Every table that can be asked, with what is public about it.

    With ``rows_only`` rows are the units, even where there are ids: how many of them one unit has is stated elsewhere.
    ``lists`` are the public keys of columns, as in ``visits.site``, that a public table lists.
    """

    codebook: Codebook
    rows_only: bool = False
    lists: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    @cached_property
    def tables(self) -> Mapping[str, Scan]:
        """The tables by their names, with all of their columns; ids are of one kind in all of them."""
        scans = {table.name: self._scan(table) for table in self.codebook.tables}
        kinds = {}
        for name, scan in scans.items():
            if scan.owner is not None and scan.owner.id:
                holder = scans[scan.owner.hops[-1].table] if scan.owner.hops else scan
                kinds[name] = column_named(scan.owner.id, holder.columns, holder.table).kind
        if len(set(kinds.values())) > 1:
            said = ", ".join(f"{kind.value} in {name}" for name, kind in kinds.items())
            raise QueryRefused(f"ids must be of one kind in all tables, or two people may be taken for one: {said}.")
        return scans

    def table(self, name: str) -> Scan:
        """Looks up a table by its exact name, or else without regard to case; refuses unknown names."""
        known = name_in(name, self.tables) or self._last_part(name)
        if known is None:
            near = did_you_mean(name, self.tables)
            if set(self.tables) == {UNNAMED}:
                near = " So is called what was opened without a name: sf.Dataset(…, name='visits') gives it one."
            raise QueryRefused(f"there is no table {shown(name)}; there are: {', '.join(sorted(self.tables))}.{near}")
        return self.tables[known]

    def left_out(self, name: str) -> Mapping[str, str]:
        """The columns that the data of a table has besides, and why nothing can be asked about each."""
        return next((table.left_out for table in self.codebook.tables if table.name == name), {})

    def _last_part(self, name: str) -> str | None:
        """The table with a name that ends in this one, as PUMS.PUMS does in PUMS; None where that is not one table."""
        ends = {full.rpartition(".")[2]: full for full in self.tables}
        end = name_in(name.rpartition(".")[2], ends) if len(ends) == len(self.tables) else None
        return None if end is None else ends[end]

    def _scan(self, table: Table) -> Scan:
        owner = None if table.public else self._owner(table)
        places = {} if owner is None or owner.hops else {owner.id: 0}
        plain = [one for one in table.columns if one.items is None]
        columns = tuple(_column(one, table.name, places.get(one.name), self.lists) for one in plain)
        lists = (
            Items(one.name, _column(one.items, table.name, None, {}), one.most_items)
            for one in table.columns
            if one.items is not None
        )
        return Scan(table.name, columns, owner, lists=tuple(lists))

    def _owner(self, table: Table) -> Owner:
        path = None if self.rows_only else self.codebook.unit_path(table.name)
        if path is None:
            return Owner()
        hops = tuple(Hop(hop.leaves.column, hop.arrives.table, hop.arrives.column) for hop in path.hops)
        window = None
        if path.window is not None and self.codebook.window is not None:
            if hops:  # a key's own row is in one window, and would decide over the rows of all others
                raise QueryRefused(
                    f"{table.name} reaches its ids through other tables, and the unit is one id in one "
                    f"{self.codebook.window.every}: put the id into {table.name}, or protect ids for all time."
                )
            window = (path.window.column, self.codebook.window.every)
        return Owner(path.id.column, hops, window)

    @cached_property
    def by_rows(self) -> bool:
        """Tells whether rows are the units: no private table says which unit its rows belong to."""
        owners = [scan.owner for scan in self.tables.values() if scan.owner is not None]
        if len({owner.id == "" for owner in owners}) > 1:
            named = [name for name, scan in self.tables.items() if scan.owner is not None and not scan.owner.id]
            raise QueryRefused(f"nothing says whose the rows of {', '.join(named)} are: give an id, or public: true.")
        return all(not owner.id for owner in owners)

    @cached_property
    def reaches(self) -> Mapping[str, Reach]:
        """The facts on how much of each table one unit can have; nothing is known of most."""
        private = [table for table in self.codebook.tables if not table.public]
        if self.by_rows:  # how many rows a unit has is then part of the distance between neighbours
            return {table.name: Reach(rows=1) for table in private}
        return {table.name: self._with_window(table, _reach(table, FACT) or Reach()) for table in private}

    def _with_window(self, table: Table, reach: Reach) -> Reach:
        owner = self.tables[table.name].owner
        if owner is None or owner.window is None:
            return reach
        column, every = owner.window
        return replace(reach, windows=frozenset({(f"{table.name}.{column}", every)}))

    @cached_property
    def kept(self) -> Mapping[str, Reach]:
        """The bounds to which the codebook says that each table is to be cut, where nobody says otherwise."""
        return {table.name: _reach(table, TRUNCATION) or Reach() for table in self.codebook.tables if not table.public}


def _reach(table: Table, by: str) -> Reach | None:
    bounds = table.contributions
    if bounds is None or bounds.by != by:
        return None
    groups, each = (
        {frozenset(f"{table.name}.{column}" for column in columns): most for columns, most in given}
        for given in (bounds.groups, bounds.rows_each)
    )
    return Reach(math.inf if bounds.rows is None else bounds.rows, groups, each)


def column_named(name: str, columns: Iterable[Column], where: str) -> Column:
    """Looks up a column by its exact name, or else without regard to case; refuses unknown names."""
    known = {column.name: column for column in columns}
    match = name_in(name, known)
    if match is None:
        there = f"there are: {', '.join(known)}.{did_you_mean(name, known)}"
        raise QueryRefused(f"there is no column {shown(name)} in {where}; {there}")
    return known[match]


def names_of(given: str | Sequence[str]) -> list[str]:
    """Reads one name of a column or a list of them; refuses other containers of texts, which may hold data."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise BadArgument("columns", "a name, or a list of names", given)
    return list(names)


def name_in(name: str, known: Collection[str]) -> str | None:
    """Picks the name that is meant: the same one, or else the only one that differs by case alone."""
    if not isinstance(name, str):
        raise BadArgument("the name of a table or column", "one text, such as 'minutes'", type(name).__name__)
    if name in known:
        return name
    alike = [one for one in known if one.casefold() == name.casefold()]
    if len(alike) > 1:
        raise QueryRefused(f"{name!r} could be {' or '.join(map(repr, alike))}: write it as it is.")
    return alike[0] if alike else None


def _column(described: Described, table: str, unit: int | None, lists: Mapping[str, tuple[Value, ...]]) -> Column:
    kind = kind_of(described.categories[0]) if described.categories else KINDS[described.type]  # type: ignore[arg-type]
    origin = f"{table}.{described.name}"
    nullable = described.nullable is not False
    facts = Facts(_ends(described), _keys(described) or lists.get(origin), nullable, described.written)
    return Column(described.name, kind, facts, origin, unit)


def _keys(described: Described) -> tuple[Value, ...] | None:
    return tuple(described.categories) if described.categories else None  # type: ignore[arg-type]


def _ends(described: Described) -> Ends | None:
    match described.between:
        case None:
            return None
        case (datetime.date() as low, datetime.date() as high):
            return low, high
        case bounds:
            return Fraction(bounds.lower), Fraction(bounds.upper)
