"""Embeddings: rows of a table that are looked up, one by one or in bags."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sfumato.errors import BadArgument
from sfumato.train.layers.gradients import Call, Gradients, by_unit, reads, sees
from sfumato.train.layers.uses import Lookup


@reads(nn.Embedding)
def embedding(call: Call) -> Gradients:
    """What came back for a word is added to its row: of a unit, equal words come together before norms are taken."""
    layer: nn.Embedding = call.layer
    words, back = call.seen[0].reshape(call.units, -1), by_unit(call.back, call.units)
    if layer.padding_idx is not None:
        back = back * (words != layer.padding_idx)[..., None]
    return looked_up(Lookup(words, back, layer.num_embeddings))


@reads(nn.EmbeddingBag)
def embedding_bag(call: Call) -> Gradients:
    """What came back for a bag is added to the rows of all its words, each with its share."""
    words, shares = call.seen
    back = call.back[:, None, :] * shares[..., None].to(call.back.dtype)
    return looked_up(Lookup(words.reshape(call.units, -1), by_unit(back, call.units), call.layer.num_embeddings))


@sees(nn.EmbeddingBag)
def bags(
    layer: nn.EmbeddingBag, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The words of each bag, as many for all, and the share of each: 0 for what only fills a bag up."""
    if layer.mode == "max":
        raise BadArgument("nn.EmbeddingBag", 'one with mode="sum" or mode="mean"', 'mode="max"')
    weights = torch.ones_like(input, dtype=layer.weight.dtype) if per_sample_weights is None else per_sample_weights
    words, shares = (input, weights) if offsets is None else _filled_up(layer, input, offsets, weights)
    if layer.padding_idx is not None:
        shares = shares * (words != layer.padding_idx)
    if layer.mode == "mean":
        shares = shares / shares.sum(dim=1, keepdim=True).clamp(min=1)
    return words, shares


def _filled_up(layer: nn.EmbeddingBag, words: Tensor, offsets: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    ends = offsets[1:] if layer.include_last_offset else torch.cat([offsets[1:], offsets.new_tensor([len(words)])])
    begins = offsets[:-1] if layer.include_last_offset else offsets
    sizes = ends - begins
    place = torch.arange(int(sizes.max()) if len(sizes) else 0, device=words.device)[None]
    inside = place < sizes[:, None]
    taken = (begins[:, None] + place).clamp(max=max(len(words) - 1, 0))
    return words[taken] * inside, weights[taken] * inside


def looked_up(use: Lookup) -> Gradients:
    """The gradients of a table."""
    return Gradients(
        use.squared,
        lambda weights: {"weight": use.weighted(weights)},
        lambda: {"weight": use.each()},
        lambda: {"weight": use},
    )
