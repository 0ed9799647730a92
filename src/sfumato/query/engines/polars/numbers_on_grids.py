"""Numbers on grids in Polars, row by row as docs/semantics.md says, and products of them with room for their sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import polars as pl

from sfumato.errors import QueryRefused
from sfumato.query.engines.polars.expressions import cast
from sfumato.query.engines.polars.scope import Piece, Scope, typed
from sfumato.query.engines.sizes import is_inside
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import MOST_INT, MOST_ROWS, Kind
from sfumato.query.plan.grids import Grid


def steps(of: Expression, grid: Grid, scope: Scope) -> Piece:
    """A numeric expression on a grid, as a whole number of a type that all steps fit into."""
    kind = Kind.INT if isinstance(grid.low, int) else Kind.FLOAT
    kept = cast(of, kind, scope)
    if not is_inside(of, grid, scope):
        low, high = (typed(end, kind) for end in (grid.low, grid.high))
        kept = scope.fill(lambda number: number.clip(low, high), kept, times=1)
    most = max(map(abs, grid.ends))
    held = pl.Int32() if most < 2**31 else pl.Int64() if most <= MOST_INT else pl.Int128()
    if kind is Kind.INT:
        centre = pl.lit(grid.centre, dtype=pl.Int128() if most > MOST_INT else pl.Int64())
        return scope.fill(lambda number: (number - centre).cast(held) if grid.centre else number.cast(held), kept)

    def rounded(number: pl.Expr) -> pl.Expr:
        moved = number - float(grid.centre) if grid.centre else number
        moved = moved * 2.0**grid.exponent if grid.exponent else moved
        return moved.round(mode="half_to_even").cast(held)

    return scope.fill(rounded, kept, times=1)


def product(terms: Sequence[tuple[Expression, Grid]], scope: Scope, *, times: int) -> Piece:
    """The product of expressions on grids; ``times`` is what its sum will be multiplied with at most."""
    sizes = [max(abs(end) for end in grid.ends) for _, grid in terms]
    most = math.prod(sizes)
    if most * times * MOST_ROWS >= 2**126:
        raise QueryRefused("the numbers to add up are too large for exact sums: clamp them to narrower bounds.")
    pieces = [steps(of, grid, scope) for of, grid in terms]
    if len(pieces) == 1:
        return pieces[0]
    largest_part = max(most, *sizes)  # a factor may be larger than the product, where another is always 0
    held = pl.Int32() if largest_part < 2**31 else pl.Int64() if largest_part <= MOST_INT else pl.Int128()
    named = [scope.named(piece) for piece in pieces]
    return reduce(lambda made, piece: scope.fill(lambda a, b: a.cast(held) * b.cast(held), made, piece, times=1), named)
