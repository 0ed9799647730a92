"""Training under a plan: batches are the only way to the data, and every step adds noise to clipped gradients."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias, final

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
from sfumato.train.checks import beside
from sfumato.train.clipping import Clipper
from sfumato.train.losses import by_rows
from sfumato.train.memory import Memory
from sfumato.train.optimizers import KnowsNoise
from sfumato.train.paying import Run
from sfumato.train.plan import TrainingPlan
from sfumato.train.taps import Layout, Notes
from sfumato.train.units import Chunk, Rows, Units

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
        units: Units,
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
        self._units, self._keep, self._largest, self._run = units, keep, largest, run
        self._entropy = system() if entropy is None else entropy
        self._notes = Notes(model, layout)
        self._sampler = plan.batches.start(units.count, self._entropy)
        self._clipper = plan.clipping.start(float(plan.multiplier))
        self._noise = plan.noise.start(tuple(self._notes.parameters), self._entropy)
        self._chunk: Chunk | None = None
        self._sums: dict[nn.Parameter, Tensor] = {}
        held = {each for group in optimizer.param_groups for each in group["params"] if each.requires_grad}
        if held != set(self._notes.parameters):
            raise BadArgument("optimizer", "one of all parameters of the model that require gradients", "another")

    def batches(self) -> Iterator[Rows]:
        """The rows of one batch after another, until all steps are taken; each must be followed by one `step`.

        A batch that is larger than ``largest`` comes in pieces. An empty one is a step of noise alone, and not seen.
        """
        while self.taken < self.plan.steps:
            yield from self._one_batch()

    def _one_batch(self) -> Iterator[Rows]:
        if self._run is not None:
            self._run.step(lambda data, entropy: None)  # counted in the book before anything is looked at
        step, self.taken = self.taken, self.taken + 1
        chosen = self._sampler.draw(step)
        self._sums = {}
        for chunk in self._units.chunks(chosen, step, self._largest):
            self._chunk = chunk
            self._notes.begin(chunk.units)
            try:
                yield chunk.rows
            finally:
                self._notes.end()
            if self._chunk is not None:
                raise BadArgument("each batch", "followed by one private.step(losses)", "left without")
        if not len(chosen):
            self._finish()

    def step(self, losses: Tensor) -> None:
        """Takes the losses of the rows of a batch, one number each (``reduction="none"``), and the step with it."""
        chunk = self._chunk
        if chunk is None:
            raise BadArgument(
                "step", "called once for each of private.batches(), which draws what is paid for", "called"
            )
        rows = len(chunk.weights)
        if not isinstance(losses, Tensor) or losses.dim() == 0 or len(losses) != rows:
            must = f"one number for each of the {rows} rows, by reduction='none': an average hides whose it is"
            raise BadArgument("the loss", must, "another" if not isinstance(losses, Tensor) else tuple(losses.shape))
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
        self._sums = {}
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def fit(self, loss_function: LossFunction, *, progress: Progress | None = None) -> Private:
        """Takes all steps that are left: ``loss_function(model(X), y)``, asked for one number a row."""
        of_rows = by_rows(loss_function)
        self.model.train()
        with reporting(progress, "training") as tell:
            for inputs, *labels in (beside(self.model, rows) for rows in self.batches()):
                self.step(of_rows(self.model(inputs), *labels))
                tell(self.taken, self.plan.steps)
        return self

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
        if self._chunk is not None:
            raise BadArgument("save()", "asked between two steps", "in the middle of one")
        parts = {name: part.state() for name, part in self._parts().items()}
        parts |= {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        torch.save({"format": FORMAT, "version": 1, "plan": self._fingerprint(), "taken": self.taken, **parts}, path)

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
        self.model.load_state_dict(held["model"])
        self.optimizer.load_state_dict(held["optimizer"])
        for name, part in self._parts().items():
            part.load(held[name])
        self.taken = max(self.taken, int(held["taken"]))
        return self

    def _parts(self) -> dict[str, Memory]:
        """What may have to be remembered from step to step."""
        return {"sampler": self._sampler, "clipper": self._clipper, "noise": self._noise}

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
        """What is trained and what it has cost so far, for any form."""
        delta = self._keep.delta if isinstance(self._keep, Approx) else None
        cost = f"{self.spent(delta).loss}" if delta and self.taken else ""
        rows = [*self._facts(), ("kept", str(self._keep or "")), ("spent so far", cost)]
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
