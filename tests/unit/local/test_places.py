"""Reports of places: what is refused, what is moved where, what they cost, and what is made of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local.metric_responses import metric_response
from sfumato.local.place_reports import places
from sfumato.noise.planar_laplace import PlanarLaplace

SQUARE = ((0, 0), (100, 100))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"step": 0, "epsilon": 1}, "step must be greater than 0; got 0."),
        ({"step": math.nan, "epsilon": 1}, "step must be finite; got nan."),
        ({"step": 1, "epsilon": 0}, "epsilon must be greater than 0; got 0."),
        ({"step": 1, "epsilon": math.inf}, "epsilon must be finite; got inf."),
        ({"step": 1, "epsilon": "1e-30"}, "rate must be at least 2^-40"),
        ({"step": 1}, "epsilon must be given alone, or else both loss and within; got (None, None, None)."),
        ({"step": 1, "epsilon": 1, "within": 5}, "epsilon must be given alone"),
        ({"step": 1, "loss": Pure(1)}, "epsilon must be given alone"),
        ({"step": 1, "loss": Approx(1, 0.1), "within": 5}, "loss must be a finite sf.Pure"),
        ({"step": 1, "loss": Pure(math.inf), "within": 5}, "loss must be a finite sf.Pure"),
        ({"step": 1, "loss": Pure(0), "within": 5}, "loss must be greater than 0"),
        ({"step": 1, "loss": Pure(1), "within": 0}, "within must be greater than 0; got 0."),
        ({"step": 1, "epsilon": 1, "region": ((0, 0), (0, 5))}, "region must be two corners of a rectangle"),
        ({"step": 1, "epsilon": 1, "region": 7}, "region must be two corners of a rectangle"),
        ({"step": "1e-12", "epsilon": 1, "region": SQUARE}, "step must be larger"),
        ({"step": 1, "epsilon": 1, "earth": True}, "region must be given on the Earth"),
        ({"step": 1, "epsilon": 1, "earth": True, "region": ((80, 0), (90, 5))}, "within 89° of the equator"),
        ({"step": 1, "epsilon": 1, "earth": True, "region": ((0, 0), (1, 181))}, "180° wide"),
    ],
)
def test_plans_that_are_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(BadArgument) as refusal:
        places(**given)  # type: ignore[arg-type]
    assert said in str(refusal.value)


@pytest.mark.parametrize("place", [(math.nan, 3.25), (3.25, math.inf), ("x", 3.25), 3.25, (1, 2, 3.25), None])
def test_places_that_are_refused_are_not_shown(place: object) -> None:
    protocol = places(step=1, epsilon=1, region=SQUARE)
    with pytest.raises(BadArgument) as refusal:
        protocol.randomize(place)  # type: ignore[arg-type]
    assert str(refusal.value).startswith("place must be") and ("3.25" not in str(refusal.value) or place == 3.25)
    with pytest.raises(BadArgument, match="places must be finite numbers, two in each row"):
        protocol.randomize_many([place])  # type: ignore[arg-type]


def test_a_place_outside_is_the_nearest_one_inside() -> None:
    protocol = places(step=10, epsilon=100, region=((0, 0), (100, 45)))
    assert protocol.grid.size == (10, 5)
    outside = [(-1e308, 1e308), (50, -7), (100, 45), (1e6, 20.5)]
    inside = [(5.0, 45.0), (55.0, 5.0), (95.0, 45.0), (95.0, 25.0)]
    assert protocol.randomize_many(outside, entropy=ReplayEntropy(1)).tolist() == [list(place) for place in inside]
    assert [protocol.randomize(place, entropy=ReplayEntropy(1)) for place in outside] == inside
    assert protocol.loss_between((-50, 3), (-3, 3)) == Pure(0)


def test_reports_never_leave_the_region_and_do_without_one() -> None:
    wide = places(step=1, epsilon="0.01", region=SQUARE)
    reports = wide.randomize_many(np.full((5000, 2), 1.0))
    assert reports.min() == 0.5 and reports.max() == 99.5
    free = places(step=1, epsilon="0.01")
    assert free.randomize_many(np.full((5000, 2), 1.0)).min() < 0
    assert free.loss() == Pure(math.inf) and free.loss(0) == Pure(0)
    with pytest.raises(BadArgument, match="within 2\\^40 cells of the origin"):
        free.randomize((1e30, 0))
    with pytest.raises(BadArgument, match="within 2\\^40 cells of the origin"):
        free.randomize_many([(1e300, 0)])
    with pytest.raises(BadArgument, match="region must be given"):
        free.centres()


def test_cells_of_arrays_are_those_of_single_places() -> None:
    grid = places(step="0.1", epsilon=1, region=((-1, "-0.3"), (2, 3))).grid
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.uniform(-2, 4, (500, 2)), rng.integers(-20, 40, (500, 2)) / 10])
    assert grid.cells(points).tolist() == [list(grid.cell(point)) for point in points.tolist()]
    assert grid.cell((0.2, 0.2)) == (12, 5), "0.2 is read as two tenths, where the cell begins"
    middles = grid.centres(grid.every_cell())
    assert (grid.cells(middles) == grid.every_cell()).all()
    assert grid.centre((3, 7)) == pytest.approx(tuple(middles[3 * 33 + 7]))


def test_one_cell_and_a_huge_epsilon() -> None:
    single = places(step=1000, epsilon=1, region=SQUARE)
    assert single.randomize((3, 4)) == (500.0, 500.0) and single.loss() == Pure(0) and single.loss(10) == Pure(0)
    assert single.law().tolist() == [[1.0]]
    assert single.density(np.full((7, 2), 500.0)).counts.tolist() == [[7.0]]
    sharp = places(step=1, epsilon=10**6)
    assert sharp.randomize((3.2, 4.9)) == (3.5, 4.5)
    assert sharp.mean_error()[1] < Fraction(1, 10**1000)


def test_no_places_and_no_reports() -> None:
    protocol = places(step=50, epsilon="0.1", region=SQUARE)
    assert protocol.randomize_many([]).shape == (0, 2)
    nothing = protocol.density([])
    assert nothing.total == 0 and not nothing.counts.any()


def test_losses_add_up_over_reports() -> None:
    protocol = places(step=10, epsilon="0.01", region=((0, 0), (10_000, 10_000)))
    once = protocol.loss(500).epsilon
    assert 5 + Fraction(1, 10) * Fraction("1.41421356") < once < 5 + Fraction(1, 10) * Fraction("1.41421357")
    assert protocol.loss(500, reports=7) == Pure(7 * Fraction(once))
    assert protocol.loss_between((0, 0), (31, 45), reports=2) == Pure(1)
    assert protocol.loss(10**9) == protocol.loss()
    for wrong in (0, 1.5):
        with pytest.raises(BadArgument, match="reports must be a whole number"):
            protocol.loss(5, reports=wrong)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="distance must be at least 0"):
        protocol.loss(-1)


@pytest.mark.parametrize("earth", [False, True])
def test_a_loss_within_a_radius_is_kept_and_used(earth: bool) -> None:
    region = ((48.8, 2.2), (48.9, 2.5)) if earth else ((0, 0), (20_000, 20_000))
    protocol = places(step=20, loss=Pure("1.2"), within=300, region=region, earth=earth)
    assert Fraction("1.1999999999") < protocol.loss(300).epsilon <= Fraction("1.2")
    place = (48.85, 2.3) if earth else (1234.5, 678.9)
    north, east = protocol.randomize(place, entropy=ReplayEntropy(4))
    metres = math.hypot((north - place[0]) * 111_195, (east - place[1]) * 73_160) if earth else 0
    assert metres < 5000 and protocol.grid.stretch < Fraction("1.01")


def test_the_mean_error_is_what_happens() -> None:
    protocol = places(step=25, epsilon="0.02")
    low, high = protocol.mean_error()
    assert 0 < high - low < Fraction(1, 10**20) and 99 < low < 100
    reports = protocol.randomize_many(np.full((100_000, 2), 12.5), entropy=ReplayEntropy(6))
    assert np.hypot(*(reports - 12.5).T).mean() == pytest.approx(float(low), rel=0.015)


def test_density_and_remap_improve_on_reports() -> None:
    """People in two towns of a made-up country."""
    protocol = places(step=100, loss=Pure(1), within=150, region=((0, 0), (1000, 1200)))
    rng = np.random.default_rng(8)
    towns = np.array([[250, 250], [750, 950]])[rng.integers(0, 2, 20_000)]
    true = np.clip(towns + rng.normal(0, 60, towns.shape), 0, 999)
    reports = protocol.randomize_many(true, entropy=ReplayEntropy(9))
    people, seen = (np.zeros((10, 12)), np.zeros((10, 12)))
    np.add.at(people, tuple(protocol.grid.cells(true).T), 1)
    np.add.at(seen, tuple(protocol.grid.cells(reports).T), 1)
    density = protocol.density(reports)
    assert density.counts.sum() == pytest.approx(20_000) and density.total == 20_000 and density.counts.min() >= 0
    assert np.abs(density.counts - people).sum() < 0.5 * np.abs(seen - people).sum()
    assert density.slack < 25 and protocol.density(reports, rounds=5).slack > density.slack
    prior = np.exp(-((protocol.centres()[:, None] - [[250, 250], [750, 950]]) ** 2).sum(2) / 7200).sum(1)
    best = protocol.remap(prior.reshape(10, 12))
    guesses = protocol.remapped(reports, remap=best)
    middles = protocol.grid.centres(protocol.grid.cells(true))
    before, after = (np.hypot(*(where - middles).T).mean() for where in (reports, guesses))
    assert after < 0.6 * before and best.error_after < best.error_before
    assert (before, after) == pytest.approx((best.error_before, best.error_after), rel=0.05)


def test_remap_finds_the_least_mean_distance() -> None:
    protocol = places(step=10, epsilon="0.05", region=((0, 0), (40, 30)))
    prior = np.random.default_rng(2).random(12)
    best, law, middles = protocol.remap(prior), protocol.law(), protocol.centres()
    for outcome in range(12):
        posterior = prior * law[:, outcome]
        costs = [(posterior * np.hypot(*(middles - guess).T)).sum() for guess in middles]
        assert costs[best.table[outcome]] == pytest.approx(min(costs))
    for wrong in (np.zeros(12), -prior, prior[:5], np.full(12, np.nan)):
        with pytest.raises(BadArgument, match="prior must be 12 weights of at least 0, not all 0"):
            protocol.remap(wrong)


def test_laws_that_are_too_large_say_what_to_do() -> None:
    with pytest.raises(BadArgument, match="region must be of at most 2500 cells for this; take a larger step"):
        places(step=1, epsilon=1, region=SQUARE).law()
    with pytest.raises(BadArgument, match="step must be larger: noise reaches 45000 cells"):
        places(step=10, epsilon="0.0001", region=SQUARE).law()


def test_lists_that_are_too_long_are_refused_before_they_are_made() -> None:
    vast = places(step=1, epsilon="0.01", region=((0, 0), (10**6, 10**6)))
    for ask in (vast.centres, vast.law, lambda: vast.remap([1]), lambda: vast.density([[1, 1]])):
        with pytest.raises(BadArgument, match="region must be of at most"):
            ask()


@pytest.mark.parametrize("size", [(2000, 1), (1, 2000), (3, 5), (5, 3)])
def test_the_law_of_a_long_region_is_summed_along_its_short_side(size: tuple[int, int]) -> None:
    """Two thousand cells in a row would otherwise take a hundred gigabytes on the way."""
    long = places(step=1, epsilon="0.05", region=((0, 0), size))
    law, turned = long.law(), places(step=1, epsilon="0.05", region=((0, 0), size[::-1])).law()
    rows, columns = size
    there = np.arange(rows * columns).reshape(rows, columns).T.ravel()
    assert np.allclose(law[np.ix_(there, there)], turned, rtol=1e-12)
    assert law[0, 0] > law[rows * columns // 2, 0]


def test_a_remap_of_another_grid_is_refused() -> None:
    small, large = (places(step=50, epsilon="0.1", region=((0, 0), (side, side))) for side in (100, 200))
    with pytest.raises(BadArgument, match="remap must be of this grid"):
        large.remapped([[1, 1]], remap=small.remap(np.ones(4)))


def test_a_region_may_cross_the_line_where_dates_change() -> None:
    """A device says -175 for 185: the same place, and the same cell, however often the Earth is turned."""
    protocol = places(step=1000, epsilon="0.001", region=((60, 170), (70, 190)), earth=True)
    for east in ("170", "179.9999", "180", "180.0001", "185.25", "189.99", "12", "-12", "0"):
        same = [Fraction(east) + 360 * turns for turns in (-2, -1, 0, 1, 3)]
        cells = {protocol.grid.cell((65, one)) for one in same}
        assert len(cells) == 1
        assert {tuple(cell) for cell in protocol.grid.cells([(65, float(one)) for one in same]).tolist()} == cells
    assert protocol.loss_between((65, "179.9999"), (65, "-179.9999")).epsilon <= protocol.loss(10).epsilon
    assert protocol.grid.cell((65, -169)) == protocol.grid.cell((65, "189.9999999"))
    assert protocol.grid.cell((65, 1)) == protocol.grid.cell((65, 170)), "nearer to the west by a degree"
    with pytest.raises(BadArgument, match="longitudes from -360 to 360"):
        places(step=1000, epsilon=1, region=((60, 530), (70, 540)), earth=True)


def test_planar_noise_takes_any_rate_from_the_smallest() -> None:
    assert PlanarLaplace(Fraction(1, 1 << 40)).samples(100, ReplayEntropy(1)).shape == (100, 2)
    assert not PlanarLaplace(Fraction(10**30)).samples(100, ReplayEntropy(1)).any()
    assert PlanarLaplace(Fraction(1)).samples(0, ReplayEntropy(1)).shape == (0, 2)
    with pytest.raises(BadArgument, match="count must be a whole number of at least 0"):
        PlanarLaplace(Fraction(1)).samples(-1, ReplayEntropy(1))


def test_metric_responses_refuse_and_remap() -> None:
    response = metric_response(["a", "b", "c"], distance=[[0, 1, 2], [1, 0, 1], [2, 1, 0]], epsilon=0)
    assert response.law() == pytest.approx(np.full((3, 3), 1 / 3)) and response.loss("a", "c") == Pure(0)
    assert response.remap([1, 1, 8]).table.tolist() == [2, 2, 2]
    assert metric_response([4], distance=[[0]], epsilon=1).randomize(4) == 4
    near = metric_response([(0, 0), (1, 1), (2, 2)], distance=math.dist, epsilon=2)  # type: ignore[arg-type]
    assert near.loss((0, 0), (1, 1), reports=3).epsilon == pytest.approx(6 * math.sqrt(2))
    assert near.randomize_many([]) == []
    with pytest.raises(BadArgument) as refusal:
        near.randomize((3, 3))
    assert str(refusal.value) == "value must be one of the values that were named; got something else."
    with pytest.raises(BadArgument, match="value must be one of the values that were named; got something else"):
        near.randomize([0, 0])  # type: ignore[arg-type]
    table = [[0, 1], [1, 0]]
    with pytest.raises(BadArgument, match="values must be values that can be told apart"):
        metric_response([[1], [2]], distance=table, epsilon=1)  # type: ignore[list-item]
    for values, distance, epsilon, said in [
        ("", table, 1, "values must be between 1 and 1000 different values"),
        ("aa", table, 1, "values must be between 1 and 1000 different values"),
        ("abc", table, 1, "distance must be a function, or a table with 3 rows and columns"),
        ("ab", [[0, 1], [2, 0]], 1, "distance must be 0 from a value to itself, and the same both ways"),
        ("ab", [[1, 1], [1, 0]], 1, "distance must be 0 from a value to itself, and the same both ways"),
        ("ab", [[0, -1], [-1, 0]], 1, "distance must be at least 0"),
        ("ab", [[0, math.inf], [math.inf, 0]], 1, "distance must be finite"),
        ("ab", 5, 1, "distance must be a function, or a table"),
        ("ab", [1, 2], 1, "distance must be a function, or a table"),
        ("ab", table, -1, "epsilon must be at least 0"),
    ]:
        with pytest.raises(BadArgument, match=said):
            metric_response(values, distance=distance, epsilon=epsilon)  # type: ignore[arg-type]
