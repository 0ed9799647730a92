"""Opened tables, in two halves: what may be known of them without paying, and what a permit unlocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias, final

from sfumato.core.domains import Held, Tables
from sfumato.core.identifiers import Identifiers, SharedIdentifiers
from sfumato.core.metrics import AddRemove
from sfumato.core.space import Space
from sfumato.errors import QueryRefused
from sfumato.query.engines.protocol import PrivateTables, PublicTables
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Join, Match, Relation
from sfumato.query.plan.remembered import Worked

Matched: TypeAlias = dict[tuple[Relation, tuple[Expression, ...]], int]
"""The most rows that one row can match, by a public relation and what of it is compared."""


@final
@dataclass(frozen=True, eq=False)
class OpenTables:
    """What may be known of tables without paying: the catalog, public tables, and the engine's types of the columns.

    Nothing here leads to a private table: ``engine`` was opened without them.
    """

    engine: PublicTables
    catalog: Catalog
    schema: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @cached_property
    def space(self) -> Space:
        """The space that questions are asked on: tables, and how far apart neighbours are."""
        catalog = self.catalog
        domain = Tables(tuple(catalog.tables), catalog.codebook.digest)
        if catalog.by_rows:
            return Space(domain, AddRemove())
        id_column = next(scan.owner.id for scan in catalog.tables.values() if scan.owner is not None)
        if catalog.codebook.kinds:
            return Space(domain, SharedIdentifiers(id_column))
        window = catalog.codebook.window
        return Space(domain, Identifiers(id_column, "" if window is None else f"one {window.every} of {window.column}"))

    @cached_property
    def worked(self) -> Worked:
        """What was worked out of questions on the tables: public, and shared by all sessions on them."""
        return Worked()

    def matches(self, join: Join, known: Matched | None = None) -> int:
        """The most rows of a public relation that one row can match: it is public, so it is counted.

        What is ``known`` was counted for the same question. Refuses an inner join that matches none: the answer is
        known, and would be noise alone, at a price.
        """
        pairs = [(join.left.field(ours), join.right.field(theirs)) for ours, theirs in join.on]
        keys = tuple(_compared(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None)
        counted = {} if known is None else known
        if (join.right, keys) not in counted:
            counted[join.right, keys] = self.engine.matches(join.right, keys)
        most = counted[join.right, keys]
        if not most and join.match is Match.INNER:
            names = ", ".join(theirs for _, theirs in join.on)
            raise QueryRefused(
                f"no row can match in this join, whatever the data: the public table has no row, or none with {names}. "
                "So nothing is left to ask about."
            )
        return most


@final
@dataclass(frozen=True, eq=False, repr=False)
class Unlocked(Held):
    """Private tables, in the hands of what was paid for: a measurement is given them while it runs, and no one else."""

    engine: PrivateTables
    catalog: Catalog

    @property
    def digest(self) -> str:
        """The digest of the codebook."""
        return self.catalog.codebook.digest


def _compared(ours: Column, theirs: Column) -> Expression:
    """A column as a join compares it: where the other side is a float, several whole numbers may be equal."""
    return call("to_float", theirs) if (ours.kind, theirs.kind) == (Kind.FLOAT, Kind.INT) else theirs
