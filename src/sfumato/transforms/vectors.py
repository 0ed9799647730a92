"""Sums and means of rows: one exact number for each column."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from sfumato.core.domains import Array, Bounds, Integers, Matrix, Norm, Vector
from sfumato.core.metrics import L1, L2, DatasetMetric, LInf, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, UnboundedColumn, UnknownSize
from sfumato.exact import Distance, rational_up, root
from sfumato.guarantee import guarantee
from sfumato.transforms.distances import exchanged_rows, times
from sfumato.transforms.grids import exact_total, row_grid
from sfumato.transforms.norms import Ball, ball_on_grid
from sfumato.transforms.rows import as_rows, row_space
from sfumato.transforms.rowwise import collect

PROOF = "proofs/vector_sum.md#map"
ORDERS: dict[type[VectorMetric], int] = {L1: 1, L2: 2, LInf: 3}
"""The norms in falling order of size; LInf stands at the end."""


@final
@dataclass(frozen=True)
class Reach:
    """How long one row can be, and how far apart two rows, in the norm of a metric."""

    added: Distance
    exchanged: Distance


@guarantee(
    claim="rows within R of O in Lp, measured in Lq with q >= p: one is at most |O|_q + R long, two at most 2R apart",
    proof="proofs/vector_sum.md#ball",
    reviewed="dcaccc63e09e",
)
def ball_reach(norm: Norm, metric: VectorMetric) -> Reach:
    """The reach of rows within a radius of an origin."""
    sizes = [abs(value) for value in norm.origin]
    if isinstance(metric, L1):
        centre: Distance = sum(sizes, Fraction(0))
    elif isinstance(metric, L2):
        centre = root(sum((value**2 for value in sizes), Fraction(0)))
    else:
        centre = max(sizes)
    return Reach(Fraction(rational_up(centre)) + norm.radius, 2 * norm.radius)


@guarantee(
    claim="rows with n entries in [L, U]: in L1 n, in L2 √n, in L∞ 1 times max(|L|, |U|) long and U - L apart",
    proof="proofs/vector_sum.md#box",
    reviewed="78be4590ae54",
)
def box_reach(bounds: Bounds, columns: int, metric: VectorMetric) -> Reach:
    """The reach of rows with all entries within bounds."""
    if isinstance(metric, L1):
        factor: Distance = Fraction(columns)
    elif isinstance(metric, L2):
        factor = root(columns)
    else:
        factor = Fraction(1)
    return Reach(times(factor, bounds.magnitude), times(factor, bounds.width))


@guarantee(
    claim="d_in times the length of a row; with a public size, exchanged rows times the distance of two rows",
    proof="proofs/vector_sum.md#map",
    reviewed="aa35d5cf4bc4",
)
def vector_sum_map(d_in: Distance, *, reach: Reach, metric: DatasetMetric, size: int | None) -> Distance:
    """How far a sum of rows can move."""
    if size is None:
        return _product(d_in, reach.added)
    return _product(exchanged_rows(d_in, metric=metric, size=size), reach.exchanged)


def _product(rows: Distance, length: Distance) -> Distance:
    counted = rational_up(rows)
    return times(counted, int(length > 0)) if counted == math.inf else times(length, Fraction(counted))


@constructor
def vector_sum(*, metric: VectorMetric | None = None) -> Partial[Transformation]:
    """Adds up the rows of a matrix, exactly.

    Takes:      rows with a bounded norm (norm_clamp first) or bounded entries (clamp first)
    Gives:      one whole number of steps a column, under the L1, L2 or L∞ distance: that of the norm, or as asked
    Guarantee:  d_out = d_in (|O| + R); with a public size, exchanged rows times 2R  (proofs/vector_sum.md#map)
    Cost:       one pass

    >>> from sfumato.core.space import matrix
    >>> from sfumato.transforms.norms import norm_clamp
    >>> (matrix(4) >> norm_clamp(4, order=1) >> vector_sum()).map(1)
    Fraction(4, 1)
    """
    return Partial("vector_sum()", lambda space: _sum_rows(space, metric, "vector_sum", None))


@constructor
def vector_mean(*, metric: VectorMetric | None = None) -> Partial[Transformation]:
    """Averages the rows of a matrix of public size, exactly.

    Takes:      rows with a bounded norm (norm_clamp first) or bounded entries (clamp first), and a public size
    Gives:      one whole number of steps a column, under the L1, L2 or L∞ distance: that of the norm, or as asked
    Guarantee:  exchanged rows times 2R / N  (proofs/vector_sum.md#map)
    Cost:       one pass

    >>> from sfumato.core.metrics import L2
    >>> from sfumato.core.space import matrix
    >>> (matrix(100, between=(0, 1), size=1000) >> vector_mean(metric=L2())).map(1)
    Fraction(1, 100)
    """

    def build(space: Space) -> Transformation:
        domain, _ = row_space(space, "vector_mean")
        if domain.size is None:
            raise UnknownSize(
                "vector_mean", "Fix the number of rows with resize(size, row), or release vector_sum() and count()."
            )
        if domain.size == 0:
            raise BadArgument("size", "at least 1 for vector_mean(): no rows have no mean", 0)
        return _sum_rows(space, metric, "vector_mean", domain.size)

    return Partial("vector_mean()", build)


def _sum_rows(space: Space, metric: VectorMetric | None, verb: str, divisor: int | None) -> Transformation:
    domain, rows = row_space(space, verb)
    if not isinstance(domain, Matrix):
        raise BadArgument(f"what {verb}() works on", "a matrix", str(space))
    wanted = _metric(domain, metric, verb)
    share = Fraction(1, divisor or 1)
    reach, step, totals = _ball_sum(domain, wanted) or _box_sum(domain, wanted, verb)
    return Transformation(
        space,
        Space(Vector(Integers(None, step * share), domain.columns), wanted),
        lambda data, _: totals(as_rows(data, domain)),
        lambda d_in: times(vector_sum_map(d_in, reach=reach, metric=rows, size=domain.size), share),
        ("sum of rows" if divisor is None else "mean of rows",),
        (PROOF,),
    )


def _metric(domain: Matrix, metric: VectorMetric | None, verb: str) -> VectorMetric:
    order = 1 if domain.norm is None else domain.norm.order
    wanted = metric or (L1() if order == 1 else L2())
    if ORDERS.get(type(wanted), 0) < order or getattr(wanted, "monotonic", False):
        raise BadArgument(f"the metric of {verb}()", f"L1, L2 or LInf, of at least the rows' order {order}", wanted)
    return wanted


Summed: TypeAlias = tuple[Reach, Fraction, Callable[[Array], Array]]


def _ball_sum(domain: Matrix, metric: VectorMetric) -> Summed | None:
    if domain.norm is None:
        return None
    ball = ball_on_grid(domain.norm)
    if domain.element != Integers(domain.element.between, ball.step):
        return None
    return ball_reach(domain.norm, metric), ball.step, lambda rows: ball_totals(rows, ball)


def _box_sum(domain: Matrix, metric: VectorMetric, verb: str) -> Summed:
    bounds = domain.element.between
    if bounds is None:
        raise UnboundedColumn(verb)
    grid = row_grid(domain.element, verb)

    def totals(rows: Array) -> Array:
        parts = [exact_total(grid.offsets(part), most=grid.span) + len(part) * grid.low for part in rows.T]
        return collect(parts, Integers())

    return box_reach(bounds, domain.columns, metric), grid.step, totals


def ball_totals(rows: Array, ball: Ball) -> Array:
    """Adds up rows on the grid of a ball, column by column, without overflow."""
    most = 2 * ball.radius
    totals = []
    for part, origin in zip(rows.T, ball.origin, strict=True):
        lifted = np.asarray(part - (origin - ball.radius))
        totals.append(exact_total(lifted, most=most) + len(part) * (origin - ball.radius))
    return collect(totals, Integers())
