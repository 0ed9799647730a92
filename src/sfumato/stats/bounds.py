"""Bounds for values that nobody knows bounds for, from noisy counts in bands of doubling width."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.core.domains import Array, Integers
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.exact import Number, positive, probability
from sfumato.guarantee import guarantee
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.textbook.accuracy import level_of
from sfumato.transforms.bands import BANDS, LAST, OFFSET, log_bands
from sfumato.transforms.histogram import count_by

LARGEST = math.nextafter(math.inf, 0)

Bound = int | float


@guarantee(
    claim="with probability 1 - alpha or more no band without rows shows a noisy count above the level",
    proof="proofs/bounds.md#level",
    reviewed="24ceaf6462dc",
)
def band_level(noise: DiscreteLaplace | DiscreteGaussian, *, alpha: Fraction, bands: int) -> int:
    """The least level that holds rows apart from noise, for a number of bands of which any may be empty."""
    return int(level_of(noise, beta=alpha, coordinates=bands))


@lru_cache(maxsize=64)
def _level(noise: DiscreteLaplace | DiscreteGaussian, alpha: Fraction) -> int:
    try:
        return band_level(noise, alpha=alpha, bands=len(BANDS.values))
    except CannotCalibrate:
        must = "such that a level below 2^62 holds rows apart from noise: a smaller scale, or a larger alpha"
        raise BadArgument("scale and alpha", must, (noise.scale, alpha)) from None


@constructor
def bounds_by_histogram(scale: Number, *, alpha: Number = 1e-9, measure: type[Loss] = Pure) -> Partial[Measurement]:
    """Finds bounds for a column: the outer edges of the lowest and the highest band with a significant noisy count.

    Takes:      a column of floats without NaN or of whole numbers, under any distance that counts rows; ``measure`` is
                Pure (Laplace noise) or ZCDP (Gaussian noise); ``alpha`` bounds the chance that an empty band counts
    Gives:      a pair (low, high) of powers of two, their negatives or 0; None where no band is significant. 2^1024
                becomes the largest float. Both may be the same: zeros alone give (0.0, 0.0). Rows of bands below the
                level may lie outside, and so do infinities and whole numbers beyond 2^1024, which have one band
    Guarantee:  Pure(epsilon = d_in / scale) or ZCDP(rho = d_in² / 2 scale²) for rows added or removed; for rows changed
                twice that (proofs/histogram.md#map, proofs/additive.md#laplace). The level: proofs/bounds.md#level
    Cost:       one pass, and 4199 noises

    A public guess costs nothing: clamping to bounds that are too wide by a factor adds noise by that factor. Finding
    bounds pays only where the guess is likely to be off by more than about 10 times.

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> bounds_by_histogram(scale=3)).map(1)
    Pure(epsilon='1/3')
    """
    size, allowed = positive(scale, "scale"), probability(alpha, "alpha")
    if not 0 < allowed < 1:
        raise BadArgument("alpha", "greater than 0 and less than 1", alpha)
    if measure not in (Pure, ZCDP):
        raise BadArgument("measure", "Pure (Laplace noise) or ZCDP (Gaussian noise)", measure)
    plain = measure is Pure

    def build(space: Space) -> Measurement:
        banded = space >> log_bands()
        norm: VectorMetric = L1() if plain else L2()
        counted = banded >> count_by(metric=norm) >> (laplace(scale) if plain else gaussian(scale))
        level = _level(DiscreteLaplace(size) if plain else DiscreteGaussian(size), allowed)
        whole = isinstance(space.domain.element, Integers)  # type: ignore[attr-defined]  # log_bands takes columns only
        return counted.then(lambda counts: significant_bounds(counts, level, whole=whole), name=f"bands above {level}")

    return Partial(f"bounds_by_histogram(scale={scale})", build)


def significant_bounds(counts: Array, level: int, *, whole: bool = False) -> tuple[Bound, Bound] | None:
    """The outer edges of the lowest and the highest band with a count above a level, or None.

    Edges beyond all floats become the largest one.
    """
    above = np.flatnonzero(np.asarray(counts) > level)
    if not len(above):
        return None
    low, high = int(above[0]) - LAST, int(above[-1]) - LAST
    return band_edges(low, whole=whole)[0], band_edges(high, whole=whole)[1]


def band_edges(band: int, *, whole: bool = False) -> tuple[Bound, Bound]:
    """The lower and the upper edge of a band, as floats or as whole numbers around those that are in it.

    >>> band_edges(1078), band_edges(-1078), band_edges(0)
    ((8.0, 16.0), (-16.0, -8.0), (0.0, 0.0))
    """
    if band == 0:
        return (0, 0) if whole else (0.0, 0.0)
    inner, outer = _power(abs(band) - OFFSET, whole=whole), _power(min(abs(band) + 1, LAST) - OFFSET, whole=whole)
    return (inner, outer) if band > 0 else (-outer, -inner)


def _power(exponent: int, *, whole: bool) -> Bound:
    if whole:
        return 1 << max(exponent, 0)
    return LARGEST if exponent >= 1024 else math.ldexp(1.0, exponent)
