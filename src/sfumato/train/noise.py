"""Noise for gradients: how that of all steps is made, and what it makes of a plan's event.

Noise in floating point is not exact: floats are spaced, and sums of floats are rounded, so that what a release says of
it holds for the ideal noise that it stands for. A release says which noise was drawn.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import torch
from torch import Tensor, nn

from sfumato.accounting.events import Event, Gaussian
from sfumato.entropy import Entropy
from sfumato.exact import Number
from sfumato.train.batches import Batches
from sfumato.train.device_noise import normals
from sfumato.train.memory import Memory

UNIT = 2.0**-53

Gradients: TypeAlias = dict[nn.Parameter, Tensor]
"""Gradients by the parameters of a model."""


class Noise(ABC):
    """A way to make the noise of all steps. It is public, as all of a plan is."""

    @abstractmethod
    def event(self, batches: Batches, multiplier: Number) -> Event:
        """What all steps are, where ``multiplier`` is the deviation of a step's noise over the bound of clipping."""

    @abstractmethod
    def start(self, parameters: Sequence[nn.Parameter], entropy: Entropy) -> NoiseStream:
        """The noise of one run, step by step."""


class NoiseStream(Memory, ABC):
    """The noise of one run: what it has to remember of the steps so far, it keeps and can save."""

    @abstractmethod
    def add(self, sums: Gradients, deviation: float) -> Gradients:
        """The sums with the noise of the next step, for every parameter: one without a sum has noise alone."""


@final
@dataclass(frozen=True)
class Independent(Noise):
    """Gaussian noise that is drawn anew for each step, in floating point."""

    def event(self, batches: Batches, multiplier: Number) -> Event:
        return batches.event(Gaussian(multiplier))

    def start(self, parameters: Sequence[nn.Parameter], entropy: Entropy) -> NoiseStream:
        return _Fresh(parameters, entropy)

    def __str__(self) -> str:
        return "Gaussian, in floating point"


@final
class _Fresh(NoiseStream):
    def __init__(self, parameters: Sequence[nn.Parameter], entropy: Entropy) -> None:
        self._parameters, self._entropy = parameters, entropy

    def add(self, sums: Gradients, deviation: float) -> Gradients:
        sizes = [each.numel() for each in self._parameters]
        drawn = self._drawn(sum(sizes), deviation).split(sizes)
        noisy = {each: flat.view(each.shape).to(each) for each, flat in zip(self._parameters, drawn, strict=True)}
        if there := [each for each in self._parameters if each in sums]:
            torch._foreach_add_([noisy[each] for each in there], [sums[each].to(each.dtype) for each in there])
        return noisy

    def _drawn(self, count: int, deviation: float) -> Tensor:
        device = self._parameters[0].device
        if device.type == "cpu":
            return normal_like(torch.Size([count]), deviation, self._entropy)
        return normals(count, deviation, self._entropy, device)


def normal_like(shape: torch.Size, deviation: float, entropy: Entropy) -> Tensor:
    """Draws independent normal numbers of a deviation: pairs from a radius of 53 random bits and an angle of 32."""
    count = math.prod(shape)
    pairs = (count + 1) // 2
    radius = torch.from_numpy((entropy.words(pairs) >> np.uint64(11)).astype(np.float64))
    turn = torch.from_numpy(np.frombuffer(entropy.octets(4 * pairs), dtype="<i4").astype(np.float32))
    away = radius.add_(1.0).mul_(UNIT).log_().mul_(-2.0 * deviation * deviation).sqrt_().float()
    angle = turn.mul_(math.pi / 2**31)
    return torch.cat([away * angle.cos(), away * angle.sin()])[:count].view(shape)
