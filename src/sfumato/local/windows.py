"""Reports that are a cell of a window with some chance, and else any cell: the law of many reports on numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events.hiding import Hiding
from sfumato.entropy import Entropy
from sfumato.exact import ball
from sfumato.guarantee import guarantee
from sfumato.local.chances import weight_below
from sfumato.local.device import BITS, WHOLE
from sfumato.noise.uniform import below_many


@guarantee(
    claim="a cell of w out of c with chance t, else any: P(inside) / P(outside) = 1 + t c / ((1 - t) w) <= e^epsilon",
    proof="proofs/local_numbers.md#window",
    reviewed="4b609882485a",
)
def window_weight(epsilon: Fraction, *, cells: int, width: int) -> int:
    """The chance of a cell of one's own window, rounded down, in 53 binary digits."""
    return weight_below(lambda: ball(epsilon).expm1() / (ball(epsilon).expm1() + ball(Fraction(cells, width))))


@final
@dataclass(frozen=True)
class Window:
    """Windows of ``width`` cells, one for each place: each begins ``stride`` cells after that of the place before.

    ``truth``, in multiples of 2⁻⁵³, is the chance of a cell of one's own window; else any cell is drawn, of all alike.
    """

    steps: int
    stride: int
    width: int
    truth: int

    @classmethod
    def of(cls, epsilon: Fraction, *, steps: int, stride: int, width: int) -> Window:
        """Windows whose reports keep ε."""
        return cls(steps, stride, width, window_weight(epsilon, cells=stride * steps + width, width=width))

    @property
    def cells(self) -> int:
        """How many cells there are: from the first of the first window to the last of the last one."""
        return self.stride * self.steps + self.width

    @property
    def told(self) -> Fraction:
        """The chance that a cell is drawn from one's own window on purpose."""
        return Fraction(self.truth, WHOLE)

    @property
    def outside(self) -> Fraction:
        """The chance of one cell outside of the window."""
        return (1 - self.told) / self.cells

    @property
    def inside(self) -> Fraction:
        """The chance of one cell of the window."""
        return self.told / self.width + self.outside

    @property
    @guarantee(
        claim="a place owns its window of w out of c cells; two windows share at least max(0, 2 w - c) cells",
        proof="proofs/local_numbers.md#hiding",
        reviewed="fcc45f3e7dde",
    )
    def hiding(self) -> Hiding:
        """A place owns its window."""
        share = Fraction(self.width, self.cells)
        return Hiding(self.width * self.inside, share=share, overlap=max(Fraction(0), 2 * share - 1))

    def randomizer(self) -> dict[str, Any]:
        """What a device needs to know."""
        return {
            "kind": "window",
            "cells": self.cells,
            "bits": 0,
            "stride": self.stride,
            "width": self.width,
            "truth": self.truth,
        }

    def draw(self, places: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
        """Draws a cell for each place."""
        told = entropy.words(len(places)) >> np.uint64(64 - BITS) < np.uint64(self.truth)
        cells = below_many(self.cells, count=len(places), entropy=entropy)
        own = np.flatnonzero(told)
        cells[own] = self.stride * places[own] + below_many(self.width, count=len(own), entropy=entropy)
        return cells
