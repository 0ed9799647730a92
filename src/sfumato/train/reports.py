"""Reports of a training, epoch by epoch: what is spent so far, and what can be seen without looking at private rows.

The loss of the rows that are trained on is private, and is not shown: scores are of public rows, or are paid for
(`sf.train.tune` pays for its own). How much of a noisy gradient is signal can be read off it for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import torch

from sfumato.accounting.losses.bracket import Bracket
from sfumato.errors import BadArgument
from sfumato.exact import Number, digits_up, integer
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.train.losses import by_rows
from sfumato.train.noise import Independent
from sfumato.train.scoring import TOGETHER, ScoreFunction, accuracy, public_score
from sfumato.train.trainer import LossFunction, Private
from sfumato.train.units import Units

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart


@final
@dataclass(frozen=True)
class Epoch:
    """What is known after some steps; None for what was not asked for.

    ``signal`` is about how long the mean of the clipped gradients is, over the length of its noise, in the mean of the
    steps since the last report: 0 where noise hides it.
    """

    epoch: int
    steps: int
    epsilon: Bracket
    rate: float | None
    signal: float | None
    score: float | None = None
    loss: float | None = None

    def __str__(self) -> str:
        said = [f"epoch {self.epoch}", f"{self.steps:,} steps", f"ε ≤ {digits_up(self.epsilon.upper)}"]
        more = {"lr": self.rate, "signal/noise": self.signal, "public score": self.score, "public loss": self.loss}
        return ", ".join([*said, *(f"{name} {value:.4g}" for name, value in more.items() if value is not None)])


@final
class History(Displayed):
    """The reports of a training so far."""

    def __init__(self, delta: Number | None = None) -> None:
        self.epochs: list[Epoch] = []
        self.delta = delta

    def document(self) -> Document:
        """All epochs, for any form."""
        head = ("epoch", "steps", "ε so far", "lr", "signal/noise", "public score", "public loss")
        rows = tuple(_cells(each) for each in self.epochs)
        aside = "" if self.delta is None else f"at δ = {float(self.delta):g}"
        return Document(
            "Training", f"{len(rows)} epochs", aside, tables=(Table(rows, head, right=frozenset(range(len(head)))),)
        )

    def plot(self) -> Chart:
        """Draws what was spent, the score of public rows and how much of the gradients is signal, epoch by epoch."""
        from sfumato.charts.training import history

        if not self.epochs:
            raise BadArgument("plot()", "asked after the first epoch", 0)
        return history(
            [each.epoch for each in self.epochs],
            [each.epsilon for each in self.epochs],
            scores=[each.score for each in self.epochs],
            signals=[each.signal for each in self.epochs],
            delta=self.delta,
        )


@final
class Reports:
    """Keeps a history of a training: hand it to `Private.fit`, or add it to ``private.watchers``.

    Takes:      ``public=(X, y)``, rows that nobody protects, to be scored by ``score`` and by ``loss_function``; a
                ``delta`` where the loss to keep has none; ``every``, how many steps there are between reports, those
                of an epoch where nothing is said; ``show``, what to do with each line, such as ``print``
    Gives:      ``history``, which prints and plots itself

    Nothing in it costs anything: weights and noisy gradients are what the training pays for.

    >>> from torch import nn
    >>> from sfumato.train import private
    >>> rows, labels = torch.zeros(100, 2), torch.zeros(100, dtype=torch.long)
    >>> reports = Reports(public=(rows, labels), delta=1e-5)
    >>> training = private(nn.Linear(2, 2), (rows, labels), noise_multiplier=2, batch=50, epochs=2)
    >>> _ = training.fit(nn.CrossEntropyLoss(), reports=reports)
    >>> [each.steps for each in reports.history.epochs]
    [2, 4]
    """

    def __init__(
        self,
        *,
        public: object = None,
        score: ScoreFunction = accuracy,
        loss_function: LossFunction | None = None,
        delta: Number | None = None,
        every: int | None = None,
        show: Callable[[str], object] | None = None,
    ) -> None:
        self.history = History(delta)
        self._units = None if public is None else Units(public)
        self._score, self._loss_function, self._show = score, loss_function, show
        self._every = None if every is None else integer(every, "every", least=1)
        self._signals: list[float] = []

    def after_step(self, private: Private, noise: float) -> None:
        """Adds an epoch to the history, where one has ended."""
        if isinstance(private.plan.noise, Independent):
            self._signals.append(signal_in(private, noise))
        every = self._every or steps_of_epoch(private)
        if private.taken % every and private.taken != private.plan.steps:
            return
        told = Epoch(
            epoch=math.ceil(private.taken / every),
            steps=private.taken,
            epsilon=private.spent(self.history.delta).epsilon,
            rate=_rate(private),
            signal=float(np.mean(self._signals)) if self._signals else None,
            score=None if self._units is None else float(public_score(private.model, self._units, self._score)),
            loss=self._public_loss(private),
        )
        self._signals = []
        self.history.epochs.append(told)
        if self._show is not None:
            self._show(str(told))

    def _public_loss(self, private: Private) -> float | None:
        if self._units is None or self._loss_function is None:
            return None
        of_rows, model, sums = by_rows(self._loss_function), private.model, [0.0]
        before = model.training
        model.eval()
        with torch.no_grad():
            for chunk in self._units.chunks(np.arange(self._units.count), 0, TOGETHER):
                inputs, *labels = chunk.rows
                lost = of_rows(model(inputs), *labels)
                sums.append(float((lost.flatten(1).mean(dim=1) if lost.dim() > 1 else lost).sum()))
        model.train(before)
        return sum(sums) / max(self._units.count, 1)


def signal_in(private: Private, noise: float) -> float:
    """About how long a mean gradient is over the length of its noise, from the noisy one alone.

    The squared length of the noisy gradient is, in the mean, that of the gradient and that of the noise together.
    """
    grads = [each.grad for each in private.model.parameters() if each.grad is not None]
    squared = sum(float((each.double() ** 2).sum()) for each in grads)
    hidden = noise**2 * sum(each.numel() for each in grads)
    return math.sqrt(max(squared - hidden, 0.0) / hidden) if hidden else math.inf


def steps_of_epoch(private: Private) -> int:
    """How many steps there are in an epoch, by public numbers; a tenth of all where no size is known."""
    size = getattr(private.plan.batches, "size", None)
    return max(1, math.ceil(size / private.plan.batches.expected) if size else math.ceil(private.plan.steps / 10))


def _rate(private: Private) -> float | None:
    rates: Sequence[float] = [float(group["lr"]) for group in private.optimizer.param_groups if "lr" in group]
    return rates[0] if rates else None


def _cells(each: Epoch) -> tuple[str, ...]:
    more = ("" if value is None else f"{value:.4g}" for value in (each.rate, each.signal, each.score, each.loss))
    return f"{each.epoch}", f"{each.steps:,}", str(each.epsilon), *more
