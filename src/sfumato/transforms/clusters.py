"""Rows by their nearest public centroid: how many there are, what they add up to, and how far away they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from sfumato.core.domains import Array, Bounds, Data, Floats, Integers, Matrix, Vector, float_bounds
from sfumato.core.metrics import L1, L2, DatasetMetric
from sfumato.core.partial import Partial
from sfumato.core.pieces import PiecewiseLInf
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, UnboundedColumn
from sfumato.exact import Distance, Number, Root, integer, rational, rational_up, root, squared
from sfumato.guarantee import guarantee
from sfumato.transforms.distances import exchanged_rows, times
from sfumato.transforms.grids import RowGrid, exact_total, row_grid
from sfumato.transforms.norms import EXTREME, Ball, ball_on_grid
from sfumato.transforms.rows import as_rows, row_space
from sfumato.transforms.rowwise import collect, rowwise

TotalsMetric: TypeAlias = L1 | L2 | PiecewiseLInf
"""How far apart totals are: in pieces, a cluster is one."""


@final
@dataclass(frozen=True)
class Centred:
    """Rows of a bounded matrix as whole numbers of steps from the middle of their box or ball.

    Twice an offset from the lowest corner, minus ``most``, is such a whole number: none is larger than ``most``.
    """

    domain: Matrix
    grid: RowGrid | Ball
    most: int

    @property
    def step(self) -> Fraction:
        """Half a step of the grid."""
        return self.grid.step / 2

    @property
    def middle(self) -> tuple[Fraction, ...]:
        """The middle of the box, or the origin of the ball."""
        if isinstance(self.grid, Ball):
            return self.grid.norm.origin
        return ((self.grid.low + self.grid.high) * self.step,) * self.domain.columns

    def length(self, metric: TotalsMetric) -> Distance:
        """The farthest that a row can be from the middle, in the norm of the metric; one entry of it, in pieces."""
        if isinstance(metric, PiecewiseLInf):
            return self.most * self.step
        if isinstance(self.grid, Ball):
            return ball_length(self.grid.norm.radius, self.grid.norm.order, self.domain.columns, metric)
        return box_length(self.most * self.step, self.domain.columns, metric)

    def offsets(self, data: Data) -> Array:
        """Offsets of every entry from the lowest corner, in 0 … most."""
        rows = as_rows(data, self.domain)
        if isinstance(self.grid, Ball):
            corners = [origin - self.grid.radius for origin in self.grid.origin]
            return _columns([np.asarray(part - corner) for part, corner in zip(rows.T, corners, strict=True)], rows)
        return _columns([self.grid.offsets(part) for part in rows.T], rows)

    def inside(self, centroids: Array) -> Array:
        """Moves centroids into the box or ball, in floats: they are public."""
        centred = centroids - self.middle_floats
        if isinstance(self.grid, Ball):
            order = self.grid.norm.order
            sizes = np.linalg.norm(centred, ord=order, axis=1, keepdims=True)
            reach = float(self.grid.norm.radius)
            centred = centred * np.minimum(1.0, reach / np.where(sizes == 0, 1.0, sizes))
        else:
            half = float(self.most * self.step)
            centred = np.clip(centred, -half, half)
        return np.asarray(centred + self.middle_floats)

    @property
    def middle_floats(self) -> Array:
        """The middle, rounded to floats: for public centroids only."""
        return np.array([float(value) for value in self.middle])


def _columns(parts: list[Array], rows: Array) -> Array:
    return np.stack(parts, axis=1) if parts else rows


@guarantee(
    claim="rows within H of the middle in each of n columns: n H in L1, √n H in L2",
    proof="proofs/k_means.md#length",
    reviewed="1f8eb6fe7791",
)
def box_length(half: Fraction, columns: int, metric: L1 | L2) -> Distance:
    """The farthest that a row can be from the middle of a box."""
    return times(half, columns if isinstance(metric, L1) else root(columns))


@guarantee(
    claim="rows within R of the origin: R in the norm of the ball, and R in L2 for an L1 ball; √n R, rounded up, in L1 "
    "for an L2 ball",
    proof="proofs/k_means.md#length",
    reviewed="bff60b3e563f",
)
def ball_length(radius: Fraction, order: int, columns: int, metric: L1 | L2) -> Distance:
    """The farthest that a row can be from the origin of a ball."""
    if order == 2 and isinstance(metric, L1):
        return radius * Fraction(rational_up(root(columns)))
    return radius


def centre_rows(space: Space, verb: str) -> tuple[Centred, DatasetMetric]:
    """Reads a space of rows within bounds or within a ball, or says what the verb needs."""
    domain, rows = row_space(space, verb)
    if not isinstance(domain, Matrix):
        raise BadArgument(f"what {verb}() works on", "a matrix", str(space))
    if domain.norm is not None:
        ball = ball_on_grid(domain.norm)
        if domain.element == Integers(domain.element.between, ball.step):
            return Centred(domain, ball, 2 * ball.radius), rows
    bounds = domain.element.between
    if bounds is None:
        raise UnboundedColumn(verb)
    if bounds.magnitude > EXTREME:
        raise BadArgument("bounds", "within 2^900 of zero", str(bounds))
    if 0 < bounds.width < 1 / EXTREME:
        raise BadArgument("bounds", "the same, or at least 2^-900 apart", str(bounds))
    grid = row_grid(domain.element, verb)
    return Centred(domain, grid, grid.span), rows


@guarantee(
    claim="a row counts w and adds a vector of length at most r, in one of k clusters: added, w + r in L1, √(w² + r²) "
    "in L2; exchanged, 2 (w + r) in L1, max(2 r, √2 √(w² + r²)) in L2, and 2 r where k = 1; L∞ added up over clusters, "
    "with entries of at most r: max(w, r), exchanged twice that, and 2 r where k = 1",
    proof="proofs/k_means.md#totals",
    reviewed="766d4efb9b45",
)
def cluster_totals_map(
    d_in: Distance,
    *,
    weight: Fraction,
    length: Distance,
    norm: TotalsMetric,
    metric: DatasetMetric,
    size: int | None,
    clusters: int,
) -> Distance:
    """How far the weighted counts and the sums of disjoint clusters can move together."""
    if isinstance(norm, L1):
        added: Fraction | Root = weight + Fraction(rational_up(length))
        exchanged = times(added, 2)
    elif isinstance(norm, PiecewiseLInf):
        added = max(weight, Fraction(rational_up(length)))
        exchanged = times(added, 2)
    else:
        added = root(weight**2 + Fraction(squared(length)))
        exchanged = max(times(length, 2), times(added, root(2)))
    if size is None:
        return times(d_in, added)
    apart = times(length, 2) if clusters == 1 else exchanged
    return times(apart, exchanged_rows(d_in, metric=metric, size=size))


@constructor
def cluster_totals(
    centroids: Sequence[Sequence[Number]], *, weight: Number | None = None, metric: TotalsMetric | None = None
) -> Partial[Transformation]:
    """Adds up, for each public centroid, the rows that are nearest to it: their number, and their sum.

    The sum is that of the rows minus the middle of the box or ball, which is what keeps it small.

    Takes:      rows with bounded entries (clamp first) or a bounded norm (norm_clamp first); ``weight`` is what a row
                counts, beside what it adds to the sum (left out: what serves centroids best)
    Gives:      for each centroid its weighted count and then the sum, all in whole numbers of one step, under L1 or L2;
                or under the L∞ distance added up over clusters, `PiecewiseLInf` of as many pieces: then first all
                counts, then all sums of the first column, and so on
    Guarantee:  with rows at most r from the middle: d_in (w + r) in L1, d_in √(w² + r²) in L2; exchanged rows times
                2 (w + r) in L1, max(2 r, √2 √(w² + r²)) in L2; in pieces, with entries at most r, d_in max(w, r), and
                twice that for exchanged rows  (proofs/k_means.md#totals)
    Cost:       a pass for each centroid and column

    >>> from sfumato.core.space import matrix
    >>> (matrix(2, between=(0, 2)) >> cluster_totals([(0, 0), (2, 2)], weight=1)).map(1)
    Fraction(3, 1)
    """
    norm = L1() if metric is None else metric
    in_pieces = isinstance(norm, PiecewiseLInf)
    if not isinstance(norm, L1 | L2 | PiecewiseLInf) or (in_pieces and norm != PiecewiseLInf(len(centroids) or 1)):
        raise BadArgument("the metric of cluster_totals()", "L1(), L2(), or PiecewiseLInf(one for each)", metric)

    def build(space: Space) -> Transformation:
        rows, counted = centre_rows(space, "cluster_totals")
        near = Nearest.of(centroids, rows)
        length = rows.length(norm)
        steps = weight_in_steps(rows, norm) if weight is None else integer_steps(weight, rows.step)
        size, clusters = rows.domain.size, len(near.centroids)
        return Transformation(
            space,
            Space(Vector(Integers(None, rows.step), clusters * (1 + rows.domain.columns)), norm),
            lambda data, _: totals(data, rows, near, steps, in_pieces=in_pieces),
            lambda d_in: cluster_totals_map(
                d_in,
                weight=steps * rows.step,
                length=length,
                norm=norm,
                metric=counted,
                size=size,
                clusters=clusters,
            ),
            (f"counts and sums of the rows nearest to each of {clusters} centroids",),
            ("proofs/k_means.md#totals",),
        )

    return Partial(f"cluster_totals({len(centroids)} centroids)", build)


@constructor
def squared_distances(centroids: Sequence[Sequence[Number]], *, most: Number) -> Partial[Transformation]:
    """Squares the distance of every row to its nearest public centroid, clamped to a public bound.

    Takes:      rows with bounded entries (clamp first) or a bounded norm (norm_clamp first)
    Gives:      a column of floats in [0, most]
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       a pass for each centroid and column

    >>> from sfumato.core.space import matrix
    >>> from sfumato.transforms.aggregate import sum
    >>> (matrix(2, between=(0, 2)) >> squared_distances([(0, 0), (2, 2)], most=2) >> sum()).map(1)
    Fraction(2, 1)
    """
    bounds = Bounds.read((0, most))

    def build(space: Space) -> Transformation:
        rows, _ = centre_rows(space, "squared_distances")
        near, cap = Nearest.of(centroids, rows), float_bounds(bounds)[1]
        target = Vector(Floats(bounds), rows.domain.size, rows.domain.least)
        return rowwise(
            space,
            target,
            lambda data: np.minimum(near.distances(rows.offsets(data)), cap),
            "squared distance to the nearest centroid",
        )

    return Partial(f"squared_distances({len(centroids)} centroids)", build)


@final
@dataclass(frozen=True, eq=False)
class Nearest:
    """Finds the public centroid nearest to a row: the first where several are.

    Everything is worked out entry by entry, in an order that is the same for every row, so that no row's cluster
    depends on other rows.
    """

    centroids: Array
    step: float
    most: int

    @classmethod
    def of(cls, centroids: Sequence[Sequence[Number]], rows: Centred) -> Nearest:
        """Reads centroids as vectors from the middle."""
        listed = [[rational(value, "an entry of a centroid") for value in centroid] for centroid in centroids]
        if not listed or any(len(centroid) != rows.domain.columns for centroid in listed):
            raise BadArgument("centroids", f"one or more rows of {rows.domain.columns} numbers", centroids)
        near = [[float(x - m) for x, m in zip(centroid, rows.middle, strict=True)] for centroid in listed]
        return cls(np.array(near), float(rows.step), rows.most)

    def clusters(self, offsets: Array) -> Array:
        """Index of the nearest centroid, for every row."""
        return self._search(offsets)[0]

    def distances(self, offsets: Array) -> Array:
        """Squared distance to the nearest centroid, for every row."""
        return self._search(offsets)[1]

    def _search(self, offsets: Array) -> tuple[Array, Array]:
        points = [(2 * part - self.most).astype(np.float64) * self.step for part in offsets.T]
        cluster, least = np.zeros(len(offsets), dtype=np.int64), np.full(len(offsets), math.inf)
        with np.errstate(over="ignore"):
            for number, centroid in enumerate(self.centroids):
                square = np.zeros(len(offsets))
                for part, place in zip(points, centroid.tolist(), strict=True):
                    square += (part - place) ** 2
                cluster[square < least] = number
                least = np.minimum(least, square)
        return cluster, least


@guarantee(
    claim="for each cluster, exactly, its weighted count and the sum of its rows minus the middle; each row is in one; "
    "in pieces, cell by cell for all clusters",
    proof="proofs/k_means.md#totals",
    reviewed="390789dba96a",
)
def totals(data: Data, rows: Centred, near: Nearest, weight: int, *, in_pieces: bool = False) -> Array:
    """Adds up the rows of each cluster in whole numbers of steps."""
    offsets = rows.offsets(data)
    cluster = near.clusters(offsets)
    table: list[list[int]] = []
    for number in range(len(near.centroids)):
        members = offsets[cluster == number]
        sums = [2 * exact_total(part, most=rows.most) - len(members) * rows.most for part in members.T]
        table.append([len(members) * weight, *sums])
    cells = zip(*table, strict=True) if in_pieces else table
    return collect([cell for part in cells for cell in part], Integers())


def weight_in_steps(rows: Centred, norm: TotalsMetric) -> int:
    """The weight of a count that gives the most accurate centroids, if rows are all over the box.

    Proved in proofs/k_means.md#weight; a worse weight costs accuracy only.
    """
    if isinstance(norm, PiecewiseLInf):
        return max(1, rows.most)
    columns, length = rows.domain.columns, float(Fraction(rational_up(rows.length(norm))) / rows.step)
    factor = 2 / columns * (columns / 24) ** (1 / 3) if isinstance(norm, L1) else 1 / (3 * columns) ** 0.25
    return max(1, math.ceil(float(factor) * length))


def integer_steps(weight: Number, step: Fraction) -> int:
    """Reads a weight as a whole number of steps."""
    exact = rational(weight, "weight") / step
    if exact.denominator != 1:
        raise BadArgument("weight", f"a whole multiple of {step}", weight)
    return integer(int(exact), "weight", least=1)
