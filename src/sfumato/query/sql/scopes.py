"""Scopes: which column a name means, among the tables of one FROM clause."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import final

from sqlglot import exp

from sfumato.errors import QueryRefused, did_you_mean
from sfumato.query.build.relation import scans
from sfumato.query.nodes.catalog import name_in
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.relations import Relation
from sfumato.query.sql.refusals import only


@final
@dataclass(frozen=True)
class Source:
    """One table of a FROM clause: what it is called there, and which field holds each of its columns.

    Columns that are ``merged`` (by USING) with those of a table before it are found only with the table's name.
    ``left_out`` says of others that the data has why nothing can be asked about them.
    """

    name: str
    fields: dict[str, str]
    merged: frozenset[str] = frozenset()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def open(self) -> list[str]:
        """The names of its columns that can be used without the table's name."""
        return [name for name in self.fields if name not in self.merged]

    def hiding(self, fields: Collection[str]) -> Source:
        """Merges the columns that some fields hold with those of another table."""
        return replace(self, merged=self.merged | {name for name, field in self.fields.items() if field in fields})

    def renamed(self, names: Mapping[str, str]) -> Source:
        """Finds its columns in fields with other names."""
        return replace(self, fields={name: names[field] for name, field in self.fields.items()})


@final
@dataclass(frozen=True)
class Scope:
    """The relation that a SELECT looks at, and what its columns are called."""

    relation: Relation
    sources: tuple[Source, ...]

    @cached_property
    def _columns(self) -> dict[str, Column]:
        return {column.name: column for column in self.relation.fields}

    def over(self, relation: Relation) -> Scope:
        """Keeps the names over another relation with the same fields."""
        return replace(self, relation=relation)

    def column(self, node: exp.Column) -> Column:
        """Looks up the column that a name means; refuses unknown and ambiguous ones."""
        only(node, "this", "table", "db", "catalog")
        name = node.name
        if node.table:
            source = self._qualified(node)
            match = name_in(name, source.fields)
            if match is None:
                self._check_list(name)
                raise QueryRefused(_unknown(f"{node.table}.{name}", list(source.fields)))
            return self._columns[source.fields[match]]
        column = self.find(name)
        if column is None:
            self._check_list(name)
            self._refuse_left_out(name)
            known = [one for source in self.sources for one in source.open]
            raise QueryRefused(f"{_unknown(name, known)} If it is a text, put it in single quotes.")
        return column

    def _check_list(self, name: str) -> None:
        """Says how a list is looked into, where a name is one's."""
        lists = {items.column for scan in scans(self.relation) for items in scan.lists}
        if (match := name_in(name, lists)) is not None:
            raise QueryRefused(
                f"{match} is a list, and only its items are asked about: write FROM …, UNNEST({match}) AS t (item), or "
                f"UNNEST({match}[:3]) for the first three of each row."
            )

    def find(self, name: str) -> Column | None:
        """The column that a name without a table means, or None; refuses a name that may mean several."""
        columns = self.called(name)
        if len(columns) > 1:
            raise QueryRefused(f"{name!r} could be {' or '.join(columns)}: write which one.")
        return next(iter(columns.values()), None)

    def called(self, name: str) -> dict[str, Column]:
        """The columns that a name without a table may mean, by their names with the table."""
        matches = ((source, name_in(name, source.open)) for source in self.sources)
        return {
            f"{source.name}.{match}": self._columns[source.fields[match]]
            for source, match in matches
            if match is not None
        }

    def holds(self, node: exp.Column) -> bool:
        """Tells whether a name means a column of these tables."""
        if not node.table:
            return bool(self.called(node.name))
        return any(
            source.name.casefold() == node.table.casefold() and name_in(node.name, source.fields) is not None
            for source in self.sources
        )

    def _qualified(self, node: exp.Column) -> Source:
        """The table that a name before a point means; says so where the point belongs to the name of a column."""
        whole = f"{node.table}.{node.name}"
        if self.called(whole) and name_in(node.table, [source.name for source in self.sources]) is None:
            raise QueryRefused(f'{whole} has a point in its name: write "{whole}", in double quotes.')
        source = self.source(node.table)
        if name_in(node.name, source.fields) is None:
            self._refuse_left_out(node.name)
        return source

    def _refuse_left_out(self, name: str) -> None:
        for source in self.sources:
            if (match := name_in(name, source.left_out)) is not None:
                raise QueryRefused(f"nothing can be asked about {match!r}: {source.left_out[match]}.")

    def source(self, name: str) -> Source:
        """Looks up a table by the name it has in FROM."""
        names = {source.name: source for source in self.sources}
        match = name_in(name, names)
        if match is None:
            raise QueryRefused(f"there is no table {name!r} in FROM; there are: {', '.join(filter(None, names))}.")
        return names[match]

    def everything(self, table: str) -> Iterator[tuple[str, Column]]:
        """All columns, or those of one table, as * lists them."""
        for source in (self.source(table),) if table else self.sources:
            for name in source.fields if table else source.open:
                yield name, self._columns[source.fields[name]]


def _unknown(name: str, known: list[str]) -> str:
    hint = did_you_mean(name.rpartition(".")[2], known)
    return f"there is no column {name!r}; there are: {', '.join(known)}.{hint}"
