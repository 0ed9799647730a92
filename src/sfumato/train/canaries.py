"""Canaries for the audit of a training: made-up units, in or out by fair coins, and what a run shows of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sfumato.accounting.relation import Relation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Several
from sfumato.exact import integer
from sfumato.train.losses import by_rows

Numbers: TypeAlias = NDArray[np.float64]
"""One number for each canary, or several."""

Look: TypeAlias = Callable[[Numbers, Numbers], Numbers]
"""Scores all canaries by what a run showed and by what a run with all of them in it did."""

FOLDED = "the same steps of every epoch"
"""The look for batches that come again; it has to be told how many steps an epoch has."""


@final
@dataclass(frozen=True, eq=False)
class Task:
    """What a trainer that is audited is given: a model, rows to train it on, whose they are, and a loss by rows."""

    model: nn.Module
    data: tuple[Tensor, ...]
    people: tuple[int, ...]
    """Whose each row is: the number of its canary."""
    loss: Callable[..., Tensor]
    """``loss(model(X), y)``: one number for each row."""
    size: int
    """A public number of units, near the true one."""
    entropy: Entropy
    _watch: Callable[[], None] = field(default=lambda: None, repr=False)

    def watch(self) -> None:
        """Notes the weights as they are. Models of canaries do so by themselves whenever a batch passes."""
        self._watch()


class Canaries(ABC):
    """Some made-up units, each in the data or not, and ways to tell which from what a run makes public."""

    count: int
    looks: Mapping[str, Look]

    @abstractmethod
    def task(self, included: Sequence[bool], relation: Relation, entropy: Entropy) -> Task:
        """The task of a run with some of the canaries."""

    @abstractmethod
    def seen(self, task: Task) -> Numbers:
        """What the run showed, after it."""


@final
@dataclass(frozen=True)
class GradientCanaries(Canaries):
    """Units whose gradients point in directions of their own: whoever sees all weights sees each of them by itself.

    Each canary has one entry in each of some ``layers``, and ``rows`` rows, whose gradients are ``length`` long there:
    far longer than any bound of clipping. A step that is right leaves of it what the bound allows, and hides that.

    >>> from sfumato.entropy import ReplayEntropy
    >>> task = GradientCanaries(3, layers=2).task((True, False, True), Relation.ADD_REMOVE, ReplayEntropy(1))
    >>> task.data[0].tolist(), task.people
    ([0, 2], (0, 2))
    """

    count: int
    layers: int = 4
    length: float = 1e3
    rows: int = 1

    def __post_init__(self) -> None:
        for name in ("count", "layers", "rows"):
            object.__setattr__(self, name, integer(getattr(self, name), name, least=1))
        if not self.length > 0:
            raise BadArgument("length", "greater than 0", self.length)

    @property
    def looks(self) -> Mapping[str, Look]:  # type: ignore[override]
        return WEIGHTS

    def task(self, included: Sequence[bool], relation: Relation, entropy: Entropy) -> Task:
        coins = np.array(included, dtype=bool)
        signs = {
            Relation.ADD_REMOVE: np.where(coins, 1.0, np.nan),  # one that is out is not there,
            Relation.ZERO_OUT: coins * 1.0,  # is blank,
            Relation.CHANGE_ONE: np.where(coins, 1.0, -1.0),  # or is another one, as far away as can be
        }[relation]
        there = np.flatnonzero(~np.isnan(signs)).repeat(self.rows)
        model = _Directions(self.count, self.layers)
        data = torch.from_numpy(there), torch.from_numpy(self.length * signs[there]).float()
        return Task(model, data, tuple(there.tolist()), _along, self.count, entropy, model.watch)

    def seen(self, task: Task) -> Numbers:
        """By steps, layers and canaries: how far the weights moved the canary's way."""
        if not isinstance(task.model, _Directions):
            raise TypeError(task.model)
        return task.model.moves()


@final
class _Directions(nn.Module):  # type: ignore[misc]
    """A model of one number for each canary in each layer, which notes its weights whenever they have changed."""

    def __init__(self, count: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Embedding(count, 1) for _ in range(layers))
        for layer in self.layers:
            nn.init.zeros_(layer.weight)
        self._weights: list[Tensor] = []
        self.watch()

    def forward(self, canaries: Tensor) -> Tensor:
        self.watch()
        return torch.stack([layer(canaries).squeeze(-1) for layer in self.layers]).sum(dim=0)

    def watch(self) -> None:
        weights = [layer.weight.detach() for layer in self.layers]
        if any(torch._C._functorch.is_functorch_wrapped_tensor(each) for each in weights):  # torch.func
            return
        now = torch.stack(weights)[..., 0].cpu()
        if not self._weights or not torch.equal(self._weights[-1], now):
            self._weights.append(now)

    def moves(self) -> Numbers:
        self.watch()
        return np.diff(torch.stack(self._weights).double().numpy(), axis=0)


def _along(outputs: Tensor, labels: Tensor) -> Tensor:
    """A loss that falls along the direction of each canary."""
    return -labels * outputs


def _total(moves: Numbers, _: Numbers) -> Numbers:
    """All that moved, each layer in units of its own spread."""
    whole = moves.sum(axis=0)
    spread = whole.std(axis=1, keepdims=True)
    return np.asarray((whole / np.where(spread > 0, spread, 1)).sum(axis=0))


def _unsteady(moves: Numbers, _: Numbers) -> Numbers:
    """How much the steps differ from each other: noise that is the same in all of them hides nothing of that."""
    return np.asarray(moves.sum(axis=1).std(axis=0)) if len(moves) else np.zeros(moves.shape[2])


def _barest(moves: Numbers, _: Numbers) -> Numbers:
    """The layer with the fewest values: where noise is missing, many canaries move alike."""
    whole = moves.sum(axis=0)
    return np.asarray(whole[min(range(len(whole)), key=lambda layer: len(np.unique(whole[layer])))])


def _apart(moves: Numbers, with_all: Numbers) -> Numbers:
    """How a run differs from one with all canaries in it, to scale: noise that is the same in both hides nothing."""
    one, other = moves.sum(axis=0), with_all.sum(axis=0)
    middle = other - other.mean()
    scale = (one * middle).sum() / max((middle * middle).sum(), np.finfo(np.float64).tiny)
    return np.asarray((one - scale * other).sum(axis=0))


def folded(epoch: int) -> Look:
    """The most that moved in one batch, where batches come again every so many steps."""

    def look(moves: Numbers, _: Numbers) -> Numbers:
        steps = moves.sum(axis=1)
        batches = [steps[place::epoch].sum(axis=0) for place in range(min(epoch, len(steps)))]
        return np.asarray(np.max(batches, axis=0)) if batches else np.zeros(steps.shape[1])

    return look


WEIGHTS: Mapping[str, Look] = {
    "all that moved": _total,
    "steps that differ": _unsteady,
    "the barest layer": _barest,
    "two runs apart": _apart,
}
"""What is looked for in the weights of all steps."""


@final
@dataclass(frozen=True, eq=False)
class RowCanaries(Canaries):
    """Rows that stand out, such as wrongly labelled ones, for a model of one's own, of which only losses are seen.

    ``model`` makes the model anew for each run; ``besides`` is public data that is always in.
    """

    model: Callable[[], nn.Module]
    inputs: Tensor
    labels: Tensor
    loss: Callable[..., Tensor]
    besides: tuple[Tensor, Tensor] | None = None

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.labels) or not len(self.inputs):
            raise BadArgument("labels", "one for each input", Several(len(self.inputs), len(self.labels)))

    @property
    def count(self) -> int:  # type: ignore[override]
        return len(self.inputs)

    @property
    def looks(self) -> Mapping[str, Look]:  # type: ignore[override]
        return LOSSES

    def task(self, included: Sequence[bool], relation: Relation, entropy: Entropy) -> Task:
        if relation is not Relation.ADD_REMOVE:
            raise BadArgument("relation", "add/remove: a row canary that is out is not there", relation.value)
        places = np.flatnonzero(included)
        data = self.inputs[torch.from_numpy(places)], self.labels[torch.from_numpy(places)]
        others = 0
        if self.besides is not None:
            others = len(self.besides[0])
            data = torch.cat([self.besides[0], data[0]]), torch.cat([self.besides[1], data[1]])
        people = (*range(self.count, self.count + others), *places.tolist())
        return Task(self.model(), data, people, by_rows(self.loss), self.count + others, entropy)

    def seen(self, task: Task) -> Numbers:
        """How little each canary costs the model."""
        task.model.eval()
        with torch.no_grad():
            losses = task.loss(task.model(self.inputs), self.labels)
        return np.asarray(-(losses.flatten(1).mean(dim=1) if losses.dim() > 1 else losses).double().numpy())


LOSSES: Mapping[str, Look] = {
    "little loss": lambda losses, with_all: losses,
    "two models apart": lambda losses, with_all: losses - with_all,
}
"""What is looked for in the losses of canaries."""
