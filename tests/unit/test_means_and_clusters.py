"""Means without bounds and clusters: what they find, what they make of odd data, what they refuse."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.examples.calls import calls

import sfumato as sf
from sfumato.core.domains import Array, Data, Floats
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, NotInDomain, SfumatoError, UnboundedColumn
from sfumato.stats.clustering import merge_points, spread_points
from sfumato.stats.means import LocatedMean, radii_around
from sfumato.stats.shares import parameter_for
from sfumato.transforms.clusters import centre_rows, cluster_totals, weight_in_steps

LOSSES = [sf.Pure(1), sf.ZCDP("0.125")]


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def found(data: Data, *, loss: sf.Loss = LOSSES[0], size: int | None = None, seed: int = 1) -> LocatedMean:
    made = (sf.vector(float, size=size) >> sf.stats.mean_without_bounds(loss=loss))(data, entropy=ReplayEntropy(seed))
    assert isinstance(made.value, LocatedMean)
    return made.value


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("size", [None, 4000])
@pytest.mark.parametrize(("centre", "scale"), [(1000, 1), (0, 1), (-1e6, 0.5), (1e-3, 1e-4), (1e200, 1e195)])
def test_a_mean_is_found_wherever_it_is(loss: sf.Loss, size: int | None, centre: float, scale: float) -> None:
    data = rng().normal(centre, scale, 4000)
    mean = found(data, loss=loss, size=size)
    assert abs(mean.estimate - data.mean()) < 0.02 * scale
    assert mean.low < data.mean() < mean.high
    assert mean.high - mean.low < 40 * scale
    assert mean.rows == pytest.approx(4000, abs=100)
    assert mean.deviation < 0.01 * scale


@pytest.mark.parametrize("loss", LOSSES)
def test_the_error_is_about_what_the_noise_says(loss: sf.Loss) -> None:
    """Twenty runs: the error is neither far above the stated deviation nor far below. False alarm: about 1 in 10⁵."""
    data = rng().normal(1000, 1, 4000)
    runs = [found(data, loss=loss, seed=seed) for seed in range(20)]
    ratio = math.sqrt(np.mean([((run.estimate - data.mean()) / run.deviation) ** 2 for run in runs]))
    assert 0.4 < ratio < 2.5


@pytest.mark.parametrize(
    "data",
    [
        [7.0] * 3000,
        [0.0] * 3000,
        [0.0] * 1000 + [1e300] * 1000 + [-1e300] * 1000,
        [math.inf] * 2000 + [-math.inf] * 1000,
        [5e-324] * 3000,
        [-0.0] * 3000,
        [1.7976931348623157e308] * 3000,
        list(range(3000)),
    ],
)
def test_odd_data_give_finite_numbers(data: list[float]) -> None:
    space = sf.vector(Floats(infinite=True))
    mean = (space >> sf.stats.mean_without_bounds(loss=sf.Pure(1)))(data, entropy=ReplayEntropy(3)).value
    assert all(math.isfinite(value) for value in vars(mean).values())
    assert mean.low <= mean.estimate <= mean.high


def test_constants_are_found_almost_exactly() -> None:
    assert found([7.0] * 3000).estimate == pytest.approx(7, abs=1e-4)


@pytest.mark.parametrize("size", [None, 3000])
def test_many_zeros_do_not_hide_the_rest(size: int | None) -> None:
    draws = rng()
    data = np.where(draws.random(3000) < 0.6, 0.0, draws.uniform(0, 100, 3000))
    runs = [found(data, size=size, seed=seed).estimate for seed in range(10)]
    assert np.abs(np.array(runs) - data.mean()).max() < 5


def test_integers_are_read_as_floats() -> None:
    data = rng().integers(-50, 150, 5000)
    made = sf.vector(int) >> sf.stats.mean_without_bounds(loss=sf.Pure(1))
    assert made(data, entropy=ReplayEntropy(1)).value.estimate == pytest.approx(data.mean(), abs=2)
    assert made.map(1) == sf.Pure(1)
    assert made([10**400] * 3000, entropy=ReplayEntropy(1)).value.estimate > 1e300


@pytest.mark.parametrize("loss", LOSSES)
def test_too_few_rows_give_none(loss: sf.Loss) -> None:
    """A number of rows that seems large enough only for its noise comes up in 1 run of 12."""
    made = sf.vector(float) >> sf.stats.mean_without_bounds(loss=loss)
    for data in ([], [1.0, 2.0]):
        runs = [made(data, entropy=ReplayEntropy(seed)).value for seed in range(20)]
        assert runs.count(None) >= 15
    sized = sf.vector(float, size=2) >> sf.stats.mean_without_bounds(loss=loss)
    assert sized([1.0, 2.0], entropy=ReplayEntropy(1)).value is None


@pytest.mark.parametrize(("size", "epsilon"), [(None, "0.1"), (1000, "0.1"), (None, "0.05"), (1000, "0.05")])
def test_a_thousand_rows_get_an_answer(size: int | None, epsilon: str) -> None:
    """A noisy number of rows is below 500, where no answer would be given, in 1 run of 10⁹ and of 14."""
    data = rng().normal(1000, 1, 1000)
    made = sf.vector(float, size=size) >> sf.stats.mean_without_bounds(loss=sf.Pure(epsilon))
    runs = [made(data, entropy=ReplayEntropy(seed)).value for seed in range(12)]
    answered = [run for run in runs if run is not None]
    assert len(answered) >= (12 if size is not None or epsilon == "0.1" else 8)
    assert np.median([abs(run.estimate - 1000) for run in answered]) < 300


def test_what_is_stated_as_noise_has_that_of_the_rows() -> None:
    """Half zeros, half hundreds: the mean is far from the centre, so an uncertain number of rows counts."""
    data = np.repeat([0.0, 100.0], 2000)
    counted, public = found(data, seed=3), found(data, size=4000, seed=3)
    middle = (counted.low + counted.high) / 2
    from_rows = abs(counted.estimate - middle) * math.sqrt(2) * 10 / counted.rows
    assert counted.deviation > from_rows > 0
    radius = (public.high - public.low) / 2
    assert public.deviation < 20 * radius / 4000


@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_columns_that_are_almost_constant_never_give_wild_answers(epsilon: str) -> None:
    draws = rng()
    data = np.where(draws.random(3000) < 0.99, 7.0, draws.uniform(0, 100, 3000))
    for seed in range(10):
        run = found(data, loss=sf.Pure(epsilon), seed=seed)
        assert abs(run.estimate - data.mean()) < 5


@pytest.mark.parametrize("loss", LOSSES)
def test_larger_units_and_added_and_removed_rows_of_a_public_size(loss: sf.Loss) -> None:
    data = rng().normal(1000, 1, 4000)
    person = sf.Unit("a person with up to 3 rows", sf.AddRemove(), bound=3)
    wide = sf.vector(float) >> sf.stats.mean_without_bounds(loss=loss, d_in=person)
    assert wide.map(person) == wide.map(1) == loss
    narrow, broad = found(data, loss=loss), wide(data, d_in=person, entropy=ReplayEntropy(1)).value
    assert broad.deviation > 2 * narrow.deviation
    sized = sf.vector(float, size=4000, metric=sf.AddRemove()) >> sf.stats.mean_without_bounds(loss=loss)
    assert sized.map(2) == loss
    assert sized(data, entropy=ReplayEntropy(1)).value.estimate == pytest.approx(data.mean(), abs=0.05)


def test_the_mean_refuses_what_it_cannot_do() -> None:
    mean = sf.stats.mean_without_bounds
    for loss in (sf.Pure(0), sf.Pure(math.inf), sf.Approx(1, 1e-6), 1.0):
        with pytest.raises(BadArgument, match="Pure or ZCDP, more than 0 and finite"):
            mean(loss=loss)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="drop_nan"):
        sf.vector(Floats(nan=True)) >> mean(loss=sf.Pure(1))
    with pytest.raises(BadArgument, match="no rows have no mean"):
        sf.vector(float, size=0) >> mean(loss=sf.Pure(1))
    with pytest.raises(SfumatoError):
        sf.vector(str) >> mean(loss=sf.Pure(1))
    with pytest.raises(SfumatoError):
        sf.matrix(2) >> mean(loss=sf.Pure(1))
    with pytest.raises(NotInDomain):
        (sf.vector(float) >> mean(loss=sf.Pure(1)))([math.nan])


def test_radii_stay_within_reach() -> None:
    assert max(radii_around(2.0**999, 4, 400)) <= 2.0**1000
    assert max(radii_around(2.0**-1000, 0, 8000)) == 2.0**1000
    assert min(radii_around(2.0**-999, 400, 4)) >= 2.0**-1000
    assert len(set(radii_around(1.0, 8000, 8000))) == len(radii_around(1.0, 8000, 8000)) == 8001


def test_shares_are_parts_and_parameters_pay_for_them() -> None:
    assert [loss.scaled(Fraction(1, 3)) for loss in (sf.Pure(3), sf.ZCDP(6))] == [sf.Pure(1), sf.ZCDP(2)]
    total = sf.vector(int, between=(0, 3)) >> sf.sum()
    for loss, noise in ((sf.Pure("0.7"), sf.laplace), (sf.ZCDP("0.07"), sf.gaussian)):
        scale = parameter_for(lambda one, noise=noise: total >> noise(one), loss, 1)  # type: ignore[misc]
        assert (total >> noise(scale)).check(1, loss)
        assert not (total >> noise(scale * Fraction(999, 1000))).check(1, loss)


CORNERS = np.array([(-5.0, -5.0), (5.0, 5.0), (5.0, -5.0)])


def blobs() -> Array:
    rows = [rng().normal(corner, 1, (2000, 2)) for corner in CORNERS]
    return np.asarray(np.clip(np.concatenate(rows), -10, 10))


def farthest_from_corners(clustering: Data) -> float:
    places = np.array(clustering.centroids)
    return max(float(np.linalg.norm(places - corner, axis=1).min()) for corner in CORNERS)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("space", [sf.matrix(2, between=(-10, 10)), sf.matrix(2, between=(-10, 10), size=6000)])
def test_clusters_that_lie_apart_are_found(loss: sf.Loss, space: sf.Space) -> None:
    made = space >> sf.stats.k_means(3, loss=loss)
    runs = [made(blobs(), entropy=ReplayEntropy(seed)).value for seed in range(5)]
    assert all(farthest_from_corners(run) < 0.5 for run in runs)
    assert all(size == pytest.approx(2000, abs=300) for run in runs for size in run.sizes)


def test_clusters_in_a_ball_are_found() -> None:
    made = sf.matrix(2) >> sf.norm_clamp(10) >> sf.stats.k_means(3, loss=sf.ZCDP("0.5"))
    assert farthest_from_corners(made(blobs(), entropy=ReplayEntropy(1)).value) < 0.5


@pytest.mark.parametrize("columns", [1, 4, 20])
def test_the_weight_of_counts_is_the_best(columns: int) -> None:
    """A little more or less makes the error of a centroid larger, as proofs/k_means.md#weight estimates it."""
    rows, _ = centre_rows(sf.matrix(columns, between=(-1, 1)), "test")

    def laplace_error(weight: float) -> float:
        return (weight + columns) ** 2 * (columns + columns / 3 / weight**2)

    def gaussian_error(weight: float) -> float:
        return (weight**2 + columns) * (columns + columns / 3 / weight**2)

    for norm, error in ((sf.L1(), laplace_error), (sf.L2(), gaussian_error)):
        weight = weight_in_steps(rows, norm) * float(rows.step)
        assert error(weight) < min(error(weight * 1.05), error(weight / 1.05))


@pytest.mark.parametrize("loss", LOSSES)
def test_no_rows_and_points_give_clusters_all_the_same(loss: sf.Loss) -> None:
    for space in (sf.matrix(2, between=(0, 1)), sf.matrix(2, between=(3, 3)), sf.matrix(2, between=(-1e260, 1e260))):
        inside = np.full((5, 2), float(space.domain.element.between.upper))  # type: ignore[attr-defined]
        for data in (np.zeros((0, 2)), inside):
            score, clustering = (space >> sf.stats.scored_k_means([2, 3], loss=loss))(
                data, entropy=ReplayEntropy(2)
            ).value
            assert not math.isnan(score)
            assert all(space.domain.element.member(value) for row in clustering.centroids for value in row)  # type: ignore[attr-defined]


def test_starts_may_be_given() -> None:
    made = sf.matrix(2, between=(-10, 10)) >> sf.stats.k_means(3, loss=sf.Pure(1), starts=CORNERS.tolist(), rounds=2)
    assert farthest_from_corners(made(blobs(), entropy=ReplayEntropy(1)).value) < 0.5


def test_starts_are_inside_and_apart() -> None:
    rows, _ = centre_rows(sf.matrix(2, between=(0, 1)), "test")
    points = spread_points(rows, 4, ReplayEntropy(1))
    gaps = np.linalg.norm(points[:, np.newaxis] - points, axis=2)[~np.eye(4, dtype=bool)]
    assert ((points > 0) & (points < 1)).all()
    assert gaps.min() > 0.2


@pytest.mark.parametrize(("number", "columns"), [(3200, 2), (80, 5000)])
def test_many_starts_are_drawn_in_little_time(number: int, columns: int) -> None:
    rows, _ = centre_rows(sf.matrix(columns, between=(0, 1)), "test")
    points = spread_points(rows, number, ReplayEntropy(1))
    assert points.shape == (number, columns) and ((points >= 0) & (points <= 1)).all()


def test_many_clusters_take_time_with_their_number_and_not_more() -> None:
    """400 clusters took 41 s when every start was picked among 64 candidates each."""
    counts = []
    for number in (40, 400):
        made = sf.matrix(2, between=(0, 1)) >> sf.stats.k_means(number, loss=sf.Pure(1))
        found, count = calls(lambda made=made: made(np.zeros((9, 2)), entropy=ReplayEntropy(1)))
        assert len(found.value.sizes) == number
        counts.append(count)
    assert counts[1] < 12 * counts[0]


def test_merging_finds_what_is_nearest() -> None:
    places = rng().uniform(-1, 1, (40, 3))
    centroids, totals = merge_points(places, np.ones(40), 5)
    nearest = ((places[:, np.newaxis] - centroids) ** 2).sum(axis=2).argmin(axis=1)
    assert totals.tolist() == np.bincount(nearest, minlength=5).tolist()
    assert np.allclose(centroids, [places[nearest == number].mean(axis=0) for number in range(5)])


def test_bounds_too_close_for_floats_are_refused() -> None:
    with pytest.raises(BadArgument, match=r"at least 2\^-900 apart"):
        sf.matrix(2, between=(0, 5e-324)) >> sf.stats.k_means(2, loss=sf.Pure(1))
    near = sf.matrix(2, between=(0, 2.0**-899)) >> sf.stats.k_means(2, loss=sf.Pure(1))
    assert np.isfinite(near(np.zeros((9, 2)), entropy=ReplayEntropy(1)).value.sizes).all()


def test_a_clustering_with_a_cluster_of_noise_scores_nothing() -> None:
    """Three clear clusters of 300 rows at ε = 0.5 a run: without the rule, 4 or 5 win 35 times of 100; with it 11."""
    once = sf.matrix(2, between=(-10, 10)) >> sf.stats.scored_k_means([2, 3, 4, 5], loss=sf.Pure("0.5"))
    runs = [once(blobs()[::7], entropy=ReplayEntropy(seed)).value for seed in range(60)]
    least = 4 * 7.5 * math.sqrt(20 / 3)  # four deviations of a size, whose rounds have 0.5 · 4/5 / 3 each
    for score, clustering in runs:
        assert (score == 0) == (min(clustering.sizes) < least)
    best = max(runs, key=lambda run: run[0])
    assert len(best[1].sizes) == 3


@pytest.mark.parametrize("loss", [sf.Pure("0.5")])
def test_the_best_of_many_runs_has_the_right_number_of_clusters(loss: sf.Loss) -> None:
    once = sf.matrix(2, between=(-10, 10)) >> sf.stats.scored_k_means([2, 3, 4, 5], loss=loss)
    best = once.source >> sf.best_of(once, stop="0.05")
    assert best.map(1).epsilon < 3 * once.map(1).epsilon  # type: ignore[attr-defined]
    _, clustering = best(blobs(), entropy=ReplayEntropy(4)).value
    assert len(clustering.sizes) == 3
    assert farthest_from_corners(clustering) < 0.5


def test_clusters_refuse_what_they_cannot_do() -> None:
    k_means, scored = sf.stats.k_means, sf.stats.scored_k_means
    for wrong in (
        {"clusters": 0},
        {"clusters": 2, "rounds": 0},
        {"clusters": 2, "starts": [(0, 0)]},
        {"clusters": 2, "starts": [0, 1]},
        {"clusters": 2, "starts": 7},
        {"clusters": 2, "starts": [(0, 0), (1, 10**400)]},
    ):
        with pytest.raises(BadArgument):
            k_means(**{"loss": sf.Pure(1), **wrong})  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="at least 2"):
        scored([1, 2], loss=sf.Pure(1))
    with pytest.raises(BadArgument, match="a list of numbers"):
        scored(3, loss=sf.Pure(1))  # type: ignore[arg-type]
    with pytest.raises(UnboundedColumn):
        sf.matrix(2) >> k_means(2, loss=sf.Pure(1))
    with pytest.raises(BadArgument, match="a matrix"):
        sf.vector(float) >> k_means(2, loss=sf.Pure(1))
    with pytest.raises(BadArgument, match="rows of 2 numbers"):
        sf.matrix(2, between=(0, 1)) >> k_means(1, loss=sf.Pure(1), starts=[(0, 0, 0)])
    with pytest.raises(BadArgument, match="whole multiple"):
        sf.matrix(1, between=(0, 1)) >> cluster_totals([(0,)], weight=Fraction(1, 3))
