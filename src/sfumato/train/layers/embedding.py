"""Embeddings: rows of a table that are looked up."""

from __future__ import annotations

import torch
from torch import nn

from sfumato.train.layers.gradients import Call, Gradients, Sums, by_unit, reads, squares, widened


@reads(nn.Embedding)
def embedding(call: Call) -> Gradients:
    """What came back for a word is added to its row: of a unit, equal words come together before norms are taken."""
    layer: nn.Embedding = call.layer
    words, back = call.seen[0].reshape(call.units, -1), by_unit(call.back, call.units)
    if layer.padding_idx is not None:
        back = back * (words != layer.padding_idx)[..., None]
    size, units = layer.num_embeddings, call.units
    owner = torch.arange(units, device=words.device)[:, None]

    def squared() -> torch.Tensor:
        wide = widened(back)
        pairs, place = torch.unique(owner * size + words, return_inverse=True)
        sums = wide.new_zeros(len(pairs), back.shape[-1])
        sums.index_add_(0, place.flatten(), wide.reshape(-1, back.shape[-1]))
        norms = sums.new_zeros(units).index_add_(0, pairs // size, squares(sums)).sqrt()
        off = words.shape[1] * torch.finfo(wide.dtype).eps  # words are added up in another order later
        return (norms + off * wide.norm(dim=-1).sum(dim=-1)) ** 2

    def weighted(weights: torch.Tensor) -> Sums:
        scaled = back * weights.to(back.dtype)[:, None, None]
        table = torch.zeros(size, back.shape[-1], dtype=back.dtype, device=back.device)
        return {"weight": table.index_add_(0, words.flatten(), scaled.reshape(-1, back.shape[-1]))}

    def each() -> Sums:
        table = torch.zeros(units * size, back.shape[-1], dtype=back.dtype, device=back.device)
        table.index_add_(0, (owner * size + words).flatten(), back.reshape(-1, back.shape[-1]))
        return {"weight": table.view(units, size, -1)}

    return Gradients(squared, weighted, each)
