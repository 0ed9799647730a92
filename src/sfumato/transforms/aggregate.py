"""Counts, sums and means: from rows to one exact number."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sfumato.core.domains import Bounds, Data, Floats, Integers, Matrix, Vector, column
from sfumato.core.metrics import Absolute, AddRemove, DatasetMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.rows import records
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, UnknownSize
from sfumato.exact import Distance, rational_up
from sfumato.guarantee import guarantee
from sfumato.transforms.conditions import Condition, read_condition
from sfumato.transforms.distances import ceil_to, exchanged_rows, times
from sfumato.transforms.grids import RowGrid, exact_total, row_grid
from sfumato.transforms.rows import Rows, column_space, count_rows, each_column, row_space
from sfumato.transforms.vectors import vector_mean, vector_sum


@guarantee(
    claim="all rows: d_in, and 0 where the size is public; matching or distinct rows: d_in, and the exchanged rows "
    "where the size is public",
    proof="proofs/count.md#map",
    reviewed="f7cbb123e739",
)
def count_map(d_in: Distance, *, metric: DatasetMetric, size: int | None, all_rows: bool) -> Distance:
    """How far a count of rows can move between neighbours."""
    if size is None:
        return d_in
    return Fraction(0) if all_rows else exchanged_rows(d_in, metric=metric, size=size)


@constructor
def count(condition: Condition | None = None) -> Partial[Transformation]:
    """Counts the rows, or those that meet a condition.

    Takes:      rows under any distance that counts rows
    Gives:      a whole number under the absolute distance
    Guarantee:  d_out = d_in; 0 for all rows of a public size  (proofs/count.md#map)
    Cost:       none for all rows, one pass with a condition

    >>> from sfumato.core.space import vector
    >>> from sfumato.transforms.conditions import is_in
    >>> (vector(str) >> count()).map(2), (vector(str, size=5) >> count()).map(1)
    (Fraction(2, 1), Fraction(0, 1))
    >>> (vector(bool, size=5) >> count(is_in([True]))).map(1)
    Fraction(1, 1)
    """
    wanted = None if condition is None else read_condition(condition)
    text = "count rows" if wanted is None else f"count rows {wanted.text}"

    def build(space: Space) -> Transformation:
        domain, metric = row_space(space, "count")
        if wanted is not None:
            wanted.check(domain)

        def run(data: Data) -> int:
            return count_rows(data, domain) if wanted is None else int(wanted.test(data, domain).sum())

        return Transformation(
            space,
            Space(Integers(), Absolute()),
            lambda data, _: run(data),
            lambda d_in: count_map(d_in, metric=metric, size=domain.size, all_rows=wanted is None),
            (text,),
            ("proofs/count.md#map",),
            () if wanted is None else wanted.claims,
        )

    return Partial(f"count({'' if wanted is None else wanted.text})", build)


@constructor
def count_distinct() -> Partial[Transformation]:
    """Counts the different rows.

    Takes:      rows under any distance that counts rows; all NaN are alike
    Gives:      a whole number under the absolute distance
    Guarantee:  d_out = d_in  (proofs/count.md#map)
    Cost:       a hash or a sort of the rows

    >>> from sfumato.core.space import vector
    >>> (vector(str) >> count_distinct()).map(1)
    Fraction(1, 1)
    """

    def build(space: Space) -> Transformation:
        domain, metric = row_space(space, "count_distinct")
        return Transformation(
            space,
            Space(Integers(), Absolute()),
            lambda data, _: distinct_rows(data, domain),
            lambda d_in: count_map(d_in, metric=metric, size=domain.size, all_rows=False),
            ("count different rows",),
            ("proofs/count.md#map",),
        )

    return Partial("count_distinct()", build)


def distinct_rows(data: Data, domain: Rows) -> int:
    """Counts different rows, as the metrics tell rows apart."""
    if isinstance(domain, Vector) and isinstance(domain.element, Integers | Floats):
        values = column(data, domain.element)
        if values.dtype == np.float64:
            values = np.where(np.isnan(values), np.nan, values).view(np.int64)
        if values.dtype == np.int64:
            ranked = np.sort(values)
            return int(np.count_nonzero(ranked[1:] != ranked[:-1])) + bool(len(ranked))
    return len(records(each_column(data, domain, lambda values: values)))


@guarantee(
    claim="d_in · max(|L|, |U|); with a public size, exchanged rows · (U - L)",
    proof="proofs/sum.md#map",
    reviewed="b7c5f063b04b",
)
def sum_map(d_in: Distance, *, bounds: Bounds, metric: DatasetMetric, size: int | None) -> Distance:
    """How far a sum of values within bounds can move between neighbours."""
    if size is None:
        return times(d_in, bounds.magnitude)
    return times(exchanged_rows(d_in, metric=metric, size=size), bounds.width)


@constructor
def sum() -> Partial[Transformation]:
    """Adds up the values of a column, exactly; on a matrix, the rows (see vector_sum).

    Takes:      numbers within bounds (clamp first) under any distance that counts rows
    Gives:      their exact sum; floats are first put on a fine power-of-two grid, row by row
    Guarantee:  d_out = d_in max(|L|, |U|); with a public size, exchanged rows (U - L)  (proofs/sum.md#map)
    Cost:       one pass; never wraps, never rounds the total

    >>> from sfumato.core.space import vector
    >>> (vector(int, between=(90, 100)) >> sum()).map(4), (vector(int, between=(90, 100), size=100) >> sum()).map(2)
    (Fraction(400, 1), Fraction(20, 1))
    """

    def build(space: Space) -> Transformation:
        if isinstance(space.domain, Matrix):
            return vector_sum().build(space)
        domain, metric = column_space(space, "sum")
        grid, bounds = row_grid(domain.element, "sum"), bounds_of(domain)
        return Transformation(
            space,
            Space(Integers(_total_bounds(grid, domain.size), grid.step), Absolute()),
            lambda data, _: grid_total(data, grid),
            lambda d_in: sum_map(d_in, bounds=bounds, metric=metric, size=domain.size),
            ("sum",),
            ("proofs/sum.md#map",),
        )

    return Partial("sum()", build)


def bounds_of(domain: Vector) -> Bounds:
    """The bounds of a column of numbers; refuses a column without them."""
    element = domain.element
    if not isinstance(element, Floats | Integers) or element.between is None:
        raise BadArgument("the column", "numbers within bounds", str(domain))
    return element.between


def grid_total(data: Data, grid: RowGrid) -> int:
    """Adds up a column as whole numbers of steps."""
    offsets = grid.offsets(data)
    return exact_total(offsets, most=grid.span) + len(offsets) * grid.low


def _total_bounds(grid: RowGrid, size: int | None) -> Bounds | None:
    return None if size is None else Bounds(size * grid.low * grid.step, size * grid.high * grid.step)


@guarantee(
    claim="with a public size N: exchanged rows · (U - L) / N",
    proof="proofs/mean.md#known",
    reviewed="73a0bc1b95d1",
)
def mean_map(d_in: Distance, *, bounds: Bounds, metric: DatasetMetric, size: int) -> Distance:
    """How far the mean of a public number of values within bounds can move."""
    return times(exchanged_rows(d_in, metric=metric, size=size), bounds.width / size)


@guarantee(
    claim="with at least M >= 1 rows: (U - L) B / (M + B) for B = d_in <= M; beyond, (U - L) a / (a + max(M - b, 0)) "
    "with a = ceil(B / 2), b = floor(B / 2)",
    proof="proofs/mean.md#least",
    reviewed="d59ada2d95be",
)
def least_mean_map(d_in: Distance, *, bounds: Bounds, least: int) -> Fraction:
    """How far the mean of at least ``least`` values within bounds can move under add/remove."""
    rows = rational_up(d_in)
    if rows >= 2 * least:
        return bounds.width
    added, removed = (rows, Fraction(0)) if rows <= least else (math.ceil(rows / 2), math.floor(rows / 2))
    return bounds.width * Fraction(added) / (least + Fraction(added) - Fraction(removed))


@constructor
def mean() -> Partial[Transformation]:
    """Averages the values of a column, exactly; on a matrix, the rows (see vector_mean).

    Takes:      numbers within bounds (clamp first), with a public size, or under add/remove with a least number of rows
    Gives:      the mean: exact with a public size, else the nearest point of a fine power-of-two grid
    Guarantee:  exchanged rows (U - L) / N  (proofs/mean.md#known); with at least M rows, (U - L) d_in / (M + d_in)
                rounded up to a step, for d_in <= M  (proofs/mean.md#least)
    Cost:       one pass

    >>> from sfumato.core.space import vector
    >>> (vector(float, between=(0, 100), size=10) >> mean()).map(1)
    Fraction(10, 1)
    """

    def build(space: Space) -> Transformation:
        if isinstance(space.domain, Matrix):
            return vector_mean().build(space)
        domain, metric = column_space(space, "mean")
        grid = row_grid(domain.element, "mean")
        if domain.size is not None:
            return _known_mean(space, domain, metric, grid, domain.size)
        if domain.least < 1 or not isinstance(metric, AddRemove):
            raise UnknownSize(
                "mean",
                "Release sum() and count() and divide, or fix the number of rows with resize(size, constant), or "
                "declare a public size=… or least=… if every possible data set has it.",
            )
        return _least_mean(space, domain, grid)

    return Partial("mean()", build)


def _known_mean(space: Space, domain: Vector, metric: DatasetMetric, grid: RowGrid, size: int) -> Transformation:
    if size == 0:
        raise BadArgument("size", "at least 1 for mean(): no rows have no mean", size)
    bounds, step = bounds_of(domain), grid.step / size
    return Transformation(
        space,
        Space(Integers(Bounds(grid.low * grid.step, grid.high * grid.step), step), Absolute()),
        lambda data, _: grid_total(data, grid),
        lambda d_in: mean_map(d_in, bounds=bounds, metric=metric, size=size),
        ("mean",),
        ("proofs/mean.md#known",),
    )


def _least_mean(space: Space, domain: Vector, grid: RowGrid) -> Transformation:
    bounds, least = bounds_of(domain), domain.least
    fine = row_grid(Floats(bounds), "mean").step
    step = min(fine, grid.step)

    def run(data: Data) -> int:
        total, rows = grid_total(data, grid) * grid.step / step, len(data)
        return math.floor(total / rows + Fraction(1, 2))

    return Transformation(
        space,
        Space(Integers(None, step), Absolute()),
        lambda data, _: run(data),
        lambda d_in: ceil_to(least_mean_map(d_in, bounds=bounds, least=least), step),
        ("mean, rounded to a grid",),
        ("proofs/mean.md#least", "proofs/grids.md#rounded"),
    )
