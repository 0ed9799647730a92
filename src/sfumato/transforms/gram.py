"""Gram matrices: exact sums of all products of two coordinates of a row; what second-order models are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, pairwise
from typing import TypeAlias, final

import numpy as np

from sfumato.core.domains import Array, Floats, Integers, Matrix, Vector
from sfumato.core.metrics import L1, L2, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.pieces import PiecewiseLInf
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance, integer, root
from sfumato.guarantee import guarantee
from sfumato.transforms.distances import times
from sfumato.transforms.histogram import read_norm
from sfumato.transforms.rows import as_rows, row_space
from sfumato.transforms.vectors import Reach, vector_sum_map

BITS = 20
"""A number between −1 and 1 is a whole number of steps of 2⁻²⁰; a product of two has steps of 2⁻⁴⁰."""

STEP = Fraction(1, 1 << 2 * BITS)
"""The step of every cell of a Gram matrix."""

PIECE = 1 << 12
"""Rows that are multiplied at once: sums of 2¹² products below 2⁴⁰ are whole numbers that floats hold exactly."""

MOST_CELLS = 2_000_000
"""A Gram matrix has at most this many different cells."""

Cell: TypeAlias = tuple[int, int]
"""Two coordinates of a row, the lesser first; coordinate 0 is the constant 1."""


@final
@dataclass(frozen=True)
class Coordinates:
    """How the columns of a row become its coordinates: first the constant 1, then those of each column in turn.

    ``kinds`` says of each column what it is: 0, a number, which is one coordinate, moved into [−1, 1]; k ≥ 1, a
    category out of 0 … k − 1, which is k coordinates: 1 at its place, 0 elsewhere; 0 everywhere for any other number.
    ``pairs`` names the pairs of columns whose products are added up, the constant being column 0; left out: all pairs.
    """

    kinds: tuple[int, ...]
    pairs: tuple[Cell, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", tuple(integer(kind, "a kind of column", least=0) for kind in self.kinds))
        sizes = (1, *(max(1, kind) for kind in self.kinds))
        if self.pairs is None:
            most = sum(sizes) ** 2 // 2
        else:
            self._check_pairs(self.pairs)
            most = sum(sizes[one] * sizes[other] for one, other in self.pairs)
        if most > MOST_CELLS:
            raise BadArgument("the columns", f"such that at most {MOST_CELLS:,} products are added up", most)

    def _check_pairs(self, pairs: tuple[Cell, ...]) -> None:
        known = all(0 <= one <= other <= len(self.kinds) for one, other in pairs)
        if not pairs or not known or len(set(pairs)) < len(pairs):
            raise BadArgument("pairs", "one or more pairs of columns, the lesser first, none twice", pairs)

    @property
    def by_class(self) -> int:
        """How many pieces the cells fall into by the last column, one for each of its values; 1 if they do not."""
        last = len(self.kinds)
        split = self.pairs is not None and all(one < last == other for one, other in self.pairs)
        return max(1, self.kinds[-1]) if split else 1

    @property
    def counts(self) -> bool:
        """Says whether every cell is a count of rows: no number is multiplied."""
        pairs = self.pairs or combinations_with_replacement(range(len(self.kinds) + 1), 2)
        return all(not place or self.kinds[place - 1] > 0 for pair in pairs for place in pair)

    @cached_property
    def places(self) -> tuple[range, ...]:
        """The coordinates of each block: of the constant, and of each column."""
        ends = np.cumsum([0, 1, *(max(1, kind) for kind in self.kinds)]).tolist()
        return tuple(range(start, end) for start, end in pairwise(ends))

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return self.places[-1].stop

    @cached_property
    def blocks(self) -> tuple[tuple[Cell, ...], ...]:
        """The different cells, in blocks of which a row moves one cell only, and by at most 1.

        A category times itself is that category again: its cells are those with the constant.
        """
        kinds = (0, *self.kinds)
        made = []
        for one, other in self.pairs or combinations_with_replacement(range(len(kinds)), 2):
            if one == other and kinds[one]:
                continue
            made.append(tuple((a, b) for a in self.places[one] for b in self.places[other]))
        return tuple(made)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All different cells, block by block."""
        return tuple(cell for block in self.blocks for cell in block)

    def matrix(self, cells: Sequence[float] | Array) -> Array:
        """The whole symmetric matrix of the values of all different cells; 0 where nothing was added up."""
        made = np.zeros((self.size, self.size))
        first, second = np.array(self.cells).T
        made[first, second] = made[second, first] = np.asarray(cells, dtype=np.float64)
        for places, kind in zip(self.places[1:], self.kinds, strict=True):
            if kind:
                made[places, places] = made[0, places]
        return made

    def rows(self, columns: Array) -> Array:
        """The coordinates of rows, as floats that are whole numbers of 2⁻²⁰; rows with a NaN are left out."""
        return np.asarray(self.steps(columns) * 2.0**-BITS)

    def steps(self, columns: Array) -> Array:
        """The same in steps of 2⁻²⁰: whole numbers, as floats."""
        kept = without_missing(columns)
        made = np.zeros((len(kept), self.size))
        made[:, 0] = 2.0**BITS
        numbers = [place for place, kind in enumerate(self.kinds) if not kind]
        held = kept if len(numbers) == len(self.kinds) else kept[:, numbers]
        first = slice(1, None) if held is kept else [self.places[place + 1].start for place in numbers]
        made[:, first] = np.rint(np.clip(held, -1.0, 1.0) * 2.0**BITS)
        for places, kind, column in zip(self.places[1:], self.kinds, kept.T, strict=True):
            if kind:
                known = np.flatnonzero((column >= 0) & (column < kind) & (column == np.floor(column)))
                made[known, places.start + column[known].astype(np.intp)] = 2.0**BITS
        return made


def without_missing(rows: Array) -> Array:
    """The rows in which nothing is NaN."""
    missing = np.isnan(rows).any(axis=1)
    return np.asarray(rows[~missing]) if missing.any() else rows


@guarantee(
    claim="a row moves one cell of each block, by at most 1: in L1 the number of blocks, in L2 its root, in L∞ 1; and "
    "of pieces by class only one",
    proof="proofs/gram.md#blocks",
    reviewed="319f2809fbba",
)
def gram_reach(blocks: int, metric: VectorMetric) -> Reach:
    """How far one row moves the cells of a Gram matrix, and how far apart those of two rows are.

    Of cells in pieces by class a row moves one piece, as far as in L∞.
    """
    if isinstance(metric, L1):
        added: Distance = Fraction(blocks)
    elif isinstance(metric, L2):
        added = root(blocks)
    else:
        added = Fraction(1)
    return Reach(added, times(added, 2))


@constructor
def gram(
    kinds: Sequence[int] | None = None,
    *,
    pairs: Sequence[Cell] | None = None,
    metric: VectorMetric | None = None,
    whole: bool = False,
) -> Partial[Transformation]:
    """Adds up all products of two coordinates of a row, exactly: counts, sums, squares, products, contingency tables.

    Takes:      a matrix of floats; NaN marks what is missing, and rows with one are left out. ``kinds`` says what each
                column is: 0 a number, which is moved into [−1, 1]; k a category of 0 … k − 1; ``pairs`` which products
                to add up, if not all (`Coordinates`); ``whole`` that all of them are counts
    Gives:      every different cell once, in whole numbers of steps of 2⁻⁴⁰, or of 1 where ``whole``, under the L2
                distance, or L1 or L∞ where asked (by the classes of the last column: `PiecewiseLInf`);
                `Coordinates.matrix` puts them in place
    Guarantee:  with B blocks of columns' products: d_in √B in L2, d_in B in L1, d_in in L∞  (proofs/gram.md#blocks)
    Cost:       a product of matrices

    >>> from sfumato.core.space import matrix
    >>> (matrix(2) >> gram()).map(1), (matrix(2) >> gram([0, 9], metric=L1())).map(1)
    (√6, Fraction(5, 1))
    """

    def build(space: Space) -> Transformation:
        domain, rows = row_space(space, "gram")
        if not isinstance(domain, Matrix) or not isinstance(domain.element, Floats):
            raise BadArgument("what gram() works on", "a matrix of floats", str(space))
        layout = Coordinates(
            (0,) * domain.columns if kinds is None else tuple(kinds), None if pairs is None else tuple(pairs)
        )
        norm = read_gram_norm(metric, layout)
        if len(layout.kinds) != domain.columns:
            raise BadArgument("kinds", f"one for each of {domain.columns} columns", len(layout.kinds))
        if whole and not layout.counts:
            raise BadArgument("whole", "left out where numbers are added up: only counts are whole", pairs)
        reach, each = gram_reach(len(layout.blocks), norm), int(1 / STEP) if whole else 1
        return Transformation(
            space,
            Space(Vector(Integers(None, STEP * each), len(layout.cells)), norm),
            lambda data, _: gram_totals(as_rows(data, domain), layout) // each,
            lambda d_in: vector_sum_map(d_in, reach=reach, metric=rows, size=domain.size),
            (f"all products of two of {layout.size} coordinates, added up",),
            ("proofs/gram.md#blocks",),
        )

    return Partial("gram()", build)


def read_gram_norm(metric: VectorMetric | None, layout: Coordinates) -> VectorMetric:
    """Reads the distance of cells: L2 unless L1 or L∞ is asked for, in pieces only if they are those of classes."""
    if isinstance(metric, PiecewiseLInf):
        if metric.pieces != layout.by_class:
            must = "of as many pieces as the last column has values, where every product is one with it"
            raise BadArgument("the metric of gram()", must, metric)
        return metric
    return read_norm(L2() if metric is None else metric, "gram")


@guarantee(
    claim="the sums of products of coordinates, in steps of 2⁻⁴⁰, as unbounded integers",
    proof="proofs/gram.md#exact",
    reviewed="66891cbd295f",
)
def gram_totals(columns: Array, layout: Coordinates) -> Array:
    """Adds up the cells of rows: of each piece in floats, which hold its sums exactly, and of all in integers."""
    total = np.zeros((layout.size, layout.size), dtype=object)
    for piece in _pieces(columns):
        rows = layout.steps(piece)
        total += (rows.T @ rows).astype(np.int64).astype(object)
    first, second = np.array(layout.cells).T
    return np.asarray(total[first, second])


def _pieces(columns: Array) -> Iterator[Array]:
    for start in range(0, len(columns), PIECE):
        yield columns[start : start + PIECE]
