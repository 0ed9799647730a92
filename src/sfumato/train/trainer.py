"""Training under a plan: batches are the only way to the data, and every step adds noise to clipped gradients."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
import torch
from torch import Tensor, nn

from sfumato.accounting.codec import to_plain
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.plans.account import CostReport
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, UnknownFormat
from sfumato.exact import Number
from sfumato.release.progress import Progress, reporting
from sfumato.release.record import How, Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.train.batches import Sampler
from sfumato.train.clipping import Clipper
from sfumato.train.guards import Guard, check_by_rows, check_fits, check_loss, device_of, moved
from sfumato.train.losses import by_rows
from sfumato.train.memory import Memory
from sfumato.train.optimizers import KnowsNoise
from sfumato.train.paying import Run
from sfumato.train.plan import TrainingPlan
from sfumato.train.taps import Layout, Notes
from sfumato.train.units import Chunk, Rows, Units

if TYPE_CHECKING:
    from sfumato.train.tables import TableRows

PROOF = "proofs/training.md#steps"

FORMAT = "sfumato/training"

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
        layout: Layout | None = None,
    ) -> None:
        self.model, self.plan, self.optimizer = model, plan, optimizer
        self.taken = 0 if run is None else run.taken
        self.accuracy: float | None = None
        self._units, self._keep, self._largest, self._run = units, keep, largest, run
        self._entropy = system() if entropy is None else entropy
        guard = Guard(model, optimizer)
        self._notes = Notes(model, layout)
        self._sampler = plan.batches.start(units.count, self._entropy) if isinstance(units, Units) else None
        self._clipper = plan.clipping.start(float(plan.multiplier))
        self._noise = plan.noise.start(tuple(self._notes.parameters), self._entropy)
        self._chunk: Chunk | None = None
        self._sums: dict[nn.Parameter, Tensor] = {}
        self._guard = guard
        self._open: object | None = None  # the step that has begun and not ended

    def batches(self) -> Iterator[Rows]:
        """The rows of one batch after another, until all steps are taken; each must be followed by one `step`.

        A batch that is larger than ``largest`` comes in pieces. An empty one is a step of noise alone, and not seen.
        """
        if not isinstance(self._units, Units) or self._sampler is None:
            raise BadArgument(
                "batches()", "left to private.fit(loss_function): rows of a table never leave it", "called"
            )
        while self.taken < self.plan.steps:
            if self._run is not None:
                self._run.step(lambda data, entropy: None)  # counted in the book before anything is looked at
            yield from self._one_batch(self._units, self._sampler)

    def _one_step(self, data: Any, entropy: Entropy, of_rows: LossFunction) -> None:
        """Takes a whole step on a table that a permit hands over; of its rows, nothing stays but in the weights."""
        if isinstance(self._units, Units):
            raise TypeError(self._units)
        device = device_of(self.model)
        units, sampler = self._units.opened(data, entropy, lambda many: self.plan.batches.start(many, self._entropy))
        try:
            for rows in self._one_batch(units, sampler):
                inputs, *labels = moved(rows, device)
                self.step(of_rows(self.model(inputs), *labels))
        finally:
            if self._open is not None:
                self._abandon()

    def _one_batch(self, units: Units, sampler: Sampler) -> Iterator[Rows]:
        if self._open is not None:
            self._abandon()  # a loop that broke off
        self._guard.check()
        step, self.taken = self.taken, self.taken + 1
        own = self._open = object()
        try:
            chosen = sampler.draw(step)
            for chunk in units.chunks(chosen, step, self._largest):
                self._chunk = chunk
                self._notes.begin()
                yield chunk.rows
                if self._open is not (None if chunk.last else own) or self._chunk is chunk:
                    must = "followed by one private.step(losses), and one loop over private.batches() at a time"
                    raise BadArgument("each batch", must, "left without")
            if not len(chosen):
                self._finish()
        finally:
            if self._open is own:
                self._abandon()

    def _abandon(self) -> None:
        """Leaves a step without moving weights; its noise is drawn and thrown away, so that streams keep in step."""
        self._notes.begin()  # which forgets what layers saw
        self._notes.end()
        self._chunk, self._sums, self._open = None, {}, None
        self._noise.add({}, self._clipper.deviation)
        self._clipper.end_step(self._entropy)

    @property
    def between_steps(self) -> bool:
        """Tells whether the last step that has begun has ended: not so between the pieces of a large batch."""
        return self._open is None

    def step(self, losses: Tensor) -> None:
        """Takes the losses of the rows of a batch, one number each (``reduction="none"``), and the step with it."""
        chunk = self._chunk
        if chunk is None:
            raise BadArgument(
                "step",
                "called once for each batch, in a loop over private.batches(), which draws what is paid for",
                "called",
            )
        check_by_rows(losses, len(chunk.weights))
        if not losses.requires_grad:
            raise BadArgument("the loss", "made of what the model gives for the batch, with gradients", "another")
        each = losses.flatten(1).mean(dim=1) if losses.dim() > 1 else losses
        (each * chunk.weights.to(each)).sum().backward()
        self._notes.end()
        for parameter, part in clipped_sum(self._notes, chunk.units, self._clipper).items():
            self._sums[parameter] = self._sums[parameter] + part if parameter in self._sums else part
        self._chunk = None
        if chunk.last:
            self._finish()

    def _finish(self) -> None:
        """Adds noise to what was added up, over the expected number of units, and moves the weights."""
        expected = float(self.plan.batches.expected)
        noisy = self._noise.add(self._sums, self._clipper.deviation)
        torch._foreach_div_(list(noisy.values()), expected)
        for parameter, gradient in noisy.items():
            parameter.grad = gradient
        if isinstance(self.optimizer, KnowsNoise):
            self.optimizer.know_noise(self._clipper.deviation / expected)
        self._clipper.end_step(self._entropy)
        self._sums, self._open = {}, None
        self._guard.step()

    def fit(self, loss_function: LossFunction, *, progress: Progress | None = None) -> Private:
        """Takes all steps that are left: ``loss_function(model(X), y)``, asked for one number a row."""
        of_rows, device = by_rows(loss_function), device_of(self.model)
        example = moved(self._units.example(), device)
        check_fits(self.model, example)
        check_loss(of_rows, self.model, example)
        self.model.train()
        with reporting(progress, "training") as tell:
            while self._run is not None and self._sampler is None and self.taken < self.plan.steps:
                self._run.step(lambda data, entropy: self._one_step(data, entropy, of_rows))
                tell(self.taken, self.plan.steps)
            for rows in self.batches() if self._sampler is not None else ():
                inputs, *labels = moved(rows, device)
                self.step(of_rows(self.model(inputs), *labels))
                tell(self.taken, self.plan.steps)
        return self

    def score(self, inputs: Any, labels: Tensor) -> float:
        """The share of public rows whose class the model predicts: it tells of them. It is kept, and printed."""
        before = self.model.training
        inputs, labels = moved((inputs, labels), device_of(self.model))
        with torch.no_grad():
            given = self.model.eval()(inputs)
        self.model.train(before)
        self.accuracy = float((given.argmax(dim=1) == labels).float().mean())
        return self.accuracy

    def spent(self, delta: Number | None = None) -> CostReport:
        """What the steps so far cost at a δ (that of the loss to keep, if it has one), with a certified bracket."""
        if delta is None:
            if not isinstance(self._keep, Approx):
                raise BadArgument("delta", "given: the loss to keep has none", None)
            delta = self._keep.delta
        if not self.taken:
            raise BadArgument("spent()", "asked after the first step: before it, nothing is", 0)
        return self.plan.account(delta=delta, steps=self.taken)

    def save(self, path: str | Path) -> None:
        """Saves weights, optimizer, how far the plan is and what later steps need: for the holder of the data alone."""
        if self._open is not None:
            raise BadArgument("save()", "asked between two steps", "in the middle of one")
        parts = {name: part.state() for name, part in self._parts().items()}
        parts |= {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        beside = Path(f"{path}.writing")
        torch.save({"format": FORMAT, "version": 1, "plan": self._fingerprint(), "taken": self.taken, **parts}, beside)
        beside.replace(path)  # all of it or what was there before, whenever the process is killed

    def resume(self, path: str | Path) -> Private:
        """Goes on from what `save` saved of the same plan; steps that the book counts since then stay taken."""
        try:
            held = torch.load(path, weights_only=True)
        except (pickle.UnpicklingError, RuntimeError, EOFError, KeyError):
            raise UnknownFormat("it is no training that was saved") from None
        if not isinstance(held, dict) or (held.get("format"), held.get("version")) != (FORMAT, 1):
            raise UnknownFormat("it is no training that was saved")
        if held["plan"] != self._fingerprint():
            raise BadArgument("the plan", "the one that was saved: a run goes on as it was paid for", "another")
        lost = self.taken - int(held["taken"])
        if lost > 0 and held["noise"]:
            must = f"saved after its last step, where noise hangs together: the book counts {lost} steps since then"
            raise BadArgument("the training", must, "an earlier one")
        self.model.load_state_dict(held["model"])
        self.optimizer.load_state_dict(held["optimizer"])
        for name, part in self._parts().items():
            part.load(held[name])
        self.taken = max(self.taken, int(held["taken"]))
        return self

    def _parts(self) -> dict[str, Memory]:
        """What may have to be remembered from step to step."""
        parts: dict[str, Memory] = {"clipper": self._clipper, "noise": self._noise}
        return parts if self._sampler is None else {"sampler": self._sampler, **parts}

    def _fingerprint(self) -> str:
        """What makes two plans the same: what is accounted for, and how much one unit may add."""
        return f"{to_plain(self.plan.event())} {self.plan.clipping} {self.plan.noise} {self.plan.relation.value}"

    def release(self, delta: Number | None = None) -> Release:
        """Ends the training: what left the data, all weights of all steps, with its loss, by the digest of the last."""
        if self.taken < self.plan.steps:
            raise BadArgument("release()", f"asked after all {self.plan.steps:,} steps", self.taken)
        value = {"weights (SHA-256)": digest(self.model), "steps": self.taken}
        if self._run is not None:
            return self._run.finish(value)
        loss = self._keep if self._keep is not None else Approx(self.spent(delta).epsilon, delta or 0)
        how = How("private training", tuple((name, said) for name, said in self._facts()), proofs=(PROOF,))
        return Release(
            value,
            loss,
            "one unit of the rows given",
            how,
            replayable=self._entropy.replayable,
            adjacency=self.plan.relation.value,
        )

    def _facts(self) -> tuple[tuple[str, str], ...]:
        plan = self.plan
        return (
            ("steps", f"{self.taken:,} of {plan.steps:,}"),
            ("batches", str(plan.batches)),
            ("clipping", str(plan.clipping)),
            ("noise", f"{plan.noise}; deviation {float(plan.multiplier):.4g} times the bound of clipping"),
            ("neighbours", plan.relation.value),
        )

    def document(self) -> Document:
        """What is trained, what it has cost so far, between which bounds that is known, and who is protected."""
        delta = self._keep.delta if isinstance(self._keep, Approx) else None
        report = self.spent(delta) if delta and self.taken else None
        cost = "" if report is None else f"{report.loss}; the least ε that holds is {report.epsilon}"
        rows = [
            *self._facts(),
            ("protected", self._units.protects),
            ("kept", str(self._keep or "")),
            ("spent so far", cost),
            ("accuracy", "" if self.accuracy is None else f"{self.accuracy:.1%}, on rows that are taken to be public"),
        ]
        return Document(
            "Private training", type(self.model).__name__, tables=(Table(tuple(row for row in rows if row[1])),)
        )


@torch.no_grad()
def clipped_sum(notes: Notes, units: int, clipper: Clipper) -> dict[nn.Parameter, Tensor]:
    """The sum of all units' clipped gradients; a unit whose gradient is no number adds nothing."""
    gradients = notes.gradients(units)
    squared = gradients.squared_norms()
    known = torch.isfinite(torch.stack(list(squared.values())).sum(dim=0))
    if not bool(known.all()):
        gradients = gradients.without(~known)
        squared = gradients.squared_norms()
    return gradients.weighted(clipper.weights(squared))


def digest(model: nn.Module) -> str:
    """The SHA-256 of a model's weights, in the order of their names."""
    made = hashlib.sha256()
    for name, each in sorted(model.state_dict().items()):
        made.update(name.encode())
        made.update(np.ascontiguousarray(each.detach().cpu().float().numpy()).tobytes())
    return made.hexdigest()
