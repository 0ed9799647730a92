"""Single cells of contingency tables: how far each is from what is expected of it, and one of them by itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sfumato.core.domains import Array, Integers, Vector
from sfumato.core.metrics import L1, L2, LInf, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance, integer
from sfumato.guarantee import guarantee
from sfumato.transforms.contingency import STEPS, counts_in, in_pieces
from sfumato.transforms.histogram import read_norm

PROOF = "proofs/mwem.md#cells"


@guarantee(
    claim="of tables that each move by at most d in L1, every cell moves by at most d, and so does its distance from a "
    "public number",
    proof="proofs/mwem.md#cells",
    reviewed="64e90364b22e",
)
def cell_map(d_in: Distance) -> Distance:
    """How far single cells move, where tables do by at most so much in L1."""
    return d_in


@constructor
def cell_misfits(expected: Array) -> Partial[Transformation]:
    """Scores every cell of tables by how far it is from what is expected, for a private selection of the furthest.

    Takes:      tables one after another, under the largest L1 distance of any of them (`contingency`); what a model
                expects of all their cells, in sixteenths of a row
    Gives:      for each cell |count − expected|, in sixteenths, under L∞
    Guarantee:  d_in  (proofs/mwem.md#cells)
    Cost:       a pass over the cells

    >>> from sfumato.core.space import matrix
    >>> from sfumato.transforms.contingency import contingency
    >>> (matrix(1) >> contingency([2], [[0]]) >> cell_misfits(np.zeros(2, dtype=np.int64))).map(1)
    Fraction(1, 1)
    """
    given = np.asarray(expected)
    if given.dtype != np.int64 or given.ndim != 1:
        raise BadArgument("expected", "an array of whole numbers of sixteenths, int64", str(given.dtype))

    def build(space: Space) -> Transformation:
        size = sum(in_pieces(space, "cell_misfits").sizes)
        if len(given) != size:
            raise BadArgument("expected", f"one number for each of {size} cells", len(given))
        return Transformation(
            space,
            Space(Vector(Integers(step=Fraction(1, STEPS)), size), LInf()),
            lambda data, _: gaps_of(counts_in(data), given),
            cell_map,
            (f"how far {size} cells are from what is expected",),
            (PROOF,),
        )

    return Partial("cell_misfits(…)", build)


@guarantee(
    claim="of each cell by itself, the distance from a public number of sixteenths, in whole sixteenths",
    proof="proofs/mwem.md#cells",
    reviewed="b1aea0fe643a",
)
def gaps_of(counts: Array, expected: Array) -> Array:
    """The distances of cells from what is expected of them; of counts beyond 2⁵⁷ in whole numbers of any size."""
    small = counts.dtype != object and (not counts.size or (counts.min() > -(1 << 57) and counts.max() < 1 << 57))
    near = small and (not expected.size or (expected.min() > -(1 << 61) and expected.max() < 1 << 61))
    return np.asarray(np.abs(counts.astype(np.int64 if near else object) * STEPS - expected))


@constructor
def cell_at(place: int, *, metric: VectorMetric | None = None) -> Partial[Transformation]:
    """Looks at one cell of tables.

    Takes:      tables one after another, under the largest L1 distance of any of them (`contingency`); the place of a
                cell among all
    Gives:      its count, as a vector of one number under L1, or L2 where asked
    Guarantee:  d_in  (proofs/mwem.md#cells)
    Cost:       nothing

    >>> from sfumato.core.space import matrix
    >>> from sfumato.transforms.contingency import contingency
    >>> (matrix(1) >> contingency([2], [[0]]) >> cell_at(1)).map(3)
    Fraction(3, 1)
    """
    at, norm = integer(place, "place", least=0), read_norm(metric, "cell_at")
    if not isinstance(norm, L1 | L2):
        raise BadArgument("metric", "L1 or L2", norm)

    def build(space: Space) -> Transformation:
        size = sum(in_pieces(space, "cell_at").sizes)
        if at >= size:
            raise BadArgument("place", f"below {size}, the number of cells", at)
        return Transformation(
            space,
            Space(Vector(Integers(), 1), norm),
            lambda data, _: counts_in(data)[at : at + 1],
            cell_map,
            ("one cell",),
            (PROOF,),
        )

    return Partial(f"cell_at({at})", build)
