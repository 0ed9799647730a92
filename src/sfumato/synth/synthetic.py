"""What synthesis ends with: a model of a table, made of released numbers alone, to draw rows from at no cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, MissingExtra
from sfumato.exact import Number, integer
from sfumato.release.progress import Progress
from sfumato.release.record import Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.synth.graph.measured import Floats, Measured
from sfumato.synth.graph.model import Model
from sfumato.synth.schema import Schema
from sfumato.synth.workloads import Workload
from sfumato.synth.zeros import breaks

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.synth.intervals import SyntheticInterval
    from sfumato.synth.noise_errors import NoiseErrors
    from sfumato.synth.report import SyntheticReport

Form: TypeAlias = Literal["polars", "pandas", "arrow"]
"""In which library's table rows come."""

MOST_ROWS = 2**31
"""So many rows are drawn at a time, at most."""

MOST_DRAWS = 1000
"""A row that has what cannot occur is drawn again at most this often."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Synthetic(Displayed):
    """A model of a table and what it was made of: get one from ``fit`` of a method, such as `AIM`.

    ``schema`` says which codes columns have, ``measured`` what was released of the data, ``loss`` what all of it cost,
    and whom that protects; ``release`` is the entry of the book (None where rows were held, and nothing was charged),
    ``notes`` say what the method did. ``bought`` are the releases that codes of columns are from, where some were
    bought for a part of the loss. Everything here may be published.
    """

    method: str
    schema: Schema
    model: Model
    measured: tuple[Measured, ...]
    loss: Loss
    unit: str
    release: Release | None = None
    notes: tuple[str, ...] = ()
    spent: tuple[tuple[str, Loss], ...] = field(default=())
    bought: tuple[Release, ...] = ()

    @property
    def rows(self) -> int:
        """About how many rows the table has, by what was measured or stated."""
        return max(1, round(self.model.total))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.schema.domain.names

    def sample(
        self,
        rows: int | None = None,
        *,
        given: Mapping[str, object] | None = None,
        form: Form = "polars",
        entropy: Entropy | None = None,
    ) -> Any:
        """Draws rows, as many as the table has unless said otherwise; it costs nothing, however often.

        ``given`` fixes values of columns: ``given={"sex": "f"}``, or one value for each row. ``form`` is "polars",
        "pandas" or "arrow".
        """
        return in_form(self.sample_arrow(rows, given=given, entropy=entropy), form)

    def sample_arrow(
        self, rows: int | None = None, *, given: Mapping[str, object] | None = None, entropy: Entropy | None = None
    ) -> pa.Table:
        """Draws rows as a table of Arrow; see `sample`."""
        source = entropy or system()
        return self.schema.decode(self.sample_codes(rows, given=given, entropy=source), source)

    def sample_codes(
        self, rows: int | None = None, *, given: Mapping[str, object] | None = None, entropy: Entropy | None = None
    ) -> np.ndarray[Any, Any]:
        """Draws rows as codes, a column for each of `columns`; see `sample`."""
        many = self.rows if rows is None else integer(rows, "rows", least=0)
        if many > MOST_ROWS:
            raise BadArgument("rows", f"at most {MOST_ROWS:,} at a time", rows)
        return self._possible(many, entropy or system(), self._given(given, many))

    def _possible(self, rows: int, entropy: Entropy, given: dict[str, Any] | None) -> np.ndarray[Any, Any]:
        """Draws rows, and those again that have a combination which cannot occur, whatever the model knows of it."""
        codes = self.model.sample(rows, entropy, given)
        if not self.schema.zeros:
            return codes
        for _ in range(MOST_DRAWS):
            again = np.flatnonzero(breaks(codes, self.schema.domain, self.schema.zeros))
            if not len(again):
                return codes
            fixed = {name: one if np.ndim(one) == 0 else one[again] for name, one in (given or {}).items()}
            codes = np.array(codes)
            codes[again] = self.model.sample(len(again), entropy, fixed or None)
        raise BadArgument("given", "such that rows with these values are possible", "others")

    def _given(self, given: Mapping[str, object] | None, rows: int) -> dict[str, Any] | None:
        if given is None:
            return None
        made: dict[str, Any] = {}
        for name, value in given.items():
            column = self.schema[name]
            several = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
            if not several:
                made[name] = column.place(value)
                continue
            listed = list(value)  # type: ignore[call-overload]
            if len(listed) != rows:
                raise BadArgument(f"the values of {name}", f"one for each of {rows} rows", len(listed))
            made[name] = column.places(listed)
        return made

    def marginal(self, columns: Sequence[str]) -> Floats:
        """How many rows the model expects with each combination of codes of some columns."""
        return self.model.marginal(self.schema.domain.sorted(columns))

    def save(self, path: str | Path) -> None:
        """Saves the model with all that it was made of as JSON, for `load`; the file may be published."""
        from sfumato.synth.saving import save

        save(self, path)

    def report(
        self,
        *,
        public: object = None,
        private: object = None,
        workload: Workload | None = None,
        target: str | None = None,
        rows: int | None = None,
        confidence: Number = "0.95",
        entropy: Entropy | None = None,
    ) -> SyntheticReport:
        """Says what was measured, how far off it can be, and what the data is and is not good for; it costs nothing.

        ``public`` is a table that nobody protects, to compare with; ``private`` one's own real rows, which makes the
        report one for the holder's eyes alone. ``workload`` names tables that matter, ``target`` a column to be learnt.
        """
        from sfumato.synth.report import report

        return report(
            self,
            public=public,
            private=private,
            workload=workload,
            target=target,
            rows=rows,
            confidence=confidence,
            entropy=entropy,
        )

    def interval(
        self,
        statistic: Callable[[Any], float],
        *,
        rows: int | None = None,
        confidence: Number = "0.95",
        of: Literal["population", "table"] = "population",
        draws: int | None = None,
        columns: Sequence[str] = (),
        form: Form = "polars",
        entropy: Entropy | None = None,
        progress: Progress | None = None,
    ) -> SyntheticInterval:
        """An interval for a number computed from rows that knows of the noise, by redoing the whole way many times.

        ``statistic`` takes a table of rows, as `sample` gives them, and returns a number. It is approximate, and blind
        to what was never measured together; of ``columns`` that are named it says so. It costs nothing but time.
        """
        from sfumato.synth.synthetic_interval import interval_of

        return interval_of(
            self,
            statistic,
            rows=rows,
            confidence=confidence,
            of=of,
            draws=draws,
            columns=columns,
            form=form,
            entropy=entropy,
            progress=progress,
        )

    def private_error(
        self,
        table: object,
        *,
        loss: Loss,
        workload: Workload | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        confidence: Number = "0.95",
        entropy: Entropy | None = None,
    ) -> NoiseErrors:
        """Buys noisy counts of the real table for a loss, and bounds how far off this data is with them.

        Tables of a ``workload`` are asked for, all pairs of columns unless it is given. What comes of it may be
        published: a table of a session is charged, rows that one holds are not.
        """
        from sfumato.synth.private_errors import private_error

        return private_error(
            self,
            table,
            loss=loss,
            workload=workload,
            max_rows=max_rows,
            key=key,
            confidence=confidence,
            entropy=entropy,
        )

    def document(self) -> Document:
        """What was made, of what, and at which price, for any form."""
        measured = tuple(
            (" × ".join(one.columns), f"{one.counts.size:,}", f"± {one.deviation:.3g}") for one in self.measured
        )
        about = (
            ("method", self.method),
            ("rows", f"about {self.rows:,}"),
            ("columns", ", ".join(self.columns)),
            ("loss", f"{self.loss} for {self.unit}" + (" [uncharged]" if self.release is None else "")),
        )
        tables = (
            Table(about),
            Table(measured, ("table", "cells", "noise on each"), "What was measured", right=frozenset({1, 2})),
            Table(tuple((note,) for note in self.notes), (), "How"),
        )
        return Document("Synthetic data", f"{self.method} of {len(self.columns)} columns", tables=tables)


def in_form(table: pa.Table, form: str) -> Any:
    """A table of Arrow as one of the library that is asked for."""
    match form:
        case "arrow":
            return table
        case "polars":
            try:
                import polars
            except ImportError:
                raise MissingExtra("rows as data frames of Polars", "sql") from None
            return polars.from_arrow(table)
        case "pandas":
            try:
                return table.to_pandas()
            except ImportError:
                raise MissingExtra("rows as data frames of pandas", package="pandas") from None
    raise BadArgument("form", "'polars', 'pandas' or 'arrow'", form)
