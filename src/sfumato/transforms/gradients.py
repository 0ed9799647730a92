"""Gradients of rows' losses by the weights of a linear model, row by row and added up: what descent asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.core.domains import Array, Data, Integers, Matrix, Vector
from sfumato.core.domains import Floats as FloatAtoms
from sfumato.core.metrics import L2
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.guarantee import guarantee
from sfumato.transforms.gram import BITS as ROW_BITS
from sfumato.transforms.gram import Coordinates, gram_reach
from sfumato.transforms.rows import as_rows, row_space
from sfumato.transforms.rowwise import rowwise
from sfumato.transforms.vectors import vector_sum_map

Floats: TypeAlias = NDArray[np.float64]

PROOF = "proofs/descent.md"

WEIGHT_BITS = 52 - ROW_BITS
"""Weights are rounded to so many bits of their sum, so that floats hold all sums of products with coordinates."""

LARGEST = 2.0**100
"""No weight is larger, so that nothing overflows."""

SLOPE_BITS, ALONG_BITS, FARTHEST = 20, 14, 64.0
"""Slopes are whole numbers of 2⁻²⁰; coordinates along a basis of 2⁻¹⁴, and at most 64."""

STEP = Fraction(1, 1 << SLOPE_BITS + ALONG_BITS)
"""The step of sums of gradients."""

PIECE = 1 << 12
"""Rows that are multiplied at once: sums of 2¹² products below 2⁴⁰ are whole numbers that floats hold exactly."""

SHORTER = 1.0 - 2.0**-30
"""Covers the rounding of a length."""


class Slopes(Protocol):
    """What a gradient asks of a convex risk: the slopes of rows' losses by their scores, each row by itself."""

    @property
    def scores(self) -> int:
        """How many scores a row has."""

    def targets(self, column: Floats, /) -> tuple[NDArray[np.bool_], Floats]:
        """Which rows have a target that can be used, and the targets."""

    def slopes(self, scores: Floats, targets: Floats, /) -> Floats:
        """The derivatives of losses by scores."""


@final
@dataclass(frozen=True)
class Squares:
    """Half of the square of the residual f − y."""

    scores = 1

    def targets(self, column: Floats, /) -> tuple[NDArray[np.bool_], Floats]:
        """Every target can be used."""
        return np.ones(len(column), dtype=np.bool_), column

    def slopes(self, scores: Floats, targets: Floats, /) -> Floats:
        """The residuals."""
        return np.asarray(scores - targets[:, None])


def read_weights(numbers: object, name: str) -> Floats:
    """Reads finite numbers as a table; a list is its only row."""
    made = np.atleast_2d(np.array(numbers, dtype=np.float64))
    if made.ndim != 2 or not made.size or not np.all(np.abs(made) <= LARGEST):
        raise BadArgument(name, "finite numbers, a list or a table of them, and none beyond 2^100", made.shape)
    return made


@guarantee(
    claim="every sum of some of the products of one row of weights with a row of coordinates is held by a float",
    proof=f"{PROOF}#rows",
    reviewed="b9689d95ff00",
)
def rounded_weights(weights: Floats) -> Floats:
    """Weights with so few bits that their products with coordinates are added up exactly, in any order."""
    most = np.maximum(np.abs(weights).sum(axis=1, keepdims=True), 2.0**-400)
    grain = np.ldexp(1.0, np.ceil(np.log2(most)).astype(np.int32) + 1 - WEIGHT_BITS)
    return np.asarray(np.rint(weights / grain) * grain)


@constructor
def gradients(weights: Sequence[Number] | Array, *, risk: Slopes | None = None) -> Partial[Transformation]:
    """Takes the gradient of each row's loss by the weights of a linear model: slope times (1, x₁, …).

    Next comes a bound on their length, ``norm_clamp(C)``, and then ``vector_sum()``.

    Takes:      a matrix of floats, the last column being the target, under any distance that counts rows; weights, the
                constant's first; ``risk``, that of squares unless another one is given: (f − y)²/2
    Gives:      a matrix with a column for each weight; a row in which something is missing, or whose gradient is not
                finite, gives 0
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map, proofs/descent.md#rows)
    Cost:       one pass

    >>> from sfumato.core.space import matrix
    >>> from sfumato.transforms.norms import norm_clamp
    >>> from sfumato.transforms.vectors import vector_sum
    >>> (matrix(2) >> gradients([0, 0]) >> norm_clamp(2) >> vector_sum()).map(1)
    Fraction(2, 1)
    """
    sloped: Slopes = Squares() if risk is None else risk
    made = read_weights(weights, "weights")
    if len(made) != sloped.scores:
        raise BadArgument("weights", f"a row for each of {sloped.scores} scores", made.shape)

    def build(space: Space) -> Transformation:
        domain = _matrix(space, made.shape[1], "gradients")
        target = replace(domain, columns=made.size, element=FloatAtoms(), norm=None)

        def run(data: Data) -> Array:
            return row_gradients(as_rows(data, domain), made, sloped)

        return rowwise(space, target, run, f"gradients by {made.size} weights")

    return Partial("gradients(…)", build)


@guarantee(
    claim="a row of finite floats for each row, a function of that row alone",
    proof=f"{PROOF}#rows",
    reviewed="49f79e6f2d7a",
)
def row_gradients(columns: Array, weights: Floats, risk: Slopes) -> Floats:
    """The gradient of each row, score by score; sums are added up column by column."""
    made = np.zeros((len(columns), weights.size))
    kept = np.flatnonzero(~np.isnan(columns).any(axis=1))
    with np.errstate(all="ignore"):
        usable, targets = risk.targets(columns[kept, -1])
        kept, targets = kept[usable], targets[usable]
        rows = np.concatenate([np.ones((len(kept), 1)), columns[kept, :-1]], axis=1)
        scores = np.zeros((len(kept), len(weights)))
        for place in range(rows.shape[1]):
            scores = scores + rows[:, place, None] * weights[None, :, place]
        whole = (risk.slopes(scores, targets)[:, :, None] * rows[:, None, :]).reshape(len(kept), weights.size)
    made[kept] = np.where(np.isfinite(whole).all(axis=1)[:, None], whole, 0.0)
    return made


@final
@dataclass(frozen=True, eq=False)
class Tangent:
    """A public linear model at which gradients are asked for, along the columns of a basis of the coordinates.

    ``weights`` has a row for each score, the constant's weight first; ``across`` a row for each column of the basis.
    """

    risk: Slopes
    layout: Coordinates
    weights: Floats
    across: Floats

    @staticmethod
    def read(risk: Slopes, layout: Coordinates, weights: object, basis: object) -> Tangent:
        """Reads weights and a basis: finite, not huge, and rounded so that their products with rows are exact."""
        made, across = read_weights(weights, "weights"), read_weights(basis, "basis").T
        if made.shape != (risk.scores, layout.size) or across.shape[1] != layout.size:
            must = f"{risk.scores} rows of {layout.size} weights, and a basis of as many rows as those have entries"
            raise BadArgument("weights and basis", must, made.shape)
        return Tangent(risk, layout, rounded_weights(made), rounded_weights(across))

    @property
    def size(self) -> int:
        """The number of entries of a gradient."""
        return self.risk.scores * len(self.across)

    @guarantee(
        claim="of each row by itself, slopes and coordinates in whole steps, below 2^20 of them, whose product is at "
        "most 1 long",
        proof=f"{PROOF}#sums",
        reviewed="4c3dc6101d79",
    )
    def parts(self, columns: Array) -> tuple[Floats, Floats]:
        """The slopes of rows and their coordinates along the basis, in steps; slopes of long gradients are cut."""
        kept = columns[~np.isnan(columns).any(axis=1)]
        usable, targets = self.risk.targets(kept[:, -1])
        rows = self.layout.rows(kept[usable, :-1])
        along = np.rint(np.clip(rows @ self.across.T, -FARTHEST, FARTHEST) * 2.0**ALONG_BITS)
        slopes = np.clip(self.risk.slopes(rows @ self.weights.T, targets[usable]), -1.0, 1.0)
        square = np.zeros(len(rows))
        for part in slopes.T:
            square = square + part * part
        length = np.sqrt(square) * np.sqrt(np.einsum("ij,ij->i", along, along)) * 2.0**-ALONG_BITS
        kept_part = np.minimum(SHORTER / np.maximum(length, 2.0**-60), 1.0)
        return np.trunc(slopes * kept_part[:, None] * 2.0**SLOPE_BITS), along


@constructor
def gradient_sums(tangent: Tangent) -> Partial[Transformation]:
    """Adds up the gradients of rows along a basis, each pulled to a length of at most 1, exactly.

    Takes:      a matrix of floats, a column for each kind of the layout and then the target, under any distance that
                counts rows; rows in which something is missing, or without a target of the risk, are left out
    Gives:      one whole number of steps of 2⁻³⁴ for each score and column of the basis, under the L2 distance
    Guarantee:  d_out = d_in; with a public size, twice the exchanged rows  (proofs/descent.md#sums)
    Cost:       three products of matrices

    >>> from sfumato.core.space import matrix
    >>> at = Tangent.read(Squares(), Coordinates((0,)), [0, 0], [[1, 0], [0, 1]])
    >>> (matrix(2) >> gradient_sums(at)).map(3)
    Fraction(3, 1)
    """

    def build(space: Space) -> Transformation:
        domain = _matrix(space, len(tangent.layout.kinds) + 1, "gradient_sums")
        metric, reach = row_space(space, "gradient_sums")[1], gram_reach(1, L2())
        return Transformation(
            space,
            Space(Vector(Integers(None, STEP), tangent.size), L2()),
            lambda data, _: gradient_totals(as_rows(data, domain), tangent),
            lambda d_in: vector_sum_map(d_in, reach=reach, metric=metric, size=domain.size),
            (f"gradients of {tangent.size} entries, at most 1 long, added up",),
            (f"{PROOF}#sums",),
        )

    return Partial("gradient_sums(…)", build)


@guarantee(
    claim="the sum over rows of slopes times coordinates, in steps of 2^-34, as unbounded integers",
    proof=f"{PROOF}#sums",
    reviewed="60188ab3e173",
)
def gradient_totals(columns: Array, tangent: Tangent) -> Array:
    """Adds up the gradients of rows: of each piece in floats, which hold its sums exactly, and of all in integers."""
    total = np.zeros((tangent.risk.scores, len(tangent.across)), dtype=object)
    for start in range(0, len(columns), PIECE):
        slopes, along = tangent.parts(columns[start : start + PIECE])
        total += (slopes.T @ along).astype(np.int64).astype(object)
    return np.asarray(total.ravel())


def _matrix(space: Space, columns: int, verb: str) -> Matrix:
    domain, _ = row_space(space, verb)
    if not isinstance(domain, Matrix) or not isinstance(domain.element, FloatAtoms):
        raise BadArgument(f"what {verb}() works on", "a matrix of floats", str(space))
    if domain.columns != columns:
        raise BadArgument("the columns", f"{columns - 1} features, as the weights say, and the target", domain.columns)
    return domain
