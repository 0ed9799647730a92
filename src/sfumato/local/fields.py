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

AT_ONCE = 1 << 18
"""Products of vectors are worked out so many at a time, which stay in the processor's cache."""

GATHERED = 8
"""What a product of two vectors costs, in steps of the transform of all."""


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


def codes_of(order: int, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The vectors of points at such places.

    >>> codes_of(3, np.array([0, 3, 5])).tolist()
    [1, 5, 10]
    """
    firsts, powers = _blocks(order)
    block = np.searchsorted(firsts, places, side="right") - 1
    codes: NDArray[np.int64] = places + (powers - firsts)[block]
    return codes


def places_of(order: int, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of points: `codes_of` the other way round."""
    firsts, powers = _blocks(order)
    block = np.searchsorted(powers, codes, side="right") - 1
    places: NDArray[np.int64] = codes - (powers - firsts)[block]
    return places


def leading(order: int, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The weight of the 1 that points end in: the highest power of the order in each vector.

    >>> leading(3, np.array([1, 5, 10])).tolist()
    [1, 3, 9]
    """
    powers = _blocks(order)[1]
    found: NDArray[np.int64] = powers[np.searchsorted(powers, codes, side="right") - 1]
    return found


@lru_cache(maxsize=64)
def _blocks(order: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The place of the first point of each length, and its vector: a power of the order."""
    powers = [1]
    while powers[-1] * order < 1 << 62:
        powers.append(powers[-1] * order)
    return np.array([points_of(order, at) for at in range(len(powers))]), np.array(powers)


def hyperplane_counts(counts: NDArray[np.int64], of: Field, length: int, points: int) -> NDArray[np.int64]:
    """For the first points c: how many of the counted (s, b) have ⟨s, c⟩ = b; whole numbers, without any rounding.

    ``counts`` are by s (order^length rows) and b. The last entry of s is dealt with first: for points that end there in
    a 1 it goes into b, for all others it is summed over.
    """
    order, found = of.order, []
    every = np.arange(order)
    shifted = of.plus(every[None, :], every[:, None])  # [s, b] → b + s
    table = np.ascontiguousarray(counts.reshape(-1, order).T)  # [b, s]
    for size in range(length - 1, -1, -1):
        by_last = table.reshape(order, order, order**size)
        wanted = min(points - points_of(order, size), order**size)
        if wanted > 0:
            folded = np.zeros((order, order**size), dtype=np.int64)
            for last in range(order):
                folded += by_last[shifted[last], last]
            found.append(_inner_counts(folded, of, size, wanted))
        table = by_last.sum(axis=1)
    return np.concatenate(found[::-1])


def plane_counts(counts: NDArray[np.int64], of: Field, length: int, points: int) -> NDArray[np.int64]:
    """For the first points c: how many of the counted points lie in the plane of c; whole numbers, without rounding.

    Let c be a 1 behind the j digits of a. Of a vector y of the length the highest j digits are h, and the one below
    them is b. It lies in the plane of c if ⟨h, a⟩ = b. ``counts`` are of all points y, in order.
    """
    order, found = of.order, []
    table = np.zeros(order**length, dtype=np.int64)
    table[codes_of(order, np.arange(len(counts)))] = counts
    for size in range(length - 1, -1, -1):
        wanted = min(points - points_of(order, size), order**size)
        if wanted > 0:
            found.append(_inner_counts(np.ascontiguousarray(table.reshape(-1, order).T), of, size, wanted))
        table = table.reshape(-1, order).sum(axis=1)  # what is below b is summed over
    return np.concatenate(found[::-1])


def _inner_counts(table: NDArray[np.int64], of: Field, length: int, wanted: int) -> NDArray[np.int64]:
    """Σ_s table[⟨s, c⟩, s] for the first vectors c of a length, where [b, s] counts those with seed s and bucket b.

    For all vectors at once, or, where few are wanted or few seeds came, for each by itself.
    """
    came = np.flatnonzero(table.any(axis=0))
    if GATHERED * wanted * len(came) < length * of.order ** (length + 2):
        return _gathered(table, of, length, wanted, came)
    return _exchanged(table, of, length)[:wanted]


def _gathered(
    table: NDArray[np.int64], of: Field, length: int, wanted: int, seeds: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The counts of `_inner_counts` for each vector by itself, from the seeds that came."""
    order, total, every = of.order, np.zeros(wanted, dtype=np.int64), np.arange(wanted)
    step = max(1, AT_ONCE // max(1, wanted))
    for start in range(0, len(seeds), step):
        some = seeds[start : start + step]
        products, left, right = np.zeros((len(some), wanted), dtype=np.int64), some, every
        for _ in range(length):
            one, two = (left % order)[:, None], (right % order)[None, :]
            products = products + one * two if order == of.prime else of.plus(products, of.times(one, two))
            left, right = left // order, right // order
        total += table[products % order, some[:, None]].sum(axis=0)
    return total


def _exchanged(table: NDArray[np.int64], of: Field, length: int) -> NDArray[np.int64]:
    """The counts of `_inner_counts` for every vector c of the length.

    One entry of s after the other is exchanged for one of c: new[…, c, b] = Σ_s old[…, s, b + s c], which costs as much
    as there are counts, times the order.
    """
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
