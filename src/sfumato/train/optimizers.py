"""Optimizers for noisy gradients. What they do is post-processing: they see sums with noise, and no data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, final

import torch
from torch import Tensor
from torch.optim import Optimizer

from sfumato.errors import BadArgument


class KnowsNoise(ABC):
    """An optimizer that makes use of how large the noise is."""

    @abstractmethod
    def know_noise(self, deviation: float) -> None:
        """Before each step: the deviation of the noise on each entry of the gradients of that step."""


class _Moments(Optimizer):  # type: ignore[misc]
    """Running means of gradients and of their squares, as Adam has them; what a step makes of them is left open."""

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Moves all parameters by their gradients."""
        loss = None if closure is None else closure()
        with torch.no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self._move(parameter, group, self._remembered(parameter, group))
        return loss

    def _remembered(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """What is remembered of a parameter, with this gradient."""
        state: dict[str, Any] = self.state[parameter]
        if not state:
            state |= {"step": 0, "mean": torch.zeros_like(parameter), "square": torch.zeros_like(parameter)}
        first, second = group["betas"]
        state["step"] += 1
        state["mean"].lerp_(parameter.grad, 1 - first)
        state["square"].lerp_(parameter.grad**2, 1 - second)
        return state

    def _move(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        raise NotImplementedError


@final
class AdamBC(_Moments, KnowsNoise):
    """Adam with squares from which the known variance of the noise is taken: what noise adds to them is no gradient.

    Takes:      ``floor``, the least that may be left of a mean square; ``weight_decay``, taken off weights by itself
    Gives:      steps of lr · mean / √max(mean square − variance of the noise, floor), means corrected as Adam's are
                (DP-AdamBC: Tang, Shpilevskiy and Lécuyer 2024, arXiv 2312.14334)
    Guarantee:  that of the gradients: the variance is public, and all else is post-processing
                (proofs/training.md#optimizers)
    Cost:       as Adam

    `private` tells it the variance before each step. It is that of independent noise; without, it is Adam with a floor.

    >>> AdamBC(torch.nn.Linear(2, 1).parameters(), lr=0.01).defaults["floor"]
    1e-08
    """

    def __init__(
        self,
        parameters: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        *,
        floor: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        if not floor > 0:
            raise BadArgument("floor", "a positive number", floor)
        _check(lr, betas)
        super().__init__(parameters, {"lr": lr, "betas": betas, "floor": floor, "weight_decay": weight_decay})
        self._variance = 0.0

    def know_noise(self, deviation: float) -> None:
        """Before each step: the deviation of the noise on each entry of its gradients."""
        self._variance = deviation**2

    def _move(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        first, second = group["betas"]
        state["noise"] = second * state.get("noise", 0.0) + (1 - second) * self._variance
        mean = state["mean"] / (1 - first ** state["step"])
        left = (state["square"] - state["noise"]) / (1 - second ** state["step"])
        parameter.mul_(1 - group["lr"] * group["weight_decay"])
        parameter.sub_(group["lr"] * mean / left.clamp(min=group["floor"]).sqrt())


@final
class LAMB(_Moments):
    """Adam whose step for each tensor is as long as lr times the tensor: for large batches.

    Takes:      ``eps``, added to roots of mean squares; ``weight_decay``, added to the direction
    Gives:      steps of lr · ‖weights‖ / ‖direction‖ · direction (You et al. 2020, arXiv 1904.00962, algorithm 2)
    Guarantee:  that of the gradients: all is post-processing  (proofs/training.md#optimizers)
    Cost:       as Adam

    >>> LAMB(torch.nn.Linear(2, 1).parameters(), lr=0.01).defaults["eps"]
    1e-06
    """

    def __init__(
        self,
        parameters: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        *,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
    ) -> None:
        _check(lr, betas)
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def _move(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        first, second = group["betas"]
        mean = state["mean"] / (1 - first ** state["step"])
        root = (state["square"] / (1 - second ** state["step"])).sqrt()
        direction = mean / (root + group["eps"]) + group["weight_decay"] * parameter
        length, along = parameter.norm(), direction.norm()
        scale = torch.where((length > 0) & (along > 0), length / along, torch.ones_like(length))
        parameter.sub_(group["lr"] * scale * direction)


def _check(lr: float, betas: tuple[float, float]) -> None:
    if not 0 < lr < float("inf"):
        raise BadArgument("lr", "a positive number", lr)
    if not all(0 <= each < 1 for each in betas):
        raise BadArgument("betas", "two numbers from 0 to below 1", betas)
