"""Numbers to compute with: what releases say, and where the exact results are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias, final

import numpy as np

from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, down, probability, rational, up
from sfumato.noise.distribution import enclosure
from sfumato.release.interval import Interval, number_list, numeric, outward, refused_value, significant
from sfumato.release.linear import Linear, Source, ratio_ends
from sfumato.release.record import Release

Image: TypeAlias = Callable[[Extended], Extended | None]
"""A monotone function of exact ends; None where it has no value."""

ONE = Linear(Fraction(1))


@final
@dataclass(frozen=True)
class MonotoneStep:
    """A monotone step after the arithmetic; ``computed`` where floats are used for it."""

    image: Image
    increasing: bool
    computed: bool = False

    def ends(self, low: Extended, high: Extended) -> tuple[Extended, Extended]:
        """The ends of the images; those that floats were used for are one float further out."""
        if self.computed:
            low, high = _extended(down(low)), _extended(up(high))
        first, last = (low, high) if self.increasing else (high, low)
        below, above = self.image(first), self.image(last)
        low, high = -math.inf if below is None else below, math.inf if above is None else above
        if self.computed:  # beyond the floats, the end inward is the last float
            low, high = (_extended(math.nextafter(*end)) for end in ((low, -math.inf), (high, math.inf)))
        return low, high


@final
@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """A number computed from releases and public numbers, with `+ - * /`: it knows where the exact result is.

    A release used twice is the same noise twice: ``a - a`` is 0, for certain. Sums and differences, multiples and one
    ratio have right intervals, and so has what a monotone function makes of them; of anything else (a product of two
    noisy numbers) the value is given and no interval.

    >>> from sfumato.noise.discrete_laplace import DiscreteLaplace
    >>> from sfumato.accounting.losses.measures import Pure
    >>> from sfumato.release.record import How, Noised
    >>> noised = Noised(DiscreteLaplace(Fraction(10)), Fraction(1))
    >>> yes, no = (Release(n, Pure(1), "a row", How("laplace"), noise=noised).estimate() for n in (640, 360))
    >>> print(yes - no)
    280 [239, 321] (95%)
    >>> print(yes / (yes + no))
    0.640 [0.617, 0.663] (95%)
    >>> print((yes - yes).interval())
    [0, 0] (95%)
    """

    _top: Linear
    _bottom: Linear = ONE
    _steps: tuple[MonotoneStep, ...] = ()
    _stated: bool = True

    __array_ufunc__: ClassVar[None] = None  # so that NumPy's numbers leave the arithmetic to this class

    @property
    def value(self) -> float:
        """The result for the noisy values; NaN where there is none, such as after division by 0."""
        result = self._value()
        return math.nan if result is None else _near(result)

    def interval(self, confidence: Number = Fraction(95, 100)) -> Interval | None:
        """Where the exact result is, with a confidence; an end may be infinite. None: no such statement."""
        sure = probability(confidence, "confidence")
        if not self._stated:
            return None
        bottom = self._bottom
        if not bottom.weights and bottom.value == 0:
            return None
        ends = ratio_ends(self._top, bottom, sure) if bottom.weights else self._top.times(1 / bottom.value).ends(sure)
        if ends is None:
            return None
        low, high = ends
        for step in self._steps:
            low, high = step.ends(low, high)
        return outward(low, high, sure)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The noisy numbers that it is made of; two with the same are not independent."""
        return (*self._top.weights, *self._bottom.weights)

    @property
    def variance(self) -> Fraction | None:
        """The variance of the noise, rounded up; None where it is more than a sum of releases."""
        if not self._plain or self._bottom.weights:
            return None
        weights = self._top.times(1 / self._bottom.value).weights.items()
        squares = (
            (weight * source.noised.step) ** 2 * enclosure(source.noised.noise.variance())[1]
            for source, weight in weights
        )
        return sum(map(Fraction, squares), Fraction(0))

    def through(self, function: Callable[[float], float], *, increasing: bool = True) -> Estimate:
        """Puts the number through a function that never falls (or, as stated, never rises): both ends go through it.

        Where the function has no value at an end, such as the logarithm of a negative number, that end is infinite. The
        function works in floats, and may be off by one of them: each end is moved one float outward.

        >>> Estimate(Linear(Fraction(9))).through(math.sqrt).value
        3.0
        """
        return self._then(MonotoneStep(_image(function), increasing, computed=True))

    def clipped(self, low: Number | None = None, high: Number | None = None) -> Estimate:
        """Moves the number into a range in which the exact one is known to be; either end may be left out."""
        least = -math.inf if low is None else rational(low, "low")
        most = math.inf if high is None else rational(high, "high")
        if least > most:
            raise BadArgument("low", "at most high", low)
        return self._then(MonotoneStep(lambda end: min(max(end, least), most), increasing=True))

    def _then(self, step: MonotoneStep) -> Estimate:
        return replace(self, _steps=(*self._steps, step))

    def _value(self) -> Extended | None:
        under = self._bottom.value
        result: Extended | None = None if under == 0 else self._top.value / under
        for step in self._steps:
            result = None if result is None else step.image(result)
        return result

    def _unstated(self, value: Extended | None) -> Estimate:
        """A value that nothing is stated about."""
        bottom = Linear(Fraction(int(value is not None and math.isfinite(value))))
        return Estimate(Linear(Fraction(value) if bottom.constant else Fraction(0)), bottom, _stated=False)  # type: ignore[arg-type]  # finite

    def _affine(self, factor: Fraction, shift: Fraction) -> Estimate:
        """Computes factor · this + shift."""
        if self._steps:
            return self._then(
                MonotoneStep(lambda end: factor * end + shift if factor else shift, increasing=factor >= 0)
            )
        return replace(self, _top=self._top.times(factor).plus(self._bottom, shift))

    def __add__(self, other: object) -> Estimate:
        if (number := _number(other)) is not None:
            return self._affine(Fraction(1), number)
        return self._combined(other, Fraction(1)) if isinstance(other, Estimate) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: object) -> Estimate:
        if (number := _number(other)) is not None:
            return self._affine(Fraction(1), -number)
        return self._combined(other, Fraction(-1)) if isinstance(other, Estimate) else NotImplemented

    def __rsub__(self, other: object) -> Estimate:
        return (-self) + other

    def __neg__(self) -> Estimate:
        return self._affine(Fraction(-1), Fraction(0))

    def __mul__(self, other: object) -> Estimate:
        if (number := _number(other)) is not None:
            return self._affine(number, Fraction(0))
        if not isinstance(other, Estimate):
            return NotImplemented
        return self._unstated(_product(self._value(), other._value()))

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Estimate:
        if (number := _number(other)) is not None:
            if number == 0:
                raise BadArgument("what an estimate is divided by", "other than 0", other)
            return self._affine(1 / number, Fraction(0))
        return self._over(other) if isinstance(other, Estimate) else NotImplemented

    def __rtruediv__(self, other: object) -> Estimate:
        number = _number(other)
        return NotImplemented if number is None else Estimate(Linear(number))._over(self)

    @property
    def _plain(self) -> bool:
        """Tells whether this is a ratio of two sums, and not one over a 0 that is no noise."""
        return self._stated and not self._steps and bool(self._bottom.weights or self._bottom.value)

    def _combined(self, other: Estimate, sign: Fraction) -> Estimate:
        plain = self._plain and other._plain
        if plain and self._bottom.same(other._bottom):
            return replace(self, _top=self._top.plus(other._top, sign))
        first, second = self._value(), other._value()
        return self._unstated(None if first is None or second is None else first + sign * second)

    def _over(self, other: Estimate) -> Estimate:
        plain = self._plain and other._plain
        if plain and self._bottom.same(other._bottom):
            return Estimate(self._top, other._top)
        if plain and not self._bottom.weights and not self._top.weights:  # a number over a ratio
            return Estimate(other._bottom.times(self._top.value / self._bottom.value), other._top)
        first, second = self._value(), other._value()
        return self._unstated(None if not second or first is None else _product(first, 1 / second))

    def __str__(self) -> str:
        interval, value = self.interval(), self.value
        if interval is None:
            return f"{value:.6g} (no interval)"
        return f"{significant(value, interval)} {interval}"

    __repr__ = __str__


def estimate_of(release: Release) -> Estimate | list[Estimate]:
    """Turns the value of a release, or every entry of it, into a number to compute with."""
    value = release.value
    entries = [value] if numeric(value) else number_list(value)
    if entries is None:
        raise refused_value(value)
    noised = release.noise
    if noised is None or len(entries) != noised.coordinates:
        estimates = [Estimate(Linear(_exact(entry)), _stated=False) for entry in entries]
    else:
        sources = [Source.of(release, noised, place, entry) for place, entry in enumerate(entries)]
        estimates = [Estimate(Linear(Fraction(0), {source: Fraction(1)})) for source in sources]
    return estimates[0] if numeric(value) else estimates


def _number(value: object) -> Fraction | None:
    """Reads a public number as people type it; None for what is none."""
    if isinstance(value, int | float | Decimal | Fraction | np.generic) and not isinstance(value, bool | str):
        return rational(value, "a number in an estimate")  # type: ignore[arg-type]  # reads NumPy's numbers too
    return None


def _exact(value: Any) -> Fraction:
    return Fraction(int(value) if isinstance(value, int | np.integer) else float(value))


def _near(value: Extended) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _product(first: Extended | None, second: Extended | None) -> Extended | None:
    return None if first is None or second is None else first * second


def _image(function: Callable[[float], float]) -> Image:
    def image(end: Extended) -> Extended | None:
        try:
            with np.errstate(all="ignore"):
                result = float(function(_near(end)))
        except (ValueError, ArithmeticError):
            return None
        return None if math.isnan(result) else _extended(result)

    return image


def _extended(value: float) -> Extended:
    return value if math.isinf(value) else Fraction(value)
