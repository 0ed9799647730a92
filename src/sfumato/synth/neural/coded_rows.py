"""Rows of codes to train on: of arrays that one holds oneself, or of a table behind a ledger, read under its permit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np
import torch

from sfumato.accounting.losses.measures import Loss
from sfumato.core.domains import Custom, Data, Floats, Matrix
from sfumato.core.grouped_distance import AnyDistance
from sfumato.core.identifiers import Identifiers
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Several
from sfumato.learn.sources import ROW
from sfumato.query.frame import Frame
from sfumato.query.plan.owned_rows import OWNER, is_owned, owned_rows_of_tables
from sfumato.query.plan.stable import Coded, rows_of_tables
from sfumato.release.record import Release
from sfumato.synth.neural.heads import Codes, Head
from sfumato.train.rows import units_of
from sfumato.train.units import Units


@final
@dataclass(frozen=True, eq=False)
class Opened:
    """Rows under a permit: codes, and whose each row is, where units have several."""

    codes: Codes
    people: list[Any] | None
    max_rows: int

    @staticmethod
    def of(rows: Data, sizes: Sequence[int], max_rows: int) -> Opened:
        """Reads rows as a chain hands them over; a code that is none counts as the nearest that is one."""
        people = list(rows[OWNER]) if isinstance(rows, Mapping) else None
        if isinstance(rows, Mapping):
            rows = np.stack([np.asarray(rows[str(place)]) for place in range(len(sizes))], axis=1)
        held = np.nan_to_num(np.asarray(rows, dtype=np.float64).reshape(-1, len(sizes)))
        codes = np.clip(held, 0, np.array(sizes) - 1).astype(np.int64)
        return Opened(codes, people, max_rows)

    def units(self) -> Units:
        """Rows by units, for training: of each row, its place among all."""
        places = torch.arange(len(self.codes))
        if self.people is None:
            return Units((places,))
        return Units((places,), people=self.people, max_rows=self.max_rows)

    def names(self) -> object:
        """Whose each row is; None where each is a unit."""
        return self.people


class CodedRows(ABC):
    """Rows of codes of known columns: what is public of them, and the way to a measurement of them."""

    heads: tuple[Head, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each column has."""
        return tuple(head.size for head in self.heads)

    @property
    @abstractmethod
    def each(self) -> int:
        """How many rows a unit has, at most."""

    @property
    @abstractmethod
    def count(self) -> int | None:
        """How many units there are, where that is taken to be public."""

    @abstractmethod
    def beginning(self) -> tuple[Transformation | None, Space]:
        """What a chain begins with, and the space of the rows that it gives."""

    @abstractmethod
    def run(self, measurement: Measurement, *, loss: Loss) -> Release:
        """Pays for a measurement, where there is a ledger, and runs it."""


@final
@dataclass(frozen=True, eq=False)
class HeldRows(CodedRows):
    """Codes that the caller holds: nothing is charged. ``people`` are whose rows are, ``max_rows`` of each count."""

    heads: tuple[Head, ...]
    codes: Codes
    people: Sequence[Any] | None = None
    max_rows: int = 1
    entropy: Entropy | None = None

    def __post_init__(self) -> None:
        if self.people is not None and len(self.people) != len(self.codes):
            raise BadArgument("people", "one id for each row", Several(len(self.people), len(self.codes)))

    @property
    def each(self) -> int:
        return 1 if self.people is None else self.max_rows

    @property
    def count(self) -> int:
        return len(self.codes) if self.people is None else len(set(self.people))

    def beginning(self) -> tuple[None, Space]:
        return None, (_matrix(len(self.heads)) if self.people is None else _owned(len(self.heads)))

    def run(self, measurement: Measurement, *, loss: Loss) -> Release:
        if self.people is None:
            return measurement(self.codes.astype(np.float64), d_in=ROW, entropy=self.entropy)
        kept = _first_rows(self.people, self.max_rows)
        data: dict[str, Data] = {str(place): self.codes[kept, place] for place in range(len(self.heads))}
        return measurement({OWNER: [self.people[row] for row in kept], **data}, d_in=1, entropy=self.entropy)


@final
@dataclass(frozen=True, eq=False)
class TableRows(CodedRows):
    """Codes of a table behind a ledger: ``entries`` say how each column becomes codes, in the engine."""

    heads: tuple[Head, ...]
    frame: Frame
    entries: tuple[Coded, ...]
    max_rows: int | None = None
    key: str | None = None
    asked: str = ""
    """What is asked for, in words: under one key there is one such question."""

    @property
    def each(self) -> int:
        opened = self.frame.asker.opened
        if opened.catalog.by_rows:
            return 1
        rows = rows_of_tables(self.frame.relation, self.entries, opened, max_rows=self.max_rows)
        return int(units_of(rows.map(1)))

    @property
    def count(self) -> None:
        return None

    def beginning(self) -> tuple[Transformation, Space]:
        opened = self.frame.asker.opened
        made = rows_of_tables if opened.catalog.by_rows else owned_rows_of_tables
        rows = made(self.frame.relation, self.entries, opened, max_rows=self.max_rows)
        return rows, rows.target

    def run(self, measurement: Measurement, *, loss: Loss) -> Release:
        marked = (
            measurement if not self.asked else replace(measurement, how=measurement.how.after((self.asked,), (), ()))
        )
        return self.frame.asker.run(marked, loss=loss, key=self.key)


def units_apart(d_in: AnyDistance) -> Fraction:
    """How many units lie between rows that far apart."""
    return units_of(d_in)


def _matrix(columns: int) -> Space:
    return Space(Matrix(columns, Floats()), AddRemove())


def _owned(columns: int) -> Space:
    return Space(Custom(f"rows of {columns} columns, each with its owner", is_owned), Identifiers(OWNER))


def _first_rows(people: Sequence[Any], most: int) -> list[int]:
    """The places of the first rows of everybody, at most so many each."""
    seen: dict[Any, int] = {}
    kept = []
    for row, whose in enumerate(people):
        if seen.setdefault(whose, 0) < most:
            seen[whose] += 1
            kept.append(row)
    return kept
