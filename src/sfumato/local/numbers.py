"""Public grids on which people's numbers stand: equidistant places, or buckets of equal width.

Which place a number has is decided by the binary64 operations of `device.number_place`, on a device in any language as
here for arrays. What lies outside the bounds, infinities too, stands at the nearer bound; NaN is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, integer, rational
from sfumato.local.device import number_bucket, number_place, read_number

STEPS = 27720
"""Steps of a grid unless others are asked for: all numbers up to 12 divide it, and reports fit into two bytes."""

MOST_STEPS = 1 << 19
"""The most steps of a grid: there are at most twice as many cells to count."""

MOST_BUCKETS = 1 << 10
"""The most buckets of a distribution: its intervals need a table with a number for each two of them."""


@final
@dataclass(frozen=True)
class Numbers:
    """Equidistant places from ``low`` to ``high``, ``steps`` steps apart; a number stands at the nearest one.

    >>> grid = Numbers(0, 10, 5)
    >>> grid.place(3.2), grid.point(2)
    (2, Fraction(4, 1))
    """

    low: float
    high: float
    steps: int = STEPS

    def __post_init__(self) -> None:
        steps = integer(self.steps, "steps", least=1, most=MOST_STEPS)
        low, high = read_bounds((self.low, self.high), steps)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "steps", steps)

    @property
    def step(self) -> Fraction:
        """The distance of two places: a number is moved by at most half of it (and 2⁻³⁰ of that, for floats)."""
        return (Fraction(self.high) - Fraction(self.low)) / self.steps

    def point(self, place: Fraction | int) -> Fraction:
        """The number that stands at a place."""
        return Fraction(self.low) + self.step * place

    def place(self, value: Any) -> int:
        """The place of a number."""
        return number_place(_read(value), self.low, self.high, self.steps)

    def places(self, values: Any) -> NDArray[np.int64]:
        """The places of many numbers."""
        inside = np.clip(_read_many(values), self.low, self.high)
        places: NDArray[np.float64] = np.floor((inside - self.low) * self.steps / (self.high - self.low) + 0.5)
        return places.astype(np.int64)

    def domain(self) -> dict[str, Any]:
        """The grid, as devices read it."""
        return {"numbers": {"low": self.low, "high": self.high, "steps": self.steps}}


@final
@dataclass(frozen=True)
class Buckets:
    """Buckets of equal width from ``low`` to ``high``; each has its lower end, and the last one its upper end too.

    >>> buckets = Buckets(0, 100, 20)
    >>> buckets.bucket(37), buckets.edges[7:9].tolist()
    (7, [35.0, 40.0])
    """

    low: float
    high: float
    count: int

    def __post_init__(self) -> None:
        count = integer(self.count, "buckets", least=2, most=MOST_BUCKETS)
        low, high = read_bounds((self.low, self.high), count)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "count", count)

    @property
    def edges(self) -> NDArray[np.float64]:
        """The ends of all buckets: one more than there are buckets."""
        return np.linspace(self.low, self.high, self.count + 1)

    def bucket(self, value: Any) -> int:
        """The bucket of a number."""
        return number_bucket(_read(value), self.low, self.high, self.count)

    def buckets(self, values: Any) -> NDArray[np.int64]:
        """The buckets of many numbers."""
        inside = np.clip(_read_many(values), self.low, self.high)
        found: NDArray[np.float64] = np.floor((inside - self.low) * self.count / (self.high - self.low))
        return np.minimum(found.astype(np.int64), self.count - 1)

    def domain(self) -> dict[str, Any]:
        """The buckets, as devices read them."""
        return {"buckets": {"low": self.low, "high": self.high, "count": self.count}}


def read_bounds(between: tuple[Number, Number], steps: int) -> tuple[float, float]:
    """Two finite floats, the first below the second, whose distance can be counted in so many steps."""
    if not isinstance(between, tuple | list) or len(between) != 2:
        raise BadArgument("between", "two numbers: the least and the largest that count", between)
    try:
        low, high = (float(rational(end, "a bound")) for end in between)
    except OverflowError:
        low, high = 0.0, float("inf")
    if not low < high:
        raise BadArgument("between", "two numbers, the first below the second", between)
    if not (high - low) * steps < float("inf"):
        raise BadArgument("between", "narrower: floats cannot count steps in so wide a range", between)
    return low, high


def _read(value: Any) -> float:
    try:
        return read_number(value.item() if isinstance(value, np.generic) else value)
    except ValueError:
        raise BadArgument(
            "the value", "a number, and not NaN: say first what a missing one counts as", Unseen()
        ) from None


def _read_many(values: Any) -> NDArray[np.float64]:
    array = np.asarray(values) if hasattr(values, "__array__") else None
    if array is None or array.dtype == object:
        return np.fromiter((_read(value) for value in values), dtype=np.float64)
    if array.ndim != 1 or array.dtype.kind not in "iuf" or bool(np.isnan(array).any()):
        raise BadArgument("the values", "a column of numbers, none of them NaN", Unseen())
    return array.astype(np.float64)
