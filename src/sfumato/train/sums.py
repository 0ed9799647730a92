"""Sums of clipped gradients, and what tells weights apart."""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from torch import Tensor, nn

from sfumato.train.clipping import Clipper
from sfumato.train.taps import Notes


def clipped_sum(notes: Notes, units: int, clipper: Clipper) -> dict[nn.Parameter, Tensor]:
    """The sum of all units' clipped gradients; a unit whose gradient is no number adds nothing."""
    with torch.no_grad():
        gradients = notes.gradients(units)
        squared = gradients.squared_norms()
        known = torch.isfinite(torch.stack(list(squared.values())).sum(dim=0))
        if not bool(known.all()):
            gradients = gradients.without(~known)
            squared = gradients.squared_norms()
        return gradients.weighted(clipper.weights(squared))


def digest(model: nn.Module) -> str:
    """The SHA-256 of a model's weights, in the order of their names."""
    made = hashlib.sha256()
    for name, each in sorted(model.state_dict().items()):
        made.update(name.encode())
        made.update(np.ascontiguousarray(each.detach().cpu().float().numpy()).tobytes())
    return made.hexdigest()
