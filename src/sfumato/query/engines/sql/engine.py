"""An engine that speaks SQL: it needs a dialect, tables, and a way to run a statement; the rest is here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryRefused, SfumatoError
from sfumato.query.engines.protocol import Engine
from sfumato.query.engines.sql.cells import statement_of
from sfumato.query.engines.sql.dialect import Dialect
from sfumato.query.engines.sql.folds import key
from sfumato.query.engines.sql.held import Held
from sfumato.query.engines.sql.marginals import marginals_statement
from sfumato.query.engines.sql.relations import Relations
from sfumato.query.engines.sql.statement import Scope, Statement, listing
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.engine_plan import Cells, Computed, Marginals, PublicKeys, Rows

FEW = 2000
"""Answers of at most this many rows are fetched as plain tuples."""

REHEARSED = 256
"""The number of statements, the latest ones, that are known to run without data."""

Shape: TypeAlias = tuple[str, tuple[str | type, ...], PublicKeys | None]
"""What decides whether a statement runs on no rows (`Statement.shape`), with the list of keys that it looks up."""

Tried = TypeVar("Tried")


class Answer(ABC):
    """What a statement gave, column by column."""

    @abstractmethod
    def numbers(self, name: str) -> np.ndarray[Any, Any]:
        """Whole numbers as an array of int64, or of Python ints where one of them is larger."""

    @abstractmethod
    def values(self, name: str, kind: Kind) -> list[Value]:
        """Values of a kind, as Python holds them."""


@final
class Tuples(Answer):
    """Rows as plain tuples: of few rows they are made faster than anything else."""

    def __init__(self, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
        self._columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())

    def numbers(self, name: str) -> np.ndarray[Any, Any]:
        column = self._columns[name]
        wide = any(not -(2**63) <= number < 2**63 for number in column)
        return np.array(column, dtype=object if wide else np.int64)

    def values(self, name: str, kind: Kind) -> list[Value]:
        return list(self._columns[name])


class SQLEngine(Engine):
    """Computes cells by SQL statements. What the engine itself says is never shown."""

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """The words of the engine."""

    @property
    @abstractmethod
    def held(self) -> Mapping[str, Held]: ...

    @property
    @abstractmethod
    def empty(self) -> SQLEngine:
        """The tables that questions may be about, without rows: what runs on these runs on any data."""

    @cached_property
    def rehearsed(self) -> dict[Shape, None]:
        """Statements that ran on the empty tables, the latest last."""
        return {}

    @abstractmethod
    def answer(self, text: str, statement: Statement, *, few: bool) -> Answer:
        """Runs a statement; of ``few`` rows at most. It raises a RuntimeError with a text of ours, and no other."""

    def schema(self) -> Mapping[str, Mapping[str, str]]:
        return {
            name: {column: held for column, (_, held, _) in table.columns.items()} for name, table in self.held.items()
        }

    def prepare(self, cells: Cells) -> None:
        shape = self._tried_empty(lambda: self.empty.rehearse(cells, self.rehearsed))
        if len(self.rehearsed) >= REHEARSED:
            self.rehearsed.pop(next(iter(self.rehearsed)), None)
        self.rehearsed[shape] = None

    def prepare_marginals(self, marginals: Marginals) -> None:
        self._tried_empty(lambda: self.empty.marginals(marginals))

    def _tried_empty(self, run: Callable[[], Tried]) -> Tried:
        """What something gives on the tables without rows; refuses what cannot run there."""
        try:
            return run()
        except SfumatoError:
            raise
        except (RuntimeError, ValueError, OverflowError, MemoryError):  # among them RecursionError and UnicodeError
            pass
        raise QueryRefused(
            f"{self.name} cannot run this question, whatever the data: a number in it is too large, or an "
            "expression too long or too deeply nested. Nothing was charged. Ask in smaller steps: WITH name AS (…)."
        )

    def rehearse(self, cells: Cells, known: Container[Shape]) -> Shape:
        """Runs the statement of cells, unless one of its shape is known to run; gives its shape."""
        text, statement = self._written(cells)
        shape = (*statement.shape(text), cells.listed)
        if shape not in known:
            self._computed(cells, text, statement)
        return shape

    def run(self, cells: Cells) -> Computed:
        return self._computed(cells, *self._written(cells))

    def marginals(self, marginals: Marginals) -> NDArray[np.int64]:
        statement = Statement(self.dialect)
        text = marginals_statement(marginals, Relations(self.held, statement))
        answer = self.answer(text, statement, few=False)
        counts = np.zeros(sum(marginals.sizes), np.int64)
        counts[answer.numbers("cell")] = answer.numbers("n")
        return counts

    def _written(self, cells: Cells) -> tuple[str, Statement]:
        """The statement of cells on these tables; it is written once for the rehearsal and for the run."""
        kept = cells.kept.get(self.name)
        if kept is None or kept[0] != self.held:
            statement = Statement(self.dialect)
            text = statement_of(cells, Relations(self.held, statement))
            kept = cells.kept[self.name] = (self.held, (text, statement))
        written: tuple[str, Statement] = kept[1]
        return written

    def _computed(self, cells: Cells, text: str, statement: Statement) -> Computed:
        listed = cells.listed
        few = not cells.inner and (not cells.keys or (listed is not None and len(listed) <= FEW))
        answer = self.answer(text, statement, few=few)
        numbers = tuple(answer.numbers(f"n{place}") for place in range(len(cells.tallies)))
        inner = tuple(answer.values(f"i{place}", of.kind) for place, of in enumerate(cells.inner))
        if listed is None:
            keys = tuple(answer.values(f"k{place}", of.kind) for place, of in enumerate(cells.keys))
            return Computed(numbers, keys=keys, inner=inner)
        many = len(numbers[0]) if numbers else len(inner[0]) if inner else 1
        places = answer.numbers("place") if cells.keys else np.zeros(many, np.int64)
        return Computed(numbers, places, inner=inner)

    def images(
        self, made: Sequence[Expression], leaves: Sequence[tuple[Column, Sequence[Value]]]
    ) -> tuple[tuple[Value, ...], ...]:
        statement = Statement(self.dialect)
        tables = [statement.table(((column.kind, tuple(values)),)) for column, values in leaves]
        columns = {column.name: f"f{place}" for place, (column, _) in enumerate(leaves)}
        crossed = listing(f"(SELECT k0 AS f{place} FROM {name}) AS s{place}" for place, name in enumerate(tables))
        scope = Scope(statement, columns)
        names = [f"k{place}" for place in range(len(made))]
        shown = listing(f"{key(of, scope).text} AS {name}" for of, name in zip(made, names, strict=True))
        source = scope.over(f"SELECT * FROM {crossed}" if crossed else "SELECT 1 AS one")
        order = listing(f"{name} NULLS FIRST" for name in names)
        answer = self.answer(f"SELECT DISTINCT {shown} FROM ({source}) AS q ORDER BY {order}", statement, few=False)
        return tuple(zip(*(answer.values(name, of.kind) for name, of in zip(names, made, strict=True)), strict=True))

    def rows(self, relation: Relation) -> Mapping[str, Sequence[Value]]:
        if relation.private:
            raise TypeError(relation)
        statement = Statement(self.dialect)
        source = Relations(self.held, statement).source(relation)
        names = list(source.fields.values())
        order = listing(f"{name} NULLS FIRST" for name in names)
        text = f"SELECT {listing(names)} FROM ({source.text}) AS q ORDER BY {order}"
        answer = self.answer(text, statement, few=False)
        return {field.name: answer.values(source.fields[field.name], field.kind) for field in relation.fields}

    def matches(self, relation: Relation, keys: tuple[Expression, ...]) -> int:
        if relation.private:
            raise TypeError(relation)
        counts = self.run(Cells(relation, keys, (Rows(),))).numbers[0]
        return max(map(int, counts), default=0)
