"""Looks for inputs that a model is surest of, and asks whether they are somebody's record.

This is reconstruction, not membership inference, which tests given records. What a model shows of a whole class, such
as its average, is learnt from many people and harms none: only points that match training records, and more of them
than match records of people who were never seen, count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import final

import numpy as np

from sfumato.accounting.meaning.attacker import Tested
from sfumato.attacks.fitting import Labelled, Predict, Rows, fractions, probabilities, read_samples
from sfumato.attacks.membership import epsilon_of
from sfumato.attacks.result import Attack, Success, Violation
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.release.progress import Progress, reporting

FIRST_STEP, HALVINGS, MOST_ROUNDS = 0.25, 14, 20
"""A search goes along the axes in steps of a quarter of the range, then half of that, and so on; rounds at each."""

CLOSE = 0.25
"""A point matches a record within this share of the usual distance between a stranger and the nearest record."""


@final
@dataclass(frozen=True)
class Inverted:
    """What a search found: points, the model's confidence there, and the distance to the nearest record.

    ``to_strangers`` is the same for records that the model never saw; ``close`` is how near counts as a match. Every
    attribute is measured in its own range, so that distances do not depend on units.
    """

    points: tuple[tuple[float, ...], ...] = field(repr=False)
    confidence: tuple[float, ...] = field(repr=False)
    to_records: tuple[float, ...] = field(repr=False)
    to_strangers: tuple[float, ...] = field(repr=False)
    close: float


def inversion(
    predict: Predict,
    records: Labelled,
    strangers: Labelled,
    *,
    label: int = 0,
    restarts: int = 20,
    loss: Tested | None = None,
    against: str | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Searches from random points for inputs of highest confidence, and counts those that match training records.

    ``strangers`` are as many records of the same population that the model was not trained on: the share of points
    that match one of them is the baseline. Points that come out equal count once. The search moves within the range of
    the strangers, and needs no more than answers of the model. The unit of every attribute is its range.
    """
    wanted, source = integer(label, "label", least=0), entropy or system()
    known, unseen = read_samples(records=records, strangers=strangers)
    low, unit = _units(known.joined(unseen).rows)
    ours, theirs = (known.rows - low) / unit, (unseen.rows - low) / unit
    least, most, count = theirs.min(axis=0), theirs.max(axis=0), integer(restarts, "restarts", least=1)
    starts = least + (most - least) * fractions(count * len(low), source).reshape(count, -1)

    def sure(points: Rows) -> Rows:
        return np.asarray(probabilities(predict, low + points * unit, wanted + 1)[:, wanted])

    with reporting(progress, "searching") as tell:
        ends = _climb(sure, starts, least, most, tell)
    points = np.unique(np.round(ends, 4), axis=0)
    close = CLOSE * float(np.median(_nearest(theirs, ours)))
    inverted = Inverted(
        points=tuple(map(tuple, (low + points * unit).tolist())),
        confidence=tuple(sure(points).tolist()),
        to_records=tuple(_nearest(points, ours).tolist()),
        to_strangers=tuple(_nearest(points, theirs).tolist()),
        close=close,
    )
    matched = sum(distance <= close for distance in inverted.to_records)
    return Attack(
        name="model inversion",
        violation=Violation.RECONSTRUCTION,
        against=against or ("a model" if loss is None else str(loss)),
        success=Success(matched, len(points)),
        baseline=sum(distance <= close for distance in inverted.to_strangers) / len(points),
        epsilon=epsilon_of(loss),
        found=inverted,
    )


def _climb(sure: Callable[[Rows], Rows], starts: Rows, low: Rows, high: Rows, tell: Progress) -> Rows:
    """Moves every point along the axes while its confidence grows, in ever smaller steps."""
    points, best = starts.copy(), sure(starts)
    for done in range(HALVINGS):
        for _ in range(MOST_ROUNDS):
            before = best.copy()
            for axis, way in product(range(points.shape[1]), (-1, 1)):
                tried = points.copy()
                tried[:, axis] += way * FIRST_STEP * 0.5**done * (high - low)[axis]
                tried = np.clip(tried, low, high)
                reached = sure(tried)
                better = reached > best
                points[better], best[better] = tried[better], reached[better]
            if (best == before).all():
                break
        tell(done + 1, HALVINGS)
    return points


def _units(rows: Rows) -> tuple[Rows, Rows]:
    """The least value of each attribute and its range; 1 where all values are the same."""
    with np.errstate(all="ignore"):
        low, span = rows.min(axis=0), np.ptp(rows, axis=0)
    if not np.isfinite(span).all():
        raise BadArgument("records and strangers", "finite numbers, within a finite range", "others")
    return low, np.where(span > 0, span, 1.0)


def _nearest(points: Rows, records: Rows) -> Rows:
    """The distance from each point to the nearest record."""
    apart = np.sqrt(((points[:, None, :] - records[None, :, :]) ** 2).sum(axis=2))
    return np.asarray(apart.min(axis=1))
