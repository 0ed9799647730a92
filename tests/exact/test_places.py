"""Reports of places: the whole law against the claim, with balls, over all pairs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import ReplayEntropy
from sfumato.exact import ball, precision
from sfumato.local.metric_responses import metric_response
from sfumato.local.place_maps import cell_law
from sfumato.local.place_reports import places
from sfumato.noise.exponential_tables import exponential_law
from sfumato.noise.lattice_sums import by_points, by_zeta, lattice_sums
from sfumato.noise.planar_laplace import PlanarLaplace, kept, octant_law, placed, placed_many

pytestmark = pytest.mark.sharp_balls

TINY = 1e-20


def test_octants_and_two_numbers_are_the_points_of_the_plane() -> None:
    reach = 6
    numbers = [(o, g, h) for o in range(1, 9) for g in range(reach) for h in range(reach - g)]
    points = [placed(*each) for each in numbers]
    square = set(itertools.product(range(-reach, reach + 1), repeat=2)) - {(0, 0)}
    assert len(points) == len(square) and set(points) == square
    assert all(max(map(abs, point)) == 1 + g + h for point, (_, g, h) in zip(points, numbers, strict=True))
    columns = [np.array(column) for column in zip(*numbers, strict=True)]
    assert [tuple(row) for row in placed_many(*columns).tolist()] == points


@pytest.mark.parametrize("rate", ["1/10", "1", "7/2"])
def test_proposal_times_coin_is_the_law(rate: str) -> None:
    """What a round keeps, over what all rounds keep, for every point of a window."""
    noise, ratio = PlanarLaplace(Fraction(rate)), ball(-Fraction(rate)).exp()
    law = octant_law(noise.rate)
    masses = [law.mass_below(index + 1) - law.mass_below(index) for index in range(9)]
    accepted = lattice_sums(noise.rate, 128).weight * masses[0]
    for octant, g, h in itertools.product(range(1, 9), range(5), range(5)):
        x, y = placed(octant, g, h)
        far, near = max(abs(x), abs(y)), min(abs(x), abs(y))
        proposed = masses[octant] * (1 - ratio) ** 2 * ratio ** (g + h)
        coin = (-ball(noise.rate) * (arb(far**2 + near**2).sqrt() - far)).exp()
        assert abs(proposed * coin / accepted - noise.pmf(x, y)) < TINY
    assert abs(masses[0] / accepted - noise.pmf(0, 0)) < TINY


def test_the_coin_turns_where_its_chance_is() -> None:
    for far, near in [(1, 1), (4, 3), (12, 5), (10**12, 10**12)]:
        rate = Fraction(1, far)
        with precision(256):
            chance = (-ball(rate) * (arb(far**2 + near**2).sqrt() - far)).exp()
            edge = int((chance * 2**53).floor().unique_fmpz())
        assert kept(rate, far, near, edge - 1, ReplayEntropy(1))
        assert not kept(rate, far, near, edge + 1, ReplayEntropy(1))


@pytest.mark.parametrize("rate", ["1", "3/2", "2"])
def test_the_sums_agree_where_both_ways_hold(rate: str) -> None:
    one, other = by_points(Fraction(rate)), by_zeta(Fraction(rate))
    for first, second in ((one.weight, other.weight), (one.moment, other.moment)):
        assert first.overlaps(second) and abs(first - second) < 1e-30


def test_the_sums_against_a_plain_sum() -> None:
    for rate in (0.2, 5.0):
        points = np.hypot(*np.meshgrid(np.arange(-300, 301), np.arange(-300, 301)))
        sums = lattice_sums(Fraction(rate), 128)
        weights = np.exp(-rate * points)
        assert float(sums.weight) == pytest.approx(weights.sum(), rel=1e-12)
        assert float(sums.moment) == pytest.approx((points * weights).sum(), rel=1e-12)
    outside = float(weights[np.maximum(*np.abs(np.meshgrid(np.arange(-300, 301), np.arange(-300, 301)))) > 2].sum())
    bound = float(PlanarLaplace(Fraction(5)).outside(2)) * float(sums.weight)
    assert outside <= bound <= 4 * outside


def clamped_masses(noise: PlanarLaplace, cell: tuple[int, int], size: tuple[int, int], window: int) -> list[list[arb]]:
    """The law of a report in a region: all noise in a window, moved to the region; the rest widens each ball."""
    masses = [[arb(0)] * size[1] for _ in range(size[0])]
    for x, y in itertools.product(range(-window, window + 1), repeat=2):
        i, j = min(max(cell[0] + x, 0), size[0] - 1), min(max(cell[1] + y, 0), size[1] - 1)
        masses[i][j] += noise.pmf(x, y)
    rest = arb(0, noise.outside(window).upper())
    return [[mass + rest for mass in row] for row in masses]


def test_no_pair_of_cells_loses_more_than_is_claimed() -> None:
    """Without a region the ratio is reached, by reports on the line behind a cell; with one it is not passed."""
    protocol = places(step=10, epsilon="0.1", region=((0, 0), (30, 20)))
    noise, size = protocol.noise, (3, 2)
    assert protocol.grid.size == size
    cells = list(itertools.product(range(3), range(2)))
    laws = {cell: clamped_masses(noise, cell, size, 40) for cell in cells}
    for one, other in itertools.permutations(cells, 2):
        claim = protocol.loss_between(protocol.grid.centre(one), protocol.grid.centre(other)).epsilon
        ways = [Fraction(10 * (a - b)) for a, b in zip(one, other, strict=True)]
        assert float(claim) == pytest.approx(0.1 * math.hypot(*map(float, ways)), rel=1e-12)
        worst = max(float((laws[one][i][j] / laws[other][i][j]).log().upper()) for i, j in cells)
        assert worst <= float(claim) + 1e-12
        free = noise.pmf(0, 0) / noise.pmf(one[0] - other[0], one[1] - other[1])
        assert abs(free.log() - ball(Fraction(claim))) < TINY
        window = itertools.product(range(-4, 7), range(-4, 6))
        ratios = [noise.pmf(x - one[0], y - one[1]) / noise.pmf(x - other[0], y - other[1]) for x, y in window]
        assert all((ratio.log() - ball(Fraction(claim))).lower() < TINY for ratio in ratios)
    matrix = cell_law(noise.rate, size)
    for row, cell in enumerate(cells):
        exact = [float(laws[cell][i][j].mid()) for i, j in cells]
        assert matrix[row] == pytest.approx(exact, rel=1e-9)


def test_a_law_that_is_cut_off_at_the_border_would_break_the_claim() -> None:
    """Normalising anew inside the region makes the normaliser depend on the place."""
    noise = PlanarLaplace(Fraction(1))
    inside = [sum((noise.pmf(x - cell, 0) for x in range(4)), arb(0)) for cell in (0, 1)]
    broken = (noise.pmf(0, 0) / inside[0]) / (noise.pmf(1, 0) / inside[1])
    assert broken.log() > 1.1


@pytest.mark.parametrize("earth", [False, True])
def test_places_lose_at_most_what_is_claimed_for_their_distance(earth: bool) -> None:
    region = ((-60, 10), (-59, 12)) if earth else ((-3, 2), (17, 30))
    protocol = places(step=5000 if earth else 3, epsilon="0.25", region=region, earth=earth)
    rng, worst = np.random.default_rng(1), 0.0
    low, high = np.array(region, dtype=float)
    for _ in range(300):
        one, other = low + rng.random((2, 2)) * (high - low)
        if earth:
            lat, lon = np.radians(one), np.radians(other)
            sine = math.sin((lat[0] - lon[0]) / 2) ** 2
            sine += math.cos(lat[0]) * math.cos(lon[0]) * math.sin((lat[1] - lon[1]) / 2) ** 2
            way = 2 * 6_335_439 * math.asin(math.sqrt(sine))  # no two places are nearer on the ellipsoid
        else:
            way = math.dist(one, other)
        exact, claim = protocol.loss_between(one, other).epsilon, protocol.loss(way).epsilon
        assert exact <= claim <= protocol.loss().epsilon
        worst = max(worst, float(exact) / float(claim))
    assert worst > 0.8


def test_the_stretch_of_the_map_is_needed() -> None:
    wide = places(step=1, epsilon=1, region=((59, 0), (61, 1)), earth=True).grid
    here, there = math.cos(math.radians(60)), math.cos(math.radians(61))
    assert here / there < float(wide.stretch) < 1.02 * here / there


def test_metric_response_over_all_triples() -> None:
    values = [(0, 0), (3, 0), (3, 4), (7, 1), (-2, 5)]
    response = metric_response(values, distance=lambda a, b: abs(a[0] - b[0]) + abs(a[1] - b[1]), epsilon="0.3")
    laws = []
    for row in response.distances:
        law = exponential_law([-response.epsilon * way / 2 for way in row])
        laws.append([law.mass_below(k + 1) - law.mass_below(k) for k in range(5)])
    assert np.array([[float(mass) for mass in law] for law in laws]) == pytest.approx(response.law(), rel=1e-12)
    shares = []
    for x, y, z in itertools.product(range(5), repeat=3):
        claim = response.loss(values[x], values[y])
        assert claim == Pure(Fraction(3, 10) * response.distances[x][y]), "the triangle inequality holds"
        assert (laws[x][z] / laws[y][z]).log() <= ball(Fraction(claim.epsilon)) + TINY
        if x != y:
            shares.append(float((laws[x][z] / laws[y][z]).log()) / float(claim.epsilon))
    assert 0.5 < max(shares) < 1


def test_distances_without_a_triangle_inequality_are_charged_for_what_they_break() -> None:
    bent = metric_response("abc", distance=[[0, 1, 9], [1, 0, 1], [9, 1, 0]], epsilon=1)
    assert bent.loss("a", "b") == Pure(8) and bent.loss("a", "c") == Pure(9) and bent.loss("a", "a") == Pure(0)
    chances = bent.law()
    assert np.log(chances[1, 2] / chances[0, 2]) > 1
