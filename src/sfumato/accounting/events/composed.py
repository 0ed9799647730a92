"""Events made of others: one after another, again and again, side by side, one of several."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from sfumato.accounting.events.event import Event, check_events, listed
from sfumato.errors import BadArgument, elements
from sfumato.exact import Number, integer, probability
from sfumato.plain import record

MOST_TIMES = 10**18
"""Nothing is repeated more often than this."""


@final
@record("Sequence", spread="parts", repr=False)
class Sequence(Event):
    """Several events on the same data, each possibly chosen in the light of the answers before it."""

    parts: tuple[Event, ...]

    def __init__(self, *parts: Event) -> None:
        object.__setattr__(self, "parts", check_events(*parts))

    def __repr__(self) -> str:
        return f"Sequence({listed(self.parts)})"


@final
@record("Repeat")
class Repeat(Event):
    """One event, ``times`` times on the same data, at most 10¹⁸."""

    event: Event
    times: int

    def __post_init__(self) -> None:
        check_events(self.event, name="event")
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
        object.__setattr__(self, "parts", check_events(*parts))
        object.__setattr__(self, "overlap", integer(overlap, "overlap", least=1))

    def __repr__(self) -> str:
        return f"Parallel({listed(self.parts, f'overlap={self.overlap}')})"


@final
@record("Mixture", spread="parts", repr=False)
class Mixture(Event):
    """One of several events, drawn with public weights that do not depend on the data; the draw may be published."""

    parts: tuple[Event, ...]
    weights: tuple[Fraction, ...]

    def __init__(self, *parts: Event, weights: tuple[Number, ...]) -> None:
        events = check_events(*parts)
        if not isinstance(weights, tuple | list):
            raise BadArgument("weights", "one for each part, adding up to 1", weights)
        with elements():
            shares = tuple(probability(weight, "each weight") for weight in weights)
        if len(shares) != len(events) or sum(shares) != 1:
            raise BadArgument("weights", "one for each part, adding up to 1", weights)
        object.__setattr__(self, "parts", events)
        object.__setattr__(self, "weights", shares)

    def __repr__(self) -> str:
        return f"Mixture({listed(self.parts, f'weights={self.weights!r}')})"
