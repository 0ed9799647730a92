"""How good a model is on rows that must be protected: sums of squares, or hits, with noise, at a price of their own.

Each row is predicted by itself, so that what it adds is a function of that row alone (proofs/rowwise.md#map), and added
up like any Gram matrix (proofs/gram.md#blocks). What is made of the noisy sums costs nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.core.domains import Floats as FloatAtoms
from sfumato.core.domains import Matrix
from sfumato.core.metrics import VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.transformation import Transformation
from sfumato.learn.columns import Category, Column, Floats, Number
from sfumato.learn.noising import Exact, NoisySums, least_noise
from sfumato.learn.sources import Asked, Source
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.stable import Scaled, gram_of_tables
from sfumato.release.record import Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.release.render.text import short_facts
from sfumato.transforms.gram import Cell, Coordinates, gram
from sfumato.transforms.rowwise import rowwise

Alone: TypeAlias = Callable[[Floats], np.ndarray[Any, Any]]
"""Predicts for rows as a source gives them, each as if it were the only one."""


@final
@dataclass(frozen=True, eq=False)
class Score(Displayed):
    """How good a model is: R² of a number, accuracy of classes; by noisy sums, whose release says what they cost.

    ``deviation`` is about how far the noise alone moves it; how much rows vary comes on top. ``float(score)`` is the
    value. R² is at most 1, and below 0 where a constant is better.
    """

    value: float
    deviation: float
    what: str
    release: Release

    def __float__(self) -> float:
        return self.value

    def document(self) -> Document:
        """The score, how far noise moves it, and what it cost."""
        shown = f"{self.what} {self.value:.3f} ± {self.deviation:.3f}"
        return Document("Score", shown, "by noise", tables=(Table(tuple(short_facts(self.release))),))


def score_of(source: Source, target: Column, alone: Alone, loss: Loss, *, line: Expression | None) -> Score:
    """Scores predictions on the rows of a source, the target last; in the engine where they are an expression."""
    if isinstance(target, Category):
        sums = least_noise(by_rows(source, (1,), lambda rows: rows_hit(rows, target, alone)), loss, source.unit)
        release = source.run(sums.measurement, loss=loss)
        rows, hits = (float(number) for number in release.value)
        share = min(max(hits / max(rows, 1.0), 0.0), 1.0)
        return Score(share, sums.deviation * math.sqrt(1 + share**2) / max(rows, 1.0), "accuracy", release)
    exact = by_rows(source, (0, 0), lambda rows: _misses(rows, target, alone))
    if line is not None and isinstance(source, Asked):
        exact = _in_engine(source, target, line)
    sums = least_noise(exact, loss, source.unit)
    release = source.run(sums.measurement, loss=loss)
    return r_squared(Coordinates((0, 0)).matrix(release.value), sums, release)


def r_squared(sums: Floats, noise: NoisySums, release: Release) -> Score:
    """R² of sums of 1, of scaled targets and of misses over twice their scale (spec P2-101, case A2-065)."""
    rows = max(float(sums[0, 0]), 1.0)
    mean = min(max(float(sums[0, 1]) / rows, -1.0), 1.0)
    total, left = float(sums[1, 1]) - rows * mean**2, 4 * max(float(sums[2, 2]), 0.0)
    if total <= 0:
        return Score(0.0, math.inf, "R²", release)
    share = left / total
    moved = math.sqrt(16 + share**2 * (1 + 4 * mean**2 + mean**4)) / total
    return Score(1 - share, noise.deviation * moved, "R²", release)


def inertia_of(source: Source, distances: Callable[[Floats], Floats], most: float, loss: Loss) -> Score:
    """Minus the sum of what is left of rows, each at most ``most``: squared distances from clusters."""
    exact = by_rows(source, (0,), lambda rows: distances(rows)[:, None] / most, pairs=[(0, 1)])
    sums = least_noise(exact, loss, source.unit)
    release = source.run(sums.measurement, loss=loss)
    value = min(-most * float(release.value[0]), 0.0)
    return Score(value, most * sums.deviation, "minus the sum of squared distances", release)


def by_rows(
    source: Source, kinds: tuple[int, ...], made: Callable[[Floats], Floats], *, pairs: Sequence[Cell] | None = None
) -> Exact:
    """Sums of products of what is made of each row by itself, all of them or those of some pairs of columns."""
    target = Matrix(len(kinds), FloatAtoms())
    each = Partial("predictions", lambda space: rowwise(space, target, made, "the prediction for each row"))

    def exact(metric: VectorMetric) -> Transformation:
        return source.rows() >> each >> gram(kinds, pairs=pairs, metric=metric)

    return exact


def _misses(rows: Floats, target: Number, alone: Alone) -> Floats:
    """The scaled target of each row, and how far off its prediction is, over twice the scale."""
    predicted = target.encode(np.asarray(alone(rows[:, :-1]), dtype=np.float64))
    return np.stack([rows[:, -1], (rows[:, -1] - predicted) / 2], axis=1)


def rows_hit(rows: Floats, target: Category, alone: Alone) -> Floats:
    """0, the first of one category, where a prediction is right; −1 where it is not."""
    predicted = target.encode(alone(rows[:, :-1]))
    return np.where((predicted == rows[:, -1]) & (predicted >= 0), 0.0, -1.0)[:, None]


def missed_in_engine(relation: Relation, target: Number, line: Expression, part: Fraction) -> tuple[Scaled, Scaled]:
    """The target of a table, and how far off a prediction is that the engine makes, over a part of the range."""
    held = target.entry(relation)
    if not isinstance(held, Scaled):
        raise TypeError(held)
    ends = literal(float(target.lower)), literal(float(target.upper))
    missed = call("sub", held.inside(), call("clamp", line, *ends))
    wide = part * (target.upper - target.lower or Fraction(2))
    return held, Scaled(missed, -wide, wide)


def _in_engine(source: Asked, target: Number, line: Expression) -> Exact:
    """The same sums of a table, where the engine predicts."""
    relation, asker = source.frame.relation, source.frame.asker
    entries = missed_in_engine(relation, target, line, Fraction(1))

    def exact(metric: VectorMetric) -> Transformation:
        return gram_of_tables(relation, entries, asker.opened, max_rows=source.max_rows, metric=metric)

    return exact
