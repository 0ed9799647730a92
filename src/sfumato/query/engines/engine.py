"""Engines: what computes cells. One file each, behind this protocol; none of them sees noise, losses or the ledger."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from sfumato.query.cells import Cells, Computed
from sfumato.query.expressions import Column, Expression
from sfumato.query.kinds import Value
from sfumato.query.relations import Relation


class Engine(ABC):
    """Is an open data source that can compute cells.

    ``lacks`` names the operators and tallies that it cannot do; a query that needs one is refused before anything runs.
    """

    if TYPE_CHECKING:
        name: ClassVar[str]
        lacks: ClassVar[frozenset[str]]
    else:
        lacks = frozenset()

    @abstractmethod
    def schema(self) -> Mapping[str, Mapping[str, str]]:
        """Gives the engine's own types of the columns of each table."""

    @abstractmethod
    def prepare(self, cells: Cells) -> None:
        """Refuses cells that it could not compute, whatever the data; it looks at no row. What passes will run."""

    @abstractmethod
    def run(self, cells: Cells) -> Computed:
        """Computes cells. It fails for no data: what may go wrong with a row has been made total."""

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
    def fingerprint(self, key: bytes) -> str:
        """Gives a keyed digest that tells this data from other data, and tells nothing else of it."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of the source."""
