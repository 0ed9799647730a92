"""Which of two values that belong together: differences of pairs of values, from one bit under a public mask.

Values 2i and 2i + 1 are a pair. A device draws a row of a Hadamard matrix, and randomizes its entry at the pair, with a
minus for the second value. Differences are all that a Haar wavelet needs of a level (Cormode, Kulkarni and Srivastava
2019, arXiv 1812.10942, section 4.4), and one sign tells of them more than counts of both values would.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon
from sfumato.local.device import WHOLE
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.published import listed_domain
from sfumato.local.reports import Layout
from sfumato.local.response import respond, truth_weight
from sfumato.local.values import Values
from sfumato.noise.uniform import below_many


@guarantee(
    claim="a public row, and its signed entry by randomized response over 2: P(report | v) <= e^epsilon P(report | w)",
    proof="proofs/local_several.md#signs",
    reviewed="01caf20d909c",
)
def sign_weight(epsilon: Fraction) -> int:
    """The chance that a report is made of the true sign, rounded down, in 53 binary digits."""
    return truth_weight(epsilon, 2)


@final
@dataclass(frozen=True)
class SignedResponse(LocalProtocol[NDArray[np.float64]]):
    """The differences of the shares of pairs of values: the first and the second, the third and the fourth, and so on.

    Takes:      the values, and the loss of a report
    Guarantee:  P(report | value) ≤ e^ε P(report | other value), reached up to 2⁻⁵³  (proofs/local_several.md#signs)
    Cost:       messages of a byte or a few; a fast transform of all sums
    Best:       variance ((e^ε + 1) / (e^ε − 1))² a person for each difference, whatever the number of values

    >>> SignedResponse(Values(range(100)), Pure(1)).layout.cells
    128
    """

    values: Values
    loss: Pure

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))

    @cached_property
    def _truth(self) -> int:
        return sign_weight(Fraction(self.loss.epsilon))

    @property
    def pairs(self) -> int:
        """The number of pairs; the second value of the last one may be missing."""
        return (len(self.values) + 1) // 2

    @property
    def rows(self) -> int:
        """The order of the Hadamard matrix: the least power of 2 that is not below the number of pairs."""
        return 1 << (self.pairs - 1).bit_length()

    @property
    def truth(self) -> Fraction:
        """The mean of a reported sign times the true one."""
        return Fraction(self._truth, WHOLE)

    @property
    def layout(self) -> Layout:
        """A cell for each row and sign."""
        return Layout(2 * self.rows)

    def randomizer(self) -> dict[str, Any]:
        """The number of cells, and the chance of the truth."""
        return {"kind": "signs", "cells": 2 * self.rows, "bits": 0, "truth": self._truth}

    def domain(self) -> dict[str, Any]:
        """The public list of values."""
        return listed_domain(self.values)

    def input_of(self, value: Any) -> int:
        """The place of a value in the list."""
        return self.values.place(value)

    def inputs_of(self, values: Any) -> NDArray[np.int64]:
        """The places of many values."""
        return self.values.places(values)

    def draw(self, inputs: NDArray[np.int64], entropy: Entropy) -> Drawn:
        """Draws rows, and answers with randomized signs."""
        rows = below_many(self.rows, count=len(inputs), entropy=entropy)
        ones = np.bitwise_count((rows & inputs >> 1).astype(np.uint64)).astype(np.int64)
        signs = respond((ones + inputs) & 1, 2, self._truth, entropy)
        return 2 * rows + signs, np.zeros((len(inputs), 0), dtype=np.uint64)

    def estimate(self, tally: Tally) -> NDArray[np.float64]:
        """For each pair the share of its first value less that of its second, unbiased; no number without reports."""
        seen = tally.sums[0::2, 0] - tally.sums[1::2, 0]
        if not tally.users:
            return np.full(self.pairs, np.nan)
        differences: NDArray[np.float64] = hadamard(seen)[: self.pairs] / float(self.truth * tally.users)
        return differences


def hadamard(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Σ over rows r of sums[r] (−1)^⟨r, i⟩, for every i; whole numbers, without any rounding.

    >>> hadamard(np.array([3, 1, 0, 0])).tolist()
    [4, 2, 4, 2]
    """
    table, width = sums.astype(np.int64), 1
    while width < len(table):
        halves = table.reshape(-1, 2, width)
        table = np.stack((halves[:, 0] + halves[:, 1], halves[:, 0] - halves[:, 1]), axis=1).reshape(-1)
        width *= 2
    return table
