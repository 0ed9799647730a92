"""Correlated noise: how far one unit reaches, by trying every pattern; sampled bands by enumerating every draw."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting import events as ev
from sfumato.accounting.amplify.bands import all_bands_fit, sampled_bands
from sfumato.accounting.compose import total
from sfumato.accounting.facts.strategies import best_sums, column_square, is_reached, reach_square
from sfumato.accounting.leaf_losses import square
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument

Rows = list[list[Fraction]]


def entries(strategy: ev.Strategy) -> Rows:
    """The matrix, written out by its definition."""
    if isinstance(strategy, ev.Dense):
        return [[*row, *[Fraction(0)] * (strategy.length - len(row))] for row in strategy.rows]
    assert isinstance(strategy, ev.Toeplitz | ev.SquareRoot)
    column = [*strategy.coefficients, *[Fraction(0)] * strategy.length]
    steps = range(strategy.length)
    return [[column[row - step] if row >= step else Fraction(0) for step in steps] for row in steps]


def patterns(participation: ev.Participation, steps: int) -> Iterator[tuple[int, ...]]:
    """Every set of steps that the definition allows."""
    if isinstance(participation, ev.Cyclic):
        for first in range(participation.period):
            yield tuple(range(first, steps, participation.period))
        return
    assert isinstance(participation, ev.MinSeparation)
    for size in range(participation.times + 1):
        for chosen in itertools.combinations(range(steps), size):
            if all(later - one >= participation.separation for one, later in itertools.pairwise(chosen)):
                yield chosen


def signed(rows: Rows, chosen: tuple[int, ...]) -> Fraction:
    """The largest squared norm that a unit reaches with plus or minus one number at each of its steps."""
    best = Fraction(0)
    for signs in itertools.product((1, -1), repeat=len(chosen)):
        sums = [sum(sign * row[step] for sign, step in zip(signs, chosen, strict=True)) for row in rows]
        best = max(best, sum((each * each for each in sums), Fraction(0)))
    return best


def absolute(rows: Rows, chosen: tuple[int, ...]) -> Fraction:
    """The sum of the magnitudes of all inner products of the columns of a pattern."""
    products = (abs(sum((row[one] * row[other] for row in rows), Fraction(0))) for one in chosen for other in chosen)
    return sum(products, Fraction(0))


TOEPLITZ = [
    ev.Toeplitz([1], steps=7),
    ev.Toeplitz([1] * 7, steps=7),
    ev.Toeplitz([1, "1/2", "3/8"], steps=7),
    ev.Toeplitz([1, "-1/2"], steps=6),
    ev.Toeplitz([1, "1/3", "-2/3", "5/3"], steps=7),
    ev.Toeplitz([2, 3, 1], steps=7),
    ev.SquareRoot(7),
    ev.SquareRoot(8, band=3),
]
PATTERNS = [
    *(ev.MinSeparation(apart, times=times) for apart in (1, 2, 3, 5, 9) for times in (1, 2, 3, 5)),
    *(ev.Cyclic(period) for period in (1, 2, 3, 4, 9)),
]


@pytest.mark.parametrize("strategy", TOEPLITZ, ids=str)
def test_no_pattern_reaches_further_and_falling_or_banded_ones_reach_it(strategy: ev.Strategy) -> None:
    rows = entries(strategy)
    for participation in PATTERNS:
        claimed = reach_square(strategy, participation)
        reached = max(signed(rows, chosen) for chosen in patterns(participation, strategy.length))
        assert claimed >= reached
        if is_reached(strategy, participation):
            assert claimed == reached
    assert is_reached(strategy, ev.MinSeparation(5, times=9))


def test_what_starts_late_reaches_no_further_only_where_coefficients_fall_or_bands_are_narrow() -> None:
    """The exact formula would be wrong for these: steps 0 and 1 reach less than 1 and 2 do, or two cancel."""
    rising = ev.Toeplitz([1, 3], steps=3)
    assert not is_reached(rising, ev.MinSeparation(1, times=2))
    assert reach_square(rising, ev.MinSeparation(1, times=2)) >= 1 + 16 + 9
    cancelling = ev.Toeplitz([1, -1], steps=3)
    assert reach_square(cancelling, ev.MinSeparation(1, times=2)) >= 1 + 4 + 1


def test_long_matrices_that_do_not_fall_are_bounded_by_ones_that_do() -> None:
    participation, reached = ev.MinSeparation(2, times=3), 3 * Fraction(21, 16) + 4 * Fraction(1, 2)
    short, long = (ev.Toeplitz([1, "-1/4", "1/2"], steps=steps) for steps in (64, 1025))
    assert min(reach_square(short, participation), reach_square(long, participation)) >= reached
    assert reach_square(long, participation) == reach_square(ev.Toeplitz([1, "1/2", "1/2"], steps=1025), participation)


def test_matrices_written_out_are_bounded_exact_for_cycles_and_for_separated_columns() -> None:
    chance = random.Random(5)
    for _ in range(8):
        steps = chance.randint(1, 5)
        rows = [[Fraction(chance.randint(-3, 3), chance.randint(1, 3)) for _ in range(steps)] for _ in range(5)]
        for participation in PATTERNS:
            claimed = reach_square(ev.Dense(rows), participation)
            sums = [absolute(rows, chosen) for chosen in patterns(participation, steps)]
            assert claimed >= max(sums) >= max(signed(rows, chosen) for chosen in patterns(participation, steps))
            if isinstance(participation, ev.Cyclic) or participation.times == 1:
                assert claimed == max(sums)
    banded = ev.Dense([[1], [2, 3], [0, 1, 5], [0, 0, 4, 1]])
    for times in (1, 2, 3):
        apart = ev.MinSeparation(2, times=times)
        assert reach_square(banded, apart) == max(signed(entries(banded), each) for each in patterns(apart, 4))


@pytest.mark.parametrize("apart", [1, 2, 4])
def test_best_sums_are_the_best_of_all_choices(apart: int) -> None:
    chance = random.Random(apart)
    weights = np.array([[chance.randint(0, 9) for _ in range(7)] for _ in range(6)])
    for times in range(5):
        allowed = list(patterns(ev.MinSeparation(apart, times=max(1, times)), 7)) if times else [()]
        best = [max(sum(int(row[place]) for place in chosen) for chosen in allowed) for row in weights]
        assert best_sums(weights, apart, times).tolist() == best


def test_huge_entries_are_added_up_exactly() -> None:
    huge = 10**30
    assert reach_square(ev.Dense([[huge], [huge, 1]]), ev.MinSeparation(1, times=2)) == 2 * huge**2 + 2 * huge + 1


def tree_matrix(steps: int, *, completed: bool) -> ev.Dense:
    """Every node of a binary tree as a row."""
    rows, width = [], 1
    while True:
        for start in range(0, steps, width):
            if not completed or start + width <= steps:
                rows.append([int(start <= step < start + width) for step in range(steps)])
        if width >= steps:
            return ev.Dense(rows)
        width *= 2


@pytest.mark.parametrize("steps", [1, 2, 5, 8])
def test_a_tree_is_a_strategy(steps: int) -> None:
    for times, apart in ((1, 1), (steps, 1), (2, 4)):
        tree = ev.Tree(3, steps=steps, participations=times, separation=apart, shift=2)
        for completed in (False, True):
            event = ev.MatrixFactorization(
                3, tree_matrix(steps, completed=completed), participation=ev.MinSeparation(apart, times=times), shift=2
            )
            told = ev.CompletedNodes(tree) if completed else tree
            if times in (1, steps):
                assert total(event, GDP) == total(told, GDP)
            assert square(event) >= square(told)


def test_one_factorisation_costs_one_gaussian_vector() -> None:
    event = ev.MatrixFactorization(4, ev.Toeplitz([1, 1], steps=3), participation=ev.MinSeparation(1, times=2), shift=3)
    moved = Fraction(9, 16) * (1 + 4 + 1)
    assert total(event, ZCDP) == ZCDP(moved / 2)
    for kind in (GDP, Renyi, PLD):
        assert total(event, kind) == total(ev.Stated(GDP.of_square(moved)), kind)
    without = ev.MatrixFactorization(4, ev.Toeplitz([1, 1], steps=3))
    assert without.participation == ev.MinSeparation()
    assert total(without, ZCDP) == ZCDP(Fraction(2, 32))


# Sampled bands.


def hockey_stick(event: ev.SampledFactorization, part: int, epsilon: float, *, added: bool) -> float:
    """δ(ε) of the mechanism itself for one lone unit of norm 1 in a part: all draws, the Gaussian vectors in floats.

    The unit's candidate columns are orthogonal, so the outcome matters only by its inner product with each.
    """
    rows = np.array([[float(each) for each in row] for row in entries(event.strategy)])
    columns = rows[:, part :: event.period]
    assert np.allclose(columns.T @ columns, np.diag(np.diag(columns.T @ columns)))
    norms, rate = np.sqrt(np.diag(columns.T @ columns)), float(event.rate)
    grid, spacing = np.linspace(-7, 9, 129), 1 / 8
    laws = []
    for present in (True, False):
        law = np.ones(())
        for norm in norms / float(event.scale):
            density = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi)
            moved = np.exp(-((grid - norm) ** 2) / 2) / math.sqrt(2 * math.pi)
            law = np.multiply.outer(law, (rate * moved + (1 - rate) * density if present else density) * spacing)
        laws.append(law)
    here, there = laws[::-1] if added else laws
    return float(np.maximum(here - math.exp(epsilon) * there, 0).sum())


@pytest.mark.parametrize("steps", [4, 5])
@pytest.mark.parametrize("added", [False, True])
def test_sampled_bands_cost_no_more_than_is_claimed_and_as_much_where_they_fit(steps: int, added: bool) -> None:
    event = ev.SampledFactorization(1, ev.Toeplitz([1, 0.75], steps=steps), period=2, rate=0.25)
    loss = total(event, PLD, relation=Relation.ADD_REMOVE)
    side = loss.turned() if added else loss
    for epsilon in (0.1, 0.5, 1.0):
        truth = max(hockey_stick(event, part, epsilon, added=added) for part in (0, 1))
        claimed = max(float(side.delta(epsilon).upper), float(loss.delta(epsilon).upper))
        assert truth <= claimed * (1 + 2e-3)
        if all_bands_fit(event) and not added:
            assert math.isclose(truth, float(loss.delta(epsilon).upper), rel_tol=2e-3)
    assert all_bands_fit(event) == (steps == 4)
    assert sampled_bands(event).times == math.ceil(steps / 2)


def test_sampled_bands_must_fit_into_the_period() -> None:
    assert column_square(ev.Dense([[3], [4, 1], [0, 0, 2]])) == (25, 2)
    assert column_square(ev.SquareRoot(50, band=4))[1] == 4
    for strategy in (ev.SquareRoot(50), ev.Toeplitz([1, 0, 0, 1], steps=5)):
        with pytest.raises(BadArgument, match="period must be at least the band of the strategy"):
            ev.SampledFactorization(1, strategy, period=3, rate=0.1)
    with pytest.raises(BadArgument, match="lower triangular"):
        ev.SampledFactorization(1, ev.Dense([[0, 1], [1, 0]]), period=3, rate=0.1)
