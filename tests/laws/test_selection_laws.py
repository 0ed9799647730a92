"""Laws of scores and quantiles over any kind of numbers: infinities, −0.0, subnormal and huge values, empty columns."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.domains import Floats, Vector
from sfumato.core.metrics import AddRemove, LInf, Range
from sfumato.core.space import Space, vector
from sfumato.entropy import ReplayEntropy
from sfumato.mechanisms.quantile import pieces, quantile, support
from sfumato.transforms.scores import quantile_scores, revenue_scores

ANY = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, math.inf, -math.inf, 5e-324, 1e308, -1.5])
POINTS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6, unique_by=lambda point: point + 0.0)
LEVELS = st.fractions(0, 1, max_denominator=50)
ROWS = Space(Vector(Floats(infinite=True)), AddRemove())


@given(st.lists(ANY, max_size=8), st.lists(ANY, max_size=3), st.lists(ANY, max_size=3), POINTS, LEVELS)
def test_quantile_scores_are_stable(
    shared: list[float], mine: list[float], yours: list[float], candidates: list[float], alpha: Fraction
) -> None:
    for metric in (LInf(), Range()):
        transformation = ROWS >> quantile_scores(candidates, alpha=alpha, metric=metric)
        left, right = transformation.image(shared + mine), transformation.image(shared + yours)
        assert transformation.target.domain.member(left)
        apart = ROWS.distance(shared + mine, shared + yours)
        assert transformation.target.distance(left, right) <= transformation.stability_map(apart)


@given(st.lists(ANY, max_size=8), st.lists(ANY, max_size=3), st.lists(st.integers(0, 99), min_size=1, unique=True))
def test_revenues_are_stable(shared: list[float], mine: list[float], prices: list[int]) -> None:
    for metric in (LInf(monotonic=True), Range()):
        transformation = ROWS >> revenue_scores(prices, metric=metric)
        left, right = transformation(shared + mine), transformation(shared)
        assert transformation.target.distance(left, right) <= transformation.map(len(mine))


@given(st.lists(ANY, max_size=12), LEVELS)
def test_scores_do_not_feel_the_order_of_rows(rows: list[float], alpha: Fraction) -> None:
    transformation = ROWS >> quantile_scores([-1, 0, 1], alpha=alpha)
    assert transformation(rows).tolist() == transformation(rows[::-1]).tolist()


@given(st.lists(st.integers(-5, 5), max_size=12), LEVELS)
def test_pieces_are_a_partition(rows: list[int], alpha: Fraction) -> None:
    grid = support(vector(int, between=(-5, 5)).domain.element, None)  # type: ignore[attr-defined]  # a vector
    cut = pieces(rows, grid, alpha)
    points = [start + k for start, width in zip(cut.starts, cut.widths, strict=True) for k in range(width)]
    assert sorted(points) == list(range(11))
    assert cut.scores.max() <= 0


@given(st.lists(ANY, max_size=12), LEVELS, st.integers(0, 2**32))
def test_quantiles_stay_between_their_bounds(rows: list[float], alpha: Fraction, seed: int) -> None:
    measurement = ROWS >> quantile(alpha, between=(-0.3, 0.7), temperature=1)
    assert measurement.source == ROWS
    assert -0.3 <= measurement.function(rows, ReplayEntropy(seed)) <= 0.7
