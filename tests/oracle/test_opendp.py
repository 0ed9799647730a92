"""Maps and laws against OpenDP, where its own are right (its known defects are not used as oracles)."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.exact import up

dp: Any = pytest.importorskip("opendp.prelude", reason="needs opendp: pip install 'sfumato[test]'")
dp.enable_features("contrib")

LOOSE = 1e-9
"""OpenDP adds a relaxation for float summation to its float aggregates; ours are exact."""


def near(ours: Any, theirs: float) -> bool:
    return math.isclose(up(ours), theirs, rel_tol=LOOSE)


@pytest.mark.parametrize("distance", [1, 2, 5])
@pytest.mark.parametrize(("lower", "upper"), [(0, 10), (-3, 7), (-9, -2), (90, 100)])
def test_sums_of_unknown_size(lower: int, upper: int, distance: int) -> None:
    theirs = (
        dp.vector_domain(dp.atom_domain(T=int, bounds=(lower, upper))),
        dp.symmetric_distance(),
    ) >> dp.t.then_sum()
    ours = sf.vector(int, between=(lower, upper)) >> sf.sum()
    assert ours.map(distance) == theirs.map(distance)


@pytest.mark.parametrize("distance", [2, 3, 4])
def test_sums_means_and_variances_of_known_size(distance: int) -> None:
    space = (
        dp.vector_domain(dp.atom_domain(T=float, bounds=(0.0, 10.0), nan=False), size=100),
        dp.symmetric_distance(),
    )
    ours = sf.vector(float, between=(0, 10), size=100, metric=sf.AddRemove())
    assert near((ours >> sf.sum()).map(distance), (space >> dp.t.then_sum()).map(distance))
    assert near((ours >> sf.mean()).map(distance), (space >> dp.t.then_mean()).map(distance))
    theirs = (space >> dp.t.then_variance()).map(distance)
    assert near((ours >> sf.variance()).map(distance), theirs) or distance >= 4
    assert up((ours >> sf.variance()).map(distance)) <= theirs, "ours is exact for several changed rows, theirs linear"


def test_counts() -> None:
    rows = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    assert (sf.vector(str) >> sf.count()).map(3) == (rows >> dp.t.then_count()).map(3)
    assert (sf.vector(str) >> sf.count_distinct()).map(3) == (rows >> dp.t.then_count_distinct()).map(3)
    theirs = rows >> dp.t.then_count_by_categories(categories=["a", "b"], null_category=False)
    assert (sf.vector(str) >> sf.count_by(["a", "b"])).map(3) == theirs.map(3)
    data = ["a", "b", "a", "c"]
    assert (sf.vector(str) >> sf.count_by(["a", "b"]))(data).tolist() == theirs(data)


@pytest.mark.parametrize("scale", [0.5, 1.0, 7.25])
def test_additive_noise(scale: float) -> None:
    number = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    vector = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    ours = sf.scalar(int) >> sf.laplace(scale=scale)
    assert near(ours.map(3).epsilon, (number >> dp.m.then_laplace(scale=scale)).map(3))
    noisy = sf.vector(int, size=4, metric=sf.L2()) >> sf.gaussian(scale=scale)
    assert near(noisy.map(1.5).rho, (vector >> dp.m.then_gaussian(scale=scale)).map(1.5))


@pytest.mark.parametrize("p", [0.55, 0.75, 0.9])
def test_randomized_response(p: float) -> None:
    assert near(
        (sf.scalar(bool) >> sf.randomized_response(p=p)).map(1).epsilon, dp.m.make_randomized_response_bool(p).map(1)
    )
    four = ["a", "b", "c", "d"]
    ours = sf.scalar(four) >> sf.randomized_response(p=p)
    assert near(ours.map(1).epsilon, dp.m.make_randomized_response(four, p).map(1))


@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.9])
def test_quantile_scores(alpha: float) -> None:
    """Their scores count distance from the target (lower is better), ours are its negative; the order must agree."""
    candidates = [15, 25, 35]
    theirs = (dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()) >> dp.t.then_quantile_score_candidates(
        candidates=candidates, alpha=alpha
    )
    ours = sf.vector(int) >> sf.transforms.quantile_scores(candidates, alpha=alpha)
    data = [10, 20, 20, 30, 40, 41]
    scale = Counter(Fraction(str(a)) / b for a, b in zip(theirs(data), ours(data).tolist(), strict=True) if b)
    assert len(scale) == 1 and next(iter(scale)) < 0, "one constant factor relates all scores"
    assert np.argmax(ours(data)) == np.argmin(theirs(data))
