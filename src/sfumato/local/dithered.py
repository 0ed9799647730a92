"""The mean from a level of each person, rounded by a public random offset and answered by randomized response.

A number is rounded to one of a few levels: up or down, as a uniform random offset says that is part of the report and
tells nothing of the number. The level is answered by randomized response. The collector reads the level and takes
off what the offset had added (subtractive dither, as pictures are coded with few grey levels: Roberts 1962). Levels and
offset together are a cell, and a report is one of `Window`: levels follow each other, and in each of them all offsets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events.hiding import Hiding
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.local.chances import read_epsilon
from sfumato.local.mean_reports import MeanProtocol
from sfumato.local.numbers import Numbers
from sfumato.local.protocol import Drawn
from sfumato.local.reports import Layout
from sfumato.local.windows import Window

MOST_CELLS = 1 << 20
"""The most cells: a tally has a count for each."""


@final
@dataclass(frozen=True)
class DitheredMean(MeanProtocol):
    """A report is a public random offset, and the randomized level to which that offset rounds the number.

    Takes:      a grid of numbers, the loss of a report, and the number of levels; `best` finds it
    Guarantee:  P(report | number) ≤ e^ε P(report | other), reached up to 2⁻⁵³  (proofs/local_numbers.md#window)
    Cost:       about 20 ns a report for many; messages of two or three bytes
    Best:       at every ε: with two levels variance D² − ⅔ on −1 … 1, with D = (e^ε + 1) / (e^ε − 1); with more for
                large ε, about 1.6 e^(−2ε/3)

    >>> DitheredMean.best(Numbers(0, 100), Pure(1)).levels, DitheredMean.best(Numbers(0, 100), Pure(4)).levels
    (2, 4)
    """

    numbers: Numbers
    loss: Pure
    levels: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))
        object.__setattr__(self, "levels", integer(self.levels, "levels", least=2))
        if self._geometry[1] * self.levels > MOST_CELLS:
            raise BadArgument("levels", "fewer, or a divisor of the steps plus 1: a tally has 2^20 cells", self.levels)

    @classmethod
    def best(cls, numbers: Numbers, loss: Pure) -> DitheredMean:
        """The number of levels with the least variance in the worst place."""
        epsilon = float(Pure(read_epsilon(loss)).epsilon)
        most = min(numbers.steps + 1, 4 + math.ceil(4 * math.exp(epsilon / 3)))
        tried = (
            cls(numbers, loss, gaps + 1)
            for gaps in range(1, most)
            if numbers.steps // math.gcd(numbers.steps, gaps) * (gaps + 1) <= MOST_CELLS
        )
        return min(tried, key=lambda protocol: protocol.variance(0))

    @cached_property
    def _geometry(self) -> tuple[int, int]:
        """The stride and the width of windows: a level is as wide as all strides together over the gaps of levels."""
        gaps, steps = self.levels - 1, self.numbers.steps
        shared = math.gcd(gaps, steps)
        return gaps // shared, steps // shared

    @cached_property
    def window(self) -> Window:
        """The windows: as wide as a level, so that each has every offset once."""
        stride, width = self._geometry
        return Window.of(Fraction(self.loss.epsilon), steps=self.numbers.steps, stride=stride, width=width)

    @cached_property
    def _slack(self) -> int:
        """How much closer to the middle an offset is read, in half cells: what the ends of the grid can bear."""
        told = self.window.told
        return min(self.window.width, math.floor(self.window.width * (self.levels - 2) * (1 - told) / told))

    @property
    def _scale(self) -> tuple[Fraction, Fraction]:
        """What a level and what an offset of half a cell count, in steps."""
        window = self.window
        return Fraction(self.numbers.steps, self.levels - 1) / window.told, Fraction(1, 2 * window.stride)

    @cached_property
    def _offsets(self) -> NDArray[np.int64]:
        """How each offset is read, in half cells: with a sum of 0, so that readings are unbiased."""
        away = 2 * np.arange(self.window.width) + 1 - self.window.width
        read: NDArray[np.int64] = np.sign(away) * np.maximum(np.abs(away) - self._slack, 0)
        return read

    @property
    def layout(self) -> Layout:
        """A cell for each level and offset."""
        return Layout(self.window.cells)

    @property
    def hiding(self) -> Hiding:
        """A place owns its window."""
        return self.window.hiding

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The readings of the first and the last cell."""
        level, offset = self._scale
        middle = Fraction(self.numbers.steps, 2)
        away = level * Fraction(self.levels - 1, 2) + offset * max(0, self.window.width - 1 - self._slack)
        return middle - away, middle + away

    def randomizer(self) -> dict[str, Any]:
        """That of the windows."""
        return self.window.randomizer()

    def draw(self, inputs: NDArray[np.int64], entropy: Entropy) -> Drawn:
        """Draws a cell for each place."""
        return self.window.draw(inputs, entropy), np.zeros((len(inputs), 0), dtype=np.uint64)

    def total(self, counts: NDArray[np.int64]) -> Fraction:
        """A level counts its distance from the middle one over the chance that it is told; offsets are added."""
        table = counts.reshape(self.levels, self.window.width)
        twice_away = 2 * np.arange(self.levels) + 1 - self.levels
        levels, offsets = int(table.sum(axis=1) @ twice_away), int(table.sum(axis=0) @ self._offsets)
        level, offset = self._scale
        return Fraction(self.numbers.steps * int(counts.sum()), 2) + level * levels / 2 + offset * offsets

    def variance(self, place: int) -> Fraction:
        """The exact variance, largest at the ends of the grid  (proofs/local_numbers.md#dithered)."""
        width, told = self.window.width, self.window.told
        whole, part = divmod(self.window.stride * place, width)
        twice = 2 * whole + 1 - self.levels  # twice the distance of the lower level from the middle
        level, offset = self._scale
        squares = Fraction(twice**2 * (width - part) + (twice + 2) ** 2 * part, 4 * width)
        crossed = Fraction(int(self._offsets[:part].sum()), width)
        # E reading² = E offset² + level² (told · E own² + (1 − told) · E any²) + 2 told · level · offset · E own
        guess = told * squares + (1 - told) * Fraction(self.levels**2 - 1, 12)
        reading = self._offset_square * offset**2 + level**2 * guess + 2 * told * level * offset * crossed
        return reading - (place - Fraction(self.numbers.steps, 2)) ** 2

    @cached_property
    def _offset_square(self) -> Fraction:
        """The mean of the square of an offset as it is read, in half cells."""
        return Fraction(int((self._offsets**2).sum()), self.window.width)
