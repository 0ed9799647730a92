"""The exact auditor for a mechanism that is given as a matrix: row x lists the probability of each output on input x.

Floats only search. They find the worst pair, with an error that is proven, and that pair is measured in exact
arithmetic: a matrix of a million entries takes less than a second, and what is reported is certain.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.audit.divergences import delta
from sfumato.audit.drawn import Floats, curves
from sfumato.audit.exact import judged
from sfumato.audit.questions import event_words
from sfumato.audit.record import Audit, Line, Witness
from sfumato.audit.tables import LawPair
from sfumato.core.domains import categories
from sfumato.errors import BadArgument
from sfumato.exact import BITS, Extended, Number, ball, digits_up, exp_down, exp_up, log_down, log_up, precision
from sfumato.guarantee import guarantee
from sfumato.mechanisms.matrix_mechanism import channel, read_edges
from sfumato.release.progress import Progress, reporting

Adjacency: TypeAlias = Literal["line"] | Iterable[tuple[Hashable, Hashable]] | None

SUM_SLACK = 1e-6
"""The rows of an array of floats must sum to 1 up to this; they are then divided by their exact sum."""

LEAST, STEEPEST = 2.0**-900, 600
"""Smaller entries, and claims of a larger ε, are left to exact arithmetic alone: floats would underflow."""

BLOCK = 1 << 16
"""How many entries are compared at a time, so that they stay in the processor's cache."""


@final
@dataclass(frozen=True)
class Grid:
    """A matrix of probabilities: floats near them, exact rows on demand, names, and who is neighbour.

    ``near`` is within 2⁻⁵¹ of each entry, relatively, and 0 where the entry is. ``edges`` is None where all are
    neighbours, and else lists ordered pairs of rows; ``whole`` says that the rows sum to exactly 1 as they are.
    """

    near: Floats
    rows: Sequence[Sequence[Fraction]] | Floats
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    edges: npt.NDArray[np.intp] | None
    whole: bool = False
    known: dict[int, tuple[Fraction, ...]] = field(default_factory=dict)

    def row(self, place: int) -> tuple[Fraction, ...]:
        """One row in exact arithmetic, divided by its sum; computed once."""
        if place not in self.known:
            entries = [Fraction(entry) for entry in self.rows[place]]
            total = sum(entries, Fraction(0))
            self.known[place] = tuple(entries) if total == 1 else tuple(entry / total for entry in entries)
        return self.known[place]

    def table(self, left: int, right: int) -> LawPair:
        with precision(BITS):
            return LawPair(self.outputs, tuple(map(ball, self.row(left))), tuple(map(ball, self.row(right))))

    def pairs(self) -> list[tuple[int, int]]:
        if self.edges is not None:
            return [(int(left), int(right)) for left, right in self.edges]
        return [(left, right) for left in range(len(self.near)) for right in range(len(self.near)) if left != right]

    @property
    def count(self) -> int:
        return len(self.near) * (len(self.near) - 1) if self.edges is None else len(self.edges)


def matrix(
    rows: Sequence[Sequence[Number]] | npt.NDArray[Any],
    *,
    claim: Loss | Number | None = None,
    inputs: Sequence[Hashable] | None = None,
    outputs: Sequence[Hashable] | None = None,
    adjacency: Adjacency = None,
    progress: Progress | None = None,
) -> Audit:
    """Measures what a matrix of probabilities costs, and compares it with a claim.

    Numbers in lists are read as they are written, and each row must sum to exactly 1. The floats of an array are read
    as the binary fractions that they are, and each row is divided by its exact sum, which must be near 1. Every two
    inputs are neighbours, or with "line" those that follow each other, or the listed pairs. A claim that is a number is
    one of ε.

    >>> matrix([["3/4", "1/4"], ["1/4", "3/4"]], claim=Pure("1.0")).verdict
    <Verdict.VIOLATED: 'violated'>
    """
    loss = claim if claim is None or isinstance(claim, Loss) else Pure(claim)
    grid = _read(rows, inputs, outputs, adjacency)
    return _search(grid, loss, progress) if _searchable(grid, loss) else _by_pairs(grid, loss, progress)


def _search(grid: Grid, claim: Loss | None, progress: Progress | None) -> Audit:
    """Measures the worst pair, which floats have found."""
    ratio = worst_ratio(grid)
    promised = claim.epsilon if isinstance(claim, Pure) else None
    pure = Line("ε", promised, log_down(ratio.low), log_up(ratio.high))
    if not isinstance(claim, Approx):
        return _audit(grid, claim, (pure,), ratio)
    with reporting(progress, "auditing") as tell:
        rest = worst_delta(grid, Fraction(claim.epsilon), ratio, tell)
    line = Line(f"δ at ε = {digits_up(claim.epsilon)}", claim.delta, rest.low, rest.high)
    return _audit(grid, claim, (line, pure), rest)


def _searchable(grid: Grid, claim: Loss | None) -> bool:
    """Tells whether the search by floats covers a claim and a matrix."""
    known = claim is None or isinstance(claim, Pure) or (isinstance(claim, Approx) and claim.epsilon <= STEEPEST)
    return known and not bool(np.any((grid.near > 0) & (grid.near < LEAST)))


def _by_pairs(grid: Grid, claim: Loss | None, progress: Progress | None) -> Audit:
    """Measures every pair in exact arithmetic."""
    audit = judged("matrix", claim or Pure(math.inf), grid.pairs(), grid.table, progress=progress)
    lines = audit.lines if claim is not None else tuple(replace(line, claimed=None) for line in audit.lines)
    pair = audit.witness
    named = None if pair is None else replace(pair, left=grid.inputs[pair.left], right=grid.inputs[pair.right])
    return replace(audit, lines=lines, witness=named, facts=_facts(grid, claim))


def _audit(grid: Grid, claim: Loss | None, lines: tuple[Line, ...], worst: Worst) -> Audit:
    table = grid.table(worst.left, worst.right)
    event = event_words(table, claim.epsilon if isinstance(claim, Approx) else None)
    return Audit(
        subject="matrix",
        method="exact, from the matrix",
        lines=lines,
        witness=Witness(grid.inputs[worst.left], grid.inputs[worst.right], event),
        curves=curves(claim, table.left, table.right),
        facts=_facts(grid, claim),
    )


def _facts(grid: Grid, claim: Loss | None) -> tuple[tuple[str, str], ...]:
    exactly = "as they are" if grid.whole else "binary fractions, each row divided by its exact sum"
    return (
        ("claim", "none" if claim is None else str(claim)),
        ("inputs and outputs", f"{len(grid.inputs)} × {len(grid.outputs)}"),
        ("ordered pairs of neighbours", str(grid.count)),
        ("entries are read", exactly),
    )


@final
@dataclass(frozen=True)
class Worst:
    """The largest of something over all pairs of rows, between two bounds, and the rows where it is that large."""

    low: Extended
    high: Extended
    left: int
    right: int


def worst_ratio(grid: Grid) -> Worst:
    """Encloses the largest ratio between two entries of a column, over neighbouring rows."""
    best, left, right, column = max(_ratios(grid), key=lambda block: block[0])
    if best == math.inf:
        return Worst(math.inf, math.inf, left, right)
    here, there = grid.row(left)[column], grid.row(right)[column]
    return Worst(max(Fraction(1), here / there if there else Fraction(1)), ratio_bound(best), left, right)


@guarantee(
    claim="at least every ratio of two entries, where none of the ratios of floats within 2^-51 of them is larger",
    proof="proofs/audit.md#matrix",
    reviewed="666bc7159b5c",
)
def ratio_bound(largest: float) -> Fraction:
    """Bounds the largest ratio of two entries from the largest ratio of the floats that stand for them."""
    return max(Fraction(1), Fraction(largest) * (1 + Fraction(1, 1 << 48)))


def _ratios(grid: Grid) -> Iterator[tuple[float, int, int, int]]:
    """The largest ratio of each block of pairs, with its rows and its column."""
    near, columns = grid.near, grid.near.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        if grid.edges is None:
            # Over all pairs, the largest ratio of a column is that of its largest entry to its smallest.
            top, bottom = near.argmax(axis=0), near.argmin(axis=0)
            ratios = _quotients(near.max(axis=0), near.min(axis=0))
            column = int(ratios.argmax())
            yield float(ratios[column]), int(top[column]), int(bottom[column]), column
            return
        size = max(1, BLOCK // columns)
        for start in range(0, len(grid.edges), size):
            some = grid.edges[start : start + size]
            ratios = _quotients(near[some[:, 0]], near[some[:, 1]])
            pair, column = divmod(int(ratios.argmax()), columns)
            yield float(ratios[pair, column]), int(some[pair, 0]), int(some[pair, 1]), column


def _quotients(top: Floats, bottom: Floats) -> Floats:
    """Divides; a column of zeros says nothing, and counts as a ratio of 1."""
    return np.where(top == 0, 0.0 + (bottom == 0), top / bottom)


def worst_delta(grid: Grid, epsilon: Fraction, ratio: Worst, tell: Progress) -> Worst:
    """Encloses the largest δ at an ε, over neighbouring rows."""
    if ratio.high <= exp_down(epsilon):
        return Worst(Fraction(0), Fraction(0), ratio.left, ratio.right)
    factor = float(exp_up(epsilon))
    best, left, right = max(_uncovered(grid, factor, tell), key=lambda block: block[0])
    low, _ = delta(grid.table(left, right), epsilon)
    return Worst(low, max(low, delta_bound(best, grid.near.shape[1])), left, right)


@guarantee(
    claim="at least every 1 − sum of min(p, factor q), where none is larger as computed in floats over so many columns",
    proof="proofs/audit.md#matrix",
    reviewed="9b137bc2b3c2",
)
def delta_bound(largest: float, columns: int) -> Fraction:
    """Bounds the largest δ from the largest one that floats find."""
    return min(Fraction(1), max(Fraction(0), Fraction(largest)) + Fraction(columns + 32, 1 << 52))


def _uncovered(grid: Grid, factor: float, tell: Progress) -> Iterator[tuple[float, int, int]]:
    """The largest 1 − Σ min(p, factor · q) of each block of pairs, with its rows."""
    near, (count, columns) = grid.near, grid.near.shape
    size, ones, scaled = max(1, BLOCK // columns), np.ones(columns), factor * near
    for start in range(0, total := count if grid.edges is None else len(grid.edges), size):
        if grid.edges is None:
            some = scaled[start : start + size]
            covered, smaller = np.empty((len(some), count)), np.empty_like(some)
            for place in range(count):
                np.minimum(some, near[place], out=smaller)
                covered[:, place] = smaller @ ones
            covered[np.arange(len(some)), np.arange(start, start + len(some))] = math.inf
            right, left = divmod(int(covered.argmin()), count)
            yield 1.0 - float(covered[right, left]), left, start + right
        else:
            pairs = grid.edges[start : start + size]
            covered = np.minimum(near[pairs[:, 0]], scaled[pairs[:, 1]]) @ ones
            place = int(covered.argmin())
            yield 1.0 - float(covered[place]), int(pairs[place, 0]), int(pairs[place, 1])
        tell(min(total, start + size), total)


def _read(
    rows: object, inputs: Sequence[Hashable] | None, outputs: Sequence[Hashable] | None, adjacency: Adjacency
) -> Grid:
    if not isinstance(rows, np.ndarray):
        if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
            raise BadArgument("the matrix", "rows in lists, or an array (of a data frame, .to_numpy())", type(rows))
        exact = channel(rows, inputs=inputs, outputs=outputs)
        # A tiny entry is no 0, also where its float would be: it stays visible, and `_searchable` declines it.
        near = np.array([[float(entry) or bool(entry) * LEAST / 2 for entry in row] for row in exact.rows])
        return Grid(near, exact.rows, exact.inputs, exact.outputs, _pairs(exact.inputs, adjacency), whole=True)
    if rows.ndim != 2 or rows.dtype.kind not in "iuf" or rows.dtype.itemsize > 8 or not rows.size:
        raise BadArgument("the matrix", "an array of numbers with rows and columns", f"{rows.dtype} {rows.shape}")
    entries = np.ascontiguousarray(rows, dtype=np.float64)
    if not np.all(entries >= 0) or not np.all(entries <= 2):
        raise BadArgument("the entries of the matrix", "probabilities, from 0 to 1", "others")
    sums = np.array([math.fsum(row) for row in entries.tolist()])
    if not np.all(np.abs(sums - 1) <= SUM_SLACK):
        far = int(np.abs(sums - 1).argmax())
        raise BadArgument(f"row {far} of the matrix", "numbers that sum to 1: a row for each input", float(sums[far]))
    names = categories(range(len(entries)) if inputs is None else inputs).values
    answers = categories(range(entries.shape[1]) if outputs is None else outputs).values
    if (len(names), len(answers)) != entries.shape:
        raise BadArgument("inputs and outputs", "one for each row and each column", (len(names), len(answers)))
    return Grid(entries / sums[:, None], entries, names, answers, _pairs(names, adjacency))


def _pairs(names: tuple[Hashable, ...], adjacency: Adjacency) -> npt.NDArray[np.intp] | None:
    if len(names) < 2:
        raise BadArgument("the matrix", "two inputs at least, or there is nothing to compare", len(names))
    if adjacency is None:
        return None
    if isinstance(adjacency, str):
        if adjacency != "line":
            raise BadArgument("adjacency", 'None, "line" or pairs of inputs', adjacency)
        adjacency = pairwise(names)
    edges = sorted((left, right) for left, right in read_edges(names, adjacency) if left != right)
    if not edges:
        raise BadArgument("adjacency", "one pair of different inputs at least", edges)
    return np.array(edges, dtype=np.intp)
