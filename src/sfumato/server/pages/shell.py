"""What stands around every page: who is signed in, where they can go, and light or dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final
from urllib.parse import quote

from sfumato.release.record import made_by
from sfumato.service.people import Person
from sfumato.service.rights import EVERYWHERE, Action, Role

THEMES = ("light", "dark", "system")


@final
@dataclass(frozen=True)
class Link:
    """A way to another page."""

    label: str
    href: str
    current: bool = False
    words: str = ""


@final
@dataclass(frozen=True)
class Notice:
    """A sentence on what was just done; its tone is good, warn or bad."""

    text: str
    tone: str = "good"


@final
@dataclass(frozen=True)
class Shell:
    """The frame of a page, as its template reads it. A page that is there ``openly`` is the same for everybody."""

    title: str
    here: str
    person: str = ""
    csrf_field: str = ""
    csrf: str = ""
    theme: str = ""
    links: tuple[Link, ...] = ()
    data_set: str = ""
    tabs: tuple[Link, ...] = ()
    notices: tuple[Notice, ...] = ()
    openly: bool = False

    @property
    def version(self) -> str:
        """Names the program."""
        return made_by()


TABS: tuple[tuple[str, str, tuple[Action, ...]], ...] = (
    ("Overview", "", (Action.DESCRIBE,)),
    ("Ask", "/ask", (Action.EXPLAIN,)),
    ("Answers", "/answers", (Action.SEE_OWN_ANSWERS, Action.SEE_ANSWERS)),
    ("My share", "/share", (Action.REQUEST_SHARE,)),
    ("Schedules", "/schedules", (Action.SCHEDULE,)),
    ("Requests", "/requests", (Action.DECIDE, Action.SEE_LIMITS)),
    ("Limits", "/limits", (Action.SEE_LIMITS,)),
    ("Checklist", "/checklist", (Action.KEEP_CHECKLIST,)),
    ("Publish", "/publish", (Action.PUBLISH,)),
    ("Published", "/published", (Action.SEE_PUBLISHED,)),
    ("Book", "/book", (Action.READ_BOOK,)),
    ("Webhooks", "/webhooks", (Action.KEEP_WEBHOOKS,)),
)
"""The pages of a data set, with what somebody must be allowed to be led there: one of these."""


def address_of(data_set: str, page: str = "") -> str:
    """Where a page of a data set is."""
    return f"/data/{quote(data_set, safe='')}{page}"


def tabs_of(person: Person, data_set: str, here: str) -> tuple[Link, ...]:
    """The pages of a data set that somebody may open."""
    places = ((label, address_of(data_set, page), actions) for label, page, actions in TABS)
    return tuple(
        Link(label, href, here == href or (href != address_of(data_set) and here.startswith(f"{href}/")))
        for label, href, actions in places
        if any(person.may(action, data_set).allowed for action in actions)
    )


def links_of(person: Person, here: str) -> tuple[Link, ...]:
    """The pages that are about no data set, as far as somebody may open them."""
    links = [("Data sets", "/"), ("What ε means", "/meaning")]
    if has_role(person, Role.CURATOR):
        links.append(("Register", "/register"))
    if person.may(Action.MANAGE_PEOPLE).allowed:
        links.append(("People", "/people"))
    if person.may(Action.WATCH).allowed:
        links.append(("Service", "/state"))
    if person.may(Action.KEEP_TOKENS).allowed:
        links.append(("Tokens", "/tokens"))
    return tuple(Link(label, href, here == href) for label, href in links)


def has_role(person: Person, role: Role) -> bool:
    """Tells whether somebody has a role for any data set."""
    return any(grant.role == role.value for grant in person.grants)


def roles_of(person: Person) -> str:
    """Says which roles somebody has, to themselves."""
    named = []
    for role in Role:
        sets = sorted(grant.data_set for grant in person.grants if grant.role == role.value)
        if not sets:
            continue
        of = "all data sets" if EVERYWHERE in sets else listed(sets)
        article = "an" if role.value[0] in "aeiou" else "a"
        named.append(f"{article} {role.value}" + ("" if role is Role.ADMINISTRATOR else f" of {of}"))
    return f"You are {listed(named)}." if named else "You have no role yet: ask whoever administers this service."


def listed(words: Sequence[str]) -> str:
    """Joins words with commas and an 'and'."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
