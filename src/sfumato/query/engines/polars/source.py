"""What a relation is in Polars: a lazy frame, and where its fields are in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import polars as pl

from sfumato.query.engines.polars.scope import Names, Scope
from sfumato.query.engines.sizes import Ends
from sfumato.query.nodes.expressions import Column


@final
@dataclass(frozen=True)
class Source:
    """A frame: how many columns hold the unit's identity, where each field is, and what numbers are bounded by."""

    frame: pl.LazyFrame
    units: int
    fields: Mapping[str, str]
    held: Mapping[str, Ends] = field(default_factory=dict)

    @property
    def identity(self) -> list[str]:
        """The columns that hold the identity."""
        return [f"u{place}" for place in range(self.units)]

    @property
    def columns(self) -> list[str]:
        """All columns that are looked at."""
        return [*self.identity, *self.fields.values()]

    def scope(self, names: Names) -> Scope:
        """What expressions on it can look at."""
        return Scope(names, self.fields, self.held)


def numbered(fields: tuple[Column, ...]) -> dict[str, str]:
    """Names of fields in a frame: f0, f1 and so on, whatever the query calls them."""
    return {column.name: f"f{place}" for place, column in enumerate(fields)}
