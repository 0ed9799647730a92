"""The mean from a number of each person that lies near the own one with some chance: the piecewise mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events.hiding import Hiding
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.exact import ball, floor_of
from sfumato.local.chances import read_epsilon
from sfumato.local.mean_reports import MeanProtocol
from sfumato.local.numbers import Numbers
from sfumato.local.protocol import Drawn
from sfumato.local.reports import Layout
from sfumato.local.windows import Window


@final
@dataclass(frozen=True)
class PiecewiseMean(MeanProtocol):
    """A report is a cell: with some chance of a window that begins in proportion to the number, else any.

    Takes:      a grid of numbers, and the loss of a report
    Guarantee:  P(report | number) ≤ e^ε P(report | other), reached up to 2⁻⁵³  (proofs/local_numbers.md#window)
    Cost:       about 20 ns a report for many; messages of two bytes
    Best:       never: `DitheredMean` has a smaller variance at every ε (kept for comparison)

    >>> PiecewiseMean(Numbers(0, 100), Pure(1)).layout.cells
    44534
    """

    numbers: Numbers
    loss: Pure

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))

    @cached_property
    def window(self) -> Window:
        """The windows of least variance in the worst place: e^(−ε/2) as wide as all their beginnings (Wang et al.)."""
        epsilon, steps = Fraction(self.loss.epsilon), self.numbers.steps
        around = floor_of(lambda: steps * (-ball(epsilon) / 2).exp())
        tried = (Window.of(epsilon, steps=steps, stride=1, width=max(1, around + more)) for more in (0, 1))
        return min(tried, key=lambda window: window_variance(window, 0))

    @property
    def layout(self) -> Layout:
        """The cells of all windows."""
        return Layout(self.window.cells)

    @property
    def hiding(self) -> Hiding:
        """A place owns its window."""
        return self.window.hiding

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The readings of the first and the last cell."""
        return self._reading(0), self._reading(self.window.cells - 1)

    def _reading(self, cell: int) -> Fraction:
        window = self.window
        return Fraction(self.numbers.steps, 2) + (cell - Fraction(window.cells - 1, 2)) / (window.told * window.stride)

    def randomizer(self) -> dict[str, Any]:
        """That of the windows."""
        return self.window.randomizer()

    def draw(self, inputs: NDArray[np.int64], entropy: Entropy) -> Drawn:
        """Draws a cell for each place."""
        return self.window.draw(inputs, entropy), np.zeros((len(inputs), 0), dtype=np.uint64)

    def total(self, counts: NDArray[np.int64]) -> Fraction:
        """Cells are read in proportion to their distance from the middle one."""
        reports, cells = int(counts.sum()), int(counts @ np.arange(len(counts)))
        first, step = self._reading(0), self._reading(1) - self._reading(0)
        return reports * first + cells * step

    def variance(self, place: int) -> Fraction:
        """That of a mixture of two uniform laws."""
        return window_variance(self.window, place)


def window_variance(window: Window, place: int) -> Fraction:
    """The variance of a cell, over the square of what a step adds to its mean."""
    told, away = window.told, window.stride * (place - Fraction(window.steps, 2))
    own, any_ = Fraction(window.width**2 - 1, 12), Fraction(window.cells**2 - 1, 12)
    return (told * own + (1 - told) * any_ + told * (1 - told) * away**2) / (told * window.stride) ** 2
