"""Weighted sums of counts: a large public matrix of whole numbers times a vector, exactly."""

from __future__ import annotations

import numpy as np

from sfumato.core.domains import Array, Data, Integers, Vector, column
from sfumato.core.metrics import L1, L2, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance, root
from sfumato.guarantee import guarantee
from sfumato.transforms.distances import times

PROOF = "proofs/trees.md#columns"
BLOCK = 256
"""Rows of the matrix taken at a time."""


@guarantee(
    claim="d_out = d_in times the largest norm of a column, in L1 or L2",
    proof=PROOF,
    reviewed="225480731509",
)
def weighted_counts_map(d_in: Distance, *, longest: int, squared: bool) -> Distance:
    """How far weighted sums move, from the largest column sum of absolute values, or of squares."""
    return times(d_in, root(longest) if squared else longest)


@guarantee(
    claim="the largest column sum of absolute values, or of squares, of the matrix with own · I below it, exactly",
    proof=PROOF,
    reviewed="ab1684661795",
)
def longest_column(matrix: Array, own: int, *, squared: bool) -> int:
    """The largest column sum of absolute values or squares of whole numbers below 2²⁴, in at most 2¹⁴ rows."""
    sums = np.full(matrix.shape[1], own * own if squared else own, dtype=np.int64)
    for start in range(0, len(matrix), BLOCK):
        part = np.abs(matrix[start : start + BLOCK].astype(np.int64))
        sums += (part * part if squared else part).sum(axis=0)
    return int(sums.max())


@constructor
def weighted_counts(matrix: Array, *, own: int = 0, metric: VectorMetric) -> Partial[Transformation]:
    """Multiplies a vector of counts by a large public matrix of whole numbers; below it, each count times ``own``.

    Takes:      a vector of whole numbers under the L1 distance; a matrix of 32-bit integers with one column an entry
                and at most 2¹⁴ rows; all numbers below 2²⁴ in magnitude; an ``own`` of 0 adds no rows
    Gives:      the products, exact, under the L1 or the L2 distance
    Guarantee:  d_out = d_in times the largest column norm  (proofs/trees.md#columns)
    Cost:       some 2 ns an entry of the matrix
    """
    if not isinstance(metric, L1 | L2):
        raise BadArgument("the metric of weighted_counts()", "L1() or L2()", metric)
    if matrix.ndim != 2 or not matrix.size or matrix.dtype != np.int32 or len(matrix) > 1 << 14:
        raise BadArgument("the matrix", "32-bit integers in at most 16384 rows, none empty", str(matrix.shape))
    if max(int(matrix.max()), -int(matrix.min()), own) >= 1 << 24 or own < 0:
        raise BadArgument("the matrix", "whole numbers below 2²⁴ in magnitude", "larger ones")
    squared = isinstance(metric, L2)
    longest = longest_column(matrix, own, squared=squared)
    rows = len(matrix) + (matrix.shape[1] if own else 0)

    def build(space: Space) -> Transformation:
        if space.domain != Vector(Integers(), matrix.shape[1]) or space.metric != L1():
            raise BadArgument(
                "what weighted_counts() works on", "one whole number a column under the L1 distance", str(space)
            )
        return Transformation(
            space,
            Space(Vector(Integers(), rows), metric),
            lambda data, _: whole_product(matrix, own, data),
            lambda d_in: weighted_counts_map(d_in, longest=longest, squared=squared),
            (f"{rows} weighted sums",),
            (PROOF,),
        )

    return Partial(f"weighted_counts({rows} sums)", build)


def whole_product(matrix: Array, own: int, data: Data) -> Array:
    """Multiplies a matrix of whole numbers below 2²⁴ and a vector of whole numbers of any size, exactly."""
    values = column(data, Integers())
    if values.dtype == object or sum(map(abs, values.tolist())) >= 1 << 38:
        entries = [int(value) for value in values]
        sums = [sum(a * b for a, b in zip(row, entries, strict=True)) for row in matrix.tolist()]
        return column(sums + ([own * entry for entry in entries] if own else []), Integers())
    starts = range(0, len(matrix), BLOCK)
    parts = [matrix[start : start + BLOCK].astype(np.int64) @ values for start in starts]
    return np.concatenate([*parts, own * values] if own else parts)
