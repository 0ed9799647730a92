"""Linear maps of exact vectors, and the norms that bound them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sfumato.core.domains import Array, Data, Integers, Vector
from sfumato.core.metrics import L1, L2, LInf
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, elements
from sfumato.exact import Distance, Number, Root, rational, root
from sfumato.guarantee import guarantee
from sfumato.transforms.distances import times
from sfumato.transforms.rowwise import collect
from sfumato.transforms.scalars import exact_element

Rows = tuple[tuple[Fraction, ...], ...]

LARGEST_EXACT = 40
"""Up to this many rows or columns, the spectral norm is certified by exact elimination; beyond, by cheaper norms."""


@guarantee(
    claim="L1: the largest column sum of absolute values; L∞: the largest row sum; L2: at least the spectral norm",
    proof="proofs/linear.md#norms",
    reviewed="e6431350f6b3",
)
def induced_norm(matrix: Rows, metric: L1 | L2 | LInf) -> Fraction | Root:
    """A bound on how much a matrix can stretch a vector, in the norm of a metric; exact for L1 and L∞."""
    across = max(sum((abs(entry) for entry in row), Fraction(0)) for row in matrix)
    along = max(sum((abs(row[place]) for row in matrix), Fraction(0)) for place in range(len(matrix[0])))
    if isinstance(metric, L1):
        return along
    if isinstance(metric, LInf):
        return across
    return root(min(across * along, gram_bound(matrix)))


def gram_bound(matrix: Rows) -> Fraction:
    """A rational not below the largest eigenvalue of AᵀA: a certified one close by, or the sum of squares."""
    flipped: Rows = tuple(zip(*matrix, strict=True))
    short = matrix if len(matrix) <= len(flipped) else flipped
    if len(short) > LARGEST_EXACT:
        return sum((entry**2 for row in matrix for entry in row), Fraction(0))
    gram = [[sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0)) for right in short] for left in short]
    largest = max((gram[i][i] for i in range(len(gram))), default=Fraction(0))
    if largest == 0:
        return Fraction(0)
    near = Fraction(float(np.linalg.eigvalsh(np.array([[float(x / largest) for x in row] for row in gram]))[-1]))
    candidates = [near.limit_denominator(1000)] + [near * (1 + Fraction(1, 2**bits)) for bits in (46, 40, 30)]
    certified = [value * largest for value in candidates if bounds_eigenvalues(gram, value * largest)]
    return min(certified, default=sum((gram[i][i] for i in range(len(gram))), Fraction(0)))


@guarantee(
    claim="true only if no eigenvalue of the symmetric matrix is above the bound",
    proof="proofs/linear.md#elimination",
    reviewed="5239d8480bd3",
)
def bounds_eigenvalues(gram: list[list[Fraction]], bound: Fraction) -> bool:
    """Tells, by exact elimination, whether bound · I minus a symmetric matrix has no negative eigenvalue."""
    size = len(gram)
    rest = [[(bound if i == j else Fraction(0)) - gram[i][j] for j in range(size)] for i in range(size)]
    for k in range(size):
        pivot = rest[k][k]
        if pivot < 0 or (pivot == 0 and any(rest[k][j] for j in range(k + 1, size))):
            return False
        for i in range(k + 1, size) if pivot else ():
            factor = rest[i][k] / pivot
            for j in range(k + 1, size):
                rest[i][j] -= factor * rest[k][j]
    return True


@guarantee(claim="d_out = |A| d_in in the induced norm", proof="proofs/linear.md#map", reviewed="bb62294df746")
def linear_map(d_in: Distance, *, norm: Fraction | Root) -> Distance:
    """The distance after a linear map with a known norm."""
    return times(d_in, norm)


@constructor
def linear(matrix: Sequence[Sequence[Number]]) -> Partial[Transformation]:
    """Multiplies an exact vector by a public matrix.

    Takes:      a vector of exact numbers under the L1, L2 or L∞ distance; a matrix with one column an entry
    Gives:      the product, exact, under the same distance
    Guarantee:  d_out = |A| d_in: the largest column sum in L1, the spectral norm (certified, rounded up) in L2, the
                largest row sum in L∞  (proofs/linear.md#map)
    Cost:       one multiplication an entry of the matrix

    >>> from sfumato.core.metrics import L2
    >>> from sfumato.core.space import vector
    >>> (vector(int, size=3, metric=L2()) >> linear([[0, 1, 0], [1, 0, 0], [0, 1, 0]])).map(1)
    √2
    """
    with elements():
        rows = tuple(tuple(rational(entry, "an entry of the matrix") for entry in row) for row in matrix)
    if not rows or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise BadArgument("the matrix", "rows of one length, at least one", matrix)
    common = math.lcm(*(entry.denominator for row in rows for entry in row))
    whole = [[int(entry * common) for entry in row] for row in rows]

    def build(space: Space) -> Transformation:
        element, metric = exact_element(space, "linear"), space.metric
        if not isinstance(metric, L1 | L2 | LInf) or getattr(metric, "monotonic", False):
            raise BadArgument("what linear() works on", "a vector under the L1, L2 or L∞ distance", str(space))
        if not isinstance(space.domain, Vector) or space.domain.size != len(rows[0]):
            raise BadArgument(
                "the matrix", "as wide as the vector, with one column for each entry", f"{len(rows[0])} columns"
            )
        norm = induced_norm(rows, metric)
        return Transformation(
            space,
            Space(Vector(Integers(None, element.step / common), len(rows)), metric),
            lambda data, _: product(whole, data),
            lambda d_in: linear_map(d_in, norm=norm),
            (f"times a matrix of {len(rows)} × {len(rows[0])}",),
            ("proofs/linear.md#map",),
        )

    return Partial(f"linear({len(rows)} × {len(rows[0])})", build)


def product(matrix: list[list[int]], data: Data) -> Array:
    """Multiplies a matrix and a vector of whole numbers of any size."""
    entries = [int(entry) for entry in data]
    return collect([sum(a * b for a, b in zip(row, entries, strict=True)) for row in matrix], Integers())
