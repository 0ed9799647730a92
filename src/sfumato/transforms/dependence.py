"""How much the columns of tables of counts depend on each other, as scores for a private choice between tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, final

import numpy as np

from sfumato.core.domains import Array, Data, Integers, Vector
from sfumato.core.metrics import LInf, Metric, Range
from sfumato.core.partial import Partial
from sfumato.core.pieces import LargestL1
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance, integer
from sfumato.guarantee import guarantee
from sfumato.transforms.contingency import in_pieces
from sfumato.transforms.distances import times
from sfumato.transforms.split_criteria import UNIT, Information

SMALL = 1 << 30
"""Tables of fewer rows are worked out in 64 bits: what is added up there stays below 2⁶²."""


@final
@dataclass(frozen=True)
class Departure:
    """Scores a table by ½ Σ|c(x, y) − c(x) c(y) / n|: how many of n rows stand where independence would not put them.

    It is n R, with the R of PrivBayes; 0 for a table of no rows.
    """

    @property
    def most(self) -> int:
        """How far one row can move a score, in steps of 2⁻²⁰."""
        return 2 * UNIT

    @guarantee(
        claim="half the sum of |c(x, y) - c(x) c(y) / n| over a table of n > 0 rows, exact but for rounding down",
        proof="proofs/privbayes.md#departure",
        reviewed="b7e6956b7e95",
    )
    def of(self, table: Array) -> int:
        """The score of one table in steps of 2⁻²⁰, rounded down."""
        rows = int(table.sum())
        if not rows:
            return 0
        apart = np.abs(rows * table - np.multiply.outer(table.sum(axis=1), table.sum(axis=0)))
        return int(apart.sum()) * UNIT // (2 * rows)


@final
@dataclass(frozen=True)
class SharedBits:
    """Scores a table by n I(x; y), the bits that its rows share between both sides.

    ``rows`` is public: up to so many rows the score is exact (to a millionth a row), beyond it a row counts as the last
    one did.
    """

    rows: int

    def __post_init__(self) -> None:
        Information(self.rows)  # which refuses what is no such number

    @cached_property
    def steps(self) -> Array:
        """What (n + 1) log₂(n + 1) − n log₂ n is for n below ``rows``, in steps of 2⁻²⁰; it never falls."""
        return Information(self.rows).steps

    @cached_property
    def _sums(self) -> Array:
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.steps)])

    @property
    def most(self) -> int:
        """How far one row can move a score, in steps of 2⁻²⁰."""
        return int(self.steps[-1])

    @guarantee(
        claim="f added up over the cells, and of the number of rows, less f added up over both sides; f(n) is the sum "
        "of the first n steps",
        proof="proofs/privbayes.md#bits",
        reviewed="f76b0fe6f85e",
    )
    def of(self, table: Array) -> int:
        """The score of one table in steps of 2⁻²⁰."""
        inside, sides = self._added(table), (table.sum(axis=0), table.sum(axis=1))
        return inside + self._added(np.array([int(table.sum())])) - sum(self._added(side) for side in sides)

    def _added(self, counts: Array) -> int:
        """What n log₂ n is, added up over counts."""
        known = np.minimum(counts, self.rows).astype(np.int64)
        beyond = int((counts - known).sum())
        return int(self._sums[known].sum()) + beyond * int(self.steps[-1])


Dependence: TypeAlias = Departure | SharedBits


@guarantee(
    claim="counts of a table d apart in L1 move a score by at most m d in L∞ and 2 m d in range: m is 2 for a "
    "departure from independence, N log2 N - (N - 1) log2(N - 1) for bits that up to N rows share",
    proof="proofs/privbayes.md#scores",
    reviewed="1ebc4de98a52",
)
def dependence_map(d_in: Distance, *, criterion: Dependence, metric: Metric) -> Distance:
    """How far scores of dependence move when the counts of every table do, by at most so much in L1."""
    sides = 2 if isinstance(metric, Range) else 1
    return times(d_in, sides * Fraction(criterion.most, UNIT))


@final
@dataclass(frozen=True)
class Sides:
    """One of several tables, and one of its axes, whose dependence on all others is scored.

    The axis has ``own`` codes; ``before`` and ``after`` are how many cells the axes before and after it make together.
    """

    place: int
    before: int
    own: int
    after: int = 1

    def __post_init__(self) -> None:
        integer(self.place, "the place of a table", least=0)
        for size in (self.before, self.own, self.after):
            integer(size, "a number of cells", least=1)

    def read(self, piece: Array) -> Array:
        """The counts of a piece with a row for each combination of the other codes, and a column for each own one."""
        table = piece.reshape(self.before, self.own, self.after)
        return np.ascontiguousarray(table.swapaxes(1, 2)).reshape(-1, self.own)


@constructor
def dependence_scores(
    candidates: Sequence[Sides], *, criterion: Dependence | None = None, metric: LInf | Range | None = None
) -> Partial[Transformation]:
    """Scores axes of tables by how much they depend on the other axes, for a private selection.

    Takes:      tables one after another, under the largest L1 distance of any of them (`contingency`); for each
                candidate, which table and which of its axes; `Departure` (the usual one), or `SharedBits` with a public
                number of rows. A count below 0 counts as 0
    Gives:      one score for each candidate in steps of 2⁻²⁰, under L∞ or, on request, range
    Guarantee:  2 d_in with `Departure`, (N log₂ N − (N − 1) log₂(N − 1)) d_in with `SharedBits(N)`, for tables of
                which each moves by at most d_in in L1; range: twice that  (proofs/privbayes.md#scores)
    Cost:       a pass over a table for each candidate

    >>> counts = Space(Vector(Integers(), size=4), LargestL1((4,)))
    >>> (counts >> dependence_scores([Sides(0, 2, 2)])).map(1)
    Fraction(2, 1)
    >>> round(float((counts >> dependence_scores([Sides(0, 2, 2)], criterion=SharedBits(7))).map(1)), 4)
    4.1417
    """
    listed, how, target = tuple(candidates), criterion or Departure(), metric or LInf()
    if not listed:
        raise BadArgument("candidates", "at least one", candidates)
    if not isinstance(target, LInf | Range) or (isinstance(target, LInf) and target.monotonic):
        raise BadArgument("metric", "LInf() or Range(): a row may raise one score and lower another", metric)

    def build(space: Space) -> Transformation:
        pieces = _pieces(space, listed)
        return Transformation(
            space,
            Space(Vector(Integers(step=Fraction(1, UNIT)), size=len(listed)), target),
            lambda data, _: scored_tables(data, listed, pieces, how),
            lambda d_in: dependence_map(d_in, criterion=how, metric=target),
            (f"dependence in {len(listed)} tables",),
            ("proofs/privbayes.md#scores",),
        )

    return Partial(f"dependence_scores({len(listed)} candidates)", build)


def _pieces(space: Space, candidates: tuple[Sides, ...]) -> LargestL1:
    """The pieces of a space; refuses one of anything else, and tables of other sizes."""
    pieces = in_pieces(space, "dependence_scores")
    element = space.domain.element if isinstance(space.domain, Vector) else None
    if not isinstance(element, Integers) or element.step != 1:
        raise BadArgument("what dependence_scores() works on", "tables of whole numbers", str(space))
    sizes = dict(enumerate(pieces.sizes))
    if any(sizes.get(one.place) != one.before * one.own * one.after for one in candidates):
        raise BadArgument("candidates", "axes of the tables, with as many cells", len(candidates))
    return pieces


@guarantee(
    claim="of each candidate a function of one piece by itself: of its counts, those below 0 as 0, in whole numbers",
    proof="proofs/privbayes.md#scores",
    reviewed="c4a0a281c886",
)
def scored_tables(data: Data, candidates: tuple[Sides, ...], pieces: LargestL1, criterion: Dependence) -> Array:
    """The score of every candidate, one after another."""
    whole = np.asarray(data)
    exact = whole if whole.dtype == np.int64 else np.array([int(count) for count in data], dtype=object)
    scores = []
    for one in candidates:
        start, end = pieces.ends[one.place]
        table = np.maximum(exact[start:end], 0)
        small = sum(table.tolist()) < SMALL if table.dtype == object else table.sum(dtype=np.float64) < SMALL
        scores.append(criterion.of(one.read(table.astype(np.int64 if small else object))))
    return np.array(scores, dtype=object if max(map(abs, scores)) >= 1 << 62 else np.int64)
