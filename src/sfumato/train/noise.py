"""Gaussian noise for gradients in floating point, from the one source of randomness.

It is not exact: floats are spaced, and sums of floats are rounded, so that what a release says of it holds for the
ideal noise that it stands for. A release says which noise was drawn.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from sfumato.entropy import Entropy

UNIT = 2.0**-53


def normal_like(shape: torch.Size, deviation: float, entropy: Entropy) -> Tensor:
    """Draws independent normal numbers of a deviation: pairs from a radius of 53 random bits and an angle of 32."""
    count = math.prod(shape)
    pairs = (count + 1) // 2
    radius = torch.from_numpy((entropy.words(pairs) >> np.uint64(11)).astype(np.float64))
    turn = torch.from_numpy(np.frombuffer(entropy.octets(4 * pairs), dtype="<i4").astype(np.float32))
    away = radius.add_(1.0).mul_(UNIT).log_().mul_(-2.0 * deviation * deviation).sqrt_().float()
    angle = turn.mul_(math.pi / 2**31)
    return torch.cat([away * angle.cos(), away * angle.sin()])[:count].view(shape)
