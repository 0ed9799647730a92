"""What names mean inside of a statement: columns of what stands in FROM, and what queries of WITH are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import final

from sfumato.server.postgres.catalog.refusals import AMBIGUOUS, NO_COLUMN, NO_TABLE, refused


@final
@dataclass(frozen=True)
class Typed:
    """An expression as the engine takes it, its type, and how a column that is it would be called.

    ``sure`` is how sure the name is, from 0 (none) to 2, as PostgreSQL weighs names of inner and outer expressions;
    ``text`` is that of a text in quotes whose type nothing has said yet, ``parameter`` the number of a parameter.
    """

    sql: str
    type: str
    name: str = "?column?"
    sure: int = 0
    text: str | None = None
    parameter: int = 0

    def called(self, name: str, sure: int = 2) -> Typed:
        """The same under another name."""
        return replace(self, name=name, sure=sure)


@final
@dataclass(frozen=True)
class Output:
    """A column that a query gives: what it is called, its type, and the name that the engine has for it."""

    name: str
    type: str
    column: str


@final
@dataclass(frozen=True)
class Source:
    """Something in FROM: what it is called, the engine's name for it, its columns, and those that `*` leaves out."""

    name: str
    alias: str
    outputs: tuple[Output, ...]
    schema: str = ""
    hidden: Mapping[str, Typed] = field(default_factory=dict)
    scalar: bool = False

    def get(self, name: str) -> Typed | None:
        """One of its columns, as an expression."""
        named = [one for one in self.outputs if one.name == name]
        if len(named) > 1:
            raise refused(AMBIGUOUS, f'column reference "{name[:63]}" is ambiguous')
        if named:
            return Typed(f"{self.alias}.{named[0].column}", named[0].type, name, 2)
        return self.hidden.get(name)

    def all(self) -> Iterator[Typed]:
        """All of its columns, as expressions."""
        return (Typed(f"{self.alias}.{one.column}", one.type, one.name, 2) for one in self.outputs)


@final
@dataclass(frozen=True)
class Query:
    """A query that is bound: its text for the engine, and its columns."""

    sql: str
    outputs: tuple[Output, ...]


@final
class Scope:
    """The names that an expression may use: of its own query, then of those around it."""

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.sources: list[Source] = []
        self.joined: dict[str, Typed] = {}
        """Columns of USING and NATURAL, which two sources have as one."""
        self.queries: dict[str, tuple[str, tuple[Output, ...]]] = {}
        self.numbers: Iterator[int] = outer.numbers if outer is not None else count(1)

    def alias(self) -> str:
        """A new name for something in FROM, one that nothing else has."""
        return f"s{next(self.numbers)}"

    def add(self, source: Source) -> None:
        """Adds something in FROM; two of one name are refused."""
        if any(one.name == source.name and one.schema == source.schema for one in self.sources):
            raise refused("42712", f'table name "{source.name[:63]}" specified more than once')
        self.sources.append(source)

    def query(self, name: str) -> tuple[str, tuple[Output, ...]] | None:
        """A query of WITH, by name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.queries:
                return scope.queries[name]
            scope = scope.outer
        return None

    def source(self, name: str, schema: str = "") -> Source:
        """Something in FROM, by name."""
        found = self._first(
            lambda scope: next(
                (one for one in scope.sources if one.name == name and (not schema or one.schema == schema)), None
            )
        )
        if found is None:
            raise refused(NO_TABLE, f'missing FROM-clause entry for table "{name[:63]}"')
        return found

    def column(self, name: str, table: str = "", schema: str = "") -> Typed | None:
        """A column, as an expression; None where there is none of the name."""
        if table:
            return self.source(table, schema).get(name)
        scope: Scope | None = self
        while scope is not None:
            if (one := scope.own_column(name)) is not None:
                return one
            scope = scope.outer
        return None

    def own_column(self, name: str) -> Typed | None:
        """A column of this very query."""
        if name in self.joined:
            return self.joined[name]
        known = [one for source in self.sources if (one := source.get(name)) is not None]
        if len(known) > 1:
            if name in ("tableoid", "xmin", "xmax", "cmin", "cmax"):
                return known[0]
            raise refused(AMBIGUOUS, f'column reference "{name[:63]}" is ambiguous')
        return known[0] if known else None

    def columns(self) -> list[Typed]:
        """What `*` stands for: joined columns once, and first."""
        rest = [one for source in self.sources for one in source.all() if one.name not in self.joined]
        return [*self.joined.values(), *rest]

    def missing(self, name: str) -> Exception:
        """The refusal of a column that is not there."""
        return refused(NO_COLUMN, f'column "{name[:63]}" does not exist')

    def _first(self, look: Callable[[Scope], Source | None]) -> Source | None:
        scope: Scope | None = self
        while scope is not None:
            if (one := look(scope)) is not None:
                return one
            scope = scope.outer
        return None


def quoted(text: str) -> str:
    """A text as the engine reads it."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
