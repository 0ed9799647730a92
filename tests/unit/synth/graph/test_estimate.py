"""Models meet noisy marginals as well as any table can: held against convex programs on whole tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from tests.profiles import examples
from tests.unit.synth.graph.joints import SHAPES, SMALL, joint, noisy, normal, summed

from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.estimate import estimate
from sfumato.synth.graph.graphical import GraphicalModel
from sfumato.synth.graph.measured import Floats, Measured, total_of

THREE = Domain(("a", "b", "c"), (3, 2, 4))
LOOP = [("a", "b"), ("b", "c"), ("a", "c")]


def truth(domain: Domain, total: float, *, scale: float = 1.0) -> Floats:
    return joint(domain, {domain.names: scale * normal(7, domain.sizes)}, total)


def loss(model: GraphicalModel, measured: list[Measured]) -> float:
    value = 0.0
    for one in measured:
        counts = model.marginal(one.columns).reshape(-1)
        answers = counts if one.queries is None else one.queries @ counts
        value += float((((answers - one.counts.reshape(-1)) / (one.deviation or 1.0)) ** 2).sum()) / 2
    return value


def rows_of(domain: Domain, one: Measured) -> Floats:
    """The matrix that sums the flat table of all columns to one measured marginal, and asks its queries."""
    cells = np.eye(domain.size()).reshape(domain.size(), *domain.sizes)
    flat = np.array([summed(domain, cell, one.columns).reshape(-1) for cell in cells]).T
    return flat if one.queries is None else one.queries @ flat


def least(domain: Domain, measured: list[Measured], total: float) -> float:
    """The least loss of any table of a total, by a program over all of its cells (the total held by a heavy row)."""
    rows = [rows_of(domain, one) / one.deviation for one in measured]
    answers = [one.counts.reshape(-1) / one.deviation for one in measured]
    heavy = 1e4
    matrix = np.vstack([*rows, heavy * np.ones((1, domain.size()))])
    _, norm = nnls(matrix, np.concatenate([*answers, [heavy * total]]), maxiter=10_000)
    return float(norm) ** 2 / 2


@pytest.mark.parametrize("deviation", [0.5, 5.0, 50.0])
@pytest.mark.parametrize("cliques", [LOOP, [("a", "b", "c")], [("a", "b"), ("c",)], [("b", "c"), ("a", "b"), ("b",)]])
def test_no_table_meets_the_answers_better(cliques: list[tuple[str, ...]], deviation: float) -> None:
    measured = noisy(THREE, truth(THREE, 300.0), cliques, deviation=deviation)
    model = estimate(THREE, measured, total=300.0, tolerance=1e-9, iterations=5000)
    best = least(THREE, measured, 300.0)
    assert best - 1e-3 <= loss(model, measured) <= 1.002 * best + 2e-3


def test_of_all_tables_with_its_marginals_the_model_has_the_most_entropy() -> None:
    """A table of the form exp(Σ potentials) with given marginals is the one of most entropy: its log is orthogonal to
    every move that keeps the marginals."""
    measured = noisy(THREE, truth(THREE, 300.0), LOOP, deviation=5.0)
    model = estimate(THREE, measured, total=300.0, tolerance=1e-7)
    table = joint(THREE, model.potentials)
    rows = np.vstack([rows_of(THREE, one) for one in measured])
    moves = np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows) :]
    assert len(moves) == 6  # (3-1)(2-1)(4-1)
    np.testing.assert_allclose(moves @ np.log(table).reshape(-1), 0.0, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_exact_answers_are_met(shape: str) -> None:
    table = truth(SMALL, 1000.0, scale=0.5)
    measured = noisy(SMALL, table, SHAPES[shape], deviation=0.0)
    model = estimate(SMALL, measured, tolerance=1e-9, iterations=3000)
    assert model.total == pytest.approx(1000.0 if measured else 1.0)
    for one in measured:
        np.testing.assert_allclose(model.marginal(one.columns), one.counts, atol=0.05)


def test_marginals_that_overlap_agree() -> None:
    measured = noisy(SMALL, truth(SMALL, 500.0), SHAPES["all pairs"], deviation=10.0)
    model = estimate(SMALL, measured)
    for one in "abcde":
        sums = [summed(SMALL.project(pair), model.marginal(pair), [one]) for pair in SHAPES["all pairs"] if one in pair]
        for other in sums[1:]:
            np.testing.assert_allclose(other, sums[0], rtol=1e-9)


def test_a_warm_start_ends_where_a_cold_one_does_and_sooner() -> None:
    table = truth(SMALL, 2000.0)
    first = noisy(SMALL, table, SHAPES["chain"], deviation=5.0)
    measured = [*first, *noisy(SMALL, table, [("a", "c")], deviation=5.0)]
    steps: dict[str, int] = {}
    before = estimate(SMALL, first, total=2000.0, tolerance=1e-8)
    cold = estimate(SMALL, measured, total=2000.0, tolerance=1e-9, progress=lambda done, _: steps.update(cold=done))
    warm = estimate(
        SMALL, measured, total=2000.0, tolerance=1e-9, start=before, progress=lambda done, _: steps.update(warm=done)
    )
    for one in measured:
        np.testing.assert_allclose(warm.marginal(one.columns), cold.marginal(one.columns), atol=0.5)
    assert loss(warm, measured) == pytest.approx(loss(cold, measured), rel=1e-3)
    assert steps["warm"] <= 1.5 * steps["cold"]


def test_zeros_stay_zeros() -> None:
    zeros = {("b", "a"): np.array([[True, False], [False, False], [False, True]])}
    measured = noisy(SMALL, truth(SMALL, 500.0), SHAPES["loop"], deviation=3.0)
    model = estimate(SMALL, measured, zeros=zeros)
    assert (model.marginal(("b", "a"))[zeros["b", "a"]] == 0).all()
    assert (model.marginal(("b", "a"))[~zeros["b", "a"]] > 0).all()
    again = estimate(SMALL, measured, start=model)
    assert (again.marginal(("b", "a"))[zeros["b", "a"]] == 0).all()


def test_zeros_that_leave_nothing_are_refused() -> None:
    measured = noisy(SMALL, truth(SMALL, 500.0), [("a",)], deviation=3.0)
    with pytest.raises(BadArgument, match="some row is possible"):
        estimate(SMALL, measured, zeros={("a",): np.array([True, True])})
    with pytest.raises(BadArgument, match="some row is possible"):
        estimate(SMALL, [], zeros={("a",): np.array([True, True])})


def test_a_prior_holds_where_nothing_was_measured() -> None:
    prior = {("b", "c"): normal(3, (3, 4))}
    model = estimate(SMALL, noisy(SMALL, truth(SMALL, 500.0), [("a",)], deviation=1.0), total=500.0, prior=prior)
    np.testing.assert_allclose(model.marginal(("b", "c")), joint(SMALL, prior, 500.0).sum(axis=(0, 3, 4, 5)), rtol=1e-9)
    model = estimate(SMALL, [], total=500.0, prior=prior)
    np.testing.assert_allclose(model.marginal(("b", "c")), joint(SMALL, prior, 500.0).sum(axis=(0, 3, 4, 5)), rtol=1e-9)


def test_nothing_measured_is_uniform() -> None:
    model = estimate(SMALL, [])
    assert model.total == 1.0
    np.testing.assert_allclose(model.marginal(("c", "b")), np.full((4, 3), 1 / 12))


def test_queries_are_met_as_well_as_any_table_can() -> None:
    prefixes = np.tril(np.ones((4, 4)))
    table = truth(THREE, 300.0)
    counts = summed(THREE, table, ("c",))
    measured = [
        Measured(("c",), prefixes @ counts + 3 * normal(1, (4,)), 3.0, queries=prefixes),
        *noisy(THREE, table, [("a", "b"), ("c", "a")], deviation=5.0),
    ]
    model = estimate(THREE, measured, total=300.0, tolerance=1e-9, iterations=5000)
    best = least(THREE, measured, 300.0)
    assert best - 1e-3 <= loss(model, measured) <= 1.002 * best + 2e-3


def test_queries_go_by_the_order_of_columns_as_they_were_named() -> None:
    counts = np.arange(8.0).reshape(4, 2)
    model = estimate(THREE, [Measured(("c", "b"), counts.reshape(-1), 1e-3, queries=np.eye(8))], tolerance=1e-10)
    np.testing.assert_allclose(model.marginal(("c", "b")), counts, atol=0.02)


def test_repeated_measurements_count_by_their_precision() -> None:
    one, two = np.array([10.0, 20.0, 30.0]), np.array([20.0, 10.0, 30.0])
    model = estimate(THREE, [Measured(("a",), one, 1.0), Measured(("a",), two, 2.0)], tolerance=1e-10)
    np.testing.assert_allclose(model.marginal(("a",)), (4 * one + two) / 5, atol=1e-3)


def test_the_total_has_the_least_variance() -> None:
    first, second = Measured(("a",), np.array([1.0, 2.0, 3.0]), 2.0), Measured(("a", "b"), np.ones((3, 2)), 1.0)
    weights = 1 / (3 * 4), 1 / (6 * 1)
    wanted = (6.0 * weights[0] + 6.0 * weights[1]) / sum(weights)
    assert total_of([first, second]) == pytest.approx(wanted)
    shifted = Measured(("a",), np.array([1.0, 2.0, 30.0]), 2.0)
    assert total_of([shifted, second]) == pytest.approx((33 * weights[0] + 6 * weights[1]) / sum(weights))
    prefix = Measured(("a",), np.array([1.0, 3.0, 7.0]), 2.0, queries=np.tril(np.ones((3, 3))))
    assert total_of([prefix]) == pytest.approx(7.0)
    assert total_of([Measured(("a",), np.array([5.0]), 1.0, queries=np.array([[1.0, 0.0, 0.0]]))]) == 1.0
    assert total_of([]) == total_of([Measured(("a",), np.full(3, -9.0), 1.0)]) == 1.0


@settings(max_examples=examples(40))
@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=6, max_size=6),
    st.floats(0, 1e300),
    st.floats(0, 1e6),
)
def test_whatever_the_noise_made_a_model_comes_out(answers: list[float], deviation: float, other: float) -> None:
    measured = [
        Measured(("a", "b"), np.array(answers).reshape(3, 2), deviation),
        Measured(("b", "c"), np.full((2, 4), -3.0), other),
    ]
    model = estimate(THREE, measured, iterations=40)
    counts = model.marginal(("a", "c"))
    assert np.isfinite(counts).all() and (counts >= 0).all() and model.total >= 1
    assert counts.sum() == pytest.approx(model.total)


def test_impossible_requests_are_refused() -> None:
    one = Measured(("a",), np.ones(3), 1.0)
    with pytest.raises(BadArgument, match=r"of shape \(2,\)"):
        estimate(THREE, [Measured(("b",), np.ones(3), 1.0)])
    with pytest.raises(BadArgument, match="matrix of 3 columns"):
        estimate(THREE, [Measured(("a",), np.ones(1), 1.0, queries=np.ones((1, 2)))])
    with pytest.raises(BadArgument, match="some of a, b, c"):
        estimate(THREE, [Measured(("x",), np.ones(3), 1.0)])
    with pytest.raises(BadArgument, match="at most 5 cells"):
        estimate(THREE, [one], most_cells=5)
    for total in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(BadArgument, match="total"):
            estimate(THREE, [one], total=total)
    with pytest.raises(BadArgument, match="tolerance"):
        estimate(THREE, [one], tolerance=math.nan)
    with pytest.raises(BadArgument, match="same domain"):
        estimate(THREE, [one], start=estimate(SMALL, []))
    with pytest.raises(BadArgument, match="prior"):
        estimate(THREE, [one], prior={("a",): np.ones(2)})
    with pytest.raises(BadArgument, match="logarithms"):
        estimate(THREE, [one], prior={("a",): np.array([0.0, math.nan, 0.0])})


def test_progress_counts_up_to_the_iterations() -> None:
    told: list[tuple[int, int]] = []
    estimate(THREE, noisy(THREE, truth(THREE, 90.0), LOOP, deviation=3.0), progress=lambda *at: told.append(at))
    assert told and all(0 < done <= steps for done, steps in told)


def test_estimates_repeat_bit_for_bit() -> None:
    measured = noisy(SMALL, truth(SMALL, 500.0), SHAPES["two loops"], deviation=3.0)
    assert estimate(SMALL, measured).plain() == estimate(SMALL, measured).plain()
