"""Which of several models is best, by one noisy sum of each: what a search can afford to ask of every candidate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from sfumato.core.measurement import Measurement
from sfumato.core.metrics import VectorMetric
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.learn.columns import Category, Column, Floats, Number
from sfumato.learn.noising import Exact, least_noise
from sfumato.learn.scoring import Alone, by_rows, missed_in_engine, rows_hit
from sfumato.learn.sources import Asked, Source
from sfumato.query.nodes.expressions import Expression
from sfumato.query.plan.stable import gram_of_tables
from sfumato.stats.shares import Spendable

FAR = Fraction(1, 4)
"""A miss beyond this part of the target's range counts as that: the less it is, the less noise a sum of them needs."""

ROWS = Fraction(1, 5)
"""The part of the loss that the number of rows gets: it says what the sum means, and ranks nothing."""

Read: TypeAlias = Callable[[float, float], tuple[float, float, float]]
"""Makes of a noisy sum and a noisy number of rows what ranks (more is better), the score, and its deviation."""


@final
@dataclass(frozen=True, eq=False)
class Ranking:
    """One sum that tells models apart, before it is paid for, and what is made of it and of the number of rows.

    The score is the accuracy of classes; or the negative root of the mean squared miss of a number, in its units. The
    number of rows is the same for all models, so that the sum gets nearly all of the loss, and alone it ranks.
    """

    measurement: Measurement
    read: Read


def ranking_parts(loss: Spendable) -> tuple[Spendable, Spendable]:
    """What the sum may spend, and the number of rows."""
    return loss.scaled(1 - ROWS), loss.scaled(ROWS)


def ranking_of(source: Source, target: Column, alone: Alone, loss: Spendable, *, line: Expression | None) -> Ranking:
    """Plans to rank predictions on the rows of a source, the target last; in the engine where they can be there."""
    sums = least_noise(_exact(source, target, alone, line), loss, source.unit)

    def read(noisy: float, count: float) -> tuple[float, float, float]:
        share = noisy / max(count, 1.0)
        deviation = sums.deviation / max(count, 1.0)
        if isinstance(target, Category):
            return noisy, min(max(share, 0.0), 1.0), deviation
        reach, root = 2 * float(FAR) * target.half, math.sqrt(min(max(share, 0.0), 1.0))
        return -noisy, -reach * root, reach * min(math.sqrt(deviation), deviation / (2 * root) if root else math.inf)

    return Ranking(sums.measurement, read)


def number_of_rows(source: Source, loss: Spendable) -> Measurement:
    """The noisy number of rows."""
    return least_noise(lambda metric: source.gram(metric, pairs=[(0, 0)]), loss, source.unit).measurement


def _exact(source: Source, target: Column, alone: Alone, line: Expression | None) -> Exact:
    """The number of hits, or the sum of squared misses, of which each is between 0 and 1."""
    if isinstance(target, Category):
        return by_rows(source, (1,), lambda rows: rows_hit(rows, target, alone), pairs=[(0, 1)])
    if not isinstance(target, Number):
        raise BadArgument("the target", "a number or a class", target)
    if line is None or not isinstance(source, Asked):
        return by_rows(source, (0,), lambda rows: _misses(rows, target, alone), pairs=[(1, 1)])
    relation, asker, most = source.frame.relation, source.frame.asker, source.max_rows
    _, missed = missed_in_engine(relation, target, line, FAR)

    def exact(metric: VectorMetric) -> Transformation:
        return gram_of_tables(relation, [missed], asker.opened, max_rows=most, metric=metric, pairs=[(1, 1)])

    return exact


def _misses(rows: Floats, target: Number, alone: Alone) -> Floats:
    """How far off the prediction for each row is, over a part of the range; the sum moves what is more to 1."""
    predicted = target.encode(np.asarray(alone(rows[:, :-1]), dtype=np.float64))
    return ((rows[:, -1] - predicted) / (2 * float(FAR)))[:, None]
