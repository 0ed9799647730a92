"""Whether synthetic rows are too much alike: mode collapse, seen in them alone, so that looking costs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.errors import BadArgument
from sfumato.release.render.document import Document, Table
from sfumato.synth.counting import Floats, Rows
from sfumato.synth.holder import Basis, Judgement

ALMOST_ALL = 0.99
"""A column has collapsed if so large a share of its rows has one value, unless what was released says so too."""

HALF = 0.5
"""A column has collapsed if less than this share of the values that should be there is."""

ALIKE = 0.5
"""Rows have collapsed if so large a share of them is spread over a hundredth of the room that there is."""


@final
@dataclass(frozen=True)
class ColumnSpread:
    """How many of the values of a column occur, and how large a share of the rows the commonest has.

    ``expected`` is how many would occur by what was released, where that is known; else all of the column.
    """

    name: str
    values: int
    present: int
    expected: float
    commonest: float
    usual: float | None = None

    @property
    def collapsed(self) -> bool:
        """Whether far fewer values occur than should, or almost all rows have one that should not be that common."""
        alone = self.values > 1 and self.commonest >= ALMOST_ALL and (self.usual is None or self.usual < ALMOST_ALL)
        return alone or self.present < HALF * self.expected


@final
@dataclass(frozen=True, eq=False, repr=False)
class Collapse(Judgement):
    """How varied synthetic rows are; ``repeated`` is the share of rows that repeat an earlier one."""

    columns: tuple[ColumnSpread, ...]
    rows: int
    repeated: float
    room: float
    basis: Basis = Basis.FREE

    @property
    def flags(self) -> tuple[str, ...]:
        """What looks collapsed, in words; empty where nothing does."""
        told = [
            f"{each.name}: {each.present} of {each.values} values occur, the commonest in {each.commonest:.0%} of rows"
            for each in self.columns
            if each.collapsed
        ]
        if self.repeated > ALIKE and self.room > 100 * self.rows * (1 - self.repeated):
            told.append(f"{self.repeated:.0%} of rows repeat an earlier one, though there is room for {self.room:.2g}")
        return tuple(told)

    @property
    def collapsed(self) -> bool:
        """Whether anything looks collapsed."""
        return bool(self.flags)

    def document(self) -> Document:
        """Every column, for any form."""
        cells = tuple(
            (each.name, f"{each.present} of {each.values}", f"{each.commonest:.1%}", "collapsed" * each.collapsed)
            for each in self.columns
        )
        table = Table(cells, ("column", "values that occur", "share of the commonest", ""), right=frozenset({1, 2}))
        said = "; ".join(self.flags) or f"no sign of collapse in {self.rows:,} rows"
        aside = f"{self.repeated:.1%} of rows repeat an earlier one"
        return Document("Variety of rows", said, aside, self.basis.marks, tables=(table,))


def collapse(synthetic: Rows, *, shares: dict[str, Floats] | None = None, basis: Basis = Basis.FREE) -> Collapse:
    """Looks for mode collapse in synthetic rows alone, or beside ``shares`` of values that were released.

    Takes:      rows, and the share of each code of columns where it is known from releases or public data
    Gives:      a `Collapse`, whose ``flags`` say what is wrong; without shares a column may lack values because the
                data does, so that a flag is a question and not a verdict

    >>> from sfumato.synth.graph.domain import Domain
    >>> collapse(Rows(Domain(("a",), (4,)), np.zeros((50, 1), dtype=int))).flags
    ('a: 1 of 4 values occur, the commonest in 100% of rows',)
    """
    count = len(synthetic.codes)
    if not count:
        raise BadArgument("synthetic", "a table with rows", 0)
    known = shares or {}
    columns = tuple(_spread(synthetic, name, known.get(name)) for name in synthetic.domain.names)
    distinct = len(np.unique(synthetic.codes, axis=0))
    room = float(np.prod([float(size) for size in synthetic.domain.sizes]))
    return Collapse(columns, count, 1 - distinct / count, room, basis)


def _spread(table: Rows, name: str, shares: Floats | None) -> ColumnSpread:
    counts = table.marginal((name,))
    size, rows = len(counts), counts.sum()
    usual = None if shares is None else np.clip(np.asarray(shares, dtype=np.float64), 0.0, None)
    if usual is None or not usual.sum() > 0:
        expected, common = min(float(size), float(rows)), None
    else:
        usual = usual / usual.sum()
        expected, common = float(np.sum(1 - (1 - usual) ** rows)), float(usual.max())
    return ColumnSpread(name, size, int((counts > 0).sum()), expected, float(counts.max() / rows), common)
