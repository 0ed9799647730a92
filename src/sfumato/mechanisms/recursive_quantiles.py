"""Many quantiles by halving: the middle one first, then those below it among smaller rows, those above among the rest.

A row takes part in one choice on each layer, on a path from the root to a leaf, and pays for that path only. Rows are
first spread at random within their grid step, so that equal values are cut where the rank says, not all on one side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from flint import arb

from sfumato.accounting.facts import loss_of
from sfumato.accounting.facts.selection import ExponentialSelection
from sfumato.accounting.losses.measures import ZCDP, Loss, Pure, check_kind
from sfumato.core.domains import Array, Bounds, Data, Vector
from sfumato.core.law import FiniteLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import DatasetMetric, Range
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, elements
from sfumato.exact import BITS, Distance, Extended, Number, ball, positive, precision, probability, rational_up, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.cut_plans import Cut, RangeSensitivity, added_loss, balanced, halving
from sfumato.mechanisms.quantile import MOST_LISTED, MOST_POINTS, SMALL, point_value, support
from sfumato.mechanisms.scoring import drawable, exponents_of
from sfumato.noise.selection import interval_index
from sfumato.noise.selection_laws import exponential_probabilities
from sfumato.release.record import How
from sfumato.transforms.distances import exchanged_rows
from sfumato.transforms.grids import RowGrid
from sfumato.transforms.rows import column_space
from sfumato.transforms.rowwise import clamp
from sfumato.transforms.score_moves import quantile_moves

MOST_PARTS = 1 << 20
"""A grid step is cut into up to this many parts, among which equal rows are spread."""

PROOFS = (
    "proofs/recursive_quantiles.md#rows",
    "proofs/recursive_quantiles.md#added",
    "proofs/recursive_quantiles.md#exchanged",
)


@constructor
def recursive_quantiles(
    alphas: Iterable[Number],
    *,
    temperature: Number,
    between: tuple[Number, Number] | None = None,
    step: Number | None = None,
    measure: type[Loss] = Pure,
) -> Partial[Measurement]:
    """Chooses several quantiles of a column, in order, by halving: each choice splits the rows for the next.

    The middle quantile is chosen first, by the exponential mechanism over a grid; those below it are chosen among the
    smaller rows, those above among the others. ``temperature`` is that of the dearest path of choices; on cheaper paths
    it is lower, so that all cost the same. Equal rows are spread at random within their grid step beforehand.

    Takes:      a column of numbers without NaN; bounds here or from clamp(); increasing alphas between 0 and 1
    Gives:      a tuple of grid points in increasing order: integers for integers, else the nearest floats
    Guarantee:  for a row added or removed, the sum of 2 max(a, 1 − a) / temperature over the dearest path, with a
                relative to the rows between the cuts above (of squares, over 8, for ZCDP); for a row exchanged, 2 /
                temperature in place of that while both rows are on one side  (proofs/recursive_quantiles.md#rows)
    Cost:       one sort of the values, and one pass over them for each layer, of which there are about log₂ of the
                number of quantiles

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> recursive_quantiles([0.25, 0.5, 0.75], between=(0, 100), temperature=10)).map(1)
    Pure(epsilon=0.2)
    """
    levels, heat = read_levels(alphas), positive(temperature, "temperature")
    check_kind(measure, (Pure, ZCDP), "recursive_quantiles")
    fixed = None if step is None else positive(step, "step")

    def build(space: Space) -> Measurement:
        domain, rows = column_space(space, "recursive_quantiles")
        if between is not None:
            bounds = Bounds.read(between)
            bounded = space >> clamp(bounds.lower, bounds.upper)
            return bounded >> recursive_quantiles(levels, temperature=heat, step=step, measure=measure)
        grid = support(domain.element, fixed)
        plan, parts = balanced(halving(levels), heat, measure, point_sensitivity), parts_of(grid)
        top = (grid.span + 1) * parts - 1

        def choose(data: Data, entropy: Entropy) -> tuple[int | float, ...]:
            points = draw_cuts(plan, spread(grid.offsets(data), parts, entropy), 0, top, entropy)
            return tuple(point_value(grid, point // parts) for point in points)

        parameters = (("quantiles", str(len(levels))), ("temperature", f"{up(heat):.6g}"))
        return Measurement(
            source=space,
            measure=measure,
            function=choose,
            privacy_map=plan_loss(plan, domain, rows, measure),
            how=How("recursive quantiles", (*parameters, ("step", f"{up(grid.step):.3g}")), proofs=PROOFS),
            law=lambda data: quantiles_law(plan, data, grid, parts),
        ).recorded()

    return Partial(f"recursive_quantiles({len(levels)} of them, temperature={temperature})", build)


def plan_loss(plan: Cut | None, domain: Vector, rows: DatasetMetric, measure: type[Loss]) -> Callable[[Distance], Loss]:
    """The privacy map of a plan; the loss of one row is worked out once."""
    if domain.size is None:
        added = added_loss(plan, measure, point_sensitivity)
        return lambda d_in: rows_loss(added, rational_up(d_in))
    size, exchanged = domain.size, exchanged_loss(plan, measure)
    return lambda d_in: rows_loss(exchanged, exchanged_rows(d_in, metric=rows, size=size))


@guarantee(
    claim="the loss of one row, for a group of that many; nothing for no row",
    proof="proofs/recursive_quantiles.md#rows",
    reviewed="cd853846fff4",
)
def rows_loss(row: Loss, count: Extended) -> Loss:
    """The loss when several rows change, from the loss when one does."""
    if count == 0 or row == row.nothing():
        return row.nothing()
    if count == math.inf:
        return ZCDP(math.inf) if isinstance(row, ZCDP) else Pure(math.inf)
    return row.group(math.ceil(count))


def read_levels(alphas: Iterable[Number]) -> list[Fraction]:
    """Reads increasing quantiles strictly between 0 and 1."""
    if isinstance(alphas, str) or not isinstance(alphas, Iterable):
        raise BadArgument("alphas", "a list of numbers such as [0.25, 0.5, 0.75]", alphas)
    with elements():
        levels = [probability(alpha, "alphas") for alpha in alphas]
    if any(level in (0, 1) for level in levels):
        raise BadArgument(
            "alphas", "strictly between 0 and 1 (for an end of the data, take quantile(0) or (1))", levels
        )
    if any(first >= second for first, second in pairwise(levels)):
        raise BadArgument("alphas", "in increasing order, each once", [float(level) for level in levels])
    return levels


@guarantee(
    claim="Pure: max(1, 2 − 2a) below, max(1, 2a) above; else 2 max(a, 1 − a) on both sides",
    proof="proofs/recursive_quantiles.md#sensitivity",
    reviewed="29171d3800cc",
)
def point_sensitivity(alpha: Fraction, measure: type[Loss]) -> RangeSensitivity:
    """What the choice of a point costs a row that is added or removed, by the side on which it goes on."""
    if measure is Pure:
        return RangeSensitivity(max(Fraction(1), 2 - 2 * alpha), max(Fraction(1), 2 * alpha))
    widest = quantile_moves(alpha, Range()).added
    return RangeSensitivity(widest, widest)


@guarantee(
    claim="one row exchanged: a choice that moves by 1 (Pure; else 2) and then an exchange on one side, or one that "
    "moves by 2, and then a row less on one side and a row more on the other",
    proof="proofs/recursive_quantiles.md#exchanged",
    reviewed="69fa75ada979",
)
def exchanged_loss(plan: Cut | None, measure: type[Loss]) -> Loss:
    """The loss of all the choices of a plan when one row is exchanged for another."""
    if plan is None:
        return measure.nothing()
    chosen = ExponentialSelection(plan.temperature)
    inside = measure.widest([exchanged_loss(side, measure) for side in (plan.left, plan.right)])
    across = added_loss(plan.left, measure, point_sensitivity).then(added_loss(plan.right, measure, point_sensitivity))
    together = loss_of(chosen, measure, Fraction(1 if measure is Pure else 2)).then(inside)
    return measure.widest([together, loss_of(chosen, measure, Fraction(2)).then(across)])


def parts_of(grid: RowGrid) -> int:
    """The power of two into which each grid step is cut, so that all points still fit 64 bits."""
    return min(MOST_PARTS, 1 << max(0, (MOST_POINTS // (grid.span + 1)).bit_length() - 1))


@guarantee(
    claim="each row is moved to a uniformly random part of its own grid step, independently of all others",
    proof="proofs/recursive_quantiles.md#spread",
    reviewed="bf0003a2d5e2",
)
def spread(offsets: Array, parts: int, entropy: Entropy) -> Array:
    """Spreads rows within their grid steps, a power of two parts to each, and sorts them."""
    chosen = (entropy.words(len(offsets)) & np.uint64(parts - 1)).astype(np.int64)
    return np.sort(offsets.astype(np.int64) * parts + chosen)


@guarantee(
    claim="every point c from low to high lies in one piece, which has the score −|#(x < c) − a k|, in units of 1 / "
    "(denominator of a)",
    proof="proofs/recursive_quantiles.md#pieces",
    reviewed="c1ea35ce8b48",
)
def gap_scores(rows: Array, low: int, high: int, alpha: Fraction) -> tuple[Array, Array]:
    """Widths and scores of the pieces between sorted rows that lie from low to high."""
    part, whole = alpha.numerator, alpha.denominator
    below = np.arange(len(rows) + 1)
    if whole > SMALL:
        below = below.astype(object)
    return np.diff(rows, prepend=low - 1, append=high), -np.abs(whole * below - part * len(rows))


def draw_cuts(plan: Cut | None, rows: Array, low: int, high: int, entropy: Entropy) -> list[int]:
    """Draws the chosen points of a plan, in increasing order, from sorted rows that lie from low to high."""
    if plan is None:
        return []
    widths, scores = gap_scores(rows, low, high, plan.alpha)
    unit = 1 / (plan.alpha.denominator * plan.temperature)
    place, offset = interval_index(drawable(scores), widths=widths, unit=unit, entropy=entropy)
    point = (int(rows[place - 1]) + 1 if place else low) + offset
    left = draw_cuts(plan.left, rows[:place], low, point, entropy)
    return [*left, point, *draw_cuts(plan.right, rows[place:], point, high, entropy)]


def cuts_law(plan: Cut | None, rows: Array, low: int, high: int) -> dict[tuple[int, ...], arb]:
    """Lists the exact joint distribution of the chosen points, for auditing on small grids."""
    if plan is None:
        return {(): ball(1)}
    widths, scores = gap_scores(rows, low, high, plan.alpha)
    unit = 1 / (plan.alpha.denominator * plan.temperature)
    chances = exponential_probabilities(exponents_of(scores, unit), widths=widths.tolist())
    chances_of: dict[tuple[int, ...], arb] = {}
    start = low
    for place, (width, chance) in enumerate(zip(widths.tolist(), chances, strict=True)):
        for point in range(start, start + width):
            left = cuts_law(plan.left, rows[:place], low, point)
            right = cuts_law(plan.right, rows[place:], point, high)
            for (under, before), (over, after) in product(left.items(), right.items()):
                chances_of[(*under, point, *over)] = chance / width * before * after
        start += width
    return chances_of


@guarantee(
    claim="the joint law of the released quantiles: the mean over all ways to spread the rows",
    proof="proofs/recursive_quantiles.md#spread",
    reviewed="25fd97230227",
)
def quantiles_law(plan: Cut | None, data: Data, grid: RowGrid, parts: int) -> FiniteLaw:
    """Writes out the exact joint distribution of the released quantiles, for auditing on small grids."""
    offsets = grid.offsets(data).astype(np.int64)
    top = (grid.span + 1) * parts
    if max(top, parts ** len(offsets)) > MOST_LISTED:
        raise BadArgument("the grid", f"coarse enough to list all points, at most {MOST_LISTED}", top)
    with precision(BITS):
        chances: dict[Hashable, arb] = {}
        for chosen in product(range(parts), repeat=len(offsets)):
            rows = np.sort(offsets * parts + np.array(chosen, dtype=np.int64))
            for points, chance in cuts_law(plan, rows, 0, top - 1).items():
                values = tuple(point_value(grid, point // parts) for point in points)
                chances[values] = chances.get(values, ball(0)) + chance / parts ** len(offsets)
        return FiniteLaw(chances)
