"""Which groups to ask for: random ones, predicates hashed from public columns, and the cells of published tables."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.oracles import Groups
from sfumato.attacks.tables import Given, Rows, read_table
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import integer

PRIME = 2_147_483_647
"""The prime that identifiers are hashed with, 2³¹ - 1: products of two residues fit 64 bits."""


def random_queries(people: int, count: int, *, entropy: Entropy | None = None) -> Groups:
    """Draws random groups, one to a row: each holds each person with chance one half.

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
    """Many pseudo-random predicates on public columns: a random linear map modulo a prime, then odd or even.

    The same coefficients give the same groups for the same people, so they can be asked of any curator who knows the
    columns. Each row of ``coefficients`` is one predicate: one number for each column, and a constant.
    """

    coefficients: NDArray[np.int64] = field(repr=False)
    prime: int = PRIME

    def __post_init__(self) -> None:
        _odd_prime(self.prime)

    @staticmethod
    def draw(columns: int, count: int, *, prime: int = PRIME, entropy: Entropy | None = None) -> HashedPredicates:
        """Draws the coefficients of ``count`` predicates on ``columns`` columns."""
        _odd_prime(prime)
        shape = integer(count, "count", least=1), integer(columns, "columns", least=1) + 1
        source = entropy or system()
        drawn = [source.below(prime) for _ in range(shape[0] * shape[1])]
        return HashedPredicates(np.array(drawn, dtype=np.int64).reshape(shape), prime)

    def __call__(self, identifiers: Given) -> Groups:
        """The group of people that each predicate holds for, one to a row; labels are taken as ordinal codes."""
        codes = ordinal_codes(read_table(identifiers, "identifiers"))
        if len(codes) + 1 != self.coefficients.shape[1]:
            raise BadArgument("identifiers", f"{self.coefficients.shape[1] - 1} columns", len(codes))
        hashed = np.broadcast_to(self.coefficients[:, -1:], (len(self.coefficients), codes.shape[1]))
        for factor, column in zip(self.coefficients[:, :-1].T, codes % self.prime, strict=True):
            hashed = (hashed + factor[:, None] * column) % self.prime
        return np.asarray(hashed % 2 == 1)


def _odd_prime(prime: int) -> None:
    number = integer(prime, "prime")
    if not 2 < number <= PRIME or not all(number % factor for factor in (2, *range(3, math.isqrt(number) + 1, 2))):
        raise BadArgument("prime", "an odd prime of at most 2³¹ - 1", prime)


def ordinal_codes(table: Rows) -> NDArray[np.int64]:
    """Codes each column, one to a row, by the places of its values among the distinct ones in order, missing ones last.

    Values that have no order among them are ordered as they are written.
    """
    return np.stack([_ordinal(table, name) for name in table.names])


def _ordinal(table: Rows, name: str) -> NDArray[np.int64]:
    codes = table.codes(name)
    cells: list[Any] = [table.columns[name][place] for place in np.unique(codes, return_index=True)[1].tolist()]
    try:
        order = sorted(range(len(cells)), key=lambda at: (cells[at] is None or cells[at] is math.nan, cells[at]))
    except TypeError:
        order = sorted(range(len(cells)), key=lambda at: (type(cells[at]).__name__, repr(cells[at])))
    return np.asarray(np.argsort(order)[codes])


def table_queries(columns: Given, *, most: int | None = None) -> Groups:
    """Lists the cells of every table grouped by up to ``most`` of the columns, from the grand total down.

    >>> table_queries({"sex": ["f", "m", "m"], "ward": [1, 1, 2]}).astype(int).tolist()
    [[1, 1, 1], [1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    codes = ordinal_codes(read_table(columns, "columns"))
    deepest = len(codes) if most is None else min(len(codes), integer(most, "most", least=0))
    cells = [np.ones((1, codes.shape[1]), dtype=np.bool_)]
    for depth in range(1, deepest + 1):
        for chosen in combinations(range(len(codes)), depth):
            kinds, places = np.unique(codes[list(chosen)], axis=1, return_inverse=True)
            cells.append(np.arange(kinds.shape[1])[:, None] == places.reshape(1, -1))
    return np.concatenate(cells)
