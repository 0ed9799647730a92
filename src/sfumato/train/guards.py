"""Guards around a training: a model that stays what was checked, steps that are taken in one place, made-up rows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, final

import torch
from torch import Tensor, nn

from sfumato.errors import BadArgument
from sfumato.train.taps import as_written
from sfumato.train.trial import CLOSE, made_up, run_or_nothing
from sfumato.train.units import Rows

HELD = "_steps_of_private"
"""Under this name an optimizer keeps what guards it, so that a later training of the same one takes its place."""


@final
class Guard:
    """Holds a training to what was checked: the same parameters, and no step of the optimizer but its own."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self._model, self._optimizer, self._stepping = model, optimizer, False
        self._known = check_optimizer(model, optimizer)
        earlier = vars(optimizer).get(HELD)
        if earlier is not None:
            earlier.remove()
        vars(optimizer)[HELD] = optimizer.register_step_pre_hook(self._check_step)

    def check(self) -> None:
        """Refuses a model whose trained parameters are others by now, and an optimizer that holds others."""
        now = _trained(self._model)
        if len(now) != len(self._known) or any(one is not other for one, other in zip(now, self._known, strict=True)):
            must = (
                "trained as it was given to private(): parameters that were put in, frozen or set free since then have "
                "no noise. Call private() again, with a key of its own"
            )
            raise BadArgument("the model", must, "one with other parameters to train")
        if _held(self._optimizer) - {id(each) for each in self._known}:
            raise _another_optimizer()

    def step(self) -> None:
        """Takes the one step of the optimizer that is allowed: on gradients that have noise."""
        self._stepping = True
        try:
            self._optimizer.step()
        finally:
            self._stepping = False

    def _check_step(self, *_: Any) -> None:
        if not self._stepping:
            must = (
                "left to private.step(losses), which takes it with clipped gradients and noise: a step beside it, on "
                "batches of a loader, has neither, and nobody paid for it"
            )
            raise BadArgument("optimizer.step()", must, "called")


def check_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[nn.Parameter]:
    """The trained parameters of a model; refuses an optimizer that holds others, or not all of them."""
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise BadArgument("optimizer", "one of torch.optim, of all parameters of the model", type(optimizer).__name__)
    trained = _trained(model)
    if _held(optimizer) != {id(each) for each in trained}:
        raise _another_optimizer()
    return trained


def _held(optimizer: torch.optim.Optimizer) -> set[int]:
    return {id(each) for group in optimizer.param_groups for each in group["params"] if each.requires_grad}


def _another_optimizer() -> BadArgument:
    return BadArgument("optimizer", "one of all parameters of the model that require gradients", "another")


def _trained(model: nn.Module) -> list[nn.Parameter]:
    return [each for each in model.parameters() if each.requires_grad]


def device_of(model: nn.Module) -> torch.device:
    """Where a model is: the device of its first parameter."""
    return next((each.device for each in model.parameters()), torch.device("cpu"))


def moved(rows: Rows, device: torch.device) -> Rows:
    """Rows on a device; what is no tensor stays as it is, but for dictionaries of tensors."""

    def move(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: move(inner) for name, inner in part.items()}
        return part.to(device) if isinstance(part, Tensor) else part

    return tuple(move(part) for part in rows)


def check_fits(model: nn.Module, example: Rows) -> None:
    """Refuses a model that does not take the first part of rows as the data has them; on made-up rows.

    It is for whoever calls the model so, as `fit` does: loops of one's own may change rows before.
    """
    inputs = example[0] if example else None
    if not isinstance(inputs, Tensor) or not len(inputs):
        return
    with _apart():
        try:
            copy.deepcopy(as_written(model))(*made_up(model, (inputs,), 3))
            return
        except Exception as fault:  # of a model that others wrote
            said = f"one that failed on made-up rows: {_first(fault)}"
    must = f"one that takes rows as the data has them: {tuple(inputs.shape[1:])} numbers of {inputs.dtype} each"
    raise BadArgument("model", must, said)


def check_outputs(model: nn.Module, example: Rows, labels: Tensor | None) -> None:
    """Refuses a model whose outputs are not rows first, and labels of classes that it has no output for.

    Whole numbers, one a row, beside outputs of which each row has several, are places of classes; -100 stands for none,
    as in torch. Numbers to come near to are given as floats. A model that takes other rows is left to who calls it.
    """
    if not isinstance(model, nn.Module) or not _trained(model) or any(each.is_meta for each in model.parameters()):
        return  # which is refused with other words
    with _apart():
        given = run_or_nothing(copy.deepcopy(as_written(model)), made_up(model, example, 3)) if example else None
    if not isinstance(given, Tensor):
        return
    if given.dim() == 0 or len(given) != 3:
        must = "one that gives something for each row, the rows first: of 3 rows, 3"
        raise BadArgument("model", must, f"outputs of shape {tuple(given.shape)}")
    whole = labels is not None and not (labels.is_floating_point() or labels.is_complex() or labels.dtype == torch.bool)
    if labels is None or not whole or labels.dim() != 1 or given.dim() != 2 or given.shape[1] < 2:
        return
    classes = given.shape[1]
    if bool((((labels < 0) & (labels != -100)) | (labels >= classes)).any()):
        must = (
            f"within 0 to {classes - 1}, for the model has {classes} outputs; of numbers to come near to, make floats"
        )
        raise BadArgument("labels", must, "others")


def check_loss(of_rows: Callable[..., Tensor], model: nn.Module, example: Rows) -> None:
    """Refuses a loss function that fails, averages, or lets rows have a say in what others lose; on made-up rows."""
    if not example or len(example[0]) < 2 or not all(isinstance(part, Tensor) for part in example):
        return  # nothing is known of how other rows are made up
    inputs, *labels = example
    (first,), (others,) = made_up(model, (inputs,), 2), made_up(model, (inputs,), 2)
    others[:1] = first[:1]
    try:
        lost = _lost(of_rows, model, (first, others), labels, other=1)
    except Exception:
        lost = None
    if lost is None:  # one class alone, perhaps
        try:
            lost = _lost(of_rows, model, (first, others), labels, other=0)
        except Exception as fault:
            said = _first(fault)
            raise BadArgument("loss_function", "one of what the model gives and the labels", said) from None
    for each in lost:
        check_by_rows(each, len(first))
    one, other = (each.detach()[0].double().mean() for each in lost)
    if not bool((one - other).abs() <= CLOSE * (one.abs() + 1)) and bool(torch.isfinite(one + other)):
        must = (
            "one whose loss for a row depends on that row alone: change another row, and it must stay. Averages over a "
            "batch, and outputs (n, 1) beside labels (n), which torch spreads out to n by n, mix rows"
        )
        raise BadArgument("loss_function", must, "another")


def check_by_rows(losses: object, rows: int) -> None:
    """Refuses a loss that is no vector of one number a row, or one number that was spread out over all rows."""
    must = f"one number for each of the {rows} rows, by reduction='none': an average hides whose it is"
    if not isinstance(losses, Tensor) or losses.dim() == 0 or len(losses) != rows:
        raise BadArgument("the loss", must, tuple(losses.shape) if isinstance(losses, Tensor) else "another")
    if rows > 1 and losses.stride(0) == 0:
        raise BadArgument("the loss", must, "one number, spread out over all rows")


def _lost(
    of_rows: Callable[..., Tensor], model: nn.Module, rows: tuple[Tensor, Tensor], labels: list[Tensor], *, other: int
) -> list[Tensor]:
    """The losses of both versions of some rows, of which the first is the same: labels are 0, and ``other``."""
    made = []
    for place, inputs in enumerate(rows):
        with _apart():
            given = copy.deepcopy(as_written(model))(inputs)
            said = [torch.zeros_like(each) for each in labels]
            for each in said:
                each[1:] = other * place
            made.append(of_rows(given, *said))
    return made


@contextmanager
def _apart() -> Iterator[None]:
    """Without gradients, and with torch's random numbers as they were and always the same."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        yield


def _first(fault: Exception) -> str:
    """What kind of error it was, and its first line: nothing but made-up rows and weights can be in it."""
    line = (str(fault).splitlines() or [""])[0]
    return f"{type(fault).__name__}: {line[:200]}"
