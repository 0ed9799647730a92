"""Clipping: how much of each unit's gradient counts, so that no unit adds more than a bound."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.guarantee import guarantee
from sfumato.train.memory import Memory

SLACK = 1 - 2.0**-10
"""Norms are worked out in floating point: what they may be off by is taken off the bound (proofs/training.md#clip)."""

PROOF = "proofs/training.md#clip"


class Clipping(ABC):
    """A rule for the weights of units, by the squared norms of their gradients in each layer."""

    bound: float

    def start(self, multiplier: float) -> Clipper:
        """The rule at work in one run, with noise of this deviation over the bound."""
        return Clipper(self, multiplier)

    @abstractmethod
    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        """The weight of each unit in each layer: the weighted gradients of one unit have a norm of at most the bound.

        A unit with a gradient that is no number has weight 0 everywhere.
        """


class Clipper(Memory):
    """A rule of clipping at work: what it makes of the batch of each step, and the noise that goes with it."""

    def __init__(self, clipping: Clipping, multiplier: float) -> None:
        self._clipping, self._multiplier = clipping, multiplier

    @property
    def deviation(self) -> float:
        """The deviation of the noise on each entry of the sum of gradients in this step."""
        return self._multiplier * self._clipping.bound

    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        """The weight of each unit in each layer."""
        return self._clipping.weights(squared)

    def end_step(self, entropy: Entropy) -> None:
        """After every step, empty ones too: a rule may learn from it, by what it pays for."""


@final
@dataclass(frozen=True)
class Flat(Clipping):
    """Gradients that are longer than the bound are scaled down to it."""

    bound: float

    def __post_init__(self) -> None:
        _check(self.bound)

    @guarantee(claim="weight · norm is at most the bound", proof=PROOF, reviewed="a053f2ebbe82")
    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        norms = torch.stack(list(squared.values())).sum(dim=0).sqrt()
        return dict.fromkeys(squared, _known(torch.clamp(SLACK * self.bound / norms, max=1.0), norms))


@final
@dataclass(frozen=True)
class Automatic(Clipping):
    """Every gradient is brought to just below the bound, short ones too: bound / (norm + ``stability``).

    Nothing has to be known of how long gradients are; the learning rate alone decides (Bu et al. 2023, arXiv
    2206.07136).
    """

    bound: float = 1.0
    stability: float = 0.01

    def __post_init__(self) -> None:
        _check(self.bound)
        if not 0 < self.stability < math.inf:
            raise BadArgument("stability", "a positive number", self.stability)

    @guarantee(claim="weight · norm is at most the bound", proof=PROOF, reviewed="f5352dc0fc9a")
    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        norms = torch.stack(list(squared.values())).sum(dim=0).sqrt()
        return dict.fromkeys(squared, _known(SLACK * self.bound / (norms + self.stability), norms))


@final
@dataclass(frozen=True)
class PerLayer(Clipping):
    """Each of k layers is scaled down to bound/√k by itself, so that all of them together keep the bound."""

    bound: float

    def __post_init__(self) -> None:
        _check(self.bound)

    @guarantee(claim="the root of all squared weight · norm is at most the bound", proof=PROOF, reviewed="b436606e5169")
    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        each = SLACK * self.bound / math.sqrt(len(squared))
        whole = torch.stack(list(squared.values())).sum(dim=0)
        return {name: _known(torch.clamp(each / part.sqrt(), max=1.0), whole) for name, part in squared.items()}


def _check(bound: float) -> None:
    if not (isinstance(bound, int | float) and 0 < bound < math.inf):
        raise BadArgument("clip", "a positive, finite number: the most that one unit may add to a gradient", bound)


def _known(weights: Tensor, norms: Tensor) -> Tensor:
    """The weights, 0 where a norm is no number or beyond all bounds."""
    return torch.where(torch.isfinite(norms), weights, torch.zeros_like(weights))
