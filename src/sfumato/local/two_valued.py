"""The mean from one bit of each person: the two-valued mechanism of Duchi, Jordan and Wainwright."""

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
from sfumato.exact import ball
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon, weight_below
from sfumato.local.device import BITS, WHOLE
from sfumato.local.mean_reports import MeanProtocol
from sfumato.local.numbers import Numbers
from sfumato.local.protocol import Drawn
from sfumato.local.reports import Layout


@guarantee(
    claim="chances of a 1 that rise evenly from l to 1 - l over all places, (1 - l) / l <= e^epsilon",
    proof="proofs/local_numbers.md#slope",
    reviewed="d4fe5ea54485",
)
def slope_weights(epsilon: Fraction, steps: int) -> tuple[int, int]:
    """The chance of a 1 at the first place, and by what it rises to the next, in multiples of 2⁻⁵³.

    It rises by 8 at least: for the least loss of a report (10⁻⁹) and the most steps of a grid (2¹⁹).

    >>> slope_weights(Fraction(1, 10**9), 1 << 19)[1]
    8
    """
    rise = weight_below(lambda: (ball(epsilon) / 2).tanh()) // steps
    rise -= (rise * steps) % 2  # so that the chances of a 1 at one end and of a 0 at the other are the same
    return (WHOLE - rise * steps) // 2, rise


@final
@dataclass(frozen=True)
class TwoValuedMean(MeanProtocol):
    """A report is one bit, whose chance of being 1 rises in proportion to the number.

    Takes:      a grid of numbers, and the loss of a report
    Guarantee:  P(report | number) ≤ e^ε P(report | other), reached up to steps · 2⁻⁵³  (proofs/local_numbers.md#slope)
    Cost:       about 10 ns a report for many; messages of one byte
    Best:       small ε: variance D² − x² on −1 … 1, with D = (e^ε + 1) / (e^ε − 1)

    >>> TwoValuedMean(Numbers(0, 100), Pure(1)).layout.size
    1
    """

    numbers: Numbers
    loss: Pure

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))

    @cached_property
    def _weights(self) -> tuple[int, int]:
        return slope_weights(Fraction(self.loss.epsilon), self.numbers.steps)

    @property
    def layout(self) -> Layout:
        """A cell for each value of the bit."""
        return Layout(2)

    @property
    @guarantee(
        claim="a number is rounded to a bound at random, and that answered by response on 2 options",
        proof="proofs/local_numbers.md#hiding",
        reviewed="f2ac30354334",
    )
    def hiding(self) -> Hiding:
        """That of randomized response between the bounds."""
        return Hiding.of_response(2, Fraction(WHOLE - self._weights[0], WHOLE))

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The readings of the two reports."""
        first, rise = self._weights
        return Fraction(-first, rise), Fraction(WHOLE - first, rise)

    def randomizer(self) -> dict[str, Any]:
        """The chance of a 1 at the first place, and by what it rises."""
        first, rise = self._weights
        return {"kind": "slope", "cells": 2, "bits": 0, "low": first, "step": rise}

    def draw(self, inputs: NDArray[np.int64], entropy: Entropy) -> Drawn:
        """Draws a bit for each place."""
        first, rise = self._weights
        drawn = (entropy.words(len(inputs)) >> np.uint64(64 - BITS)).astype(np.int64)
        return (drawn < first + rise * inputs).astype(np.int64), np.zeros((len(inputs), 0), dtype=np.uint64)

    def total(self, counts: NDArray[np.int64]) -> Fraction:
        """A 1 counts as the larger end, a 0 as the smaller one."""
        return int(counts[0]) * self.ends[0] + int(counts[1]) * self.ends[1]

    def variance(self, place: int) -> Fraction:
        """That of a coin, over the square of what a step adds to its chance."""
        rise, middle = self._weights[1], Fraction(self.numbers.steps, 2)
        return Fraction(WHOLE, 2 * rise) ** 2 - (place - middle) ** 2
