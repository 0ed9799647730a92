"""Many quantiles in one choice: all of them at once, scored by how far the rows between them are from their shares."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from math import comb

import numpy as np
from flint import arb

from sfumato.accounting.events import Selection
from sfumato.accounting.facts import loss_of
from sfumato.accounting.facts.selection import ExponentialSelection
from sfumato.accounting.losses.measures import ZCDP, BoundedRange, Loss, Pure, check_kind
from sfumato.core.domains import Array, Bounds, Data
from sfumato.core.law import FiniteLaw
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, Distance, Number, ball, positive, precision, rational, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.quantile import MOST_LISTED, point_value, support
from sfumato.mechanisms.recursive_quantiles import parts_of, read_levels, spread
from sfumato.noise.ordered_points import MOST_POINTS, draw_ordered
from sfumato.release.record import How
from sfumato.transforms.grids import RowGrid
from sfumato.transforms.rows import column_space
from sfumato.transforms.rowwise import clamp
from sfumato.transforms.score_moves import Moves, rows_map

COLDEST = Fraction(1, 1 << 16)
"""The least temperature: weights stay within the exponents that tables can hold."""

MOST_ROWS = 1 << 40
"""A number of rows beyond this is taken for this."""

PROOFS = ("proofs/joint_quantiles.md#loss", "proofs/recursive_quantiles.md#spread")


@constructor
def joint_quantiles(
    alphas: Iterable[Number],
    *,
    total: Number,
    temperature: Number,
    between: tuple[Number, Number] | None = None,
    step: Number | None = None,
    measure: type[Loss] = Pure,
) -> Partial[Measurement]:
    """Chooses several quantiles of a column at once, by the exponential mechanism over all increasing sequences.

    The score of a sequence is minus the sum, over the gaps between its points, of how far the number of rows in the gap
    is from its share of ``total``. That is a public guess at the number of rows, such as the public size or a noisy
    count. Equal rows are spread at random within their grid step beforehand.

    Takes:      a column of numbers without NaN; bounds here or from clamp(); 1 to 256 increasing alphas between 0 and 1
    Gives:      a tuple of grid points in increasing order: integers for integers, else the nearest floats
    Guarantee:  epsilon = eta = r / temperature, rho = (r / temperature)² / 8, with r = 2 for each row added or removed,
                4 for each row exchanged: all quantiles together  (proofs/joint_quantiles.md#loss)
    Cost:       a sort, and a few dozen passes over the values for each quantile, and more for very many quantiles

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> joint_quantiles([0.25, 0.5, 0.75], total=1000, between=(0, 100), temperature=4)).map(1)
    Pure(epsilon=0.5)
    """
    levels, heat, rows = read_levels(alphas), positive(temperature, "temperature"), rational(total, "total")
    check_kind(measure, (Pure, BoundedRange, ZCDP), "joint_quantiles")
    if not 0 < len(levels) <= MOST_POINTS:
        raise BadArgument("alphas", f"1 to {MOST_POINTS} quantiles, to choose them all at once", len(levels))
    if heat < COLDEST:
        raise BadArgument("temperature", f"at least {float(COLDEST):.3g}", temperature)
    fixed = None if step is None else positive(step, "step")
    targets = shares_of(levels, rows)

    def build(space: Space) -> Measurement:
        domain, metric = column_space(space, "joint_quantiles")
        if between is not None:
            bounds = Bounds.read(between)
            bounded = space >> clamp(bounds.lower, bounds.upper)
            return bounded >> joint_quantiles(levels, total=rows, temperature=heat, step=step, measure=measure)
        grid, chosen = support(domain.element, fixed), ExponentialSelection(heat)
        parts = parts_of(grid)

        def moved(d_in: Distance) -> Distance:
            return rows_map(d_in, moves=joint_moves(), rows=metric, size=domain.size)

        def choose(data: Data, entropy: Entropy) -> tuple[int | float, ...]:
            points = draw_points(spread(grid.offsets(data), parts, entropy), grid, parts, targets, heat, entropy)
            return tuple(point_value(grid, point // parts) for point in points)

        parameters = (("quantiles", str(len(levels))), ("temperature", f"{up(heat):.6g}"))
        return Measurement(
            source=space,
            measure=measure,
            function=choose,
            privacy_map=lambda d_in: loss_of(chosen, measure, moved(d_in)),
            event=lambda d_in: Selection(chosen, moved(d_in)),
            how=How("joint quantiles", (*parameters, ("step", f"{up(grid.step):.3g}")), proofs=PROOFS),
            law=lambda data: joint_law(data, grid, parts, targets, heat),
        ).recorded()

    return Partial(f"joint_quantiles({len(levels)} of them, temperature={temperature})", build)


@guarantee(
    claim="the range of the scores' moves is at most 2 for a row added or removed, 4 for a row exchanged",
    proof="proofs/joint_quantiles.md#loss",
    reviewed="1adac6fdd3d2",
)
def joint_moves() -> Moves:
    """How far scores of sequences move for one row."""
    return Moves(Fraction(2), Fraction(4))


def shares_of(levels: Sequence[Fraction], total: Fraction) -> list[Fraction]:
    """How many rows should be in each gap, of a number that is kept between 0 and 2⁴⁰.

    >>> shares_of([Fraction(1, 4), Fraction(1, 2)], Fraction(8))
    [Fraction(2, 1), Fraction(2, 1), Fraction(4, 1)]
    """
    rows = min(max(total, Fraction(0)), Fraction(MOST_ROWS))
    return [(after - before) * rows for before, after in pairwise([Fraction(0), *levels, Fraction(1)])]


@guarantee(
    claim="every increasing sequence of points with probability proportional to exp(score / temperature)",
    proof="proofs/joint_quantiles.md#draw",
    reviewed="307695d2d1bd",
)
def draw_points(
    rows: Array, grid: RowGrid, parts: int, targets: Sequence[Fraction], temperature: Fraction, entropy: Entropy
) -> list[int]:
    """Draws the chosen points, in parts of grid steps, from sorted rows."""
    widths = np.diff(rows, prepend=-1, append=(grid.span + 1) * parts - 1)
    drawn = draw_ordered(widths, targets=targets, rate=1 / temperature, entropy=entropy)
    return [(int(rows[piece - 1]) + 1 if piece else 0) + offset for piece, offset in drawn]


@guarantee(
    claim="the joint law of the released quantiles: the mean over all ways to spread the rows",
    proof="proofs/joint_quantiles.md#draw",
    reviewed="cc4407539841",
)
def joint_law(data: Data, grid: RowGrid, parts: int, targets: Sequence[Fraction], temperature: Fraction) -> FiniteLaw:
    """Writes out the exact joint distribution of the released quantiles, for auditing on small grids."""
    offsets = grid.offsets(data).astype(np.int64)
    points, spreads = (grid.span + 1) * parts, parts ** len(offsets)
    if max(points, spreads) > MOST_LISTED or comb(points + len(targets) - 2, len(targets) - 1) > MOST_LISTED:
        raise BadArgument("the grid", f"coarse enough to list all sequences, at most {MOST_LISTED}", points)
    with precision(BITS):
        chances: dict[Hashable, arb] = {}
        for chosen in product(range(parts), repeat=len(offsets)):
            weights = sequence_weights(offsets * parts + np.array(chosen, dtype=np.int64), points, targets, temperature)
            whole = sum(weights.values(), arb(0))
            for sequence, weight in weights.items():
                values = tuple(point_value(grid, point // parts) for point in sequence)
                chances[values] = chances.get(values, ball(0)) + weight / whole / spreads
        return FiniteLaw(chances)


def sequence_weights(
    rows: Array, points: int, targets: Sequence[Fraction], temperature: Fraction
) -> dict[tuple[int, ...], arb]:
    """Lists every increasing sequence of points with exp(score / temperature), straight from the definition."""
    below = [int((rows < point).sum()) for point in range(points)]
    weights: dict[tuple[int, ...], arb] = {}
    for sequence in combinations_with_replacement(range(points), len(targets) - 1):
        gaps = [after - before for before, after in pairwise([0, *(below[point] for point in sequence), len(rows)])]
        misfit = sum(abs(gap - target) for gap, target in zip(gaps, targets, strict=True))
        weights[sequence] = ball(-misfit / temperature).exp()
    return weights
