"""Subset selection: a report is a set of values, all sets of one size, those with the sender's value likelier."""

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
from sfumato.exact import integer
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon
from sfumato.local.device import BITS, WHOLE
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.optimum import best_set, set_weight
from sfumato.local.protocol import Drawn
from sfumato.local.reports import Layout
from sfumato.local.values import Values
from sfumato.noise.subsets import subset_words


@final
@dataclass(frozen=True)
class SubsetSelection(FrequencyProtocol):
    """Subset selection: a report is a set of so many values, likelier one that holds the value of the sender.

    Takes:      the values, the loss of a report, and the size of the sets: the best one unless given
    Guarantee:  P(report | value) ≤ e^ε P(report | other value), reached up to 2⁻⁵³  (proofs/local.md#subsets)
    Cost:       about 1.5 ns a bit for many; messages of a bit for each value
    Best:       always: no protocol of unbiased counts has a smaller error (proofs/local.md#optimum); but others are as
                good in shorter messages: `Response` for few values, `GeometryResponse` for many

    >>> SubsetSelection(Values(range(1000)), Pure(1)).size
    269
    """

    values: Values
    loss: Pure
    size: int | None = None

    def __post_init__(self) -> None:
        epsilon = read_epsilon(self.loss)
        object.__setattr__(self, "loss", Pure(epsilon))
        chosen = best_set(len(self.values), epsilon) if self.size is None else self.size
        object.__setattr__(self, "size", integer(chosen, "size", least=1, most=len(self.values) - 1))

    @property
    def _ones(self) -> int:
        return self.size or 1

    @cached_property
    def _truth(self) -> int:
        return set_weight(Fraction(self.loss.epsilon), self._ones, len(self.values) - self._ones)

    @property
    def layout(self) -> Layout:
        """One bit for each value, as many of them set as a set has values."""
        return Layout(1, len(self.values), ones=self._ones)

    @property
    def supports_truth(self) -> Fraction:
        """The chance of a set that holds the value of the sender."""
        return Fraction(self._truth, WHOLE)

    @cached_property
    def supports_other(self) -> Fraction:
        """The chance that another value is in the set: what the sender's leaves of it, over all others."""
        return (self._ones - self.supports_truth) / (len(self.values) - 1)

    @property
    @guarantee(
        claim="of k values, m are reported: those with the own one have chance p",
        proof="proofs/local.md#shuffling",
        reviewed="6942b04a05c7",
    )
    def hiding(self) -> Hiding:
        """A value owns the sets that hold it."""
        return Hiding.of_subsets(len(self.values), self._ones, self.supports_truth)

    def randomizer(self) -> dict[str, Any]:
        """The number of values, the size of sets, and the chance that the sender's is in it."""
        return {"kind": "subset", "cells": 1, "bits": len(self.values), "truth": self._truth, "ones": self._ones}

    def draw(self, inputs: NDArray[Any], entropy: Entropy) -> Drawn:
        """Draws sets of the other values, and joins the own one where the truth is told."""
        people = len(inputs)
        told = entropy.words(people) >> np.uint64(64 - BITS) < np.uint64(self._truth)
        words = subset_words(len(self.values), self._ones - told, without=inputs, entropy=entropy)
        words[np.arange(people), inputs >> 6] |= told.astype(np.uint64) << (inputs & 63).astype(np.uint64)
        return np.zeros(people, dtype=np.int64), words

    def support(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """A report supports the values in its set."""
        counts: NDArray[np.int64] = sums[0, 1:]
        return counts
