"""What a public additive model leaves over of a target, added up by the bins of one column: what boosting asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np

from sfumato.core.domains import Array, Floats, Integers, Matrix, Vector
from sfumato.core.metrics import VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.guarantee import guarantee
from sfumato.transforms.gram import gram_reach
from sfumato.transforms.histogram import read_norm
from sfumato.transforms.rows import as_rows, row_space
from sfumato.transforms.vectors import vector_sum_map

BITS = 20
"""What is left over is a whole number of steps of 2⁻²⁰, and at most 1."""

SCORE_BITS = 12
"""Scores are whole numbers of steps of 2⁻¹²."""

FARTHEST = 16
"""Scores of rows beyond this count as this: the chance of a class is then 0 or 1 to one part in ten million."""

PIECE = 1 << 24
"""Rows that are added up at once: their sums are below 2⁴⁵, which floats hold exactly."""


@final
@dataclass(frozen=True)
class Additive:
    """A public model: the score of a row is a level and, for each column, a number that goes with its code.

    Scores are in whole numbers of steps of 2⁻¹². A code that is none of a column's has the score 0. ``classes`` says
    that the score is the logarithm of the odds of class 1 against class 0; else it is that of a number in [−1, 1].
    """

    level: int
    scores: tuple[tuple[int, ...], ...]
    classes: bool

    @guarantee(
        claim="of each row by itself, a code of every column and a whole number between -2^20 and 2^20",
        proof="proofs/boosting.md#sums",
        reviewed="a6634c55fbb1",
    )
    def left_over(self, columns: Array) -> tuple[Array, Array]:
        """Codes of rows and, in steps of 2⁻²⁰, what the model leaves over of their targets; some rows are left out.

        These are rows with something missing, and rows of neither class.
        """
        kept = columns[~np.isnan(columns).any(axis=1)]
        if self.classes:
            kept = kept[(kept[:, -1] == 0) | (kept[:, -1] == 1)]
        codes = [_codes(part, len(known)) for part, known in zip(kept.T[:-1], self.scores, strict=True)]
        score = np.full(len(kept), self.level, dtype=np.int64)
        for part, known in zip(codes, self.scores, strict=True):
            score += np.array([*known, 0], dtype=np.int64)[part]
        most = FARTHEST << SCORE_BITS
        score = np.clip(score, -most, most)
        unit = 1 << BITS
        if self.classes:
            return np.stack(codes, axis=1), kept[:, -1].astype(np.int64) * unit - chances()[score + most]
        target = np.rint(np.clip(kept[:, -1], -1.0, 1.0) * unit).astype(np.int64)
        return np.stack(codes, axis=1), np.clip(target - score * (1 << BITS - SCORE_BITS), -unit, unit)


@lru_cache(maxsize=1)
def chances() -> Array:
    """The chance of class 1 for every score, in steps of 2⁻²⁰: a public table, so that rows of one score have one."""
    most = FARTHEST << SCORE_BITS
    scores = np.arange(-most, most + 1) / float(1 << SCORE_BITS)
    return np.rint((1 << BITS) / (1.0 + np.exp(-scores))).astype(np.int64)


def _codes(column: Array, count: int) -> Array:
    """Codes of a column as places; what is no code gets the place after the last."""
    known = (column >= 0) & (column < count) & (column == np.floor(column))
    return np.where(known, column, count).astype(np.int64)


@constructor
def residual_sums(
    model: Additive, column: int, *, groups: Sequence[int] | None = None, metric: VectorMetric | None = None
) -> Partial[Transformation]:
    """Adds up what a public additive model leaves over of the target, by the code of one column.

    Takes:      a matrix of floats: codes of columns, as many as the model has, and then the target: 0 or 1, or a number
                that is moved into [−1, 1]; ``groups`` says for each code of the column in which sum it counts
    Gives:      one whole number of steps of 2⁻²⁰ for each code or group, under the L1 distance, or L2 or L∞ where asked
    Guarantee:  d_in, in each of them  (proofs/boosting.md#sums)
    Cost:       one pass

    >>> from sfumato.core.space import matrix
    >>> (matrix(3) >> residual_sums(Additive(0, ((0, 0), (0, 0, 0)), classes=True), 1)).map(1)
    Fraction(1, 1)
    """
    norm = read_norm(metric, "residual_sums")
    place = integer(column, "column", least=0)

    def build(space: Space) -> Transformation:
        domain, rows = row_space(space, "residual_sums")
        if not isinstance(domain, Matrix) or not isinstance(domain.element, Floats):
            raise BadArgument("what residual_sums() works on", "a matrix of floats", str(space))
        if domain.columns != len(model.scores) + 1 or place >= len(model.scores):
            raise BadArgument("the columns", f"{len(model.scores)} codes and a target", domain.columns)
        cells = tuple(range(len(model.scores[place]))) if groups is None else tuple(groups)
        if len(cells) != len(model.scores[place]) or min(cells) < 0:
            raise BadArgument("groups", "the number of a sum for each code of the column", groups)
        return Transformation(
            space,
            Space(Vector(Integers(None, Fraction(1, 1 << BITS)), max(cells) + 1), norm),
            lambda data, _: residual_totals(as_rows(data, domain), model, place, cells),
            lambda d_in: vector_sum_map(d_in, reach=gram_reach(1, norm), metric=rows, size=domain.size),
            (f"what a model leaves over, by {max(cells) + 1} values of column {place + 1}",),
            ("proofs/boosting.md#sums",),
        )

    return Partial("residual_sums(…)", build)


@guarantee(
    claim="each row adds one whole number between -2^20 and 2^20, a function of that row, to one cell or none",
    proof="proofs/boosting.md#sums",
    reviewed="fe07c3c1bc6d",
)
def residual_totals(columns: Array, model: Additive, place: int, cells: tuple[int, ...]) -> Array:
    """Adds up what is left over by the cells of one column."""
    dealt = np.array([*cells, max(cells) + 1], dtype=np.int64)
    total = np.zeros(max(cells) + 1, dtype=np.int64)
    for start in range(0, len(columns), PIECE):
        codes, left = model.left_over(columns[start : start + PIECE])
        sums = np.bincount(dealt[codes[:, place]], weights=left, minlength=max(cells) + 2)
        total += sums[:-1].astype(np.int64)
    return total
