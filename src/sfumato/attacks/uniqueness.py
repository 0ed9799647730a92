"""Uniqueness: how many rows a few columns tell apart. It reads exact data, so its reports are for the curator only."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.history import UNIQUENESS_ESTIMATES
from sfumato.attacks.tables import Cell, Given, Rows, read_table
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.release.progress import Progress, reporting
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

Predicate: TypeAlias = Callable[[Mapping[str, Cell]], bool]
"""Tells of a row whether a question is about it."""

CURATOR_ONLY = "For the curator only: this describes the exact data and is not private. Do not publish it."


@final
@dataclass(frozen=True)
class ClassSizes:
    """How some columns divide a table: into how many classes of each size, by size."""

    columns: tuple[str, ...]
    sizes: Mapping[int, int]

    @property
    def rows(self) -> int:
        return sum(size * count for size, count in self.sizes.items())

    @property
    def unique(self) -> int:
        """Counts the rows that no other row equals in these columns."""
        return self.sizes.get(1, 0)

    @property
    def share(self) -> float:
        return self.unique / self.rows

    @property
    def smallest(self) -> int:
        """The size of the smallest class: k, in the words of k-anonymity."""
        return min(self.sizes)


@final
@dataclass(frozen=True)
class Uniqueness(Displayed):
    """A report on quasi-identifiers: the class sizes of each set of columns, the most telling sets first."""

    sets: tuple[ClassSizes, ...] = field(repr=False)

    def of(self, *columns: str) -> ClassSizes:
        """Looks up the class sizes of one set of columns, in any order."""
        for sizes in self.sets:
            if set(sizes.columns) == set(columns):
                return sizes
        raise BadArgument("columns", "a set that was looked at; see subsets_up_to", columns)

    def document(self) -> Document:
        """The report, for any form."""
        rows = tuple(
            (", ".join(each.columns), f"{each.share:.1%}", str(each.unique), str(each.smallest), str(max(each.sizes)))
            for each in self.sets
        )
        studies = tuple((str(each),) for each in UNIQUENESS_ESTIMATES)
        return Document(
            title="uniqueness",
            headline=f"uniqueness in {self.sets[0].rows} rows",
            warnings=(CURATOR_ONLY,),
            tables=(
                Table(rows, ("columns", "unique", "rows", "smallest", "largest"), right=frozenset({1, 2, 3, 4})),
                Table(studies, ("what studies estimate",)),
            ),
        )


def uniqueness(
    table: Given,
    columns: Iterable[str] | None = None,
    *,
    subsets_up_to: int | None = None,
    progress: Progress | None = None,
) -> Uniqueness:
    """Measures how many rows some columns tell apart: the columns together, or every set of up to a number of them.

    Nearly any column can be a quasi-identifier, so by default all are used. The result is for the curator only.

    >>> uniqueness({"sex": ["F", "F", "M"], "age": [30, 40, 30]}, subsets_up_to=2).of("sex", "age").share
    1.0
    """
    held = read_table(table)
    wanted = held.chosen(columns, "columns")
    codes = {name: held.codes(name) for name in wanted}
    if subsets_up_to is None:
        return Uniqueness((_class_sizes(codes, wanted),))
    most = min(integer(subsets_up_to, "subsets_up_to", least=1), len(wanted))
    steps, reports = sum(math.comb(len(wanted), size) for size in range(1, most + 1)), []
    with reporting(progress, "counting classes") as tell:
        for size in range(1, most + 1):
            for chosen in combinations(wanted, size):
                reports.append(_class_sizes(codes, chosen))
                tell(len(reports), steps)
    return Uniqueness(tuple(sorted(reports, key=lambda sizes: (-sizes.unique, len(sizes.columns), sizes.columns))))


def _class_sizes(codes: Mapping[str, NDArray[np.int64]], chosen: tuple[str, ...]) -> ClassSizes:
    together = class_numbers([codes[name] for name in chosen])
    sizes = Counter(np.bincount(together).tolist())
    return ClassSizes(chosen, dict(sorted(sizes.items())))


def class_numbers(columns: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The class of each row as a number 0, 1, …: rows with equal codes in all columns have the same."""
    together = columns[0]
    for codes in columns[1:]:
        # Both factors are below the number of rows, so the product fits.
        _, together = np.unique(together * (int(codes.max()) + 1) + codes, return_inverse=True)
    return together


@final
@dataclass(frozen=True)
class Lone:
    """A key or a predicate that is true of exactly one row: asking for it singles somebody out."""

    question: Mapping[str, Cell] | str
    row: int


def lone_keys(
    table: Given, columns: Iterable[str] | None = None, *, predicates: Mapping[str, Predicate] | None = None
) -> tuple[Lone, ...]:
    """Lists the keys of a grouping, and the predicates by name, that fit one row only. For the curator only.

    Refusing such questions would itself tell that somebody fits; private answers need no refusal, for the noise is as
    wide as the whole range of the answer.

    >>> [lone.question for lone in lone_keys({"sex": ["F", "F", "M"]}, ["sex"])]
    [{'sex': 'M'}]
    """
    held = read_table(table)
    if predicates is not None and columns is None:
        return _lone_predicates(held, predicates)
    wanted = held.chosen(columns, "columns")
    alone = (rows[0] for rows in held.classes(wanted).values() if len(rows) == 1)
    keys = tuple(Lone({name: held.columns[name][row] for name in wanted}, row) for row in alone)
    return keys + _lone_predicates(held, predicates or {})


def _lone_predicates(held: Rows, predicates: Mapping[str, Predicate]) -> tuple[Lone, ...]:
    rows = [held.row(place) for place in range(len(held))]
    fitting = {name: [place for place, row in enumerate(rows) if asked(row)] for name, asked in predicates.items()}
    return tuple(Lone(name, places[0]) for name, places in fitting.items() if len(places) == 1)
