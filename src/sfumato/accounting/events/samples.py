"""Ways to draw a secret part of the data, and events on what was drawn or shuffled."""

from __future__ import annotations

from abc import ABC
from fractions import Fraction
from typing import final

from sfumato.accounting.events.event import Event, check_events
from sfumato.accounting.events.hiding import Hides
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, probability
from sfumato.plain import record


class Sampling(ABC):  # noqa: B024  (a mark of kind; the tables of `compose` hold what is done with it)
    """A way to draw a secret random part of the data, before an event runs on it."""


@final
@record("Poisson")
class Poisson(Sampling):
    """Each unit kept independently with a probability."""

    rate: Fraction

    def __init__(self, rate: Number) -> None:
        object.__setattr__(self, "rate", probability(rate, "rate"))


@final
@record("TruncatedPoisson")
class TruncatedPoisson(Sampling):
    """`Poisson` sampling of a population whose size is public, cut at random to at most ``most`` units."""

    rate: Fraction
    most: int
    population: int

    def __init__(self, rate: Number, *, most: int, population: int) -> None:
        object.__setattr__(self, "rate", probability(rate, "rate"))
        object.__setattr__(self, "most", integer(most, "most", least=1))
        object.__setattr__(self, "population", integer(population, "population", least=1))


@final
@record("WithoutReplacement")
class WithoutReplacement(Sampling):
    """A uniformly random subset of exactly ``sample`` of a population of public size; one unit is exchanged.

    As in every `Sampled`, shifts are for a unit's *presence*: an exchange moves answers by up to twice that. A noise
    multiplier that peers state for "replace-one" is for the exchange itself: write `Gaussian(1.1, shift=1/2)` for 1.1.
    """

    sample: int
    population: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "population", integer(self.population, "population", least=1))
        object.__setattr__(self, "sample", integer(self.sample, "sample", least=0))
        if self.sample > self.population:
            raise BadArgument("sample", "at most the population", self.sample)


@final
@record("WithReplacement")
class WithReplacement(Sampling):
    """``draws`` independent uniform draws from a population of public size; a unit may be drawn more than once."""

    draws: int
    population: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "population", integer(self.population, "population", least=1))
        object.__setattr__(self, "draws", integer(self.draws, "draws", least=0))


@final
@record("Sampled")
class Sampled(Event):
    """An event on a random sample that stays secret."""

    event: Event
    sampling: Sampling

    def __post_init__(self) -> None:
        check_events(self.event, name="event")
        if not isinstance(self.sampling, Sampling):
            raise BadArgument("sampling", "a way to sample such as sf.events.Poisson(0.01)", self.sampling)


@final
@record("Allocated")
class Allocated(Event):
    """``steps`` runs of an event; each unit takes part in exactly ``participations`` of them, and which stays secret.

    Every unit's runs are drawn uniformly, and independently of all other units (balls in bins): batches then differ in
    size. Each run may be chosen in the light of the answers before it. An epoch of training is one such event; epochs
    repeat it. As in `Sampled`, shifts are what the presence of a unit in a run changes.

    Data that is shuffled and cut into batches of a fixed size is another thing: there a unit that is added moves
    others to other batches, and no saving is proved. It costs what one run does, for each epoch: write
    `Repeat(event, epochs)`.
    """

    event: Event
    steps: int
    participations: int = 1

    def __post_init__(self) -> None:
        check_events(self.event, name="event")
        object.__setattr__(self, "steps", integer(self.steps, "steps", least=1))
        object.__setattr__(self, "participations", integer(self.participations, "participations", least=1))
        if self.participations > self.steps:
            raise BadArgument("participations", "at most the steps", self.participations)


@final
@record("Shuffled")
class Shuffled(Event):
    """A local event run by each of ``reports`` units on their own, the reports then put in random order."""

    event: Event
    reports: int

    def __post_init__(self) -> None:
        check_events(self.event, name="event")
        object.__setattr__(self, "reports", integer(self.reports, "reports", least=1))


@final
@record("ShuffledProtocol")
class ShuffledProtocol(Event):
    """A `Shuffled` event whose local event is a protocol of which it is known how well its reports hide each other.

    What the shuffler saves is worked out from ``hiding`` alone; ``event`` says what one report keeps.
    """

    event: Event
    reports: int
    hiding: Hides

    def __post_init__(self) -> None:
        check_events(self.event, name="event")
        object.__setattr__(self, "reports", integer(self.reports, "reports", least=1))
        if not isinstance(self.hiding, Hides):
            raise BadArgument(
                "hiding", "how well reports hide each other, such as Hiding.of_bits(0.5, 0.25)", self.hiding
            )
