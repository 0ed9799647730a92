"""Advice on batches and epochs by accounting alone: what noise each choice needs under one loss. No rows are seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.train.clipping import Flat
from sfumato.train.plan import TrainingPlan
from sfumato.train.planning import poisson_batches

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart

SHARES = (256, 64, 16, 4)
"""Batches that are looked at, where nothing is said: one in so many units."""

EPOCHS = (5, 20, 80)
"""Epochs that are looked at, where nothing is said."""


@final
@dataclass(frozen=True)
class Choice:
    """A batch and a number of epochs, and the noise that a loss asks of them.

    ``noise`` is the deviation of the noise on each entry of a mean gradient, over the bound of clipping: what one step
    feels. ``drift`` is that of the sum of all steps over their number: what is left where every step goes the same way.
    """

    batch: int
    epochs: Fraction
    steps: int
    multiplier: float

    @property
    def noise(self) -> float:
        """The noise on a mean gradient, in units of the bound of clipping."""
        return self.multiplier / self.batch

    @property
    def drift(self) -> float:
        """The noise on the mean of all steps."""
        return self.noise / math.sqrt(self.steps)

    def cells(self) -> tuple[str, ...]:
        """What a table says of it."""
        counts = f"{self.batch:,}", f"{float(self.epochs):g}", f"{self.steps:,}"
        return *counts, f"{self.multiplier:.4g}", f"{self.noise:.2e}", f"{self.drift:.2e}"


@final
@dataclass(frozen=True, eq=False)
class Advice(Displayed):
    """What noise each batch and number of epochs needs to keep one loss."""

    choices: tuple[Choice, ...]
    loss: Loss
    size: int

    def document(self) -> Document:
        """The table of all choices, for any form."""
        head = ("batch", "epochs", "steps", "noise multiplier", "noise on a mean gradient", "on the mean of all steps")
        rows = tuple(one.cells() for one in self.choices)
        title = f"{self.size:,} units"
        table = Table(rows, head, "Over the bound of clipping", right=frozenset(range(len(head))))
        return Document("Batches and epochs", title, f"at {self.loss}", tables=(table,))

    def plot(self) -> Chart:
        """Draws the noise on a mean gradient against the batch, at one loss, for each number of epochs."""
        from sfumato.charts.training import batch_chart

        rows = [(one.batch, float(one.epochs), one.noise) for one in self.choices]
        return batch_chart(rows, loss=str(self.loss), size=self.size)


def advise(
    size: int,
    *,
    loss: Loss | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    batches: Sequence[int] | None = None,
    epochs: Sequence[Number] = EPOCHS,
    relation: Relation = Relation.ADD_REMOVE,
) -> Advice:
    """The noise that a loss asks of Poisson batches, for several sizes and numbers of epochs.

    Takes:      the number of units, a loss, batches and epochs to look at
    Gives:      an `Advice`, which prints and plots itself
    Cost:       about a second for every choice; no privacy, for no rows are seen

    Larger batches have less noise on a mean gradient at the same loss, at the price of more work for each step; more
    epochs have more noise in each step and less on the mean of all.

    >>> advice = advise(10_000, epsilon=2, delta=1e-5, batches=[100, 1000], epochs=[5])
    >>> [round(one.multiplier, 2) for one in advice.choices]
    [0.85, 1.75]
    """
    units, keep = integer(size, "size", least=1), needed_loss(loss, epsilon, delta)
    looked = list(batches) if batches is not None else sorted({max(1, units // share) for share in SHARES})
    if not looked or not epochs:
        raise BadArgument("batches and epochs", "at least one of each", 0)
    choices = []
    for many in looked:
        for long in epochs:
            drawn = poisson_batches(units, many, long, None)
            plan = TrainingPlan.within(keep, drawn, Flat(1.0), relation)
            choices.append(Choice(many, Fraction(str(long)), drawn.steps, float(plan.multiplier)))
    return Advice(tuple(choices), keep, units)
