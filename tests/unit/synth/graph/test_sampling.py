"""Rows have the counts that the model expects, rounded; given columns are kept and the rest follows from them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2
from tests.unit.synth.graph.joints import SHAPES, SMALL, joint, normal, summed

from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.graphical import GraphicalModel
from sfumato.synth.graph.measured import Floats
from sfumato.synth.graph.model import Codes
from sfumato.synth.graph.sampling import grouped_draws, rounded, shuffled, uniform

FALSE_ALARM = 1e-9


def model_of(shape: str, *, scale: float = 1.0) -> GraphicalModel:
    potentials = {
        SMALL.sorted(columns): scale * normal(place, SMALL.shape(SMALL.sorted(columns)))
        for place, columns in enumerate(SHAPES[shape])
    }
    return GraphicalModel(SMALL, 1.0, potentials)


def tabled(domain: Domain, codes: Codes, columns: tuple[str, ...]) -> Floats:
    flat = np.ravel_multi_index([codes[:, axis].astype(int) for axis in domain.axes(columns)], domain.shape(columns))
    return np.bincount(flat, minlength=domain.size(columns)).reshape(domain.shape(columns)).astype(float)


def surprise(counts: Floats, expected: Floats) -> float:
    """How likely independent rows would be further from what is expected."""
    used = expected > 0
    assert not counts[~used].any()
    statistic = float((((counts - expected)[used]) ** 2 / expected[used]).sum())
    return float(chi2.sf(statistic, max(int(used.sum()) - 1, 1)))


@pytest.mark.parametrize("shape", SHAPES)
def test_roots_and_columns_are_rounded_and_not_drawn(shape: str) -> None:
    model, rows = model_of(shape), 1237
    codes = model.sample(rows, ReplayEntropy(1))
    assert codes.shape == (rows, 6) and codes.dtype == np.uint8
    roots = [clique for clique, parent in zip(model.tree.cliques, model.tree.parents, strict=True) if parent < 0]
    for root in roots:
        assert np.abs(tabled(SMALL, codes, root) - rows * model.marginal(root)).max() < 1 + 1e-9


@pytest.mark.parametrize("shape", SHAPES)
def test_every_pair_and_triple_has_the_distribution_of_the_model(shape: str) -> None:
    model, rows = model_of(shape), 50_000
    codes = model.sample(rows, ReplayEntropy(2))
    for size in (1, 2, 3):
        for columns in combinations("abcde", size):
            assert surprise(tabled(SMALL, codes, columns), rows * model.marginal(columns)) > FALSE_ALARM


def test_the_test_notices_a_wrong_distribution() -> None:
    codes = model_of("star").sample(50_000, ReplayEntropy(2))
    other = model_of("star", scale=1.1)
    assert surprise(tabled(SMALL, codes, ("a", "b")), 50_000 * other.marginal(("a", "b"))) < FALSE_ALARM


def test_small_samples_are_right_on_average() -> None:
    """Of 3 rows no count can be exact; over 4,000 samples their means must be."""
    model = model_of("two loops")
    codes = np.concatenate([model.sample(3, ReplayEntropy(seed)) for seed in range(4000)])
    for columns in (("a", "b"), ("d", "e"), ("a", "e"), ("b", "c", "d")):
        assert surprise(tabled(SMALL, codes, columns), 12_000 * model.marginal(columns)) > FALSE_ALARM


def test_columns_that_share_a_parent_alone_are_independent_given_it() -> None:
    """Rounded counts are dealt to rows at random: without that, two children of one parent would move together."""
    model, rows = model_of("star", scale=0.0), 60_000
    codes = model.sample(rows, ReplayEntropy(3))
    assert surprise(tabled(SMALL, codes, ("b", "c", "d")), rows * model.marginal(("b", "c", "d"))) > FALSE_ALARM


def test_samples_repeat_with_their_entropy_and_only_then() -> None:
    model = model_of("loop")
    first, again, other = (model.sample(100, ReplayEntropy(seed)) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_types_and_empty_samples() -> None:
    assert model_of("loop").sample(0, ReplayEntropy(1)).shape == (0, 6)
    wide = GraphicalModel(Domain(("a", "b"), (300, 2)), 1.0, {})
    codes = wide.sample(600, ReplayEntropy(1))
    assert codes.dtype == np.uint16
    assert (np.bincount(codes[:, 0], minlength=300) == 2).all()
    assert GraphicalModel(Domain(("a",), (256,)), 1.0, {}).sample(1, ReplayEntropy(1)).dtype == np.uint8
    assert GraphicalModel(Domain((), ()), 1.0, {}).sample(3, ReplayEntropy(1)).shape == (3, 0)
    with pytest.raises(BadArgument, match="rows"):
        wide.sample(-1, ReplayEntropy(1))


def test_what_is_forbidden_is_never_drawn() -> None:
    potentials = dict(model_of("loop").potentials)
    potentials["a", "b"] = np.where(np.eye(2, 3) > 0, -np.inf, potentials["a", "b"])
    codes = GraphicalModel(SMALL, 1.0, potentials).sample(10_000, ReplayEntropy(1))
    assert not np.logical_and(codes[:, 0] == codes[:, 1], codes[:, 0] < 2).any()


@pytest.mark.parametrize("given", [{"a": 1}, {"e": 2, "a": 0}, {"b": 1, "d": 1, "e": 0}, {"f": 0, "c": 3}])
@pytest.mark.parametrize("most_cells", [4_000_000, 60])
@pytest.mark.parametrize("shape", ["chain", "disconnected", "two loops"])
def test_one_condition_for_all_rows(shape: str, given: dict[str, int], most_cells: int) -> None:
    model, rows = model_of(shape), 20_000
    model = GraphicalModel(SMALL, 1.0, model.potentials, max(most_cells, model.tree.cells))
    codes = model.sample(rows, ReplayEntropy(4), given=given)
    for name, code in given.items():
        assert (codes[:, SMALL.axes([name])[0]] == code).all()
    table = joint(SMALL, model.potentials)[tuple(given.get(name, slice(None)) for name in SMALL.names)]
    rest = [name for name in SMALL.names if name not in given]
    for columns in combinations(rest, 2):
        expected = summed(SMALL.project(rest), table, columns) * (rows / table.sum())
        assert surprise(tabled(SMALL, codes, columns), expected) > FALSE_ALARM


@pytest.mark.parametrize("most_cells", [4_000_000, 60])
@pytest.mark.parametrize("shape", ["chain", "disconnected", "two loops"])
def test_a_condition_for_each_row(shape: str, most_cells: int) -> None:
    model, rows = model_of(shape), 40_000
    model = GraphicalModel(SMALL, 1.0, model.potentials, max(most_cells, model.tree.cells))
    given = {"e": np.arange(rows) % 3, "a": (np.arange(rows) // 3) % 2, "d": 1}
    codes = model.sample(rows, ReplayEntropy(4), given=given)
    table = joint(SMALL, model.potentials)[:, :, :, 1, :, 0]
    for a in range(2):
        for e in range(3):
            chosen = codes[(given["a"] == a) & (given["e"] == e)]
            assert (chosen[:, 0] == a).all() and (chosen[:, 4] == e).all() and (chosen[:, 3] == 1).all()
            expected = table[a, :, :, e] * (len(chosen) / table[a, :, :, e].sum())
            assert surprise(tabled(SMALL, chosen, ("b", "c")), expected) > FALSE_ALARM


@pytest.mark.parametrize("most_cells", [4_000_000, 24])
def test_a_condition_that_cannot_be_leaves_the_rest_uniform(most_cells: int) -> None:
    potentials = {("a", "b"): np.array([[0.0, -np.inf, 0.0], [-np.inf] * 3]), ("c",): np.zeros(4)}
    model = GraphicalModel(SMALL, 1.0, potentials, max(most_cells, 6 + 4 + 2 + 3))
    codes = model.sample(600, ReplayEntropy(1), given={"a": 1})
    assert (codes[:, 0] == 1).all()
    counts = np.bincount(codes[:, 1], minlength=3)
    assert sorted(counts.tolist()) == [0, 300, 300]  # b = 1 occurs nowhere


def test_where_each_condition_is_propagated_one_that_cannot_be_leaves_all_codes_alike() -> None:
    """Too few cells for a table of the three given columns, so that evidence is put into the potentials."""
    potentials = {("a", "b"): np.array([[0.0, 0.0, 0.0], [-np.inf] * 3])}
    model = GraphicalModel(SMALL, 1.0, potentials, most_cells=15)
    codes = model.sample(600, ReplayEntropy(1), given={"a": 1, "c": np.arange(600) % 2, "d": 0})
    assert (codes[:, 0] == 1).all() and (codes[:, 2] == np.arange(600) % 2).all() and not codes[:, 3].any()
    assert np.bincount(codes[:, 1], minlength=3).tolist() == [200, 200, 200]
    assert np.bincount(codes[:, 4], minlength=3).tolist() == [200, 200, 200]


def test_conditions_that_are_none_are_refused() -> None:
    model = model_of("chain")
    for wrong in (2, -1, 0.5, np.zeros(3, dtype=int), "x"):
        with pytest.raises(BadArgument, match="given"):
            model.sample(5, ReplayEntropy(1), given={"a": wrong})  # type: ignore[dict-item]
    with pytest.raises(BadArgument, match="some of a"):
        model.sample(5, ReplayEntropy(1), given={"z": 1})


def test_whole_numbers_are_split_to_the_nearest_with_the_right_means() -> None:
    weights = np.array([[0.2, 0.5, 0.3, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]])
    sizes = np.array([7, 5, 2])
    exact = sizes[:, None] * weights / weights.sum(axis=1, keepdims=True)
    entropy = ReplayEntropy(1)
    splits = np.array([rounded(sizes, weights, entropy) for _ in range(3000)])
    assert (splits.sum(axis=2) == sizes).all() and not splits[:, :, 3].any()
    assert (np.abs(splits - exact) < 1).all()
    np.testing.assert_allclose(splits.mean(axis=0), exact, atol=0.05)


def test_shuffles_keep_groups_and_nothing_else() -> None:
    groups = np.array([1, 0, 1, 0, 1, 0, 2, 2] * 50)
    order = shuffled(groups, 3, ReplayEntropy(1))
    assert sorted(order.tolist()) == list(range(400)) and (np.diff(groups[order]) >= 0).all()
    crowded = shuffled(groups + (1 << 40), (1 << 40) + 3, ReplayEntropy(1))  # too many groups for one word
    assert sorted(crowded.tolist()) == list(range(400)) and (np.diff(groups[crowded]) >= 0).all()
    firsts = [int(shuffled(np.zeros(4, dtype=int), 1, ReplayEntropy(seed))[0]) for seed in range(4000)]
    assert surprise(np.bincount(firsts, minlength=4).astype(float), np.full(4, 1000.0)) > FALSE_ALARM


def test_groups_without_weight_draw_from_what_occurs() -> None:
    weights = np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    values = grouped_draws(weights, np.array([1] * 10), ReplayEntropy(1))
    assert np.bincount(values, minlength=3).tolist() == [0, 5, 5]
    values = grouped_draws(np.zeros((2, 3)), np.array([1] * 9), ReplayEntropy(1))
    assert np.bincount(values, minlength=3).tolist() == [3, 3, 3]


def test_uniform_numbers_are_those_of_the_words() -> None:
    numbers = uniform(1000, ReplayEntropy(1))
    assert (numbers == (ReplayEntropy(1).words(1000) >> np.uint64(11)) / 2.0**53).all()
    assert numbers.min() >= 0 and numbers.max() < 1
