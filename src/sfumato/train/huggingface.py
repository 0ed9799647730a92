"""Private training with Hugging Face's `Trainer`: its arguments, data sets and callbacks, and the batches of a plan.

What the models of that library give as their loss is an average over the batch, which hides whose it is. Here the loss
of each row is worked out from its outputs, of sequences as the mean over its own tokens.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeAlias, final

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from sfumato.errors import BadArgument, MissingExtra
from sfumato.train.guards import moved
from sfumato.train.layers.gradients import Call, Gradients, Sums, by_unit, reads
from sfumato.train.layers.products import products
from sfumato.train.positional import positional
from sfumato.train.row_losses import losses_of_rows
from sfumato.train.start import private
from sfumato.train.trainer import Private

HERE = find_spec("transformers") is not None and find_spec("accelerate") is not None

if HERE:
    from transformers import Trainer
    from transformers.pytorch_utils import Conv1D
    from transformers.trainer_utils import TrainOutput
else:
    Trainer, TrainOutput, Conv1D = object, Any, None

RowLoss: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""Compares outputs with labels, one number a row."""

LABELS = "labels"


def conv1d(call: Call) -> Gradients:
    """The layer y = x·W + b: a linear one whose weights lie the other way."""
    made = products(by_unit(call.seen[0], call.units), by_unit(call.back, call.units), bias=call.bias)

    def turned(sums: Sums) -> Sums:
        return {name: part.transpose(-2, -1) if name == "weight" else part for name, part in sums.items()}

    return Gradients(made.squared, lambda weights: turned(made.weighted(weights)), lambda: turned(made.each()))


if HERE:
    reads(Conv1D)(conv1d)


@final
class PrivateTrainer(Trainer):  # type: ignore[misc]
    """A `transformers.Trainer` whose `train` is private: the same arguments, and ``privacy``, what `private` is given.

    Takes:      a model, ``args``, ``train_dataset`` and ``data_collator`` as `Trainer` does; ``privacy`` with a loss or
                a noise_multiplier, and clip, people, session, key … as `private` takes them; ``row_loss``, a function
                of outputs and labels, where the loss of a row is not that of its classes, tokens or numbers
    Guarantee:  that of `private`: the loss of the plan, of all weights after all steps  (proofs/training.md#steps)

    A batch has ``per_device_train_batch_size`` · ``gradient_accumulation_steps`` rows on average, of which the first
    number pass at once. Optimizer, learning rate and its schedule are those of ``args``; ``max_grad_norm``, which is
    about whole batches, counts for nothing. Losses of batches are not private, and none is logged.
    """

    def __init__(self, *args: Any, privacy: Mapping[str, Any], row_loss: RowLoss | None = None, **kwargs: Any) -> None:
        if not HERE:
            raise MissingExtra("sf.train.PrivateTrainer", package="transformers accelerate")
        super().__init__(*args, **kwargs)
        self.privacy, self.row_loss = dict(privacy), row_loss
        self.private: Private | None = None
        self.control: Any = self.control

    def train(self, *args: Any, **kwargs: Any) -> TrainOutput:
        """Takes all steps of the plan, which is charged first where ``privacy`` has a session."""
        if any(each for each in (*args, *kwargs.values())):
            must = "called without arguments: go on by the key of a session, and private.save"
            raise BadArgument("train()", must, "others")
        training = self.prepare_private()
        shape, state = training.model, self.state
        state.max_steps, state.num_train_epochs = training.plan.steps, int(self.args.num_train_epochs)
        self.control = self.callback_handler.on_train_begin(self.args, state, self.control)
        self.model.train()
        for *inputs, labels in training.batches():
            given = moved((*inputs, labels), self.args.device)
            training.step(self.losses_of(shape(*given[:-1]), given[-1]))
            if training.between_steps:
                self._after(training)
            if self.control.should_training_stop:
                break
        self.control = self.callback_handler.on_train_end(self.args, state, self.control)
        return TrainOutput(training.taken, float("nan"), {})

    def prepare_private(self) -> Private:
        """The `Private` that `train` goes through: planned, checked and paid for."""
        if self.private is not None:
            return self.private
        args, names = self.args, self._names()
        together = args.per_device_train_batch_size
        asked: dict[str, Any] = {"batch": together * args.gradient_accumulation_steps, "largest": together}
        asked |= {"steps": args.max_steps} if args.max_steps > 0 else {"epochs": args.num_train_epochs}
        data, model = _Rows(self.train_dataset), positional(self.model, names, partial(_logits, names), needed=1)
        size = self.privacy.get("size") or len(data)
        epochs = math.ceil(args.num_train_epochs * size / asked["batch"])
        self.create_optimizer_and_scheduler(asked.get("steps", epochs))
        asked |= {"optimizer": self.optimizer, "scheduler": self.lr_scheduler}
        asked |= {"collate": partial(_in_order, self.data_collator, (*names, LABELS))}
        self.private = private(model, data, **(asked | self.privacy))
        return self.private

    def losses_of(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """The losses of rows."""
        if self.row_loss is not None:
            return self.row_loss(outputs, labels)
        name = type(self.model).__name__
        shifted = name.endswith(("ForCausalLM", "LMHeadModel")) and not self.model.config.is_encoder_decoder
        return losses_of_rows(outputs, labels, shifted=shifted, smoothing=self.args.label_smoothing_factor)

    def _after(self, training: Private) -> None:
        self.state.global_step, self.state.epoch = training.taken, training.taken / training.plan.steps
        self.control = self.callback_handler.on_step_end(self.args, self.state, self.control)

    def _names(self) -> list[str]:
        """What the model is given of a row, in the order in which it asks."""
        if self.train_dataset is None or isinstance(self.train_dataset, torch.utils.data.DataLoader):
            raise BadArgument("train_dataset", "the data set itself, and no loader", type(self.train_dataset).__name__)
        first = self.data_collator([self.train_dataset[0]])
        if LABELS not in first:
            raise BadArgument("train_dataset", f"one of rows with {LABELS}, after the data_collator", sorted(first))
        asked = inspect.signature(self.model.forward).parameters
        return [name for name in asked if name in first and name != LABELS]


@final
class _Rows(Dataset[Any]):  # type: ignore[misc]
    """Any sequence as a data set of torch's."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __len__(self) -> int:
        return len(self.held)

    def __getitem__(self, place: int) -> Any:
        return self.held[place]


def _in_order(
    collate: Callable[[list[Any]], Mapping[str, Any]], names: Sequence[str], rows: list[Any]
) -> tuple[Any, ...]:
    made = collate(rows)
    return tuple(made[name] for name in names)


def _logits(names: Sequence[str], model: nn.Module, *parts: Tensor) -> Tensor:
    return model(**dict(zip(names, parts, strict=False)), return_dict=True).logits
