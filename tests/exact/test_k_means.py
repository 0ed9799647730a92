"""Counts and sums of clusters: how far they move, over all small matrices; the score; a round's whole law."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from tests.exact.enumerated import farthest

from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.audit.brute_force import brute_epsilon
from sfumato.combinators.interaction import adaptive_composition
from sfumato.core.domains import Bounds, Data, Integers, Matrix
from sfumato.core.metrics import L1, L2, AddRemove, ChangeOne
from sfumato.core.pieces import PiecewiseLInf
from sfumato.core.space import Space, matrix
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, SfumatoError
from sfumato.exact import root, squared
from sfumato.mechanisms.additive import laplace
from sfumato.mechanisms.cube import k_norm
from sfumato.stats.clustering import Clustering, clustering_score, k_means
from sfumato.transforms.aggregate import sum as total
from sfumato.transforms.clusters import TotalsMetric, ball_length, box_length, cluster_totals, squared_distances
from sfumato.transforms.norms import norm_clamp

pytestmark = pytest.mark.sharp_balls

HALVES = [[(0, 0), (2, 2)], [(0, 0), (0, 2)], [(1, 1), (9, 9)], [(0, 1), (1, 0), (2, 2)]]
SLACK = Fraction(1, 10**25)


def whole_rows(size: int | None, columns: int = 2) -> Space:
    domain = Matrix(columns, Integers(Bounds.read((0, 2))), size=size)
    return Space(domain, AddRemove() if size is None else ChangeOne())


def matrices(sizes: range, columns: int = 2) -> list[Data]:
    rows = list(product(range(3), repeat=columns))
    return [
        np.array(chosen, dtype=np.int64).reshape(-1, columns)
        for size in sizes
        for chosen in combinations_with_replacement(rows, size)
    ]


@pytest.mark.parametrize("norm", [L1(), L2(), PiecewiseLInf(1)], ids=["L1", "L2", "pieces"])
@pytest.mark.parametrize("weight", [Fraction(1, 2), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("size", [None, 2])
def test_totals_move_as_far_as_the_map_says_and_no_farther(
    norm: TotalsMetric, weight: Fraction, size: int | None
) -> None:
    """All matrices of up to two rows of 0, 1, 2 in two columns; over several sets of centroids the map is reached."""
    reached, claimed = [Fraction(0)] * 3, [Fraction(0)] * 3
    for centroids in HALVES:
        metric = PiecewiseLInf(len(centroids)) if isinstance(norm, PiecewiseLInf) else norm
        made = whole_rows(size) >> cluster_totals(centroids, weight=weight, metric=metric)
        found = farthest(made, matrices(range(3) if size is None else range(2, 3)), 2)
        claimed = [Fraction(squared(made.map(d_in))) for d_in in range(3)]
        reached = [max(a, Fraction(squared(b))) for a, b in zip(reached, found, strict=True)]
    assert all(here <= there for here, there in zip(reached, claimed, strict=True))
    assert reached[1] == claimed[1]


def test_the_root_of_two_alone_would_be_too_little() -> None:
    """Opposite corners in one cluster are 2r apart, more than √2 √(w² + r²) where a count weighs less than a row."""
    made = whole_rows(2) >> cluster_totals([(1, 1), (9, 9)], weight=Fraction(1, 2), metric=L2())
    apart = made.target.distance(made([(0, 0), (0, 0)]), made([(0, 0), (2, 2)]))
    assert apart == made.map(1) == root(8)
    assert root(2 * (Fraction(1, 4) + 2)) < apart


@pytest.mark.parametrize(("norm", "apart"), [(L1(), 4), (PiecewiseLInf(1), 2)], ids=["L1", "pieces"])
def test_one_cluster_cancels_the_count(norm: TotalsMetric, apart: int) -> None:
    made = whole_rows(2) >> cluster_totals([(1, 1)], weight=4, metric=norm)
    assert farthest(made, matrices(range(2, 3)), 1) == [0, made.map(1)] == [0, apart]


def test_totals_are_weighted_counts_and_sums_from_the_middle() -> None:
    made = whole_rows(None) >> cluster_totals([(0, 0), (2, 2)], weight=1)
    assert made([(0, 0), (2, 1), (1, 1)]).tolist() == [2, -1, -1, 1, 1, 0]  # (1, 1) is near both
    assert made(np.zeros((0, 2), dtype=np.int64)).tolist() == [0] * 6
    assert made.target.domain.element.step == Fraction(1, 2)  # type: ignore[attr-defined]
    dealt = whole_rows(None) >> cluster_totals([(0, 0), (2, 2)], weight=1, metric=PiecewiseLInf(2))
    assert dealt([(0, 0), (2, 1), (1, 1)]).tolist() == [2, 1, -1, 1, -1, 0]
    with pytest.raises(BadArgument, match="one for each"):
        cluster_totals([(0, 0), (2, 2)], metric=PiecewiseLInf(3))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("norm", [L1(), L2()])
def test_rows_in_a_ball_keep_the_map(order: int, norm: L1 | L2) -> None:
    made = (
        matrix(2)
        >> norm_clamp(1, order=order, origin=(3, 4))
        >> cluster_totals([(3, 4), (9, 9)], weight=1, metric=norm)
    )
    rng = np.random.default_rng(2)
    found = Fraction(0)
    for row in [*rng.normal((3, 4), 3, (200, 2)), (1e300, -1e300), (4.0, 4.0), (4.0, 5.0)]:
        moved = made.target.distance(made(np.array([row])), made(np.zeros((0, 2))))
        found = max(found, Fraction(squared(moved)))
    claimed = Fraction(squared(made.map(1)))
    assert claimed * Fraction(99, 100) < found <= claimed


def test_lengths() -> None:
    assert (box_length(Fraction(3), 4, L1()), box_length(Fraction(3), 4, L2())) == (12, 6)
    assert [ball_length(Fraction(3), order, 4, norm) for order in (1, 2) for norm in (L1(), L2())] == [3, 3, 6, 3]


def test_a_round_of_one_column_keeps_its_price() -> None:
    """The whole law of what a round releases, for one cluster and one column: count and sum together."""
    made = whole_rows(None, 1) >> cluster_totals([(1,)], weight=1) >> laplace(scale=1)
    members = matrices(range(2), 1)
    low, high = brute_epsilon(made, members, missed=Fraction(1, 10**6))
    assert made.map(1) == Pure(2)
    assert Fraction(199, 100) < low <= high <= 2 + SLACK


def test_a_round_in_pieces_keeps_its_price() -> None:
    """The whole law of two clusters and one column, each with noise of its own: one row moves one of them."""
    seen = whole_rows(None, 1) >> cluster_totals([(0,), (2,)], weight=1, metric=PiecewiseLInf(2))
    made = seen >> k_norm(scale="0.25")
    low, high = brute_epsilon(made, matrices(range(2), 1), missed=Fraction(1, 2))
    assert made.map(1) == Pure(4)
    assert Fraction(399, 100) < low <= high <= 4 + SLACK


def test_squared_distances_are_of_one_row_at_a_time() -> None:
    made = matrix(2, between=(0, 10)) >> squared_distances([(0, 1), (10, 1)], most=4)
    rows = np.array([(0, 0), (0, 2), (10, 0), (10, 2), (5, 5)], dtype=np.float64)
    assert made(rows) == pytest.approx([1, 1, 1, 1, 4])
    for place, row in enumerate(rows):
        assert made(row[np.newaxis])[0] == made(rows)[place]
    assert (made >> total()).map(2) == 8


def test_A2_038_the_score_of_four_points() -> None:
    points = np.array([(0, 0), (0, 2), (10, 0), (10, 2)], dtype=np.float64)
    centroids = ((0.0, 1.0), (10.0, 1.0))
    seen = matrix(2, between=(0, 10)) >> cluster_totals(centroids, weight=1)
    table = seen(points).reshape(2, 3)
    assert table == pytest.approx(np.array([(2, -10, -8), (2, 10, -8)]))
    within = matrix(2, between=(0, 10)) >> squared_distances(centroids, most=100) >> total()
    assert within(points) == pytest.approx(4)
    assert clustering_score(Clustering(centroids, (2, 2)), within=4) == 50
    with pytest.raises(BadArgument, match="one has no score"):
        clustering_score(Clustering(((0.0, 1.0),), (4,)), within=4)


@pytest.mark.parametrize("loss", [Pure(1), ZCDP("0.5")])
@pytest.mark.parametrize("size", [None, 40])
def test_rounds_are_paid_from_slices_that_make_up_the_loss(loss: Loss, size: int | None) -> None:
    made = matrix(2, between=(0, 1), size=size) >> k_means(2, loss=loss, rounds=3)
    assert made.map(1) == loss
    assert made.map(0) == type(loss).nothing()
    with pytest.raises(SfumatoError, match="at most the d_in"):
        made.map(2)
    rows = np.random.default_rng(1).random((40, 2))
    assert len(made(rows, entropy=ReplayEntropy(1)).value.sizes) == 2


def test_a_round_more_than_was_paid_for_is_refused() -> None:
    space = matrix(2, between=(0, 1))
    ask = (space >> adaptive_composition([Pure(1)]))(np.zeros((3, 2)), entropy=ReplayEntropy(1)).value
    seen = cluster_totals([(0, 0), (1, 1)], weight=1)
    with pytest.raises(SfumatoError):
        ask(seen >> laplace(scale=1))  # a row weighs 1 and is up to 1 long in L1: ε = 2
    ask(seen >> laplace(scale=2))
    with pytest.raises(SfumatoError):
        ask(seen >> laplace(scale=2))
