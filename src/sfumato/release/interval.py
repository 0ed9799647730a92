"""Intervals: where the exact value is, with a confidence that holds and is not passed by far.

They cover the noise, and nothing else: not what clamping moved, nor how a sample stands for a population. The ends are
exact until they are rounded outward, once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, final

import numpy as np

from sfumato.errors import BadArgument
from sfumato.exact import (
    MOST_DIGITS,
    Extended,
    Number,
    ball,
    decimal_of,
    down,
    lower,
    nearest_whole,
    probability,
    rational,
    up,
)
from sfumato.guarantee import guarantee
from sfumato.noise.distribution import Noise

if TYPE_CHECKING:
    from sfumato.release.record import Noised, Release

EXACT = 1 << 52
"""Up to this many steps, no two of them have the same nearest float: the float tells which one was meant."""

FLOAT_DIGITS, MOST_SHOWN = MOST_DIGITS - 2, 400
"""Digits of a float that are not its rounding, and how many are written at most."""

LARGEST = math.nextafter(math.inf, 0)


@final
@dataclass(frozen=True)
class Interval:
    """A range that holds the exact value with at least the stated confidence; an end may be infinite.

    >>> interval = Interval(70.25, 74.5, Fraction(95, 100))
    >>> print(interval), 72 in interval
    [70.2, 74.5] (95%)
    (None, True)
    """

    low: int | float
    high: int | float
    confidence: Fraction

    def __contains__(self, value: int | float | Fraction) -> bool:
        return bool(self.low <= value <= self.high)

    def __str__(self) -> str:
        low, high = (significant(end, self, rounding) for end, rounding in zip(self.ends, OUTWARD, strict=True))
        return f"[{low}, {high}] ({percent(self.confidence)})"

    @property
    def ends(self) -> tuple[int | float, int | float]:
        return self.low, self.high


OUTWARD = (ROUND_FLOOR, ROUND_CEILING)


def percent(confidence: Fraction) -> str:
    """Writes a confidence: 95 % and 99.9 % as they are; others rounded down, so that only certainty is 100 %.

    >>> percent(Fraction(2, 3)), percent(1 - Fraction(1, 10**9)), percent(Fraction(1))
    ('66.6666%', '99.9999999%', '100%')
    """
    sure = rational(confidence, "confidence")
    nines = -decimal_of(1 - sure, 1, ROUND_FLOOR).adjusted() if sure < 1 else 0
    return f"{_plainly(decimal_of(100 * sure, min(max(6, nines), MOST_DIGITS), ROUND_FLOOR))}%"


def _plainly(value: Decimal) -> str:
    """Writes a decimal: 640, and not 6.4e+2; powers of ten where numbers are large or small."""
    return f"{value:f}" if -5 < value.adjusted() < 6 else f"{value:g}"


def significant(value: float, interval: Interval, rounding: str = ROUND_HALF_EVEN) -> str:
    """Writes a number with as many digits as an interval gives sense to: two of its width."""
    ends = (value, interval.low, interval.high)
    if _infinite(value):
        return f"{value:g}"
    # Ends are floats next to the exact ones: a last bit too many must not show as a whole digit.
    exact = Decimal(value) if isinstance(value, int) else decimal_of(Fraction(value), FLOAT_DIGITS, ROUND_HALF_EVEN)
    short = abs(exact) < Decimal(10) ** MOST_DIGITS
    if short and all(not _infinite(end) and int(end) == end for end in ends):
        return str(int(value))
    if any(map(_infinite, ends)) or interval.high <= interval.low:
        return _plainly(_context(6, rounding).plus(exact).normalize())
    width = Fraction(interval.high) - Fraction(interval.low)
    place = decimal_of(width, FLOAT_DIGITS, ROUND_HALF_EVEN).adjusted() - 1
    if place >= 0 and short:
        return str(int(value) if int(value) == value else int(exact.to_integral_value(rounding)))
    if exact.adjusted() - place >= MOST_SHOWN:
        return f"{_context(MOST_SHOWN, rounding).plus(exact):g}"
    return f"{_context(MOST_SHOWN, rounding).quantize(exact, Decimal((0, (1,), place))):g}"


def _infinite(value: int | float) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)


def outward(low: Extended, high: Extended, confidence: Fraction, *, whole: bool = False) -> Interval:
    """Rounds the interval between two exact ends outward to floats, or to whole numbers where they are."""
    if whole and all(isinstance(end, Fraction) and end.denominator == 1 for end in (low, high)):
        return Interval(int(low), int(high), confidence)
    return Interval(
        -math.inf if low == -math.inf else down(low), math.inf if high == math.inf else up(high), confidence
    )


@guarantee(
    claim="coordinates that each miss with the share, independently (union: or not), miss together with at most beta",
    proof="proofs/accuracy.md#coordinates",
    reviewed="4ddfd4e823b8",
)
def share_of_each(beta: Fraction, *, coordinates: int, union: bool) -> Fraction:
    """How often each coordinate may be off, so that all are right together but for a chance of ``beta``."""
    if coordinates == 1 or beta == 1:
        return beta
    if union:
        return beta / coordinates
    kept, part = 1 - beta, Fraction(1, coordinates)
    return Fraction(lower(lambda: -(ball(kept).log() * ball(part)).expm1()))


def noise_ends(noise: Noise, missed: Fraction) -> tuple[Extended, Extended]:
    """The ends between which noise lies, but for a chance of at most ``missed``, half of it on each side."""
    return _noise_ends(noise, missed)


@lru_cache(maxsize=1024)
def _noise_ends(noise: Noise, missed: Fraction) -> tuple[Extended, Extended]:
    low, high = noise.support
    below = -math.inf if low is None and missed == 0 else Fraction(noise.quantile(missed / 2))
    above = math.inf if high is None and missed == 0 else Fraction(noise.quantile(1 - missed / 2))
    return below, above


def centred(value: Any, noised: Noised) -> tuple[Fraction, Extended]:
    """The exact noisy value that was released, and how far off it may be, rounding before the noise included.

    What leaves is the float nearest to a whole number of steps: that number can be told from it as long as it is small.
    """
    moved, offset = noised.rounding, noised.offset * noised.step
    if isinstance(value, int | np.integer):
        return int(value) - offset, moved
    near = Fraction(float(value))
    steps = nearest_whole(near / noised.step)
    if abs(steps) <= EXACT:
        return steps * noised.step - offset, moved
    if abs(near) >= LARGEST:
        return near - offset, math.inf
    return near - offset, moved + Fraction(math.ulp(float(value))) / 2


def numeric(value: Any) -> bool:
    """Tells whether a value is one finite number."""
    if isinstance(value, bool | np.bool_):
        return False
    return isinstance(value, int | np.integer) or (isinstance(value, float | np.floating) and bool(np.isfinite(value)))


def number_list(value: Any) -> list[Any] | None:
    """The entries of a row of finite numbers, or None where a value is something else."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = list(value)
    return list(value) if isinstance(value, list | tuple) and all(numeric(entry) for entry in value) else None


def interval_of(
    release: Release, confidence: Number | None
) -> Interval | list[Interval] | dict[str, list[Interval | None]] | None:
    """The interval of a release, or those of its entries, which hold together; None where nothing is stated.

    Those of the cells of an answer hold one by one.
    """
    from sfumato.release.answer import Answer

    if isinstance(release.value, Answer):
        return release.value.intervals(confidence)
    sure = release.confidence if confidence is None else probability(confidence, "confidence")
    entries = [release.value] if numeric(release.value) else number_list(release.value)
    if entries is None:
        return None
    if release.noise is not None and len(entries) == release.noise.coordinates:
        intervals: list[Interval] | None = _from_noise(entries, release.noise, sure)
    elif release.noise is None and release.half_width is not None and sure <= release.confidence:
        intervals = _from_widths(entries, release.half_width, release.confidence)
    else:
        return None
    return intervals[0] if intervals and numeric(release.value) else intervals


def _from_noise(entries: list[Any], noised: Noised, sure: Fraction) -> list[Interval]:
    missed = share_of_each(1 - sure, coordinates=max(1, noised.coordinates), union=False)
    below, above = (end * noised.step for end in noise_ends(noised.noise, missed))
    intervals = []
    for value in entries:
        centre, moved = centred(value, noised)
        whole = isinstance(value, int | np.integer)
        intervals.append(outward(centre - above - moved, centre - below + moved, sure, whole=whole))
    return intervals


def _from_widths(entries: list[Any], widths: Any, sure: Fraction) -> list[Interval] | None:
    each = [widths] * len(entries) if numeric(widths) else number_list(widths)
    if each is None or len(each) != len(entries):
        return None
    intervals = []
    for value, width in zip(entries, each, strict=True):
        centre, error = (Fraction(int(x) if isinstance(x, int | np.integer) else float(x)) for x in (value, width))
        intervals.append(outward(centre - error, centre + error, sure, whole=True))
    return intervals


def refused_value(value: Any) -> BadArgument:
    """The refusal of a value that is no number: estimates are made of numbers."""
    must = "a finite number, or a row of them; what is known of the cells of a table is at release.interval()"
    return BadArgument("the released value", must, type(value).__name__)
