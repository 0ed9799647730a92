"""How far synthetic data can be from the real table on what was measured, from the noise alone: it costs nothing.

The noise on released counts has a known law, so the distance from the released counts to the synthetic ones bounds the
distance from the real counts (proofs/synthetic_errors.md). No data is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf, log, sqrt
from typing import final

import numpy as np
from scipy import optimize, special, stats

from sfumato.errors import BadArgument
from sfumato.exact import Number, probability
from sfumato.guarantee import guarantee
from sfumato.release.render.document import Document, Table
from sfumato.synth.counting import Columns, Counted, Floats
from sfumato.synth.graph.measured import Measured
from sfumato.synth.holder import Basis, Judgement

ROUNDING = 0.5
"""Noise on whole numbers goes at most this much further than the continuous law of its scale, in distribution."""

DENSE_ENOUGH = 2.0
"""From this deviation on, sums of squares of whole-number noise are taken for those of continuous noise."""


@final
class Noise(Enum):
    """The family of the noise on counts; ``EITHER`` takes what is wider, where the family is not known."""

    GAUSSIAN = "Gaussian"
    LAPLACE = "Laplace"
    EITHER = "Gaussian or Laplace"


@final
@dataclass(frozen=True)
class NoiseError:
    """How far synthetic counts can be from the real ones, in one marginal that was measured; in shares of all rows.

    ``seen`` is the distance from the noisy counts, half the sum over cells; that from the real ones is between ``low``
    and ``high``. ``cell`` is how far the share of any one cell is off, at most; ``blur`` how far noise alone moves one.
    """

    columns: Columns
    cells: int
    deviation: float
    seen: float
    low: float
    high: float
    cell: float
    blur: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class NoiseErrors(Judgement):
    """How far synthetic counts can be from the real ones, in every marginal that was measured; each with confidence."""

    errors: tuple[NoiseError, ...]
    confidence: float
    mean: tuple[float, float]
    """Ends of an interval for the mean of all of them."""
    basis: Basis = Basis.FREE
    paid: str = ""
    """What the counts cost that they are known from, where they were bought for this."""

    def of(self, *columns: str) -> NoiseError:
        """The bounds of one marginal, its columns in any order; the narrowest where it was measured repeatedly."""
        holding = [each for each in self.errors if set(each.columns) == set(columns)]
        if not holding:
            raise BadArgument("columns", "a marginal that was measured", ", ".join(columns))
        return min(holding, key=lambda each: each.high)

    def document(self) -> Document:
        """All marginals with their intervals, for any form."""
        ordered = sorted(self.errors, key=lambda each: each.high)
        rows = tuple(
            (
                " × ".join(each.columns),
                f"{each.cells:,}",
                f"{each.deviation:.3g}",
                f"{each.low:.3g} … {each.high:.3g}",
                f"{each.cell:.3g}",
            )
            for each in ordered
        )
        head = ("columns", "cells", "noise on a count", "total variation", "a cell is off by at most")
        table = Table(rows, head, "Measured", right=frozenset({1, 2, 3, 4}), count=len(rows))
        low, high = self.mean
        said = f"errors of what was measured: {low:.3g} … {high:.3g} in the mean"
        price = f"paid: {self.paid}" if self.paid else "from the noise alone: nothing was spent"
        aside = f"with {self.confidence:.0%} confidence, {price}"
        return Document("Errors known from the noise", said, aside, self.basis.marks, tables=(table,))


def noise_errors(
    measured: Sequence[Measured],
    synthetic: Counted,
    *,
    total: float | None = None,
    noise: Noise = Noise.EITHER,
    confidence: Number = "0.95",
    fresh: bool = False,
    basis: Basis = Basis.FREE,
) -> NoiseErrors:
    """Bounds how far synthetic counts are from the real ones on what was measured; sound however they were fitted.

    Takes:      noisy counts, a model or rows scaled to the ``total``, the family of the noise; ``fresh`` where the
                noise was drawn after the synthetic data was made, which allows narrower intervals
    Gives:      a `NoiseErrors`, whose intervals each hold with the confidence (proofs/synthetic_errors.md#triangle)
    """
    if not measured:
        raise BadArgument("measured", "at least one marginal", 0)
    scale = synthetic.total if total is None else float(total)
    if not (scale > 0 and synthetic.total > 0):
        raise BadArgument("synthetic", "of at least one row", synthetic.total)
    missed = 1 - float(probability(confidence, "confidence"))
    apart = [_apart(one, synthetic, scale / synthetic.total) for one in measured]
    errors = tuple(
        noise_error(each, one, scale, noise, missed, fresh=fresh) for each, one in zip(apart, measured, strict=True)
    )
    reach = l1_reach([(each.size, one.deviation) for each, one in zip(apart, measured, strict=True)], missed, noise)
    seen = sum(float(np.abs(each).sum()) for each in apart)
    ends = [side / (2 * scale * len(errors)) for side in (max(seen - reach, 0.0), seen + reach)]
    return NoiseErrors(errors, 1 - missed, (ends[0], ends[1]), basis)


@guarantee(
    claim="half the L1 distance of real and synthetic counts is in [low, high], and no cell is off by more than cell, "
    "with probability 1 - missed",
    proof="proofs/synthetic_errors.md#triangle",
    reviewed="7bc0595034bc",
)
def noise_error(
    apart: Floats, one: Measured, total: float, noise: Noise, missed: float, *, fresh: bool = False
) -> NoiseError:
    """Bounds the error of one marginal, from its noisy counts less the synthetic ones."""
    cells, distance, largest = apart.size, float(np.abs(apart).sum()), float(np.abs(apart).max())
    if fresh and noise is Noise.GAUSSIAN and one.deviation >= DENSE_ENOUGH:
        missed = missed * 2 / 3
        squared = sqrt(cells) * l2_upper(apart, one.deviation, missed / 2)
    else:
        squared = inf
    sums = l1_reach([(cells, one.deviation)], missed / 2, noise)
    each = largest_reach(cells, one.deviation, missed / 2, noise)
    low = max(distance - sums, float(np.maximum(np.abs(apart) - each, 0.0).sum()), 0.0)
    high = max(min(distance + sums, squared), low)
    blur = largest_reach(1, one.deviation, missed, noise)
    shares = (value / total for value in (distance / 2, low / 2, high / 2, largest + each, blur))
    return NoiseError(one.columns, cells, one.deviation, *shares)


@guarantee(
    claim="the sum of |noise| over all cells is at most this with probability 1 - missed",
    proof="proofs/synthetic_errors.md#sums",
    reviewed="3bd317636525",
)
def l1_reach(groups: Sequence[tuple[int, float]], missed: float, noise: Noise) -> float:
    """How far the sum of the noise of all cells goes, signs left out: of each group, so many cells of a deviation."""
    if noise is Noise.EITHER:
        return max(l1_reach(groups, missed, one) for one in (Noise.GAUSSIAN, Noise.LAPLACE))
    noised = [(cells, deviation) for cells, deviation in groups if deviation > 0]
    if not noised:
        return 0.0
    widest = max(deviation for _, deviation in noised)

    def bound(position: float) -> float:
        """Chernoff's bound at one slope, written so that every position has a valid slope."""
        slope = (np.exp(position) if noise is Noise.GAUSSIAN else special.expit(position)) / laplace_scale(widest)
        rise = sum(cells * _log_moment(slope, deviation, noise) for cells, deviation in noised)
        return float((rise - log(missed)) / slope)

    best = optimize.minimize_scalar(bound, bounds=(-15.0, 5.0), method="bounded")
    count = sum(cells for cells, _ in noised)
    single = sum(cells * _reach(deviation, (missed / count), noise) for cells, deviation in noised)
    return min(float(best.fun), single) + ROUNDING * count


def largest_reach(cells: int, deviation: float, missed: float, noise: Noise) -> float:
    """How far the noise on any of some cells goes, but for a probability (proofs/synthetic_errors.md#largest)."""
    if noise is Noise.EITHER:
        return max(largest_reach(cells, deviation, missed, one) for one in (Noise.GAUSSIAN, Noise.LAPLACE))
    each = -float(np.expm1(np.log1p(-missed) / cells))
    return _reach(deviation, each, noise) + ROUNDING if deviation > 0 else 0.0


def l2_upper(apart: Floats, deviation: float, missed: float) -> float:
    """An upper bound of the L2 distance of real and synthetic counts, for Gaussian noise that is independent of both.

    The squared distance of the noisy counts, over the variance, is a noncentral χ² number whose noncentrality is that
    of the real counts: the largest one that the observed number does not refute (proofs/synthetic_errors.md#fresh).
    """
    cells, observed = apart.size, float(np.sum(apart**2)) / deviation**2
    if stats.chi2.cdf(observed, cells) <= missed:
        return 0.0
    top = 2 * observed + 4 * cells + 100.0
    while stats.ncx2.cdf(observed, cells, top) > missed:
        top *= 2
    refuted = optimize.brentq(lambda value: stats.ncx2.cdf(observed, cells, value) - missed, 0.0, top)
    return deviation * sqrt(float(refuted))


def laplace_scale(deviation: float) -> float:
    """The largest scale that whole-number Laplace noise of a deviation can have: its variance is 2b² − 1/6 or more."""
    return sqrt((deviation**2 + 1 / 6) / 2)


def _apart(one: Measured, synthetic: Counted, scale: float) -> Floats:
    """Noisy counts less synthetic ones, or answers to questions about them."""
    counts = synthetic.marginal(one.columns) * scale
    asked = counts if one.queries is None else one.queries @ counts.ravel()
    return np.asarray((one.counts - asked).ravel())


def _reach(deviation: float, missed: float, noise: Noise) -> float:
    if noise is Noise.GAUSSIAN:
        return -deviation * float(special.ndtri(missed / 2))
    return -laplace_scale(deviation) * log(missed)


def _log_moment(slope: float, deviation: float, noise: Noise) -> float:
    """The logarithm of E exp(slope |Z|), Z continuous."""
    if noise is Noise.GAUSSIAN:
        stretch = slope * deviation
        return log(2.0) + stretch**2 / 2 + float(special.log_ndtr(stretch))
    return -float(np.log1p(-slope * laplace_scale(deviation)))
