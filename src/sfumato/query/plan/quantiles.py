"""Quantiles of a query: found by the exponential mechanism over public bins, from the counts of rows in them.

A bin is good if the wanted rank lies among the ranks of its rows. Several quantiles are found by halving: the middle
one first, then those below it among the rows below, those above among the rest. Rows in the chosen bin go to one side
or the other by coins, so that many equal values are cut where the rank says.

The least and the greatest value of a table belong to one person each, so no private answer can be near them for
certain. What is released for MIN, MAX and quantiles next to them is a value that about as many rows lie beyond as it
takes to find one (`QuantilesAt.margin`), or half the rows where there are fewer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.entropy import Entropy
from sfumato.exact import log_up, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.cut_plans import Cut, RangeSensitivity, added_loss, balanced, halving
from sfumato.mechanisms.quantile import Pieces
from sfumato.mechanisms.scoring import drawable
from sfumato.mechanisms.selection import exponential_shortfall
from sfumato.noise.selection import interval_index
from sfumato.query.answer.words import expression_words
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Value
from sfumato.query.nodes.operators.released import Released
from sfumato.query.nodes.questions import Quantile, Statistic
from sfumato.query.plan.bins import Bins
from sfumato.query.plan.selection_statistics import Choosing, ChosenAt, Counts, Special
from sfumato.release.vectors import Array

PARTS = 16
"""Where rows go on to both sides, a bin is cut into this many parts."""

END = Fraction(1, 10)
"""Quantiles nearer to an end than this are moved inwards by the margin, where need be."""

SURE = 20
"""The margin is chosen so that all bins beyond the data together weigh less than one part in this many."""

PIECE = 1 << 24
"""Coins are flipped for this many rows at a time."""


@guarantee(
    claim="2 max(a, 1 − a) for a row added or removed; 2 where the rank is moved inwards; on either side",
    proof="proofs/query_specials.md#ranks",
    reviewed="f32e648a7594",
)
def bin_sensitivity(alpha: Fraction, measure: type[Loss]) -> RangeSensitivity:
    """How much further one score can move than another, for one row, which may go on to either side.

    >>> bin_sensitivity(Fraction(1, 4), Pure).below, bin_sensitivity(Fraction(1), Pure).below
    (Fraction(3, 2), Fraction(2, 1))
    """
    moves = Fraction(2) if near_an_end(alpha) else 2 * max(alpha, 1 - alpha)
    return RangeSensitivity(moves, moves)


def near_an_end(alpha: Fraction) -> bool:
    """Tells whether the rank of a quantile is moved inwards where there are few rows beyond it."""
    return not END <= alpha <= 1 - END


@guarantee(
    claim="grows, for one row more, by a; at an end by 0 to ½ below and by ½ to 1 above",
    proof="proofs/query_specials.md#ranks",
    reviewed="c219b83ca1a8",
)
def wanted_rank(alpha: Fraction, total: int, margin: int) -> int:
    """The rank that is looked for among ``total`` rows, in units of 1 / (2 · denominator of alpha)."""
    part, whole = alpha.numerator, alpha.denominator
    if not near_an_end(alpha):
        return 2 * part * total
    least = min(2 * whole * margin, whole * total)
    if 2 * part < whole:
        return max(2 * part * total, least)
    return 2 * whole * total - max(2 * (whole - part) * total, least)


@guarantee(
    claim="every part of a bin from low to high lies in one piece, which has minus the distance of the rank from the "
    "ranks of that part as its score",
    proof="proofs/query_specials.md#pieces",
    reviewed="3887a1fe8e04",
)
def rank_pieces(bins: Array, rows: Array, ends: tuple[int, int], rank: int, unit: int, parts: int) -> Pieces:
    """The pieces of some bins with rows; the rank is in units of 1 / unit, scores in those of 1 / (unit · parts).

    Part j of a bin with k rows, c below it, has the ranks from c + j k / parts to c + (j + 1) k / parts. Starts and
    widths of pieces are in parts from the first bin of all.
    """
    low, high = ends
    if int(rows.sum()) * unit * parts >= 1 << 62:
        rows = rows.astype(object)
    below = np.concatenate((np.zeros(1, dtype=rows.dtype), np.cumsum(rows)))
    inside = np.arange(parts)
    first = (parts * below[:-1, None] + inside * rows[:, None]).ravel()
    under = unit * np.concatenate((parts * below, first))
    over = unit * np.concatenate((parts * below, first + np.repeat(rows, parts)))
    gaps = np.concatenate(([low], bins + 1))
    starts = np.concatenate((parts * gaps, (parts * bins[:, None] + inside).ravel()))
    widths = np.concatenate((parts * (np.append(bins, high + 1) - gaps), np.ones(parts * len(bins), dtype=np.int64)))
    return Pieces(starts, widths, -np.maximum(np.maximum(under - parts * rank, parts * rank - over), 0))


@guarantee(
    claim="each row goes below with probability (2 part + 1) / (2 parts), independently of all else",
    proof="proofs/query_specials.md#halving",
    reviewed="355ac2d60746",
)
def rows_below(rows: int, part: int, parts: int, entropy: Entropy) -> int:
    """Draws how many of the rows of the chosen bin go on below; parts are a power of two, up to 128."""
    below = 256 * (2 * part + 1) // (2 * parts)
    many = 0
    for start in range(0, rows, PIECE):
        coins = np.frombuffer(entropy.octets(min(PIECE, rows - start)), dtype=np.uint8)
        many += int((coins < below).sum())
    return many


@final
@dataclass(frozen=True)
class Cutting:
    """Draws the bins of all quantiles of a plan, for one group."""

    margin: int
    parts: int = PARTS

    def draw(self, plan: Cut | None, bins: Array, rows: Array, ends: tuple[int, int], entropy: Entropy) -> list[int]:
        """Draws bins, in increasing order, when rows lie in bins from one end to the other."""
        if plan is None:
            return []
        pieces, unit, parts = self.pieces(plan, bins, rows, ends)
        place, offset = interval_index(drawable(pieces.scores), widths=pieces.widths, unit=unit, entropy=entropy)
        chosen, part = divmod(int(pieces.starts[place]) + offset, parts)
        if plan.left is None and plan.right is None:
            return [chosen]
        at, after = np.searchsorted(bins, [chosen, chosen + 1])
        under = rows_below(int(rows[at]), part, parts, entropy) if after > at else 0
        left, right = rows[:after].copy(), rows[at:].copy()
        if after > at:
            left[at], right[0] = under, rows[at] - under
        lower = self.draw(plan.left, bins[:after], left, (ends[0], chosen), entropy)
        return [*lower, chosen, *self.draw(plan.right, bins[at:], right, (chosen, ends[1]), entropy)]

    def pieces(self, plan: Cut, bins: Array, rows: Array, ends: tuple[int, int]) -> tuple[Pieces, Fraction, int]:
        """The pieces that a cut chooses from, what one step of their scores is, and into how many parts it cuts.

        A bin is cut into parts only where rows go on from it.
        """
        parts = 1 if plan.left is None and plan.right is None else self.parts
        unit = 2 * plan.alpha.denominator
        rank = wanted_rank(plan.alpha, int(rows.sum()), self.margin)
        return rank_pieces(bins, rows, ends, rank, unit, parts), 1 / (unit * parts * plan.temperature), parts


@final
@dataclass(frozen=True)
class Quantiles(Choosing):
    """Finds quantiles, which are increasing, among bins."""

    bins: Bins
    levels: tuple[Fraction, ...]

    @staticmethod
    def special(statistics: Sequence[Quantile], spread: GroupedDistance, d_in: int) -> Special:
        """The special that finds quantiles of one expression under one condition."""
        levels = tuple(sorted(one.at for one in statistics))
        return Special(tuple(statistics), spread, d_in, Quantiles(Bins.read(statistics[0].of), levels))

    def plan(self, measure: type[Loss], temperature: Fraction) -> Cut | None:
        """Plans which quantile is chosen when, relative to the rows that reach it, and how warm each choice is."""
        return balanced(halving(self.levels), temperature, measure, bin_sensitivity)

    @property
    def bin(self) -> Expression:
        return self.bins.expression

    def places(self, values: Sequence[Value]) -> Array:
        return self.bins.places(values)

    def one_row(self, measure: type[Loss], temperature: Fraction) -> Loss:
        return added_loss(self.plan(measure, temperature), measure, bin_sensitivity)

    def priced(self, special: Special, share: Pure | ZCDP) -> QuantilesAt:
        return QuantilesAt(special, self, type(share), self.temperature(special, share))


@final
@dataclass(frozen=True)
class QuantilesAt(ChosenAt):
    """Quantiles with the temperature at which they are chosen."""

    special: Special
    way: Quantiles
    measure: type[Loss]
    temperature: Fraction

    @property
    def margin(self) -> int:
        """About how many rows must lie beyond a value for it to be found."""
        return math.ceil(self.temperature * Fraction(log_up(Fraction(SURE * self.way.bins.many))))

    def chosen(self, counts: Counts, entropy: Entropy) -> tuple[Array, ...]:
        plan, ends = self.way.plan(self.measure, self.temperature), (0, self.way.bins.many - 1)
        cutting = Cutting(self.margin)
        drawn = [cutting.draw(plan, bins, rows, ends, entropy) for bins, rows in counts]
        made = np.array(drawn, dtype=np.int64).reshape(len(counts), len(self.special.statistics))
        at = [self.way.levels.index(one.at) for one in self.special.statistics if isinstance(one, Quantile)]
        return tuple(made[:, place] for place in at)

    def released(self, drawn: Sequence[Array], confidence: Fraction) -> dict[Statistic, Released]:
        return dict(zip(self.special.statistics, map(self.way.bins.released, drawn), strict=True))

    def error(self, confidence: Fraction) -> str:
        """Says how many rows the rank is off, at most; of several quantiles, each of which rests on others, nothing."""
        rows = self.rank_error(confidence)
        return "" if rows is None else f"± {rows} rows in rank"

    def rank_error(self, confidence: Fraction) -> int | None:
        if len(self.way.levels) != 1 or confidence == 1:
            return None
        return math.floor(exponential_shortfall(self.way.bins.many, self.temperature, 1 - confidence, 1))

    @property
    def proofs(self) -> tuple[str, ...]:
        return ("proofs/query_specials.md#halving", "proofs/query_specials.md#ranks", "proofs/query_specials.md#units")

    @property
    def words(self) -> tuple[str, str]:
        levels = ", ".join(f"{float(level):g}" for level in self.way.levels)
        ends = f"; {self.margin} rows beyond an end" if any(map(near_an_end, self.way.levels)) else ""
        how = f"exponential, temperature {up(self.temperature):.6g}, among {self.way.bins.many} bins{ends}"
        return f"quantiles {levels} of {expression_words(self.special.statistics[0].operands[0])}", how
