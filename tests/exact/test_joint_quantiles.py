"""All quantiles in one choice, enumerated: every sequence of points, every small data set, both adjacencies."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from flint import arb
from tests.exact.enumerated import multisets

from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.audit.brute_force import brute_epsilon, brute_renyi
from sfumato.core.measurement import Measurement
from sfumato.core.space import vector
from sfumato.exact import enclose
from sfumato.mechanisms.joint_quantiles import joint_law, joint_quantiles, sequence_weights, shares_of
from sfumato.mechanisms.quantile import support

pytestmark = pytest.mark.sharp_balls

SLACK = Fraction(1, 10**20)
TWO = [Fraction(1, 4), Fraction(3, 4)]
THREE = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
SKEWED = [Fraction(7, 10), Fraction(8, 10), Fraction(9, 10)]


def members(top: int, size: int | None, most: int) -> list[list[int]]:
    sizes = range(most + 1) if size is None else range(size, size + 1)
    return multisets(range(top + 1), sizes)


def audited(
    alphas: list[Fraction],
    *,
    total: Fraction,
    temperature: Fraction,
    top: int,
    size: int | None = None,
    parts: int = 1,
    measure: type[Loss] = Pure,
) -> Measurement:
    """Gives the measurement on the integers 0 … top, cut into a few parts each, with its law."""
    space = vector(int, between=(0, top), size=size)
    grid = support(space.domain.element, None)  # type: ignore[attr-defined]
    targets = shares_of(alphas, total)
    once = cache(lambda rows: joint_law(list(rows), grid, parts, targets, temperature))
    made = space >> joint_quantiles(alphas, total=total, temperature=temperature, measure=measure)
    return replace(made, law=lambda data: once(tuple(data)))


@pytest.mark.parametrize("alphas", [TWO, THREE, SKEWED], ids=["two", "three", "skewed"])
@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize(("parts", "top", "most"), [(1, 3, 4), (2, 2, 3)])
@pytest.mark.parametrize(("total", "temperature"), [("0", "1/4"), ("3", "2"), ("7/2", "1/4"), ("9", "1/2")])
def test_no_pair_of_neighbours_exceeds_the_loss(
    alphas: list[Fraction], size: int | None, parts: int, top: int, most: int, total: str, temperature: str
) -> None:
    made = audited(alphas, total=Fraction(total), temperature=Fraction(temperature), top=top, size=size, parts=parts)
    stated = made.map(1)
    assert isinstance(stated, Pure) and stated.epsilon == (2 if size is None else 4) / Fraction(temperature)
    assert brute_epsilon(made, members(top, size, most))[1] <= stated.epsilon + SLACK


@pytest.mark.parametrize(("size", "total"), [(None, 2), (4, 4)])
def test_the_loss_is_reached(size: int | None, total: int) -> None:
    """A cold choice loses all that is charged, so a smaller charge would be a lie; half the noise is caught."""
    made = audited(TWO, total=Fraction(total), temperature=Fraction(1, 20), top=4, size=size)
    found, stated = brute_epsilon(made, members(4, size, 5)), made.map(1)
    assert isinstance(stated, Pure) and found[0] > Fraction(99, 100) * stated.epsilon
    charged = audited(TWO, total=Fraction(total), temperature=Fraction(1, 10), top=4, size=size)
    assert found[0] > charged.map(1).epsilon  # type: ignore[attr-defined]


def test_the_true_number_of_rows_would_cost_more() -> None:
    """Targets that follow the data move the scores by more than 2: the total must be public, or noisy."""
    temperature = Fraction(1, 20)

    def law(rows: list[int]) -> dict[tuple[int, ...], arb]:
        weights = sequence_weights(np.array(rows), 5, shares_of(THREE, Fraction(len(rows))), temperature)
        whole = sum(weights.values(), arb(0))
        return {points: weight / whole for points, weight in weights.items()}

    worst = Fraction(0)
    for rows in members(4, None, 4):
        for more in range(5):
            here, there = law(rows), law(sorted([*rows, more]))
            worst = max([worst, *(abs(Fraction(enclose((there[at] / here[at]).log)[0])) for at in here)])
    assert worst > Fraction(12, 10) * 2 / temperature


@pytest.mark.parametrize("size", [None, 3])
def test_zcdp_is_an_eighth_of_the_square(size: int | None) -> None:
    made = audited(THREE, total=Fraction(3), temperature=Fraction(1), top=3, size=size, measure=ZCDP)
    assert made.map(1) == ZCDP(Fraction(1, 2) if size is None else Fraction(2))
    for order in (Fraction(3, 2), Fraction(2), Fraction(12)):
        assert brute_renyi(made, members(3, size, 4), order=order)[1] <= order * made.map(1).rho  # type: ignore[attr-defined]


def test_sequences_are_in_order_and_probabilities_add_up() -> None:
    for rows in ([], [0], [2, 2], [0, 1, 2]):
        made = audited(THREE, total=Fraction(2), temperature=Fraction(1), top=2, parts=2)
        assert made.law is not None
        law = made.law(rows)
        listed = {points: law.probability(points) for points in law.outcomes(Fraction(0))}
        assert all(list(points) == sorted(points) for points in listed)
        assert sum(listed.values(), arb(0)).overlaps(arb(1))
        assert set(listed) == set(combinations_with_replacement(range(3), 3))
