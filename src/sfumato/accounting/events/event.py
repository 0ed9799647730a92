"""The kind of all events, and how those that hold others check and print them."""

from __future__ import annotations

from abc import ABC

from sfumato.errors import BadArgument


class Event(ABC):  # noqa: B024  (a mark of kind; the tables of `compose` hold what is done with it)
    """Something that ran, or is planned."""

    @property
    def assumptions(self) -> str:
        """What is taken on trust about what ran, in words, where the description alone does not do; else nothing."""
        return ""


def check_events(*parts: Event, name: str = "each of the parts") -> tuple[Event, ...]:
    """Passes events, in their order; refuses anything else."""
    for part in parts:
        if not isinstance(part, Event):
            raise BadArgument(name, "an event such as sf.events.Gaussian(scale=1)", part)
    return parts


def listed(parts: tuple[Event, ...], *more: str) -> str:
    """Writes parts, and what is said after them, as the arguments of a call."""
    return ", ".join([*map(repr, parts), *more])
