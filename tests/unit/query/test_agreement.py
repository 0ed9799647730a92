"""The noise on totals that agree: the weights that are worked out are those of least squares."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from sfumato.query.answer.agreement import Cube

SHAPES = [
    ({0: 3, 1: 2}, [(0, 1), (0,), (1,), ()]),
    ({0: 4, 1: 3}, [(0, 1), (0,), ()]),
    ({0: 2, 1: 3, 2: 2}, [(0, 1, 2), (0, 1), (2,), ()]),
    ({0: 2, 1: 1, 2: 3}, [(0, 2), (0, 1, 2), (1, 2)]),
]


@pytest.mark.parametrize("sizes, sets", SHAPES)
def test_weights_are_those_of_least_squares(sizes: dict[int, int], sets: list[tuple[int, ...]]) -> None:
    spreads = [1.0 + 0.7 * place for place in range(len(sets))]
    cells = list(itertools.product(*(range(size) for size in sizes.values())))
    sums = []
    for one in sets:
        keys = sorted({tuple(cell[at] for at in one) for cell in cells})
        rows = [[float(tuple(cell[at] for at in one) == key) for cell in cells] for key in keys]
        sums.append(np.array(rows))
    curved = sum(one.T @ one / spread for one, spread in zip(sums, spreads, strict=True))
    cube = Cube(sizes, tuple(map(frozenset, sets)))
    for own, matrix in enumerate(sums):
        found = cube.weights(own, spreads)
        for other, spread, here in zip(sums, spreads, found, strict=True):
            exact = (matrix @ np.linalg.inv(curved) @ other.T / spread)[0]
            wanted = np.sort(exact)
            got = np.sort(np.array(list(Counter(here).elements())))
            assert np.allclose(got, wanted, atol=1e-11)
