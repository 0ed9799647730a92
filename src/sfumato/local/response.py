"""Randomized response over a list of values: the truth with some chance, else any value alike."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting import events
from sfumato.accounting.events.hiding import Hiding
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
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
    claim="truth with chance t, else any of k alike: P(truth) / P(other) = 1 + k t / (1 - t) <= e^epsilon",
    proof="proofs/local.md#response",
    reviewed="933f5018faf9",
)
def truth_weight(epsilon: Fraction, options: int) -> int:
    """The chance of a report made of the truth, rounded down, in 53 binary digits."""
    return weight_below(lambda: ball(epsilon).expm1() / (ball(epsilon).expm1() + options))


def respond(places: NDArray[np.int64], options: int, truth: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draws a response for each place: the place itself with chance truth / 2⁵³, else any of the options alike."""
    lying = np.flatnonzero(entropy.words(len(places)) >> np.uint64(64 - BITS) >= np.uint64(truth))
    reported = places.copy()
    reported[lying] = below_many(options, count=len(lying), entropy=entropy)
    return reported


@final
@dataclass(frozen=True)
class Response(FrequencyProtocol):
    """Generalised randomized response: a report is one of the values.

    Takes:      the values, and the loss of a report
    Guarantee:  P(report | value) ≤ e^ε P(report | other value), reached up to 2⁻⁵³  (proofs/local.md#response)
    Cost:       about 30 ns a report for many; messages of a byte or a few
    Best:       for fewer than about 3 e^ε + 2 values, where its variance is the least of all protocols

    >>> Response(Values(["yes", "no"]), Pure(1)).layout.size
    1
    """

    values: Values
    loss: Pure

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))

    @cached_property
    def _truth(self) -> int:
        return truth_weight(Fraction(self.loss.epsilon), len(self.values))

    @property
    def layout(self) -> Layout:
        """One cell for each value."""
        return Layout(len(self.values))

    @property
    def event(self) -> events.Event:
        """Randomized response over so many options."""
        return events.Response(Fraction(self.loss.epsilon), len(self.values))

    @property
    def supports_other(self) -> Fraction:
        """The chance of one other value."""
        return Fraction(WHOLE - self._truth, WHOLE * len(self.values))

    @property
    def supports_truth(self) -> Fraction:
        """The chance of the true value: of all that are drawn without looking, some are true too."""
        return Fraction(self._truth, WHOLE) + self.supports_other

    @property
    @guarantee(
        claim="each of k values owns one report, of its chance of the truth",
        proof="proofs/local.md#shuffling",
        reviewed="10b75c2d3499",
    )
    def hiding(self) -> Hiding:
        """A value owns itself."""
        return Hiding.of_response(len(self.values), self.supports_truth)

    def randomizer(self) -> dict[str, Any]:
        """The number of cells, and the chance of the truth."""
        return {"kind": "response", "cells": len(self.values), "bits": 0, "truth": self._truth}

    def draw(self, inputs: NDArray[Any], entropy: Entropy) -> Drawn:
        """Draws reports for places."""
        cells = respond(inputs, len(self.values), self._truth, entropy)
        return cells, np.zeros((len(cells), 0), dtype=np.uint64)

    def support(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """A report supports the value that it names."""
        return sums[:, 0]
