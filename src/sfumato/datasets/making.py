"""Makes up data: the same for the same seed, on every machine and for ever. It is no noise, and hides nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.codebook import Codebook
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.exact import integer

Columns: TypeAlias = Mapping[str, NDArray[np.generic]]


@final
@dataclass(frozen=True, eq=False)
class MadeUp:
    """Made-up data for demonstrations and tests: the columns of one table, by name. Nobody in it exists."""

    table: str
    columns: Columns
    book: str

    @property
    def codebook(self) -> Codebook:
        return read_book(self.book)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


def read_book(name: str) -> Codebook:
    """Reads a codebook that travels with the package."""
    return Codebook.read(files("sfumato.datasets").joinpath(f"{name}.yaml").read_text(encoding="utf-8"))


@final
@dataclass(frozen=True)
class Maker:
    """Draws what made-up data is made of. Only sums, products and quotients are rounded, so all machines agree."""

    source: ReplayEntropy

    @staticmethod
    def seeded(name: str, seed: int) -> Maker:
        """A maker for one data set: its draws depend on the name and the seed alone."""
        return Maker(ReplayEntropy(f"{name} {integer(seed, 'seed')}".encode()))

    def fractions(self, count: int) -> NDArray[np.float64]:
        """Draws numbers between 0 and 1, 1 excluded, evenly."""
        return (self.source.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, bound: int, count: int) -> NDArray[np.int64]:
        """Draws whole numbers in 0 … bound - 1, evenly."""
        return (self.fractions(count) * bound).astype(np.int64)

    def pick(self, weights: ArrayLike, count: int) -> NDArray[np.int64]:
        """Draws places of a list, each as often as its weight says."""
        ends = np.cumsum(np.asarray(weights, dtype=np.float64))
        places: NDArray[np.int64] = np.searchsorted(ends[:-1], self.fractions(count) * ends[-1], side="right")
        return places

    def order(self, count: int) -> NDArray[np.int64]:
        """Draws a permutation of 0 … count - 1."""
        return np.argsort(self.source.words(count), kind="stable")


def shares(total: int, weights: ArrayLike) -> NDArray[np.int64]:
    """Splits a whole number in proportion to weights, without remainder.

    >>> shares(10, [1, 1, 2]).tolist()
    [2, 3, 5]
    """
    ends = np.cumsum(np.asarray(weights, dtype=np.float64))
    parts: NDArray[np.int64] = np.diff((total * (ends / ends[-1])).astype(np.int64), prepend=0)
    return parts


def check_least(least: int, **numbers: int) -> None:
    """Refuses numbers of rows, people or groups that are too small."""
    for name, number in numbers.items():
        if integer(number, name) < least:
            raise BadArgument(name, f"a whole number of at least {least}", number)
