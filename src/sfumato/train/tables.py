"""Tables behind a ledger as data to train on: read under the permit of a run, and kept where only that reaches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast, final

import torch
from torch import Tensor

from sfumato.core.domains import Data
from sfumato.core.sealed import sealed
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.learn.columns import Category, Column, known_column, unstated
from sfumato.learn.sources import Asked
from sfumato.query.frame import Frame
from sfumato.train.batches import Sampler
from sfumato.train.paying import Payer
from sfumato.train.rows import Encoding, beginning
from sfumato.train.units import Rows, Units

Opened: TypeAlias = tuple[Units, Sampler]
"""Rows under a permit, and what draws batches of them: how many there are is private too."""


@final
class TableRows:
    """Rows of a table of a session, for a training: what is public of them, and how they are read, once.

    Numbers between their bounds become numbers in [−1, 1], a category one number for each of its values; the label is
    the place of its class, or a number in [−1, 1]. A row with something missing, or of another class, is left out.
    """

    def __init__(self, table: Frame, features: Sequence[str] | None, label: str | None, max_rows: int) -> None:
        if not label or not features or isinstance(features, str):
            must = "given with a table: features=['age', 'sex'], label='income'"
            raise BadArgument("features and label", must, None)
        columns = [_known(str(name), table) for name in (*features, label)]
        self.columns, self.label = tuple(columns[:-1]), columns[-1]
        by_rows = table.asker.opened.catalog.by_rows
        source = Asked(tuple(columns), table, None if by_rows else max_rows)
        begin, _, units = beginning(source)
        if begin is None or units != 1:
            must = "one of whom an id column names all rows, or who has one row: only then is a unit drawn as a whole"
            raise BadArgument("the unit of the data set", must, source.unit.protects)
        self.encoding = Encoding.of(self.columns, self.label, 1 if by_rows else max_rows)
        self.protects = source.unit.protects
        self.opened = _once(begin, self.encoding)

    @property
    def labels(self) -> Tensor | None:
        """The places of all classes there are; None where the label is a number."""
        return torch.arange(len(self.label.values)) if isinstance(self.label, Category) else None

    def example(self) -> Rows:
        """Two rows of zeros, for checks."""
        return self.encoding.example()


def payer_of(table: Frame, session: object) -> Payer:
    """Who pays for a training on a table: the session that it is a table of, and no other."""
    payer = table.asker
    if session is not None and getattr(session, "_planner", None) is not payer:
        raise BadArgument("session", "left out, or the one that the table is of", "another")
    return cast(Payer, payer)


def _known(name: str, table: Frame) -> Column:
    known = known_column(name, table.relation)
    if known is None:
        raise unstated(name, table=True)
    return known


def _once(begin: Transformation, encoding: Encoding) -> Callable[[Data, Entropy, Callable[[int], Sampler]], Opened]:
    """Reads rows when a permit first hands over the tables; later, who hands over the same ones has the same rows."""
    kept: list[tuple[Data, Opened]] = []

    def opened(data: Data, entropy: Entropy, start: Callable[[int], Sampler]) -> Opened:
        if kept and kept[0][0] is data:
            return kept[0][1]
        units = encoding.units(begin.function(data, entropy))
        kept[:] = [(data, (units, start(units.count)))]
        return kept[0][1]

    return sealed(opened)
