"""What every contender is asked for, on which data, and how wrong an answer is.

It needs numpy only, since it is imported in all their environments. Data come from fixed seeds; noise never does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Draw = Callable[[np.random.Generator, int], Array]

SETS = 16
"""Each case has so many data sets, and every contender is asked for all of them."""

SHIFT = 0.01
"""Data sets are moved by up to this part of their bounds, so that no grid of candidates fits them by luck."""

DELTA = 1e-6
RANGE_ROWS = 10_000
RANGE_COUNT = 2000
KEY_ROWS = 100_000
MOST_ALONE = 100_000
"""Where quantiles times rows are more than this, slow contenders do not ask for them one by one: it is never best."""

WIDEST = 1e6
"""Values whose mean is asked for are known to lie between minus this and this, and no more is known of them."""

OUTSIDE = (0.05, 0.25)
"""Those who clamp to two quantiles before they take a mean leave this share of the rows outside at either end."""


@final
@dataclass(frozen=True)
class Sample:
    """Is a way to draw numbers, and public bounds that are much wider than most of them."""

    bounds: tuple[float, float]
    draw: Draw

    def sets(self, size: int, *, bins: int = 0) -> tuple[Array, ...]:
        """Draws the data sets of a size; with bins, gives the bin of each row."""
        lower, upper = self.bounds
        found = []
        for place in range(SETS):
            random = np.random.default_rng([place, size])
            moved = self.draw(random, size) + random.uniform(0, SHIFT * (upper - lower))
            rows = np.clip(moved, lower, upper)
            binned = np.minimum((rows - lower) / (upper - lower) * bins, bins - 1).astype(np.int64)
            found.append(binned if bins else rows)
        return tuple(found)


SAMPLES = {
    "uniform": Sample((0, 1000), lambda random, size: random.uniform(130, 470, size)),
    "Gaussian": Sample((-100, 100), lambda random, size: random.normal(12.3, 8, size)),
    "lognormal": Sample((0, 1000), lambda random, size: random.lognormal(3, 1, size)),
}
"""Data whose quantiles and ranges are asked for."""

UNBOUNDED: dict[str, Draw] = {
    "Gaussian": lambda random, size: random.normal(1000, 1, size),
    "lognormal": lambda random, size: random.lognormal(0, 1, size),
    "uniform": lambda random, size: random.uniform(0, 100, size),
    "Pareto": lambda random, size: 1 + random.pareto(2.5, size),
}
"""Data whose mean is asked for."""


@final
@dataclass(frozen=True)
class Quantiles:
    """Asks for one or more quantiles of numbers between public bounds."""

    sample: str
    size: int
    alphas: tuple[Fraction, ...]
    epsilon: float

    power: ClassVar[int] = 1

    @property
    def kind(self) -> str:
        """Gives the row of the benchmark that this case is part of."""
        return "quantile" if len(self.alphas) == 1 else "quantiles"

    @property
    def name(self) -> str:
        """Says in a few words what is asked."""
        asked = f"α={float(self.alphas[0]):g}" if len(self.alphas) == 1 else f"m={len(self.alphas)}"
        return f"{self.sample} n={self.size} {asked} ε={self.epsilon:g}"

    @property
    def bounds(self) -> tuple[float, float]:
        """Gives the public bounds."""
        return SAMPLES[self.sample].bounds

    @property
    def shares(self) -> list[float]:
        """Gives the quantiles that are asked for, as floats."""
        return [float(alpha) for alpha in self.alphas]

    @cached_property
    def sets(self) -> tuple[Array, ...]:
        """Draws the data."""
        return SAMPLES[self.sample].sets(self.size)

    @property
    def slack(self) -> dict[str, float]:
        """Gives what is added to errors before they are compared: half a row."""
        return {"rank": 0.5 / self.size, "value": 0.0}

    def errors(self, answer: Array, rows: Array) -> dict[str, float]:
        """Gives the mean error of the answers in rank, as a share of the rows, and in value."""
        given, ordered = np.asarray(answer, dtype=float), np.sort(rows)
        below = np.searchsorted(ordered, given, side="left") / len(rows)
        up_to = np.searchsorted(ordered, given, side="right") / len(rows)
        ranks = np.maximum(0, np.maximum(below - self.shares, self.shares - up_to))
        values = np.abs(given - np.quantile(ordered, self.shares))
        return {"rank": float(ranks.mean()), "value": float(values.mean())}


@final
@dataclass(frozen=True)
class Ranges:
    """Asks how many rows lie in each of many random ranges over ordered bins."""

    sample: str
    bins: int
    epsilon: float

    kind: ClassVar[str] = "ranges"
    power: ClassVar[int] = 2
    slack: ClassVar[dict[str, float]] = {"count": 0.5}

    @property
    def name(self) -> str:
        """Says in a few words what is asked."""
        return f"{self.sample} bins={self.bins} ε={self.epsilon:g}"

    @cached_property
    def sets(self) -> tuple[Array, ...]:
        """Draws the bin of each row."""
        return SAMPLES[self.sample].sets(RANGE_ROWS, bins=self.bins)

    @cached_property
    def asked(self) -> Array:
        """Draws the ranges: pairs of a first bin and the one after the last."""
        ends = np.random.default_rng(self.bins).integers(0, self.bins + 1, (2 * RANGE_COUNT, 2))
        return np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)[:RANGE_COUNT]

    def counts(self, rows: Array) -> Array:
        """Counts the rows of each bin."""
        return np.bincount(rows, minlength=self.bins)

    def sums(self, counts: Array) -> Array:
        """Adds the counts of bins up in every range that is asked for."""
        below = np.concatenate([[0], np.cumsum(counts)])
        return np.asarray(below[self.asked[:, 1]] - below[self.asked[:, 0]])

    def errors(self, answer: Array, rows: Array) -> dict[str, float]:
        """Gives the root mean squared error over all ranges."""
        return {"count": float(np.sqrt(np.mean((answer - self.sums(self.counts(rows))) ** 2)))}


@final
@dataclass(frozen=True)
class Keys:
    """Asks which keys occur, when nobody knows them before; each person has one row."""

    keys: int
    epsilon: float

    kind: ClassVar[str] = "keys"
    power: ClassVar[int] = 1
    slack: ClassVar[dict[str, float]] = {"missed": 0.5}

    @property
    def name(self) -> str:
        """Says in a few words what is asked."""
        return f"Zipf keys={self.keys} ε={self.epsilon:g} δ={DELTA:g}"

    @cached_property
    def sets(self) -> tuple[Array, ...]:
        """Draws the key of each row: key k is 1 / k times as frequent as key 1."""
        weights = 1 / np.arange(1, self.keys + 1)
        chances = weights / weights.sum()
        return tuple(np.random.default_rng(place).choice(self.keys, KEY_ROWS, p=chances) for place in range(SETS))

    def errors(self, answer: frozenset[int], rows: Array) -> dict[str, float]:
        """Counts the keys that occur and are not in the answer (and any that it has made up)."""
        return {"missed": float(len(answer ^ frozenset(np.unique(rows).tolist())))}


@final
@dataclass(frozen=True)
class Mean:
    """Asks for the mean of numbers of which nobody knows useful bounds."""

    sample: str
    size: int
    epsilon: float

    kind: ClassVar[str] = "mean"
    power: ClassVar[int] = 2
    slack: ClassVar[dict[str, float]] = {"mean": 0.0}

    @property
    def name(self) -> str:
        """Says in a few words what is asked."""
        return f"{self.sample} n={self.size} ε={self.epsilon:g}"

    @cached_property
    def sets(self) -> tuple[Array, ...]:
        """Draws the data."""
        draw = UNBOUNDED[self.sample]
        return tuple(draw(np.random.default_rng([place, self.size]), self.size) for place in range(SETS))

    def errors(self, answer: float, rows: Array) -> dict[str, float]:
        """Gives the distance from the mean of these very rows."""
        return {"mean": abs(answer - float(rows.mean()))}


Case = Quantiles | Ranges | Keys | Mean


def evenly(count: int) -> tuple[Fraction, ...]:
    """Gives so many evenly spaced shares between 0 and 1."""
    return tuple(Fraction(place, count + 1) for place in range(1, count + 1))


SIZES = (1000, 10_000)
EPSILONS = (1.0, 0.1)
QUANTILE = tuple(
    Quantiles(sample, size, (alpha,), epsilon)
    for sample in SAMPLES
    for size in SIZES
    for alpha in (Fraction(1, 2), Fraction(9, 10))
    for epsilon in EPSILONS
)
QUANTILES = tuple(
    Quantiles(sample, size, evenly(count), 1.0) for sample in SAMPLES for size in SIZES for count in (9, 19, 99)
)
RANGES = tuple(Ranges(sample, bins, 1.0) for sample in SAMPLES for bins in (1024, 4096))
KEYS = tuple(Keys(keys, epsilon) for keys in (1000, 10_000) for epsilon in EPSILONS)
MEAN = tuple(Mean(sample, size, epsilon) for sample in UNBOUNDED for size in SIZES for epsilon in EPSILONS)
CASES: tuple[Case, ...] = (*QUANTILE, *QUANTILES, *RANGES, *KEYS, *MEAN)
ALONE = tuple(case for case in QUANTILES if len(case.alphas) * case.size <= MOST_ALONE)
"""The cases of many quantiles that slow contenders ask for one by one."""
