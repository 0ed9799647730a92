"""Variance and standard deviation of a public number of values."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from sfumato.core.domains import Data, Integers, Matrix, Vector
from sfumato.core.metrics import L2, Absolute, DatasetMetric, LInf, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, UnknownSize
from sfumato.exact import Distance, integer, power_of_two, root
from sfumato.guarantee import guarantee
from sfumato.transforms.aggregate import bounds_of
from sfumato.transforms.distances import ceil_to, exchanged_rows, times
from sfumato.transforms.grids import FINENESS, RowGrid, exact_square_total, exact_total, row_grid
from sfumato.transforms.histogram import read_norm
from sfumato.transforms.rows import as_rows, column_space, row_space
from sfumato.transforms.rowwise import collect

SQUARE_FINENESS = 30
"""Floats are put on a grid of about 2⁻³⁰ of their width before squaring: squares then have 60 bits."""


@guarantee(
    claim="(U - L)² k (N - k) / (N (N - ddof)) with k = min(exchanged rows, floor(N / 2)); reached",
    proof="proofs/variance.md#variance",
    reviewed="d6cf3b0ef346",
)
def variance_map(d_in: Distance, *, width: Fraction, metric: DatasetMetric, size: int, ddof: int) -> Fraction:
    """How far the variance of a public number of values can move."""
    moved = min(exchanged_rows(d_in, metric=metric, size=size), Fraction(size // 2))
    return width**2 * moved * (size - moved) / (size * (size - ddof))


@guarantee(
    claim="the square root of how far the variance can move; reached",
    proof="proofs/variance.md#deviation",
    reviewed="5d24775c0d18",
)
def deviation_map(d_in: Distance, *, width: Fraction, metric: DatasetMetric, size: int, ddof: int) -> Distance:
    """How far the standard deviation of a public number of values can move."""
    return root(variance_map(d_in, width=width, metric=metric, size=size, ddof=ddof))


@constructor
def variance(*, ddof: int = 1) -> Partial[Transformation]:
    """The variance of a column, exactly: the squared distances to the mean, divided by N - ddof; see vector_variance.

    Takes:      numbers within bounds (clamp first) with a public size of at least 1 + ddof
    Gives:      the exact variance
    Guarantee:  d_out = (U - L)² k (N - k) / (N (N - ddof)), k = min(exchanged rows, floor(N / 2)); for one row and
                ddof = 1 that is (U - L)² / N  (proofs/variance.md#variance)
    Cost:       one pass over squares; nothing is rounded but floats, row by row, to a grid

    >>> from sfumato.core.space import vector
    >>> (vector(float, between=(0, 10), size=100) >> variance()).map(1)
    Fraction(1, 1)
    """
    ddof = _read_ddof(ddof)

    def build(space: Space) -> Transformation:
        if isinstance(space.domain, Matrix):
            return vector_variance(ddof=ddof).build(space)
        domain, metric, grid, size = _sized_numbers(space, "variance", ddof)
        step = grid.step**2 / (size * (size - ddof))
        width = bounds_of(domain).width
        return Transformation(
            space,
            Space(Integers(None, step), Absolute()),
            lambda data, _: spread(data, grid),
            lambda d_in: variance_map(d_in, width=width, metric=metric, size=size, ddof=ddof),
            (f"variance (divided by N - {ddof})",),
            ("proofs/variance.md#variance",),
        )

    return Partial(f"variance(ddof={ddof})", build)


@guarantee(
    claim="each of n columns moves as one alone, all at once: in L1 n, in L2 √n, in L∞ 1 times the map of one column; "
    "reached",
    proof="proofs/variance.md#columns",
    reviewed="f3b0145cee97",
)
def columns_map(one: Distance, *, columns: int, metric: VectorMetric) -> Distance:
    """How far the variances of so many columns can move together."""
    if isinstance(metric, LInf):
        return one
    return times(one, root(Fraction(columns)) if isinstance(metric, L2) else columns)


@constructor
def vector_variance(*, ddof: int = 1, metric: VectorMetric | None = None) -> Partial[Transformation]:
    """The variance of each column of a matrix, exactly.

    Takes:      rows with bounded entries (clamp first) and a public size of at least 1 + ddof
    Gives:      one exact variance a column, under the L1 distance, or L2 or L∞ where asked
    Guarantee:  what the variance of one column moves by, times n in L1, √n in L2, 1 in L∞  (proofs/variance.md#columns)
    Cost:       one pass over squares

    >>> from sfumato.core.space import matrix
    >>> (matrix(4, between=(0, 10), size=100) >> vector_variance()).map(1)
    Fraction(4, 1)
    """
    ddof, norm = _read_ddof(ddof), read_norm(metric, "vector_variance")

    def build(space: Space) -> Transformation:
        domain, rows = row_space(space, "vector_variance")
        if not isinstance(domain, Matrix):
            raise BadArgument("what vector_variance() works on", "a matrix", str(space))
        grid = row_grid(domain.element, "vector_variance", fineness=SQUARE_FINENESS)
        size, width = _known_size(domain.size, "vector_variance", ddof), bounds_of(Vector(domain.element)).width

        def stability_map(d_in: Distance) -> Distance:
            one = variance_map(d_in, width=width, metric=rows, size=size, ddof=ddof)
            return columns_map(one, columns=domain.columns, metric=norm)

        return Transformation(
            space,
            Space(Vector(Integers(None, grid.step**2 / (size * (size - ddof))), domain.columns), norm),
            lambda data, _: collect([spread(part, grid) for part in as_rows(data, domain).T], Integers()),
            stability_map,
            (f"variance of each column (divided by N - {ddof})",),
            ("proofs/variance.md#columns",),
        )

    return Partial(f"vector_variance(ddof={ddof})", build)


@constructor
def standard_deviation(*, ddof: int = 1) -> Partial[Transformation]:
    """The standard deviation of a column, rounded down to a fine power-of-two grid.

    Takes:      numbers within bounds (clamp first) with a public size of at least 1 + ddof
    Gives:      the square root of the variance, on a fine grid
    Guarantee:  d_out = √(how far the variance can move), rounded up to a step  (proofs/variance.md#deviation)
    Cost:       one pass over squares and one exact integer square root

    >>> from sfumato.core.space import vector
    >>> (vector(float, between=(0, 10), size=100) >> standard_deviation()).map(1)
    Fraction(1, 1)
    """
    ddof = _read_ddof(ddof)

    def build(space: Space) -> Transformation:
        domain, metric, grid, size = _sized_numbers(space, "standard_deviation", ddof)
        width = bounds_of(domain).width
        step = power_of_two(width or Fraction(1)) / 2**FINENESS
        return Transformation(
            space,
            Space(Integers(None, step), Absolute()),
            _rooted(grid, size * (size - ddof), step),
            lambda d_in: ceil_to(deviation_map(d_in, width=width, metric=metric, size=size, ddof=ddof), step),
            (f"standard deviation (divided by N - {ddof})",),
            ("proofs/variance.md#deviation", "proofs/grids.md#rounded"),
        )

    return Partial(f"standard_deviation(ddof={ddof})", build)


def _rooted(grid: RowGrid, divisor: int, step: Fraction) -> Callable[[Data, object], int]:
    ratio = grid.step**2 / (divisor * step**2)
    return lambda data, _: math.isqrt(math.floor(spread(data, grid) * ratio))


def spread(data: Data, grid: RowGrid) -> int:
    """N Σx² - (Σx)² in squared steps, exactly; adding a constant to all values does not change it."""
    offsets = grid.offsets(data)
    total = exact_total(offsets, most=grid.span)
    return len(offsets) * exact_square_total(offsets, most=grid.span) - total**2


def _sized_numbers(space: Space, verb: str, ddof: int) -> tuple[Vector, DatasetMetric, RowGrid, int]:
    domain, metric = column_space(space, verb)
    grid = row_grid(domain.element, verb, fineness=SQUARE_FINENESS)
    return domain, metric, grid, _known_size(domain.size, verb, ddof)


def _known_size(size: int | None, verb: str, ddof: int) -> int:
    if size is None:
        raise UnknownSize(verb, "Fix the number of rows with resize(size, constant), or declare a public size=….")
    if size <= ddof:
        raise BadArgument("size", f"more than ddof = {ddof} for {verb}()", size)
    return size


def _read_ddof(ddof: int) -> int:
    read = integer(ddof, "ddof", least=0)
    if read > 1:
        raise BadArgument("ddof", "0 or 1", ddof)
    return read
