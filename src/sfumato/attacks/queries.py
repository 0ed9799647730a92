"""Which groups to ask for: random ones, predicates hashed from public columns, and the cells of published tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.attacks.oracles import Groups
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import integer

PRIME = 2_147_483_647
"""The prime that identifiers are hashed with, 2³¹ - 1: products of two residues fit 64 bits."""


def random_queries(people: int, count: int, *, entropy: Entropy | None = None) -> Groups:
    """Gives random groups, one to a row: each holds each person with chance one half.

    >>> random_queries(100, 200).shape
    (200, 100)
    """
    columns = integer(people, "people", least=1)
    cells = integer(count, "count", least=0) * columns
    octets = np.frombuffer((entropy or system()).octets((cells + 7) // 8), dtype=np.uint8)
    return np.unpackbits(octets, count=cells).reshape(-1, columns).astype(np.bool_)


@final
@dataclass(frozen=True, eq=False)
class HashedPredicates:
    """Is many pseudo-random predicates on public columns: a random linear map modulo a prime, then odd or even.

    The same coefficients give the same groups for the same people, so they can be asked of any curator who knows the
    columns. Each row of ``coefficients`` is one predicate: one number for each column, and a constant.
    """

    coefficients: NDArray[np.int64]
    prime: int = PRIME

    @staticmethod
    def draw(columns: int, count: int, *, prime: int = PRIME, entropy: Entropy | None = None) -> HashedPredicates:
        """Draws the coefficients of so many predicates on so many columns."""
        if not 2 < integer(prime, "prime") <= PRIME:
            raise BadArgument("prime", "an odd prime of at most 2³¹ - 1", prime)
        shape = integer(count, "count", least=1), integer(columns, "columns", least=1) + 1
        source = entropy or system()
        drawn = [source.below(prime) for _ in range(shape[0] * shape[1])]
        return HashedPredicates(np.array(drawn, dtype=np.int64).reshape(shape), prime)

    def __call__(self, identifiers: Mapping[str, ArrayLike]) -> Groups:
        """Gives the group of people of whom each predicate holds, one to a row; labels are taken as ordinal codes."""
        codes = ordinal_codes(identifiers)
        if len(codes) + 1 != self.coefficients.shape[1]:
            raise BadArgument("identifiers", f"{self.coefficients.shape[1] - 1} columns", len(codes))
        hashed = np.broadcast_to(self.coefficients[:, -1:], (len(self.coefficients), codes.shape[1]))
        for factor, column in zip(self.coefficients[:, :-1].T, codes % self.prime, strict=True):
            hashed = (hashed + factor[:, None] * column) % self.prime
        return np.asarray(hashed % 2 == 1)


def ordinal_codes(columns: Mapping[str, ArrayLike]) -> NDArray[np.int64]:
    """Gives each column, one to a row, as the places of its values among the distinct ones in order."""
    read = [np.asarray(column) for column in columns.values()]
    if not read or len({column.shape for column in read}) != 1 or read[0].ndim != 1 or not read[0].size:
        raise BadArgument("columns", "one or more of one length, of one row or more", [found.shape for found in read])
    return np.stack([np.unique(column, return_inverse=True)[1].reshape(-1) for column in read])


def table_queries(columns: Mapping[str, ArrayLike], *, most: int | None = None) -> Groups:
    """Gives the cells of every table grouped by up to ``most`` of the columns, from the grand total down.

    >>> table_queries({"sex": ["f", "m", "m"], "ward": [1, 1, 2]}).astype(int).tolist()
    [[1, 1, 1], [1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    codes = ordinal_codes(columns)
    deepest = len(codes) if most is None else min(len(codes), integer(most, "most", least=0))
    cells = [np.ones((1, codes.shape[1]), dtype=np.bool_)]
    for depth in range(1, deepest + 1):
        for chosen in combinations(range(len(codes)), depth):
            kinds, places = np.unique(codes[list(chosen)], axis=1, return_inverse=True)
            cells.append(np.arange(kinds.shape[1])[:, None] == places.reshape(1, -1))
    return np.concatenate(cells)
