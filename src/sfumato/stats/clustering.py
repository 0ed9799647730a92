"""Clusters: rounds of Lloyd's algorithm on noisy counts and sums, their score, and a number of clusters at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import final

import numpy as np

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.combinators.analysis import analysis
from sfumato.combinators.interaction import adaptive_composition
from sfumato.combinators.turns import charged_at
from sfumato.core.domains import Array
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, Unit
from sfumato.core.partial import Partial
from sfumato.core.pieces import PiecewiseLInf
from sfumato.core.plan import constructor
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, rational, squared, up
from sfumato.mechanisms.cube import k_norm
from sfumato.stats.shares import Spendable, deviation_of, noise_of, parameter_for, spendable
from sfumato.transforms.aggregate import sum as total
from sfumato.transforms.clusters import (
    Centred,
    TotalsMetric,
    centre_rows,
    cluster_totals,
    squared_distances,
    weight_in_steps,
)
from sfumato.transforms.norms import EXTREME, Ball

CANDIDATES = 64
"""Random points for each start, among which it is picked for distance from the others and from the edge."""

MOST_WORK = 1 << 24
"""Fewer candidates are looked at where starts · candidates · columns were more; starts just random, with too few."""

CELLS = 8
"""Points for each cluster around which the first round asks for rows, to be merged into clusters."""

FIRST_STEP, NEXT_STEP = 0.3, 0.2
"""How far a centroid is expected to be from where it starts and, after each round, from where it will be next: in each
column, as a part of half the width; found by simulation (proofs/k_means.md#steps)."""

UNSEEN = 0.05
"""The size of a point whose noisy size is no more than noise, where points are merged, as a part of that noise."""

SURELY = 2
"""A clustering has a score only where every size is more than noise by this factor (proofs/k_means.md#scores)."""

MERGE_ROUNDS = 20
TIE = 1e-12
"""Points without rows are chosen too, where there are too few with rows: the farthest first."""

SCORE_PART = Fraction(1, 5)
"""What the sum of squared distances gets of the loss, where a clustering is scored."""

Centroid = tuple[float, ...]


@final
@dataclass(frozen=True)
class Clustering:
    """Centroids and, for each, a noisy number of rows: those that were nearest to it before it moved last."""

    centroids: tuple[Centroid, ...]
    sizes: tuple[float, ...]


@constructor
def k_means(
    clusters: int,
    *,
    loss: Loss,
    rounds: int = 3,
    starts: Sequence[Sequence[Number]] | None = None,
    d_in: Number | Unit | None = None,
) -> Partial[Measurement]:
    """Finds clusters: a fixed number of rounds, each of which releases the noisy size and sum of every cluster.

    Rows go to the nearest centroid of the round before; a centroid goes as far towards the mean of its rows as noise
    leaves that trust, and one whose noisy size is no more than noise stays where it is. The first round
    asks around 8 times as many random points, far from each other and from the edge, which know nothing of the data:
    more clusters cost no more, and what was released is then merged to the number asked for.

    Takes:      rows with bounded entries (clamp first) or a bounded norm (norm_clamp first), best with all columns on
                one scale; a loss of Pure (for each cluster the noise of a cube; in a ball, Laplace noise) or ZCDP
                (Gaussian noise) for neighbours at ``d_in`` (as a rule 1, see `Space.closest`); public ``starts``, if
                there are better ones
    Gives:      a `Clustering`
    Guarantee:  the loss, at distances up to d_in; each round gets the same part  (proofs/k_means.md#rounds)
    Cost:       a pass for each round, centroid and column; in the first round there are 8 points for each centroid,
                whose merging grows with the square of the number of clusters (2 s for 1000)

    >>> from sfumato.core.space import matrix
    >>> (matrix(2, between=(0, 1)) >> k_means(3, loss=Pure(1), rounds=4)).map(1)
    Pure(epsilon=1.0)
    """
    whole, number = spendable(loss, "k_means"), integer(clusters, "clusters", least=1)
    turns = integer(rounds, "rounds", least=1)
    fixed_starts = None if starts is None else _read_starts(starts, number)

    def build(space: Space) -> Measurement:
        rows, _ = centre_rows(space, "k_means")
        lloyd = Lloyd(space, rows, whole.scaled(Fraction(1, turns)), charged_at(space, d_in), turns)
        first = None if fixed_starts is None else lloyd.checked(fixed_starts)

        def rounds_of_lloyd(ask: Queryable, entropy: Entropy) -> Clustering:
            return lloyd.run(ask, spread_points(rows, CELLS * number, entropy) if first is None else first, number)[0]

        slices = adaptive_composition([lloyd.loss] * turns, d_in=lloyd.d_in)
        return analysis(space >> slices, rounds_of_lloyd, name=f"{number} means in {turns} rounds")

    return Partial(f"k_means({clusters}, rounds={rounds})", build)


@constructor
def scored_k_means(
    clusters: Sequence[int], *, loss: Loss, rounds: int = 3, d_in: Number | Unit | None = None
) -> Partial[Measurement]:
    """Finds clusters as `k_means` does, for a number of clusters drawn from a public list, and scores what it found.

    One run says little; `sf.best_of` runs it a random number of times and keeps the best, which guards against bad
    starts and chooses among the numbers of clusters that were drawn. Of m numbers, one given number is never drawn with
    chance (m − 1) stop / (1 + (m − 1) stop), which is 13 % for m = 4 and stop = 0.05: take a ``stop`` well below 1 / m,
    such as 0.01: the loss hardly grows, the time does. If some cluster is no more than noise, the score is 0.

    Takes:      as `k_means`; a list of numbers of clusters, all at least 2: one cluster has no score
    Gives:      a pair of `clustering_score` (from noisy numbers alone) and `Clustering`
    Guarantee:  the loss, at distances up to d_in: 4/5 for the rounds, the rest for W  (proofs/k_means.md#rounds)
    Cost:       that of k_means, and one pass more

    >>> from sfumato.core.space import matrix
    >>> (matrix(2, between=(0, 1)) >> scored_k_means([2, 3, 4], loss=Pure(1))).map(1)
    Pure(epsilon=1.0)
    """
    whole, turns = spendable(loss, "scored_k_means"), integer(rounds, "rounds", least=1)
    if not isinstance(clusters, Sequence | np.ndarray) or not len(clusters):
        raise BadArgument("clusters", "a list of numbers of clusters, such as [2, 3, 4]", clusters)
    numbers = [integer(number, "a number of clusters", least=2) for number in clusters]

    def build(space: Space) -> Measurement:
        rows, _ = centre_rows(space, "scored_k_means")
        each = whole.scaled((1 - SCORE_PART) / turns)
        lloyd = Lloyd(space, rows, each, charged_at(space, d_in), turns)
        last = whole.scaled(SCORE_PART)

        def scored_rounds(ask: Queryable, entropy: Entropy) -> tuple[float, Clustering]:
            number = numbers[entropy.below(len(numbers))]
            clustering, clear = lloyd.run(ask, spread_points(rows, CELLS * number, entropy), number)
            within = lloyd.within(ask, clustering, last)
            return clustering_score(clustering, within=within) if clear else 0.0, clustering

        slices = adaptive_composition([*[each] * turns, last], d_in=lloyd.d_in)
        return analysis(space >> slices, scored_rounds, name=f"scored means in {turns} rounds")

    return Partial(f"scored_k_means({list(clusters)}, rounds={rounds})", build)


def clustering_score(clustering: Clustering, *, within: float, least: float = 1e-9) -> float:
    """The Calinski–Harabasz score: B (n − k) / (W (k − 1)), from numbers that are released already.

    B adds up, over clusters, the size times the squared distance of the centroid from the mean of all; W is ``within``,
    the sum of squared distances of rows to their centroids. Noisy numbers may be too small for a score: sizes below 0
    count as 0, and W and n − k as no less than ``least``.

    >>> clustering_score(Clustering(((0.0, 1.0), (10.0, 1.0)), (2, 2)), within=4)
    50.0
    """
    number = len(clustering.centroids)
    if number < 2:
        raise BadArgument("the clustering to score", "of at least 2 clusters: one has no score", number)
    floor = float(rational(least, "least"))
    if not floor > 0:
        raise BadArgument("least", "greater than 0", least)
    sizes = np.maximum(np.array(clustering.sizes, dtype=np.float64), 0.0)
    rows = float(sizes.sum())
    if rows == 0:
        return 0.0
    places = np.array(clustering.centroids)
    centre = (sizes[:, np.newaxis] * places).sum(axis=0) / rows
    with np.errstate(over="ignore", invalid="ignore"):
        between = float((sizes * ((places - centre) ** 2).sum(axis=1)).sum())
    score = between / max(float(within), floor) * max(rows - number, floor) / (number - 1)
    return 0.0 if math.isnan(score) else score


@final
@dataclass(frozen=True)
class Lloyd:
    """Asks for rounds of counts and sums, and moves centroids by the answers. It sees nothing else of the data."""

    space: Space
    rows: Centred
    loss: Spendable
    d_in: Number | Unit
    rounds: int

    def norm(self, clusters: int) -> TotalsMetric:
        """The norm of the noise: in a box, a row may move every cell of its cluster as far as each of them can go."""
        if not isinstance(self.loss, Pure):
            return L2()
        return L1() if isinstance(self.rows.grid, Ball) else PiecewiseLInf(clusters)

    def checked(self, starts: tuple[Centroid, ...]) -> Array:
        """Refuses starts of another number of columns; moves the others into the bounds."""
        columns = self.rows.domain.columns
        if any(len(start) != columns for start in starts):
            raise BadArgument("starts", f"rows of {columns} numbers", starts)
        return self.rows.inside(np.array(starts))

    def run(self, ask: Queryable, starts: Array, number: int) -> tuple[Clustering, bool]:
        """Goes through all rounds, and tells whether every cluster is surely more than noise.

        Where there are more starts than clusters, the first round merges them. A centroid goes as far towards the mean
        that was released as its noise leaves it trust (proofs/k_means.md#steps).
        """
        half = float(self.rows.most * self.rows.step) or 1.0
        places, sizes, least = starts, np.zeros(len(starts)), math.inf
        doubt = np.full(len(starts), FIRST_STEP**2)
        for turn in range(self.rounds):
            sizes, moved, least, noise = self._round(ask, places)
            clear = sizes > least
            doubt = doubt + (NEXT_STEP**2 if turn else 0.0)
            trust = np.where(clear, doubt / (doubt + (noise / half / np.where(clear, sizes, 1.0)) ** 2), 0.0)
            places, doubt = places + trust[:, np.newaxis] * (moved - places), (1 - trust) * doubt
            if len(places) > number:
                held = np.where(clear, sizes, UNSEEN * least)
                centroids, sizes = merge_points(places, held, number)
                places, doubt = centroids, _merged_doubt(places, held, centroids, doubt)
            places = self.rows.inside(places)
        clear_all = bool((sizes > SURELY * least).all())
        return Clustering(tuple(map(tuple, places.tolist())), tuple(sizes.tolist())), clear_all

    def _round(self, ask: Queryable, places: Array) -> tuple[Array, Array, float, float]:
        """Asks for sizes and means of the rows around centroids; from which size on it is more than noise, and the
        deviation of the noise on each sum."""
        norm, cells, kind = self.norm(len(places)), 1 + self.rows.domain.columns, type(self.loss)
        seen, in_pieces = cluster_totals(places.tolist(), metric=norm), isinstance(norm, PiecewiseLInf)
        noise = k_norm if in_pieces else partial(noise_of, kind)
        scale = parameter_for(lambda scale: self.space >> seen >> noise(scale), self.loss, self.d_in)
        noisy = np.asarray(ask(seen >> noise(scale)), dtype=np.float64)
        table = noisy.reshape(cells, len(places)).T if in_pieces else noisy.reshape(len(places), cells)
        deviation = up(scale) * math.sqrt((cells + 1) * (cells + 2) / 3) if in_pieces else deviation_of(kind, scale)
        weight = float(weight_in_steps(self.rows, norm) * self.rows.step)
        sizes, least = table[:, 0] / weight, max(1.0, 2 * deviation / weight)
        means = self.rows.middle_floats + table[:, 1:] / np.where(sizes > least, sizes, 1.0)[:, np.newaxis]
        return sizes, means, least, deviation

    def within(self, ask: Queryable, clustering: Clustering, loss: Spendable) -> float:
        """Asks for the sum of squared distances to the nearest centroid, each clamped; no less than what noise adds."""
        seen = squared_distances(clustering.centroids, most=self._farthest(clustering)) >> total()
        scale = self._scale(self.space >> seen, loss)
        return max(float(ask(seen >> noise_of(type(loss), scale))), deviation_of(type(loss), scale))

    def _farthest(self, clustering: Clustering) -> Fraction:
        """A bound for squared distances: half that of the loneliest centroid from the next one."""
        places = np.array(clustering.centroids)
        with np.errstate(over="ignore"):
            squares = ((places[:, np.newaxis] - places) ** 2).sum(axis=2)
        squares[np.diag_indices(len(places))] = math.inf
        lonely = float(squares.min(axis=1).max()) / 2
        most = min(EXTREME, Fraction(squared(self.rows.length(L2()))))
        return min(most, Fraction(lonely)) if math.isfinite(lonely) else most

    def _scale(self, seen: Transformation, loss: Spendable) -> Fraction:
        return parameter_for(lambda scale: seen >> noise_of(type(loss), scale), loss, self.d_in)


def merge_points(places: Array, sizes: Array, number: int) -> tuple[Array, Array]:
    """Merges points with sizes into ``number`` clusters, by Lloyd's algorithm on these: nothing private is asked.

    The first centroid is the largest point, the next always the one with the largest size times squared distance.
    """
    squares = np.full(len(places), math.inf)
    chosen = [int(np.argmax(sizes))]
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(1, number):
            squares = np.minimum(squares, ((places - places[chosen[-1]]) ** 2).sum(axis=1))
            chosen.append(int(np.argmax(np.nan_to_num(sizes * squares) + squares * TIE)))
        centroids, totals = places[chosen], sizes[chosen]
        for _ in range(MERGE_ROUNDS):
            nearest = _nearest(places, centroids)
            totals = np.bincount(nearest, weights=sizes, minlength=number)
            sums = np.stack([np.bincount(nearest, weights=sizes * part, minlength=number) for part in places.T], axis=1)
            filled = (totals > 0)[:, np.newaxis]
            moved = np.where(filled, sums / np.where(filled, totals[:, np.newaxis], 1.0), centroids)
            settled, centroids = np.array_equal(moved, centroids), moved
            if settled:
                break
    return centroids, totals


def _merged_doubt(places: Array, sizes: Array, centroids: Array, doubt: Array) -> Array:
    """The variance of what is left to know of merged places: that of their mean, by their sizes."""
    nearest, number = _nearest(places, centroids), len(centroids)
    totals = np.bincount(nearest, weights=sizes, minlength=number)
    squares = np.bincount(nearest, weights=sizes**2 * doubt, minlength=number)
    return np.asarray(np.where(totals > 0, squares / np.where(totals > 0, totals, 1.0) ** 2, FIRST_STEP**2))


def _nearest(places: Array, centroids: Array) -> Array:
    """The number of the centroid that is nearest to each place: the first where several are."""
    places_of, least = np.zeros(len(places), dtype=np.int64), np.full(len(places), math.inf)
    for number, centroid in enumerate(centroids):
        with np.errstate(over="ignore", invalid="ignore"):
            squares = ((places - centroid) ** 2).sum(axis=1)
        places_of[squares < least] = number
        least = np.minimum(least, squares)
    return places_of


def spread_points(rows: Centred, number: int, entropy: Entropy) -> Array:
    """Draws points inside the bounds that keep away from each other and, half as far, from the edge.

    After Su, Cao, Li, Bertino and Jin (2016), who pack spheres: here the next point is always the random candidate
    whose sphere can be largest. Of very many points or columns, that would take long: points are then random.
    """
    columns = rows.domain.columns
    candidates = min(CANDIDATES * number, MOST_WORK // (number * columns))
    choose = candidates >= 2 * number
    words = entropy.words((candidates if choose else number) * columns) >> np.uint64(11)
    points = words.astype(np.float64).reshape(-1, columns) / 2.0**52 - 1.0
    if isinstance(rows.grid, Ball):
        sizes = np.linalg.norm(points, ord=rows.grid.norm.order, axis=1)
        points, room = points / np.maximum(sizes, 1.0)[:, np.newaxis], 1 - np.minimum(sizes, 1.0)
    else:
        room = 1 - np.abs(points).max(axis=1)
    if not choose:
        return rows.inside(rows.middle_floats + float(rows.most * rows.step) * points)
    apart, chosen = room, [0]
    for _ in range(1, number):
        apart = np.minimum(apart, np.linalg.norm(points - points[chosen[-1]], axis=1) / 2)
        chosen.append(int(np.argmax(apart)))
    return rows.inside(rows.middle_floats + float(rows.most * rows.step) * points[chosen])


def _read_starts(starts: Sequence[Sequence[Number]], number: int) -> tuple[Centroid, ...]:
    try:
        centroids = tuple(tuple(float(rational(value, "an entry of a start")) for value in start) for start in starts)
    except (TypeError, OverflowError):
        raise BadArgument("starts", "rows of numbers below 2^1024, such as [(0, 0), (1, 1)]", starts) from None
    if len(centroids) != number:
        raise BadArgument("starts", f"{number} points, one for each cluster", len(centroids))
    return centroids
