"""Clipping: how much of each unit's gradient counts, so that no unit adds more than a bound."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.guarantee import guarantee
from sfumato.train.layers.gradients import widened
from sfumato.train.memory import Memory

SLACK = 1 - 2.0**-10
"""Norms are worked out in floating point: what they may be off by is taken off the bound (proofs/training.md#clip)."""

PROOF = "proofs/training.md#clip"


class Clipping(ABC):
    """A rule for the weights of units, by the squared norms of their gradients in each layer."""

    bound: float

    def start(self, multiplier: float, expected: float) -> Clipper:
        """The rule at work in one run: noise has this deviation over the bound, batches on average so many units."""
        return _Constant(self, multiplier)

    @property
    def constant(self) -> bool:
        """Tells whether the bound is the same in every step, as noise that is correlated along steps needs it."""
        return True

    def check(self, parameters: Iterable[str]) -> None:  # noqa: B027  (most rules fit every model)
        """Refuses a model whose parameters have these names, before anything is charged, where it does not fit."""

    @abstractmethod
    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        """The weight of each unit in each layer: the weighted gradients of one unit have a norm of at most the bound.

        A unit with a gradient that is no number has weight 0 everywhere.
        """


class Clipper(Memory, ABC):
    """A rule of clipping at work: what it makes of the batch of each step, and the noise that goes with it."""

    @property
    @abstractmethod
    def deviation(self) -> float:
        """The deviation of the noise on each entry of the sum of gradients in this step."""

    @abstractmethod
    def retune(self, multiplier: float, expected: float) -> None:
        """From the next step on: noise of this deviation over the bound, batches on average of so many units."""

    @abstractmethod
    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        """The weight of each unit in each layer."""

    def begin_step(self) -> None:
        """Before every step: what one that was broken off left behind does not count."""

    def end_step(self, entropy: Entropy) -> None:
        """After every step, empty ones too: a rule may learn from it, by what it pays for."""


@final
class _Constant(Clipper):
    """A rule at work whose bound stays where it is."""

    def __init__(self, clipping: Clipping, multiplier: float) -> None:
        self._clipping, self._multiplier = clipping, multiplier

    @property
    def deviation(self) -> float:
        return self._multiplier * self._clipping.bound

    def retune(self, multiplier: float, expected: float) -> None:
        self._multiplier = multiplier

    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        return self._clipping.weights(squared)


@final
@dataclass(frozen=True)
class Flat(Clipping):
    """Gradients that are longer than the bound are scaled down to it."""

    bound: float

    def __post_init__(self) -> None:
        _check(self.bound)

    @guarantee(claim="weight · norm is at most the bound", proof=PROOF, reviewed="c5283afae8a0")
    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        norms = whole_norms(squared)
        return dict.fromkeys(squared, known(shortened(self.bound, norms), norms))


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

    @guarantee(claim="weight · norm is at most the bound", proof=PROOF, reviewed="50f77a878c16")
    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        norms = whole_norms(squared)
        longest = torch.finfo(norms.dtype).max  # and not infinite, which times a gradient of 0 is no number
        weights = torch.clamp(SLACK * self.bound / (norms + self.stability), max=longest)
        return dict.fromkeys(squared, known(weights, norms))


@final
@dataclass(frozen=True)
class PerLayer(Clipping):
    """Each of k layers is scaled down to bound/√k by itself, so that all of them together keep the bound."""

    bound: float

    def __post_init__(self) -> None:
        _check(self.bound)

    @guarantee(claim="the root of all squared weight · norm is at most the bound", proof=PROOF, reviewed="cfdaadea565d")
    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        each, whole = self.bound / math.sqrt(len(squared)), whole_norms(squared)
        return {name: known(shortened(each, part.sqrt()), whole) for name, part in squared.items()}


@final
@dataclass(frozen=True)
class PerGroup(Clipping):
    """Groups of layers are each scaled down to a bound of their own: ``bounds`` has one for each prefix of names.

    A layer belongs to the longest prefix that the name of its first parameter begins with; ``""`` takes all others.
    Noise goes with the root of the sum of squares of all bounds.
    """

    groups: tuple[tuple[str, float], ...]

    def __init__(self, bounds: Mapping[str, float]) -> None:
        if not isinstance(bounds, Mapping) or not bounds:
            raise BadArgument("bounds", 'one for each group of names, such as {"body": 1.0, "": 0.5}', bounds)
        for bound in bounds.values():
            _check(bound)
        object.__setattr__(self, "groups", tuple((str(prefix), float(bound)) for prefix, bound in bounds.items()))

    @property
    def bound(self) -> float:  # type: ignore[override]
        """The most that one unit adds over all groups."""
        return math.hypot(*(bound for _, bound in self.groups))

    def group(self, name: str) -> str | None:
        """The group of a layer, by the name of its first parameter; None where there is none."""
        fitting = [prefix for prefix, _ in self.groups if name.startswith(prefix)]
        return max(fitting, key=len, default=None)

    def check(self, parameters: Iterable[str]) -> None:
        alone = [name for name in parameters if self.group(name) is None]
        if alone:
            raise BadArgument("bounds", f'one for every parameter, {alone[0]} too: "" takes all others', self.groups)

    @guarantee(
        claim="weight · norm of each group is at most its bound, the root of their squared sum at most the bound",
        proof=PROOF,
        reviewed="f18d0208cf92",
    )
    def weights(self, squared: dict[str, Tensor]) -> dict[str, Tensor]:
        whole, weights = whole_norms(squared), dict[str, Tensor]()
        for prefix, bound in self.groups:
            own = {name: part for name, part in squared.items() if self.group(name) == prefix}
            if own:
                weights |= dict.fromkeys(own, known(shortened(bound, whole_norms(own)), whole))
        return weights


def _check(bound: float) -> None:
    if not (isinstance(bound, int | float) and 0 < bound < math.inf):
        raise BadArgument("clip", "a positive, finite number: the most that one unit may add to a gradient", bound)


def whole_norms(squared: Mapping[str, Tensor]) -> Tensor:
    """The norm of each unit's gradient over all of some layers, at single precision at least."""
    return torch.stack([widened(part) for part in squared.values()]).sum(dim=0).sqrt()


def shortened(bound: float, norms: Tensor) -> Tensor:
    """The weights that bring what is longer than a bound down to it, and leave the rest; 1 for a norm of 0."""
    return torch.clamp(SLACK * bound / widened(norms), max=1.0)


def known(weights: Tensor, norms: Tensor) -> Tensor:
    """The weights, 0 where a norm is no number or beyond all bounds."""
    return torch.where(torch.isfinite(norms), weights, torch.zeros_like(weights))
