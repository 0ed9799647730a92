"""Private quantiles: among public candidates, or anywhere between public bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.accounting.events import Selection
from sfumato.accounting.facts import loss_of
from sfumato.accounting.facts.selection import ExponentialSelection
from sfumato.accounting.losses.measures import ZCDP, BoundedRange, Loss, Pure, check_kind
from sfumato.core.domains import Array, Atom, Bounds, Data, Floats, Integers
from sfumato.core.law import FiniteLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Range
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, Distance, Number, positive, power_of_two, precision, probability, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.scoring import drawable, exponents_of, law_of_pairs
from sfumato.mechanisms.selection import exponential_of
from sfumato.noise.selection import interval_index
from sfumato.noise.selection_laws import exponential_probabilities
from sfumato.release.record import How
from sfumato.transforms.grids import RowGrid, inside, row_grid
from sfumato.transforms.rows import column_space
from sfumato.transforms.rowwise import clamp
from sfumato.transforms.score_moves import quantile_moves, rows_map
from sfumato.transforms.scores import quantile_scores

MOST_POINTS = 1 << 62
"""More points between the bounds than this cannot be counted in 64 bits."""

MOST_LISTED = 1 << 16
"""An exact law is written out for up to this many points."""

SMALL = 1 << 20
"""Numbers that stay below 2⁶² when multiplied by any number of rows that a machine can hold."""


@constructor
def quantile(
    alpha: Number,
    *,
    temperature: Number,
    between: tuple[Number, Number] | None = None,
    step: Number | None = None,
    measure: type[Loss] = Pure,
) -> Partial[Measurement]:
    """Chooses a point between public bounds that splits the data at a quantile, by the exponential mechanism on a grid.

    Every grid point c between the bounds is a candidate with score −|(1 − alpha) #(x < c) − alpha #(x > c)|. Values are
    clamped to the bounds and rounded to the grid, row by row. Integers are their own grid; floats get one of about 2⁻⁴⁰
    of the width, unless ``step`` (a power of two) says otherwise.

    Takes:      a column of numbers without NaN; bounds here or from clamp(); alpha in [0, 1] (½ is the median), taken
                as the nearest fraction with a denominator up to 2²⁰
    Gives:      a grid point: an integer for integers, else the nearest float
    Guarantee:  epsilon = eta = r / temperature, rho = (r / temperature)² / 8, with r = 2 max(alpha, 1 − alpha) for each
                row added or removed, 2 for each row exchanged; at alpha 0 and 1 always 1  (proofs/quantile.md#loss)
    Cost:       one sort of the values; never one step for each grid point

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> quantile(0.5, between=(0, 100), temperature=1)).map(1)
    Pure(epsilon=1.0)
    """
    level, heat = simple(probability(alpha, "alpha")), positive(temperature, "temperature")
    fixed = None if step is None else positive(step, "step")
    check_kind(measure, (Pure, BoundedRange, ZCDP), "quantile")

    def build(space: Space) -> Measurement:
        domain, rows = column_space(space, "quantile")
        if between is not None:
            bounds = Bounds.read(between)
            bounded = space >> clamp(bounds.lower, bounds.upper)
            return bounded >> quantile(level, temperature=heat, step=step, measure=measure)
        grid = support(domain.element, fixed)
        moves = quantile_moves(level, Range())
        chosen = ExponentialSelection(heat)

        def moved(d_in: Distance) -> Distance:
            return rows_map(d_in, moves=moves, rows=rows, size=domain.size)

        parameters = (
            ("alpha", f"{up(level):.6g}"),
            ("temperature", f"{up(heat):.6g}"),
            ("step", f"{up(grid.step):.3g}"),
        )
        return Measurement(
            source=space,
            measure=measure,
            function=lambda data, entropy: draw_point(pieces(data, grid, level), grid, level, heat, entropy),
            privacy_map=lambda d_in: loss_of(chosen, measure, moved(d_in)),
            event=lambda d_in: Selection(chosen, moved(d_in)),
            how=How("quantile", parameters, proofs=("proofs/quantile.md#loss", "proofs/scores.md#quantile")),
            law=lambda data: point_law(pieces(data, grid, level), grid, level, heat),
        ).recorded()

    return Partial(f"quantile({alpha}, temperature={temperature})", build)


@constructor
def median(
    *,
    temperature: Number,
    between: tuple[Number, Number] | None = None,
    step: Number | None = None,
    measure: type[Loss] = Pure,
) -> Partial[Measurement]:
    """Chooses a point between public bounds with about as many values below as above.

    Takes:      a column of numbers without NaN; bounds here or from clamp()
    Gives:      a grid point: an integer for integers, else the nearest float
    Guarantee:  that of quantile(½): r = 1 for a row added or removed, 2 for one exchanged  (proofs/quantile.md#loss)
    Cost:       one sort of the values

    >>> from sfumato.core.space import vector
    >>> (vector(int, between=(0, 120), size=10) >> median(temperature=4)).map(1)
    Pure(epsilon=0.5)
    """
    return quantile(Fraction(1, 2), temperature=temperature, between=between, step=step, measure=measure)


@constructor
def quantile_among(
    candidates: Sequence[Number], *, alpha: Number, temperature: Number, measure: type[Loss] = Pure
) -> Partial[Measurement]:
    """Chooses the one of some public candidates that splits the data at a quantile, by the exponential mechanism.

    Takes:      a column of numbers without NaN; distinct candidates; alpha in [0, 1] (½ is the median)
    Gives:      the chosen candidate, as it was typed
    Guarantee:  as quantile(alpha)  (proofs/scores.md#quantile, proofs/exponential.md#pure)
    Cost:       one binary search among the candidates for each row

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> quantile_among([15, 25, 35], alpha=0.5, temperature=1)).map(1)
    Pure(epsilon=1.0)
    """
    score = quantile_scores(candidates, alpha=alpha, metric=Range())
    return score >> exponential_of(list(candidates), temperature=temperature, measure=measure)


def simple(alpha: Fraction) -> Fraction:
    """Rounds a quantile to a fraction of small numbers, no more than 2⁻²⁰ away; 0 and 1 only for themselves.

    Scores then stay within 64 bits; for a share with many digits, such as 0.123456789, Python's integers would be slow.

    >>> simple(Fraction("0.123456789")), simple(Fraction(1, 10**40))
    (Fraction(10, 81), Fraction(1, 1048576))
    """
    near = alpha.limit_denominator(SMALL)
    return near if near == alpha or 0 < near < 1 else min(max(alpha, Fraction(1, SMALL)), Fraction(SMALL - 1, SMALL))


@final
@dataclass(frozen=True, eq=False)
class Pieces:
    """Candidates in runs of one score: each value that occurs, and each gap between such values.

    ``starts`` and ``widths`` are in steps from the first candidate; scores are whole numbers of a unit that whoever
    cuts says.
    """

    starts: Array
    widths: Array
    scores: Array


@guarantee(
    claim="every grid point c lies in exactly one piece, and that has the score −|(1 − a) #(x < c) − a #(x > c)|",
    proof="proofs/quantile.md#pieces",
    reviewed="2823eeeef602",
)
def pieces(data: Data, grid: RowGrid, alpha: Fraction) -> Pieces:
    """Cuts the grid at the values that occur in the data; scores are in units of 1 / (denominator of alpha)."""
    values, tallies = np.unique(grid.offsets(data).astype(np.int64), return_counts=True)
    below = np.concatenate(([0], np.cumsum(tallies)))
    starts = np.concatenate(([0], values + 1))
    ends = np.concatenate((values, [grid.span + 1]))
    # A gap has all rows on one side or the other; a value has its own rows on neither.
    rows = int(below[-1])
    left = np.concatenate((below, below[:-1]))
    right = np.concatenate((rows - below, rows - below[1:]))
    widths = np.concatenate((ends - starts, np.ones(len(values), dtype=np.int64)))
    part, whole = alpha.numerator, alpha.denominator
    if whole > SMALL:
        left, right = left.astype(object), right.astype(object)
    scores = -np.abs((whole - part) * left - part * right)
    filled = widths > 0
    return Pieces(np.concatenate((starts, values))[filled], widths[filled], scores[filled])


@guarantee(
    claim="each grid point c is drawn with probability proportional to exp(score(c) / temperature)",
    proof="proofs/quantile.md#draw",
    reviewed="83120698b24f",
)
def draw_point(cut: Pieces, grid: RowGrid, alpha: Fraction, temperature: Fraction, entropy: Entropy) -> Data:
    """Draws a piece by its width and score, then a point of it uniformly."""
    unit = 1 / (alpha.denominator * temperature)
    place, offset = interval_index(drawable(cut.scores), widths=cut.widths, unit=unit, entropy=entropy)
    return point_value(grid, int(cut.starts[place]) + offset)


def point_law(cut: Pieces, grid: RowGrid, alpha: Fraction, temperature: Fraction) -> FiniteLaw:
    """Writes out the exact distribution of the chosen point, for auditing on small grids."""
    if grid.span >= MOST_LISTED:
        raise BadArgument("step", f"coarse enough to list all points, at most {MOST_LISTED}", grid.step)
    unit = 1 / (alpha.denominator * temperature)
    chances = exponential_probabilities(exponents_of(cut.scores, unit), widths=cut.widths.tolist())
    with precision(BITS):
        each = {
            start + offset: chance / width
            for start, width, chance in zip(cut.starts.tolist(), cut.widths.tolist(), chances, strict=True)
            for offset in range(width)
        }
        return law_of_pairs(sorted(each.items())).through(lambda offset: point_value(grid, offset))


def point_value(grid: RowGrid, offset: int) -> int | float:
    """The public value of a grid point: an integer where the data are plain integers, else the nearest float."""
    whole = grid.low + offset
    return whole if isinstance(grid.element, Integers) and grid.step == 1 else float(whole * grid.step)


def support(element: Atom, step: Fraction | None) -> RowGrid:
    """Works out the grid of candidates between the bounds of a column, from public facts alone."""
    grid = row_grid(element, "quantile")
    if step is not None:
        if not isinstance(element, Floats) or element.between is None:
            raise BadArgument("step", "left out for integers: they have a step of their own", step)
        if power_of_two(step) != step:
            raise BadArgument("step", "a power of two, such as 2**-20", step)
        grid = RowGrid(element, step, *inside(element.between, step))
    if not 0 < grid.span < MOST_POINTS:
        raise BadArgument("bounds", "apart, with fewer than 2**62 steps between them", str(element))
    return grid
