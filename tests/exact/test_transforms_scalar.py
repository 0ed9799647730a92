"""Counts, sums, means and moments over every small data set: never above the map, and reaching it where it is tight."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import pytest
from tests.exact.enumerated import farthest, multisets

from sfumato.audit.brute_force import brute_sensitivity
from sfumato.core.domains import Floats, Integers, Vector
from sfumato.core.metrics import Absolute, AddRemove, ChangeOne, DatasetMetric, Hamming, Windows
from sfumato.core.partial import Partial
from sfumato.core.space import Space, scalar, vector
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, UnboundedColumn, UnknownSize
from sfumato.exact import root, squared
from sfumato.transforms.aggregate import count, count_distinct, least_mean_map, mean, sum
from sfumato.transforms.conditions import between, is_in
from sfumato.transforms.moments import deviation_map, standard_deviation, variance, variance_map
from sfumato.transforms.reshape import repeat
from sfumato.transforms.rowwise import clamp
from sfumato.transforms.scalars import scale_by, shift_by, square
from sfumato.transforms.sensitivity_table import local_sensitivity, sensitivity_table

BITS = multisets((0, 1), range(6))
UNSIZED = vector(int, between=(-2, 3))
THREE = multisets((-2, 0, 3), range(5))
SIZED = multisets((-2, 0, 3), range(4, 5))
ADJACENCIES: list[tuple[Space, list[list[object]]]] = [
    (UNSIZED, THREE),
    (vector(int, between=(-2, 3), size=4), SIZED),
    (vector(int, between=(-2, 3), size=4, metric=AddRemove()), SIZED),
    (vector(int, between=(-2, 3), size=3, metric=Hamming()), [list(rows) for rows in product((-2, 0, 3), repeat=3)]),
    (
        vector(int, between=(-2, 3), size=4, metric=Windows(length=2)),
        [list(x) for x in product((-2, 0, 3), repeat=4)],
    ),
]
every_adjacency = pytest.mark.parametrize(("space", "members"), ADJACENCIES, ids=lambda part: str(part)[:60])


@every_adjacency
@pytest.mark.parametrize(
    "statistic",
    [count, count_distinct, lambda: count(is_in([3])), lambda: count(between(0, 5)), sum],
    ids=["count", "distinct", "count of threes", "count between", "sum"],
)
def test_sound_and_reached(
    space: Space, members: list[list[object]], statistic: Callable[[], Partial[Transformation]]
) -> None:
    made = space >> statistic()
    for d_in, found in enumerate(farthest(made, members, 4)):
        assert found <= made.map(d_in)
        # three values cannot reach every distance in the number of distinct ones; everything else is tight
        if statistic is not count_distinct or d_in <= 1:
            assert found == made.map(d_in)


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("metric", [ChangeOne(), AddRemove()], ids=str)
def test_moments_are_sound_and_reached(size: int, ddof: int, metric: DatasetMetric) -> None:
    """P1-047, E1-07: for every number of exchanged rows, not only one."""
    space = vector(int, between=(-1, 2), size=size, metric=metric)
    members = multisets((-1, 0, 1, 2), range(size, size + 1))
    spread, rooted = space >> variance(ddof=ddof), space >> standard_deviation(ddof=ddof)
    assert farthest(spread, members, 2 * size + 1) == [spread.map(d_in) for d_in in range(2 * size + 2)]
    for d_in, found in enumerate(farthest(rooted, members, 2 * size + 1)):
        assert found <= rooted.map(d_in) <= found + 2 * rooted.target.domain.step


def test_A1_032_variance_and_deviation_of_five() -> None:
    """Also: the book's (U-L)²/(N-1) is a valid bound, but loose (E1-07)."""
    space = vector(float, between=(0, 1), size=5)
    members = multisets((0.0, 0.5, 1.0), range(5, 6))
    assert brute_sensitivity(space >> variance(), members) == Fraction(1, 5) == (space >> variance()).map(1)
    assert (space >> variance()).map(1) < Fraction(1, 4)
    assert deviation_map(Fraction(1), width=Fraction(1), metric=ChangeOne(), size=5, ddof=1) == root(Fraction(1, 5))
    rooted = (space >> standard_deviation()).map(1)
    assert float(rooted) == pytest.approx(0.447214, abs=1e-6)
    assert squared(rooted) >= Fraction(1, 5)


@pytest.mark.parametrize("least", [1, 2, 3])
def test_mean_with_a_least_size_is_exact_for_every_distance(least: int) -> None:
    """P1-046, also beyond d_in <= M."""
    space = Space(Vector(Integers(between=(0, 1)), least=least), AddRemove())
    made = space >> mean()
    members = [[0] * zeros + [1] * ones for zeros in range(5) for ones in range(5) if zeros + ones >= least]
    for d_in, reached in enumerate(farthest(made, members, 9)):
        exact = brute_mean(least, d_in)
        assert least_mean_map(Fraction(d_in), bounds=space.domain.element.between, least=least) == exact
        assert exact <= made.map(d_in) <= exact + made.target.domain.step
        assert reached <= made.map(d_in)


def brute_mean(least: int, d_in: int) -> Fraction:
    """Tries every pair of counts of zeros and ones; extremes are enough, since a mean is linear in each row."""
    top = least + d_in + 1
    data = [(zeros, ones) for zeros in range(top) for ones in range(top) if zeros + ones >= least]
    return max(
        abs(Fraction(b, a + b) - Fraction(d, c + d))
        for a, b in data
        for c, d in data
        if abs(a - c) + abs(b - d) <= d_in
    )


def test_A1_033_mean_with_at_least_ten_rows() -> None:
    space = Space(Vector(Floats((0, 1)), least=10), AddRemove())
    bounds = space.domain.element.between
    wanted = [Fraction(1, 11), Fraction(1, 6), Fraction(3, 13)]
    assert [least_mean_map(Fraction(d), bounds=bounds, least=10) for d in (1, 2, 3)] == wanted
    for d_in, value in zip((1, 2, 3), wanted, strict=True):
        assert value <= (space >> mean()).map(d_in) <= value + Fraction(1, 2**39)
    assert (space >> mean()).map(math.inf) == 1


def test_A1_016_A1_017_A1_018_count() -> None:
    ten = list(range(1, 11))
    rows = vector(int) >> count()
    assert rows(ten) == 10
    assert {rows(ten[:i] + ten[i + 1 :]) for i in range(10)} == {9}
    assert [rows.map(k) for k in (1, 2, 7)] == [1, 2, 7]
    assert (vector(int, size=10) >> count()).map(3) == 0
    assert (vector(int, size=10, metric=AddRemove()) >> count()).map(3) == 0


def test_A1_019_predicate_count_is_one_in_both_adjacencies() -> None:
    positive = is_in([True])
    for space, members in [
        (vector(bool), multisets((False, True), range(5))),
        (vector(bool, size=4), multisets((False, True), range(4, 5))),
    ]:
        made = space >> count(positive)
        assert made.map(1) == 1 == brute_sensitivity(made, members)


def test_A1_020_mean_of_ten_scores() -> None:
    scores = [90, 20, 30, 40, 50, 60, 70, 80, 55, 10]
    made = vector(int, between=(0, 100), size=10) >> mean()
    assert made.map(1) == 10
    members = [scores, [100, *scores[1:]], [*scores[:-1], 0], [0, *scores[1:]], [*scores[:-1], 100]]
    extremes = [[0] * 10, [100] + [0] * 9]
    assert made.target.distance(made(extremes[0]), made(extremes[1])) == 10
    assert brute_sensitivity(made, members) <= 10
    assert made.target.distance(made(scores), made([100, *scores[1:]])) == 1


@pytest.mark.parametrize(("most", "wanted"), [(110, 11), (120, 12), (130, 13), (140, 14)])
def test_A1_021_mean_by_its_cap(most: int, wanted: int) -> None:
    assert (vector(int, between=(0, most), size=10) >> mean()).map(1) == wanted


def test_A1_021_no_cap_is_refused() -> None:
    with pytest.raises(UnboundedColumn, match=r"mean\(\) has no bounds on its values"):
        _ = vector(int, size=10) >> mean()


@pytest.mark.parametrize(("lower", "upper", "size"), [(0, 7, 3), (-4, 9, 13), (2, 2, 5)])
def test_A1_022_mean_of_known_size(lower: int, upper: int, size: int) -> None:
    assert (vector(float, between=(lower, upper), size=size) >> mean()).map(1) == Fraction(upper - lower, size)


def test_A1_023_sums_of_functions_of_bits() -> None:
    inside = [[2 * x + 1 for x in rows] for rows in BITS]
    unsized = vector(int, between=(1, 3)) >> sum()
    assert unsized.map(1) == 3 == brute_sensitivity(unsized, inside)
    sized = vector(int, between=(1, 3), size=5) >> sum()
    assert sized.map(1) == 2 == brute_sensitivity(sized, [rows for rows in inside if len(rows) == 5])
    outside = vector(int, between=(0, 1)) >> sum() >> scale_by(2) >> shift_by(1)
    assert outside.map(1) == 2 == brute_sensitivity(outside, BITS)
    squares = vector(int, between=(0, 1), size=5) >> sum()
    assert squares.map(1) == 1 == brute_sensitivity(squares, [rows for rows in BITS if len(rows) == 5])


def test_A1_024_A1_025_sums() -> None:
    assert (vector(float, between=(0, 10)) >> sum()).map(2) == 20
    known = vector(float, between=(90, 100), size=100, metric=AddRemove()) >> sum()
    assert known.map(4) == 20
    assert (vector(float, between=(90, 100)) >> sum()).map(4) == 400
    assert known.map(3) == 10  # E1-06: the floor of half the distance, not half of it
    assert (vector(float, between=(90, 100), size=100) >> sum()).map(2) == 20


def test_A1_026_A1_027_salaries() -> None:
    assert (vector(int, between=(20_000, 200_000), size=50) >> sum()).map(1) == 180_000
    assert (vector(int, between=(20_000, 200_000)) >> sum()).map(1) == 200_000
    assert (vector(int, between=(20_000, 200_000), size=50) >> mean()).map(1) == Fraction(180_000, 50)


def test_A1_029_mean_without_bounds_or_size_is_refused() -> None:
    with pytest.raises(UnboundedColumn):
        _ = vector(float) >> mean()
    with pytest.raises(UnknownSize, match=r"sum\(\) and count\(\).*resize.*least="):
        _ = vector(float, between=(0, 1)) >> mean()  # E1-22: bounds alone do not make a mean stable under add/remove


def test_E1_22_a_sensitivity_from_the_size_of_the_data_fails_under_add_remove() -> None:
    """(U - L)/|D| read off a data set of four rows claims 1/4; smaller data sets of the same domain move by 1/2."""
    made = Space(Vector(Integers(between=(0, 1)), least=1), AddRemove()) >> mean()
    found = farthest(made, multisets((0, 1), range(1, 5)), 1)[1]
    assert found == Fraction(1, 2) > Fraction(1, 4)
    assert found <= made.map(1)


def test_A1_030_table_with_bounds_and_size() -> None:
    table = sensitivity_table(between=(0, 10), size=100, d_in=2)
    assert table == {"count": 0, "sum": 10, "mean": Fraction(1, 10), "variance": 1, "standard_deviation": 1}
    assert table["variance"] < Fraction(100, 99)  # E1-07: what the book prints, valid and loose
    assert squared(table["standard_deviation"]) < Fraction(100, 99)
    assert sensitivity_table(between=(0, 10), size=100, d_in=1, metric=ChangeOne()) == table


def test_A1_031_table_without_a_size() -> None:
    table = sensitivity_table(between=(0, 10), d_in=2)
    assert table == {"count": 2, "sum": 20, "mean": math.inf, "variance": math.inf, "standard_deviation": math.inf}
    bare = sensitivity_table(d_in=2)
    assert bare == {"count": 2} | dict.fromkeys(("sum", "mean", "variance", "standard_deviation"), math.inf)
    assert set(sensitivity_table(d_in=0).values()) == {0}
    with pytest.raises(BadArgument, match="size"):
        sensitivity_table(between=(0, 10), metric=ChangeOne())


def test_the_table_is_the_maps() -> None:
    for metric in (ChangeOne(), AddRemove()):
        space = vector(float, between=(-1, 3), size=7, metric=metric)
        for d_in in range(1, 9):
            table = sensitivity_table(between=(-1, 3), size=7, d_in=d_in, metric=metric, ddof=0)
            assert table["sum"] == (space >> sum()).map(d_in)
            assert table["mean"] == (space >> mean()).map(d_in)
            assert table["variance"] == (space >> variance(ddof=0)).map(d_in)


def test_A1_048_mean_of_ages() -> None:
    assert (vector(float, between=(0, 100), size=10_000) >> mean()).map(1) == Fraction(1, 100)


def test_A1_051_two_contributions_to_ten_rows() -> None:
    known = vector(float, size=10, metric=AddRemove()) >> clamp(50, 100) >> sum()
    assert known.map(2) == 50
    assert (vector(float) >> clamp(50, 100) >> sum()).map(2) == 200


def test_A1_036_double() -> None:
    assert (vector(int) >> count() >> scale_by(2)).map(3) == 6


def test_A1_041_square_on_an_interval() -> None:
    space = Space(Integers(between=(-3, 5), step=Fraction(1, 100)), Absolute())
    made = space >> square()
    assert made.map(1) == 10
    assert made.map(Fraction(1, 100)) == Fraction(1, 10)
    found = brute_sensitivity(made, [*range(-300, 501, 20), 499], d_in=Fraction(1, 100))
    assert Fraction(98, 1000) < found <= Fraction(1, 10)
    assert (scalar(int, between=(-5, 3)) >> square()).map(1) == 10
    with pytest.raises(UnboundedColumn):
        _ = scalar(int) >> square()


def test_A1_039_duplicating_rows() -> None:
    made = vector(int) >> repeat(2)
    assert made.map(1) == 2
    assert brute_sensitivity(made, THREE) == 2
    positions = vector(int, size=3, metric=Hamming()) >> repeat(2)
    assert brute_sensitivity(positions, [list(rows) for rows in product((0, 1), repeat=3)], d_in=1) == 2


def test_A2_005_sum_of_bits() -> None:
    made = vector(int, between=(0, 1)) >> sum()
    assert made.map(1) == 1
    assert made([0, 0, 1, 1, 0, 1, 1, 1]) == 5


def test_local_sensitivity_is_at_most_global_and_depends_on_the_data() -> None:
    """P1-028 against P1-029."""
    made = vector(int, between=(0, 9), size=3) >> variance(ddof=0)
    members = multisets((0, 4, 9), range(3, 4))
    local = [local_sensitivity(made, data, members) for data in members]
    assert max(local) == brute_sensitivity(made, members) == made.map(1)
    assert min(local) < max(local)


def wrong_maps() -> Iterator[tuple[Transformation, list[list[object]], int, Fraction]]:
    """Gives formulas that are too small by a slip, to show that the brute force would notice."""
    sized = vector(int, between=(-2, 3), size=4)
    yield UNSIZED >> sum(), THREE, 1, Fraction(2)  # |L| instead of max(|L|, |U|)
    yield sized >> sum(), SIZED, 1, Fraction(3)  # the add/remove formula under change-one
    yield vector(int, between=(-2, 3), size=4, metric=AddRemove()) >> sum(), SIZED, 2, Fraction(3)
    yield sized >> variance(), SIZED, 1, Fraction(25, 4) * Fraction(3, 4)  # ddof forgotten
    yield sized >> mean(), SIZED, 1, Fraction(5, 5)  # one more row than there is


@pytest.mark.parametrize(("made", "members", "d_in", "wrong"), list(wrong_maps()))
def test_brute_force_refutes_wrong_formulas(
    made: Transformation, members: list[list[object]], d_in: int, wrong: Fraction
) -> None:
    assert brute_sensitivity(made, members, d_in=d_in) > wrong


def test_variance_map_is_not_linear_and_never_more_than_the_largest_variance() -> None:
    maps = [variance_map(Fraction(d), width=Fraction(1), metric=ChangeOne(), size=6, ddof=0) for d in range(9)]
    assert maps == [Fraction(k * (6 - k), 36) for k in (0, 1, 2, 3, 3, 3, 3, 3, 3)]
