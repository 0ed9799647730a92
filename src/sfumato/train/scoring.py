"""Scores of a trained model: on rows that must be protected, a sum with exact noise; on public rows, as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
import torch
from torch import Tensor, nn

from sfumato.accounting.events import Event, Noise
from sfumato.accounting.relation import Relation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import positive
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.train.units import Units

ScoreFunction: TypeAlias = Callable[..., Tensor]
"""Scores what a model gives for rows against their labels: one number a row, from 0, the worst, to 1."""

GRID = 16
"""Into how many steps the score of a unit is cut; an even number."""

TOGETHER = 1024
"""How many units are scored at once, where nothing is said."""

PROOF = "proofs/tuning.md#scores"


def accuracy(output: Tensor, labels: Tensor) -> Tensor:
    """1 for a row whose class has the highest number, else 0; of one number a row, for its sign (1 above 0).

    >>> accuracy(torch.tensor([[0.1, 0.9], [0.8, 0.2]]), torch.tensor([1, 1])).tolist()
    [1.0, 0.0]
    """
    several = output.dim() > 1 and output.shape[1] > 1
    said = output.argmax(dim=1) if several else (output.reshape(len(output)) > 0)
    return (said == labels.reshape(len(labels))).float()


@final
@dataclass(frozen=True)
class NoisyScore:
    """A mean score of units with exact Laplace noise of about a ``deviation``; ``size`` is a public number of units."""

    score: ScoreFunction
    deviation: Fraction
    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "deviation", positive(self.deviation, "score_deviation"))

    @property
    def noise(self) -> DiscreteLaplace:
        """The noise on the sum of all units, in steps of the grid; its deviation is √2 times its scale."""
        return DiscreteLaplace(self.deviation * self.size * GRID * Fraction(70, 99))

    @guarantee(
        claim="a unit more or fewer moves the sum by at most half of the grid, one exchanged by at most all of it",
        proof=PROOF,
        reviewed="affb968e8feb",
    )
    def event(self, relation: Relation) -> Event:
        """What one score is: noise on a sum that neighbours move by half of the grid, or by all of it."""
        return Noise(self.noise, GRID // 2 if relation is Relation.ADD_REMOVE else GRID)

    def __call__(self, model: nn.Module, units: Units, entropy: Entropy) -> Fraction:
        """The noisy mean score of a model, which may be beyond 0 and 1 by its noise."""
        total = centred_sum(model, units, self.score) + self.noise.sample(entropy)
        return Fraction(1, 2) + Fraction(total, GRID * self.size)


@guarantee(
    claim="a sum of one whole number of a unit, at most half of the grid from 0; one of that unit's rows alone",
    proof=PROOF,
    reviewed="77924a1709b9",
)
def centred_sum(model: nn.Module, units: Units, score: ScoreFunction) -> int:
    """Adds up what the scores of all units are above 1/2, in steps of the grid. Exact, and as private as the data."""
    total = 0
    for chunk in units.chunks(np.arange(units.count), 0, TOGETHER):
        rows = scores_of(model, chunk.rows, score).double().clamp(0, 1)
        each = (torch.nan_to_num(rows, nan=0.0) * chunk.weights.to(rows)).reshape(chunk.units, -1).sum(dim=1)
        total += int((GRID * each.clamp(0, 1)).round().long().sub(GRID // 2).sum())
    return total


def scores_of(model: nn.Module, rows: tuple[Any, ...], score: ScoreFunction) -> Tensor:
    """The score of each row, by a model that is not in training."""
    inputs, *labels = rows
    before = model.training
    model.eval()
    try:
        with torch.no_grad():
            scored = score(model(inputs), *labels)
    finally:
        model.train(before)
    if not isinstance(scored, Tensor) or scored.shape != (len(inputs),):
        raise BadArgument("the score", "a tensor of one number a row, from 0 to 1", "another")
    return scored


def public_score(model: nn.Module, units: Units, score: ScoreFunction) -> Fraction:
    """The mean score on public rows, without noise."""
    return Fraction(1, 2) + Fraction(centred_sum(model, units, score), GRID * max(units.count, 1))
