"""Checks of a model before anything is paid: no row may have a say in what another one gives."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm
from torch.nn.parameter import UninitializedParameter

from sfumato.errors import BadArgument
from sfumato.train.taps import Layout, as_written
from sfumato.train.trial import CLOSE, layout_of, made_up, run_or_nothing
from sfumato.train.units import Rows


def check_model(model: nn.Module, example: Rows) -> Layout:
    """Refuses a model that mixes rows, has weights that are no numbers, or nothing to train.

    ``example`` are two rows or more, of which only shapes and types are looked at. What comes back tells where rows
    are in what its layers see, as was tried on made-up ones.
    """
    if not isinstance(model, nn.Module):
        raise BadArgument("model", "a torch.nn.Module", type(model).__name__)
    trained = [each for each in model.parameters() if each.requires_grad]
    if not trained:
        raise BadArgument("model", "one with parameters that require gradients", "none of its parameters does")
    if any(isinstance(each, UninitializedParameter) or each.is_meta for each in model.parameters()):
        must = "one whose weights are there: run a lazy one once on an example, and give a meta one memory by to_empty"
        raise BadArgument("model", must, "one without weights")
    if len({each.device for each in model.parameters()}) > 1:
        raise BadArgument("model", "one on a single device", "one on several")
    if not all(bool(torch.isfinite(each).all()) for each in trained):
        raise BadArgument("model", "one whose weights are finite numbers", "some are not")
    if mixing := [name for name, layer in model.named_modules() if mixes(layer)]:
        must = (
            "one whose layers look at each row by itself. Normalising by the rows of a batch lets every row have a say "
            "in what the others give: sf.train.replaced(model) puts GroupNorm in its place"
        )
        raise BadArgument(
            "model", must, f"one with {type(dict(model.named_modules())[mixing[0]]).__name__}: {mixing[0]}"
        )
    for name, layer in model.named_modules():
        check_layer(name, layer)
    if not independent(model, example):
        must = "one whose output for a row depends on that row alone: change another row, and it must stay"
        raise BadArgument("model", must, "another")
    return layout_of(model, example)


def check_layer(name: str, layer: nn.Module) -> None:
    """Refuses tables whose weights or gradients are changed by what a batch looks up."""
    if isinstance(layer, nn.Embedding | nn.EmbeddingBag):
        if layer.max_norm is not None:
            must = "one without max_norm, which changes the weights of just the words that are looked up"
            raise BadArgument(f"nn.{type(layer).__name__}", must, f"one with max_norm: {name}")
        if layer.scale_grad_by_freq:
            must = "one without scale_grad_by_freq, which lets every row have a say in what the others give"
            raise BadArgument(f"nn.{type(layer).__name__}", must, f"one with it: {name}")


def mixes(layer: nn.Module) -> bool:
    """Tells whether a layer is known to mix rows, or to remember them."""
    return isinstance(layer, _BatchNorm) or (isinstance(layer, _InstanceNorm) and layer.track_running_stats)


def independent(model: nn.Module, example: Rows) -> bool:
    """Tries on made-up rows whether the output for one stays when all others change."""
    first, others = made_up(model, example, 2), made_up(model, example, 2)
    if not first or not others:
        return True  # nothing is known of how other inputs are made up
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        for one, other in zip(first, others, strict=True):
            other[:1] = one[:1]
        given = [_output(model, rows) for rows in (first, others)]
    if any(made is None for made in given):
        return True
    one, other = (made[0].flatten().double() for made in given if made is not None)
    apart = (one - other).abs().max() if one.numel() else torch.zeros(())
    return bool(apart <= CLOSE * (one.abs().max() + 1))


def _output(model: nn.Module, rows: tuple[Tensor, ...]) -> Tensor | None:
    """The output of a copy of the model, which remembers nothing of it; None where it is no tensor, or takes others."""
    torch.manual_seed(0)
    made = run_or_nothing(copy.deepcopy(as_written(model)), rows)
    return made if isinstance(made, Tensor) and made.dim() else None


def beside(model: nn.Module, rows: Rows) -> Rows:
    """Rows on the device of a model."""
    device = next(model.parameters()).device
    return tuple(part.to(device) if isinstance(part, Tensor) else part for part in rows)


def replaced(model: nn.Module) -> nn.Module:
    """A copy of a model with GroupNorm in the place of every BatchNorm, and InstanceNorm that remembers nothing.

    >>> [type(each).__name__ for each in replaced(nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 1)))]
    ['GroupNorm', 'Linear']
    """
    made = copy.deepcopy(model)
    if mixes(made):
        return _instead(made)
    for layer in list(made.modules()):
        for name, inner in list(layer.named_children()):
            if mixes(inner):
                setattr(layer, name, _instead(inner))
    return made


def _instead(layer: nn.Module) -> nn.Module:
    if isinstance(layer, _InstanceNorm):
        return type(layer)(layer.num_features, eps=layer.eps, affine=layer.affine, track_running_stats=False)
    if not isinstance(layer, _BatchNorm):
        raise TypeError(layer)
    groups = max(many for many in range(1, 33) if layer.num_features % many == 0)
    return nn.GroupNorm(groups, layer.num_features, eps=layer.eps, affine=layer.affine)
