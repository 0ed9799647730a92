"""What all networks share: a recipe that is only stored, two ways in, one measurement for everything."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.core.measurement import Measurement
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.learn.guards import needed_loss
from sfumato.learn.prepared import Prepared
from sfumato.learn.sources import check_held
from sfumato.query.answer.explanation import Explanation
from sfumato.query.frame import Frame
from sfumato.query.plan.stable import Coded
from sfumato.release.progress import Progress, reporting
from sfumato.release.record import Release
from sfumato.synth.collapse import collapse
from sfumato.synth.columns import BinnedColumn, CodedColumn, ListedColumn
from sfumato.synth.counting import Rows
from sfumato.synth.graph.measured import Measured, total_of
from sfumato.synth.neural.coded_rows import CodedRows, HeldRows, TableRows
from sfumato.synth.neural.detectors import check_balance, check_gradients, warn_of_collapse
from sfumato.synth.neural.fitting import Game, Played, measured_game
from sfumato.synth.neural.heads import Head
from sfumato.synth.neural.network_model import NetworkModel
from sfumato.synth.schema import Bins, Impossible, Schema, Stated
from sfumato.synth.synthetic import Synthetic

LOOKED_OVER = 2_000
"""So many made-up rows are looked over for a collapse."""


class NeuralSynthesizer(ABC):
    """A recipe for synthetic data by networks: it stores what to spend and how, and `fit` trains a generator.

    All of a fit is one measurement, with one charge: whatever noisy counts it begins with, and all of its training.
    ``size`` is a public number of units, about as many as there are; of rows that one holds it is taken to be public.
    With ``detect``, games that went wrong raise errors, and generators with few ideas a warning.
    """

    name: ClassVar[str]
    proofs: ClassVar[tuple[str, ...]]
    loss: Loss | None
    epsilon: Number | None
    delta: Number | None
    size: int | None
    detect: bool
    sized: ClassVar[bool] = True
    """Tells whether a number of units has to be known before anything is paid."""

    def fit(
        self,
        table: object,
        *,
        columns: Sequence[str] | None = None,
        max_rows: int | None = None,
        rows: int | None = None,
        bins: Bins | None = None,
        between: Mapping[str, object] | None = None,
        categories: Mapping[str, Sequence[Hashable]] | None = None,
        schema: Schema | None = None,
        impossible: Impossible | None = None,
        people: Sequence[Any] | None = None,
        key: str | None = None,
        progress: Progress | None = None,
        entropy: Entropy | None = None,
    ) -> Synthetic:
        """Trains on a table of a session, which is charged before a row is read; or on rows that one holds, uncharged.

        ``columns``, ``max_rows``, ``rows`` and what is stated of columns are as for other methods; of rows that one
        holds, ``people`` may say whose each is. Rows with ``impossible`` values are made anew. Under a ``key`` a fit
        that ended is answered from the book, at no cost. ``entropy`` is for tests.
        """
        paid = needed_loss(self.loss, self.epsilon, self.delta)
        many = None if rows is None else float(integer(rows, "rows", least=1))
        most = None if max_rows is None else integer(max_rows, "max_rows", least=1)
        stated = Stated(columns, bins, between, categories, impossible, schema)
        coded, source = self._read(table, stated, most, people, key, entropy)
        game = self.game(source, self._size(source, many), paid)
        measurement = self._measurement(source, game, paid)
        with reporting(progress, f"{self.name} of {len(coded.columns)} columns") as tell:
            release = source.run(measurement, loss=paid)
            tell(1, 1)
        played = Played.of(release.value, game, source.heads, self._modes)
        return self._synthetic(coded, source, played, release, paid, many, entropy)

    def explain(
        self,
        table: Frame,
        *,
        columns: Sequence[str] | None = None,
        max_rows: int | None = None,
        rows: int | None = None,
        bins: Bins | None = None,
        between: Mapping[str, object] | None = None,
        categories: Mapping[str, Sequence[Hashable]] | None = None,
        impossible: Impossible | None = None,
    ) -> Explanation:
        """Says what `fit` of a table would cost, and whether that fits; spends nothing and looks at no row."""
        paid = needed_loss(self.loss, self.epsilon, self.delta)
        _, source = self._read(
            table, Stated(columns, bins, between, categories, impossible), max_rows, None, None, None
        )
        game = self.game(source, self._size(source, None if rows is None else float(rows)), paid)
        return table.asker.explain_run(self._measurement(source, game, paid), loss=paid)

    @abstractmethod
    def game(self, rows: CodedRows, size: int, loss: Loss) -> Game:
        """What is played on such rows, out of so many units, for at most a loss."""

    @property
    def _modes(self) -> int:
        """How many modes a column of numbers may have."""
        return 1

    def _measurement(self, source: CodedRows, game: Game, loss: Loss) -> Measurement:
        return measured_game(source, game, loss, name=self.name, modes=self._modes, proofs=self.proofs)

    def _read(
        self,
        table: object,
        stated: Stated,
        max_rows: int | None,
        people: Sequence[Any] | None,
        key: str | None,
        entropy: Entropy | None,
    ) -> tuple[Schema, CodedRows]:
        """What is public of a table, and the way to its rows; looks at none of a table behind a ledger."""
        if isinstance(table, Prepared):
            table = table.frame
        if not isinstance(table, Frame):
            check_held(table)
        schema = stated.of_table(table) if isinstance(table, Frame) else stated.of_rows(table)
        if isinstance(table, Frame):
            if people is not None:
                must = "left out, where the data is a table: whose its rows are, the codebook says"
                raise BadArgument("people", must, "given")
            fields = {one.name: one for one in table.relation.fields}
            entries = tuple(_entry(column, fields[column.name]) for column in schema.columns)
            return schema, TableRows(heads_of(schema), table, entries, max_rows, key, _asked(self))
        if key is not None or (people is None and max_rows is not None):
            raise BadArgument("max_rows and key", "left out, where rows are held: each is one person's", "given")
        codes = np.asarray(schema.encode(table), dtype=np.int64)
        there = np.flatnonzero((codes >= 0).all(axis=1))
        whose = None if people is None else [people[row] for row in there.tolist()]
        return schema, HeldRows(heads_of(schema), codes[there], whose, max_rows or 1, entropy)

    def _size(self, source: CodedRows, rows: float | None) -> int:
        """A public number of units: what is stated, or, of rows that are held, how many there are."""
        if self.size is not None:
            return integer(self.size, "size", least=1)
        if source.count is not None:
            return max(1, source.count)
        if rows is not None and source.each == 1:
            return int(rows)
        if not self.sized:
            return 1
        kind = type(self).__name__
        must = f"given with a table, {kind}(size=10_000): a public number of units, about as many as there are"
        raise BadArgument("size", must, None)

    def _synthetic(
        self,
        schema: Schema,
        source: CodedRows,
        played: Played,
        release: Release,
        loss: Loss,
        rows: float | None,
        entropy: Entropy | None,
    ) -> Synthetic:
        measured = _counts_of(played)
        total = rows if rows is not None else total_of(measured) if measured else float(self._size(source, None))
        model = NetworkModel(schema.domain, played.conditions, played.settings, played.weights, total, schema.zeros)
        if self.detect:
            check_gradients(played.history)
            check_balance(played.history)
            drawn = model.sample(LOOKED_OVER, entropy or system()).astype(np.int64)
            warn_of_collapse(collapse(Rows(schema.domain, drawn), shares=_shares(measured) or None))
        charged = isinstance(source, TableRows)
        unit = source.frame.asker.unit.protects if isinstance(source, TableRows) else release.unit
        notes = (*_notes(played), *(f"{name}: {fact}" for name, fact in release.how.parameters))
        spent = ((self.name, loss),)
        return Synthetic(self.name, schema, model, measured, loss, unit, release if charged else None, notes, spent)


def _notes(played: Played) -> tuple[str, ...]:
    last = played.history.right[-max(1, len(played.history) // 4) :]
    right = float(last.mean()) if len(last) else 0.0
    return (
        f"the discriminator was right about {right:.0%} of made-up rows at the end; by chance it is 50 %",
        "a network has no marginals of its own: those of this model are counts of rows that it made",
        "of tables, AIM and MST are closer at the same loss",
    )


def _asked(recipe: Any) -> str:
    """What is asked for: a recipe without how carefully what comes of it is looked over."""
    return f"asked of {replace(recipe, detect=True)!r}"


def _counts_of(played: Played) -> tuple[Measured, ...]:
    """The noisy counts that a game began with, as other methods have them."""
    counts, names = played.counts or (), [head.name for head in played.conditions.heads.columns]
    return tuple(Measured((name,), each, played.deviation) for name, each in zip(names, counts, strict=False))


def _shares(measured: Sequence[Measured]) -> dict[str, Any]:
    """The share of each code, by noisy counts."""
    kept = {one.columns[0]: np.maximum(one.counts, 0.0) for one in measured}
    return {name: counts / counts.sum() for name, counts in kept.items() if counts.sum() > 0}


def heads_of(schema: Schema) -> tuple[Head, ...]:
    """Columns as networks see them: how many codes, and how many of these stand in order."""
    return tuple(Head(column.name, column.size, _in_order(column)) for column in schema.columns)


def _in_order(column: CodedColumn) -> int:
    if isinstance(column, BinnedColumn):
        return column.bins
    return len(column.values) if isinstance(column, ListedColumn) and column.ordered else 0


def _entry(column: CodedColumn, field: Any) -> Coded:
    """The code of a column, as rows of a table are read: a row without a code is left out."""
    code = column.code(field)
    return Coded(code.of, tuple(range(code.codes)))
