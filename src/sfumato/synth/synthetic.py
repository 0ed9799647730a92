"""What synthesis ends with: a model of a table, made of released numbers alone, to draw rows from at no cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, MissingExtra
from sfumato.exact import integer
from sfumato.release.record import Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.synth.graph.measured import Floats, Measured
from sfumato.synth.graph.model import Model
from sfumato.synth.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

Form: TypeAlias = Literal["polars", "pandas", "arrow"]
"""In which library's table rows come."""

MOST_ROWS = 2**31
"""So many rows are drawn at a time, at most."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Synthetic(Displayed):
    """A model of a table and what it was made of: get one from ``fit`` of a method, such as `AIM`.

    ``schema`` says which codes columns have, ``measured`` what was released of the data, ``loss`` what all of it cost,
    and whom that protects; ``release`` is the entry of the book (None where rows were held, and nothing was charged),
    ``notes`` say what the method did. Everything here may be published.
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
        return self.model.sample(many, entropy or system(), self._given(given, many))

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
            codes = column.encode(list(value))  # type: ignore[call-overload]
            if len(codes) != rows or (codes < 0).any():
                raise BadArgument(
                    f"the values of {name}", f"one for each of {rows} rows, each one that it can have", "others"
                )
            made[name] = codes
        return made

    def marginal(self, columns: Sequence[str]) -> Floats:
        """How many rows the model expects with each combination of codes of some columns."""
        return self.model.marginal(self.schema.domain.sorted(columns))

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
