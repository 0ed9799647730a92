"""Training without a number of steps: each is paid for before it looks, until the next would pass a limit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, final

from sfumato.accounting.adaptive.filters import SumFilter, counted
from sfumato.accounting.adaptive.step_filter import filter_for_steps
from sfumato.accounting.codec import from_plain, to_plain
from sfumato.accounting.compose import total
from sfumato.accounting.events import Event, Repeat, Sequence
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, LimitReached, NoProvenRoute, UnknownFormat
from sfumato.exact import integer
from sfumato.guarantee import guarantee
from sfumato.release.record import Release
from sfumato.train.memory import Memory
from sfumato.train.paying import OWN_ROWS, Payer, Run

PROOF = "proofs/training.md#open"


@final
class Counted:
    """Events, and how often each of them was."""

    def __init__(self, times: dict[Event, int] | None = None) -> None:
        self.times = {} if times is None else times

    def add(self, step: Event, times: int = 1) -> None:
        """Counts a step so many times more."""
        self.times[step] = self.times.get(step, 0) + times

    def event(self) -> Event:
        """All of them as one event."""
        parts = [Repeat(step, times) for step, times in self.times.items()]
        return parts[0] if len(parts) == 1 else Sequence(*parts)

    def plain(self) -> list[Any]:
        """What is saved of them."""
        return [[to_plain(step), times] for step, times in self.times.items()]

    @staticmethod
    def read(plain: Any) -> Counted:
        """Reads what was saved."""
        read = {from_plain(step): integer(times, "times", least=0) for step, times in plain}
        counts = {step: times for step, times in read.items() if isinstance(step, Event)}
        if len(counts) != len(plain):
            raise UnknownFormat("it is no training that was saved")
        return Counted(counts)


class OpenEnded(Memory, ABC):
    """Who pays for the steps of a training one by one, and what ran so far."""

    ran: Counted

    @property
    def taken(self) -> int:
        """How many steps were paid for and began."""
        return sum(self.ran.times.values())

    @abstractmethod
    def pay(self, step: Event) -> bool:
        """Pays for one more step, before it looks at anything; False where it does not fit any more."""

    @abstractmethod
    def left(self, step: Event) -> int | None:
        """How many more steps like this one fit, where that is known."""

    def state(self) -> dict[str, Any]:
        return {"ran": self.ran.plain()}

    def load(self, state: dict[str, Any]) -> None:
        self.ran = Counted.read(state["ran"])


@final
class Filtered(OpenEnded):
    """Steps under a filter: all of them together keep the limit, whenever and for whatever reason they end."""

    def __init__(self, limit: Loss, first: Event, relation: Relation) -> None:
        self.ran, self._relation = Counted(), relation
        self._start = self._filter = filter_for_steps(limit, first, relation=relation)
        self._costs = dict[Event, Loss]()
        if not self._filter.admits(self._cost(first)):
            raise BadArgument("limit", "enough for one step: more noise, or fewer units in a batch, cost less", limit)

    @guarantee(
        claim="a step runs only where the sum of all losses, its own included, is within what the limit allows",
        proof=PROOF,
        reviewed="e69f6831f592",
    )
    def pay(self, step: Event) -> bool:
        cost = self._cost(step)
        if not self._filter.admits(cost):
            return False
        self._filter = self._filter.after(cost)
        self.ran.add(step)
        return True

    def left(self, step: Event) -> int | None:
        cost, rest, high = self._cost(step), self._filter.left, 1
        while cost.times(high).within(rest):
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if cost.times(middle).within(rest) else (low, middle)
        return low

    def state(self) -> dict[str, Any]:
        return super().state() | {"filter": to_plain(self._start)}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        start = from_plain(state["filter"])
        if not isinstance(start, SumFilter):
            raise UnknownFormat("it is no training that was saved")
        self._start = self._filter = start  # what is counted, and at which order, was fixed before the first step
        self._costs.clear()
        for step, times in self.ran.times.items():
            self._filter = self._filter.after(self._cost(step).times(times))

    def _cost(self, step: Event) -> Loss:
        limit = self._start.limit
        if step not in self._costs:
            self._costs[step] = counted(total(step, type(limit), relation=self._relation), limit)
        return self._costs[step]


@final
class Charged(OpenEnded):
    """Steps that a session pays for, ``ahead`` of them at a time: what was never charged was never spent."""

    def __init__(self, session: Payer, key: str, first: Event, *, ahead: int, relation: Relation) -> None:
        self.ran, self._charged, self._relation = Counted(), Counted(), relation
        self._session, self._key = session, key
        self._ahead = integer(ahead, "ahead", least=1)
        self._kind = _kind(session.own_limit, first, relation)
        self._run: Run | None = None
        self._block, self._number = first, 0

    @guarantee(
        claim="a step runs only under a charge for it, in a kind of loss in which steps of one run add up",
        proof=PROOF,
        reviewed="2d3d2074c05e",
    )
    def pay(self, step: Event) -> bool:
        if self._run is None or not self._run.left or step != self._block:
            try:
                self._run, self._block = self._charge(step), step
            except LimitReached:
                return False
        self._run.step(lambda data, entropy: None)
        self.ran.add(step)
        return True

    def left(self, step: Event) -> int | None:
        return None

    def finish(self, value: Any) -> Release:
        """Ends the training with a release, of the loss of all charges together."""
        if self._run is None:
            raise BadArgument("release()", "asked after the first step: before it, nothing is", 0)
        release = self._run.finish(value)
        return replace(release, loss=total(self._charged.event(), self._kind, relation=self._relation))

    def state(self) -> dict[str, Any]:
        return super().state() | {"number": self._number, "charged": self._charged.plain()}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        self._number, self._charged = integer(state["number"], "number", least=0), Counted.read(state["charged"])

    def _charge(self, step: Event) -> Run:
        """Charges the next steps; those that the book has under these keys already were taken before a crash."""
        event = Repeat(step, self._ahead)
        loss = total(event, self._kind, relation=self._relation)
        while True:
            run = self._session.start(
                event,
                loss=loss,
                key=f"{self._key}/{self._number + 1}",
                claim=OWN_ROWS,
                proofs=(PROOF,),
                what=f"private training, {self._ahead:,} steps more",
                ahead=self._ahead,
            )
            if self._run is not None and not self._run.ended:
                self._run.finish({"steps": self.taken})
            self._number += 1
            self._charged.add(step, self._ahead)
            self.ran.add(step, run.taken)
            if run.left and not run.ended:
                return run


def _kind(limit: Loss, step: Event, relation: Relation) -> type[Loss]:
    """The kind of loss in which steps are charged: that of the limit, where losses of steps add up in it."""
    if not isinstance(limit, Approx):
        total(step, type(limit), relation=relation)  # refuses now what could never be charged
        return type(limit)
    try:
        total(step, GDP, relation=relation)
    except NoProvenRoute:
        return Renyi
    return GDP
