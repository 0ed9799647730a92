"""Ranges of ordered values: trees of any size, errors that are exact, quantiles, distribution functions, bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import local
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local.one_of import OneOf
from sfumato.local.range_trees import Haar, Tree, widths_of
from sfumato.local.ranges import Ranges
from sfumato.local.response import Response
from sfumato.local.values import Values

PEOPLE = 20_000
HOWS: tuple[int | str, ...] = (2, 4, 100, "haar")


def population() -> Any:
    at = np.arange(PEOPLE)
    return np.minimum((at * at) % 101 * (at % 7) // 6, 99)


def hashed(size: int) -> OneOf:
    return OneOf((local.frequencies(range(size), loss=1, users=9, method="local hashing"),))


@pytest.mark.parametrize("how", HOWS)
def test_counts_of_ranges_have_the_errors_that_they_state(how: int | str) -> None:
    """Over 60 repetitions and 5 ranges the squares of errors over stated deviations have mean 1, to 40 %."""
    protocol, values, source = local.ranges(range(100), loss=2, users=PEOPLE, how=how), population(), ReplayEntropy(7)
    spans = ((0, 49), (10, 19), (33, 33), (25, 99), (1, 98))
    truth = [int(np.sum((values >= low) & (values <= high))) for low, high in spans]
    scores, inside = [], []
    for _ in range(60):
        told = protocol.aggregate(protocol.randomize_many(values, entropy=source))
        counts = [told.count(low, high) for low, high in spans]
        scores.append([(one.count - own) / one.deviation for one, own in zip(counts, truth, strict=True)])
        inside.append([one.interval()[0] <= own <= one.interval()[1] for one, own in zip(counts, truth, strict=True)])
    assert abs(np.mean(np.square(scores)) - 1) < 0.4
    assert np.mean(inside) > 0.9


@pytest.mark.parametrize("how", [2, 3, "haar"])
def test_the_exact_variance_is_the_one_that_comes(how: int | str) -> None:
    """Given how many told of each level; few people, so that the draw of levels matters."""
    protocol, values, source = local.ranges(range(6), loss=4, users=90, how=how), np.arange(90) % 6, ReplayEntropy(5)
    shares, expected, seen = np.full(6, 1 / 6), [], []
    for _ in range(1500):
        told = protocol.aggregate(protocol.randomize_many(values, entropy=source))
        expected.append(protocol.variance(1, 4, asked=told.asked, shares=shares))
        seen.append((told.count(1, 3).count / 90 - 0.5) ** 2)
    assert np.mean(seen) == pytest.approx(np.mean(expected), rel=0.13)


@pytest.mark.parametrize("how", HOWS)
def test_distributions_rise_and_quantiles_are_covered(how: int | str) -> None:
    protocol, values, source = local.ranges(range(100), loss=3, users=PEOPLE, how=how), population(), ReplayEntropy(8)
    hits, told = [], protocol.aggregate([])
    for _ in range(40):
        told = protocol.aggregate(protocol.randomize_many(values, entropy=source))
        rising, raw = told.cdf(), np.cumsum(told.shares)
        truth = np.cumsum(np.bincount(values, minlength=100)) / PEOPLE
        assert np.all(np.diff(rising) >= 0) and rising[-1] == 1 and rising[0] >= 0
        assert np.max(np.abs(rising - truth)) <= np.max(np.abs(raw - truth)) + 1e-12
        first, last = told.quantile_interval("0.25")
        assert first <= told.quantile("0.25") <= last  # type: ignore[operator]
        hits.append(first <= np.quantile(values, 0.25, method="inverted_cdf") <= last)
    assert np.mean(hits) > 0.8
    assert told.median == told.quantile("0.5")


def test_fitted_shares_are_the_least_squares_ones() -> None:
    """Against the normal equations, for sizes and branchings that do not divide each other."""
    rng = np.random.default_rng(2)
    for size, branching in ((7, 2), (10, 3), (9, 3), (5, 5), (11, 4)):
        widths = widths_of(size, branching)
        tree = Tree(size, widths, tuple(0.5 + level for level in range(len(widths))))
        nodes = [tree.nodes(level) for level in range(len(widths))]
        measured = [rng.normal(size=count) for count in nodes]
        rows = np.zeros((sum(nodes), size))
        for level, width in enumerate(widths):
            for leaf in range(size):
                rows[sum(nodes[:level]) + leaf // width, leaf] = 1
        root = np.repeat([1 / math.sqrt(v) for v in tree.variances], nodes)
        heavy = np.vstack((rows * root[:, None], 1e6 * np.ones((1, size))))  # the whole is 1, all but exactly
        goal = np.append(np.concatenate(measured) * root, 1e6)
        best = np.linalg.lstsq(heavy, goal, rcond=None)[0]
        fitted = tree.fitted(measured)
        assert fitted == pytest.approx(best, abs=1e-4) and fitted.sum() == pytest.approx(1)
        asked = rng.normal(size=size)
        zero = asked @ tree.fitted([0 * own for own in measured])
        linear = sum(weights @ own for weights, own in zip(tree.measured_weights(asked), measured, strict=True))
        assert zero + linear == pytest.approx(asked @ fitted)


@pytest.mark.parametrize("size", [2, 3, 5, 8, 13, 100])
def test_halves_of_halves_give_back_what_was_measured_without_error(size: int) -> None:
    shares, widths = np.arange(1.0, size + 1) / (size * (size + 1) / 2), widths_of(size, 2)
    measured = []
    for width in widths:
        nodes = np.add.reduceat(shares, np.arange(0, size, width))
        halves = np.append(nodes, 0) if len(nodes) % 2 else nodes
        measured.append(halves[0::2] - halves[1::2])
    assert Haar(size, widths).fitted(measured) == pytest.approx(shares)


def test_the_best_tree_is_taken() -> None:
    plans = local.range_plans(range(1000), loss=1, users=PEOPLE)
    errors = {plan.how: plan.error for plan in plans}
    assert plans[0].protocol == local.ranges(range(1000), loss=1, users=PEOPLE)
    assert plans[0].error <= 1.01 * min(errors.values())
    assert errors["tree of 1000"] > 2 * plans[0].error  # many noisy counts added up
    assert next(plan for plan in plans if plan.how == "haar").message_bytes == 7
    assert local.range_plans(range(3), loss=1, users=PEOPLE)[0].how == "tree of 3"


def test_values_are_counted_one_by_one_as_well() -> None:
    protocol = local.ranges(["low", "middle", "high"], loss=3, users=600)
    told = protocol.aggregate([protocol.randomize("middle", entropy=ReplayEntropy(at)) for at in range(600)])
    assert told.median == "middle" and told.users == 600
    assert told.counts[1] == pytest.approx(told.count("middle", "middle").count)
    assert told.consistent().sum() == pytest.approx(600) and told.consistent().min() >= 0


def test_where_a_level_was_asked_of_nobody_nothing_is_estimated() -> None:
    protocol = local.ranges(range(64), loss=1, users=10, how=2)
    for reports in ([], [protocol.randomize(5)]):
        told = protocol.aggregate(reports)
        assert np.isnan(told.shares).all() and math.isnan(told.count(0, 5).deviation)
        with pytest.raises(BadArgument, match="every level"):
            _ = told.median


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: local.ranges([3], loss=1, users=10), "at least two"),
        (lambda: local.ranges(range(9), loss=1, users=10, how=1), "at least 2"),
        (lambda: local.ranges(range(9), loss=1, users=10, how="wide"), "haar"),
        (lambda: local.ranges(range(9), loss=0, users=10), "above 0"),
        (lambda: local.ranges(range(9), loss=25, users=10), "at most 24"),
        (lambda: local.ranges(range(9), loss=1, users=10).randomize(9), "listed values"),
        (lambda: local.ranges(range(9), loss=1, users=10).aggregate([]).count(5, 4), "order"),
        (lambda: local.ranges(range(9), loss=1, users=10).aggregate([]).count(0, 9), "listed values"),
        (lambda: Ranges(Values(range(9)), (3, 1), local.ranges(range(9), loss=1, users=9, how=2).asked), "nodes"),
        (
            lambda: Ranges(
                Values(range(5)), (3, 2, 1), OneOf(tuple(Response(Values(range(n)), sf.Pure(1)) for n in (2, 3, 5)))
            ),
            "multiples",
        ),
        (lambda: Ranges(Values(range(4)), (1,), hashed(4)), "Response"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(make: Callable[[], Any], problem: str) -> None:
    with pytest.raises(BadArgument, match=problem):
        make()
