"""What a relation is in SQL: a SELECT, and where its fields are in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from sfumato.query.engines.sizes import Ends
from sfumato.query.engines.sql.statement import Scope, Statement
from sfumato.query.nodes.expressions import Column


@final
@dataclass(frozen=True)
class Source:
    """A SELECT: how many columns hold the unit's identity, where each field is, and what numbers are bounded by."""

    text: str
    units: int
    fields: Mapping[str, str]
    held: Mapping[str, Ends]

    @property
    def identity(self) -> list[str]:
        """The columns that hold the identity."""
        return [f"u{place}" for place in range(self.units)]

    def scope(self, statement: Statement) -> Scope:
        """What expressions on it can look at."""
        return Scope(statement, self.fields, self.held)


def made_source(text: str, units: int, fields: tuple[Column, ...], held: Mapping[str, Ends]) -> Source:
    """A SELECT whose fields are f0, f1 and so on."""
    return Source(text, units, {column.name: f"f{place}" for place, column in enumerate(fields)}, held)
