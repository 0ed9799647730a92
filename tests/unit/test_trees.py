"""Trees and hierarchies: the fit is least squares, its deviations are true, and what is released is near the best."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.domains import Array, Floats
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.release.consistency import Nesting
from sfumato.stats.consistency import consistent_layers
from sfumato.stats.strategies import Fit, Hats, Sines
from sfumato.stats.tree_plans import Plan, best_plan, energy
from sfumato.stats.trees import Tree

NOISE = np.random.default_rng(20)  # public numbers for tests of post-processing; releases use ReplayEntropy


def ranges(bins: int) -> Array:
    """Gives WᵀW for all ranges, over their number."""
    place = np.arange(bins)
    both = (np.minimum.outer(place, place) + 1.0) * (bins - np.maximum.outer(place, place))
    return both / (bins * (bins + 1) / 2)


def average_error(matrix: Array, *, squares: bool) -> float:
    """Gives the average error on ranges of a strategy, scaled to columns of norm 1, for noise of variance 1."""
    longest = (matrix**2).sum(axis=0).max() if squares else np.abs(matrix).sum(axis=0).max() ** 2
    return float(np.sum(ranges(matrix.shape[1]) * np.linalg.inv(matrix.T @ matrix)) * longest)


def nodes(bins: int, width: int) -> Array:
    return (np.arange(-(-bins // width))[:, None] == np.arange(bins)[None, :] // width).astype(float)


def tree_matrix(bins: int, plan: Plan, *, squares: bool) -> Array:
    weights = [math.sqrt(share) if squares else float(share) for share in plan.shares]
    return np.concatenate([weight * nodes(bins, width) for weight, width in zip(weights, plan.widths, strict=True)])


def test_A2_011_consistency_of_two_and_three_layers() -> None:
    two = consistent_layers({(): 10, ("a",): [4, 5]}, {(): 1, ("a",): 1})
    assert two.round(4).tolist() == [4.3333, 5.3333] and round(two.sum(), 4) == 9.6667
    layers = {(): 20, ("a",): [9, 12], ("a", "b"): [[4, 6], [5, 5]]}
    three = consistent_layers(layers, dict.fromkeys(layers, 1))
    assert three.round(6).tolist() == [[3.571429, 5.571429], [5.571429, 5.571429]]
    assert three.sum(axis=1).round(6).tolist() == [9.142857, 11.142857] and round(three.sum(), 6) == 20.285714
    ones = tuple(np.ones(count) for count in (1, 2, 4))
    nesting = Nesting((np.zeros(2, dtype=int), np.array([0, 0, 1, 1])), ones)
    _, variances = nesting.upward([np.zeros(1), np.zeros(2), np.zeros(4)])
    assert [round(float(variance[0]), 4) for variance in reversed(variances)] == [1, 0.6667, 0.5714]


def test_A2_012_parent_and_children() -> None:
    fitted = consistent_layers({(): 100, ("a",): [20, 30, 25, 35]}, {(): 2, ("a",): 1})
    assert abs(fitted.sum() - 105.0) < 1e-12


def test_layers_are_the_least_squares_fit_whatever_the_order_of_axes() -> None:
    shape, names = (2, 3, 4), ("x", "y", "z")
    deviations = {(): 0.5, ("z",): 2, ("z", "x"): 1, names: 3}
    sizes = dict(zip(names, shape, strict=True))
    layers = {axes: NOISE.normal(size=tuple(sizes[axis] for axis in axes)) for axes in deviations}
    unit = np.eye(24).reshape(24, *shape)
    rows, values = [], []
    for axes, deviation in deviations.items():
        kept = [name for name in names if name in axes]
        summed = unit.sum(axis=tuple(1 + place for place, name in enumerate(names) if name not in axes))
        rows.append(summed.transpose([0, *(1 + kept.index(name) for name in axes)]).reshape(24, -1).T / deviation)
        values.append(layers[axes].reshape(-1) / deviation)
    best = np.linalg.lstsq(np.concatenate(rows), np.concatenate(values), rcond=None)[0]
    assert np.allclose(consistent_layers(layers, deviations).reshape(-1), best, atol=1e-12)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("widths", [(7, 1), (8, 4, 2, 1), (6, 3, 1), (20, 5, 1)])
def test_uneven_trees_are_least_squares_and_know_their_deviation(widths: tuple[int, ...], known: bool) -> None:
    """20 bins, the last node of a layer may be short; a public total has no noise."""
    spread = [float(place + 1) for place in range(len(widths))]
    matrix = np.concatenate([nodes(20, width) / math.sqrt(v) for width, v in zip(widths, spread, strict=True)])
    parents = [np.arange(-(-20 // low)) // (high // low) for high, low in pairwise(widths)]
    variances = [np.full(-(-20 // width), v) for width, v in zip(widths, spread, strict=True)]
    values = [NOISE.normal(size=len(variance)) for variance in variances]
    noisy = np.concatenate([value / np.sqrt(variance) for value, variance in zip(values, variances, strict=True)])
    if known:
        certain = 1e3
        matrix = np.concatenate([matrix, certain * np.ones((1, 20))])
        noisy = np.append(noisy, certain * 3.0)
        parents.insert(0, np.zeros(len(variances[0]), dtype=int))
        values.insert(0, np.array([3.0]))
        variances.insert(0, np.zeros(1))
    nesting = Nesting(tuple(parents), tuple(variances))
    best = np.linalg.lstsq(matrix, noisy, rcond=None)[0]
    assert np.allclose(nesting.settle(values), best, atol=1e-4)
    covariance = np.linalg.inv(matrix.T @ matrix)
    for weights in (
        np.ones(20),
        np.eye(20)[3],
        (np.arange(20) > 4) * (np.arange(20) < 13) * 1.0,
        NOISE.normal(size=20),
    ):
        assert abs(nesting.variance(weights) - weights @ covariance @ weights) < 1e-4


def test_the_error_that_plans_are_chosen_by_is_that_of_the_matrix() -> None:
    for bins in (8, 64):
        for squares in (False, True):
            plan = best_plan(bins, concentrated=squares, known=False, branching=2)
            exact = average_error(tree_matrix(bins, plan, squares=squares), squares=squares)
            assert abs(plan.error / exact - 1) < 2e-3  # shares were rounded
    flat = average_error(np.eye(64), squares=False)
    assert abs(flat - energy(64, 1)) < 1e-9 and abs(flat - 22) < 1e-9


def test_plans_beat_flat_and_uniform_trees() -> None:
    """Average squared error on ranges at ε = 1 (2 v) for 1024 bins: flat 684, binary 477, ours 154 before smoothing."""
    best = best_plan(1024, concentrated=False, known=False)
    assert best.widths == (128, 16, 1) and abs(2 * best.error - 154.5) < 0.1
    uniform = Plan(tuple(1 << place for place in range(10, -1, -1)), (Fraction(1, 11),) * 11, 0)
    assert 470 < 2 * average_error(tree_matrix(1024, uniform, squares=False), squares=False) < 480
    assert best_plan(16, concentrated=False, known=False).widths == (1,)
    assert best_plan(1000, concentrated=False, known=False, branching=(10, 10, 10)).widths[-3:] == (100, 10, 1)


@pytest.mark.parametrize("bins", [2, 3, 5, 16, 64, 200, 512])
def test_sines_are_within_three_percent_of_the_best_possible(bins: int) -> None:
    sines = Sines.of(bins)
    bound = np.sqrt(np.maximum(np.linalg.eigvalsh(ranges(bins)), 0)).sum() ** 2 / bins
    error = average_error(sines.matrix.astype(float), squares=True)
    assert bound * 0.999 < error < bound * 1.03
    assert error < best_plan(bins, concentrated=True, known=False).error * 1.0001
    counts = NOISE.integers(0, 10**9, bins).astype(float)
    assert np.allclose(sines.settle(sines.matrix @ counts), counts, rtol=0, atol=1e-3)
    weights = NOISE.normal(size=bins)
    exact = weights @ np.linalg.inv(sines.matrix.T.astype(float) @ sines.matrix) @ weights
    assert abs(weights @ sines.covered(weights) / exact - 1) < 1e-4


@pytest.mark.parametrize("bins", [64, 100, 256, 1000])
def test_hats_beat_the_nodes_they_replace(bins: int) -> None:
    plan = best_plan(bins, concentrated=False, known=False)
    hats = Hats.of(bins, plan)
    whole = np.concatenate([hats.matrix, hats.own * np.eye(bins)])
    assert average_error(whole, squares=False) < plan.error * (0.95 if bins < 256 else 0.88)
    counts = NOISE.normal(size=bins)
    noisy = whole @ counts + NOISE.normal(size=len(whole)) * hats.own
    assert np.allclose(hats.settle(noisy), np.linalg.lstsq(whole, noisy, rcond=None)[0], atol=1e-8)
    fit = Fit(hats, 2.0, 7)
    assert abs(fit.settle(noisy).sum() - 7) < 1e-8 and fit.variance(np.ones(bins)) < 1e-12
    weights = NOISE.normal(size=bins)
    known = np.concatenate([whole, 1e3 * hats.own * np.ones((1, bins))])
    exact = 2.0 * weights @ np.linalg.inv(known.T @ known) @ weights
    assert abs(fit.variance(weights) / exact - 1) < 1e-4


@pytest.mark.parametrize("size", [None, 2000])
@pytest.mark.parametrize("loss", [sf.Pure(1), sf.ZCDP("0.5"), sf.Pure(4)])
@pytest.mark.parametrize("branching", [None, 4])
def test_errors_of_releases_are_as_stated(loss: sf.Pure | sf.ZCDP, size: int | None, branching: int | None) -> None:
    """200 releases: the squared error over the stated variance averages 1 within 4 deviations; half the scale fails."""
    rows = np.arange(2000) ** 2 % 128
    made = sf.vector(int, size=size) >> sf.stats.tree(range(129), loss=loss, branching=branching)
    truth = int(((rows >= 20) & (rows < 77)).sum())
    found = [made(rows, entropy=ReplayEntropy(seed)).value for seed in range(200)]
    stated = found[0].deviation(20, 77) ** 2
    ratio = float(np.mean([(tree.range(20, 77) - truth) ** 2 for tree in found])) / stated
    assert 0.6 < ratio < 1.6
    assert not 0.6 < ratio * 4 < 1.6
    if size is not None:
        assert all(abs(tree.total - size) < 1e-6 for tree in found)


def test_trees_answer_ranges_distribution_and_quantiles() -> None:
    made = sf.vector(float) >> sf.stats.tree([0, 1, 2, 4, 8], loss=sf.Pure(10**6))
    data = [-5.0, 0.5, 1.0, 3.0, 3.5, 7.0, 8.0, 100.0]
    tree = made(data).value
    assert tree.counts.round(6).tolist() == [2, 1, 2, 3] and round(tree.total, 6) == 8
    assert tree.range(1, 4) == pytest.approx(3) and tree.range(2, 3) == pytest.approx(1)
    assert tree.range(-10, 10) == pytest.approx(8) and tree.range(3, 3) == 0
    assert tree.cdf().tolist() == pytest.approx([0, 0.25, 0.375, 0.625, 1])
    assert [tree.quantile(alpha) for alpha in (0, 0.25, "0.3125", 1)] == pytest.approx([0, 1, 1.5, 8])
    assert tree.deviation(0, 8) < 1e-3
    assert str(tree) == "Tree(4 bins in [0, 8), total 8)"
    for shared in (tree.counts, tree.edges):
        with pytest.raises(ValueError, match="read-only"):
            shared[0] = 1
    with pytest.raises(BadArgument, match="the lower end first"):
        tree.range(4, 1)


def test_ends_beyond_the_edges_count_as_the_edges() -> None:
    tree = (sf.vector(float) >> sf.stats.tree([0, 1, 2, 4, 8], loss=sf.Pure(1)))([0.5] * 9).value
    for low, high, same in (
        (-math.inf, 5, (0, 5)),
        (5, math.inf, (5, 8)),
        (-math.inf, np.float32(math.inf), (0, 8)),
        (-math.inf, -math.inf, (0, 0)),
        (0, 10**400, (0, 8)),
        (Fraction(-(10**400)), 3, (0, 3)),
    ):
        assert tree.range(low, high) == tree.range(*same)
        assert tree.deviation(low, high) == tree.deviation(*same)
    for wrong in (math.nan, "x", None, [1, 2]):
        with pytest.raises(BadArgument):
            tree.range(0, wrong)


@pytest.mark.parametrize("strategy", [Sines.of(16), Hats.of(64, best_plan(64, concentrated=False, known=False))])
def test_what_releases_share_is_read_only(strategy: Sines | Hats) -> None:
    """Privacy is by the columns as they were measured: nobody may change them after."""
    assert not any(part.flags.writeable for part in vars(strategy).values() if isinstance(part, np.ndarray))


def test_any_outcome_gives_a_distribution() -> None:
    nesting = Nesting((), (np.ones(4),))
    for counts in ([-3.0, -1.0, -5.0, -2.0], [0.0, 0.0, 0.0, 0.0], [5.0, -9.0, 3.0, 2.0], [1e300, -1e300, 0.0, 1.0]):
        tree = Tree(np.arange(5.0), np.array(counts), nesting)
        shares = tree.cdf()
        assert shares[0] == 0 and shares[-1] == 1 and (np.diff(shares) >= 0).all()
        assert all(0 <= tree.quantile(alpha) <= 4 for alpha in (0, 0.3, 0.5, 1))


def test_data_of_any_kind_is_taken() -> None:
    for loss in (sf.Pure(1), sf.ZCDP(1)):
        whole = sf.vector(int) >> sf.stats.tree(range(65), loss=loss)
        for data in ([], [10**30, -(10**30)], [2**63 - 1, -(2**63)], [5] * 3):
            assert math.isfinite(whole(data).value.total)
        floats = sf.vector(Floats(infinite=True)) >> sf.stats.tree([0, 0.5, 1], loss=loss)
        assert math.isfinite(floats([math.inf, -math.inf, -0.0, 1e-320]).value.total)


@pytest.mark.parametrize("bins", [2, 3, 5, 100, 1000, 5000])
@pytest.mark.parametrize("branching", [None, 2, 3])
@pytest.mark.parametrize("loss", [sf.Pure(10**4), sf.ZCDP(10**8), sf.Pure("0.01"), sf.ZCDP("0.0001")])
def test_any_number_of_bins_works(bins: int, branching: int | None, loss: sf.Pure | sf.ZCDP) -> None:
    rows = np.arange(20_000) ** 2 % bins
    for size in (None, 20_000):
        tree = (sf.vector(int, size=size) >> sf.stats.tree(range(bins + 1), loss=loss, branching=branching))(rows).value
        error = np.abs(np.cumsum(tree.counts - np.bincount(rows, minlength=bins))).max()
        assert error < (1e-3 if loss in (sf.Pure(10**4), sf.ZCDP(10**8)) else 60 * tree.deviation(0, bins / 2) + 1)


def test_hierarchies_give_consistent_counts() -> None:
    places = sf.frame({"state": ["A", "B"], "county": int})
    data = {"state": ["A"] * 50 + ["B"] * 30, "county": [1] * 20 + [2] * 40 + [9] * 20}
    for levels in ([[], ["state"], ["state", "county"]], [["county"], ["state", "county"]], [["state", "county"]]):
        made = places >> sf.stats.hierarchical_counts(levels, keys={"county": [1, 2, 3]}, loss=sf.Pure(1000))
        assert made(data).value.round(2).tolist() == [[20, 30, 0], [0, 10, 0]]  # 9 is no key: left out everywhere
    weighted = places >> sf.stats.hierarchical_counts(
        [[], ["state", "county"]], keys={"county": [1]}, loss=sf.Pure(1), weights=[1, 3]
    )
    assert weighted.map(1) == sf.Pure(1) and "scales 4, 1.33333" in str(weighted.how)


@pytest.mark.parametrize(
    ("layers", "deviations", "said"),
    [
        ({}, {}, "at least one"),
        ({(): 1, ("a",): [1, 2]}, {(): 1}, "given for every layer"),
        ({(): 1, ("a",): [1, 2]}, {(): 1, ("a",): 0}, "greater than 0"),
        ({("b",): [1, 2], ("a",): [1, 2]}, {("b",): 1, ("a",): 1}, "nested"),
        ({("b",): [1, 2], ("a", "c"): [[1, 2]]}, {("b",): 1, ("a", "c"): 1}, "nested"),
        ({("a",): [1, 2, 3], ("a", "b"): [[1, 2], [3, 4]]}, {("a",): 1, ("a", "b"): 1}, "of the shape"),
        ({("a", "b"): [[1, 2], [3]]}, {("a", "b"): 1}, "rectangular"),
        ({("a",): [[1, 2]]}, {("a",): 1}, "as many axes"),
        ({("a", "a"): [[1, 2]]}, {("a", "a"): 1}, "distinct"),
        ({("a",): [1, math.nan]}, {("a",): 1}, "finite"),
        ({1: [1, 2]}, {1: 1}, "tuples of labels"),
        ({("a",): [1, 10**400]}, {("a",): 1}, "rectangular array of numbers"),
        ({("a",): [1, 2]}, {("a",): 10**400}, "a finite number greater than 0"),
        ({("a",): [1, 2]}, {("a",): None}, "a number"),
    ],
)
def test_layers_that_do_not_fit_are_refused(layers: dict, deviations: dict, said: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(BadArgument, match=said):
        consistent_layers(layers, deviations)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: sf.stats.tree([0, 1], loss=sf.Pure(1)), "two bins"),
        (lambda: sf.stats.tree([0, 2, 1], loss=sf.Pure(1)), "rising order"),
        (lambda: sf.stats.tree([0, 1, 10**400], loss=sf.Pure(1)), "less than 2.1024"),
        (lambda: sf.stats.tree(10, loss=sf.Pure(1)), "a list of numbers"),  # type: ignore[arg-type]
        (lambda: sf.vector(int) >> sf.stats.tree(range(5), loss=sf.Approx(1, "0.1")), "Pure .Laplace noise. or ZCDP"),
        (lambda: sf.vector(int) >> sf.stats.tree(range(5), loss=sf.Pure(0)), "greater than 0"),
        (lambda: sf.vector(int) >> sf.stats.tree(range(5), loss=sf.ZCDP(math.inf)), "finite"),
        (lambda: sf.vector(int) >> sf.stats.tree(range(9), loss=sf.Pure(1), branching=1), "at least 2"),
        (lambda: sf.vector(int) >> sf.stats.tree(range(9), loss=sf.Pure(1), branching=[2, 3]), "at least the number"),
        (lambda: sf.vector(str) >> sf.stats.tree(range(9), loss=sf.Pure(1)), "numbers without NaN"),
        (lambda: sf.vector(Floats(nan=True)) >> sf.stats.tree(range(9), loss=sf.Pure(1)), "drop_nan first"),
        (lambda: sf.stats.hierarchical_counts([], loss=sf.Pure(1)), "nested"),
        (lambda: sf.stats.hierarchical_counts([["a"], ["b"]], loss=sf.Pure(1)), "nested"),
        (lambda: sf.stats.hierarchical_counts([["s", "s"], ["s", "c"]], loss=sf.Pure(1)), "twice"),
        (lambda: sf.stats.hierarchical_counts([["a"]], loss=sf.Pure(1), keys={"typo": [1]}), "finest level: a"),
        (lambda: sf.stats.hierarchical_counts([["a"]], loss=sf.Pure(1), weights=[1, 2]), "one for each level"),
        (lambda: sf.stats.hierarchical_counts([["a"]], loss=sf.Pure(1), weights=[0]), "greater than 0"),
        (lambda: sf.frame({"a": int}) >> sf.stats.hierarchical_counts([["a"]], loss=sf.Pure(1)), "listed"),
        (lambda: sf.frame({"b": [1]}) >> sf.stats.hierarchical_counts([["a"]], loss=sf.Pure(1)), "project the others"),
    ],
)
def test_what_cannot_be_is_refused(make: object, said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        make()  # type: ignore[operator]
