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
from numpy.typing import NDArray
from torch import Tensor, nn

from sfumato.accounting.events import Event, Gaussian
from sfumato.entropy import Entropy
from sfumato.exact import Number
from sfumato.train.batches import Batches
from sfumato.train.device_noise import normals
from sfumato.train.memory import Memory

PAIRS = 1 << 16
"""How many pairs of normal numbers are drawn at a time: their arrays stay in the processor's cache."""

EDGE = np.uint32(1 << 23)
"""A uniform number of 31 bits that is as near to 0 or 1 as this gets more of them."""

Gradients: TypeAlias = dict[nn.Parameter, Tensor]
"""Gradients by the parameters of a model."""


class Noise(ABC):
    """A way to make the noise of all steps. It is public, as all of a plan is."""

    @property
    def one_bound(self) -> bool:
        """Tells whether the bound of clipping has to be the same in all steps."""
        return False

    @property
    def wide(self) -> bool:
        """Whether what the pieces of a batch add up to must be added up in floats of 64 bits."""
        return False

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
        paired = zip(self._parameters, drawn, strict=True)
        noisy = {each: flat.view(each.shape).to(each) for each, flat in paired}
        if there := [each for each in self._parameters if each in sums]:
            torch._foreach_add_([noisy[each] for each in there], [sums[each].to(each.dtype) for each in there])
        return noisy

    def _drawn(self, count: int, deviation: float) -> Tensor:
        device = self._parameters[0].device
        if device.type == "cpu":
            return normal_like(torch.Size([count]), deviation, self._entropy)
        return normals(count, deviation, self._entropy, device)


def normal_like(shape: torch.Size, deviation: float, entropy: Entropy) -> Tensor:
    """Draws independent normal numbers of a deviation: pairs from a radius and an angle of 32 random bits each.

    Where the radius is far out or near 0 (one pair in 128), it gets 32 bits more. A radius is at most 9.42 deviations,
    and each number is within 2^-15 of itself and 2^-20 radii of one that is exactly normal (proofs/training.md#floats).
    """
    count = math.prod(shape)
    pairs = (count + 1) // 2
    drawn, room = torch.empty(2, pairs), torch.empty(2, min(pairs, PAIRS))
    for start in range(0, pairs, PAIRS):
        part = drawn[:, start : start + PAIRS]
        _draw_pairs(part, room[:, : part.shape[1]], deviation, entropy)
    return drawn.view(-1)[:count].view(shape)


def _draw_pairs(drawn: Tensor, room: Tensor, deviation: float, entropy: Entropy) -> None:
    """Fills two rows with normal numbers, a pair in each column; the room is to work in."""
    (one, other), (away, turn) = drawn, room
    bits: NDArray[np.uint32] = np.frombuffer(entropy.octets(8 * len(one)), dtype="<u4").astype(np.uint32, copy=False)
    digits = bits[: len(one)] >> np.uint32(1)
    logs = away.numpy()
    np.copyto(logs, digits.view(np.int32), casting="unsafe")
    away.mul_(2.0**-31).log_()  # the rest of the digits would move it by 2^-23 of itself at most: else it is rare
    rare = np.flatnonzero(digits - EDGE > np.uint32(2**31) - 2 * EDGE)
    logs[rare] = sharper_logs(digits[rare], entropy)
    away.mul_(-2.0).sqrt_().mul_(deviation)
    np.copyto(turn.numpy(), bits[len(one) :].view(np.int32), casting="unsafe")
    turn.mul_(math.pi / 2**31)
    torch.cos(turn, out=one).mul_(away)
    torch.sin(turn, out=other).mul_(away)


def sharper_logs(digits: NDArray[np.uint32], entropy: Entropy) -> NDArray[np.float32]:
    """Works out logarithms of uniform numbers of which 31 binary digits are known, by 32 more."""
    more = np.frombuffer(entropy.octets(4 * len(digits)), dtype="<u4").astype(np.int64)
    whole = digits.astype(np.int64) << 32 | more
    below = (whole + 0.5) * 2.0**-63
    above = (np.int64(2**63 - 1) - whole + 0.5) * 2.0**-63
    lesser = np.minimum(below, above)
    logs: NDArray[np.float64] = np.where(below < 0.5, np.log(lesser), np.log1p(-lesser))
    return logs.astype(np.float32)
