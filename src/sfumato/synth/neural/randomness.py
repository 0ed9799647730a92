"""Random tensors out of the one source of randomness."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from sfumato.entropy import Entropy


def uniforms(shape: tuple[int, ...], entropy: Entropy) -> Tensor:
    """Draws numbers between 0 and 1, neither of them: the middles of 2^32 equal parts."""
    words = np.frombuffer(entropy.octets(4 * math.prod(shape)), dtype="<u4").astype(np.float64)
    return torch.from_numpy((words + 0.5) * 2.0**-32).view(shape)


def gumbels(shape: tuple[int, ...], entropy: Entropy) -> Tensor:
    """Draws numbers of Gumbel's law: the place of the largest of logits plus these has the chances of the logits."""
    return uniforms(shape, entropy).log().neg().log().neg().float()


def initialised(network: nn.Module, entropy: Entropy) -> nn.Module:
    """Draws the first weights of all linear layers, uniformly within one over the root of their number of inputs."""
    with torch.no_grad():
        for layer in network.modules():
            if isinstance(layer, nn.Linear):
                most = 1 / math.sqrt(layer.in_features)
                for part in (layer.weight, layer.bias):
                    part.copy_((uniforms(tuple(part.shape), entropy) * 2 - 1) * most)
    return network
