"""Rows of columns, for training: the same for arrays that one holds as for tables behind a ledger."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sfumato.core.domains import Data
from sfumato.core.grouped_distance import AnyDistance, GroupedDistance
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import rational_up
from sfumato.learn.columns import Category, Column
from sfumato.learn.sources import Asked, Source
from sfumato.query.plan.owned_rows import OWNER, owned_rows_of_tables
from sfumato.train.units import Units
from sfumato.transforms.gram import Coordinates


@final
@dataclass(frozen=True)
class Encoding:
    """How columns become inputs of a model: ``kinds`` are those of the features; of a unit ``max_rows`` rows count.

    ``classes`` says how many there are; 0 where the label is a number. What a row becomes hangs on that row alone.
    """

    kinds: tuple[int, ...]
    classes: int
    max_rows: int = 1

    @staticmethod
    def of(features: Sequence[Column], label: Column, max_rows: int) -> Encoding:
        """Reads what is public of the columns."""
        classes = len(label.values) if isinstance(label, Category) else 0
        return Encoding(tuple(column.kind for column in features), classes, max_rows)

    @property
    def width(self) -> int:
        """How many numbers a model is given of a row."""
        return sum(max(1, kind) for kind in self.kinds)

    def units(self, rows: Data) -> Units:
        """Rows as units: a matrix, the label last, or columns by their places with the owner of each row.

        Rows that lack something, or are of no class that was stated, are left out.
        """
        owners = rows[OWNER] if isinstance(rows, Mapping) else None
        if isinstance(rows, Mapping):
            rows = np.stack([rows[str(place)] for place in range(len(self.kinds) + 1)], axis=1)
        held = np.asarray(rows, dtype=np.float64).reshape(-1, len(self.kinds) + 1)
        known: NDArray[np.bool_] = np.asarray(~np.isnan(held).any(axis=1))
        if self.classes:
            known &= held[:, -1] >= 0
        inputs = torch.from_numpy(Coordinates(self.kinds).rows(held[known, :-1])[:, 1:]).float()
        wanted = torch.from_numpy(held[known, -1])
        data = inputs, wanted.long() if self.classes else wanted.float().unsqueeze(1)
        if owners is None:
            return Units(data)
        whose = [one for one, kept in zip(owners, known.tolist(), strict=True) if kept]
        return Units(data, people=whose, max_rows=self.max_rows)

    def example(self) -> tuple[Tensor, Tensor]:
        """Two rows of zeros, for checks."""
        return torch.zeros(2, self.width), torch.zeros(2, dtype=torch.long) if self.classes else torch.zeros(2, 1)


def beginning(source: Source) -> tuple[Transformation | None, Space, Fraction]:
    """What a chain begins with, its space, and how many units of it whoever is protected is.

    Rows are units where nobody has several; else all rows of a unit stay together.
    """
    rows = source.rows()
    if isinstance(rows, Space):
        return None, rows, units_of(rows.metric.read(source.unit))
    if isinstance(source, Asked) and not source.frame.asker.opened.catalog.by_rows and rows.map(1) != 1:
        opened, most = source.frame.asker.opened, source.max_rows
        rows = owned_rows_of_tables(source.frame.relation, source.entries, opened, max_rows=most)
    return rows, rows.target, units_of(rows.map(source.unit))


def rows_of_each(source: Source) -> int:
    """How many rows of a unit are looked at, at most."""
    rows = source.rows()
    if isinstance(rows, Space) or not isinstance(source, Asked) or source.frame.asker.opened.catalog.by_rows:
        return 1
    return math.ceil(units_of(rows.map(1)))


def units_of(d_in: AnyDistance) -> Fraction:
    """How many units lie between rows that far apart."""
    if isinstance(d_in, GroupedDistance):
        raise BadArgument("the unit", "one kind of unit alone, for training", "several kinds")
    return Fraction(rational_up(d_in))
