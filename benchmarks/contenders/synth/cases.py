"""The tables that every contender imitates: made-up ones, correlated, from fixed seeds, and two real ones.

It needs numpy only, since it is imported in all environments. Every table is whole numbers 0…k−1 in every column, the
same for everybody, in a folder that `tables.py` fills: bins and categories of the real ones are those of their
documentation, not of their rows. Rows that are held out take no part in a fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

FOLDER = Path(__file__).parents[3] / ".peers" / "synth"
EPSILONS = (0.3, 1.0, 3.0)
DELTA = 1e-9
ROWS = 30_000
HELD_OUT = 0.2
"""The share of the rows that only test what was learnt from synthetic ones."""

STRENGTH = 0.82
"""How much a column depends on its parents: independent columns are then off by 0.125 in the mean pair of ten."""


@final
@dataclass(frozen=True)
class Bins:
    """Numbers cut at stated edges: a code says how many of the edges are at or below the number."""

    edges: tuple[float, ...]

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.edges) + 1

    def codes(self, values: Array) -> Array:
        """The code of every number."""
        return np.searchsorted(self.edges, values.astype(np.float64), side="right")


@final
@dataclass(frozen=True)
class Labels:
    """Texts out of a stated list."""

    known: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.known)

    def codes(self, values: Array) -> Array:
        """The place of every text in the list."""
        places = {label: place for place, label in enumerate(self.known)}
        return np.array([places[value] for value in values])


Codes: TypeAlias = dict[str, Bins | Labels]
"""What the columns of a table mean."""


def each(*values: float) -> Bins:
    """Bins with one of these numbers each, in ascending order."""
    return Bins(values[1:])


def evenly(low: float, high: float, many: int) -> Bins:
    """So many bins of one width."""
    return Bins(tuple(float(edge) for edge in np.linspace(low, high, many + 1)[1:-1]))


MARRIAGES: Codes = {
    "rate_marriage": each(1, 2, 3, 4, 5), "age": each(17.5, 22, 27, 32, 37, 42), "educ": each(9, 12, 14, 16, 17, 20),
    "yrs_married": each(0.5, 2.5, 6, 9, 13, 16.5, 23), "children": each(0, 1, 2, 3, 4, 5.5),
    "religious": each(1, 2, 3, 4), "occupation": each(1, 2, 3, 4, 5, 6), "occupation_husb": each(1, 2, 3, 4, 5, 6),
    "affairs": Bins((1e-9,)),
}  # fmt: skip
DIAMONDS: Codes = {
    "carat": Bins((0.3, 0.4, 0.5, 0.7, 0.9, 1.0, 1.2, 1.5, 2.0)),
    "cut": Labels(("Fair", "Good", "Very Good", "Premium", "Ideal")),
    "color": Labels(tuple("DEFGHIJ")),
    "clarity": Labels(("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF")),
    "depth": evenly(57, 67, 10),
    "table": evenly(52, 66, 7),
    "price": Bins((500.0, 750.0, 1000.0, 1500.0, 2500.0, 4000.0, 6000.0, 9000.0, 13000.0)),
    "x": evenly(3.5, 9.5, 12),
    "y": evenly(3.5, 9.5, 12),
    "z": evenly(2, 6, 8),
}


@final
@dataclass(frozen=True)
class Table:
    """One table, and the column that learners are to foretell: whether its code is at least ``threshold``."""

    name: str
    target: str
    threshold: int
    columns: Codes | None = None
    """What the columns of a real table mean; None for a made-up one."""

    width: int = 0
    """How many columns a made-up table has."""

    @property
    def file(self) -> Path:
        """Where its codes are: the rows to imitate, those held out, names and sizes of the columns."""
        return FOLDER / f"{self.name}.npz"

    @property
    def parquet(self) -> Path:
        """The rows to imitate once more, for who reads tables."""
        return FOLDER / f"{self.name}.parquet"

    @property
    def raw(self) -> Path:
        """A real table, as its package has it."""
        return FOLDER / f"{self.name}.csv"

    @property
    def there(self) -> bool:
        """Whether its codes have been written."""
        return self.file.exists()

    @cached_property
    def _held(self) -> dict[str, Array]:
        with np.load(self.file) as stored:
            return dict(stored)

    @property
    def rows(self) -> Array:
        """The rows to imitate."""
        return self._held["rows"]

    @property
    def test(self) -> Array:
        """The rows that are held out."""
        return self._held["test"]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self._held["names"]]

    @property
    def sizes(self) -> list[int]:
        """The number of codes of every column."""
        return [int(size) for size in self._held["sizes"]]


TABLES = {
    table.name: table
    for table in (
        Table("made-up-10", "c9", 2, width=10),
        Table("made-up-20", "c19", 2, width=20),
        Table("made-up-50", "c49", 2, width=50),
        Table("marriages", "affairs", 1, columns=MARRIAGES),
        Table("diamonds", "cut", 3, columns=DIAMONDS),
    )
}


def made_up(width: int, rows: int) -> tuple[Array, list[int]]:
    """Rows of a network in which each column has two parents among the six before it, and their sizes, 3 to 12."""
    random = np.random.default_rng([20, width])
    sizes = [int(size) for size in random.integers(3, 13, width)]
    codes = np.zeros((rows, width), dtype=np.uint8)
    for place, size in enumerate(sizes):
        scores = np.tile(random.normal(0, 0.3, size), (rows, 1))
        near = np.arange(max(0, place - 6), place)
        parents = random.choice(near, min(2, len(near)), replace=False)
        for parent in parents:
            scores += random.normal(0, STRENGTH, (sizes[parent], size))[codes[:, parent]]
        if len(parents) == 2:
            both = codes[:, parents[0]].astype(np.int64) * sizes[parents[1]] + codes[:, parents[1]]
            scores += random.normal(0, STRENGTH / 2, (sizes[parents[0]] * sizes[parents[1]], size))[both]
        codes[:, place] = np.argmax(scores + random.gumbel(size=scores.shape), axis=1)
    return codes, sizes
