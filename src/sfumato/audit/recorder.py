"""Sources of randomness for audits: one writes down what a run randomizes, one plays it back on other data."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, final

import numpy as np

from sfumato.core.random_step import RandomStep
from sfumato.entropy import Entropy

Outcome = TypeVar("Outcome")


@final
@dataclass(frozen=True, eq=False)
class RecordedStep:
    """An act as it went: what came of it, or what it raised."""

    act: RandomStep
    outcome: Any = None
    raised: Exception | None = None


@final
@dataclass(frozen=True, eq=False)
class Record:
    """What a run randomized, in order, and the bytes it drew outside of all acts: each with how many acts before."""

    steps: list[RecordedStep] = field(default_factory=list)
    coins: list[tuple[int, bytes]] = field(default_factory=list)


@final
class Diverged(BaseException):
    """Ends a replay that has taken another step than the run that was recorded.

    It is no `Exception`, so that nothing which takes failed runs for outcomes can hide it.
    """


@final
class Recorder(Entropy):
    """Draws from another source, and writes down every act of a run with its outcome.

    What happens inside an act is its own affair. What is drawn outside of all acts is kept. A run that draws in several
    threads has no order of steps: that it did is noted in ``threads``.

    >>> from sfumato.core.space import scalar
    >>> from sfumato.entropy import ReplayEntropy
    >>> from sfumato.mechanisms.additive import laplace
    >>> recorder = Recorder(ReplayEntropy(1))
    >>> told = (scalar(int) >> laplace(scale=2))(7, entropy=recorder).value
    >>> [(step.act.exact, step.outcome == told) for step in recorder.record.steps]
    [(7, True)]
    """

    def __init__(self, source: Entropy) -> None:
        self.record, self.inside = Record(), False
        self.threads: set[int] = set()
        self.passed = 0
        self._source = source

    @property
    def replayable(self) -> bool:
        """Always true: what is made with it stands beside what it was made of, so that nothing of it is private."""
        return True

    @property
    def drawn(self) -> int:
        """Counts what the source has handed out."""
        return self._source.drawn

    def octets(self, count: int) -> bytes:
        """Draws random bytes, and keeps those that are drawn outside of all acts."""
        self.threads.add(threading.get_ident())
        self.passed += count
        return self._source.octets(count) if self.inside else self.tossed(self._source.octets(count))

    def perform(self, act: object, draw: Callable[[], Outcome]) -> Outcome:
        """Draws the outcome of an act, and keeps both unless the act is part of another."""
        self.threads.add(threading.get_ident())
        if self.inside or not isinstance(act, RandomStep):
            return draw()
        outcome: Outcome = outcome_of(self.attempted(act, draw))
        return outcome

    def tossed(self, coins: bytes) -> bytes:
        """Keeps coins that are drawn outside of all acts."""
        self.record.coins.append((len(self.record.steps), coins))
        return coins

    def attempted(self, act: RandomStep, draw: Callable[[], Any]) -> RecordedStep:
        """Draws the outcome of an act and keeps it, whatever it is."""
        if act.of is not None:
            act.of.exact.append(act.exact)
        self.inside = True
        try:
            step = RecordedStep(act, copied(draw()))
        except Exception as fault:
            step = RecordedStep(act, raised=fault)
        finally:
            self.inside = False
        self.record.steps.append(step)
        return step


@final
class Replayer(Entropy):
    """Plays a record back: a run on other data meets the outcomes and the coins of the run that was recorded.

    Each act is drawn all the same, and what comes of it thrown away: it must not fail on one side only.
    """

    def __init__(self, before: Record, source: Entropy) -> None:
        self.diverged = False
        self._before, self._own = before, Recorder(source)

    @property
    def record(self) -> Record:
        """What this run has met so far."""
        return self._own.record

    @property
    def replayable(self) -> bool:
        return self._own.replayable

    @property
    def drawn(self) -> int:
        return self._own.drawn

    @property
    def threads(self) -> set[int]:
        return self._own.threads

    @property
    def passed(self) -> int:
        """Counts the bytes that this run has taken from the source."""
        return self._own.passed

    @property
    def coupled(self) -> bool:
        """Tells whether both runs drew the same coins outside of acts, as far as they went the same way."""
        ours, theirs = self.record.coins, self._before.coins
        return ours == (theirs[: len(ours)] if self.diverged else theirs)

    def octets(self, count: int) -> bytes:
        """The coins of the run before, where it drew as many at this point; else new ones."""
        self.threads.add(threading.get_ident())
        place = len(self.record.coins)
        if not self._own.inside and place < len(self._before.coins):
            position, coins = self._before.coins[place]
            if position == len(self.record.steps) and len(coins) == count:
                return self._own.tossed(coins)
        return self._own.octets(count)

    def perform(self, act: object, draw: Callable[[], Outcome]) -> Outcome:
        """The outcome of the run before; raises `Diverged` where that took another step."""
        self.threads.add(threading.get_ident())
        if self._own.inside or not isinstance(act, RandomStep):
            return draw()
        place = len(self.record.steps)
        if self.diverged or place >= len(self._before.steps) or self._before.steps[place].act.how != act.how:
            self.diverged = True
            raise Diverged
        self._own.attempted(act, draw)
        outcome: Outcome = outcome_of(self._before.steps[place])
        return outcome


def outcome_of(step: RecordedStep) -> Any:
    """What came of a step; what it raised is raised again."""
    if step.raised is not None:
        raise step.raised
    return copied(step.outcome)


def copied(outcome: Any) -> Any:
    """Copies what a run could change later: arrays, lists and dictionaries."""
    match outcome:
        case np.ndarray():
            return outcome.copy()
        case list():
            return [copied(part) for part in outcome]
        case dict():
            return {key: copied(part) for key, part in outcome.items()}
        case tuple() if type(outcome) is tuple:
            return tuple(copied(part) for part in outcome)
    return outcome
