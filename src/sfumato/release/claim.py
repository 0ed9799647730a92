"""Claims: what the software cannot check and a person vouches for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.errors import BadArgument, ClaimRequired


@final
@dataclass(frozen=True)
class Claim:
    """A statement by the caller; recorded, and printed with every release that rests on it."""

    text: str

    def __str__(self) -> str:
        return self.text


def claim(text: str) -> Claim:
    """Vouches for something that cannot be checked.

    >>> claim("the map was reviewed by two people").text
    'the map was reviewed by two people'
    """
    if not isinstance(text, str) or not text.strip():
        raise BadArgument("a claim", "a sentence that says what holds and why", text)
    return Claim(text.strip())


def required(given: Claim | None, what: str) -> Claim:
    """Refuses what rests on a claim when there is none."""
    if not isinstance(given, Claim):
        raise ClaimRequired(what)
    return given
