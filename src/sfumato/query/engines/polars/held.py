"""Tables as Polars holds them: where each column is, of which type it is there, and how ids are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import polars as pl

from sfumato.query.engines.polars.identity import form, identity
from sfumato.query.engines.polars.reading import read
from sfumato.query.engines.polars.scope import ONE, Piece, Scope, column
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Owner


@final
@dataclass(frozen=True)
class Held:
    """A table as Polars holds it: for each column its name there, its type and its kind.

    In columns that are ``loose`` texts stand for values of Python. ``exact`` names the columns that were read when the
    table was opened, and for those that are ids or keys the column with their exact values. ``written`` says how texts
    that are still to be read are written (`Facts.written`). ``owner`` says to whom the rows belong.
    """

    columns: Mapping[str, tuple[str, pl.DataType, Kind]]
    loose: frozenset[str] = frozenset()
    exact: Mapping[str, str | None] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)
    owner: Owner | None = None

    def form(self, name: str) -> pl.DataType:
        """The type in which the exact values of a column are compared."""
        _, held, kind = self.columns[name]
        return pl.String() if name in self.exact else form(kind, held)

    def identity(self, name: str, wanted: pl.DataType, scope: Scope) -> Piece:
        """A column as an id or a key: exactly what the source held, in a form that others have too."""
        raw, held, kind = self.columns[name]
        if name not in self.exact:
            written = self.written.get(name, "")
            return identity(column(raw), held, kind, wanted, scope, written, loose=name in self.loose)
        exact = self.exact[name]
        if exact is None:  # it was opened as a column that nobody is known by
            raise TypeError(name)
        return column(exact)

    def read(self, of: Column, scope: Scope) -> Piece:
        """Reads a column as its codebook describes it."""
        raw, held, _ = self.columns[of.name]
        return read(column(raw), held, of.kind, of.facts, scope, loose=of.name in self.loose)

    @property
    def types(self) -> dict[str, pl.DataType]:
        """The columns of the frame, with their types: never none, since a frame without columns has no rows."""
        exact = {name: pl.String() for name in self.exact.values() if name is not None}
        return {ONE: pl.Int8(), **{ours: held for ours, held, _ in self.columns.values()}, **exact}

    @property
    def empty(self) -> pl.LazyFrame:
        """The table without rows."""
        return pl.LazyFrame(schema=self.types)


def item_type(held: pl.DataType) -> pl.DataType | None:
    """The type of the items of a list; None where it is none."""
    return _instance(held.inner) if isinstance(held, pl.List | pl.Array) else None


def _instance(kind: object) -> pl.DataType | None:
    if isinstance(kind, pl.DataType):
        return kind
    return kind() if isinstance(kind, type) and issubclass(kind, pl.DataType) else None
