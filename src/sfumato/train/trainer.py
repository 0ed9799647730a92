"""Training under a plan: batches are the only way to the data, and every step adds noise to clipped gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, final

import torch
from torch import Tensor, nn

from sfumato.accounting.codec import to_plain
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.plans.account import CostReport, account
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.release.progress import Progress, reporting
from sfumato.release.record import How, Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.train import saving
from sfumato.train.batches import Sampler
from sfumato.train.guards import Guard, check_by_rows, check_fits, check_loss, device_of, moved
from sfumato.train.losses import by_rows
from sfumato.train.memory import Memory
from sfumato.train.open_ended import Charged, OpenEnded
from sfumato.train.optimizers import KnowsNoise
from sfumato.train.origins import origins_of
from sfumato.train.paying import Run
from sfumato.train.plan import TrainingPlan, changed
from sfumato.train.sums import clipped_sum, digest
from sfumato.train.taps import Layout, Notes
from sfumato.train.together import Together
from sfumato.train.units import Chunk, Rows, Units
from sfumato.train.watching import Scheduled, Scheduler, Watcher

if TYPE_CHECKING:
    from sfumato.train.tables import TableRows

PROOF = "proofs/training.md#steps"

LossFunction: TypeAlias = Callable[[Any, Any], Tensor]
"""Compares what a model gives with labels, row by row."""


@final
class Private(Displayed):
    """A model in private training. Get one from `private`.

    >>> from sfumato.train import private
    >>> rows, labels = torch.zeros(1_000, 2), torch.zeros(1_000, dtype=torch.long)
    >>> training = private(nn.Linear(2, 2), (rows, labels), loss=Approx(1, 1e-6), batch=100, steps=5)
    >>> training.fit(nn.CrossEntropyLoss()).taken
    5
    """

    def __init__(
        self,
        model: nn.Module,
        units: Units | TableRows,
        plan: TrainingPlan,
        optimizer: torch.optim.Optimizer,
        *,
        keep: Loss | None,
        largest: int | None,
        run: Run | None,
        entropy: Entropy | None,
        layout: Layout,
        open_ended: OpenEnded | None = None,
        together: Together | None = None,
        scheduler: Scheduler | None = None,
    ) -> None:
        self.model, self.plan, self.optimizer = model, plan, optimizer
        self.taken = 0 if run is None else run.taken
        if together is not None:
            self.taken = together.latest(self.taken)
        self.accuracy: float | None = None
        self.watchers: list[Watcher] = [] if scheduler is None else [Scheduled(scheduler)]
        self.origins = origins_of(plan, optimizer, kept=keep is not None)
        self._units, self._keep, self._largest, self._run = units, keep, largest, run
        self._length, self._together, self._stopped = open_ended, together, False
        self._entropy = system() if entropy is None else entropy
        self._guard = Guard(model, optimizer)
        self._notes = Notes(model, layout)
        self._sampler = plan.batches.start(units.count, self._entropy) if isinstance(units, Units) else None
        self._clipper = plan.clipping.start(float(plan.multiplier), float(plan.batches.expected))
        self._noise = plan.noise.start(tuple(self._notes.parameters), self._entropy)
        self._sums: dict[nn.Parameter, Tensor] = {}
        self._chunk: Chunk | None = None
        self._begun: object | None = None  # the step that has begun and not ended

    # Steps

    def batches(self) -> Iterator[Rows]:
        """The rows of one batch after another, until all steps are taken; each must be followed by one `step`.

        A batch that is larger than ``largest`` comes in pieces. An empty one is a step of noise alone, and not seen.
        """
        if not isinstance(self._units, Units) or self._sampler is None:
            must = "left to private.fit(loss_function): rows of a table never leave it"
            raise BadArgument("batches()", must, "called")
        while not self._stopped and self._count_step():
            yield from self._one_batch(self._units, self._sampler)

    def _count_step(self) -> bool:
        """Counts the next step, in the book too, before anything is looked at; False where there is none left."""
        self._check()
        if self._length is not None:
            paid = self._length.pay(self.plan.one_step)
            self.taken = self._length.taken
            return paid
        if self.taken >= self.plan.steps:
            return False
        if self._run is not None:
            self._run.step(lambda data, entropy: None)
        self.taken += 1
        return True

    def _on_table(self, data: Any, entropy: Entropy, of_rows: LossFunction) -> None:
        """Takes a whole step on a table that a permit hands over; of its rows, nothing stays but in the weights."""
        if isinstance(self._units, Units):
            raise TypeError(self._units)
        self.taken += 1
        device = device_of(self.model)
        units, sampler = self._units.opened(data, entropy, lambda many: self.plan.batches.start(many, self._entropy))
        for rows in self._one_batch(units, sampler):
            inputs, *labels = moved(rows, device)
            self.step(of_rows(self.model(inputs), *labels))

    def _one_batch(self, units: Units, sampler: Sampler) -> Iterator[Rows]:
        own = self._begun = object()
        try:
            self._clipper.begin_step()
            chosen = sampler.draw(self.taken - 1)
            for chunk in units.chunks(chosen, self.taken - 1, self._largest):
                self._chunk = chunk
                self._notes.begin(chunk.units)
                yield chunk.rows
                if self._begun is not (None if chunk.last else own) or self._chunk is chunk:
                    must = "followed by one private.step(losses), and one loop over private.batches() at a time"
                    raise BadArgument("each batch", must, "left without")
            if not len(chosen):
                self._finish()
        finally:
            if self._begun is own:
                self._abandon()

    def _abandon(self) -> None:
        """Leaves a step without moving weights; its noise is drawn and thrown away, so that streams keep in step.

        Where several processes train together, all of them wait for this step: without it, none goes on.
        """
        self._notes.begin()  # which forgets what layers saw
        self._notes.end()
        self._chunk, self._sums, self._begun = None, {}, None
        if self._together is not None:
            self._stopped = True
            return
        self._noise.add({}, self._clipper.deviation)
        self._clipper.end_step(self._entropy)

    @property
    def between_steps(self) -> bool:
        """Tells whether the last step that has begun has ended: not so between the pieces of a large batch."""
        return self._begun is None

    def step(self, losses: Tensor) -> None:
        """Takes the losses of the rows of a batch, one number each (``reduction="none"``), and the step with it."""
        chunk = self._chunk
        if chunk is None:
            must = "called once for each batch, in a loop over private.batches(), which draws what is paid for"
            raise BadArgument("step", must, "called")
        check_by_rows(losses, len(chunk.weights))
        if not losses.requires_grad:
            raise BadArgument("the loss", "made of what the model gives for the batch, with gradients", "another")
        each = losses.flatten(1).mean(dim=1) if losses.dim() > 1 else losses
        (each * chunk.weights.to(each)).sum().backward()
        self._notes.end()
        for parameter, part in clipped_sum(self._notes, chunk.units, self._clipper).items():
            wide = part.double() if self.plan.noise.wide and not chunk.last else part
            self._sums[parameter] = self._sums[parameter] + wide if parameter in self._sums else wide
        self._chunk = None
        if chunk.last:
            self._finish()

    def _finish(self) -> None:
        """Adds noise to what was added up, over the expected number of units, and moves the weights."""
        expected, deviation = float(self.plan.batches.expected), self._clipper.deviation
        noisy = self._noise.add(self._sums, deviation)
        torch._foreach_div_(list(noisy.values()), expected)
        for parameter, gradient in noisy.items():
            parameter.grad = gradient
        if isinstance(self.optimizer, KnowsNoise):
            self.optimizer.know_noise(deviation / expected)
        self._clipper.end_step(self._entropy)
        self._sums, self._begun = {}, None
        self._guard.step()
        for watcher in self.watchers:
            watcher.after_step(self, deviation / expected)
        self.optimizer.zero_grad(set_to_none=True)

    def fit(
        self, loss_function: LossFunction, *, progress: Progress | None = None, reports: Watcher | None = None
    ) -> Private:
        """Takes all steps that are left: ``loss_function(model(X), y)``, asked for one number a row.

        ``reports`` are told of every step: `sf.train.Reports` keeps a history of epochs.
        """
        of_rows, device = by_rows(loss_function), device_of(self.model)
        example = moved(self._units.example(), device)
        check_fits(self.model, example)
        check_loss(of_rows, self.model, example)
        self.watchers += [] if reports is None else [reports]
        self.model.train()
        with reporting(progress, "training") as tell:
            while self._run is not None and self._sampler is None and self._goes_on():
                self._run.step(lambda data, entropy: self._on_table(data, entropy, of_rows))
                tell(self.taken, self.plan.steps)
            for rows in self.batches() if self._sampler is not None else ():
                inputs, *labels = moved(rows, device)
                self.step(of_rows(self.model(inputs), *labels))
                tell(self.taken, self._reach())
        return self

    def _goes_on(self) -> bool:
        self._check()
        return not self._stopped and self.taken < self.plan.steps

    def _reach(self) -> int:
        """How many steps there are in all, as far as it is known."""
        if self._length is None:
            return self.plan.steps
        return self.taken + (self._length.left(self.plan.one_step) or 0)

    def change(self, *, noise_multiplier: Number | None = None, batch: int | None = None) -> Private:
        """Goes on with other noise, or with another number of units in a batch: between steps of an open-ended run."""
        if self._length is None or not self.between_steps or not isinstance(self._units, Units):
            raise BadArgument("change()", "asked between the steps of a training without a fixed number of them", "")
        self.plan = changed(self.plan, noise_multiplier, batch)
        self._clipper.retune(float(self.plan.multiplier), float(self.plan.batches.expected))
        self._sampler = self.plan.batches.start(self._units.count, self._entropy)
        return self

    def stop(self) -> Private:
        """Ends the training before its time. Of a plan nothing is given back: it was paid for as a whole.

        Without a fixed number of steps, what was not charged was never spent (proofs/training.md#stopping).
        """
        self._stopped = True
        return self

    # What it has cost, and how good it is

    def spent(self, delta: Number | None = None) -> CostReport:
        """What the steps so far cost at a δ (that of the loss to keep, if it has one), with a certified bracket.

        It is what they would cost had their number been fixed before. Once stopped, a plan costs all of it.
        """
        if delta is None:
            if not isinstance(self._keep, Approx):
                raise BadArgument("delta", "given: the loss to keep has none", None)
            delta = self._keep.delta
        if self._length is not None:
            return account(self._length.ran.event(), delta=delta, relation=self.plan.relation)
        return self.plan.account(delta=delta, steps=None if self._stopped else self.taken)

    def score(self, inputs: Any, labels: Tensor) -> float:
        """The share of public rows whose class the model predicts: it tells of them. It is kept, and printed."""
        before = self.model.training
        inputs, labels = moved((inputs, labels), device_of(self.model))
        with torch.no_grad():
            given = self.model.eval()(inputs)
        self.model.train(before)
        self.accuracy = float((given.argmax(dim=1) == labels).float().mean())
        return self.accuracy

    # Files

    def save(self, path: str | Path) -> None:
        """Saves weights, optimizer, how far the plan is and what later steps need: for the holder of the data alone."""
        if not self.between_steps:
            raise BadArgument("save()", "asked between two steps", "in the middle of one")
        if self._together is not None and not self._together.first:
            return  # the first process saves for all
        parts = {name: part.state() for name, part in self._parts().items()}
        weights = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        saving.write(path, self._fingerprint(), {"taken": self.taken, **weights, **parts})

    def resume(self, path: str | Path) -> Private:
        """Goes on from what `save` saved of the same plan; steps that the book counts since then stay taken."""
        held = saving.read(path, self._fingerprint())
        before = self.taken
        for name, part in self._parts().items():
            part.load(held[name])
        self.taken = max(before, int(held["taken"]))
        self._check_parts()
        self.model.load_state_dict(held["model"])
        self.optimizer.load_state_dict(held["optimizer"])
        if self._together is not None:
            self.taken = self._together.latest(self.taken)
            self._together.agree("what was saved", digest(self.model))
        return self

    def _check(self) -> None:
        """Refuses to go on with another model than was checked, or without what has to be remembered."""
        if self._begun is not None:
            self._abandon()  # a loop that broke off
        self._guard.check()
        self._check_parts()

    def _check_parts(self) -> None:
        """Refuses to go on where a part lacks what it has to remember of the steps that are taken."""
        for part in self._parts().values():
            part.check(self.taken)

    def _parts(self) -> dict[str, Memory]:
        """What may have to be remembered from step to step."""
        parts = {"sampler": self._sampler, "clipper": self._clipper, "noise": self._noise, "length": self._length}
        return {name: part for name, part in parts.items() if isinstance(part, Memory)}

    def _fingerprint(self) -> str:
        """What makes two plans the same: what is accounted for, and how much one unit may add."""
        ran = to_plain(self.plan.event()) if self._length is None else f"open-ended, {self._keep}"
        return f"{ran} {self.plan.clipping} {self.plan.noise} {self.plan.relation.value}"

    # What is told of it

    def release(self, delta: Number | None = None) -> Release:
        """Ends the training: what left the data, all weights of all steps, with its loss, by the digest of the last."""
        if self._length is None and not self._stopped and self.taken < self.plan.steps:
            raise BadArgument("release()", f"asked after all {self.plan.steps:,} steps, or stop()", self.taken)
        if self._together is not None and not self._together.first:
            raise BadArgument("release()", "asked in the process of rank 0, which paid for all", self._together.rank)
        self.origins.check()
        self._stopped = True
        value = {"weights (SHA-256)": digest(self.model), "steps": self.taken}
        if isinstance(self._length, Charged):
            return self._length.finish(value)
        if self._run is not None:
            return self._run.finish(value)
        loss = self._keep if self._keep is not None else Approx(self.spent(delta).epsilon, delta or 0)
        how = How("private training", self._facts(), proofs=(PROOF,))
        replayable, adjacency = self._entropy.replayable, self.plan.relation.value
        return Release(value, loss, self._units.protects, how, replayable=replayable, adjacency=adjacency)

    def _facts(self) -> tuple[tuple[str, str], ...]:
        plan = self.plan
        return (
            ("steps", f"{self.taken:,} of {plan.steps:,}" if self._length is None else f"{self.taken:,}, open-ended"),
            ("batches", str(plan.batches)),
            ("clipping", str(plan.clipping)),
            ("noise", f"{plan.noise}; deviation {float(plan.multiplier):.4g} times the bound of clipping"),
            ("neighbours", plan.relation.value),
            ("hyper-parameters", str(self.origins)),
        )

    def document(self) -> Document:
        """What is trained, what it has cost so far, between which bounds that is known, and who is protected."""
        delta = self._keep.delta if isinstance(self._keep, Approx) else None
        report = self.spent(delta) if delta and self.taken else None
        rows = [
            *self._facts(),
            ("protected", self._units.protects),
            ("kept", str(self._keep or "")),
            ("spent so far", "" if report is None else f"{report.loss}; the least ε that holds is {report.epsilon}"),
            ("accuracy", "" if self.accuracy is None else f"{self.accuracy:.1%}, on rows that are taken to be public"),
        ]
        table = Table(tuple(row for row in rows if row[1]))
        return Document("Private training", type(self.model).__name__, tables=(table,))
