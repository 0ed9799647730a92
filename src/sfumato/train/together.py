"""Several processes that train one model: each has units of its own, and noise is added once for all of them.

What leaves the processes is the same as with one of them that has all units: proofs/training.md#together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar, final

import torch
import torch.distributed as distributed
from torch import Tensor, nn

from sfumato.accounting.events import Event
from sfumato.accounting.relation import Relation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, ProcessGone
from sfumato.exact import Number
from sfumato.guarantee import guarantee
from sfumato.train.batches import Batches, PoissonBatches
from sfumato.train.noise import Gradients, Independent, Noise, NoiseStream
from sfumato.train.paying import Run
from sfumato.train.people import names_of
from sfumato.train.plan import TrainingPlan

Value = TypeVar("Value")

Group: TypeAlias = Any
"""A process group of torch, or None for all processes."""

FIRST = 0
"""The rank that draws the noise, and pays."""

SHARDED = ("FullyShardedDataParallel", "FSDPModule")


@final
class Together:
    """The processes that train together, each of which makes one after `torch.distributed.init_process_group`.

    Every unit must be in one process only: all rows of a person belong to the same one. The process of rank 0 holds the
    session and saves; all of them take the same steps.
    """

    def __init__(self, group: Group = None) -> None:
        if not (distributed.is_available() and distributed.is_initialized()):
            raise BadArgument("together", "made after torch.distributed.init_process_group(…)", "before")
        self._group = group
        self.rank: int = distributed.get_rank(group)
        self.processes: int = distributed.get_world_size(group)
        self._root = FIRST if group is None else distributed.get_global_rank(group, FIRST)

    @property
    def first(self) -> bool:
        """Tells whether this is the process that pays, draws the noise and saves."""
        return self.rank == FIRST

    def gathered(self, value: Value) -> list[Value]:
        """What all processes have, by rank."""
        values: list[Any] = [None] * self.processes
        self._met(lambda: distributed.all_gather_object(values, value, group=self._group))
        return values

    def agree(self, what: str, said: str) -> None:
        """Refuses, in all processes, what is not the same in all of them."""
        if len(set(self.gathered(said))) > 1:
            raise BadArgument(what, "the same in all processes", "not the same")

    def count(self, units: int, people: Sequence[object] | None) -> int:
        """How many units all processes have; refuses, in all of them, people who are in several."""
        held = {hashlib.sha256(name).digest() for name in names_of(people)} if people is not None else set()
        counts, marks = zip(*self.gathered((units, sorted(held))), strict=True)
        if len(set().union(*marks)) < sum(len(own) for own in marks):
            raise BadArgument("people", "in one process each, with all of their rows", "some in several")
        return sum(counts)

    def relation(self, relation: Relation) -> Relation:
        """Which neighbours are meant: those of the process that pays."""
        return self.gathered(relation)[FIRST]

    def joined(self, plan: TrainingPlan, model: nn.Module, optimizer: torch.optim.Optimizer) -> TrainingPlan:
        """The plan with noise that is drawn once for all processes, which then have the weights of the first.

        Refuses, in all of them, what is not the same in all, and batches and clipping that several cannot share.
        """
        if not isinstance(plan.batches, PoissonBatches):
            must = "PoissonBatches, where processes draw their own units without knowing of the others'"
            raise BadArgument("batches", must, type(plan.batches).__name__)
        if not plan.clipping.constant:
            must = "a rule that learns nothing from the batches: processes see different ones"
            raise BadArgument("clip", must, type(plan.clipping).__name__)
        if not isinstance(plan.noise, Independent):
            raise BadArgument(
                "noise", "drawn anew in floating point: sums of several processes are floats", str(plan.noise)
            )
        groups = [{key: each for key, each in group.items() if key != "params"} for group in optimizer.param_groups]
        self.agree("the plan", f"{plan.batches} {plan.clipping} {plan.multiplier} {plan.relation} {plan.noise}")
        self.agree("the model", f"{[(name, each.shape, each.dtype) for name, each in model.state_dict().items()]}")
        self.agree("the optimizer", f"{type(optimizer).__name__} {groups}")
        for each in model.state_dict().values():
            each.copy_(self._from_first(each.contiguous()))
        return replace(plan, noise=Once(plan.noise, self))

    def paid(self, pay: Callable[[], Run] | None) -> Run | None:
        """Pays in the first process, after a look that no other one would; where it cannot, all of them stop."""
        if any(self.gathered(pay is not None)[FIRST + 1 :]):
            raise BadArgument("session", "given to the process of rank 0 only, which pays for all", "given to others")
        run, fault = None, None
        if pay is not None:
            try:
                run = pay()
            except Exception as raised:  # whatever it is, the others must not wait
                fault = raised
        refused = self.gathered(fault is not None)[FIRST]
        if fault is not None:
            raise fault
        if refused:
            raise ProcessGone("the process of rank 0 could not pay for the training, and nothing ran: see its error.")
        return run

    def latest(self, taken: int) -> int:
        """How many steps are taken: the most that any process knows of."""
        return max(self.gathered(taken))

    @guarantee(
        claim="the sum of all processes' sums, with noise that is added once",
        proof="proofs/training.md#together",
        reviewed="842b3e40c296",
    )
    def noisy(self, sums: Gradients, like: Sequence[nn.Parameter], add: Callable[[Gradients], Gradients]) -> Gradients:
        """Adds all processes' sums up, and has the first add its noise; all of them get the same."""
        flat = _flat(sums, like)
        self._met(lambda: distributed.reduce(flat, self._root, group=self._group))
        if self.first:
            flat = _flat(add(_split(flat, like)), like)
        return _split(self._from_first(flat), like)

    def _from_first(self, tensor: Tensor) -> Tensor:
        self._met(lambda: distributed.broadcast(tensor, self._root, group=self._group))
        return tensor

    def _met(self, meeting: Callable[[], object]) -> None:
        """Meets the other processes; one that is gone stops all others before they take a step."""
        try:
            meeting()
        except RuntimeError:
            raise ProcessGone(
                "another process is gone, or did not come in time, and the step was not taken. Start all processes "
                "again, and resume from what was saved last: what was paid for goes on."
            ) from None


@final
@dataclass(frozen=True, eq=False)
class Once(Noise):
    """Noise that one of several processes draws for all."""

    noise: Noise
    together: Together

    def event(self, batches: Batches, multiplier: Number) -> Event:
        return self.noise.event(batches, multiplier)

    def start(self, parameters: Sequence[nn.Parameter], entropy: Entropy) -> NoiseStream:
        return _OnceStream(self.noise.start(parameters, entropy), self.together, parameters)

    def __str__(self) -> str:
        return str(self.noise)


@final
class _OnceStream(NoiseStream):
    def __init__(self, stream: NoiseStream, together: Together, parameters: Sequence[nn.Parameter]) -> None:
        self._stream, self._together, self._parameters = stream, together, parameters

    def add(self, sums: Gradients, deviation: float) -> Gradients:
        return self._together.noisy(sums, self._parameters, lambda all_sums: self._stream.add(all_sums, deviation))

    def state(self) -> dict[str, Any]:
        return self._stream.state()

    def load(self, state: dict[str, Any]) -> None:
        self._stream.load(state)


def refuse_wrapped(model: object) -> None:
    """Refuses models that torch has wrapped for several processes: they would add gradients up before clipping."""
    if isinstance(model, nn.parallel.DistributedDataParallel | nn.DataParallel):
        must = "the model itself, model.module, with together=sf.train.Together() for several processes"
        raise BadArgument("model", must, type(model).__name__)
    layers = model.modules() if isinstance(model, nn.Module) else ()
    if any(kind.__name__ in SHARDED for layer in layers for kind in type(layer).__mro__):
        must = (
            "whole in every process, with together=sf.train.Together(): norms of gradients need all of a model's "
            "layers, which FSDP holds in pieces"
        )
        raise BadArgument("model", must, "sharded by FSDP")


def _flat(parts: Gradients, like: Sequence[nn.Parameter]) -> Tensor:
    """All parts in one row, in the widest of their types, at least float32; zeros for what is not there."""
    kind = torch.float64 if any(each.dtype == torch.float64 for each in like) else torch.float32
    return torch.cat([parts.get(each, torch.zeros_like(each)).detach().flatten().to(kind) for each in like])


def _split(flat: Tensor, like: Sequence[nn.Parameter]) -> Gradients:
    parts = flat.split([each.numel() for each in like])
    return {each: part.view(each.shape).to(each.dtype) for each, part in zip(like, parts, strict=True)}
