"""Rows spread over a few bins, in shares: counts that know the sums of powers, and move no further than one count."""

from __future__ import annotations

from fractions import Fraction

from sfumato.core.domains import Array, Data, Integers, Vector
from sfumato.core.metrics import DatasetMetric, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance, integer
from sfumato.guarantee import guarantee
from sfumato.transforms.grids import FINENESS, RowGrid, exact_square_total, exact_total, row_grid
from sfumato.transforms.histogram import count_by_map, read_norm
from sfumato.transforms.moments import SQUARE_FINENESS
from sfumato.transforms.rows import column_space
from sfumato.transforms.rowwise import collect

FINE = {1: FINENESS, 2: SQUARE_FINENESS}
"""How fine the grid of floats is, by the degree: the shares of a row are that often multiplied."""


@guarantee(
    claim="shares are ≥ 0 and make up 1 for each row, so they move as counts of disjoint bins do, in every norm",
    proof="proofs/bernstein.md#map",
    reviewed="6f42f796127b",
)
def shares_map(d_in: Distance, *, norm: VectorMetric, metric: DatasetMetric, size: int | None, degree: int) -> Distance:
    """How far the sums of the shares of all rows can move."""
    return count_by_map(d_in, norm=norm, metric=metric, size=size, bins=degree + 1)


@constructor
def bernstein_counts(degree: int, *, metric: VectorMetric | None = None) -> Partial[Transformation]:
    """Spreads every row over degree + 1 bins, by Bernstein's polynomials of where it lies between its bounds.

    A row at the share t of the way from the lower bound to the upper adds 1 − t and t to the bins at degree 1, and
    (1 − t)², 2t(1 − t), t² at degree 2. The number of rows, their sum and their sum of squares are weighted sums of the
    bins: noise of scale 1/ε on each pays for all of them, where a count, a sum and a sum of squares would pay thrice.

    Takes:      numbers within bounds that are apart (clamp first), under any distance that counts rows; degree 1 or 2
    Gives:      a vector of degree + 1 exact numbers under the L1 distance, or L2 or L∞ where asked
    Guarantee:  that of count_by: d_out = d_in from add/remove, in every norm  (proofs/bernstein.md#map)
    Cost:       one pass

    >>> from sfumato.core.space import vector
    >>> halves = vector(float, between=(0, 100)) >> bernstein_counts(1)
    >>> halves.map(1), [round(float(share), 9) for share in halves([0.0, 25.0])]
    (Fraction(1, 1), [1.75, 0.25])
    """
    power, norm = integer(degree, "degree", least=1), read_norm(metric, "bernstein_counts")
    if power not in FINE:
        raise BadArgument("degree", "1 (number and sum) or 2 (and the sum of squares)", degree)

    def build(space: Space) -> Transformation:
        domain, rows = column_space(space, "bernstein_counts")
        grid = row_grid(domain.element, "bernstein_counts", fineness=FINE[power])
        if grid.span == 0:
            raise BadArgument("bounds", "apart: between equal ones there is nothing to find out", str(domain.element))
        return Transformation(
            space,
            Space(Vector(Integers(None, Fraction(1, grid.span**power)), power + 1), norm),
            lambda data, _: shares(data, grid, power),
            lambda d_in: shares_map(d_in, norm=norm, metric=rows, size=domain.size, degree=power),
            (f"share every row among {power + 1} bins",),
            ("proofs/bernstein.md#map",),
        )

    return Partial(f"bernstein_counts({degree})", build)


@guarantee(
    claim="the sums over all rows of C(n, k) oᵏ (span − o)ⁿ⁻ᵏ, k = 0 … n, for offsets o in 0 … span and n = 1 or 2",
    proof="proofs/bernstein.md#exact",
    reviewed="37bd5c311261",
)
def shares(data: Data, grid: RowGrid, degree: int) -> Array:
    """Adds up the shares of all rows, in whole numbers of span to minus the degree."""
    offsets, span = grid.offsets(data), grid.span
    total, rows = exact_total(offsets, most=span), len(offsets)
    if degree == 1:
        return collect([rows * span - total, total], Integers())
    squares = exact_square_total(offsets, most=span)
    middle = 2 * (span * total - squares)
    return collect([rows * span**2 - middle - squares, middle, squares], Integers())
