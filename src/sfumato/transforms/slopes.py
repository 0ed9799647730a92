"""Slopes between random pairs of rows: what Theil and Sen's regression takes the median of, each row in few of them."""

from __future__ import annotations

import math

import numpy as np

from sfumato.core.domains import Array, Bounds, Data, Floats, Matrix, Vector, float_bounds
from sfumato.core.metrics import DatasetMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance, Number, integer, rational_up
from sfumato.guarantee import guarantee
from sfumato.noise.uniform import permutation
from sfumato.transforms.distances import exchanged_rows
from sfumato.transforms.rows import as_rows, row_space, unsized


@guarantee(
    claim="of k random matchings: d rows added or removed move k * ceil(3 d / 2) slopes in and out; e rows exchanged, "
    "where the number of rows is public, 2 k e",
    proof="proofs/theil_sen.md#map",
    reviewed="3a6b8fff5b5b",
)
def slopes_map(d_in: Distance, *, matchings: int, metric: DatasetMetric, size: int | None) -> Distance:
    """The most slopes that are added and removed, for some way to draw the matchings of both sides together."""
    rows = rational_up(d_in) if size is None else exchanged_rows(d_in, metric=metric, size=size)
    if rows == math.inf:
        return math.inf
    moved = math.floor(rows)
    return matchings * (moved - (-moved // 2) if size is None else 2 * moved)


@constructor
def pair_slopes(*, between: tuple[Number, Number], matchings: int = 1) -> Partial[Transformation]:
    """Pairs rows of (x, y) at random, in secret, and gives the slope of each pair; the same again for every matching.

    A row is in one pair of each matching, or in none: of an odd number one stays over. Slopes are moved into the
    bounds, those of pairs with one x to the upper or the lower; a pair of equal points has no slope, and none counts.

    Takes:      a matrix of floats with two columns, under any distance that counts rows; public bounds of slopes
    Gives:      a column of slopes, half as many as rows for each matching, under the add/remove distance
    Guarantee:  k matchings: 2 k for a row added or removed, k ⌈3d/2⌉ for d of them; 2 k for each exchanged where the
                number of rows is public  (proofs/theil_sen.md#map)
    Cost:       one shuffle of the rows a matching

    >>> from sfumato.core.space import matrix
    >>> made = matrix(2) >> pair_slopes(between=(-10, 10), matchings=3)
    >>> made.map(1), made.map(2), (matrix(2, size=100) >> pair_slopes(between=(-10, 10))).map(1)
    (Fraction(6, 1), Fraction(9, 1), Fraction(2, 1))
    """
    bounds, times = Bounds.read(between), integer(matchings, "matchings", least=1)

    def build(space: Space) -> Transformation:
        domain, metric = row_space(space, "pair_slopes")
        if not isinstance(domain, Matrix) or not isinstance(domain.element, Floats) or domain.columns != 2:
            raise BadArgument("what pair_slopes() works on", "a matrix of two columns of floats, x and y", str(space))

        def run(data: Data, entropy: Entropy) -> Array:
            rows = as_rows(data, domain)
            drawn = [slopes_between(rows, permutation(len(rows), entropy=entropy), bounds) for _ in range(times)]
            return np.concatenate(drawn)

        return Transformation(
            space,
            unsized(Vector(Floats(bounds))),
            run,
            lambda d_in: slopes_map(d_in, matchings=times, metric=metric, size=domain.size),
            (f"slopes of random pairs, {times} times",),
            ("proofs/theil_sen.md#map",),
            randomized=True,
        )

    return Partial(f"pair_slopes({bounds}, matchings={times})", build)


@guarantee(
    claim="one slope within the bounds, or none, of each pair of rows that follow each other in the order, a function "
    "of that pair alone; of an odd number the last row is in no pair",
    proof="proofs/theil_sen.md#slopes",
    reviewed="200978a32cc9",
)
def slopes_between(rows: Array, order: Array, bounds: Bounds) -> Array:
    """The slopes of the pairs that an order makes: its first half with its second."""
    half = len(order) // 2
    with np.errstate(all="ignore"):
        run, rise = (rows[order[half : 2 * half]] - rows[order[:half]]).T
        # A run of 0 has no sign of its own: that of the rise decides, and 0/0 is no slope.
        slopes = np.where(run == 0, np.copysign(np.where(rise == 0, np.nan, np.inf), rise), rise / run)
    return np.asarray(np.clip(slopes[~np.isnan(slopes)], *float_bounds(bounds)))
