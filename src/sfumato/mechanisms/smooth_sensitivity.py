"""Noise that fits the data at hand: smooth sensitivity, and trimmed means and medians with it. Pure ε.

A mean of what is left after the largest and smallest rows were cut off moves little where the data are close together,
whatever the bounds are. Noise in proportion to how much it moves here would tell where "here" is; in proportion to a
bound on it that changes slowly from neighbour to neighbour, and with heavy tails, it does not tell more than ε.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TypeAlias, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.core.domains import Bounds, Data
from sfumato.core.law import FiniteLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import ChangeOne, Hamming
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.errors import BadArgument
from sfumato.exact import (
    BITS,
    Extended,
    Number,
    ball,
    digits_up,
    integer,
    positive,
    precision,
    upper,
)
from sfumato.guarantee import guarantee
from sfumato.mechanisms.perturbed_risk import repeated_loss
from sfumato.mechanisms.quantile import MOST_LISTED, point_value, support
from sfumato.mechanisms.scoring import law_of_pairs
from sfumato.noise.inversion import IndexLaw, resolve
from sfumato.release.record import How
from sfumato.transforms.grids import RowGrid
from sfumato.transforms.rows import column_space
from sfumato.transforms.rowwise import clamp

PROOF = "proofs/smooth_sensitivity.md"

FARTHEST = 1 << 11
"""Data sets up to so many changes away are looked at one by one; beyond, the bounds stand for what may be there."""

NEAR = 1e-9
"""Candidates for a maximum that floats put within this part of it are compared as balls."""

Reach: TypeAlias = Callable[[], arb]
"""A number as a ball at the working precision."""


@constructor
def smooth_trimmed_mean(
    trim: int,
    *,
    scale: Number,
    beta: Number,
    between: tuple[Number, Number] | None = None,
    step: Number | None = None,
) -> Partial[Measurement]:
    """Averages a column without its ``trim`` least and largest rows, with noise that fits its smooth sensitivity.

    The noise has density (2/π)(1 + z²)⁻² (Student's with 3 degrees of freedom, of variance 1), times ``scale`` and the
    β-smooth sensitivity of the trimmed mean. What leaves is the nearest point of a grid between the bounds.

    Takes:      a column of numbers without NaN, of public size above 2 ``trim``, under a distance that counts changed
                rows; bounds here or from clamp()
    Gives:      a grid point: an integer for integers, else the nearest float
    Guarantee:  Pure: for each row changed, the greater of 4 arsinh(t/2) and β + 2 arcosh(cosh β + t² e^−β / 2), with
                t = 1/scale  (proofs/smooth_sensitivity.md#loss)
    Cost:       one sort, and at most trim² or some millions of comparisons

    >>> from sfumato.core.space import vector
    >>> mean = vector(float, size=101) >> smooth_trimmed_mean(20, scale=3, beta="0.1", between=(0, 100))
    >>> str(mean.map(1))
    'ε = 0.761944'
    """
    cut, width, smooth = integer(trim, "trim", least=0), positive(scale, "scale"), positive(beta, "beta")
    fixed = None if step is None else positive(step, "step")

    def build(space: Space) -> Measurement:
        domain, rows = column_space(space, "smooth_trimmed_mean")
        if between is not None:
            bounds = Bounds.read(between)
            bounded = space >> clamp(bounds.lower, bounds.upper)
            return bounded >> smooth_trimmed_mean(cut, scale=width, beta=smooth, step=step)
        if domain.size is None or not isinstance(rows, ChangeOne | Hamming):
            raise BadArgument("what smooth_trimmed_mean() works on", "a column of public size", str(space))
        if domain.size <= 2 * cut:
            raise BadArgument("trim", f"less than half of {domain.size} rows", cut)
        grid = support(domain.element, fixed)
        price = smooth_loss(1 / width, smooth)

        def law_at(data: Data) -> IndexLaw:
            return trimmed_law(np.sort(grid.offsets(data).astype(np.int64)), cut, grid.span, width, smooth)

        return Measurement(
            source=space,
            measure=Pure,
            function=lambda data, entropy: point_value(grid, resolve(law_at(data), 0, 0, entropy)),
            privacy_map=lambda d_in: repeated_loss(d_in, price),
            how=How(
                "trimmed mean by smooth sensitivity" if domain.size > 2 * cut + 2 else "median by smooth sensitivity",
                (("trim", f"{cut}"), ("scale", digits_up(width)), ("beta", digits_up(smooth))),
                proofs=(f"{PROOF}#loss", f"{PROOF}#trimmed", "proofs/inversion.md#resolve"),
            ),
            law=lambda data: listed(law_at(data), grid),
        ).recorded()

    return Partial(f"smooth_trimmed_mean({trim}, scale={scale}, beta={beta})", build)


@guarantee(
    claim="sup of the log-ratio of two such densities, centres at most t of the less scale apart, scales at most e^β",
    proof=f"{PROOF}#loss",
    reviewed="661f95a892dd",
)
def smooth_loss(t: Fraction, beta: Fraction) -> Extended:
    """ε of one row: that of a change of place alone, or of place and scale together, whichever is more."""
    place = upper(lambda: 4 * (ball(t) / 2).asinh())
    both = upper(lambda: ball(beta) + 2 * (ball(beta).cosh() + ball(t) ** 2 * (-ball(beta)).exp() / 2).acosh())
    return max(place, both)


@final
@dataclass(frozen=True)
class SmoothBound:
    """A number of steps as the greatest of some d e^(−β k), each a whole number d at a distance of k changes."""

    beta: Fraction
    terms: tuple[tuple[int, int], ...]

    def __call__(self) -> arb:
        """It, as a ball at the working precision."""
        greatest = arb(0)
        for away, apart in self.terms:
            greatest = greatest.max(apart * ball(-self.beta * away).exp())
        return greatest


@guarantee(
    claim="at least the local sensitivity times the rows left, and at most e^β times the same of a neighbour",
    proof=f"{PROOF}#trimmed",
    reviewed="20095c31766f",
)
def smooth_bound(offsets: NDArray[np.int64], trim: int, span: int, beta: Fraction) -> SmoothBound:
    """The β-smooth sensitivity of a trimmed sum of sorted whole numbers between 0 and a span.

    At k changes it is the greatest x₍j₎ − x₍i₎ with i ≤ trim + 1, j ≥ n − trim and j − i = n − 2 trim + k.
    """
    size, most = len(offsets), min(2 * trim + 1, FARTHEST, ceil(64 / beta))
    fading = np.exp(-float(beta) * np.arange(most + 1))
    padded = np.concatenate([np.zeros(most + 2, np.int64), offsets, np.full(most + 2, span, np.int64)])
    first = most + 1  # so that padded[first + i] is the i-th of the rows, the least of them being the first
    terms: list[tuple[float, int, int]] = [(float(span) * float(fading[-1]), most, span)]
    for low in range(min(most + 1, trim + 1) + 1):
        away = np.arange(max(low - 1, 0), most + 1)
        apart = padded[first + size - trim + 1 - low + away] - padded[first + trim + 1 - low]
        values = apart * fading[away]
        near = np.flatnonzero(values >= max(values.max() * (1 - NEAR), np.finfo(float).tiny))
        terms += [(float(values[place]), int(away[place]), int(apart[place])) for place in near]
    best = max(terms)[0]
    return SmoothBound(
        beta, tuple(sorted({(away, apart) for value, away, apart in terms if value >= best * (1 - NEAR)}))
    )


def trimmed_law(offsets: NDArray[np.int64], trim: int, span: int, scale: Fraction, beta: Fraction) -> IndexLaw:
    """The law of the nearest grid point to the trimmed mean with its noise, those beyond the ends being the ends."""
    kept = len(offsets) - 2 * trim
    centre = Fraction(sum(offsets[trim : len(offsets) - trim].tolist()), kept)
    return smooth_law(centre, smooth_bound(offsets, trim, span, beta), scale / kept, span)


@guarantee(
    claim="P(index < k) = P(centre + scale · reach · Z < k − ½), Z of density (2/π)(1 + z²)^−2",
    proof=f"{PROOF}#drawing",
    reviewed="0f2bc5fd0870",
)
def smooth_law(centre: Fraction, reach: Reach, scale: Fraction, span: int) -> IndexLaw:
    """The law of a number with noise in proportion to a reach, rounded to whole numbers from 0 to a span."""

    def below(index: int) -> arb:
        z = ball(Fraction(2 * index - 1, 2) - centre) / (ball(scale) * reach())
        return arb(1) / 2 + (z / (1 + z * z) + z.atan()) / arb.pi()

    return IndexLaw(below, span + 1)


def listed(law: IndexLaw, grid: RowGrid) -> FiniteLaw:
    """Writes out the exact distribution of what leaves, for auditing on small grids."""
    if grid.span >= MOST_LISTED:
        raise BadArgument("step", f"coarse enough to list all points, at most {MOST_LISTED}", grid.step)
    with precision(BITS):
        below = [law.mass_below(index) for index in range(grid.span + 2)]
        masses = [(index, below[index + 1] - below[index]) for index in range(grid.span + 1)]
        return law_of_pairs(masses).through(lambda index: point_value(grid, index))
