"""Gradients of rows' losses by the weights of a linear model, row by row and added up: what descent asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.core.domains import Array, Data, Integers, Matrix, Norm, Vector
from sfumato.core.domains import Floats as FloatAtoms
from sfumato.core.metrics import L2
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Number, positive
from sfumato.guarantee import guarantee
from sfumato.transforms.gram import BITS as ROW_BITS
from sfumato.transforms.gram import Coordinates
from sfumato.transforms.norms import ball_on_grid
from sfumato.transforms.rows import as_rows, row_space
from sfumato.transforms.rowwise import collect, rowwise
from sfumato.transforms.vectors import ball_reach, ball_totals, vector_sum_map

Floats: TypeAlias = NDArray[np.float64]

PROOF = "proofs/descent.md"

WEIGHT_BITS = 52 - ROW_BITS
"""Weights are rounded to so many bits of their sum, so that floats hold all sums of products with coordinates."""

LARGEST = 2.0**100
"""No weight is larger, so that nothing overflows."""

PIECE = 1 << 15
"""Rows whose gradients are held at once."""


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


@final
@dataclass(frozen=True, eq=False)
class Tangent:
    """A public linear model at which gradients are asked for: weights, a row for each score, the constant's first.

    ``layout`` says how columns become coordinates (`Coordinates`); without one they are taken as they are, after a
    constant 1. The gradient is that by weights, or along the columns of ``basis``.
    """

    risk: Slopes
    weights: Floats
    layout: Coordinates | None = None
    basis: Floats | None = None

    @staticmethod
    def read(risk: Slopes, weights: object, layout: Coordinates | None = None, basis: object = None) -> Tangent:
        """Reads weights and a basis: finite, not huge; rounded where that makes their products with rows exact."""
        made = _read(weights, "weights")
        across = None if basis is None else _read(np.asarray(basis, dtype=np.float64).T, "basis")
        if len(made) != risk.scores:
            raise BadArgument("weights", f"a row for each of {risk.scores} scores", made.shape)
        width = made.shape[1] if layout is None else layout.size
        if made.shape[1] != width or (across is not None and across.shape[1] != width):
            raise BadArgument("weights and basis", f"{width} entries, the constant's first", made.shape)
        if layout is not None:
            made, across = rounded_weights(made), None if across is None else rounded_weights(across)
        return Tangent(risk, made, layout, across)

    @property
    def size(self) -> int:
        """The number of entries of a gradient."""
        along = self.weights.shape[1] if self.basis is None else len(self.basis)
        return self.risk.scores * along

    def products(self, rows: Floats, weights: Floats) -> Floats:
        """Scores of rows by weights: without rounding where there is a layout, else column by column."""
        if self.layout is not None:
            return np.asarray(rows @ weights.T)
        total = np.zeros((len(rows), len(weights)))
        for place in range(rows.shape[1]):
            total = total + rows[:, place, None] * weights[None, :, place]
        return total

    @guarantee(
        claim="a row of finite floats for each row, a function of that row alone",
        proof=f"{PROOF}#rows",
        reviewed="",
    )
    def gradients(self, columns: Array) -> Floats:
        """The gradient of each row, score by score; 0 where something is missing or the gradient is not finite."""
        made = np.zeros((len(columns), self.size))
        kept = np.flatnonzero(~np.isnan(columns).any(axis=1))
        with np.errstate(all="ignore"):
            usable, targets = self.risk.targets(columns[kept, -1])
            kept, targets = kept[usable], targets[usable]
            features = columns[kept, :-1]
            rows = (
                np.concatenate([np.ones((len(kept), 1)), features], axis=1)
                if self.layout is None
                else self.layout.rows(features)
            )
            slopes = self.risk.slopes(self.products(rows, self.weights), targets)
            along = rows if self.basis is None else self.products(rows, self.basis)
            found = (slopes[:, :, None] * along[:, None, :]).reshape(len(kept), self.size)
        made[kept] = np.where(np.isfinite(found).all(axis=1)[:, None], found, 0.0)
        return made


def _read(numbers: object, name: str) -> Floats:
    made = np.atleast_2d(np.array(numbers, dtype=np.float64))
    if made.ndim != 2 or not made.size or not np.all(np.abs(made) <= LARGEST):
        raise BadArgument(name, "finite numbers, a list or a table of them, and none beyond 2^100", made.shape)
    return made


@guarantee(
    claim="every sum of some of the products of one row of weights with a row of coordinates is held by a float",
    proof=f"{PROOF}#rows",
    reviewed="",
)
def rounded_weights(weights: Floats) -> Floats:
    """Weights with so few bits that their products with coordinates are added up exactly, in any order."""
    most = np.maximum(np.abs(weights).sum(axis=1, keepdims=True), 2.0**-400)
    grain = 2.0 ** (np.ceil(np.log2(most)) + 1 - WEIGHT_BITS)
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
    tangent = Tangent.read(Squares() if risk is None else risk, weights)

    def build(space: Space) -> Transformation:
        domain = _matrix(space, tangent, "gradients")
        target = replace(domain, columns=tangent.size, element=FloatAtoms(), norm=None)

        def run(data: Data) -> Array:
            return tangent.gradients(as_rows(data, domain))

        return rowwise(space, target, run, f"gradients by {tangent.size} weights")

    return Partial("gradients(…)", build)


@constructor
def gradient_sums(tangent: Tangent, *, clip: Number) -> Partial[Transformation]:
    """Adds up the gradients of rows, each pulled to within a length, exactly.

    Takes:      a matrix of floats, the last column being the target, under any distance that counts rows
    Gives:      one whole number of steps for each entry of the gradient, under the L2 distance
    Guarantee:  d_out = d_in clip; with a public size, exchanged rows times 2 clip  (proofs/descent.md#sums)
    Cost:       a few passes

    >>> from sfumato.core.space import matrix
    >>> (matrix(2) >> gradient_sums(Tangent.read(Squares(), [0, 0]), clip=2)).map(1)
    Fraction(2, 1)
    """
    ball = ball_on_grid(Norm(positive(clip, "clip"), 2, (Fraction(0),) * tangent.size))

    def build(space: Space) -> Transformation:
        domain, (_, metric) = _matrix(space, tangent, "gradient_sums"), row_space(space, "gradient_sums")
        reach = ball_reach(ball.norm, L2())
        return Transformation(
            space,
            Space(Vector(Integers(None, ball.step), tangent.size), L2()),
            lambda data, _: gradient_totals(as_rows(data, domain), tangent, clip=ball.norm.radius),
            lambda d_in: vector_sum_map(d_in, reach=reach, metric=metric, size=domain.size),
            (f"gradients by {tangent.size} weights, of length at most {clip}, added up",),
            (f"{PROOF}#sums",),
        )

    return Partial("gradient_sums(…)", build)


@guarantee(
    claim="the sum of the gradients of all rows, each a whole number of steps in every entry and at most clip long",
    proof=f"{PROOF}#sums",
    reviewed="",
)
def gradient_totals(columns: Array, tangent: Tangent, *, clip: Fraction) -> Array:
    """Adds up clipped gradients piece by piece, in integers."""
    ball = ball_on_grid(Norm(clip, 2, (Fraction(0),) * tangent.size))
    total = [0] * tangent.size
    for start in range(0, len(columns), PIECE):
        part = ball_totals(ball.clamp(tangent.gradients(columns[start : start + PIECE])), ball)
        total = [one + int(other) for one, other in zip(total, part, strict=True)]
    return collect(total, Integers())


def _matrix(space: Space, tangent: Tangent, verb: str) -> Matrix:
    domain, _ = row_space(space, verb)
    if not isinstance(domain, Matrix) or not isinstance(domain.element, FloatAtoms):
        raise BadArgument(f"what {verb}() works on", "a matrix of floats", str(space))
    expected = tangent.weights.shape[1] if tangent.layout is None else len(tangent.layout.kinds) + 1
    if domain.columns != expected:
        raise BadArgument("weights", f"one for the constant and {domain.columns - 1} for the features", expected)
    return domain
