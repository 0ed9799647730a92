"""Sums of rows, histograms and linear maps over small data sets: sound, and reached where the theorem is tight."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.exact.enumerated import farthest, multisets

from sfumato.core.domains import Floats, Integers, Matrix, Norm, Vector
from sfumato.core.metrics import L1, L2, AddRemove, ChangeOne, LInf, VectorMetric
from sfumato.core.space import Space, frame, matrix, vector
from sfumato.errors import BadArgument, ClaimRequired, UnboundedColumn, UnknownSize
from sfumato.exact import root, squared
from sfumato.release.claim import claim
from sfumato.transforms.aggregate import count, mean, sum
from sfumato.transforms.casts import bin_by
from sfumato.transforms.conditions import between, is_in
from sfumato.transforms.histogram import count_by, count_each, rows_from_counts, spread_map
from sfumato.transforms.linear import bounds_eigenvalues, induced_norm, linear
from sfumato.transforms.norms import norm_clamp
from sfumato.transforms.vectors import box_reach, vector_mean, vector_sum

NORMS = [L1(), L2(), LInf()]
every_norm = pytest.mark.parametrize("norm", NORMS, ids=str)


# ---------------------------------------------------------------- sums of rows


@every_norm
@pytest.mark.parametrize("metric", [AddRemove(), ChangeOne()], ids=str)
def test_box_sums_are_sound_and_reached(norm: VectorMetric, metric: AddRemove | ChangeOne) -> None:
    size = None if metric == AddRemove() else 3
    space = matrix(2, between=(-1, 2), size=size, metric=metric)
    corners = [list(corner) for corner in product((-1.0, 2.0), repeat=2)]
    sizes = range(4) if size is None else range(3, 4)
    members = [np.array(rows).reshape(-1, 2) for rows in multisets(corners, sizes)]
    made = space >> vector_sum(metric=norm)
    assert farthest(made, members, 3) == [made.map(d_in) for d_in in range(4)]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("size", [None, 3])
def test_ball_sums_are_sound_and_reached(order: int, size: int | None) -> None:
    """E1-08: two rows in a ball of radius R can be 2R apart, not R."""
    made = matrix(2, size=size) >> norm_clamp(2, order=order, origin=[3, 0]) >> vector_sum()
    tips = [[5.0, 0.0], [1.0, 0.0], [3.0, 2.0]]
    members = [np.array(rows).reshape(-1, 2) for rows in multisets(tips, range(4) if size is None else range(3, 4))]
    assert made.map(1) == (5 if size is None else 4)
    assert farthest(made, members, 3) == [made.map(d_in) for d_in in range(4)]


def test_A1_044_binary_mean_in_a_hundred_dimensions() -> None:
    """E1-23: √d / n, not √(d / n)."""
    space = matrix(100, between=(0, 1), size=1000)
    assert (space >> vector_mean()).map(1) == Fraction(1, 10)
    assert (space >> vector_mean(metric=L2())).map(1) == Fraction(1, 100)
    made = space >> vector_mean(metric=L2())
    zeros = np.zeros((1000, 100))
    ones = zeros.copy()
    ones[0] = 1
    assert made.target.distance(made(zeros), made(ones)) == Fraction(1, 100)


def test_A1_045_interval_as_a_ball() -> None:
    assert (vector(float, between=(-3, 7)) >> sum()).map(1) == 7
    assert (vector(float, between=(-3, 7), size=9) >> sum()).map(1) == 10
    for order in (1, 2):
        ball = norm_clamp(5, order=order, origin=2)
        assert (matrix(1) >> ball >> vector_sum()).map(1) == 7
        assert (matrix(1, size=9) >> ball >> vector_sum()).map(1) == 10


def test_A1_046_ones_within_radius_four() -> None:
    """E1-29: the row norm is exactly 4, so nothing is scaled and every sum is 1000."""
    made = matrix(4) >> norm_clamp(4, order=1) >> sum()
    total = made(np.ones((1000, 4)))
    assert total.tolist() == [1000.0] * 4
    assert made.map(1) / 4 == 1


def test_A1_047_clamping_one_row() -> None:
    made = matrix(2) >> norm_clamp(1, order=2)
    row = [Fraction(entry) for entry in made(np.array([[3.0, 4.0]]))[0]]
    assert [float(entry) for entry in row] == pytest.approx([0.6, 0.8], abs=2**-28)
    assert row[0] ** 2 + row[1] ** 2 <= 1
    nothing = matrix(2) >> norm_clamp(0, order=2)
    assert nothing(np.array([[3.0, 4.0], [0.0, -1e300]])).tolist() == [[0, 0], [0, 0]]
    elsewhere = matrix(2) >> norm_clamp(0, order=1, origin=["0.1", "-0.5"])
    assert elsewhere(np.array([[3.0, 4.0]]))[0].tolist() == [Fraction(1, 10), Fraction(-1, 2)]


def test_origin_of_all_columns_counts_in_every_dimension() -> None:
    """P1-051: with a broadcast origin, |O| uses all columns."""
    assert (matrix(4) >> norm_clamp(1, order=1, origin=2) >> vector_sum()).map(1) == 9
    assert (matrix(4) >> norm_clamp(1, order=2, origin=2) >> vector_sum()).map(1) == 5
    rounded = (matrix(2) >> norm_clamp(1, order=2, origin=1) >> vector_sum()).map(1)
    assert squared(rounded - 1) >= 2 and float(rounded) == pytest.approx(1 + math.sqrt(2))


@pytest.mark.parametrize("order", [1, 2])
def test_the_norm_holds_exactly_for_hard_rows(order: int) -> None:
    values = [0.0, -0.0, 1 / 3, 1e-320, 5e-324, 1.7e308, -1.7e308, 0.1, 1.0, math.nextafter(1, 2), 2.0**53 + 1, -1e-9]
    rows = np.array(list(product(values, repeat=3)))
    for radius in (1, "0.1", 1e-9, 12345.678, "1e200"):
        made = matrix(3) >> norm_clamp(radius, order=order, origin=["0.1", 0, "-0.3"] if radius == 1 else 0)
        before = rows.copy()
        clamped = made.image(rows)
        assert made.target.domain.member(clamped)
        assert np.array_equal(rows, before)


def test_metrics_that_the_rows_do_not_bound_are_refused() -> None:
    balls = matrix(3) >> norm_clamp(1, order=2)
    with pytest.raises(BadArgument, match="metric of vector_sum"):
        _ = balls >> vector_sum(metric=L1())
    assert (balls >> vector_sum(metric=LInf())).map(1) == 1
    with pytest.raises(UnboundedColumn):
        _ = matrix(3) >> vector_sum()
    with pytest.raises(UnknownSize):
        _ = balls >> mean()
    with pytest.raises(BadArgument, match="order"):
        norm_clamp(1, order=3)
    with pytest.raises(BadArgument, match="radius"):
        norm_clamp(-1)
    with pytest.raises(BadArgument, match="origin"):
        _ = matrix(3) >> norm_clamp(1, origin=[1, 2])
    with pytest.raises(BadArgument, match="rounder"):
        _ = matrix(1) >> norm_clamp(2**40, origin=["0.0000001"])
    floats = Space(Matrix(1, Floats(), Norm(Fraction(1), 1, (Fraction(0),))), AddRemove())
    with pytest.raises(UnboundedColumn):
        _ = floats >> vector_sum()


def test_a_wrong_constant_would_be_noticed() -> None:
    made = matrix(2, between=(-1, 2), size=2) >> vector_sum(metric=L2())
    members = [np.array(rows).reshape(-1, 2) for rows in multisets([[-1.0, -1.0], [2.0, 2.0]], range(2, 3))]
    found = farthest(made, members, 1)[1]
    assert found > Fraction(3) and found == root(18)
    assert box_reach(made.source.domain.element.between, 2, L2()).exchanged == root(18)


# ---------------------------------------------------------------- histograms


@every_norm
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("keys", [["a"], ["a", "b"], ["a", "b", "c"]], ids=len)
@pytest.mark.parametrize("size", [None, 3])
def test_histograms_are_sound_and_reached(norm: VectorMetric, other: bool, keys: list[str], size: int | None) -> None:
    made = vector(["a", "b", "c"], size=size) >> count_by(keys, other=other, metric=norm)
    found = farthest(made, multisets(["a", "b", "c"], range(4) if size is None else range(3, 4)), 3)
    assert found == [made.map(d_in) for d_in in range(4)]


def test_A1_028_age_histogram() -> None:
    edges = list(range(0, 120, 10))
    bins = list(range(1, len(edges)))
    for size, wanted in ((None, (1, 1)), (50, (2, root(2)))):
        space = vector(int, size=size) >> bin_by(edges)
        assert ((space >> count_by(bins)).map(1), (space >> count_by(bins, metric=L2())).map(1)) == wanted
    made = vector(int) >> bin_by(edges) >> count_by(bins)
    assert made([0, 9, 10, 109, 110, -1]).tolist() == [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]


def test_A1_029_counts_of_hair_and_sex() -> None:
    people = frame({"sex": ["f", "m"], "hair": ["blond", "red", "black", "brown"]})
    blond, male = is_in(["blond"], column="hair"), is_in(["m"], column="sex")
    assert (people >> count(blond)).map(1) == 1
    both = people >> count_each([male, blond])
    assert (both.map(1), (people >> count_each([male, blond], metric=L2())).map(1)) == (2, root(2))
    one, two = {"sex": ["m"], "hair": ["blond"]}, {"sex": ["m", "m"], "hair": ["blond", "blond"]}
    assert both.target.distance(both(one), both(two)) == 2
    colours = [is_in([colour], column="hair") for colour in ("blond", "red", "black", "brown")]
    disjoint = claim("each person has one hair colour")
    assert (people >> count_each(colours, most=1, claim=disjoint)).map(1) == 1
    assert (people >> count_each(colours)).map(1) == 4
    with pytest.raises(ClaimRequired, match="how many conditions one row can meet"):
        count_each(colours, most=1)


@every_norm
@pytest.mark.parametrize("size", [None, 3])
def test_overlapping_conditions_are_sound_and_reached(norm: VectorMetric, size: int | None) -> None:
    space = vector(int, between=(0, 3), size=size)
    every = space >> count_each([between(0, 1), between(1, 2), between(1, 1)], metric=norm)
    members = multisets([0, 1, 2, 3], range(4) if size is None else range(3, 4))
    assert farthest(every, members, 3) == [every.map(d_in) for d_in in range(4)]
    vouched = claim("no number is in two of the sets")
    apart = space >> count_each([between(0, 0), between(1, 1), between(2, 3)], most=1, metric=norm, claim=vouched)
    assert farthest(apart, members, 3) == [apart.map(d_in) for d_in in range(4)]


def test_A1_043_grouped_counts() -> None:
    days = list(range(30))
    vouched = claim("a person visits at most once a day")
    one = vector(int, between=(0, 29))
    for norm, wanted in ((L1(), 1), (L2(), 1)):
        assert (one >> count_by(days, metric=norm)).map(1) == wanted
        daily = one >> count_by(days, metric=norm, cells=30, each=1, claim=vouched)
        assert daily.map(30) == (30 if norm == L1() else root(30))
        assert (one >> count_by(days, metric=norm)).map(30) == 30
    assert float(root(30)) == pytest.approx(5.477226)
    with pytest.raises(ClaimRequired):
        count_by(days, cells=30, each=1)


@pytest.mark.parametrize("size", [None, 12])
@every_norm
def test_claimed_spreads_are_sound_and_reached(norm: VectorMetric, size: int | None) -> None:
    """Every way to put up to cells · each rows into bins under the bounds, on both sides for exchanged rows."""
    cells, each, bins = 2, 2, 4
    spreads = [s for s in product(range(each + 1), repeat=bins) if np.count_nonzero(s) <= cells]
    nothing = [(0,) * bins]
    for d_in in range(cells * each + 1):
        sides = [s for s in spreads if np.sum(s) == d_in]
        others = nothing if size is None else sides
        worst = max(norm.distance(left, right) for left in sides for right in others)
        claimed = spread_map(
            Fraction(d_in), norm=norm, metric=ChangeOne(), size=size, bins=bins, cells=cells, each=each
        )
        assert worst == claimed
    beyond = spread_map(Fraction(5), norm=L2(), metric=AddRemove(), size=None, bins=bins, cells=cells, each=each)
    assert beyond == 5


def test_A1_015_histogram_view() -> None:
    levels = ["primary", "secondary", "tertiary"]
    data = ["secondary"] * 14 + ["primary"] * 10 + ["tertiary"] * 13
    made = vector(levels) >> count_by(levels)
    assert made(data).tolist() == [10, 14, 13]
    assert made(data).sum() == 37 == (vector(levels) >> count())(data)
    back = made >> rows_from_counts(levels, most=100)
    assert back.source.distance(data, back(data)) == 0


def test_P1_002_histogram_distance_is_the_add_remove_distance() -> None:
    universe = ["u", "v"]
    made = vector(universe) >> count_by(universe)
    members = multisets(list(universe), range(4))
    for left in members:
        for right in members:
            assert made.target.distance(made(left), made(right)) == made.source.distance(left, right)


def test_rows_from_counts_is_sound_reached_and_total() -> None:
    space = Space(Vector(Integers(), 2), L1())
    made = space >> rows_from_counts(["a", "b"], most=3)
    members = [list(pair) for pair in product((-1, 0, 1, 2, 3, 10**30), repeat=2)]
    assert farthest(made, members, 3) == [0, 1, 2, 3]
    assert made.map(Fraction(5, 2)) == 2
    assert made([10**30, -5]).tolist() == ["a"] * 3


# ---------------------------------------------------------------- linear maps


def test_A1_042_norms_of_a_matrix() -> None:
    rows = [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
    for metric, wanted in ((L1(), 2), (L2(), root(2)), (LInf(), 1)):
        made = vector(int, size=3, metric=metric) >> linear(rows)
        assert made.map(1) == wanted
        members = list(product((-1, 0, 1), repeat=3))
        found = farthest(made, members, 1)[1]
        assert found == wanted
        assert all(image[0] == image[2] for image in map(made, members))


@pytest.mark.parametrize(
    "entries", [[[1, 2], [3, 4]], [["0.5", "-1", 3]], [[1], [2], [-2]], [[0, 0]], [["1/3", "1/7"]]]
)
def test_the_spectral_norm_is_certified_and_close(entries: list[list[object]]) -> None:
    rows = tuple(tuple(Fraction(entry) for entry in row) for row in entries)
    claimed = induced_norm(rows, L2())
    true = float(np.linalg.norm(np.array(rows, dtype=float), 2))
    assert true * (1 - 1e-12) <= float(claimed) <= true * (1 + 1e-8)


def test_elimination_decides_eigenvalues_exactly() -> None:
    gram = [[Fraction(2), Fraction(1)], [Fraction(1), Fraction(2)]]  # eigenvalues 1 and 3
    assert bounds_eigenvalues(gram, Fraction(3))
    assert not bounds_eigenvalues(gram, Fraction(3) - Fraction(1, 10**30))
    assert not bounds_eigenvalues([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]], Fraction(0))


def test_a_large_matrix_gets_a_cheap_valid_bound() -> None:
    rows = tuple(tuple(Fraction(int(i == j)) for j in range(60)) for i in range(60))
    assert induced_norm(rows, L2()) == 1


def test_linear_refuses_what_it_has_no_norm_for() -> None:
    with pytest.raises(BadArgument, match="one column for each entry"):
        _ = vector(int, size=2, metric=L1()) >> linear([[1, 2, 3]])
    with pytest.raises(BadArgument, match="L1, L2 or L∞"):
        _ = vector(int, size=2, metric=LInf(monotonic=True)) >> linear([[1, 2]])
    with pytest.raises(BadArgument, match="rows of one length"):
        linear([[1, 2], [3]])
