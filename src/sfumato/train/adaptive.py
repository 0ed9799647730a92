"""Clipping with a bound that follows a quantile of the norms, which is asked for privately in every step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Several
from sfumato.guarantee import guarantee
from sfumato.train.clipping import Clipper, Clipping, known, shortened, whole_norms
from sfumato.train.noise import normal_like

PROOF = "proofs/training.md#adaptive"

HALF = 0.5
"""By how much one unit moves the number of units below the bound, less half of all: up or down by so much."""


@final
@dataclass(frozen=True)
class Adaptive(Clipping):
    """A bound that goes up and down until a share of all gradients, ``quantile``, is not longer than it.

    In every step the number of units below the bound is released with the sum of gradients, as one vector of Gaussian
    noise: ``share`` of the step's privacy pays for it, and the noise on gradients is 1/√(1 − share) as large. The bound
    begins at ``bound``, moves by a factor of at most about exp(``learning_rate``), and stays between ``least`` and
    ``most`` (Andrew, Thakkar, McMahan and Ramaswamy 2021, arXiv 1905.03871).
    """

    bound: float = 1.0
    quantile: float = 0.5
    learning_rate: float = 0.2
    share: float = 0.01
    least: float = 1e-6
    most: float = 1e6

    def __post_init__(self) -> None:
        if not 0 < self.least <= self.bound <= self.most < math.inf:
            must = "positive numbers, the bound between least and most"
            raise BadArgument("bound", must, Several(self.least, self.bound, self.most))
        if self.least < 1e-18 or self.most > 1e18:
            raise BadArgument("least and most", "between 1e-18 and 1e18", Several(self.least, self.most))
        if not 0 <= self.quantile <= 1:
            raise BadArgument("quantile", "between 0 and 1", self.quantile)
        if not 0 < self.learning_rate <= 1:
            raise BadArgument("learning_rate", "greater than 0 and at most 1", self.learning_rate)
        if not 0 < self.share <= HALF:
            raise BadArgument("share", "greater than 0 and at most 1/2", self.share)

    @property
    def constant(self) -> bool:
        return False

    def start(self, multiplier: float, expected: float) -> Clipper:
        return AdaptiveClipper(self, multiplier, expected)

    @guarantee(claim="weight · norm is at most the bound", proof=PROOF, reviewed="ba47ec1bb06f")
    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        """The weights while the bound is where it begins."""
        return _weights(squared, self.bound)


def _weights(squared: dict[str, Tensor], bound: float) -> dict[str, Tensor]:
    norms = whole_norms(squared)
    return dict.fromkeys(squared, known(shortened(bound, norms), norms))


@final
class AdaptiveClipper(Clipper):
    """An adaptive bound at work: where it stands, and how many units of this step were below it."""

    def __init__(self, clipping: Adaptive, multiplier: float, expected: float) -> None:
        self.rule, self.bound, self.multiplier = clipping, clipping.bound, multiplier
        self._expected, self._below = expected, 0.0

    @property
    @guarantee(
        claim="with the noise on the count, one Gaussian vector of the multiplier: multiplier · bound / √(1 − share)",
        proof=PROOF,
        reviewed="90054ac466f0",
    )
    def deviation(self) -> float:
        """The deviation of the noise on each entry of the sum of gradients in this step."""
        return self.multiplier * self.bound / math.sqrt(1 - self.rule.share)

    @property
    @guarantee(
        claim="multiplier / (2 √share): one unit moves the count, less half of all, by 1/2",
        proof=PROOF,
        reviewed="8b0a4f492065",
    )
    def count_deviation(self) -> float:
        """The deviation of the noise on the number of units below the bound."""
        return self.multiplier * HALF / math.sqrt(self.rule.share)

    def retune(self, multiplier: float, expected: float) -> None:
        self.multiplier, self._expected = multiplier, expected

    def begin_step(self) -> None:
        self._below = 0.0

    @guarantee(
        claim="weight · norm is at most the bound of this step; each unit adds 1/2 or −1/2 to the count",
        proof=PROOF,
        reviewed="6cbb8a12bf9f",
    )
    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        norms = whole_norms(squared)
        self._below += float(torch.where(norms <= self.bound, HALF, -HALF).double().sum())
        return _weights(squared, self.bound)

    def end_step(self, entropy: Entropy) -> None:
        """Moves the bound by the noisy share of units below it, over the expected number of units."""
        noise = float(normal_like(torch.Size([1]), self.count_deviation, entropy))
        seen = (self._below + noise) / self._expected + HALF
        moved = self.bound * math.exp(-self.rule.learning_rate * (min(max(seen, -1.0), 2.0) - self.rule.quantile))
        self.bound = min(max(moved, self.rule.least), self.rule.most)

    def state(self) -> dict[str, Any]:
        return {"bound": self.bound}

    def load(self, state: dict[str, Any]) -> None:
        self.bound = float(state["bound"])
