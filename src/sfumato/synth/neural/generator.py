"""The generator of a game: it makes rows out of noise, and learns from what a discriminator says of them.

It is told of columns, noisy counts and weights that are private already, and never of a row: all that it does costs
nothing (proofs/neural_synthesis.md#generator).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.synth.neural.conditions import Conditions
from sfumato.synth.neural.heads import Codes
from sfumato.synth.neural.randomness import gumbels, initialised
from sfumato.train.noise import normal_like

Judge: TypeAlias = Callable[[Tensor], Tensor]
"""Says of rows with their conditions how real they look: a logit for each."""


@final
@dataclass(frozen=True)
class NetworkSettings:
    """The sizes of networks and steps of a game. All of it is public."""

    latent: int = 16
    """How many random numbers a row is made of."""
    hidden: int = 64
    """How wide the inner layers are."""
    temperature: float = 0.4
    """How soft a choice between values is in training."""
    rate: float = 1e-3
    """The learning rate of discriminators."""
    generator_rate: float = 5e-4
    made_up: int = 256
    """How many rows the generator makes for each step."""
    generator_steps: int = 1
    """How many steps the generator takes after each of a discriminator."""
    remembered: float = 0.98
    """The share of the average of a generator's weights that stays in each step: what is kept is the average."""

    def __post_init__(self) -> None:
        for name in ("latent", "hidden", "made_up", "generator_steps"):
            integer(getattr(self, name), name, least=1)
        for name in ("temperature", "rate", "generator_rate"):
            if not 0 < getattr(self, name) < math.inf:
                raise BadArgument(name, "a number greater than 0", getattr(self, name))
        if not 0 <= self.remembered < 1:
            raise BadArgument("remembered", "at least 0 and less than 1", self.remembered)


def discriminator(width: int, hidden: int) -> nn.Sequential:
    """A network that says how real a row looks. It looks at each row by itself."""
    return nn.Sequential(
        nn.Linear(width, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, 1)
    )


def generator(conditions: Conditions, settings: NetworkSettings) -> nn.Sequential:
    """A network that makes a row out of noise and a condition."""
    wide = settings.hidden
    return nn.Sequential(
        nn.Linear(settings.latent + conditions.width, wide),
        nn.LayerNorm(wide),
        nn.ReLU(),
        nn.Linear(wide, wide),
        nn.LayerNorm(wide),
        nn.ReLU(),
        nn.Linear(wide, conditions.heads.width),
    )


@final
class Generator:
    """A generator at work: what it makes, how it learns, and the average of its weights."""

    def __init__(self, conditions: Conditions, settings: NetworkSettings, entropy: Entropy) -> None:
        self.conditions, self.settings, self._entropy = conditions, settings, entropy
        self.network = initialised(generator(conditions, settings), entropy)
        self._optimizer = torch.optim.Adam(self.network.parameters(), lr=settings.generator_rate, betas=(0.5, 0.9))
        self._average = parameters_to_vector(self.network.parameters()).detach().clone()

    def rows(self, many: int) -> Tensor:
        """So many made-up rows with the conditions that they were asked for by, without gradients."""
        with torch.no_grad():
            made, asked, _ = self._made(many)
        return torch.cat([made, asked], dim=1)

    def improve(self, judge: Judge) -> float:
        """Takes one step towards rows that look real to a judge, and are what was asked for; how long its gradient was.

        A gradient that is no number moves nothing.
        """
        self._optimizer.zero_grad(set_to_none=True)
        made, asked, missed = self._made(self.settings.made_up)
        lost = nn.functional.softplus(-judge(torch.cat([made, asked], dim=1))).mean() + missed
        lost.backward()
        parameters = list(self.network.parameters())
        norm = float(
            torch.linalg.vector_norm(torch.stack([each.grad.norm() for each in parameters if each.grad is not None]))
        )
        if math.isfinite(norm):
            self._optimizer.step()
            with torch.no_grad():
                self._average.lerp_(parameters_to_vector(parameters), 1 - self.settings.remembered)
        return norm

    def weights(self) -> NDArray[np.float32]:
        """The average of the weights over steps, the later the more: steadier than those of any one step."""
        return np.asarray(torch.nan_to_num(self._average, nan=0.0, posinf=0.0, neginf=0.0).numpy())

    def _made(self, many: int) -> tuple[Tensor, Tensor, Tensor]:
        """Made-up rows, the conditions that they were asked for by, and how far each is from what was asked."""
        asked, drawn = self.conditions.drawn(many, self._entropy, training=True)
        made, raw = made_of(self.network, self.conditions, self.settings, asked, self._entropy)
        return made, asked, self._missed(raw, drawn)

    def _missed(self, raw: Tensor, drawn: Codes) -> Tensor:
        """How far rows are from the values that were asked for: the mean of −ln of the chances that they have them."""
        conditions, missed = self.conditions, torch.zeros(())
        for turn, place in enumerate(conditions.columns):
            own = torch.from_numpy(np.flatnonzero(drawn[:, 0] == turn))
            start, head = conditions.heads.starts[place], conditions.heads.columns[place]
            logits, values = raw[own, start : start + head.size], torch.from_numpy(drawn[:, 1])[own]
            missed = missed + nn.functional.cross_entropy(logits, values, reduction="sum") / len(raw)
        return missed


def made_of(
    network: nn.Module, conditions: Conditions, settings: NetworkSettings, asked: Tensor, entropy: Entropy
) -> tuple[Tensor, Tensor]:
    """Rows that a generator makes for conditions, as inputs of a discriminator, and the logits that they are of."""
    noise = normal_like(torch.Size([len(asked), settings.latent]), 1.0, entropy)
    raw = network(torch.cat([noise, asked], dim=1))
    random = gumbels((len(asked), conditions.heads.width), entropy)
    return conditions.heads.activated(raw, random, settings.temperature), raw


def with_weights(conditions: Conditions, settings: NetworkSettings, weights: NDArray[np.float32]) -> nn.Sequential:
    """A generator with weights that it had before."""
    network = generator(conditions, settings)
    many = sum(each.numel() for each in network.parameters())
    if weights.shape != (many,):
        raise BadArgument("weights", f"{many:,} numbers, as this generator has", weights.shape)
    vector_to_parameters(torch.from_numpy(np.array(weights, dtype=np.float32)), network.parameters())
    return network.eval().requires_grad_(requires_grad=False)
