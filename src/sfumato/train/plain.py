"""Training without privacy, for comparison: for rows that nobody protects."""

from __future__ import annotations

import numpy as np
from torch import nn

from sfumato.entropy import Entropy
from sfumato.train.candidates import Candidate
from sfumato.train.losses import by_rows
from sfumato.train.units import Units


def plainly_trained(candidate: Candidate, units: Units, entropy: Entropy) -> nn.Module:
    """Trains a candidate on batches as its plan draws them, with neither clipping nor noise. Not private at all."""
    model, optimizer = candidate.made()
    of_rows, expected = by_rows(candidate.loss_function), float(candidate.plan.batches.expected)
    sampler = candidate.plan.batches.start(units.count, entropy)
    model.train()
    for step in range(candidate.plan.steps):
        chosen = sampler.draw(step)
        optimizer.zero_grad(set_to_none=True)
        for chunk in units.chunks(np.asarray(chosen), step, candidate.largest):
            inputs, *labels = chunk.rows
            lost = of_rows(model(inputs), *labels)
            each = lost.flatten(1).mean(dim=1) if lost.dim() > 1 else lost
            ((each * chunk.weights.to(each)).sum() / expected).backward()
        optimizer.step()
    return model
