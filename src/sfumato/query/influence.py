"""Influence: how far one unit can move the whole numbers that an engine gives. The only place where that is decided."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.core.spread import Spread, Whole
from sfumato.exact import Distance, root
from sfumato.guarantee import guarantee
from sfumato.query.cells import Distinct, Rows, Tally, Total, Units


@guarantee(
    claim="a product of whole numbers, each between its ends, is at most this far from 0",
    proof="proofs/query.md#tallies",
    reviewed="acd3f5e7c682",
)
def largest_product(ends: tuple[tuple[int, int], ...]) -> int:
    """Gives the largest absolute value of a product."""
    return math.prod(max(abs(low), abs(high)) for low, high in ends)


@guarantee(
    claim="in L1 and L2 no further than the rows of the spread, and the root of its squares, times the most of one row",
    proof="proofs/query.md#influence",
    reviewed="44a5c6973c60",
)
def moved(rows: Whole, squares: Whole, most: int) -> tuple[Distance, Distance]:
    """Gives how far one unit moves the cells of a tally, in L1 and in L2."""
    if math.inf in (rows, squares):
        return math.inf, math.inf
    return Fraction(rows) * most, root(Fraction(squares) * most**2)


@final
@dataclass(frozen=True)
class Influence:
    """Is how one unit moves the cells of one tally: how its rows spread, the most of one row, and L1 and L2 of both."""

    spread: Spread
    most: int
    l1: Distance
    l2: Distance


def influence(tally: Tally, spread: Spread) -> Influence:
    """Gives how one unit moves a tally, when its rows (or different values) are spread so over the groups."""
    match tally:
        case Rows(bits=bits):
            most, used = 1 << bits, spread
        case Distinct():
            most, used = 1, spread
        case Units():
            most, used = 1, Spread(spread.parts, spread.parts, 1)
        case Total(terms=terms):
            most, used = largest_product(tuple(term.grid.ends for term in terms)), spread
        case _:
            raise TypeError(type(tally))
    return Influence(used, most, *moved(used.rows, used.squares, most))
