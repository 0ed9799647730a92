"""Tokens of one's own: secrets by which programs are let in, each good for some actions and for a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import final

from sfumato.errors import BadArgument
from sfumato.service.house import House
from sfumato.service.people import TOKEN, Person, Secret
from sfumato.service.records import Kept
from sfumato.service.rights import Action

LEFT_OUT = frozenset({Action.KEEP_TOKENS, Action.KEEP_ACCOUNT, Action.MANAGE_PEOPLE})
"""What no token is good for unless it says so: a token that was stolen draws no others."""

NEVER = frozenset({Action.KEEP_TOKENS, Action.KEEP_ACCOUNT})
LONGEST_NAME, MOST = 80, 50


@final
@dataclass(frozen=True)
class Token:
    """A token in a list: its place, what it is called, what it is good for (None: for all), and when it ends."""

    place: str
    called: str
    scope: tuple[str, ...] | None
    until: str


def token_of(kept: Kept) -> Token:
    """Reads what is kept of a token."""
    scope = kept.said["scope"]
    return Token(kept.name, kept.said["called"], None if scope is None else tuple(scope), kept.said["until"])


@final
@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of whoever asks, whatever their roles are."""

    house: House

    def issue(
        self, person: Person, called: str, *, scope: Iterable[Action] | None = None, lasts: timedelta | None = None
    ) -> Secret:
        """Draws a token of one's own; its text is shown this once."""
        person.need(Action.KEEP_TOKENS)
        longest = timedelta(seconds=self.house.settings.token_lasts)
        good = frozenset(Action) - LEFT_OUT if scope is None else frozenset(scope)
        if not good or good & NEVER:
            raise BadArgument("the scope", "some actions; no token is good to draw others", "another")
        if not isinstance(called, str) or not 0 < len(called.strip()) <= LONGEST_NAME or not called.isprintable():
            raise BadArgument("what a token is called", f"a line of at most {LONGEST_NAME} letters", called)
        if lasts is not None and not timedelta() < lasts <= longest:
            raise BadArgument("how long a token lasts", f"more than nothing and at most {longest}", lasts)
        if len(self.house.people.secrets(TOKEN, person.name)) >= MOST:
            raise BadArgument("tokens", f"at most {MOST} of one person: revoke some", MOST)
        return self.house.people.issue(TOKEN, person.name, scope=good, lasts=lasts or longest, called=called.strip())

    def mine(self, person: Person) -> list[Token]:
        """One's own tokens."""
        person.need(Action.KEEP_TOKENS)
        return [token_of(kept) for kept in self.house.people.secrets(TOKEN, person.name)]

    def revoke(self, person: Person, place: str) -> None:
        """Makes a token of one's own good no more."""
        person.need(Action.KEEP_TOKENS)
        self.house.people.revoke(TOKEN, person.name, place)
