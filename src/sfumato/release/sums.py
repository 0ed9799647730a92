"""Quantiles of weighted sums of independent integer noises, from above.

The sum is laid on a lattice: every term is rounded *up* to it, so that the sum on the lattice is never below the true
one, and its law is worked out by fast Fourier transform. Where the terms have a common step that is coarse enough,
that is the lattice, and nothing is rounded. All that floats and cut tails can do is bounded and taken off the chance to
miss. Where such a bound would be too coarse (very high confidence), every term gets its own share of that chance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.pld.fourier import UNIT, real_inverse, real_transform, transform_error
from sfumato.accounting.pld.tilted_composition import MARGIN, MULTIPLY, dot, norm, power
from sfumato.exact import Extended, common_step, power_of_two, rational_up, root, up
from sfumato.guarantee import guarantee
from sfumato.noise.distribution import Noise, enclosure, running
from sfumato.release.interval import share_of_each

Floats: TypeAlias = NDArray[np.float64]
Terms: TypeAlias = tuple[tuple[Noise, Fraction], ...]
"""Independent noises, each with its weight in a sum: a rational other than 0."""

RESOLUTION = 256
"""The lattice has this many points, times the number of terms, to a standard deviation of the sum."""

FINEST, FINEST_OF_FEW, FEW = 1 << 12, 1 << 15, 8
"""The standard deviation holds at most this many lattice points; more where few laws are added up."""

SMALL_TRANSFORM, LARGEST_TRANSFORM = 1 << 15, 1 << 20

KNOTS = 8192
"""Other noises are worked out exactly at this many points, and taken at the nearest one outward in between."""

CUT = 1e-6
"""The chance to miss that is given away at each cut, as a share of all of it."""

TAIL_ERROR = 1e-13
"""What floats can do to the tails of a term."""

STEEPEST = 600.0
"""Exponentials stay within the floats up to here."""

TOO_COARSE = 1e-2
"""The share of the chance to miss that numerics may take at most."""


@lru_cache(maxsize=1024)
def sum_above(terms: Terms, missed: Fraction) -> Extended:
    """A t that the sum of the terms exceeds with probability at most ``missed``: the least, or just above it.

    >>> from sfumato.noise.discrete_laplace import DiscreteLaplace
    >>> term = DiscreteLaplace(Fraction(1)), Fraction(1)
    >>> sum_above((term, term), Fraction(1, 40))
    Fraction(4, 1)
    """
    if not terms:
        return Fraction(0)
    if missed <= 0 or len(terms) == 1:
        return split_above(terms, missed)
    unit, step = _spread(terms), common_step(*(weight for _, weight in terms))
    finest = FINEST_OF_FEW if len({(noise, abs(weight)) for noise, weight in terms}) <= FEW else FINEST
    exact = unit <= min(4 * RESOLUTION * len(terms), finest) * step
    pitch = step if exact else power_of_two(unit / min(RESOLUTION * len(terms), finest))
    tight = _lattice_above(_laid(terms, pitch, float(missed) * CUT, exact=exact), pitch, unit, float(missed))
    generous = split_above(terms, missed)
    return generous if tight is None else min(tight, generous)


def split_above(terms: Terms, missed: Fraction) -> Extended:
    """A t as in `sum_above`, from a share of the chance to miss for every term: exact for one, generous for many."""
    share = share_of_each(missed, coordinates=max(1, len(terms)), union=False)
    ends = (
        times * abs(weight) * _end(noise, share, flipped=weight < 0)
        for (noise, weight), times in Counter(terms).items()
    )
    return sum(ends, Fraction(0))


def _end(noise: Noise, missed: Fraction, *, flipped: bool) -> Extended:
    """What the noise, or the noise with its sign changed, exceeds with probability at most ``missed``."""
    return _found_end(noise, missed, flipped=flipped)


@lru_cache(maxsize=1024)
def _found_end(noise: Noise, missed: Fraction, *, flipped: bool) -> Extended:
    low, high = noise.support
    if missed <= 0:
        end = -low if flipped and low is not None else high if not flipped else None
        return math.inf if end is None else Fraction(end)
    return Fraction(-noise.quantile(missed) if flipped else noise.quantile(1 - missed))


def _spread(terms: Terms) -> Fraction:
    squares = (times * weight**2 * _variance(noise) for (noise, weight), times in Counter(terms).items())
    return max(Fraction(rational_up(root(sum(squares, Fraction(0))))), min(abs(weight) for _, weight in terms))


@lru_cache(maxsize=1024)
def _variance(noise: Noise) -> Fraction:
    return enclosure(noise.variance())[1]


@final
@dataclass(frozen=True, eq=False)
class Laid:
    """The law of one term on the lattice, rounded up.

    ``lost`` is what was cut off above, ``times`` how many such terms there are.
    """

    masses: Floats
    first: int
    times: int
    lost: float

    @property
    def places(self) -> NDArray[np.int64]:
        """The lattice points of the masses, in their order."""
        return np.arange(self.first, self.first + len(self.masses))


def _laid(terms: Terms, pitch: Fraction, cut: float, *, exact: bool) -> list[Laid] | None:
    alike = Counter((noise, abs(weight), weight < 0 and not noise.symmetric) for noise, weight in terms)
    laid = []
    for (noise, weight, flipped), times in alike.items():
        share = Fraction(cut) / len(terms)
        reach = weight * max(_end(noise, share, flipped=False), _end(noise, share, flipped=True)) / pitch
        if reach > LARGEST_TRANSFORM:
            return None
        places = np.arange(-math.ceil(reach) - 1, math.ceil(reach) + 2)
        tails, error = upper_tails(noise, _least(places - 1, pitch / weight, exact=exact), flipped=flipped)
        tails[0] = 1.0  # what lies further down moves up to the first place
        laid.append(Laid(-np.diff(tails, append=0.0), int(places[0]), times, float(share) + error))
    return laid


def _least(places: NDArray[np.int64], ratio: Fraction, *, exact: bool) -> Floats:
    """The least whole number z with z > place · ratio, or one less where floats cannot tell."""
    if exact:  # then 1 / ratio is a whole number
        return np.asarray(places // int(1 / ratio) + 1, dtype=np.float64)
    scaled = places * min(up(ratio), 1e290)
    return np.asarray(np.floor(scaled - np.abs(scaled) * 1e-15) + 1, dtype=np.float64)


def _lattice_above(laid: list[Laid] | None, pitch: Fraction, unit: Fraction, missed: float) -> Fraction | None:
    """The least lattice point that the sum of the terms exceeds rarely enough; None where floats cannot tell."""
    if laid is None:
        return None
    reach = _reach(laid, float(pitch / unit), missed * CUT)
    size = 1 << (2 * reach + 3).bit_length()
    number = sum(term.times for term in laid)
    error = sum(term.times * term.lost for term in laid) + 2 * missed * CUT + number * TAIL_ERROR
    if size > LARGEST_TRANSFORM or error > TOO_COARSE * missed:
        return None
    law, off = lattice_sum(laid, size)
    law = np.fft.fftshift(law)  # from -size / 2 on
    error += (off * math.sqrt(size) + 2 * (math.sqrt(size) + 4) * UNIT) * MARGIN
    above = running(law[::-1])[::-1] - law
    allowed = np.flatnonzero(above > missed - error)
    if error > TOO_COARSE * missed or not len(allowed):
        return None
    return (int(allowed[-1]) + 1 - size // 2) * pitch


@guarantee(
    claim="the circular convolution of all terms, within the error that is given with it in the 2-norm",
    proof="proofs/accuracy.md#transform",
    reviewed="f11e0b0ffb80",
)
def lattice_sum(laid: list[Laid], size: int) -> tuple[Floats, float]:
    """Adds up independent terms on a circle of lattice points, from 0 on."""
    relative = transform_error(size) + 4 * UNIT
    product, total, lost, uses = np.ones(size // 2 + 1, dtype=np.complex128), 1.0, 0.0, 0
    for term in laid:
        folded: Floats = np.bincount(term.places % size, weights=term.masses, minlength=size).astype(np.float64)
        product *= power(real_transform(folded), term.times)
        turns = 1 + len(term.masses) // size
        missed = (relative + turns * UNIT) * math.sqrt(size) * math.sqrt(dot(folded, folded)) * MARGIN
        most = max(1.0, float(np.sum(np.abs(term.masses))) * (1 + 2 * UNIT * len(term.masses)))
        total, lost = total * (most + missed) ** term.times, lost + term.times * missed
        uses += 2 * term.times + 1
    rounding, length = math.expm1(uses * MULTIPLY * MARGIN), math.sqrt(2) * norm(product) * MARGIN
    wrong = (total * lost + 2 * rounding * length) * MARGIN
    error = (wrong + relative * (length + wrong)) / math.sqrt(size) * MARGIN + 1e-290
    return real_inverse(product), error if uses * MULTIPLY <= 1 / 4 else math.inf


def _reach(laid: list[Laid], pitch: float, missed: float) -> int:
    """How many lattice points from 0 the sum lies, but for a small chance on either side (Chernoff)."""
    furthest = sum(term.times * int(np.abs(term.places[[0, -1]]).max()) for term in laid)
    if furthest <= SMALL_TRANSFORM:
        return furthest
    widest = pitch * max(int(np.abs(term.places[[0, -1]]).max()) for term in laid)
    for tilt in (0.25, 0.5, 1.0, 2.0, 4.0):
        if tilt * widest > STEEPEST:
            break
        for_each = [[term.masses @ np.exp(side * pitch * term.places) for term in laid] for side in (tilt, -tilt)]
        moment = max(
            sum(term.times * math.log(part) for term, part in zip(laid, side, strict=True)) for side in for_each
        )
        furthest = min(furthest, math.ceil((moment - math.log(missed)) / (tilt * pitch)))
    return furthest


def upper_tails(noise: Noise, points: Floats, *, flipped: bool) -> tuple[Floats, float]:
    """P(Z >= point), or P(-Z >= point), for whole numbers in order, and a bound on how far below it may be."""
    quick = noise.quick_tails(points) if noise.symmetric or not flipped else None
    if quick is not None:
        return quick
    knots, tails = _knots(noise, flipped=flipped)
    steps = np.searchsorted(knots, points, side="right") - 1
    return np.where(steps < 0, 1.0, tails[np.maximum(steps, 0)]), 0.0


@lru_cache(maxsize=64)
def _knots(noise: Noise, *, flipped: bool) -> tuple[Floats, Floats]:
    """Whole numbers in order and tails there: those of the noise, and 0 beyond the last one's own."""
    tiny = Fraction(1, 1 << 50)
    low, high = -int(_end(noise, tiny, flipped=not flipped)), int(_end(noise, tiny, flipped=flipped))
    stride = max(1, -(-(high - low) // KNOTS))
    points = range(low, high + 1 + stride, stride)
    return np.array(points, dtype=np.float64), np.array(list(_exact_tails(noise, points, flipped=flipped)))


def _exact_tails(noise: Noise, points: range, *, flipped: bool) -> Iterator[float]:
    for point in points:
        yield up(enclosure(noise.cdf(-point) if flipped else noise.upper_tail(point))[1])
