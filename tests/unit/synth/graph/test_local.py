"""Regions agree on what they share; where they form a tree they are exact; rows come from a tree of bounded size."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples
from tests.unit.synth.graph.joints import SHAPES, SMALL, joint, noisy, normal, summed

from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.estimate import estimate
from sfumato.synth.graph.local import LocalModel, estimate_locally
from sfumato.synth.graph.measured import Floats, Measured
from sfumato.synth.graph.model import Model
from sfumato.synth.graph.regions import Regions


def truth(total: float) -> Floats:
    return joint(SMALL, {SMALL.names: normal(7, SMALL.sizes)}, total)


def loss(model: Model, measured: list[Measured]) -> float:
    return sum(float((((model.marginal(one.columns) - one.counts) / one.deviation) ** 2).sum()) / 2 for one in measured)


@pytest.mark.parametrize("shape", SHAPES)
def test_regions_agree_wherever_they_overlap(shape: str) -> None:
    model = estimate_locally(SMALL, noisy(SMALL, truth(1000.0), SHAPES[shape], deviation=10.0), total=1000.0)
    assert all(table.min() >= 0 and table.sum() == pytest.approx(1000.0) for table in model.tables.values())
    for one, other in combinations(model.tables, 2):
        shared = tuple(name for name in one if name in other)
        sums = [summed(SMALL.project(region), model.tables[region], shared) for region in (one, other)]
        np.testing.assert_allclose(*sums, atol=1e-4)


@pytest.mark.parametrize("shape", ["one column", "chain", "star", "disconnected", "clique", "nested", "one code"])
def test_where_regions_form_a_tree_they_are_exact(shape: str) -> None:
    """On trees, marginals that agree are those of a table: both problems are the same."""
    measured = noisy(SMALL, truth(1000.0), SHAPES[shape], deviation=10.0)
    exact = estimate(SMALL, measured, total=1000.0, tolerance=1e-8)
    local = estimate_locally(SMALL, measured, total=1000.0, tolerance=1e-6)
    assert loss(local, measured) == pytest.approx(loss(exact, measured), rel=0.02, abs=0.02)
    for one in measured:
        np.testing.assert_allclose(local.marginal(one.columns), exact.marginal(one.columns), atol=3.0)


@pytest.mark.parametrize("shape", ["loop", "two loops", "triples", "all pairs"])
def test_to_ask_for_less_costs_no_accuracy(shape: str) -> None:
    measured = noisy(SMALL, truth(1000.0), SHAPES[shape], deviation=10.0)
    exact = estimate(SMALL, measured, total=1000.0, tolerance=1e-8)
    local = estimate_locally(SMALL, measured, total=1000.0, tolerance=1e-6)
    assert loss(local, measured) <= 1.02 * loss(exact, measured) + 0.02


def test_counts_of_potentials_on_a_chain_are_the_nearest_that_agree() -> None:
    """Two regions around one column: the geometric mean of what they say of it, by hand."""
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    regions = Regions.plan(domain, [("a", "b"), ("b", "c")])
    regions.potentials[:] = normal(1, (8,))
    first, second = (np.exp(table) for table in regions.potentials.reshape(2, 2, 2))
    middle = np.sqrt(first.sum(axis=0) / first.sum() * second.sum(axis=1) / second.sum())
    middle *= 10 / middle.sum()
    assert regions.run(10.0) < 1e-5
    np.testing.assert_allclose(regions.tables[0], first / first.sum(axis=0) * middle, rtol=1e-6)
    np.testing.assert_allclose(regions.tables[1], second / second.sum(axis=1)[:, None] * middle[:, None], rtol=1e-6)


def test_all_pairs_of_many_columns_need_no_tree() -> None:
    """A junction tree of all pairs of 12 columns of 6 codes would have two billion cells."""
    wide = Domain(tuple(f"c{place}" for place in range(12)), (6,) * 12)
    pairs = list(combinations(wide.names, 2))
    measured = [Measured(pair, 100 * np.exp(0.3 * normal(place, (6, 6))), 5.0) for place, pair in enumerate(pairs)]
    with pytest.raises(BadArgument, match="cells"):
        estimate(wide, measured)
    model = estimate_locally(wide, measured, most_cells=20_000)
    assert model.tree.tree.cells <= 20_000
    codes = model.sample(500, ReplayEntropy(1), given={"c3": 2})
    assert codes.shape == (500, 12) and (codes[:, 3] == 2).all()
    assert model.marginal(("c0", "c5", "c9")).sum() == pytest.approx(model.total)


def test_rows_follow_the_regions_that_fit_into_the_tree() -> None:
    measured = noisy(SMALL, truth(5000.0), SHAPES["chain"], deviation=1.0)
    model = estimate_locally(SMALL, measured)
    codes = model.sample(20_000, ReplayEntropy(1)).astype(int)
    for one in measured:
        flat = np.ravel_multi_index([codes[:, axis] for axis in SMALL.axes(one.columns)], SMALL.shape(one.columns))
        shares = np.bincount(flat, minlength=SMALL.size(one.columns)) / 20_000
        np.testing.assert_allclose(shares, model.marginal(one.columns).reshape(-1) / model.total, atol=0.01)


@settings(max_examples=examples(25))
@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=6, max_size=6),
    st.floats(0, 1e300),
    st.floats(0, 1e6),
)
def test_whatever_the_noise_made_a_model_comes_out(answers: list[float], deviation: float, other: float) -> None:
    three = Domain(("a", "b", "c"), (3, 2, 4))
    measured = [
        Measured(("a", "b"), np.array(answers).reshape(3, 2), deviation),
        Measured(("b", "c"), np.full((2, 4), -3.0), other),
        Measured(("c", "a"), np.ones((4, 3)), other),
    ]
    model = estimate_locally(three, measured, iterations=30)
    for columns in (("a", "b"), ("c", "b"), ("a", "c"), ("a", "b", "c")):
        counts = model.marginal(columns)
        assert np.isfinite(counts).all() and (counts >= 0).all()
        assert counts.sum() == pytest.approx(model.total)


def test_nothing_measured_is_uniform() -> None:
    model = estimate_locally(SMALL, [])
    np.testing.assert_allclose(model.marginal(("c", "a")), np.full((4, 2), 1 / 8))
    assert model.sample(10, ReplayEntropy(1)).shape == (10, 6)


def test_written_down_and_read_again_a_model_is_the_same() -> None:
    model = estimate_locally(SMALL, noisy(SMALL, truth(100.0), SHAPES["loop"], deviation=3.0))
    again = LocalModel.from_plain(json.loads(json.dumps(model.plain(), allow_nan=False)))
    assert again.plain() == model.plain()
    np.testing.assert_array_equal(again.sample(50, ReplayEntropy(2)), model.sample(50, ReplayEntropy(2)))
    with pytest.raises(BadArgument, match=r"LocalModel\.plain"):
        LocalModel.from_plain({})


def test_what_cannot_be_is_refused() -> None:
    measured = noisy(SMALL, truth(100.0), SHAPES["loop"], deviation=3.0)
    with pytest.raises(BadArgument, match="at most 10 cells together"):
        estimate_locally(SMALL, measured, most_cells=10)
    with pytest.raises(BadArgument, match="different columns"):
        estimate_locally(SMALL, measured).marginal(("a", "a"))
    with pytest.raises(BadArgument, match="total"):
        estimate_locally(SMALL, measured, total=-1.0)
