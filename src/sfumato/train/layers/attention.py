"""Attention: its projections are products, and are tapped one by one."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812  # torch's own name
from torch import Tensor, nn

from sfumato.errors import BadArgument
from sfumato.train.layers.gradients import Part, Place, Tap, runs
from sfumato.train.layers.linear import linear
from sfumato.train.layers.spread import spread


@runs(nn.MultiheadAttention)
def attention(
    layer: nn.MultiheadAttention,
    tap: Tap,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,  # noqa: FBT001, FBT002  # the arguments are torch's
    attn_mask: Tensor | None = None,
    average_attn_weights: bool = True,  # noqa: FBT001, FBT002
    is_causal: bool = False,  # noqa: FBT001, FBT002
) -> tuple[Tensor, Tensor | None]:
    """What torch computes, with taps where parameters are used. ``is_causal`` is torch's hint at what the mask says."""
    if query.dim() != 3:
        raise BadArgument("nn.MultiheadAttention", "given rows, positions and features", tuple(query.shape))
    if is_causal and attn_mask is None:
        raise BadArgument("attn_mask", "given with is_causal, which only says what it is", None)
    asked = (query, key, value) if layer.batch_first else _rows_first(query, key, value)
    queries, keys, values = _with_bias(layer, tap, *_projected(layer, tap, *asked))
    if layer.add_zero_attn:
        keys, values = (F.pad(each, (0, 0, 0, 1)) for each in (keys, values))
    heads = [each.unflatten(2, (layer.num_heads, -1)).transpose(1, 2) for each in (queries, keys, values)]
    mask = _mask(heads[0], heads[1].shape[2], attn_mask, key_padding_mask)
    dropped = layer.dropout if layer.training else 0.0
    weights = None
    if need_weights:
        scores = (heads[0] / math.sqrt(heads[0].shape[-1])) @ heads[1].transpose(2, 3)
        weights = F.dropout(torch.softmax(scores if mask is None else scores + mask, dim=-1), dropped)
        made = weights @ heads[2]
        weights = weights.mean(dim=1) if average_attn_weights else weights
    else:
        made = F.scaled_dot_product_attention(heads[0], heads[1], heads[2], attn_mask=mask, dropout_p=dropped)
    joined = made.transpose(1, 2).flatten(2)
    out = layer.out_proj
    places = {"weight": Place(out.weight)} | ({} if out.bias is None else {"bias": Place(out.bias)})
    output = tap(F.linear(joined, out.weight, out.bias), Part(linear, places), joined)
    return output if layer.batch_first else output.transpose(0, 1), weights


def _rows_first(*given: Tensor) -> list[Tensor]:
    """Transposes, and keeps one tensor one."""
    turned = {id(each): each.transpose(0, 1) for each in given}
    return [turned[id(each)] for each in given]


def _projected(layer: nn.MultiheadAttention, tap: Tap, *asked: Tensor) -> list[Tensor]:
    """Queries, keys and values: one product where all come of one tensor, else one each."""
    size, bias = layer.embed_dim, layer.in_proj_bias
    if layer.in_proj_weight is not None and asked[0] is asked[1] is asked[2]:
        places = {"weight": Place(layer.in_proj_weight)} | ({} if bias is None else {"bias": Place(bias)})
        made = tap(F.linear(asked[0], layer.in_proj_weight, bias), Part(linear, places), asked[0])
        return list(made.chunk(3, dim=2))
    projected = []
    for place, (name, given) in enumerate(zip("qkv", asked, strict=True)):
        first = place * size
        if layer.in_proj_weight is not None:
            weight, own = layer.in_proj_weight[first : first + size], Place(layer.in_proj_weight, first, size)
        else:
            weight = getattr(layer, f"{name}_proj_weight")
            own = Place(weight)
        shift = None if bias is None else bias[first : first + size]
        places = {"weight": own} | ({} if bias is None else {"bias": Place(bias, first, size)})
        projected.append(tap(F.linear(given, weight, shift), Part(linear, places), given))
    return projected


def _with_bias(layer: nn.MultiheadAttention, tap: Tap, *projected: Tensor) -> list[Tensor]:
    """Keys and values with one more that is learnt, where there is one."""
    queries, *others = projected
    for place, extra in enumerate((layer.bias_k, layer.bias_v)):
        if extra is not None:
            part = Part(spread, {"part": Place(extra)})
            one = tap(extra.detach().expand(len(queries), 1, -1), part, fresh=False)
            others[place] = torch.cat([others[place], one.to(queries.dtype)], dim=1)
    return [queries, *others]


def _mask(queries: Tensor, keys: int, attn_mask: Tensor | None, padding: Tensor | None) -> Tensor | None:
    """Both masks as one that is added to scores; what is added to the keys, as `add_zero_attn` does, is not masked."""
    rows, heads, length, _ = queries.shape
    masks = []
    if attn_mask is not None:
        added = _added(attn_mask, queries, keys)
        masks.append(added if added.dim() == 2 else added.view(rows, heads, length, keys))
    if padding is not None:
        masks.append(_added(padding, queries, keys).view(rows, 1, 1, keys))
    return torch.stack(torch.broadcast_tensors(*masks)).sum(dim=0) if masks else None


def _added(mask: Tensor, queries: Tensor, keys: int) -> Tensor:
    if mask.dtype == torch.bool:
        mask = torch.zeros_like(mask, dtype=queries.dtype).masked_fill(mask, -math.inf)
    return F.pad(mask.to(queries.dtype), (0, keys - mask.shape[-1]))
