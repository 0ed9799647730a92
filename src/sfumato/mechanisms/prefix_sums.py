"""Ways to measure a row of increments so that all their running totals come out well: a binary tree, a square root.

A way is a public matrix of whole numbers. Its entries times the increments get the noise; running totals are a public
linear function of the noisy entries. Each entry depends on increments up to its own step only, so that all of it can
be done while a stream runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import final

import numpy as np
from flint import fmpz_poly
from numpy.typing import NDArray

from sfumato.accounting.facts.strategies import GRID_BITS, SAFE, root_weights
from sfumato.core.domains import Array
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import in_64_bits

Floats = NDArray[np.float64]


@guarantee(
    claim="the most nodes, of complete blocks of 2^h steps, that hold one step",
    proof="proofs/running_counts.md#tree",
    reviewed="9652367aeecc",
)
def tree_depth(steps: int) -> int:
    """How many entries of the tree one increment is part of, at most."""
    return steps.bit_length()


@guarantee(
    claim="(largest column sum of absolute values, largest column sum of squares) of the lower triangular matrix with "
    "these whole numbers down every column",
    proof="proofs/running_counts.md#square-root",
    reviewed="669604303c6e",
)
def toeplitz_columns(weights: tuple[int, ...]) -> tuple[int, int]:
    """The largest column sums of absolute values and of squares."""
    return sum(abs(weight) for weight in weights), sum(weight * weight for weight in weights)


class PrefixSums(ABC):
    """A public way to measure increments: the entries to which noise is added, and the totals read off them."""

    @property
    @abstractmethod
    def length(self) -> int:
        """How many steps there are."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many entries there are."""

    @property
    @abstractmethod
    def unit(self) -> int:
        """What an increment of 1 counts for in the entry of its own step."""

    @property
    @abstractmethod
    def columns(self) -> tuple[int, int]:
        """The largest column sum of absolute values, and of squares: what one increment adds to the entries."""

    @abstractmethod
    def entries(self, increments: Array) -> Array:
        """All exact entries, in the order in which a stream completes them."""

    @abstractmethod
    def totals(self, noisy: Floats) -> Floats:
        """The running totals that noisy entries stand for."""

    @abstractmethod
    def spread(self) -> Floats:
        """The variance of each running total, in variances of the noise on one entry."""

    @abstractmethod
    def adding(self, most: int | None) -> Callable[[int], list[int]]:
        """Starts a function from each next increment to the exact entries that it completes.

        ``most`` is a public bound on the magnitude of increments, or None: which arithmetic is used depends on no data.
        """

    @abstractmethod
    def totalling(self) -> Callable[[list[float]], float]:
        """Starts a function from the noisy entries of each next step to the running total."""


@final
@dataclass(frozen=True)
class BinaryTree(PrefixSums):
    """Sums every block of 2^h steps that starts at a multiple of 2^h: a running total is a sum of few blocks.

    Blocks are estimated from below: a node and the sum of its halves are both noisy sums of the same steps, and are
    averaged with the weights of least variance.
    """

    steps: int

    @property
    def length(self) -> int:
        return self.steps

    @property
    def size(self) -> int:
        return 2 * self.steps - self.steps.bit_count()

    @property
    def unit(self) -> int:
        return 1

    @property
    def columns(self) -> tuple[int, int]:
        return tree_depth(self.steps), tree_depth(self.steps)

    @cached_property
    def variances(self) -> tuple[float, ...]:
        """The variance of the estimate of a block of 2^h steps, for each h."""
        values = [1.0]
        for _ in range(1, self.steps.bit_length()):
            values.append(2 * values[-1] / (1 + 2 * values[-1]))
        return tuple(values)

    def entries(self, increments: Array) -> Array:
        prefix = np.concatenate(([0], np.cumsum(roomy(increments, 1))))
        blocks = np.zeros(self.size, dtype=prefix.dtype)
        for height in range(self.steps.bit_length()):
            ends = np.arange(1 << height, self.steps + 1, 1 << height)
            blocks[place(ends, height)] = prefix[ends] - prefix[ends - (1 << height)]
        return in_64_bits(blocks)

    def totals(self, noisy: Floats) -> Floats:
        times = np.arange(1, self.steps + 1)
        running, below = np.zeros(self.steps), np.zeros(0)
        for height, variance in enumerate(self.variances):
            own = noisy[place(np.arange(1 << height, self.steps + 1, 1 << height), height)]
            halves = below[0 : 2 * len(own) : 2] + below[1 : 2 * len(own) : 2] if height else own
            below = variance * own + (1 - variance) * halves
            ending = times >> height
            running += np.where(ending & 1, below[np.maximum(ending, 1) - 1], 0.0)
        return running

    def spread(self) -> Floats:
        times, variances = np.arange(1, self.steps + 1), np.zeros(self.steps)
        for height, variance in enumerate(self.variances):
            variances += variance * (times >> height & 1)
        return variances

    def adding(self, most: int | None) -> Callable[[int], list[int]]:
        prefix = [0]

        def add(increment: int) -> list[int]:
            prefix.append(prefix[-1] + increment)
            time = len(prefix) - 1
            heights = (time & -time).bit_length()
            return [prefix[time] - prefix[time - (1 << height)] for height in range(heights)]

        return add

    def totalling(self) -> Callable[[list[float]], float]:
        last, before = [0.0] * len(self.variances), [0.0] * len(self.variances)
        time = 0

        def total(noisy: list[float]) -> float:
            nonlocal time
            time += 1
            for height, own in enumerate(noisy):
                halves = before[height - 1] + last[height - 1] if height else own
                variance = self.variances[height]
                before[height], last[height] = last[height], variance * own + (1 - variance) * halves
            return sum(block for height, block in enumerate(last) if time >> height & 1)

        return total


def place(ends: NDArray[np.int64], height: int) -> NDArray[np.int64]:
    """Where the block of 2^height steps that ends at a time stands among all, by time and then by height."""
    earlier = ends - 1
    return 2 * earlier - np.bitwise_count(earlier) + height


@final
@dataclass(frozen=True)
class SquareRoot(PrefixSums):
    """Multiplies by the square root of the matrix of running totals, on a grid; the other root reads the totals off.

    The series of the matrix of running totals is 1 / (1 − x); its square root's coefficients are those of
    (1 − x)^(−1/2). What rounding to the grid changes is undone exactly by its inverse.
    """

    steps: int

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """The first column of the matrix, in whole numbers of 2^−20."""
        return root_weights(self.steps)

    @cached_property
    def reading(self) -> Floats:
        """The first column of the matrix that turns noisy entries into running totals."""
        totals: Floats = np.cumsum(inverse_series(self.weights / 2**GRID_BITS))
        scaled: Floats = totals / 2**GRID_BITS
        return scaled

    @property
    def length(self) -> int:
        return self.steps

    @property
    def size(self) -> int:
        return self.steps

    @property
    def unit(self) -> int:
        return 1 << GRID_BITS

    @cached_property
    def columns(self) -> tuple[int, int]:
        return toeplitz_columns(tuple(self.weights.tolist()))

    def entries(self, increments: Array) -> Array:
        whole = (fmpz_poly(self.weights.tolist()) * fmpz_poly([int(entry) for entry in increments])).coeffs()
        padded = [int(entry) for entry in whole[: self.steps]] + [0] * (self.steps - len(whole))
        return in_64_bits(np.array(padded, dtype=object))

    def totals(self, noisy: Floats) -> Floats:
        return product_series(self.reading, noisy)

    def spread(self) -> Floats:
        return np.cumsum(self.reading**2)

    def adding(self, most: int | None) -> Callable[[int], list[int]]:
        fits = most is not None and most * self.columns[0] < SAFE
        weights = self.weights if fits else self.weights.astype(object)
        seen, time = np.zeros(self.steps, dtype=weights.dtype), 0

        def add(increment: int) -> list[int]:
            nonlocal time
            seen[time] = increment
            time += 1
            return [int(weights[time - 1 :: -1] @ seen[:time])]

        return add

    def totalling(self) -> Callable[[list[float]], float]:
        seen, time = np.zeros(self.steps), 0

        def total(noisy: list[float]) -> float:
            nonlocal time
            seen[time] = noisy[0]
            time += 1
            return float(self.reading[time - 1 :: -1] @ seen[:time])

        return total


def roomy(increments: Array, factor: int) -> Array:
    """Stores whole numbers in 64 bits where sums of ``factor`` times their magnitudes fit, else as Python's."""
    if increments.dtype != object and float(np.abs(increments.astype(np.float64)).sum()) * factor < SAFE:
        return increments
    return increments.astype(object)


def product_series(left: Floats, right: Floats) -> Floats:
    """As many coefficients of the product of two series as the first has, in floats."""
    size = 1 << (2 * len(left) - 1).bit_length()
    with np.errstate(over="ignore", invalid="ignore"):
        return np.fft.irfft(np.fft.rfft(left, size) * np.fft.rfft(right, size), size)[: len(left)]


def inverse_series(series: Floats) -> Floats:
    """The coefficients of 1 / series in floats, twice as many in every turn (Newton's method)."""
    inverse = np.array([1 / series[0]])
    while len(inverse) < len(series):
        part = np.concatenate((inverse, np.zeros(len(inverse))))[: len(series)]
        rest = -product_series(part, series[: len(part)])
        rest[0] += 2
        inverse = product_series(part, rest)
    return inverse


@lru_cache(maxsize=16)
def prefix_sums(method: type[BinaryTree] | type[SquareRoot], steps: int) -> BinaryTree | SquareRoot:
    """Builds a way of measuring; the same one for the same number of steps, since its tables take time."""
    return method(steps)
