"""Meetings: how far a join moves that puts rows of different units beside each other."""

from __future__ import annotations

import math

from sfumato.core.grouped_distance import GroupedDistance, Whole
from sfumato.guarantee import guarantee


@guarantee(
    claim="relations that differ in s and in t rows, each cut to the first m rows of a key in an order of its rows and "
    "joined on the key, make at most (s + t) m rows that were not there and lose at most as many: 2 (s + t) m",
    proof="proofs/meetings.md#theorem",
    reviewed="9e4d166b49ee",
)
def moved_by_meeting(rows: Whole, most: Whole) -> Whole:
    """The most rows of a join that come and go when both sides together change by ``rows``, with ``most`` of a key."""
    return 0 if rows == 0 else math.inf if math.inf in (rows, most) else 2 * rows * most


@guarantee(
    claim="a number to which all rows add with one sign moves in a group by at most half of the rows that come and go, "
    "of which at most half come; so it does in all groups by the key together, for what comes has the key of what goes",
    proof="proofs/meetings.md#net",
    reviewed="a3e40c61b469",
)
def net_of_meeting(spread: GroupedDistance, *, by_key: bool) -> GroupedDistance:
    """How such numbers move where rows come and go as ``spread`` says: half of it, in each group or (by key) in all."""
    half = spread.rows / 2 if spread.rows == math.inf else spread.rows // 2
    return GroupedDistance(spread.parts, half if by_key else spread.rows, half)
