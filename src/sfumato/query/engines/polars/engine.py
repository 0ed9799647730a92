"""Polars: computes cells on frames and files. Nothing that it says is ever shown.

An answer must be a function of the rows, and Polars believes things about data. What it could believe here:

- *Statistics of files.* Files are scanned with ``use_statistics=False``, and conditions are never handed to a scan
  (``predicate_pushdown`` is off): the frame of a scan applies them to values that it has read.
- *Flags on columns*, that values are sorted: comparisons, least and greatest values, groups and joins then look at the
  ends only. They come with frames (`Series.set_sorted`, which checks nothing), and with files that say so. Frames come
  here by way of Arrow, which has no such flags; columns of files are read through `unflagged` before anything else.
- *Estimates* of how many rows there are: they decide in which order things are joined and never what is left out;
  they are off all the same (``row_estimate``, ``join_order``).
- *Categories* are compared by their texts here: they are made texts before they are compared, sorted or hashed.

Hashes have seeds that are fixed in the code (`ranking`), so that all parts of a question agree.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, final
from weakref import finalize

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import QueryRefused, SfumatoError
from sfumato.query.engines.operands import constant
from sfumato.query.engines.polars.cells import frame_of
from sfumato.query.engines.polars.expressions import key
from sfumato.query.engines.polars.files import Spill
from sfumato.query.engines.polars.held import Held
from sfumato.query.engines.polars.marginals import counted
from sfumato.query.engines.polars.ranking import Hashing
from sfumato.query.engines.polars.relations import Relations
from sfumato.query.engines.polars.running import Tried, collected, quietly
from sfumato.query.engines.polars.schemas import word
from sfumato.query.engines.polars.scope import ONE, TYPES, Names, Scope, chosen
from sfumato.query.engines.protocol import Engine
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Value
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.engine_plan import Cells, Computed, Marginals, Rows

VERSION_DIGITS = 32
"""The number of hexadecimal digits that name a version of data."""


@final
class _Alive:
    """Lives as long as an engine does."""


@final
class PolarsEngine(Engine):
    """An open source in Polars. Several threads may use it at once. `sources.open_source` makes one.

    It reaches the tables that it was opened with and no others: the planner's has public ones only. ``marks`` are what
    tells the content of each table from other content: of what is held here, a digest of every byte; of files that are
    read where they are, their size and a digest of their footer. ``spill`` holds files that are removed with it. Where
    a question fails, ``otherwise`` makes the tables such that it cannot, and it is asked once more. ``known``
    are the tables that questions may be about, where they are more than those that it can reach.
    """

    name: ClassVar[str] = "Polars"

    def __init__(
        self,
        tables: Mapping[str, Held],
        frames: Mapping[str, pl.LazyFrame],
        *,
        marks: Sequence[tuple[str, bytes]] = (),
        spill: Spill | None = None,
        otherwise: Callable[[], Mapping[str, pl.LazyFrame] | None] = lambda: None,
        known: Mapping[str, Held] | None = None,
        streaming: bool = True,
        hashing: Hashing | None = None,
    ) -> None:
        self._tables, self._frames, self._marks = dict(tables), dict(frames), tuple(marks)
        self._otherwise, self._known = otherwise, dict(tables if known is None else known)
        self._streaming, self._hashing = streaming, hashing or Hashing()
        # The finalizer watches a thing that holds nothing: every finalizer can be found from any other.
        self._alive = _Alive()
        self._clean = None if spill is None else finalize(self._alive, spill.remove)

    @property
    def held(self) -> Mapping[str, Held]:
        return self._tables

    def schema(self) -> Mapping[str, Mapping[str, str]]:
        return {
            name: {column: word(held) for column, (_, held, _) in table.columns.items()}
            for name, table in self._tables.items()
        }

    def prepare(self, cells: Cells) -> None:
        self._tried_empty(lambda: self._computed(cells, frame_of(cells, self._empty())))

    def prepare_marginals(self, marginals: Marginals) -> None:
        self._tried_empty(lambda: counted(marginals, self._empty(), streaming=self._streaming))

    def _empty(self) -> Relations:
        """The tables that questions may be about, without rows: what runs on these runs on any data."""
        frames = {name: table.empty for name, table in self._known.items()}
        return Relations(self._known, frames, Names(), self._hashing)

    def _relations(self) -> Relations:
        return Relations(self._tables, self._frames, Names(), self._hashing)

    def _tried_empty(self, run: Callable[[], Tried]) -> Tried:
        """What something gives on the tables without rows; refuses what cannot run there."""
        try:
            return quietly(run)
        except SfumatoError:
            raise
        except (RuntimeError, ValueError, OverflowError, MemoryError):  # among them RecursionError and UnicodeError
            pass
        raise QueryRefused(
            f"{self.name} cannot run this question, whatever the data: a number in it is too large, or an "
            "expression too long or too deeply nested. Nothing was charged. Ask in smaller steps: WITH name AS (…)."
        )

    def run(self, cells: Cells) -> Computed:
        return self._settled(lambda: self._computed(cells, frame_of(cells, self._relations())))

    def marginals(self, marginals: Marginals) -> NDArray[np.int64]:
        return self._settled(lambda: counted(marginals, self._relations(), streaming=self._streaming))

    def _settled(self, run: Callable[[], Tried]) -> Tried:
        """What something gives; where it fails, on tables of which no cell can make it fail."""
        try:
            return quietly(run)
        except RuntimeError:
            if not self._settle():
                raise
        return quietly(run)

    def _settle(self) -> bool:
        """Makes tables such that no cell of theirs makes a question fail; tells whether any was not so before."""
        frames = self._otherwise()
        self._frames = self._frames | dict(frames or {})
        return frames is not None

    def _collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        return collected(frame, streaming=self._streaming)

    def _computed(self, cells: Cells, frame: pl.LazyFrame) -> Computed:
        made, listed = self._collect(frame), cells.listed
        numbers = tuple(_numbers(made[f"n{place}"]) for place in range(len(cells.tallies)))
        inner = tuple(made[f"i{place}"].to_list() for place in range(len(cells.inner)))
        if listed is None:
            keys = tuple(made[f"k{place}"].to_list() for place in range(len(cells.keys)))
            return Computed(numbers, keys=keys, inner=inner)
        places = _numbers(made["place"]) if cells.keys else np.zeros(made.height, np.int64)
        return Computed(numbers, places, inner=inner)

    def images(
        self, made: Sequence[Expression], leaves: Sequence[tuple[Column, Sequence[Value]]]
    ) -> tuple[tuple[Value, ...], ...]:
        return quietly(lambda: self._images(made, leaves))

    def _images(
        self, made: Sequence[Expression], leaves: Sequence[tuple[Column, Sequence[Value]]]
    ) -> tuple[tuple[Value, ...], ...]:
        frame = pl.LazyFrame({ONE: [1]})
        for place, (column, values) in enumerate(leaves):
            held = [constant(one, column.kind) for one in values]
            frame = frame.join(pl.LazyFrame({f"f{place}": pl.Series(held, dtype=TYPES[column.kind])}), how="cross")
        scope = Scope(Names(), {column.name: f"f{place}" for place, (column, _) in enumerate(leaves)})
        shown = {f"k{place}": key(of, scope).made for place, of in enumerate(made)}
        rows = chosen(scope.over(frame), shown).unique().sort([*shown] or ONE, nulls_last=False)
        images = self._collect(rows)
        return tuple(zip(*(images[name].to_list() for name in shown), strict=True))

    def rows(self, relation: Relation) -> Mapping[str, Sequence[Value]]:
        if relation.private:
            raise TypeError(relation)

        def run() -> Mapping[str, Sequence[Value]]:
            source = self._relations().source(relation)
            names = list(source.fields.values())
            frame = chosen(source.frame, {}, names)
            held = self._collect(frame.sort(names, nulls_last=False) if names else frame)
            return {field.name: held[source.fields[field.name]].to_list() for field in relation.fields}

        return self._settled(run)

    def matches(self, relation: Relation, keys: tuple[Expression, ...]) -> int:
        if relation.private:
            raise TypeError(relation)
        counts = self.run(Cells(relation, keys, (Rows(),))).numbers[0]
        return max(map(int, counts), default=0)

    def fingerprints(self, key: bytes) -> Mapping[str, str]:
        digests = {name: hmac.new(key, digestmod="sha256") for name, _ in self._marks}
        for name, mark in self._marks:
            digests[name].update(len(mark).to_bytes(8, "big"))
            digests[name].update(mark)
        return {name: digest.hexdigest()[:VERSION_DIGITS] for name, digest in digests.items()}

    def close(self) -> None:
        self._frames = {}
        if self._clean is not None:
            self._clean()


def _numbers(column: pl.Series) -> NDArray[Any]:
    """Whole numbers as an array of int64; as Python ints, where one of them is larger."""
    narrow = column.cast(pl.Int64, strict=False)
    if not narrow.null_count():
        return narrow.to_numpy()
    numbers = np.empty(len(column), object)
    numbers[:] = column.to_list()
    return numbers
