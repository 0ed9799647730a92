"""How far scores move when rows do: the stability of score vectors, from one row to any number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.core.metrics import DatasetMetric, LInf, Metric, Range
from sfumato.exact import Distance
from sfumato.guarantee import guarantee
from sfumato.transforms.distances import exchanged_rows, times


@final
@dataclass(frozen=True)
class Moves:
    """How far scores move, in one metric of scores, when a row is added or removed, and when one is exchanged."""

    added: Fraction
    exchanged: Fraction


@guarantee(
    claim="d_in rows added or removed: d_in · added; j rows exchanged at a public size: j · exchanged",
    proof="proofs/scores.md#rows",
    reviewed="356d8fbce0e0",
)
def rows_map(d_in: Distance, *, moves: Moves, rows: DatasetMetric, size: int | None) -> Distance:
    """How far scores move when ``d_in`` rows differ, from how far they move for one."""
    if size is None:
        return times(d_in, moves.added)
    return times(exchanged_rows(d_in, metric=rows, size=size), moves.exchanged)


@guarantee(
    claim="L∞: max(a, 1 − a) and 1; range: 2 max(a, 1 − a) and 2; at a = 0 and a = 1, both: 1 and 1",
    proof="proofs/scores.md#quantile",
    reviewed="3c9c6e758c5b",
)
def quantile_moves(alpha: Fraction, metric: Metric) -> Moves:
    """How far quantile scores move for one row."""
    if alpha in (0, 1):
        return Moves(Fraction(1), Fraction(1))
    factor = 2 if isinstance(metric, Range) else 1
    return Moves(factor * max(alpha, 1 - alpha), Fraction(factor))


@guarantee(
    claim="L∞: 1 and 1; range: 1 and 2",
    proof="proofs/scores.md#mode",
    reviewed="c0e9dfff0aa3",
)
def mode_moves(metric: Metric) -> Moves:
    """How far the counts of categories move for one row."""
    return Moves(Fraction(1), Fraction(2 if isinstance(metric, Range) else 1))


@guarantee(
    claim="L∞: the highest price, both ways; range: max(highest − lowest, second highest), and the highest price",
    proof="proofs/scores.md#revenue",
    reviewed="289b2194d87d",
)
def revenue_moves(prices: tuple[Fraction, ...], metric: Metric) -> Moves:
    """How far revenues at some prices move for one row."""
    ranked = sorted(prices)
    highest = ranked[-1]
    if not isinstance(metric, Range):
        return Moves(highest, highest)
    if len(ranked) == 1:
        return Moves(Fraction(0), Fraction(0))
    return Moves(max(highest - ranked[0], ranked[-2]), highest)


@guarantee(
    claim="L∞: 1 / n for an exchange of one of n rows; range: 2 / n",
    proof="proofs/scores.md#accuracy",
    reviewed="fa7fa6799499",
)
def accuracy_moves(size: int, metric: Metric) -> Moves:
    """How far shares of right answers among a public number of rows move for one row."""
    exchanged = Fraction(2 if isinstance(metric, Range) else 1, size)
    return Moves(exchanged, exchanged)


@guarantee(
    claim="range ≤ 2 L∞; range ≤ L∞ where all scores move one way",
    proof="proofs/scores.md#range",
    reviewed="1053c2c86025",
)
def range_map(d_in: Distance, metric: Metric) -> Distance:
    """The range distance between score vectors, from their distance in another metric of scores."""
    return times(d_in, 2) if isinstance(metric, LInf) and not metric.monotonic else d_in
