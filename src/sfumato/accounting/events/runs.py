"""Running a mechanism a random number of times and publishing its best outcome."""

from __future__ import annotations

from abc import ABC
from fractions import Fraction
from typing import final

from sfumato.accounting.events.event import Event, check_events
from sfumato.errors import BadArgument
from sfumato.exact import Number, positive, rational
from sfumato.plain import record


class Runs(ABC):  # noqa: B024  (a mark of kind; the tables of `compose` hold what is done with it)
    """The law of how often a mechanism is run before its best answer is chosen."""


@final
@record("TruncatedNegativeBinomial")
class TruncatedNegativeBinomial(Runs):
    """The law of Papernot and Steinke with shape η and stopping γ: η = 1 geometric, η = 0 logarithmic."""

    shape: Fraction
    stop: Fraction

    def __init__(self, shape: Number, stop: Number) -> None:
        read = rational(shape, "shape")
        if read <= -1:
            raise BadArgument("shape", "greater than -1", shape)
        chance = positive(stop, "stop")
        if chance >= 1:
            raise BadArgument("stop", "less than 1", stop)
        object.__setattr__(self, "shape", read)
        object.__setattr__(self, "stop", chance)


@final
@record("PoissonRuns")
class PoissonRuns(Runs):
    """A Poisson number of runs with a mean; nothing is released when it is 0."""

    mean: Fraction

    def __init__(self, mean: Number) -> None:
        object.__setattr__(self, "mean", positive(mean, "mean"))


@final
@record("RepeatAndSelect")
class RepeatAndSelect(Event):
    """An event run a random number of times, of which only the best outcome is published."""

    event: Event
    runs: Runs

    def __post_init__(self) -> None:
        check_events(self.event, name="event")
        if not isinstance(self.runs, Runs):
            raise BadArgument("runs", "a law of runs such as sf.events.PoissonRuns(10)", self.runs)
