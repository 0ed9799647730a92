"""Tables as an engine holds them: where each column is, of which type it is there, and how ids are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from sfumato.query.engines.sql.dialect import Dialect
from sfumato.query.engines.sql.statement import Piece, Scope
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Owner


@final
@dataclass(frozen=True)
class Held:
    """A table as an engine holds it: its name there, and for each column its name there, its type and its kind.

    ``exact`` has the columns that were read when they were copied: where whole values were ids or keys, the column
    that names them exactly. ``written`` says how texts that are still to be read are written (`Facts.written`).
    ``owner`` says to whom the rows belong, as it was when the table was opened.
    """

    name: str
    columns: Mapping[str, tuple[str, str, Kind]]
    exact: Mapping[str, str | None] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)
    owner: Owner | None = None

    def form(self, name: str, dialect: Dialect) -> str:
        """The type in which the exact values of a column are compared."""
        _, held, kind = self.columns[name]
        return dialect.types[Kind.TEXT] if name in self.exact else dialect.columns.form(kind, held)

    def identity(self, name: str, wanted: str, scope: Scope) -> Piece:
        """A column as an id or a key: exactly what the source held, in a form that others have too."""
        raw, held, kind = self.columns[name]
        if name not in self.exact:
            columns = scope.statement.dialect.columns
            return columns.identity(Piece(raw), held, kind, wanted, scope, self.written.get(name, ""))
        exact = self.exact[name]
        if exact is None:  # it was opened as a column that nobody is known by
            raise TypeError(name)
        return Piece(exact)


def item_type(held: str) -> str:
    """The type of the items of a list: TEXT of TEXT[], and of TEXT[3]; empty where there are none."""
    inner, bracket, size = held.rpartition("[")
    return inner if bracket and size.removesuffix("]").isdigit() | (size == "]") else ""
