"""Where hyper-parameters come from: what was tuned on protected rows and not paid for must not be released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import final

from torch.optim import Optimizer

from sfumato.errors import BadArgument
from sfumato.train.plan import TrainingPlan


class Origin(Enum):
    """Who, or what, chose the value of a hyper-parameter."""

    GIVEN = "given"
    """A constant that no rows of the protected data have steered."""

    PUBLIC = "tuned on public rows"
    """Chosen by rows that need no protection."""

    CHOSEN = "chosen privately, and paid for"
    """Chosen by noisy scores of protected rows, as a part of what the release costs."""

    RULE = "follows by a rule from public numbers"
    """Worked out of other values, without any rows: noise from a loss, a learning rate from a batch."""

    UNPAID = "tuned on protected rows, unpaid"
    """Chosen by looking at protected rows: nothing that rests on it may be released."""


@final
@dataclass(frozen=True)
class Stated:
    """The value of a hyper-parameter, in words, and where it comes from."""

    value: str
    origin: Origin


@final
@dataclass(frozen=True)
class Origins(Mapping[str, Stated]):
    """All hyper-parameters of a training by their names, each with its value and its origin.

    >>> origins = Origins({"lr": Stated("0.5", Origin.GIVEN)}).stated(lr=Origin.PUBLIC)
    >>> print(origins)
    lr 0.5 (tuned on public rows)
    """

    held: Mapping[str, Stated]

    def stated(self, **origins: Origin) -> Origins:
        """The same with other origins for some of the names."""
        changed = dict(self.held)
        for word, origin in origins.items():
            name = word if word in changed else word.replace("_", " ")
            if name not in changed:
                raise BadArgument("the hyper-parameters", f"some of {', '.join(changed)}", name)
            if not isinstance(origin, Origin):
                must = "an sf.train.Origin: " + ", ".join(each.name for each in Origin)
                raise BadArgument(f"where {name} comes from", must, origin)
            changed[name] = replace(changed[name], origin=origin)
        return Origins(changed)

    def with_value(self, name: str, value: object, origin: Origin) -> Origins:
        """The same with one more hyper-parameter."""
        return Origins({**self.held, name: Stated(str(value), origin)})

    def check(self) -> None:
        """Refuses to go on where something was tuned on protected rows that nobody paid for."""
        unpaid = [name for name, stated in self.held.items() if stated.origin is Origin.UNPAID]
        if unpaid:
            must = (
                "chosen without the protected rows, or by sf.train.tune, which pays for the choice: what was tried "
                "and lost tells about these rows too"
            )
            raise BadArgument(f"the hyper-parameters {', '.join(unpaid)}", must, Origin.UNPAID.value)

    def __getitem__(self, name: str) -> Stated:
        return self.held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)

    def __str__(self) -> str:
        said = ((f"{name} {stated.value}".strip(), stated.origin) for name, stated in self.held.items())
        return ", ".join(words if origin is Origin.GIVEN else f"{words} ({origin.value})" for words, origin in said)


def of_plan(plan: TrainingPlan, *, kept: bool) -> dict[str, Stated]:
    """The hyper-parameters of a plan: as given, but for the noise, which follows from a loss where one is kept."""
    noise = Stated(f"{float(plan.multiplier):.4g}", Origin.RULE if kept else Origin.GIVEN)
    said = {"batch": f"{float(plan.batches.expected):g}", "steps": f"{plan.steps}", "clip": f"{plan.clipping.bound:g}"}
    return {**{name: Stated(value, Origin.GIVEN) for name, value in said.items()}, "noise_multiplier": noise}


def origins_of(plan: TrainingPlan, optimizer: Optimizer, *, kept: bool) -> Origins:
    """The hyper-parameters of a training: those of its plan, its optimizer, its model and where that begins."""
    rates = dict.fromkeys(f"{float(group['lr']):g}" for group in optimizer.param_groups if "lr" in group)
    others = {"optimizer": type(optimizer).__name__, "lr": ", ".join(rates), "architecture": "", "initial weights": ""}
    return Origins({**of_plan(plan, kept=kept), **{name: Stated(said, Origin.GIVEN) for name, said in others.items()}})
