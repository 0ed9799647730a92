"""Contingency tables of every small data set: what one row moves, and what selection on them costs."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from sfumato.accounting.losses.measures import ZCDP, Pure
from sfumato.core.metrics import L1, L2
from sfumato.core.pieces import LargestL1
from sfumato.core.space import matrix
from sfumato.exact import squared
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.selection import exponential, permute_and_flip
from sfumato.transforms.contingency import CodedTables, contingency, counted, misfits, tables_at

CODES, CLIQUES = (2, 3), ((0,), (1,), (0, 1))
ROWS = [*product(range(2), range(3)), (-1, 0), (0.5, 1), (float("nan"), 2), (0, 3)]
EXPECTED = np.array([40, 3, 16, 0, 1, 5, 60, 0, 0, 16, 0], dtype=np.int64)


def tables() -> list[tuple[list[tuple[float, ...]], np.ndarray]]:
    sets = [list(rows) for size in range(4) for rows in combinations_with_replacement(ROWS, size)]
    return [(rows, counted(np.array(rows, dtype=float).reshape(-1, 2), CodedTables(CODES, CLIQUES))) for rows in sets]


def neighbours() -> list[tuple[np.ndarray, np.ndarray]]:
    found = []
    for rows, counts in tables():
        if len(rows) < 3:
            for new in ROWS:
                more = counted(np.array([*rows, new], dtype=float), CodedTables(CODES, CLIQUES))
                found.append((counts, more))
    return found


def test_counts_are_those_of_each_combination() -> None:
    counts = counted(np.array([[0, 2], [1, 2], [1, 2], [1, 7]], dtype=float), CodedTables(CODES, CLIQUES))
    assert counts.tolist() == [1, 2, 0, 0, 3, 0, 0, 1, 0, 0, 2]


def test_one_row_moves_no_table_by_more_than_one_and_reaches_it() -> None:
    metric = (matrix(2) >> contingency(CODES, CLIQUES)).target.metric
    assert isinstance(metric, LargestL1)
    apart = {metric.distance(one.tolist(), other.tolist()) for one, other in neighbours()}
    assert max(apart) == (matrix(2) >> contingency(CODES, CLIQUES)).map(1) == 1


@pytest.mark.parametrize("norm", [L1(), L2()])
@pytest.mark.parametrize("places", [[0], [0, 2], [2, 1, 0]])
def test_some_tables_side_by_side_move_as_far_as_the_map_says(places: list[int], norm: L1 | L2) -> None:
    chain = matrix(2) >> contingency(CODES, CLIQUES) >> tables_at(places, metric=norm)
    ends = LargestL1((2, 3, 6)).ends
    apart = [
        norm.distance(*(np.concatenate([side[slice(*ends[at])] for at in places]).tolist() for side in pair))
        for pair in neighbours()
    ]
    assert max(map(squared, apart)) == squared(chain.map(1))


@pytest.mark.parametrize("weights", [None, (Fraction(1, 2), Fraction(3), Fraction(1))])
def test_misfits_move_by_at_most_the_largest_weight_and_reach_it(weights: tuple[Fraction, ...] | None) -> None:
    start = matrix(2) >> contingency(CODES, CLIQUES)
    chain = start >> misfits(EXPECTED, weights=weights, penalties=(0, -7, 100))
    scored = misfits(EXPECTED, weights=weights, penalties=(0, -7, 100)).build(start.target)
    step = scored.target.domain.element.step
    gaps = [
        max(abs(int(a) - int(b)) for a, b in zip(scored.image(one), scored.image(other), strict=True)) * step
        for one, other in neighbours()
    ]
    assert max(gaps) == chain.map(1) == (1 if weights is None else 3)


def test_what_noise_and_choices_on_tables_cost() -> None:
    start = matrix(2) >> contingency(CODES, CLIQUES)
    assert (start >> tables_at([0, 1, 2], metric=L1()) >> laplace(6)).map(1) == Pure("0.5")
    assert (start >> tables_at([0, 1]) >> gaussian(10)).map(1) == ZCDP("0.01")
    assert (start >> misfits(EXPECTED) >> permute_and_flip(4)).map(1) == Pure("0.5")
    assert (start >> misfits(EXPECTED) >> exponential(4, measure=ZCDP)).map(1) == ZCDP("1/32")
