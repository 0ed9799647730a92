"""What an engine is: it computes cells on the tables that it was opened with, and sees no noise, no loss, no ledger.

A data set is opened as two of them: one on its public tables alone, which the planner holds, and one on all tables,
which nobody holds but what a permit unlocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.query.engines.written_tables import LocalTables, TableWriter
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Value
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.engine_plan import Cells, Computed, Marginals

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.query.engines.data_check import TableCheck

Given: TypeAlias = Any
"""A path or glob, an Arrow table, a data frame, rows, columns of arrays, or any of these for each table."""


BATCH = 1 << 18
"""Cells are handed on in batches of so many."""


class Finish(Protocol):
    """What is made of exact cells before anything is written: an engine can send it to where they are, and no more.

    ``schema`` is that of the rows it makes.
    """

    @property
    def schema(self) -> pa.Schema: ...

    def __call__(self, computed: Computed) -> pa.RecordBatch:
        """Makes rows of one batch of cells, which has one sequence for each key (of values, or an array of Arrow)."""


def in_batches(computed: Computed) -> Iterator[Computed]:
    """Cuts cells into batches."""
    for start in range(0, len(computed.numbers[0]), BATCH):
        end = start + BATCH
        numbers = tuple(cells[start:end] for cells in computed.numbers)
        yield Computed(numbers, keys=tuple(cells[start:end] for cells in computed.keys))


class PublicTables(ABC):
    """What a planner may hold: it answers from public lists and public tables, and has no way to private ones.

    ``lacks`` names what the engine cannot do: operators (``"like"``), and records of plans (``"Distinct"``,
    ``"PerUnit"``). `needs` reads it, and refuses a query that needs one of them before anything is charged.
    """

    if TYPE_CHECKING:
        name: ClassVar[str]
        lacks: ClassVar[frozenset[str]]
    else:
        lacks = frozenset()

    @abstractmethod
    def prepare(self, cells: Cells) -> None:
        """Refuses cells that could not be computed, whatever the data; it looks at no row. What passes will run."""

    def prepare_marginals(self, marginals: Marginals) -> None:
        """Refuses tables that could not be counted, whatever the data, as `prepare` does."""
        for cells in marginals.cells:
            self.prepare(cells)

    @abstractmethod
    def images(
        self, made: Sequence[Expression], leaves: Sequence[tuple[Column, Sequence[Value]]]
    ) -> tuple[tuple[Value, ...], ...]:
        """The different tuples that expressions take when columns run through public lists, one row each, sorted.

        It looks at no table. A list may hold None.
        """

    @abstractmethod
    def rows(self, relation: Relation) -> Mapping[str, Sequence[Value]]:
        """The rows of a public relation, a sequence of values for each of its fields."""

    @abstractmethod
    def matches(self, relation: Relation, keys: tuple[Expression, ...]) -> int:
        """Counts how many rows of a public relation agree in their keys, at most."""

    @property
    def writer(self) -> TableWriter:
        """Writes what is released as tables; an engine of many machines writes where these do."""
        return LocalTables()


class PrivateTables(ABC):
    """A capability: whoever holds it can compute exact numbers. Only what a permit lets run is ever handed one."""

    @property
    @abstractmethod
    def held(self) -> Mapping[str, Any]:
        """What is public about its tables: how the engine holds each, and not what is in it."""

    @abstractmethod
    def schema(self) -> Mapping[str, Mapping[str, str]]:
        """The engine's own types of the columns of each table."""

    @abstractmethod
    def run(self, cells: Cells) -> Computed:
        """Computes cells. It fails for no data: what may go wrong with a row has been made total."""

    def marginals(self, marginals: Marginals) -> NDArray[np.int64]:
        """Counts contingency tables of the same rows, one after another. It fails for no data."""
        return np.concatenate([marginals.laid_out(at, self.run(cells)) for at, cells in enumerate(marginals.cells)])

    def spread(self, cells: Cells, finish: Finish, writer: TableWriter, staged: str) -> int:
        """Computes cells where they are, and keeps in a staged folder what a function makes of them, batch by batch.

        The function is called once for each batch that is kept; nothing else of the cells is written down anywhere. It
        returns how many rows it has kept, and fails for no data.
        """
        return writer.keep(map(finish, in_batches(self.run(cells))), finish.schema, staged)

    def at_once(self) -> AbstractContextManager[None]:
        """Lets everything that is computed inside it see the same rows, where others may write to the source."""
        return nullcontext()

    @abstractmethod
    def fingerprints(self, key: bytes) -> Mapping[str, str]:
        """A keyed digest of what each table holds: of its bytes alone, not of where they lie."""

    def places(self, key: bytes) -> Mapping[str, str]:
        """A keyed digest of which table each is, whatever it holds by now; of tables that nobody else writes to, none.

        A table that grows is still the same table: it must not be opened under a second name with a limit of its own.
        """
        return {}

    @abstractmethod
    def close(self) -> None:
        """Lets go of the source."""


class Engine(PublicTables, PrivateTables):
    """Computes both halves on the tables that it was opened with, and can reach no others."""


class Opener(ABC):
    """How data gets behind an engine. Each folder of an engine has one; `registry.ENGINES` names them.

    ``makes`` is the class of the engines that it opens, so that what they lack can be read without any data.
    """

    if TYPE_CHECKING:
        makes: ClassVar[type[Engine]]

    @abstractmethod
    def open(self, data: Given, catalog: Catalog) -> Engine:
        """Opens all tables of a catalog; what is wrong with them is said to whoever opens, and shows no value."""

    @abstractmethod
    def open_public(self, data: Given, catalog: Catalog, held: Mapping[str, Any]) -> Engine:
        """Opens the public tables alone, on a connection of its own.

        It can prepare questions about all tables, which are ``held`` as the other half says.
        """

    def public_part(self, data: Given) -> Given:
        """What of the data the planner may have where no table is public: where to plan, for an engine on a server."""
        return {}

    @abstractmethod
    def schema_of(self, data: Given, name: str) -> Mapping[str, Mapping[str, str]]:
        """The tables, columns and types that data states by itself, a frame under ``name``; no value is looked at.

        Types are in words that `codebook.draft.kind_of` knows, as far as it has any for them.
        """

    @abstractmethod
    def check(self, data: Given, catalog: Catalog) -> Sequence[TableCheck]:
        """Counts what does not read, for the holder of the data alone (`data_check`)."""
