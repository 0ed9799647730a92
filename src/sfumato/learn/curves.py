"""How well a classifier tells a class from the rest, on rows that must be protected: one histogram says all of it.

The score of each row, worked out by itself, falls into one of some public bins; each row counts in one cell, of its bin
and of whether it has the class (proofs/rowwise.md#map, proofs/gram.md#blocks). The ROC curve, the area under it, the
calibration and every confusion matrix are made of these noisy counts, and cost nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from sklearn.isotonic import isotonic_regression

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, did_you_mean
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer, probability
from sfumato.learn.columns import Category, Floats, decoded
from sfumato.learn.guards import for_one_row
from sfumato.learn.noising import least_noise
from sfumato.learn.scoring import by_rows
from sfumato.learn.sources import Source
from sfumato.release.record import Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.release.render.text import short_facts

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart
    from sfumato.learn.estimator import PrivateEstimator

BINS = 24
"""How many bins scores have, unless told otherwise."""

FARTHEST = 5.5
"""The outermost edges, in logarithms of odds; bins between them are of one width there."""

CLEAR = 4.0
"""The area is stated where each class has so many times the noise on its number of rows; else it can be anything."""

WORTH = 8.0
"""Bins of a calibration are merged until they hold so many times the noise on them."""


class Confusion(NamedTuple):
    """What a classifier makes of the rows at a threshold: ``table[actual, predicted]``, and the deviation by noise."""

    threshold: float
    table: Floats
    deviation: Floats


class Calibrated(NamedTuple):
    """Rows whose predicted chance is in a range: how many, the share that has the class, and where that lies."""

    low: float
    high: float
    middle: float
    rows: float
    share: float
    least: float
    most: float


@final
@dataclass(frozen=True, eq=False)
class Curves(Displayed):
    """ROC curve, area under it, calibration and confusion matrices of a classifier, all of one release of counts.

    ``noisy`` are the counts as they were released, of the rest and of the class, by bins between ``edges``;
    ``counts`` are those that there can be. ``deviation`` is that of the noise on each. ``chances`` says whether scores
    are chances; of others there is no calibration.
    """

    of: str
    edges: tuple[float, ...]
    noisy: Floats
    deviation: float
    chances: bool
    release: Release

    @cached_property
    def counts(self) -> Floats:
        """Counts that there can be: none is negative, so that the ROC curve rises (post-processing)."""
        return np.stack([rising(row) for row in self.noisy])

    @property
    def rows(self) -> Floats:
        """The noisy numbers of rows, of the rest and of the class."""
        return np.asarray(self.counts.sum(axis=1))

    def roc(self) -> tuple[Floats, Floats, Floats]:
        """Shares of false and of true alarms by threshold, from the strictest on, as scikit-learn's `roc_curve`."""
        beyond = np.cumsum(self.counts[:, ::-1], axis=1)
        false, true = (np.concatenate([[0.0], part / max(float(part[-1]), 1e-9)]) for part in beyond)
        return false, true, np.array([math.inf, *reversed(self.edges), 0.0])

    @property
    def auc(self) -> float:
        """The area under the ROC curve: how often a row of the class scores above one of the rest, ties half."""
        return self._area[0]

    @property
    def deviation_of_auc(self) -> float:
        """About how far the noise and the drawing of rows move the area, together; infinite where noise hides it."""
        return self._area[1]

    def auc_interval(self, confidence: AnyNumber = 0.95) -> tuple[float, float]:
        """Where the area of the population is, counting both the noise and that the rows were drawn.

        It is the area of scores in bins: a row above another one in the same bin counts as a tie.
        """
        reach = NormalDist().inv_cdf((1 + float(probability(confidence, "confidence"))) / 2) * self.deviation_of_auc
        return max(self.auc - reach, 0.0), min(self.auc + reach, 1.0)

    @cached_property
    def _area(self) -> tuple[float, float]:
        """The area and its deviation, by the share of the other class that each bin is above (DeLong, 1988)."""
        rest, held = self.counts
        if min(self.rows) <= CLEAR * self.deviation * math.sqrt(len(rest)):
            return 0.5, math.inf
        above = (np.cumsum(rest) - rest / 2) / rest.sum()
        below = (np.cumsum(held[::-1])[::-1] - held / 2) / held.sum()
        area = float(held @ above / held.sum())
        moved = [((above - area) / held.sum(), held), ((below - area) / rest.sum(), rest)]
        variance = sum(float(counts @ by**2) + self.deviation**2 * float(by @ by) for by, counts in moved)
        return area, math.sqrt(variance)

    def confusion(self, threshold: AnyNumber = 0.5) -> Confusion:
        """The confusion matrix at the edge of a bin next to a threshold: rows from there on are taken for the class."""
        asked = float(probability(threshold, "threshold"))
        place = int(np.abs(np.array(self.edges) - asked).argmin()) + 1
        table = np.stack([self.counts[:, :place].sum(axis=1), self.counts[:, place:].sum(axis=1)], axis=1)
        deviation = self.deviation * np.sqrt([[place, self.counts.shape[1] - place]] * 2)
        return Confusion(self.edges[place - 1], table, np.asarray(deviation))

    def calibration(self, confidence: AnyNumber = 0.95) -> list[Calibrated]:
        """How often the class is there, by the chance that was predicted; bins that noise would hide are merged.

        Each interval holds by itself, about, by the noise and by the drawing of rows.
        """
        if not self.chances:
            raise BadArgument("calibration", "asked of a model that predicts chances", "scores without chances")
        z = NormalDist().inv_cdf((1 + float(probability(confidence, "confidence"))) / 2)
        ends = np.array([0.0, *self.edges, 1.0])
        return [self._calibrated(first, last, ends, z) for first, last in self._merged()]

    def _calibrated(self, first: int, last: int, ends: Floats, z: float) -> Calibrated:
        rest, held = self.counts[:, first:last]
        rows, inside = max(float(rest.sum() + held.sum()), 1.0), (ends[first:last] + ends[first + 1 : last + 1]) / 2
        share = min(float(held.sum()) / rows, 1.0)
        noise = self.deviation**2 * (last - first) * (share**2 + (1 - share) ** 2) / rows**2
        reach = z * math.sqrt(noise + share * (1 - share) / rows)
        middle = float((rest + held) @ inside / rows) if rest.sum() + held.sum() >= 1.0 else float(inside.mean())
        least, most = max(share - reach, 0.0), min(share + reach, 1.0)
        return Calibrated(float(ends[first]), float(ends[last]), middle, rows, share, least, most)

    def _merged(self) -> list[tuple[int, int]]:
        """Ranges of bins that are worth their noise, from left to right; what is left at the end joins the last."""
        ranges, first = [], 0
        for last in range(1, self.counts.shape[1] + 1):
            if self.counts[:, first:last].sum() >= max(WORTH * self.deviation * math.sqrt(2 * (last - first)), 1.0):
                ranges.append((first, last))
                first = last
        return [*ranges[:-1], (ranges[-1][0], self.counts.shape[1])] if ranges else [(0, self.counts.shape[1])]

    def document(self) -> Document:
        """The area, a confusion matrix, the calibration, and what it cost."""
        low, high = self.auc_interval()
        seen = self.confusion()
        names = (f"not {self.of}", self.of)
        at = f"at a threshold of {seen.threshold:.3g}"
        rows = tuple((name, *(f"{count:,.0f}" for count in part)) for name, part in zip(names, seen.table, strict=True))
        head = ("actual", f"taken for {names[0]}", f"taken for {names[1]}")
        tables = [Table(rows, head, f"Rows {at}", right=frozenset({1, 2}))]
        if self.chances:
            told = tuple(
                (
                    f"{one.low:.3g} … {one.high:.3g}",
                    f"{one.rows:,.0f}",
                    f"{one.share:.3f}",
                    f"{one.least:.3f} … {one.most:.3f}",
                )
                for one in self.calibration()
            )
            named = ("predicted chance", "rows", f"share of {self.of}", "95 %")
            tables.append(Table(told, named, "Calibration", right=frozenset({1, 2, 3})))
        tables.append(Table(tuple(short_facts(self.release))))
        area = f"AUC {self.auc:.3f}, {low:.3f} to {high:.3f} (95%)"
        return Document("Curves", f"{self.of} against the rest: {area}", tables=tuple(tables))

    def plot(self, *, title: str | None = None) -> Chart:
        """Draws the ROC curve and, where scores are chances, the calibration beside it."""
        from sfumato.charts.models import classifier_curves

        false, true, _ = self.roc()
        calibration = [one._asdict() for one in self.calibration()] if self.chances else []
        return classifier_curves(
            list(zip(false.tolist(), true.tolist(), strict=True)),
            calibration,
            area=(self.auc, *self.auc_interval()),
            of=self.of,
            release=self.release,
            title=title,
        )


def rising(noisy: Floats) -> Floats:
    """Counts whose running totals are the nearest to the noisy ones that never fall, and end where those do."""
    total = max(float(noisy.sum()), 0.0)
    inner = isotonic_regression(np.cumsum(noisy)[:-1], y_min=0.0, y_max=total)
    return np.diff(np.concatenate([[0.0], inner, [total]]))


def read_edges(bins: int | Sequence[AnyNumber]) -> tuple[float, ...]:
    """The edges of bins of chances: so many bins, narrow near 0 and 1, or edges as they are stated.

    >>> [round(edge, 3) for edge in read_edges(4)]
    [0.004, 0.5, 0.996]
    """
    if isinstance(bins, Sequence) and not isinstance(bins, str):
        edges = tuple(float(probability(edge, "an edge")) for edge in bins)
        if not edges or any(right <= left for left, right in zip((0.0, *edges), (*edges, 1.0), strict=True)):
            raise BadArgument("the edges of scores", "chances between 0 and 1, in rising order", bins)
        return edges
    count = integer(bins, "bins", least=2)
    odds = np.linspace(-FARTHEST, FARTHEST, count - 1) if count > 2 else np.zeros(1)
    return tuple((1 / (1 + np.exp(-odds))).tolist())


def curves_of(
    model: PrivateEstimator, source: Source, of: Hashable | None, edges: tuple[float, ...], loss: Loss
) -> Curves:
    """Counts the rows of a source, the target last, by the bin of their score and by whether they have a class."""
    classes = model.target_
    if not isinstance(classes, Category):
        raise BadArgument(
            "a model to draw curves of", "a classifier: of numbers, ask private_score", type(model).__name__
        )
    place, chances = _place(classes, of), hasattr(model, "predict_proba")
    if not chances and len(classes.values) != 2:
        raise BadArgument(
            "a model to draw curves of", "one with predict_proba, or of two classes", type(model).__name__
        )

    def cells(rows: Floats) -> Floats:
        """The cell of each row: twice its bin, and 1 more where it has the class; −1 where it has no stated one."""
        scores = np.array([_score(model, row, place, chances=chances) for row in rows[:, :-1]], dtype=np.float64)
        made = 2.0 * np.searchsorted(np.array(edges), scores, side="right") + (rows[:, -1] == place)
        return np.where(rows[:, -1] >= 0, made, -1.0)[:, None]

    exact = by_rows(source, (2 * (len(edges) + 1),), cells, pairs=[(0, 1)])
    sums = least_noise(exact, loss, source.unit)
    release = source.run(sums.measurement, loss=loss)
    noisy = np.asarray(release.value, dtype=np.float64).reshape(-1, 2).T
    return Curves(str(classes.values[place]), edges, noisy, sums.deviation, chances, release)


def _place(classes: Category, of: Hashable | None) -> int:
    """The place of the class that is looked for: the second of two, unless it is named."""
    if of is None and len(classes.values) == 2:
        return 1
    if of not in classes.values:
        listed = [str(value) for value in classes.values]
        must = f"the class that is told from the rest, one of {', '.join(listed)}{did_you_mean(str(of), listed)}"
        raise BadArgument("of", must, of)
    return classes.values.index(of)


def _score(model: Any, row: Floats, place: int, *, chances: bool) -> float:
    """The score of one row, predicted by itself: no other row may move it, even in its last bit."""
    one, alone = decoded(row, model.columns_), for_one_row(model)
    if chances:
        return float(alone.predict_proba(one)[0, place])
    odds = float(np.clip(alone.decision_function(one)[0], -700.0, 700.0))
    return 1 / (1 + math.exp(-odds if place else odds))
