"""Estimated counts made possible: what each method promises, that no edge breaks it, and which has the least error."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.datasets import load_wine

from sfumato import local
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local.consistency import METHODS, Seen, consistent, norm_mul, norm_sub

Counts = NDArray[np.float64]

EDGES: dict[str, Seen] = {
    "one person, nothing supported": Seen(np.zeros(3), 1, 0.6, 0.4),
    "nothing supported": Seen(np.zeros(50), 1000, 0.5, 0.1),
    "all supported by all": Seen(np.full(3, 1000.0), 1000, 0.5, 0.1),
    "hardly any noise": Seen(np.array([1e9, 0, 0]), 10**9, 1 - 1e-10, 5e-11),
    "nearly all noise": Seen(np.array([3.0, 2.0]), 5, 0.5 + 1e-7, 0.5 - 1e-7),
    "more cells than are told apart": Seen(np.arange(0.0, 2e6, 1e3), 10**9, 0.9, 1e-6),
    "many values of one person": Seen(np.eye(1, 2000)[0], 1, 0.5, 0.2),
}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("method", METHODS)
def test_counts_are_possible(method: str, edge: str) -> None:
    counts = consistent(EDGES[edge], method)
    assert counts.min() >= 0
    assert counts.sum() == pytest.approx(EDGES[edge].users)


@pytest.mark.parametrize("method", METHODS)
def test_counts_of_a_table_that_nobody_here_made_are_possible(method: str) -> None:
    labels = load_wine().target
    protocol = local.frequencies(range(40), loss=1, users=len(labels))
    counts = protocol.aggregate(protocol.randomize_many(labels, entropy=ReplayEntropy(6))).consistent(method)
    assert counts.min() >= 0 and counts.sum() == pytest.approx(len(labels))
    assert protocol.aggregate([]).consistent(method).tolist() == [0] * 40


def test_unknown_methods_are_refused() -> None:
    with pytest.raises(BadArgument, match="empirical_bayes, norm_sub"):
        consistent(EDGES["nothing supported"], "other")


def test_norms() -> None:
    assert norm_sub(np.array([-5.0, -7.0]), 3).tolist() == [2.5, 0.5]
    assert norm_mul(np.array([-5.0, -7.0]), 3).tolist() == [1.5, 1.5]
    assert norm_mul(np.array([3.0, 1.0, -7.0]), 8).tolist() == [6, 2, 0]


@pytest.mark.parametrize("kind", ["multinomial", "binomial"])
def test_the_likelihood_is_at_its_maximum(kind: str) -> None:
    """A general optimiser finds nothing likelier, and the unbiased counts cut and scaled are less likely."""
    truth, other, users = (0.4, 0.15, 200) if kind == "multinomial" else (0.5, 0.2, 200)
    support = np.array([80.0, 50.0, 28.0, 25.0, 17.0])

    def unlikely(shares: Counts) -> float:
        at = other + (truth - other) * shares
        rest = np.zeros(5) if kind == "multinomial" else (users - support) * np.log(1 - at)
        return -float(np.sum(support * np.log(at) + rest))

    seen = Seen(support, users, truth, other)
    found = consistent(seen, "likelihood") / users
    possible = {"type": "eq", "fun": lambda shares: shares.sum() - 1}
    other_way = minimize(unlikely, np.full(5, 0.2), bounds=[(0, 1)] * 5, constraints=[possible], tol=1e-12)
    assert found == pytest.approx(other_way.x, abs=2e-4)
    assert unlikely(found) <= other_way.fun + 1e-9
    assert unlikely(norm_mul(seen.counts, 1)) > unlikely(found) + 0.01


def populations(size: int, people: int) -> dict[str, NDArray[np.int64]]:
    """Shares of very different shapes, as counts."""
    ranks = np.arange(1, size + 1)
    shapes = {
        "alike": np.ones(size),
        "zipf": ranks**-1.2,
        "steep zipf": ranks**-2.0,
        "geometric": 0.9**ranks,
        "few": np.where(ranks <= max(1, size // 50), 1.0, 0.0),
    }
    ends = {name: np.rint(np.cumsum(shape) / shape.sum() * people).astype(np.int64) for name, shape in shapes.items()}
    return {name: np.diff(end, prepend=0) for name, end in ends.items()}


def errors(method: str, name: str, size: int, people: int, epsilon: float) -> list[float]:
    """The squared error of a method on each population, over that of unbiased counts, and a floor of 1 %.

    The noise is the same for every method.
    """
    protocol = local.frequencies(range(size), loss=Pure(epsilon), users=people, method=name)
    found = []
    for number, truth in enumerate(populations(size, people).values()):
        values = np.repeat(np.arange(size), truth)
        estimate = protocol.aggregate(protocol.randomize_many(values, entropy=ReplayEntropy(number)))
        unbiased = float(protocol.mean_squared_error(users=people)) * people**2
        found.append(float(np.mean((estimate.consistent(method) - truth) ** 2)) / unbiased + 0.01)
    return found


@pytest.mark.parametrize("name", ["response", "geometry response"])
def test_the_default_has_the_least_error(name: str) -> None:
    """As a geometric mean over shapes and losses; and nowhere is it far above the nearest counts."""
    cases = [(size, epsilon) for size in (5, 50, 1000) for epsilon in (0.5, 1.0, 3.0)]
    every = {
        method: np.array([errors(method, name, size, 20_000, epsilon) for size, epsilon in cases])
        for method in ("empirical_bayes", "norm_sub", "norm_mul", "base_cut")
    }
    means = {method: math.exp(np.mean(np.log(found))) for method, found in every.items()}
    assert means["empirical_bayes"] < 0.65 * means["norm_sub"]
    assert means["empirical_bayes"] < 0.9 * means["base_cut"]
    assert means["empirical_bayes"] < 0.65 * means["norm_mul"]
    assert np.max(every["empirical_bayes"] / every["norm_sub"]) < 5


def test_a_power_law_is_found() -> None:
    """With its exponent left to the method; and data of another shape do not break it."""
    for shape, least in (("zipf", 0.75), ("steep zipf", 0.85), ("geometric", 1.3)):
        truth = populations(500, 50_000)[shape]
        protocol = local.GeometryResponse(local.Values(range(500)), Pure(1))
        reports = protocol.randomize_many(np.repeat(np.arange(500), truth), entropy=ReplayEntropy(9))
        estimate = protocol.aggregate(reports)
        found, nearest = (np.mean((estimate.consistent(method) - truth) ** 2) for method in ("power_law", "norm_sub"))
        assert found < least * nearest
