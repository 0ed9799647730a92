"""Places reported with noise, so that near places look alike: privacy in proportion to distance.

Geo-indistinguishability: a report is at most e^(ε d) times as likely from one place as from another at a distance d.
Who is far away may be told apart, and a person's neighbourhood hides her. The place is put on a public grid, exact
planar Laplace noise moves it by whole cells, and what falls outside a public region comes back to its border.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, Several
from sfumato.exact import Number, decimal_of, enclose, integer, non_negative, positive, rational_up, root
from sfumato.guarantee import guarantee
from sfumato.local.grids import Grid, Place, Region, earth_grid, plane_grid
from sfumato.local.place_maps import PlaceDensity, PlaceRemap, cell_law, likeliest_density, remap_cells
from sfumato.noise.planar_laplace import PlanarLaplace

EPSILON_DIGITS = 12
"""An ε that is worked out from a loss keeps so many digits, rounded down."""


@final
@dataclass(frozen=True)
class Places:
    """Reports places with exact planar Laplace noise on a grid.

    Takes:      epsilon, the loss for each metre on the map; grid, the cells
    Guarantee:  a report is at most exp(ε d) times as likely from one cell as from another with middles d metres apart
                on the map (proofs/places.md#cells); `loss` says what follows for places
    Cost:       0.2 µs a place in arrays, some 45 µs for one

    >>> city = places(step=50, epsilon="0.005", region=((0, 0), (2000, 3000)))
    >>> city.loss(200)
    Pure(epsilon=1.3535533905932737…)
    """

    epsilon: Fraction
    grid: Grid

    @cached_property
    def noise(self) -> PlanarLaplace:
        """The noise, in cells."""
        return PlanarLaplace(self.epsilon * self.grid.step)

    def randomize(self, place: Place, *, entropy: Entropy | None = None) -> tuple[float, float]:
        """Reports one place: the middle of a cell that is probably near it."""
        source = entropy if entropy is not None else system()
        cell = self.grid.cell(place)
        x, y = self.noise.sample(source)
        return self.grid.centre(self._inside((cell[0] + x, cell[1] + y)))

    def randomize_many(self, places: ArrayLike, *, entropy: Entropy | None = None) -> NDArray[np.float64]:
        """Reports many places, each on its own, one a row."""
        source = entropy if entropy is not None else system()
        cells = self.grid.cells(places)
        moved = cells + self.noise.samples(len(cells), source)
        return self.grid.centres(self.grid.clamped(moved).astype(np.int64))

    def _inside(self, cell: tuple[int, int]) -> tuple[int, int]:
        if self.grid.size is None:
            return cell
        rows, columns = self.grid.size
        return min(max(cell[0], 0), rows - 1), min(max(cell[1], 0), columns - 1)

    @guarantee(
        claim="reports from two places at most this far apart on the ground (on the Earth: inside the region) lose at "
        "most ε (stretch d + √2 step) each; any two at most ε times the diameter of the grid, nothing at distance 0",
        proof="proofs/places.md#snapping",
        reviewed="7e5118d307b3",
    )
    def loss(self, distance: Number = math.inf, *, reports: int = 1) -> Pure:
        """What so many reports tell between places so many metres apart; infinity stands for any two of the region.

        On the Earth the distance counts only between places inside the region: two others that are close may be nearest
        to different borders of the map, and for them ``loss()`` is what holds.
        """
        times, longest = integer(reports, "reports", least=1), rational_up(self.grid.diameter)
        if distance == math.inf:
            return Pure(times * self.epsilon * longest)
        way = non_negative(distance, "distance")
        if way == 0:
            return Pure(0)
        return Pure(times * self.epsilon * min(self.grid.stretch * way + _snapping(self.grid.step), longest))

    @guarantee(
        claim="ε times the distance of the middles of their cells, for each report",
        proof="proofs/places.md#cells",
        reviewed="6cca3b3cf99e",
    )
    def loss_between(self, first: Place, second: Place, *, reports: int = 1) -> Pure:
        """What so many reports tell between two places, exactly: by the cells they lie in."""
        (a, b), (c, d) = self.grid.cell(first), self.grid.cell(second)
        way = rational_up(root(self.grid.step**2 * ((a - c) ** 2 + (b - d) ** 2)))
        return Pure(integer(reports, "reports", least=1) * self.epsilon * way)

    def mean_error(self) -> tuple[Fraction, Fraction]:
        """Certified bounds on the mean distance in metres on the map from the middle of one's cell to the report.

        Before anything falls outside the region: bringing it back only shortens the way. Where one stands in the cell
        adds at most step/√2.
        """
        low, high = enclose(self.noise.mean_length)
        return Fraction(low) * self.grid.step, Fraction(high) * self.grid.step

    def centres(self) -> NDArray[np.float64]:
        """The middles of all cells of the region, one a row, in the order in which cells are numbered."""
        return self.grid.centres(self.grid.every_cell())

    def law(self) -> NDArray[np.float64]:
        """The chance of each reported cell (column) from each true one (row), in floats; for up to 2500 cells."""
        return cell_law(self.noise.rate, self.grid.bounded())

    def density(self, reports: ArrayLike, *, rounds: int = 2000) -> PlaceDensity:
        """Estimates how many people there are in each cell: the likeliest counts, which add up to the reports."""
        law, most = self.law(), integer(rounds, "rounds", least=1)
        counts = np.bincount(self._numbers(reports), minlength=len(law))
        return likeliest_density(law, counts, rounds=most, shape=self.grid.bounded())

    def remap(self, prior: ArrayLike) -> PlaceRemap:
        """Finds the best guess for each reported cell, given public knowledge of where people are; costs nothing.

        ``prior`` has a weight for each cell of the region (rows × columns, or in the order of cells). It must be
        public: a prior made from the private places leaks them.
        """
        law = self.law()
        return remap_cells(law, prior, self.grid.every_cell().astype(np.float64) * float(self.grid.step))

    def remapped(self, reports: ArrayLike, *, remap: PlaceRemap) -> NDArray[np.float64]:
        """Moves reports to the best guesses, one a row."""
        if len(remap.table) != math.prod(self.grid.bounded()):
            raise BadArgument("remap", "of this grid", f"one of {len(remap.table)} cells")
        return self.centres()[remap.table[self._numbers(reports)]]

    def _numbers(self, reports: ArrayLike) -> NDArray[np.int64]:
        cells, (_, columns) = self.grid.cells(reports), self.grid.bounded()
        numbers: NDArray[np.int64] = cells[:, 0] * columns + cells[:, 1]
        return numbers


def places(
    *,
    step: Number,
    epsilon: Number | None = None,
    loss: Pure | None = None,
    within: Number | None = None,
    region: Region | None = None,
    earth: bool = False,
) -> Places:
    """Plans reports of places on a grid with cells of ``step`` metres.

    Say how much privacy either by ``epsilon`` for each metre on the map, or by a ``loss`` that two places ``within`` so
    many metres of each other may cost at most, all rounding included. ``region`` holds two corners, the lower
    coordinates first: metres in the plane, and latitude and longitude in degrees where ``earth`` is true (a region may
    cross the line where dates change: from 170 to 190). A place outside is treated as the nearest one inside, on the
    map. Without a region reports may lie anywhere.

    >>> places(step=50, loss=Pure(1), within=400).loss(400)
    Pure(epsilon=0.9999999999980405…)
    """
    if earth and region is None:
        raise BadArgument("region", "given on the Earth: ((south, west), (north, east)) in degrees", region)
    grid = (
        earth_grid(step=step, region=region) if earth and region is not None else plane_grid(step=step, region=region)
    )
    if epsilon is not None and loss is None and within is None:
        return _checked(Places(positive(epsilon, "epsilon"), grid))
    if epsilon is not None or loss is None or within is None:
        raise BadArgument("epsilon", "given alone, or else both loss and within", Several(epsilon, loss, within))
    if not isinstance(loss, Pure) or loss.epsilon == math.inf:
        raise BadArgument("loss", "a finite sf.Pure", loss)
    way = grid.stretch * positive(within, "within") + _snapping(grid.step)
    rate = decimal_of(positive(Fraction(loss.epsilon), "loss") / way, EPSILON_DIGITS, ROUND_FLOOR)
    return _checked(Places(Fraction(rate), grid))


def _checked(protocol: Places) -> Places:
    """Refuses at once a rate that the noise cannot have."""
    if protocol.noise.rate <= 0:
        raise BadArgument("epsilon", "greater than 0", protocol.epsilon)
    return protocol


def _snapping(step: Fraction) -> Fraction:
    """A rational not below √2 step: how much farther apart two places may be as middles of their cells."""
    return Fraction(rational_up(root(2 * step**2)))
