"""Finite fields, the points of projective spaces over them, and counts over all hyperplanes at once.

Elements of a field of q = p^e elements are whole numbers below q, whose digits in base p are the coefficients of a
polynomial; a vector is a whole number whose digits in base q are its entries, the first entry lowest. Value v stands
for the v-th *point*: the v-th vector whose last entry that is not 0 is a 1. No two points are multiples of each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.local.device import field_tables

LARGEST_TABLE = 64
"""Fields that are not of prime order have at most so many elements, so that devices make their tables at once."""

LARGEST_ORDER = 1 << 14
"""No field has more elements."""


@lru_cache(maxsize=1)
def orders() -> tuple[int, ...]:
    """The orders of all fields that are used: primes, and powers of primes up to `LARGEST_TABLE`."""
    prime = np.ones(LARGEST_ORDER, dtype=bool)
    prime[:2] = False
    for one in range(2, int(LARGEST_ORDER**0.5) + 1):
        if prime[one]:
            prime[one * one :: one] = False
    powers = {base**power for base in (2, 3, 5, 7) for power in range(2, 7) if base**power <= LARGEST_TABLE}
    return tuple(sorted(powers.union(np.flatnonzero(prime).tolist())))


@lru_cache(maxsize=64)
def field(order: int) -> Field:
    """The field of an order."""
    if order not in orders():
        raise BadArgument("the order of a field", f"a prime below {LARGEST_ORDER}, or a power up to 64", order)
    prime = next(base for base in range(2, order + 1) if order % base == 0)
    if prime == order:
        return Field(order, prime, prime)
    for polynomial in range(order, 2 * order):
        products = np.array(field_tables(prime, polynomial)[1]).reshape(order, order)
        if products[1:, 1:].all():
            break
    return Field(order, prime, polynomial)


@final
@dataclass(frozen=True)
class Field:
    """A finite field: its order, its prime, and the least irreducible polynomial that it is made by."""

    order: int
    prime: int
    polynomial: int

    def recipe(self) -> dict[str, Any]:
        """What a device needs to know of it."""
        return {"order": self.order, "prime": self.prime, "polynomial": self.polynomial}

    def times(self, one: NDArray[np.int64], two: NDArray[np.int64]) -> NDArray[np.int64]:
        """Products, entry by entry."""
        if self.order == self.prime:
            products: NDArray[np.int64] = one * two % self.order
        else:
            products = _table(self, 1)[one * self.order + two]
        return products

    def plus(self, one: NDArray[np.int64], two: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sums, entry by entry."""
        if self.order == self.prime:
            sums: NDArray[np.int64] = (one + two) % self.order
            return sums
        return one ^ two if self.prime == 2 else _table(self, 0)[one * self.order + two]

    def minus(self, one: NDArray[np.int64]) -> NDArray[np.int64]:
        """Negatives."""
        return self.times(one, np.array(self.prime - 1))

    def inverses(self) -> NDArray[np.int64]:
        """The inverse of each element, 0 for 0."""
        every = np.arange(self.order)
        if self.order == self.prime:
            return np.array([0, *(pow(one, -1, self.order) for one in range(1, self.order))], dtype=np.int64)
        products = self.times(every[:, None], every[None, :])
        inverse: NDArray[np.int64] = np.argmax(products == 1, axis=1).astype(np.int64)
        return inverse

    def inner(self, left: NDArray[np.int64], right: NDArray[np.int64], length: int) -> NDArray[np.int64]:
        """Inner products of vectors of a length, one by one."""
        order, total = self.order, np.zeros(len(left), dtype=np.int64)
        for last in range(length - 1, -1, -1):
            left, one = np.divmod(left, order) if last else (left, left)
            right, two = np.divmod(right, order) if last else (right, right)
            total = total + one * two if order == self.prime else self.plus(total, self.times(one, two))
        return total % order


@lru_cache(maxsize=32)
def _table(of: Field, which: int) -> NDArray[np.int64]:
    return np.array(field_tables(of.prime, of.polynomial)[which], dtype=np.int64)


def length_for(order: int, count: int) -> int:
    """The least length of vectors with at least so many points.

    >>> length_for(2, 7), length_for(2, 8)
    (3, 4)
    """
    length, points = 1, 1
    while points < count:
        points, length = points * order + 1, length + 1
    return length


def points_of(order: int, length: int) -> int:
    """The number of points: (order^length − 1) / (order − 1)."""
    return int(order**length - 1) // (order - 1)


def point_codes(order: int, count: int) -> NDArray[np.int64]:
    """The vectors of the first points.

    >>> point_codes(3, 6).tolist()
    [1, 3, 4, 5, 9, 10]
    """
    blocks = [range(order**at, 2 * order**at) for at in range(length_for(order, count))]
    return np.concatenate([np.arange(block.start, block.stop, dtype=np.int64) for block in blocks])[:count]


def hyperplane_counts(counts: NDArray[np.int64], of: Field, length: int, points: int) -> NDArray[np.int64]:
    """For the first points c: how many of the counted (s, b) have ⟨s, c⟩ = b; whole numbers, without any rounding.

    ``counts`` are by s (order^length rows) and b. The last entry of s is dealt with first: for points that end there in
    a 1 it goes into b, for all others it is summed over. Then one entry of s after the other is exchanged for one of c:
    new[…, c, b] = Σ_s old[…, s, b + s c], which costs as much as there are counts, times the order.
    """
    order, found = of.order, []
    every = np.arange(order)
    shifted = of.plus(every[None, :], every[:, None])  # [s, b] → b + s
    table = np.ascontiguousarray(counts.reshape(-1, order).T)  # [b, s]
    for size in range(length - 1, -1, -1):
        by_last = table.reshape(order, order, order**size)
        if points > points_of(order, size):
            folded = np.zeros((order, order**size), dtype=np.int64)
            for last in range(order):
                folded += by_last[shifted[last], last]
            found.append(_exchanged(folded, of, size))
        table = by_last.sum(axis=1)
    return np.concatenate(found[::-1])[:points]


def _exchanged(table: NDArray[np.int64], of: Field, length: int) -> NDArray[np.int64]:
    """Σ_s table[⟨s, c⟩, s] for every c of a length, where [b, s] counts those with seed s and bucket b."""
    order, every = of.order, np.arange(of.order)
    moved = of.times(every[:, None], every[None, :])  # [c, s] → s c
    for _ in range(length):
        rows = table.reshape(order * order, -1)  # [b, s of the last place]; what was exchanged stands at the end
        fresh = np.empty((order, rows.shape[1], order), dtype=np.int64)
        for bucket in range(order):
            taken = of.plus(np.full_like(moved, bucket), moved) * order + every[None, :]
            fresh[bucket] = rows[taken].sum(axis=1).T
        table = fresh.reshape(order, -1)
    counts: NDArray[np.int64] = table[0]
    return counts


def fitting(count: int, most_cells: int, extra: int) -> Iterator[tuple[int, int]]:
    """Orders and lengths of fields with so many points, of at most so many vectors of ``extra`` more entries."""
    for order in orders():
        length = length_for(order, count)
        if order == 2 or order ** (length + extra) <= most_cells:
            yield order, length
        if length <= 2:
            return
