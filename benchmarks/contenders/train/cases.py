"""What is trained: three models of known shapes for times, two tasks for accuracy; torch alone is needed.

Everybody draws batches from the same made-up rows. A contender that times steps waits for its turns: it reads the name
of a model and a number of steps from its input, takes them, and says how long they took.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, final

import torch
from torch import Tensor, nn

from side_by_side.stopwatch import report

THREADS = 1
ROWS, PIXELS, SIDE, CLASSES = 60_000, 784, 28, 10
LEARNING_RATE = 0.1
NOISE_MULTIPLIER, CLIP = 1.0, 1.0

Batches: TypeAlias = Iterator[tuple[Tensor, Tensor]]
Step: TypeAlias = Callable[[Tensor, Tensor], object]
"""Takes a step with a batch in hand."""


@final
@dataclass(frozen=True)
class Case:
    """A model to be timed, and how many rows a batch of it has."""

    name: str
    batch: int
    model: Callable[[], nn.Module]
    picture: bool = False

    def rows(self) -> tuple[Tensor, Tensor]:
        """Made-up rows, flat or as pictures."""
        inputs, labels = made_up()
        return (inputs.view(-1, 1, SIDE, SIDE) if self.picture else inputs), labels


@cache
def made_up() -> tuple[Tensor, Tensor]:
    """As many rows as a well-known set of handwritten digits has, the same for everybody."""
    made = torch.Generator().manual_seed(1)
    return torch.randn(ROWS, PIXELS, generator=made), torch.randint(CLASSES, (ROWS,), generator=made)


def mlp() -> nn.Module:
    """784-512-512-10, with ReLU between."""
    return nn.Sequential(
        nn.Linear(PIXELS, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, CLASSES)
    )  # fmt: skip


def cnn() -> nn.Module:
    """Two convolutions, of 16 and 32 channels, each halved by its largest values; then two linear layers."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, CLASSES),
    )  # fmt: skip


CASES = (
    Case("mlp", 512, mlp),
    Case("cnn", 256, cnn, picture=True),
    Case("logistic", 1024, lambda: nn.Linear(PIXELS, CLASSES)),
)


def whole_batches(case: Case) -> Batches:
    """Batches of exactly the stated size, out of one order of all rows after another: the cheapest way to get them."""
    inputs, labels = case.rows()

    def drawn() -> Batches:
        while True:
            for chosen in torch.randperm(ROWS)[: ROWS // case.batch * case.batch].split(case.batch):
                yield inputs[chosen], labels[chosen]

    return drawn()


def take_turns(started: Callable[[Case], tuple[Batches, Step]]) -> None:
    """Takes steps whenever it is asked to, and reports the time of processors for one: whole, and with a batch in hand.

    ``started`` gives the batches of a case, and how to take a step with one.
    """
    torch.set_num_threads(THREADS)
    ready = {case.name: started(case) for case in CASES}
    report("ready", kind="ready")
    for line in sys.stdin:
        name, steps = line.split()
        batches, step = ready[name]
        in_hand = 0.0
        begun = time.process_time()
        for _ in range(int(steps)):
            inputs, labels = next(batches)
            drawn = time.process_time()
            step(inputs, labels)
            in_hand += time.process_time() - drawn
        spent = time.process_time() - begun
        report(name, kind="time", seconds=spent / int(steps), in_hand=in_hand / int(steps))


@final
@dataclass(frozen=True)
class Task:
    """What accuracy is compared on: the same rows, model and parameters for everybody, at ε = 3 and δ = 10⁻⁵."""

    name: str
    data: Callable[[int], tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]]
    model: Callable[[], nn.Module]
    batch: int
    epochs: int
    learning_rate: float
    clip: float = 1.0

    def started(self, seed: int) -> tuple[nn.Module, torch.optim.Optimizer]:
        """The model with weights that a seed decides, and its optimizer."""
        torch.manual_seed(seed)
        model = self.model()
        return model, torch.optim.SGD(model.parameters(), lr=self.learning_rate)

    def told(self, model: nn.Module, seed: int, **facts: Any) -> None:
        """Reports the share of test rows that a model has right."""
        _, (inputs, labels) = self.data(seed)
        with torch.no_grad():
            right = (model.eval()(inputs).argmax(dim=1) == labels).double().mean()
        report(self.name, kind="accuracy", seed=seed, accuracy=float(right), **facts)


EPSILON, DELTA = 3.0, 1e-5


def digits(seed: int) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """The 1,797 handwritten digits of scikit-learn, of which a seed keeps those for the test that 11 batches leave."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    inputs, told = torch.from_numpy(pixels).float()[order] / 16, torch.from_numpy(labels).long()[order]
    cut = 11 * 128  # whole batches, so that everybody's rate is the same
    return (inputs[:cut], told[:cut]), (inputs[cut:], told[cut:])


def pictures(seed: int) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Made-up pictures: a bright bar in one of four directions somewhere, under noise of 0.4 times its brightness."""
    made = torch.Generator().manual_seed(100 + seed)
    count, side = 10_000, 12
    labels = torch.randint(4, (count,), generator=made)
    middle = torch.randint(3, side - 3, (count, 2), generator=made)
    along = torch.tensor([[0, 1], [1, 0], [1, 1], [1, -1]])[labels]
    inputs = 0.4 * torch.randn(count, 1, side, side, generator=made)
    for shift in range(-2, 3):
        place = middle + shift * along
        inputs[torch.arange(count), 0, place[:, 0], place[:, 1]] += 1.0
    cut = 20 * 400
    return (inputs[:cut], labels[:cut]), (inputs[cut:], labels[cut:])


def small_cnn() -> nn.Module:
    """One convolution and two linear layers."""
    return nn.Sequential(
        nn.Conv2d(1, 12, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3), nn.Flatten(), nn.Linear(12 * 16, 4)
    )  # fmt: skip


TASKS = (
    Task("digits", digits, lambda: nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10)), 128, 30, 0.5),
    Task("pictures", pictures, small_cnn, 400, 12, 1.0),
)
