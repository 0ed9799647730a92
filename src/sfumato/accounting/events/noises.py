"""Events of one mechanism: noise, choices, randomized response, and what is known by its loss alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import final

from sfumato.accounting.events.event import Event
from sfumato.accounting.facts.selection import read_exactly
from sfumato.accounting.facts.table import FACTS
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, elements
from sfumato.exact import Distance, Number, Root, as_distance, integer, non_negative, positive, probability
from sfumato.plain import record


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
@record("GaussianMixture")
class GaussianMixture(Event):
    """Continuous Gaussian noise on an answer (number or vector) that one unit moves by chance.

    Where the unit is there, the answer moves by at most ``shifts[i]`` in L2 with probability ``chances[i]``; which of
    them it was stays secret. The chances add up to 1: a shift of 0 stands for a unit that was not drawn. This is what
    the presence of the unit changes, whatever the relation: a unit exchanged for another is one removed and one added.
    """

    scale: Fraction
    shifts: tuple[Fraction, ...]
    chances: tuple[Fraction, ...]

    def __init__(self, scale: Number, shifts: Iterable[Number], *, chances: Iterable[Number]) -> None:
        for name, listed in (("shifts", shifts), ("chances", chances)):
            if isinstance(listed, str) or not isinstance(listed, Iterable):
                raise BadArgument(name, "a list of numbers", listed)
        with elements():
            moved = tuple(non_negative(shift, "each of the shifts") for shift in shifts)
            shares = tuple(probability(chance, "each of the chances") for chance in chances)
        if len(moved) != len(shares) or sum(shares) != 1:
            raise BadArgument("chances", "one for each shift, adding up to 1", shares)
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "shifts", moved)
        object.__setattr__(self, "chances", shares)

    @property
    def drawn(self) -> dict[Fraction, Fraction]:
        """The chance of each shift above 0, in rising order."""
        together: dict[Fraction, Fraction] = {}
        for shift, chance in sorted(zip(self.shifts, self.chances, strict=True)):
            if shift and chance:
                together[shift] = together.get(shift, Fraction(0)) + chance
        return together


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
