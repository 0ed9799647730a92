"""Contingency tables: how many rows have each combination of codes, for several sets of columns at once.

The tables of all sets stand one after another in one vector, under the largest L1 distance of any of them: a row is in
one cell of each. What follows looks at some of them, or asks which is furthest from what a model expects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TypeAlias, final

import numpy as np

from sfumato.core.domains import Array, Data, Floats, Integers, Matrix, Vector
from sfumato.core.metrics import L1, L2, LInf, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.pieces import LargestL1
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

Clique: TypeAlias = tuple[int, ...]
"""Places of columns, in rising order."""

MOST_CELLS = 50_000_000
"""All tables together have at most this many cells."""

STEPS = 16
"""What a model expects is a whole number of sixteenths of a row."""

PROOF = "proofs/contingency.md"


@final
@dataclass(frozen=True)
class CodedTables:
    """Which tables are counted: how many codes each column has, and the sets of columns.

    >>> CodedTables((2, 3, 4), ((0,), (0, 2))).sizes
    (2, 8)
    """

    codes: tuple[int, ...]
    cliques: tuple[Clique, ...]

    def __post_init__(self) -> None:
        codes = whole_numbers(self.codes, "codes", least=1)
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "cliques", tuple(whole_numbers(one, "cliques", least=0) for one in self.cliques))
        rising = all(list(clique) == sorted(set(clique)) for clique in self.cliques)
        if not self.cliques or not rising or any(not 0 <= at < len(codes) for clique in self.cliques for at in clique):
            raise BadArgument("cliques", "one or more sets of columns, by their places in rising order", "others")
        if sum(self.sizes) > MOST_CELLS:
            raise BadArgument("cliques", f"such that there are at most {MOST_CELLS:,} cells", sum(self.sizes))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of each table."""
        return tuple(prod(self.codes[at] for at in clique) for clique in self.cliques)

    def cells(self, columns: Sequence[Array], clique: Clique) -> Array:
        """The cell of every row in one table, the last column running fastest."""
        cell = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
        for place in clique:
            cell = cell * self.codes[place] + columns[place]
        return cell


@constructor
def contingency(codes: Sequence[int], cliques: Sequence[Sequence[int]]) -> Partial[Transformation]:
    """Counts the rows of every combination of codes, for several sets of columns.

    Takes:      a matrix of floats: whole numbers from 0 to the number of codes of a column less 1; a row with anything
                else in it is left out
    Gives:      the counts of all sets, one after another, under the largest L1 distance of any of them
    Guarantee:  d_in; with a public size, exchanged rows times 2  (proofs/contingency.md#rows)
    Cost:       a pass for each set

    >>> from sfumato.core.space import matrix
    >>> (matrix(2) >> contingency([2, 3], [[0], [1], [0, 1]])).map(1)
    Fraction(1, 1)
    """
    tables = CodedTables(tuple(codes), tuple(cliques))  # type: ignore[arg-type]  # which reads them

    def build(space: Space) -> Transformation:
        domain, rows = row_space(space, "contingency")
        if not isinstance(domain, Matrix) or not isinstance(domain.element, Floats):
            raise BadArgument("what contingency() works on", "a matrix of floats", str(space))
        if domain.columns != len(tables.codes):
            raise BadArgument("codes", f"one number for each of {domain.columns} columns", len(tables.codes))
        return Transformation(
            space,
            Space(Vector(Integers(), sum(tables.sizes)), LargestL1(tables.sizes)),
            lambda data, _: counted(as_rows(data, domain), tables),
            lambda d_in: vector_sum_map(d_in, reach=Reach(Fraction(1), Fraction(2)), metric=rows, size=domain.size),
            (f"{len(tables.cliques)} contingency tables",),
            (f"{PROOF}#rows",),
        )

    return Partial(f"contingency({len(tables.cliques)} tables)", build)


@guarantee(
    claim="each row adds 1 to one cell of every table, or to none of any; which, is a function of that row",
    proof="proofs/contingency.md#rows",
    reviewed="87c0da049255",
)
def counted(rows: Array, tables: CodedTables) -> Array:
    """Counts rows by cell, table after table."""
    with np.errstate(invalid="ignore"):
        whole = rows.astype(np.int64)  # of what is no number this is any number, and unequal to it
    known = ((whole == rows) & (whole >= 0) & (whole < np.array(tables.codes))).all(axis=1)
    columns = list(whole[known].T)
    parts = [
        np.bincount(tables.cells(columns, clique), minlength=size)
        for clique, size in zip(tables.cliques, tables.sizes, strict=True)
    ]
    return np.concatenate(parts).astype(np.int64)


@constructor
def tables_at(places: Sequence[int], *, metric: VectorMetric | None = None) -> Partial[Transformation]:
    """Looks at some of several tables, side by side.

    Takes:      tables one after another, under the largest L1 distance of any of them (`contingency`)
    Gives:      those at the places, in that order, as one vector under L2, or L1 where asked
    Guarantee:  of m tables d_in √m in L2, d_in m in L1  (proofs/contingency.md#some)
    Cost:       a copy

    >>> from sfumato.core.space import matrix
    >>> (matrix(2) >> contingency([2, 3], [[0], [1]]) >> tables_at([0, 1])).map(1)
    √2
    """
    listed = whole_numbers(places, "places", least=0)
    norm = read_norm(L2() if metric is None else metric, "tables_at")
    if isinstance(norm, LInf):
        raise BadArgument("metric", "L1 or L2", norm)

    def build(space: Space) -> Transformation:
        pieces = in_pieces(space, "tables_at")
        if not listed or max(listed) >= len(pieces.sizes) or len(set(listed)) < len(listed):
            raise BadArgument("places", f"one or more below {len(pieces.sizes)}, none twice", "others")
        ends = [pieces.ends[place] for place in listed]
        return Transformation(
            space,
            Space(Vector(Integers(), sum(end - start for start, end in ends)), norm),
            lambda data, _: np.concatenate([counts_in(data)[start:end] for start, end in ends]),
            lambda d_in: side_by_side(d_in, len(listed), norm),
            (f"{len(listed)} of {len(pieces.sizes)} tables",),
            (f"{PROOF}#some",),
        )

    return Partial(f"tables_at({len(listed)} of them)", build)


@guarantee(
    claim="m vectors that each move by at most d in L1 move together by at most m d in L1, √m d in L2",
    proof="proofs/contingency.md#some",
    reviewed="70e796110bf2",
)
def side_by_side(d_in: Distance, tables: int, metric: VectorMetric) -> Distance:
    """How far tables side by side move, of which each moves by at most so much."""
    return times(d_in, tables if isinstance(metric, L1) else root(tables))


def counts_in(data: Data) -> Array:
    """Counts as an array of whole numbers: of 64 bits, or of any size where one of them is larger."""
    array = np.asarray(data)
    return array if array.dtype == np.int64 else np.array([int(count) for count in data], dtype=object)


def whole_numbers(given: object, what: str, *, least: int) -> tuple[int, ...]:
    """Reads whole numbers from a bound on; what else is given is not repeated, for it may be data."""
    listed = list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes) else [None]
    if not all(isinstance(one, int | np.integer) and not isinstance(one, bool) and one >= least for one in listed):
        raise BadArgument(what, f"whole numbers of at least {least}", type(given).__name__)
    return tuple(int(one) for one in listed)  # type: ignore[arg-type]


def in_pieces(space: Space, verb: str) -> LargestL1:
    """The pieces of a space of tables; refuses any other in the name of the verb."""
    if not isinstance(space.metric, LargestL1) or not isinstance(space.domain, Vector):
        raise BadArgument(
            f"what {verb}() works on", "tables one after another, as contingency() gives them", str(space)
        )
    return space.metric


@constructor
def misfits(
    expected: Array, *, weights: Sequence[Fraction] | None = None, penalties: Sequence[int] | None = None
) -> Partial[Transformation]:
    """Scores tables by how far they are from what is expected of them, for a private selection of the furthest.

    Takes:      tables one after another (`contingency`); what a model expects of all their cells, in sixteenths of a
                row; for each table a weight (1 unless given) and what is taken off its distance, in sixteenths
    Gives:      for each table its weight times (the L1 distance less the penalty), under L∞
    Guarantee:  d_in times the largest weight  (proofs/contingency.md#misfits)
    Cost:       a pass over the cells

    >>> import numpy as np
    >>> from sfumato.core.space import matrix
    >>> tables = matrix(2) >> contingency([2, 3], [[0], [1]])
    >>> (tables >> misfits(np.zeros(5, dtype=np.int64), weights=[Fraction(1, 2), Fraction(3)])).map(1)
    Fraction(3, 1)
    """
    given = np.asarray(expected)
    if given.dtype != np.int64 or given.ndim != 1:
        raise BadArgument("expected", "an array of whole numbers of sixteenths, int64", str(given.dtype))

    def build(space: Space) -> Transformation:
        pieces = in_pieces(space, "misfits")
        count = len(pieces.sizes)
        if len(given) != sum(pieces.sizes):
            raise BadArgument("expected", f"one number for each of {sum(pieces.sizes)} cells", len(given))
        weighed = [Fraction(1)] * count if weights is None else [Fraction(weight) for weight in weights]
        taken = [0] * count if penalties is None else [integer(one, "a penalty") for one in penalties]
        if len(weighed) != count or len(taken) != count or min(weighed) < 0:
            raise BadArgument("weights and penalties", f"one for each of {count} tables, no weight below 0", "others")
        step = Fraction(1, np.lcm.reduce([weight.denominator for weight in weighed], dtype=object))
        scale = [int(weight / step) for weight in weighed]
        most = max(weighed)
        return Transformation(
            space,
            Space(Vector(Integers(step=step / STEPS), count), LInf()),
            lambda data, _: misfits_of(counts_in(data), given, pieces, scale, taken),
            lambda d_in: times(d_in, most),
            (f"how far {count} tables are from what is expected",),
            (f"{PROOF}#misfits",),
        )

    return Partial("misfits(…)", build)


@guarantee(
    claim="of each table the weight times (the L1 distance to a public table less a public number), in whole steps",
    proof="proofs/contingency.md#misfits",
    reviewed="d5c105555a21",
)
def misfits_of(
    counts: Array, expected: Array, pieces: LargestL1, scale: Sequence[int], penalties: Sequence[int]
) -> Array:
    """Works out the scores of tables, in steps of their grid."""
    away = np.abs(counts.astype(object if counts.dtype == object else np.int64) * STEPS - expected)
    sums = [int(away[start:end].sum()) for start, end in pieces.ends]
    made = [weight * (total - penalty) for weight, total, penalty in zip(scale, sums, penalties, strict=True)]
    return np.array(made, dtype=object)
