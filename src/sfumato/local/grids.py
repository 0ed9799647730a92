"""Cells over the ground: where a place lies on a public grid, in the plane or on the Earth.

Coordinates are two numbers. In the plane they are metres. On the Earth they are latitude and longitude in degrees, and
a grid has square cells on the flat map whose middle parallel is true; how much longer a way can be on the map than on
the ground is a number of the grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import BadArgument, elements
from sfumato.exact import Distance, Number, ball, lower, positive, rational, root, up, upper
from sfumato.guarantee import guarantee

Place: TypeAlias = Sequence[Number]
"""Two coordinates."""

Region: TypeAlias = tuple[Place, Place]
"""Two opposite corners of a rectangle: the one with the lower coordinates first."""

DEGREE = Fraction(111_195)
"""Metres on the map for a degree of latitude."""

EQUATOR, FLATTENING = Fraction(6_378_137), 1 / Fraction("298.257223563")
"""The Earth as WGS 84 has it: metres, and how flat it is."""

PARALLEL_DIGITS = 10**9
FARTHEST = 1 << 40
"""A place may lie so many cells from the origin of a grid without a region; and a region may be as long."""

MOST_LISTED = 1 << 24
"""A list of all cells has at most so many."""

TURN = Fraction(360)
"""Longitudes that differ by so many degrees are the same."""

CLOSE = 2.0**-48
"""A place that is so near a border of its cell, relatively, is put into a cell with rationals."""


@final
@dataclass(frozen=True)
class Grid:
    """Square cells with sides of ``step`` metres; cell (0, 0) begins at the origin.

    ``units`` are the metres of a unit of each coordinate on the map, ``size`` is how many cells there are along each
    (None: no end), and a way on the map is at most ``stretch`` times as long as on the ground. Where ``turn`` is given,
    second coordinates that differ by it are the same, and are read where they are nearest to the middle of the region.
    """

    step: Fraction
    origin: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    units: tuple[Fraction, Fraction] = (Fraction(1), Fraction(1))
    size: tuple[int, int] | None = None
    stretch: Fraction = Fraction(1)
    turn: Fraction | None = None

    @guarantee(
        claim="the cell that holds the place, or the nearest cell of the region where it is outside",
        proof="proofs/places.md#snapping",
        reviewed="5e6e67ab4353",
    )
    def cell(self, place: Place) -> tuple[int, int]:
        """Finds the cell of one place, with rationals."""
        first, second = (self._cell_along(axis, value) for axis, value in enumerate(_two(place)))
        return first, second

    def _cell_along(self, axis: int, value: Number) -> int:
        with elements():
            read = rational(value, "place")
        if axis == 1 and self.turn is not None:
            read -= self.turn * math.floor((read - self._middle) / self.turn + Fraction(1, 2))
        whole = math.floor((read - self.origin[axis]) * self.units[axis] / self.step)
        if self.size is not None:
            return min(max(whole, 0), self.size[axis] - 1)
        if abs(whole) > FARTHEST:
            raise BadArgument("place", "within 2^40 cells of the origin, or in a grid with a region", "one farther")
        return whole

    @property
    def _middle(self) -> Fraction:
        """The second coordinate of the middle of the region."""
        return self.origin[1] + self.bounded()[1] * self.step / self.units[1] / 2

    @guarantee(claim="each row is `cell` of its place", proof="proofs/places.md#snapping", reviewed="12b715970fda")
    def cells(self, places: ArrayLike) -> NDArray[np.int64]:
        """Finds the cells of many places, one a row; floats decide where they are sure, and rationals elsewhere."""
        points = _table(places)
        result = np.empty(points.shape, dtype=np.int64)
        for axis in range(2):
            factor, origin = up(self.units[axis] / self.step), up(self.origin[axis])
            with np.errstate(over="ignore", invalid="ignore"):
                along = (points[:, axis] - origin) * factor
                doubt = ((np.abs(points[:, axis]) + abs(origin)) * factor + 1) * CLOSE
                unsure = ~(np.abs(along - np.rint(along)) > doubt) | (np.abs(along) > FARTHEST)
                if axis == 1 and self.turn is not None:
                    unsure |= ~(np.abs(points[:, 1] - float(self._middle)) < float(self.turn) / 2 * (1 - 2.0**-40))
            result[:, axis] = np.floor(np.where(unsure, 0, along))
            values, back = np.unique(points[unsure, axis], return_inverse=True)
            exact = np.array([self._cell_along(axis, value) for value in values.tolist()], dtype=np.int64)
            result[unsure, axis] = exact[back] if len(exact) else 0
        return self.clamped(result)

    def clamped(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Moves cells outside the region to the nearest one inside."""
        return cells if self.size is None else np.clip(cells, 0, np.array(self.size) - 1)

    def centre(self, cell: tuple[int, int]) -> tuple[float, float]:
        """The middle of a cell, in the coordinates of places."""
        first, second = (
            float(self.origin[axis] + (cell[axis] + Fraction(1, 2)) * self.step / self.units[axis]) for axis in range(2)
        )
        return first, second

    def centres(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """The middles of many cells, one a row."""
        sides = np.array([float(self.step / unit) for unit in self.units])
        middles: NDArray[np.float64] = np.array([float(part) for part in self.origin]) + (cells + 0.5) * sides
        return middles

    def every_cell(self) -> NDArray[np.int64]:
        """Lists the cells of the region, one a row: cell number i × columns + j is (i, j)."""
        rows, columns = self.bounded()
        if rows * columns > MOST_LISTED:
            raise BadArgument("region", f"of at most {MOST_LISTED} cells where all are listed", rows * columns)
        return np.stack(np.divmod(np.arange(rows * columns), columns), axis=1)

    def bounded(self) -> tuple[int, int]:
        """How many cells there are along each coordinate; a grid without a region is refused."""
        if self.size is None:
            raise BadArgument("region", "given where all cells are listed", None)
        return self.size

    @property
    def diameter(self) -> Distance:
        """The longest way between two middles of cells, in metres on the map."""
        if self.size is None:
            return math.inf
        return root(self.step**2 * sum((length - 1) ** 2 for length in self.size))


def plane_grid(*, step: Number, region: Region | None) -> Grid:
    """Lays cells over a rectangle in the plane, or over all of it; coordinates are metres."""
    side = positive(step, "step")
    if region is None:
        return Grid(side)
    low, high = _corners(region)
    return Grid(side, origin=low, size=_size(low, high, (Fraction(1), Fraction(1)), side))


def earth_grid(*, step: Number, region: Region) -> Grid:
    """Lays cells over a region of the Earth; coordinates are latitude and longitude in degrees."""
    side, (low, high) = positive(step, "step"), _corners(region)
    if not -89 <= low[0] < high[0] <= 89 or high[1] - low[1] > 180 or not -TURN <= low[1] < high[1] <= TURN:
        must = "((south, west), (north, east)) within 89° of the equator, 180° wide, with longitudes from -360 to 360"
        raise BadArgument("region", must, region)
    middle = (low[0] + high[0]) / 2
    parallel = Fraction(
        math.floor(Fraction(lower(lambda: ball(middle / 180).cos_pi())) * PARALLEL_DIGITS), PARALLEL_DIGITS
    )
    units = (DEGREE, DEGREE * parallel)
    return Grid(side, low, units, _size(low, high, units, side), earth_stretch(low, high, parallel=parallel), TURN)


@guarantee(
    claim="two places of the region are at most this times as far apart on the map as on the WGS 84 ellipsoid",
    proof="proofs/places.md#earth",
    reviewed="fc54b54ec265",
)
def earth_stretch(low: tuple[Fraction, Fraction], high: tuple[Fraction, Fraction], *, parallel: Fraction) -> Fraction:
    """Bounds how much longer a way is on the map than on the ground; ``parallel`` is the width of a degree there."""
    tall, wide = high[0] - low[0], high[1] - low[1]
    edge = max(abs(low[0]), abs(high[0]))
    least_radius = EQUATOR * (1 - FLATTENING) ** 2
    up_and_down = upper(lambda: 1 / ball(tall / 360).sinc_pi())
    sideways = upper(lambda: ball(parallel) / (ball(edge / 180).cos_pi() * ball(wide / 360).sinc_pi()))
    degree = lower(lambda: ball(least_radius / 45) * ball(1).atan())
    return DEGREE * max(Fraction(up_and_down), Fraction(sideways)) / Fraction(degree)


def _corners(region: Region) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    must = "two corners of a rectangle, the lower coordinates first: ((0, 0), (1000, 2000))"
    try:
        (a, b), (c, d) = region
    except (TypeError, ValueError):
        raise BadArgument("region", must, region) from None
    low, high = (rational(a, "region"), rational(b, "region")), (rational(c, "region"), rational(d, "region"))
    if not (low[0] < high[0] and low[1] < high[1]):
        raise BadArgument("region", must, region)
    return low, high


def _size(
    low: tuple[Fraction, Fraction], high: tuple[Fraction, Fraction], units: tuple[Fraction, Fraction], step: Fraction
) -> tuple[int, int]:
    first, second = (math.ceil((high[axis] - low[axis]) * units[axis] / step) for axis in range(2))
    if max(first, second) > FARTHEST:
        raise BadArgument("step", "larger: a region has at most 2^40 cells along each coordinate", step)
    return first, second


def _two(place: Place) -> tuple[Number, Number]:
    try:
        first, second = place
    except (TypeError, ValueError):
        raise BadArgument("place", "two numbers", place) from None
    return first, second


def _table(places: ArrayLike) -> NDArray[np.float64]:
    try:
        points = np.asarray(places, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.size == 0 and points.ndim == 1 and np.size(np.asarray(places, dtype=object)) == 0:
        points = points.reshape(0, 2)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise BadArgument("places", "finite numbers, two in each row", places)
    return points
