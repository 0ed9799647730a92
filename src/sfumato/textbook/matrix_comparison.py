"""Which of two finite mechanisms is more private: decided exactly, at every ε at once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import combinations, pairwise
from typing import final

from sfumato.exact import Extended
from sfumato.guarantee import guarantee
from sfumato.mechanisms.matrix_mechanism import Channel, channel_delta_at, channel_epsilon


class MorePrivate(Enum):
    """Says which of two mechanisms has the lower δ at every ε."""

    EQUAL = "both have the same δ at every ε"
    LEFT = "the left one has no higher δ at any ε, and a lower one at some"
    RIGHT = "the right one has no higher δ at any ε, and a lower one at some"
    NEITHER = "each has the lower δ at some ε"


@final
@dataclass(frozen=True)
class ChannelComparison:
    """The outcome of comparing two mechanisms between neighbours.

    ``corners`` lists (exp(ε), δ of the left, δ of the right) wherever one of the two curves can bend; both are straight
    lines in exp(ε) in between, and 0 from the last corner on unless they stay level.
    """

    left: Extended
    right: Extended
    corners: tuple[tuple[Fraction, Fraction, Fraction], ...]
    verdict: MorePrivate


def compare(left: Channel, right: Channel) -> ChannelComparison:
    """Compares the pure losses and the whole curves δ(ε) of two finite mechanisms.

    >>> from sfumato.mechanisms.matrix_mechanism import channel
    >>> more, less = channel([[0.75, 0.25], [0.25, 0.75]]), channel([[0.9, 0.1], [0.1, 0.9]])
    >>> compare(more, less).verdict.name
    'LEFT'
    """
    corners = tuple((at, channel_delta_at(left, at), channel_delta_at(right, at)) for at in curve_corners(left, right))
    left_wins = any(ours < theirs for _, ours, theirs in corners)
    right_wins = any(theirs < ours for _, ours, theirs in corners)
    match left_wins, right_wins:
        case False, False:
            verdict = MorePrivate.EQUAL
        case True, False:
            verdict = MorePrivate.LEFT
        case False, True:
            verdict = MorePrivate.RIGHT
        case _:
            verdict = MorePrivate.NEITHER
    return ChannelComparison(channel_epsilon(left), channel_epsilon(right), corners, verdict)


@guarantee(
    claim="both curves δ are linear in exp(ε) between the listed values, and constant after the last",
    proof="proofs/matrix_mechanism.md#comparison",
    reviewed="c00d05ee9b19",
)
def curve_corners(left: Channel, right: Channel) -> tuple[Fraction, ...]:
    """Lists the values of exp(ε) >= 1 at which the δ of either mechanism can bend."""
    ratios = {Fraction(1)}
    for channel in (left, right):
        for row, neighbour in channel.pairs():
            ratios |= {
                mass / against for mass, against in zip(row, neighbour, strict=True) if against and mass > against
            }
    corners = set(ratios)
    for channel in (left, right):
        lines = [_values(row, neighbour, sorted(ratios)) for row, neighbour in channel.pairs()]
        for place, (low, high) in enumerate(pairwise(sorted(ratios))):
            ends = {(line[place], line[place + 1]) for line in lines}
            corners |= {low + share * (high - low) for share in _crossings(ends)}
    return tuple(sorted(corners))


def _values(row: tuple[Fraction, ...], neighbour: tuple[Fraction, ...], ratios: list[Fraction]) -> list[Fraction]:
    return [
        sum(
            (max(Fraction(0), mass - ratio * against) for mass, against in zip(row, neighbour, strict=True)),
            Fraction(0),
        )
        for ratio in ratios
    ]


def _crossings(ends: set[tuple[Fraction, Fraction]]) -> set[Fraction]:
    """Where, as a share of the way, lines given by their values at both ends cross strictly in between."""
    shares = set()
    for (a, b), (c, d) in combinations(ends, 2):
        if (a - c) * (b - d) < 0:
            shares.add((a - c) / ((a - c) - (b - d)))
    return shares
