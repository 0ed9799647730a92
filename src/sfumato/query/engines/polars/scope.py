"""Expressions of Polars in the making: what they can look at, and columns for parts that are needed several times.

Polars shares an expression that is used twice in memory, and writes it out twice when it plans: what is nested then
grows by powers. So parts that are large get a column of their own in a frame below (`Scope.named`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import count
from typing import NamedTuple, final

import polars as pl

from sfumato.query.engines.operands import constant
from sfumato.query.engines.sizes import Ends
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind, Value

TYPES: dict[Kind, pl.DataType] = {
    Kind.BOOL: pl.Boolean(),
    Kind.INT: pl.Int64(),
    Kind.FLOAT: pl.Float64(),
    Kind.TEXT: pl.String(),
    Kind.DATE: pl.Date(),
    Kind.TIME: pl.Datetime("us"),
}
"""What holds each kind, once a table has been read."""

LARGE = 24
"""Expressions of more parts are named where they are used again."""

ONE = "one"
"""A column of frames that need no other: a frame of Polars without columns has no rows."""


class Piece(NamedTuple):
    """An expression, how many frames with names must lie below it, and how many parts it has when written out; a
    ``constant`` looks at no column, and one that is ``missing`` is NULL."""

    made: pl.Expr
    level: int = 0
    size: int = 1
    constant: bool = False
    missing: bool = False


@final
class Names:
    """Names of columns that nothing else in a plan has."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def new(self, start: str) -> str:
        """Makes a name that was not there before."""
        return f"{start}_{next(self._numbers)}"


@final
class Scope:
    """What expressions can look at: columns of a frame by their names in the query, and names given on the way.

    ``made`` and ``sizes`` are what is known of expressions already, by their place in memory: parts may be shared.
    ``held`` are bounds of numbers that the frame below has just enforced, so that they need not be enforced again.
    """

    def __init__(
        self, names: Names, columns: Mapping[str, str] | None = None, held: Mapping[str, Ends] | None = None
    ) -> None:
        self.names, self.columns, self.held = names, columns or {}, held or {}
        self.made: dict[int, Piece] = {}
        self.sizes: dict[int, Fraction | None] = {}
        self.kept: list[Expression] = []
        self._layers: list[dict[str, pl.Expr]] = []
        self._named: dict[int, tuple[pl.Expr, Piece]] = {}

    def named(self, piece: Piece) -> Piece:
        """Puts a piece into a column of its own, unless it is one, or a constant."""
        if piece.size == 1:
            return piece
        known = self._named.get(id(piece.made))
        if known is not None:
            return known[1]
        while len(self._layers) <= piece.level:
            self._layers.append({})
        name = self.names.new("x")
        self._layers[piece.level][name] = piece.made
        named = Piece(pl.col(name), piece.level + 1)
        self._named[id(piece.made)] = (piece.made, named)
        return named

    def fill(self, make: Callable[..., pl.Expr], *pieces: Piece, times: int = 2) -> Piece:
        """Makes an expression of others, which are in it ``times`` at most; large ones are named.

        What is made of constants alone is worked out here: to Polars it has one row, and sometimes it forgets to repeat
        that for the others.
        """
        if pieces and all(piece.constant for piece in pieces):
            return _folded(make(*(piece.made for piece in pieces)))
        filled = [self.named(piece) if piece.size > LARGE else piece for piece in pieces]
        size = 1 + times * sum(piece.size for piece in filled)
        return Piece(make(*(piece.made for piece in filled)), max((piece.level for piece in filled), default=0), size)

    def over(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Adds all names that were given to a frame."""
        for layer in self._layers:
            frame = frame.with_columns(**layer)
        return frame


def _folded(made: pl.Expr) -> Piece:
    """A constant that is worked out."""
    row = pl.select(made.alias(ONE))[ONE]
    held = pl.lit(row).first() if row.dtype.is_nested() else pl.lit(row.item(), dtype=row.dtype)
    return Piece(held, constant=True, missing=row.null_count() > 0)


def typed(value: Value, kind: Kind) -> pl.Expr:
    """A constant with its type. What the kind cannot hold is missing."""
    return pl.lit(constant(value, kind), dtype=TYPES[kind])


def bound(value: Value, kind: Kind) -> Piece:
    """A constant as a piece."""
    return Piece(typed(value, kind), constant=True, missing=constant(value, kind) is None)


def column(name: str) -> Piece:
    """A column as a piece."""
    return Piece(pl.col(name))


def chosen(frame: pl.LazyFrame, made: Mapping[str, pl.Expr], kept: Sequence[str] = ()) -> pl.LazyFrame:
    """The rows of a frame with new columns, and with some that they had; all rows, whatever is chosen.

    Constants alone would make one row of all of them: so columns are added first, and chosen then.
    """
    names = [*kept, *made]
    if not names:
        made, names = {ONE: pl.lit(1, dtype=pl.Int8)}, [ONE]
    return frame.with_columns(**made).select(names)
