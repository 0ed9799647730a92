"""How samplers hand out numbers: in cache-sized chunks, as 64-bit integers, or as Python's where those do not do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.exact import integer

CHUNK = 1 << 14
"""Numbers drawn at a time, so that the arrays in between stay in the processor's cache."""

LARGEST = (1 << 63) - 1
SMALLEST = -(1 << 63)

Integers: TypeAlias = NDArray[np.int64] | NDArray[np.object_]
"""64-bit integers, or Python integers where 64 bits could be too few."""


class Sampler(Protocol):
    """Draws integers: one unbounded integer, or a chunk of 64-bit ones."""

    def one(self, entropy: Entropy) -> int:
        """Draws one integer."""

    def many(self, count: int, entropy: Entropy) -> Integers:
        """Draws a chunk of integers; an array of Python integers in the rare case that 64 bits do not hold them."""


FEW = 4
"""So many numbers at once are drawn one by one while there is no table, which takes longer to build than they do."""


@final
class Deferred:
    """Draws the first few single numbers without a table, and builds the table when it will pay for itself.

    The switch changes time and never the distribution, for both ways have the same law. (A race between two threads
    builds the same table twice, which is harmless.)
    """

    def __init__(self, *, direct: Callable[[Entropy], int], build: Callable[[], Sampler], patience: int) -> None:
        self._direct, self._build, self._patience = direct, build, patience
        self._built: Sampler | None = None

    def one(self, entropy: Entropy) -> int:
        if self._built is not None:
            return self._built.one(entropy)
        # What is replayed must not depend on what was drawn before, so it never takes the short way.
        if self._patience > 0 and not entropy.replayable:
            self._patience -= 1
            return self._direct(entropy)
        return self.table().one(entropy)

    def many(self, count: int, entropy: Entropy) -> Integers:
        if self._built is None and count <= min(self._patience, FEW) and not entropy.replayable:
            return as_integers([self.one(entropy) for _ in range(count)])
        return self.table().many(count, entropy)

    def table(self) -> Sampler:
        """The sampler with tables, built if need be."""
        if self._built is None:
            self._built = self._build()
        return self._built


def saturated(value: int) -> int:
    """Moves a whole number into the range of 64 bits: for bounds and tables, never for a draw."""
    return min(max(value, SMALLEST), LARGEST)


def draw_array(sampler: Sampler, *, count: int, entropy: Entropy, wide: bool) -> Integers:
    """Draws an array: 64-bit integers in chunks, or unbounded Python integers one by one where they are ``wide``."""
    count = integer(count, "count", least=0)
    if wide:
        numbers: NDArray[np.object_] = np.empty(count, dtype=object)
        for place in range(count):
            numbers[place] = sampler.one(entropy)
        return numbers
    drawn: Integers = np.empty(count, dtype=np.int64)
    for start in range(0, count, CHUNK):
        end = min(start + CHUNK, count)
        drawn = put(drawn, slice(start, end), sampler.many(end - start, entropy))
    return drawn


def put(numbers: Integers, places: NDArray[np.int64] | slice, new: Integers) -> Integers:
    """Puts numbers into an array, which becomes one of Python integers where 64 bits do not hold them all."""
    if new.dtype == object and numbers.dtype != object:
        numbers = numbers.astype(object)
    numbers[places] = new
    return numbers


def as_integers(values: list[int]) -> Integers:
    """An array of 64-bit integers where they do, else of Python integers."""
    fits = all(SMALLEST <= value <= LARGEST for value in values)
    return np.array(values, dtype=np.int64) if fits else np.array(values, dtype=object)
