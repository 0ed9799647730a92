"""A trial of a model on made-up rows, before anything is paid: where rows are in what its layers see, and whether the
gradients that are read off the notes are those of plain torch, one row at a time."""

from __future__ import annotations

import copy
import inspect
from fractions import Fraction
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from sfumato.entropy import system
from sfumato.errors import BadArgument
from sfumato.noise.bernoulli import Bernoulli
from sfumato.train.layers.spread import FORMS, copies
from sfumato.train.noise import normal_like
from sfumato.train.taps import Layout, Notes, as_written, first_rows
from sfumato.train.units import Rows

CLOSE = 1e-4
"""How far apart numbers may be, relatively, that should be equal: floats are added up in another order."""

MOST = 64
"""How often layers that are given the same for all rows are looked for."""

Inputs: TypeAlias = tuple[Tensor, ...]

Lines: TypeAlias = list[tuple[str, list[tuple[int, ...]], tuple[int, ...] | None]]
"""Of each call of a layer: its name, and the shapes of what it saw and gave."""


def layout_of(model: nn.Module, example: Rows) -> Layout:
    """Where rows are in what the layers of a model see; refuses a model whose units cannot be told apart.

    Only shapes and types of the example are looked at. If the model does not run on rows like it, because it is called
    in another way later, rows are taken to come first everywhere.
    """
    with torch.random.fork_rng(devices=[]):
        tried, rows = _copy_that_runs(model, example)
        if tried is None:
            return Layout()
        layout = Layout()
        _find_forms(tried, rows, layout)
        try:
            _find_rows(tried, rows, layout)
            layout.whole.update(differing(tried, rows, layout))
            wrong = differing(tried, rows, layout) if layout.whole else set()
            if not wrong:
                tried.train(model.training)
                gradients = _noted(tried, rows, layout)
                if gradients is not None:
                    gradients.squared_norms()  # layers that run again may meet what is random
        except BadArgument:
            raise
        except Exception as error:
            must = (
                "one whose modules with parameters of their own can run once more for each unit by torch.func: "
                "without dropout, state or changes in place. Layers such as nn.Linear have no such need"
            )
            raise BadArgument("model", must, type(error).__name__) from error
    if wrong:
        must = "one whose gradients can be told apart by rows, with rows in the first dimension"
        raise BadArgument("model", must, f"another: {min(wrong)}")
    return layout


def made_up(model: nn.Module, example: Rows, rows: int) -> Inputs:
    """Random inputs of the shapes and types of the first parts of an example, as many as a model asks for.

    Normal numbers, or zeros and ones, on the device of the model; nothing where there are no such parts.
    """
    forward = as_written(model).forward
    asked = [
        each
        for each in inspect.signature(forward).parameters.values()
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    parts = example[: max(1, sum(each.default is each.empty for each in asked))]
    if not parts or not all(isinstance(part, Tensor) and part.dim() for part in parts):
        return ()
    device = next(model.parameters()).device
    return tuple(_random(torch.Size([rows, *part.shape[1:]]), part).to(device) for part in parts)


def _random(shape: torch.Size, like: Tensor) -> Tensor:
    if like.is_floating_point():
        return normal_like(shape, 1.0, system()).to(like.dtype)
    bits = Bernoulli(Fraction(1, 2)).samples(shape.numel(), system())
    return torch.from_numpy(bits).view(shape).to(like.dtype)


def run_or_nothing(model: nn.Module, rows: Inputs) -> Any:
    """What a model gives for some rows; None where it takes others."""
    try:
        return model(*rows)
    except Exception:  # whatever a model may raise of what it was not made for
        return None


def _copy_that_runs(model: nn.Module, example: Rows) -> tuple[nn.Module | None, Inputs]:
    """A copy of a model and three rows it runs on: at double precision if it can."""
    rows = made_up(model, example, 3)
    if not rows:
        return None, ()
    tried = copy.deepcopy(as_written(model)).eval()
    with torch.no_grad():
        double = copy.deepcopy(tried).double()
        wide = tuple(each.double() if each.is_floating_point() else each for each in rows)
        if run_or_nothing(double, wide) is not None:
            return double, wide
        return (None if run_or_nothing(tried, rows) is None else tried), rows


def _first(rows: Inputs, many: int) -> Inputs:
    return tuple(each[:many] for each in rows)


def _find_forms(model: nn.Module, rows: Inputs, layout: Layout) -> None:
    """Parameters that belong to no layer, and of which each row may have a copy: outputs must be those of each row
    alone with its own copy."""
    for name, layer, how in Notes(model).listened:
        for own, each in layer.named_parameters(recurse=False) if how is Notes.hold else ():
            if each.requires_grad:
                form = next((form for form in FORMS if _fits(model, rows, layer, own, form)), None)
                if form is not None:
                    layout.forms[f"{name}.{own}"] = form


def _fits(model: nn.Module, rows: Inputs, layer: nn.Module, own: str, form: str) -> bool:
    """Tells whether a form of copies gives each row what it would have alone."""
    parameter: Any = getattr(layer, own)
    if copies(parameter, 1, form) is None:
        return False
    rows = _first(rows, 2)
    with torch.no_grad():
        return _alike(model, rows, layer, own, form)


def _alike(model: nn.Module, rows: Inputs, layer: nn.Module, own: str, form: str) -> bool:
    parameter: Any = getattr(layer, own)
    moved = [parameter + normal_like(parameter.shape, 1.0, system()).to(parameter) for _ in range(2)]

    def give(layer: nn.Module, given: Any, named: Any) -> None:
        many = first_rows(given, named) // 2
        each = [copies(one, many, form) for one in moved]
        layer.__dict__[own] = torch.cat([one for one in each if one is not None])

    handle = layer.register_forward_pre_hook(give, with_kwargs=True)
    try:
        together = run_or_nothing(model, rows)
    finally:
        handle.remove()
        layer.__dict__.pop(own, None)
    if together is None:
        return False
    before, close = parameter.clone(), True
    for place, value in enumerate(moved):
        parameter.copy_(value)
        alone = model(*(each[place : place + 1] for each in rows))
        close = close and all(
            one.shape[1:] == other.shape[1:] and _near(one[place], other[0])
            for one, other in zip(_floats(together), _floats(alone), strict=True)
        )
    parameter.copy_(before)
    return close


def _near(one: Tensor, other: Tensor) -> bool:
    """Tells whether two tensors are equal up to rounding."""
    if one.shape != other.shape:
        return False
    rough = CLOSE if torch.finfo(one.dtype).eps < 1e-4 else 100 * CLOSE
    return not one.numel() or bool((one - other).abs().max() <= rough * (other.abs().max() + 1))


def _floats(output: Any) -> list[Tensor]:
    return [
        each for each in tree_leaves(output) if isinstance(each, Tensor) and each.is_floating_point() and each.dim()
    ]


def _find_rows(model: nn.Module, rows: Inputs, layout: Layout) -> None:
    """Compares the shapes of what layers see of two rows and of three."""
    for _ in range(MOST):
        lines = [_lines(model, _first(rows, many), layout) for many in (2, 3)]
        before = len(layout.without_rows)
        for (name, seen, given), (_, more, others) in zip(*lines, strict=True):
            if given is None or others is None:
                layout.rows_of[name] = tuple(one != other for one, other in zip(seen, more, strict=True))
                continue
            changed = [place for place, sizes in enumerate(zip(given, others, strict=True)) if sizes[0] != sizes[1]]
            if changed:
                layout.dimensions.update({name: changed[0]} if changed[0] else {})
            elif name not in layout.without_rows:
                layout.without_rows.add(name)
                break  # layers after it see its rows now
        if len(layout.without_rows) == before:
            return


def _lines(model: nn.Module, rows: Inputs, layout: Layout) -> Lines:
    lines: Lines = []

    def watch(name: str, seen: Any, output: Any) -> None:
        shapes = [tuple(each.shape) if isinstance(each, Tensor) else () for each in seen]
        lines.append((name, shapes, None if output is None else tuple(output.shape)))

    notes = Notes(model, layout)
    notes.watch = watch
    notes.begin()
    try:
        model(*rows)
    finally:
        notes.end()
    return lines


def _losses(output: Any, many: int) -> Tensor | None:
    """A loss that is a sum over rows and no linear function of outputs; nothing where no output has rows."""
    parts = [each for each in _floats(output) if each.requires_grad and many in each.shape]
    return torch.stack([(each**2 + each).sum() for each in parts]).sum() if parts else None


def _noted(model: nn.Module, rows: Inputs, layout: Layout) -> Any:
    notes = Notes(model, layout)
    notes.begin()
    try:
        loss = _losses(model(*_first(rows, 2)), 2)
        if loss is not None:
            loss.backward()
    finally:
        notes.end()
    return notes.gradients(2) if loss is not None else None


def differing(model: nn.Module, rows: Inputs, layout: Layout) -> set[str]:
    """The names of parameters whose gradients are not those of plain torch for each of two rows by itself."""
    gradients = _noted(model, rows, layout)
    if gradients is None:
        return set()
    squared = gradients.squared_norms()
    names = {name: each for name, each in model.named_parameters() if each.requires_grad}
    wrong: set[str] = set()
    for row in range(2):
        model.zero_grad()
        loss = _losses(model(*(each[row : row + 1] for each in rows)), 1)
        if loss is None:
            return set()
        loss.backward()
        weights = {name: torch.eye(2, device=each.device)[row] for name, each in squared.items()}
        sums = gradients.weighted(weights)
        for name, each in names.items():
            plain = torch.zeros_like(each) if each.grad is None else each.grad
            if not _near(sums.get(each, torch.zeros_like(each)).to(each.dtype), plain):
                wrong.add(name)
    model.zero_grad()
    return wrong
