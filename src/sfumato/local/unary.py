"""Unary encoding: a bit for each value, each of them randomized by itself."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events.hiding import Hiding
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import ball, log_up
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon, weight_above, weight_below
from sfumato.local.device import BITS, WHOLE
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.protocol import Drawn
from sfumato.local.reports import Layout
from sfumato.local.values import Values
from sfumato.noise.coin_words import coin_words


@guarantee(
    claim="two values differ in two bits: epsilon = ln(p (1 - q) / ((1 - p) q)), rounded up",
    proof="proofs/local.md#bits",
    reviewed="dd21049af40d",
)
def bits_loss(truth: int, lie: int) -> Pure:
    """The loss of bits that are 1 with one chance for the value, with a smaller one for each other value."""
    return Pure(log_up(Fraction(truth * (WHOLE - lie), (WHOLE - truth) * lie)))


@final
@dataclass(frozen=True)
class UnaryEncoding(FrequencyProtocol):
    """A bit for each value: 1 with chance ``truth`` for the value of the sender, with chance ``lie`` for each other.

    Takes:      the values, and the two chances in multiples of 2⁻⁵³; `optimized`, `symmetric` and
                `thresholded` find them
    Guarantee:  loss = ln(p (1 − q) / ((1 − p) q))  (proofs/local.md#bits)
    Cost:       about 1.5 ns a bit for many; messages of a bit for each value
    Best:       `optimized`, for many values: variance 4 e^ε / (e^ε − 1)² a person, whatever the number of values

    >>> UnaryEncoding.optimized(Values(range(16)), Pure(1)).loss.epsilon <= 1
    True
    """

    values: Values
    truth: int
    lie: int
    loss: Pure

    def __post_init__(self) -> None:
        if not 0 < self.lie < self.truth < WHOLE:
            raise BadArgument("the chances", "0 < lie < truth < 2^53", (self.lie, self.truth))
        if bits_loss(self.truth, self.lie).epsilon > self.loss.epsilon:
            raise BadArgument("loss", "at least that of the chances", self.loss)

    @classmethod
    def optimized(cls, values: Values, loss: Pure) -> UnaryEncoding:
        """The chances of least variance for rare values: ½, and 1 / (e^ε + 1) rounded up (Wang et al. 2017)."""
        epsilon = read_epsilon(loss)
        return cls(values, WHOLE >> 1, weight_above(lambda: 1 / (ball(epsilon).exp() + 1)), Pure(epsilon))

    @classmethod
    def symmetric(cls, values: Values, loss: Pure) -> UnaryEncoding:
        """Both bits are told with the same chance, as in basic RAPPOR: e^(ε/2) / (e^(ε/2) + 1) rounded down."""
        epsilon = read_epsilon(loss)
        truth = weight_below(lambda: 1 / ((-ball(epsilon) / 2).exp() + 1))
        return cls(values, truth, WHOLE - truth, Pure(epsilon))

    @classmethod
    def thresholded(cls, values: Values, loss: Pure, *, threshold: Fraction | None = None) -> UnaryEncoding:
        """Histogram encoding with Laplace noise of scale 2/ε, of which only what is above a threshold is told.

        The threshold in (½, 1) of least variance is taken unless one is given. Bits tell less than noisy numbers would,
        so the loss is the smaller one of the bits.
        """
        epsilon = read_epsilon(loss)
        if threshold is None:
            tried = (Fraction(step, 256) for step in range(129, 256))
            threshold = min(tried, key=lambda at: _threshold_variance(float(epsilon), float(at)))
        if not Fraction(1, 2) < threshold < 1:
            raise BadArgument("threshold", "between 1/2 and 1", threshold)
        at = threshold
        truth = weight_below(lambda: 1 - (ball(epsilon) * ball(at - 1) / 2).exp() / 2)
        lie = weight_above(lambda: (-ball(epsilon) * ball(at) / 2).exp() / 2)
        return cls(values, truth, lie, bits_loss(truth, lie))

    @property
    def layout(self) -> Layout:
        """One bit for each value."""
        return Layout(1, len(self.values))

    @property
    def supports_truth(self) -> Fraction:
        """The chance of a 1 for the value of the sender."""
        return Fraction(self.truth, WHOLE)

    @property
    def supports_other(self) -> Fraction:
        """The chance of a 1 for another value."""
        return Fraction(self.lie, WHOLE)

    @property
    @guarantee(
        claim="a value owns the reports with its bit set; two such sets share q^2",
        proof="proofs/local.md#shuffling",
        reviewed="1fb3c2039bc0",
    )
    def hiding(self) -> Hiding:
        """A value owns the reports in which its bit is set."""
        return Hiding.of_bits(self.supports_truth, self.supports_other)

    def randomizer(self) -> dict[str, Any]:
        """The number of bits, and the two chances."""
        return {"kind": "bits", "cells": 1, "bits": len(self.values), "truth": self.truth, "lie": self.lie}

    def draw(self, inputs: NDArray[Any], entropy: Entropy) -> Drawn:
        """Draws reports for places: coins for all bits, and the bit of the value anew."""
        people, width = len(inputs), self.layout.words
        words = coin_words(self.lie, bits=BITS, count=people * width, entropy=entropy).reshape(people, width)
        if len(self.values) % 64:
            words[:, -1] &= np.uint64((1 << len(self.values) % 64) - 1)
        rows, columns = np.arange(people), inputs >> 6
        own = np.uint64(1) << (inputs & 63).astype(np.uint64)
        told = entropy.words(people) >> np.uint64(64 - BITS) < np.uint64(self.truth)
        words[rows, columns] = (words[rows, columns] & ~own) | np.where(told, own, np.uint64(0))
        return np.zeros(people, dtype=np.int64), words

    def support(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """A report supports the values whose bits are set."""
        return sums[0, 1:]


def _threshold_variance(epsilon: float, threshold: float) -> float:
    """About the variance of a rare value's count, for one person."""
    truth = 1 - np.exp(epsilon * (threshold - 1) / 2) / 2
    lie = np.exp(-epsilon * threshold / 2) / 2
    return float(lie * (1 - lie) / (truth - lie) ** 2)
