"""One randomized sign of a random column of a Hadamard matrix, whose rows stand for values."""

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
from sfumato.errors import BadArgument
from sfumato.exact import ball
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon, weight_below
from sfumato.local.device import BITS, WHOLE
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.protocol import Drawn
from sfumato.local.reports import Layout
from sfumato.local.values import Values
from sfumato.noise.uniform import below_many


@guarantee(
    claim="a public column and its sign, true with chance p <= e^epsilon / (e^epsilon + 1): p / (1 - p) <= e^epsilon",
    proof="proofs/local_sketches.md#sign",
    reviewed="4964b1ad087e",
)
def sign_weight(epsilon: Fraction) -> int:
    """The chance that a sign is true, rounded down, in 53 binary digits."""
    return weight_below(lambda: 1 / ((-ball(epsilon)).exp() + 1))


def hadamard_sums(signed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of the last axis with the signs of each row of a Hadamard matrix: Σ_c (−1)^⟨v, c⟩ x_c, in whole numbers.

    >>> hadamard_sums(np.array([0, 5, 0, 0])).tolist()
    [5, -5, 5, -5]
    """
    shape, width, table = signed.shape, 1, signed
    while width < shape[-1]:
        halves = table.reshape(*shape[:-1], -1, 2, width)
        one, two = halves[..., 0, :], halves[..., 1, :]
        table = np.stack([one + two, one - two], axis=-2)
        width *= 2
    return table.reshape(shape)


def sign_support(counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """How many reports, counted by number in the last axis, agree with each of ``size`` values."""
    by_column = counts.reshape(*counts.shape[:-1], size - 1, 2)
    signed = np.zeros((*counts.shape[:-1], size), dtype=np.int64)
    signed[..., 1:] = by_column[..., 0] - by_column[..., 1]
    support: NDArray[np.int64] = (counts.sum(axis=-1, keepdims=True) + hadamard_sums(signed)) >> 1
    return support


@final
@dataclass(frozen=True)
class HadamardSign(FrequencyProtocol):
    """A report is a public column of a Hadamard matrix, and the sign that the value's row has there, told or turned.

    Takes:      a number of values that is a power of 2, and the loss of a report
    Guarantee:  P(report | value) ≤ e^ε P(report | other value), reached up to 2⁻⁵³  (proofs/local_sketches.md#sign)
    Cost:       about 30 ns a report for many, and a fast transform of all counts; messages of a byte or a few
    Best:       as a part of sketches; its error is that of two buckets, and near the best for ε up to 1

    >>> HadamardSign(Values(range(256)), Pure(1)).layout.size
    2
    """

    values: Values
    loss: Pure

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))
        if len(self.values) & (len(self.values) - 1):
            raise BadArgument("the number of values", "a power of 2", len(self.values))

    @cached_property
    def _truth(self) -> int:
        return sign_weight(Fraction(self.loss.epsilon))

    @property
    def layout(self) -> Layout:
        """One cell for each column but the constant one, and sign."""
        return Layout(2 * (len(self.values) - 1))

    @property
    def supports_truth(self) -> Fraction:
        """The chance of the true sign."""
        return Fraction(self._truth, WHOLE)

    @property
    def supports_other(self) -> Fraction:
        """Two rows agree in m/2 − 1 of the m − 1 columns."""
        agree = Fraction(len(self.values) // 2 - 1, len(self.values) - 1)
        return agree * self.supports_truth + (1 - agree) * (1 - self.supports_truth)

    @property
    @guarantee(
        claim="a value owns the columns with its signs, half of all; two values share those where they agree",
        proof="proofs/local_sketches.md#shuffling",
        reviewed="9d0b15afe8b1",
    )
    def hiding(self) -> Hiding:
        """A value owns the half of reports that agree with it."""
        agree = Fraction(len(self.values) // 2 - 1, len(self.values) - 1)
        return Hiding(self.supports_truth, share=Fraction(1, 2), overlap=agree / 2)

    def randomizer(self) -> dict[str, Any]:
        """The number of columns and signs, and the chance of the truth."""
        return {"kind": "sign", "cells": self.layout.cells, "bits": 0, "truth": self._truth}

    def draw(self, inputs: NDArray[Any], entropy: Entropy) -> Drawn:
        """Draws columns, and their signs for places."""
        columns = below_many(len(self.values) - 1, count=len(inputs), entropy=entropy)
        entries = np.bitwise_count(inputs & (columns + 1)) & 1
        lying = entropy.words(len(inputs)) >> np.uint64(64 - BITS) >= np.uint64(self._truth)
        return 2 * columns + (entries ^ lying), np.zeros((len(inputs), 0), dtype=np.uint64)

    def support(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """A report supports the values that have its sign in its column."""
        return sign_support(sums[:, 0], len(self.values))
