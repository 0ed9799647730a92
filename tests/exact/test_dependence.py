"""Scores of dependence: how far they move over all small tables, and the closed forms for rows that are exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from sfumato.accounting.losses.measures import ZCDP, Pure
from sfumato.audit.brute_force import brute_epsilon
from sfumato.core.domains import Array, Floats, Integers, Matrix, Vector
from sfumato.core.metrics import L1, AddRemove, LInf, Range
from sfumato.core.pieces import LargestL1
from sfumato.core.space import Space
from sfumato.errors import BadArgument
from sfumato.learn.trees_rules import mutual_information
from sfumato.mechanisms.selection import exponential
from sfumato.textbook import departure_sensitivity, information_sensitivity
from sfumato.transforms.contingency import contingency
from sfumato.transforms.dependence import Departure, Dependence, SharedBits, Sides, dependence_scores
from sfumato.transforms.split_criteria import UNIT

Shape = tuple[int, int]


def tables(rows: int, shape: Shape) -> Iterator[Array]:
    """Every table of so many rows."""
    for cells in combinations_with_replacement(range(shape[0] * shape[1]), rows):
        yield np.bincount(np.array(cells, dtype=np.int64), minlength=shape[0] * shape[1]).reshape(shape)


def cells(shape: Shape) -> Iterator[Array]:
    """One row in each cell."""
    for place in np.ndindex(shape):
        alone = np.zeros(shape, dtype=np.int64)
        alone[place] = 1
        yield alone


def counts(*shapes: Shape) -> Space:
    sizes = tuple(a * b for a, b in shapes)
    return Space(Vector(Integers(), size=sum(sizes)), LargestL1(sizes))


def moves(criterion: Dependence, rows: int, shape: Shape) -> list[int]:
    """How far one row more moves the score of every table of so many rows, in steps."""
    return [criterion.of(table + more) - criterion.of(table) for table in tables(rows, shape) for more in cells(shape)]


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 3), (1, 4)])
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4])
def test_a_row_moves_a_departure_by_less_than_two_and_by_all_that_so_few_rows_can(rows: int, shape: Shape) -> None:
    moved = moves(Departure(), rows, shape)
    assert max(map(abs, moved)) < Departure().most == 2 * UNIT
    reached = 0 if 1 in shape else 2 * rows * UNIT // (rows + 1)
    assert max(moved) == reached


def test_no_constant_below_two_bounds_a_departure() -> None:
    """A million equal rows and one that is like none of them; and one that breaks up what two values had in common."""
    alone = np.array([[0, 0], [0, 10**6]])
    risen = Departure().of(alone + np.array([[1, 0], [0, 0]])) - Departure().of(alone)
    assert Fraction(risen, UNIT) > Fraction(199, 100)
    crossed = np.array([[0, 10**3], [10**3, 10**6]])
    fallen = Departure().of(crossed + np.array([[1, 0], [0, 0]])) - Departure().of(crossed)
    assert Fraction(fallen, UNIT) < -Fraction(199, 100)


def test_a_departure_is_the_number_of_rows_out_of_place() -> None:
    assert Departure().of(np.array([[5, 0], [0, 5]])) == 5 * UNIT
    assert Departure().of(np.array([[2, 4], [3, 6]])) == 0
    assert Departure().of(np.zeros((3, 2), dtype=np.int64)) == 0
    large = np.array([[2**40, 0], [0, 2**40]], dtype=object)
    assert Departure().of(large) == 2**40 * UNIT


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_a_row_moves_shared_bits_by_no_more_than_stated_also_beyond_the_stated_rows(rows: int, shape: Shape) -> None:
    criterion = SharedBits(rows)
    every = [step for size in range(6 if shape == (2, 2) else 5) for step in moves(criterion, size, shape)]
    assert max(map(abs, every)) == criterion.most
    assert max(moves(criterion, rows - 1, shape)) == criterion.most


def test_shared_bits_are_mutual_information_times_the_number_of_rows() -> None:
    for table in tables(5, (2, 3)):
        expected = 5 * mutual_information(table, base=2)
        assert SharedBits(5).of(table) / UNIT == pytest.approx(expected, abs=1e-4)
    large = np.array([[2**40, 0], [0, 2**40]], dtype=object)
    assert SharedBits(3).of(large) >= 0


@pytest.mark.parametrize("criterion", [Departure(), SharedBits(3)], ids=["departure", "bits"])
@pytest.mark.parametrize("metric", [LInf(), Range()], ids=str)
def test_several_rows_in_several_tables_move_scores_by_no_more_than_the_map(
    criterion: Dependence, metric: LInf | Range
) -> None:
    """Two tables, of which each moves by up to two rows: also where one score rises and the other falls."""
    made = counts((2, 2), (2, 2)) >> dependence_scores(
        [Sides(0, 2, 2), Sides(1, 2, 2)], criterion=criterion, metric=metric
    )
    all_tables = [table.ravel() for rows in range(4) for table in tables(rows, (2, 2))]
    pairs = product(range(len(all_tables)), repeat=2)
    near = [pair for pair in pairs if np.abs(all_tables[pair[0]] - all_tables[pair[1]]).sum() <= 2]
    apart = np.array([criterion.of(table.reshape(2, 2)) for table in all_tables])
    gaps = np.array([apart[one] - apart[other] for one, other in near])
    widest = np.abs(gaps).max() if isinstance(metric, LInf) else gaps.max() - gaps.min()
    assert Fraction(int(widest), UNIT) <= made.map(2)
    one, other = near[int(gaps.argmax())], near[int(gaps.argmin())]
    left = np.concatenate([all_tables[one[0]], all_tables[other[0]]])
    right = np.concatenate([all_tables[one[1]], all_tables[other[1]]])
    assert made.source.distance(left, right) <= 2
    assert made.target.distance(made(left), made(right)) == Fraction(int(widest), UNIT)


def test_negative_counts_count_as_none_and_huge_ones_are_exact() -> None:
    made = counts((2, 2)) >> dependence_scores([Sides(0, 2, 2)])
    assert made.image([5, -3, 0, 5]).tolist() == made.image([5, 0, 0, 5]).tolist() == [5 * UNIT]
    assert made.image([10**30, 0, 0, 10**30]).tolist() == [10**30 * UNIT]
    assert made.image(np.array([2**40, 0, 0, 2**40])).tolist() == [2**40 * UNIT]


def test_a_choice_costs_twice_two_over_its_temperature_for_any_number_of_tables() -> None:
    for many in (1, 50):
        scores = counts(*[(2, 3)] * many) >> dependence_scores([Sides(place, 2, 3) for place in range(many)])
        assert (scores >> exponential(temperature=8)).map(1) == Pure("0.5")
        assert (scores >> exponential(temperature=8)).map(3) == Pure("1.5")
        assert (scores >> exponential(temperature=8, measure=ZCDP)).map(1) == ZCDP(Fraction(1, 32))


def test_any_axis_of_a_table_is_scored_against_all_others() -> None:
    cube = np.arange(24).reshape(2, 3, 4)
    sides = (Sides(0, 1, 2, 12), Sides(0, 2, 3, 4), Sides(0, 6, 4))
    made = counts((2, 12)) >> dependence_scores(sides)
    expected = [Departure().of(np.moveaxis(cube, axis, 2).reshape(-1, size)) for axis, size in enumerate((2, 3, 4))]
    assert made.image(cube.ravel()).tolist() == expected
    assert Sides(0, 2, 3, 4).read(cube)[1].tolist() == cube[0, :, 1].tolist()


def test_a_range_is_priced_for_scores_that_go_both_ways() -> None:
    """One table in which a row is new to both sides, and one in which it breaks up what two values had in common."""
    made = counts((2, 2), (2, 2)) >> dependence_scores([Sides(0, 2, 2), Sides(1, 2, 2)], metric=Range())
    risen, fallen = np.array([0, 0, 0, 10**6]), np.array([0, 10**3, 10**3, 10**6])
    more = np.array([1, 0, 0, 0])
    left, right = np.concatenate([risen, fallen]), np.concatenate([risen + more, fallen + more])
    assert made.source.distance(left, right) == 1 and made.map(1) == 4
    assert Fraction(398, 100) < made.target.distance(made(left), made(right)) <= made.map(1)


@pytest.mark.parametrize("criterion", [Departure(), SharedBits(3)], ids=["departure", "bits"])
def test_the_law_of_a_choice_of_parents_keeps_its_loss_and_comes_near_it(criterion: Dependence) -> None:
    """Three columns, of which the second is given the first, the third the first, or the third both."""
    candidates = [Sides(0, 2, 2), Sides(1, 2, 2), Sides(2, 4, 2)]
    rows = Space(Matrix(3, Floats()), AddRemove()) >> contingency((2, 2, 2), ((0, 1), (0, 2), (0, 1, 2)))
    made = rows >> dependence_scores(candidates, criterion=criterion) >> exponential(temperature=4)
    kinds = [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (1.0, 1.0, 0.0), (0.0, 1.0, 1.0)]
    every = [
        np.array(chosen, dtype=np.float64).reshape(-1, 3)
        for size in range(4)
        for chosen in combinations_with_replacement(kinds, size)
    ]
    low, high = brute_epsilon(made, every, missed=Fraction(0))
    price = made.map(1)
    assert isinstance(price, Pure)
    stated = Fraction(price.epsilon)
    assert stated == Fraction(criterion.most, 2 * UNIT)
    assert Fraction(1, 5) * stated < low <= high <= stated


def exchanged(rows: int, shape: Shape, bits: bool) -> float:
    """The most that one exchanged row moves R, or mutual information in bits, over every table of so many rows."""
    most = 0.0
    for table in tables(rows - 1, shape):
        values = [
            mutual_information(table + one, base=2) if bits else Departure().of(table + one) / UNIT / rows
            for one in cells(shape)
        ]
        most = max(most, max(values) - min(values))
    return most


def test_A3_045_closed_forms_of_the_sensitivity_of_mutual_information() -> None:
    found = [float(information_sensitivity(rows, binary=True)) for rows in (3, 4, 5, 6, 1000)]
    assert found == pytest.approx([0.918296, 0.811278, 0.721928, 0.650022, 0.0114078], abs=5e-7)
    found = [float(information_sensitivity(rows)) for rows in (3, 5, 1000)]
    assert found == pytest.approx([1.333333, 1.101955, 0.0208170], abs=5e-7)


@pytest.mark.parametrize("rows", [3, 4, 5, 6])
def test_A3_045_the_closed_forms_are_what_enumeration_finds(rows: int) -> None:
    assert exchanged(rows, (2, 3), bits=True) == pytest.approx(float(information_sensitivity(rows, binary=True)))
    if rows < 6:
        widest, stated = exchanged(rows, (3, 3), bits=True), float(information_sensitivity(rows))
        assert widest <= stated + 1e-12
        assert rows % 2 == 0 or widest == pytest.approx(stated)  # for odd numbers of rows it is reached


@pytest.mark.parametrize("rows", [2, 3, 4, 5])
def test_the_closed_form_for_a_departure_is_sound(rows: int) -> None:
    assert 1 / rows <= exchanged(rows, (2, 3), bits=False) <= departure_sensitivity(rows)
    assert information_sensitivity(1) == 0


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(BadArgument, match="at least one"):
        dependence_scores([])
    with pytest.raises(BadArgument, match="raise one score"):
        dependence_scores([Sides(0, 2, 2)], metric=LInf(monotonic=True))
    with pytest.raises(BadArgument, match="as many cells"):
        counts((2, 3)) >> dependence_scores([Sides(0, 2, 2)])
    with pytest.raises(BadArgument, match="one after another"):
        Space(Vector(Integers(), size=4), L1()) >> dependence_scores([Sides(0, 2, 2)])
    with pytest.raises(BadArgument, match="whole numbers"):
        Space(Vector(Integers(step=Fraction(1, 2)), size=4), LargestL1((4,))) >> dependence_scores([Sides(0, 2, 2)])
    with pytest.raises(BadArgument, match="as many cells"):
        counts((2, 2)) >> dependence_scores([Sides(1, 2, 2)])
    with pytest.raises(BadArgument, match="at least 1"):
        Sides(0, 2, 0)
    with pytest.raises(BadArgument, match="at most"):
        SharedBits(10**9)
