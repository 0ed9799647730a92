"""Where rows come from: arrays that one holds oneself, or a table behind a ledger. One measurement serves both.

A source knows its columns and gives the beginnings of chains: the Gram matrix of its rows, or the rows themselves. An
estimator ends the chain in a mechanism, and the source runs it: on arrays at once, uncharged, and saying so; on tables
after it was charged. Sums of tables are added up in the engine, and no row leaves it.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.core.domains import Floats as FloatAtoms
from sfumato.core.domains import Matrix
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove, Unit, VectorMetric
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.learn.columns import Floats, Made
from sfumato.learn.prepared import Prepared
from sfumato.query.frame import Frame
from sfumato.query.plan.stable import Entry, gram_of_tables, rows_of_tables
from sfumato.release.claim import Claim
from sfumato.release.record import Release
from sfumato.transforms.gram import Cell, Coordinates, gram, without_missing

Take: TypeAlias = Callable[[Any], None]
"""Makes a model of the value that its measurement released."""

ROW = Unit("a person with one row", AddRemove(), 1)
"""Who is protected where arrays are held: whoever has one row, by its being there at all."""


class Source(ABC):
    """Rows of known columns, to begin a chain with."""

    columns: tuple[Made, ...]

    @property
    def layout(self) -> Coordinates:
        """How the columns become coordinates of a Gram matrix; coordinate 0 is the constant 1."""
        return Coordinates(tuple(column.kind for column in self.columns))

    @property
    @abstractmethod
    def unit(self) -> Unit:
        """Who is protected."""

    @abstractmethod
    def chosen(self, columns: Sequence[tuple[int, Made]]) -> Source:
        """The same rows with other columns, each made of the one at a place of these."""

    @abstractmethod
    def gram(self, metric: VectorMetric, *, pairs: Sequence[Cell] | None = None) -> Transformation:
        """The exact Gram matrix of the rows, as a vector of its different cells (`layout`), or of some pairs'."""

    @abstractmethod
    def rows(self) -> Transformation | Space:
        """The rows as a matrix, for mechanisms that must see them again and again: numbers, and codes of categories.

        What it gives is `space` in either case: the same mechanism follows.
        """

    @property
    def space(self) -> Space:
        """The space of the rows."""
        return Space(Matrix(len(self.columns), FloatAtoms()), AddRemove())

    @abstractmethod
    def run(self, measurement: Measurement, *, loss: Loss) -> Release:
        """Pays for a measurement, where there is a ledger, and runs it."""


@final
@dataclass(frozen=True, eq=False)
class Fit:
    """A fit before it is paid for: the measurement that it is, the source to run it on, and what then makes the model.

    Whoever has it can say what the fit will cost, or make it one of several candidates: nothing has been looked at.
    """

    source: Source
    measurement: Measurement
    take: Take

    def run(self, loss: Loss) -> Release:
        """Pays, measures, and makes the model."""
        release = self.source.run(self.measurement, loss=loss)
        self.take(release.value)
        return release


@final
@dataclass(frozen=True, eq=False)
class Held(Source):
    """Rows of arrays that the caller holds: nothing is charged. Rows in which something is missing are left out."""

    columns: tuple[Made, ...]
    values: tuple[object, ...]
    entropy: Entropy | None = None

    @property
    def unit(self) -> Unit:
        return ROW

    def chosen(self, columns: Sequence[tuple[int, Made]]) -> Held:
        values = tuple(self.values[place] for place, _ in columns)
        return replace(self, columns=tuple(column for _, column in columns), values=values)

    def gram(self, metric: VectorMetric, *, pairs: Sequence[Cell] | None = None) -> Transformation:
        return self.space >> gram([column.kind for column in self.columns], pairs=pairs, metric=metric)

    def rows(self) -> Space:
        return self.space

    def run(self, measurement: Measurement, *, loss: Loss) -> Release:
        encoded = [column.encode(values) for column, values in zip(self.columns, self.values, strict=True)]
        present: Floats = without_missing(np.stack(encoded, axis=1))
        return measurement(present, d_in=ROW, entropy=self.entropy)


@final
@dataclass(frozen=True, eq=False)
class Asked(Source):
    """Rows of a table behind a ledger; of a unit with several, ``max_rows`` count. ``key`` makes a retry safe.

    ``model`` says which model is asked for, or asked about; ``claims`` what must hold of it that nothing here shows.
    """

    columns: tuple[Made, ...]
    frame: Frame
    max_rows: int | None = None
    key: str | None = None
    model: str = ""
    claims: tuple[Claim, ...] = ()

    @property
    def unit(self) -> Unit:
        return self.frame.asker.unit

    def chosen(self, columns: Sequence[tuple[int, Made]]) -> Asked:
        return replace(self, columns=tuple(column for _, column in columns))

    def gram(self, metric: VectorMetric, *, pairs: Sequence[Cell] | None = None) -> Transformation:
        opened, most = self.frame.asker.opened, self.max_rows
        return gram_of_tables(self.frame.relation, self.entries, opened, max_rows=most, metric=metric, pairs=pairs)

    def rows(self) -> Transformation:
        return rows_of_tables(self.frame.relation, self.entries, self.frame.asker.opened, max_rows=self.max_rows)

    def run(self, measurement: Measurement, *, loss: Loss) -> Release:
        return self.frame.asker.run(self._marked(measurement), loss=loss, key=self.key)

    def _marked(self, measurement: Measurement) -> Measurement:
        """Says what is asked where a measurement has no plan, so that the key of one is not taken for another's."""
        if measurement.plan is not None or (self.key is None and not self.claims):
            return measurement
        mark = hashlib.sha256(repr((self.columns, self.max_rows, self.model)).encode()).hexdigest()[:16]
        steps = () if self.key is None else (f"asked as {mark}",)
        return replace(measurement, how=measurement.how.after(steps, self.claims, ()))

    @property
    def entries(self) -> Sequence[Entry]:
        return [column.entry(self.frame.relation) for column in self.columns]


def check_held(rows: object) -> None:
    """Refuses what is taken for rows that one holds oneself, and is a private table, a session, or a name."""
    if isinstance(rows, Frame | Prepared):
        must = "rows that you hold: those of a table never leave it. How good a model is there, private_score tells"
        raise BadArgument("rows to predict for", must, "a table of a session")
    if isinstance(rows, str) or callable(getattr(rows, "table", None)):
        must = "a table of a session, session.table('census'), or arrays and data frames that one holds oneself"
        raise BadArgument("what a model is given", must, rows if isinstance(rows, str) else type(rows).__name__)


def columns_of(X: object) -> tuple[list[str], list[Any]]:  # noqa: N803
    """Names and columns of a table or of an array with two dimensions; x0, x1, … where there are no names."""
    check_held(X)
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        given = getattr(X, "column_names", None) or list(X.columns)
        return [str(name) for name in given], [X[name] for name in given]
    if hasattr(X, "toarray"):
        raise TypeError("sparse matrices are not taken here: X.toarray() makes a dense one")
    array = each_by_itself(X)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must be numbers, texts or truth values")
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: X.reshape(-1, 1)")
    if not array.shape[1]:
        raise ValueError(f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    return [f"x{place}" for place in range(array.shape[1])], [array[:, place] for place in range(array.shape[1])]


def each_by_itself(values: object) -> np.ndarray[Any, Any]:
    """An array as it is, or one of a list whose entries stay what they are: one text makes no texts of the others."""
    return np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)
