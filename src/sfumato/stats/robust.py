"""Trimmed means and medians with noise that fits the data, where the number of rows is public."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import cosh, exp, floor, sinh, sqrt

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.errors import BadArgument
from sfumato.exact import Number, probability
from sfumato.mechanisms.smooth_sensitivity import smooth_trimmed_mean
from sfumato.transforms.rows import column_space

SAFE = 1 - 2.0**-40
"""A scale worked out in floats is a little more than that, so that its price is not above what was asked for."""


@constructor
def trimmed_mean(
    trim: Number,
    *,
    loss: Loss,
    between: tuple[Number, Number] | None = None,
    step: Number | None = None,
) -> Partial[Measurement]:
    """Averages a column without a share of its least and of its largest rows, with noise that fits the data.

    Use it where rows are close together and bounds must be wide: a mean of clamped rows has noise in proportion to the
    bounds, this one in proportion to how far apart the rows are that are left. Of 1,000 normal rows at ε = 1 it errs by
    0.035 deviations whatever the bounds are (0.032 without privacy); the clamped mean by as much with bounds of ±5, by
    0.08 with ±25 and 0.28 with ±100; `median` by 0.045. It is the mean of the middle rows: of skewed numbers, not their
    mean.

    Takes:      a column of numbers without NaN, of public size; ``trim`` of each end, in [0, ½); bounds here or from
                clamp(); a loss of Pure for one row changed
    Gives:      a point of a fine grid between the bounds: an integer for integers, else the nearest float
    Guarantee:  the loss  (proofs/smooth_sensitivity.md#loss)
    Cost:       one sort, and at most some millions of comparisons

    >>> from sfumato.core.space import vector
    >>> mean = vector(float, size=1000) >> trimmed_mean("0.1", between=(-1000, 1000), loss=Pure(1))
    >>> 0.999999 < mean.map(1).epsilon <= 1
    True
    """
    share = probability(trim, "trim")
    if not share < Fraction(1, 2):
        raise BadArgument("trim", "below ½; smooth_median() leaves only the middle", trim)
    return _robust(f"trimmed_mean({trim}, loss={loss})", lambda size: floor(share * size), loss, between, step)


@constructor
def smooth_median(
    *, loss: Loss, between: tuple[Number, Number] | None = None, step: Number | None = None
) -> Partial[Measurement]:
    """The median of a column, with noise that fits the data: the trimmed mean of one row, or of two.

    It errs about as `median` does (the exponential mechanism), less where bounds are very wide and more where rows are
    few; `median` needs no public size, and `trimmed_mean` is nearer to the middle of symmetric numbers than both.

    Takes, Gives, Guarantee, Cost: as `trimmed_mean`

    >>> from sfumato.core.space import vector
    >>> middle = vector(float, size=1000) >> smooth_median(between=(-1000, 1000), loss=Pure(1))
    >>> 0.999999 < middle.map(1).epsilon <= 1
    True
    """
    return _robust(f"smooth_median(loss={loss})", lambda size: (size - 1) // 2, loss, between, step)


def _robust(
    name: str,
    cut: Callable[[int], int],
    loss: Loss,
    between: tuple[Number, Number] | None,
    step: Number | None,
) -> Partial[Measurement]:
    if not isinstance(loss, Pure) or not loss.epsilon > 0:
        raise BadArgument("loss", "Pure(epsilon), epsilon above 0", loss)

    def build(space: Space) -> Measurement:
        domain, _ = column_space(space, name)
        if domain.size is None:
            raise BadArgument("what is averaged", "a column of public size: vector(float, size=1000)", str(space))
        trim = cut(domain.size)
        scale, beta = likely_noise(float(loss.epsilon), trim, domain.size - 2 * trim)
        return space >> smooth_trimmed_mean(trim, scale=scale, beta=beta, between=between, step=step)

    return Partial(name, build)


def likely_noise(epsilon: float, trim: int, kept: int) -> tuple[Fraction, Fraction]:
    """A smoothness β, and the least scale at which a changed row then costs no more than ε: from public facts.

    With 10/trim what bounds may hide counts e⁻¹⁰ times; with 1/kept noise is that of rows farther apart by no more than
    they are; above ε/4 too little is left for the scale.
    """
    beta = min(epsilon / 4, max(10 / max(trim, 1), 1 / kept))
    most = min(2 * sinh(epsilon / 4), sqrt(2 * exp(beta) * (cosh((epsilon - beta) / 2) - cosh(beta))))
    return Fraction(1) / Fraction(most * SAFE), Fraction(beta)
