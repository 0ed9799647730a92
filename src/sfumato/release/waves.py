"""Widths of many weighted sums of independent noises at once, by their characteristic functions.

`sum_above` finds one quantile at a time, and to the step. Here a width for every row of a table of weights is found
together, outward, at the speed of NumPy. A sum is blurred a little, by a variable of bounded size, so that its
characteristic function ends somewhere; the law that is put together again from it is wrapped around a circle, so large
that next to nothing reaches around. What is left out, wrapped or lost to floats is taken off the chance to miss.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.exact import root, up
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace

Floats: TypeAlias = NDArray[np.float64]
Wave: TypeAlias = DiscreteLaplace | DiscreteGaussian
"""Noises with characteristic functions in closed form."""

BLUR, FOLDS = 0.02, 4
"""The sum is blurred by at most this share of its standard deviation, by this many uniform variables."""

WRAPPED, LEFT_OUT, FLOATS = 1e-3, 5e-3, 1e-9
"""What may reach around the circle, and what frequencies that are left out may do, as shares of the chance to miss;
and what floats may do to a probability."""

TINY = 1e-300
"""What weights of 0 are divided as."""

RAREST = 1e-7
"""For smaller chances to miss than this, floats are too coarse: Chernoff's bound is near enough then."""

FEWEST, MOST = 128, 1 << 17
"""Frequencies to begin with, and the most that are tried."""

OCTAVES = 20
"""What is left out is bounded on this many octaves of frequencies one by one; beyond, by the blur alone."""

AT_ONCE = 1 << 21
"""Cells of the table of frequencies that are held at once."""

HALVINGS = 15
"""How often the range in which a width lies is halved."""

TILTS = (0.02, 0.1, 0.3, 0.6, 0.8, 0.9, 0.97)
"""Where Chernoff's bound is tried, as shares of the steepest tilt; and of Gaussian noise, of 12 deviations."""


def widths(noises: Sequence[Wave], weights: Floats, times: Sequence[int], missed: float) -> Floats:
    """Finds for each row of weights a t that the sum of the weighted noises is beyond, on either side, rarely enough.

    Column i of ``weights`` are those of noise i, of which ``times[i]`` independent copies are added up: P(|W| > t) is
    at most ``missed``, and t is the least such, or a few hundredths of a standard deviation above it
    (proofs/accuracy.md#waves).

    >>> from fractions import Fraction
    >>> widths([DiscreteLaplace(Fraction(10))], np.ones((1, 1)), [1], 0.05).round(1)
    array([30.3])
    """
    table = _Sums(tuple(map(_shape, noises)), np.abs(np.asarray(weights, dtype=np.float64)), tuple(times))
    bounds = table.reach(missed)
    if missed >= RAREST:
        circles = 2 * (table.reach(WRAPPED * missed) + BLUR * table.spread)
        todo, count = np.flatnonzero(bounds > 0), FEWEST
        while len(todo) and count <= MOST:
            size = max(1, AT_ONCE // count)
            parts = [todo[start : start + size] for start in range(0, len(todo), size)]
            unready = [part[table.rows(part).improve(bounds, part, circles[part], missed, count)] for part in parts]
            todo, count = np.concatenate(unready), 2 * count
    return bounds * (1 + 1e-12)


@final
@dataclass(frozen=True, eq=False)
class _Sums:
    """A table of sums: a row for each, and a column of weights for each noise."""

    shapes: tuple[_Shape, ...]
    weights: Floats
    times: tuple[int, ...]

    def rows(self, places: NDArray[np.intp]) -> _Sums:
        return _Sums(self.shapes, self.weights[places], self.times)

    @property
    def _columns(self) -> Iterator[tuple[_Shape, Floats, int]]:
        return zip(self.shapes, self.weights.T, self.times, strict=True)

    @cached_property
    def spread(self) -> Floats:
        """The standard deviations of the sums, about."""
        return np.sqrt(sum(((weight * shape.deviation) ** 2 * many for shape, weight, many in self._columns), 0.0))

    def reach(self, missed: float) -> Floats:
        """Bounds what each sum is beyond with a probability of at most ``missed``, by Chernoff."""
        steepest = np.min([shape.steepest / np.maximum(weight, TINY) for shape, weight, _ in self._columns], axis=0)
        bounds = np.full(len(self.weights), np.inf)
        for share in TILTS:
            tilt = share * steepest
            moment = sum((many * shape.log_moment(tilt * weight) for shape, weight, many in self._columns), 0.0)
            bounds = np.minimum(bounds, (math.log(2 / missed) + moment) / tilt)
        return np.where(self.spread > 0, bounds, 0.0)

    def improve(
        self, bounds: Floats, places: NDArray[np.intp], circle: Floats, missed: float, count: int
    ) -> NDArray[np.bool_]:
        """Computes widths from ``count`` frequencies, where these are enough; tells where they are not."""
        left = self._left_out(2 * math.pi / circle * count)
        ready = left <= LEFT_OUT * missed
        if ready.any():
            part = self.rows(np.flatnonzero(ready))
            allowed = missed * (1 - WRAPPED) - left[ready] - FLOATS
            least = part._least(circle[ready], allowed, bounds[places[ready]], count)
            bounds[places[ready]] = np.minimum(bounds[places[ready]], least + BLUR * part.spread)
        return ~ready

    def _least(self, circle: Floats, allowed: Floats, most: Floats, count: int) -> Floats:
        """The least t, between 0 and ``most``, beyond which the blurred sum is no likelier than allowed."""
        steps = np.arange(1, count + 1)
        base = 2 * math.pi / circle
        waves = self._law(base[:, None] * steps) * (2 / math.pi) / steps
        low, high = np.zeros(len(circle)), np.minimum(most, circle / 2)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            inside = 2 * middle / circle + _sines(waves, base * middle)
            enough = 1 - inside <= allowed
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    def _law(self, frequencies: Floats) -> Floats:
        """The characteristic function of each blurred sum at its frequencies."""
        blur = np.sinc((BLUR / FOLDS / math.pi) * self.spread[:, None] * frequencies) ** FOLDS
        for shape, weight, many in self._columns:
            blur *= shape.characteristic(weight[:, None] * frequencies) ** many
        return blur

    def _left_out(self, last: Floats) -> Floats:
        """Bounds what frequencies beyond the last one can add up to: octave by octave, by the largest value in each."""
        start = last[:, None] * 2.0 ** np.arange(OCTAVES + 1)
        bound = np.minimum(1.0, (BLUR / FOLDS * self.spread[:, None] * start) ** -float(FOLDS))
        rest = bound[:, -1] / (1 - 2.0**-FOLDS) + (bound[:, -1] == 1)  # all further octaves, by what blurring leaves
        for shape, weight, many in self._columns:
            turned = weight[:, None] * start
            bound *= np.where(2 * turned <= math.pi, shape.characteristic(turned) ** many, 1.0)
        return np.asarray((bound[:, :-1].sum(axis=1) + rest) * (math.log(2) * 2 / math.pi))


def _sines(waves: Floats, angles: Floats) -> Floats:
    """Adds up the k-th number of a row times the sine of k angles; 1 + a + size · b for k, so that sines are few."""
    size = 1 << (waves.shape[1].bit_length() // 2)
    near = angles[:, None] * np.arange(1, size + 1)
    far = angles[:, None] * np.arange(0, waves.shape[1], size)
    parts = waves.reshape(len(waves), -1, size) @ np.stack([np.sin(near), np.cos(near)], axis=2)
    return np.asarray((parts[..., 0] * np.cos(far) + parts[..., 1] * np.sin(far)).sum(axis=1))


@final
@dataclass(frozen=True)
class _Shape:
    """A noise in floats: ``size`` is sinh(1 / 2r) for Laplace noise of scale r, and the scale for Gaussian noise."""

    laplace: bool
    size: float
    steepest: float

    @property
    def deviation(self) -> float:
        """The standard deviation, about."""
        return math.sqrt(0.5) / self.size if self.laplace else self.size

    def log_moment(self, tilt: Floats) -> Floats:
        """Bounds ln E exp(tilt · Z) from above."""
        if self.laplace:
            return np.asarray(-np.log1p(-((np.sinh(tilt / 2) / self.size) ** 2)))
        return np.asarray((self.size * tilt) ** 2 / 2)

    def characteristic(self, turned: Floats) -> Floats:
        """The characteristic function: E cos(turned · Z), for noise is symmetric. From 0 to π it falls."""
        if self.laplace:
            return np.asarray(1 / (1 + (np.sin(turned / 2) / self.size) ** 2))
        if self.size < 1:  # few whole numbers have weight
            values = np.arange(-12, 13)
            masses = np.exp(-(values**2) / (2 * max(self.size, 1e-3) ** 2))
            return np.asarray(np.cos(turned[..., None] * values) @ (masses / masses.sum()))
        near = np.abs(turned - 2 * math.pi * np.rint(turned / (2 * math.pi)))
        both = np.exp(-((self.size * near) ** 2) / 2) + np.exp(-((self.size * (2 * math.pi - near)) ** 2) / 2)
        return np.asarray(both / (1 + 2 * math.exp(-2 * (math.pi * self.size) ** 2)))


@lru_cache(maxsize=4096)
def _shape(noise: Wave) -> _Shape:
    if isinstance(noise, DiscreteLaplace):
        rate = min(max(float(1 / (2 * noise.scale)), 1e-150), 300.0)
        return _Shape(laplace=True, size=math.sinh(rate), steepest=2 * rate)
    scale = up(root(noise.square))
    return _Shape(laplace=False, size=scale, steepest=12 / scale)
