"""Engines: what computes cells. One file each, behind this protocol; none of them sees noise, losses or the ledger.

A data set is opened as two of them: one on its public tables alone, which the planner holds, and one on all tables,
which nobody holds but what a permit unlocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from sfumato.query.cells import Cells, Computed
from sfumato.query.expressions import Column, Expression
from sfumato.query.kinds import Value
from sfumato.query.relations import Relation


class PublicTables(ABC):
    """What a planner may hold: it answers from public lists and public tables, and has no way to private ones.

    ``lacks`` names the operators and tallies that it cannot do; a query that needs one is refused before anything runs.
    """

    if TYPE_CHECKING:
        name: ClassVar[str]
        lacks: ClassVar[frozenset[str]]
    else:
        lacks = frozenset()

    @abstractmethod
    def prepare(self, cells: Cells) -> None:
        """Refuses cells that could not be computed, whatever the data; it looks at no row. What passes will run."""

    @abstractmethod
    def images(
        self, made: Sequence[Expression], leaves: Sequence[tuple[Column, Sequence[Value]]]
    ) -> tuple[tuple[Value, ...], ...]:
        """Gives the different tuples that expressions take when columns run through public lists, one row each, sorted.

        It looks at no table. A list may hold None.
        """

    @abstractmethod
    def rows(self, relation: Relation) -> Mapping[str, Sequence[Value]]:
        """Gives the rows of a public relation, a sequence of values for each of its fields."""

    @abstractmethod
    def matches(self, relation: Relation, keys: tuple[Expression, ...]) -> int:
        """Counts how many rows of a public relation agree in their keys, at most."""


class PrivateTables(ABC):
    """A capability: whoever holds it can compute exact numbers. Only what a permit lets run is ever handed one."""

    @abstractmethod
    def schema(self) -> Mapping[str, Mapping[str, str]]:
        """Gives the engine's own types of the columns of each table."""

    @abstractmethod
    def run(self, cells: Cells) -> Computed:
        """Computes cells. It fails for no data: what may go wrong with a row has been made total."""

    @abstractmethod
    def fingerprints(self, key: bytes) -> Mapping[str, str]:
        """Gives for each table a keyed digest of what it holds: of its bytes alone, not of where they lie."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of the source."""


class Engine(PublicTables, PrivateTables):
    """Computes both halves on the tables that it was opened with, and can reach no others."""
