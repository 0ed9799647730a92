"""Sensitivity: how far one unit can move the whole numbers that an engine gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never, final

from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.metrics import L1, L2
from sfumato.exact import Distance
from sfumato.guarantee import guarantee
from sfumato.query.plan.engine_plan import Distinct, ExactAggregate, Rows, Total, Units
from sfumato.query.plan.grids import Grid
from sfumato.transforms.keyed import keyed_map


@guarantee(
    claim="a product of whole numbers, each between its ends, is at most this far from 0",
    proof="proofs/query.md#tallies",
    reviewed="acd3f5e7c682",
)
def largest_product(ends: tuple[tuple[int, int], ...]) -> int:
    """The largest absolute value of a product of numbers, each between two ends."""
    return math.prod(max(abs(low), abs(high)) for low, high in ends)


@final
@dataclass(frozen=True)
class Influence:
    """How one unit moves the cells of one tally: how its rows spread, the most of one row, and L1 and L2 of both."""

    spread: GroupedDistance
    most: int
    l1: Distance
    l2: Distance

    @staticmethod
    def of(spread: GroupedDistance, most: int) -> Influence:
        """The influence of rows that spread so, each of which moves at most ``most``."""
        l1, l2 = (keyed_map(spread, norm=norm, each=Fraction(most)) for norm in (L1(), L2()))
        return Influence(spread, most, l1, l2)


def influence(tally: ExactAggregate, spread: GroupedDistance) -> Influence:
    """Bounds how one unit moves a tally, from how its rows (or different values) spread over the groups."""
    match tally:
        case Rows(bits=bits):
            most, used = 1 << bits, spread
        case Distinct(grid=Grid(ends=ends), summed=True):
            most, used = largest_product((ends,)), spread
        case Distinct():
            most, used = 1, spread
        case Units():
            most, used = 1, GroupedDistance(spread.parts, spread.parts, 1)
        case Total(terms=terms):
            most, used = largest_product(tuple(term.grid.ends for term in terms)), spread
        case _:
            assert_never(tally)
    return Influence.of(used, most)
