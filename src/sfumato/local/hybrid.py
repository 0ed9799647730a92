"""The mean by one of two mechanisms, drawn at random for each person: the hybrid mechanism of Wang et al."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.exact import ball, floor_of, integer
from sfumato.local.chances import read_epsilon
from sfumato.local.mean_reports import MeanProtocol
from sfumato.local.numbers import Numbers
from sfumato.local.one_of import OneOf
from sfumato.local.piecewise import PiecewiseMean
from sfumato.local.protocol import Drawn
from sfumato.local.reports import Layout
from sfumato.local.two_valued import TwoValuedMean

TOTAL = 1 << 30
"""The sum of the weights that `HybridMean.published` draws by."""


@final
@dataclass(frozen=True)
class HybridMean(MeanProtocol):
    """Each report is one of `TwoValuedMean` or of `PiecewiseMean`, drawn by public weights, and says which.

    Takes:      a grid of numbers, the loss of a report, and the two weights; `published` has those of the paper, which
                make the variance the same at all places
    Guarantee:  that of the two, which is the same  (proofs/local.md#one-of)
    Cost:       about 50 ns a report for many; messages of two bytes
    Best:       never: `DitheredMean` has a smaller variance at every ε (kept for comparison)

    >>> HybridMean.published(Numbers(0, 1), Pure(2)).weights
    (395007542, 678734282)
    """

    numbers: Numbers
    loss: Pure
    weights: tuple[int, int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))
        object.__setattr__(self, "weights", tuple(integer(one, "a weight", least=1) for one in self.weights))
        OneOf(self._parts, self.weights)  # refuses weights that it cannot draw by

    @classmethod
    def published(cls, numbers: Numbers, loss: Pure) -> HybridMean:
        """A share of e^(−ε/2) for the two-valued mechanism, rounded to 2⁻³⁰ (Wang et al. 2019)."""
        epsilon = Fraction(Pure(read_epsilon(loss)).epsilon)
        two_valued = floor_of(lambda: TOTAL * (-ball(epsilon) / 2).exp() + ball(Fraction(1, 2)))
        two_valued = min(max(two_valued, 1), TOTAL - 1)
        return cls(numbers, loss, (two_valued, TOTAL - two_valued))

    @cached_property
    def _asked(self) -> OneOf:
        return OneOf(self._parts, self.weights)

    @cached_property
    def _parts(self) -> tuple[TwoValuedMean, PiecewiseMean]:
        return TwoValuedMean(self.numbers, self.loss), PiecewiseMean(self.numbers, self.loss)

    @property
    def layout(self) -> Layout:
        """The cells of both."""
        return self._asked.layout

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The least and the largest reading of both."""
        lows, highs = zip(*(part.ends for part in self._parts), strict=True)
        return min(lows), max(highs)

    def randomizer(self) -> dict[str, Any]:
        """Those of both, and their weights."""
        return self._asked.randomizer()

    def domain(self) -> dict[str, Any]:
        """The public grid, for both."""
        return {"same": self.numbers.domain()}

    def input_of(self, value: Any) -> list[int]:
        """The place of a number, for either mechanism."""
        return [self.numbers.place(value)] * len(self._parts)

    def draw(self, inputs: NDArray[np.int64], entropy: Entropy) -> Drawn:
        """Draws which mechanism each person is asked by, and the reports."""
        return self._asked.draw((inputs,) * len(self._parts), entropy)

    def total(self, counts: NDArray[np.int64]) -> Fraction:
        """Each report is read as its own mechanism reads it."""
        two_valued, piecewise = self._parts
        return two_valued.total(counts[:2]) + piecewise.total(counts[2:])

    def variance(self, place: int) -> Fraction:
        """The mean of both: whichever is drawn, a reading has the same mean."""
        weighted = (weight * part.variance(place) for weight, part in zip(self.weights, self._parts, strict=True))
        return sum(weighted, Fraction(0)) / sum(self.weights)
