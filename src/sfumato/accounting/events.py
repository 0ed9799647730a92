"""Events: public, frozen descriptions of what ran, for one accountant to add up.

An event holds public numbers only: it may be printed, stored and published. The format is versioned (`codec`): an event
is never removed, never gains a required field, never changes its meaning; an unknown one is refused.

A *shift* is the largest distance between the exact answers of two neighbours, in the unit of the noise. It belongs to
the relation that the plan is held to, with three exceptions. Inside `Sampled` it is what the presence of one unit
changes, whatever the relation. Inside `Parallel` it covers both, the presence of a unit in the part and, where units
may be exchanged, its replacement. Inside `Shuffled` it lies between any two inputs of one unit's local event.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Hashable
from fractions import Fraction
from typing import final

from sfumato.accounting.facts.selection import (
    ExponentialSelection,
    NoisyMaximum,
    PermuteAndFlip,
    TopSelection,
    read_exactly,
)
from sfumato.accounting.facts.table import FACTS
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, elements
from sfumato.exact import Distance, Number, Root, as_distance, integer, non_negative, positive, probability, rational
from sfumato.plain import record

WAYS_TO_CHOOSE = (ExponentialSelection, NoisyMaximum, PermuteAndFlip, TopSelection)
"""What a `Selection` may hold; named here so that users find them beside the events."""

MOST_TIMES = 10**18
"""Nothing is repeated more often than this."""


class Event(ABC):  # noqa: B024  (a mark of kind; the tables of `compose` hold what is done with it)
    """Something that ran, or is planned."""


def _events(*parts: Event, name: str = "each of the parts") -> tuple[Event, ...]:
    for part in parts:
        if not isinstance(part, Event):
            raise BadArgument(name, "an event such as sf.events.Gaussian(scale=1)", part)
    return parts


def _listed(parts: tuple[Event, ...], *more: str) -> str:
    return ", ".join([*map(repr, parts), *more])


@final
@record("Gaussian")
class Gaussian(Event):
    """Continuous Gaussian noise of a scale on an answer (number or vector) that moves by at most ``shift`` in L2.

    What `sf.gaussian` draws is discrete: its event is `Noise(DiscreteGaussian(…), shift)`.
    """

    scale: Distance
    shift: Distance

    def __init__(self, scale: Number | Root, shift: Number | Root = 1) -> None:
        object.__setattr__(self, "scale", scale if isinstance(scale, Root) else positive(scale, "scale"))
        object.__setattr__(self, "shift", as_distance(shift, "shift"))


@final
@record("Laplace")
class Laplace(Event):
    """Continuous Laplace noise of a scale on one number that moves by at most ``shift``."""

    scale: Fraction
    shift: Distance

    def __init__(self, scale: Number, shift: Number | Root = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "shift", as_distance(shift, "shift"))


@final
@record("Noise")
class Noise(Event):
    """Integer noise (a `sfumato.noise` distribution) on whole numbers that move by at most ``shift``.

    With more than one coordinate the shift is in the norm of the noise: L1 for Laplace, L2 for Gaussian.
    """

    noise: Hashable
    shift: Distance
    coordinates: int

    def __init__(self, noise: Hashable, shift: Number | Root = 1, *, coordinates: int = 1) -> None:
        if isinstance(noise, type) or not callable(getattr(noise, "upper_tail", None)):
            raise BadArgument("noise", "integer noise such as sf.noise.DiscreteLaplace(10)", noise)
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "shift", as_distance(shift, "shift"))
        object.__setattr__(self, "coordinates", integer(coordinates, "coordinates", least=1))


@final
@record("Selection")
class Selection(Event):
    """A choice among public candidates (`facts.selection`) whose scores move by at most a range ``shift``."""

    selection: Hashable
    shift: Distance

    def __init__(self, selection: Hashable, shift: Number | Root = 1) -> None:
        if not any(kind is type(selection) for kind, _ in FACTS) or callable(getattr(selection, "upper_tail", None)):
            raise BadArgument(
                "selection", "a way to choose such as sf.events.ExponentialSelection(temperature)", selection
            )
        object.__setattr__(self, "selection", read_exactly(selection))
        object.__setattr__(self, "shift", as_distance(shift, "shift"))


@final
@record("Response")
class Response(Event):
    """K-ary randomized response: the truth is exp(ε) times as likely as each other option; for any two inputs."""

    epsilon: Fraction
    options: int

    def __init__(self, epsilon: Number, options: int = 2) -> None:
        object.__setattr__(self, "epsilon", non_negative(epsilon, "epsilon"))
        object.__setattr__(self, "options", integer(options, "options", least=2))


@final
@record("Stated")
class Stated(Event):
    """A mechanism of which only a loss is known, between the neighbours that a shift would speak of in its place."""

    loss: Loss
    note: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss):
            raise BadArgument("loss", "a privacy loss such as sf.Pure(0.5)", self.loss)
        if not isinstance(self.note, str):
            raise BadArgument("note", "a text", self.note)


@final
@record("Sequence", spread="parts", repr=False)
class Sequence(Event):
    """Several events on the same data, each possibly chosen in the light of the answers before it."""

    parts: tuple[Event, ...]

    def __init__(self, *parts: Event) -> None:
        object.__setattr__(self, "parts", _events(*parts))

    def __repr__(self) -> str:
        return f"Sequence({_listed(self.parts)})"


@final
@record("Repeat")
class Repeat(Event):
    """One event, ``times`` times on the same data, at most 10¹⁸."""

    event: Event
    times: int

    def __post_init__(self) -> None:
        _events(self.event, name="event")
        object.__setattr__(self, "times", integer(self.times, "times", least=0))
        if self.times > MOST_TIMES:
            raise BadArgument("times", f"at most {MOST_TIMES}", "more")


@final
@record("Parallel", spread="parts", repr=False)
class Parallel(Event):
    """One event on each part of a partition fixed without the data; a unit is in at most ``overlap`` parts.

    Each part is chosen without the answers of the others.
    """

    parts: tuple[Event, ...]
    overlap: int

    def __init__(self, *parts: Event, overlap: int = 1) -> None:
        object.__setattr__(self, "parts", _events(*parts))
        object.__setattr__(self, "overlap", integer(overlap, "overlap", least=1))

    def __repr__(self) -> str:
        return f"Parallel({_listed(self.parts, f'overlap={self.overlap}')})"


@final
@record("Mixture", spread="parts", repr=False)
class Mixture(Event):
    """One of several events, drawn with public weights that do not depend on the data; the draw may be published."""

    parts: tuple[Event, ...]
    weights: tuple[Fraction, ...]

    def __init__(self, *parts: Event, weights: tuple[Number, ...]) -> None:
        events = _events(*parts)
        if not isinstance(weights, tuple | list):
            raise BadArgument("weights", "one for each part, adding up to 1", weights)
        with elements():
            shares = tuple(probability(weight, "each weight") for weight in weights)
        if len(shares) != len(events) or sum(shares) != 1:
            raise BadArgument("weights", "one for each part, adding up to 1", weights)
        object.__setattr__(self, "parts", events)
        object.__setattr__(self, "weights", shares)

    def __repr__(self) -> str:
        return f"Mixture({_listed(self.parts, f'weights={self.weights!r}')})"


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
        _events(self.event, name="event")
        if not isinstance(self.sampling, Sampling):
            raise BadArgument("sampling", "a way to sample such as sf.events.Poisson(0.01)", self.sampling)


@final
@record("Shuffled")
class Shuffled(Event):
    """A local event run by each of ``reports`` units on their own, the reports then put in random order."""

    event: Event
    reports: int

    def __post_init__(self) -> None:
        _events(self.event, name="event")
        object.__setattr__(self, "reports", integer(self.reports, "reports", least=1))


@final
@record("Tree")
class Tree(Event):
    """Gaussian noise on every node of a complete tree over ``steps`` leaves; a unit adds up to ``shift`` to a leaf.

    A unit takes part in at most ``participations`` leaves, any two of them at least ``separation`` apart; one that is
    exchanged for it takes part in the same. Every node is the sum of its leaves plus noise of the scale.
    """

    scale: Fraction
    steps: int
    participations: int
    separation: int
    branching: int
    shift: Distance

    def __init__(
        self,
        scale: Number,
        *,
        steps: int,
        participations: int = 1,
        separation: int = 1,
        branching: int = 2,
        shift: Number | Root = 1,
    ) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "steps", integer(steps, "steps", least=1))
        object.__setattr__(self, "participations", integer(participations, "participations", least=1))
        object.__setattr__(self, "separation", integer(separation, "separation", least=1))
        object.__setattr__(self, "branching", integer(branching, "branching", least=2))
        object.__setattr__(self, "shift", as_distance(shift, "shift"))


@final
@record("CompletedNodes")
class CompletedNodes(Event):
    """Of a tree only the nodes whose leaves are all among its steps, as a running release publishes them."""

    tree: Tree

    def __post_init__(self) -> None:
        if not isinstance(self.tree, Tree):
            raise BadArgument("tree", "a tree such as sf.events.Tree(1, steps=1000)", self.tree)


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
        _events(self.event, name="event")
        if not isinstance(self.runs, Runs):
            raise BadArgument("runs", "a law of runs such as sf.events.PoissonRuns(10)", self.runs)
