"""Pages that are about no data set: home, signing in, people, tokens, problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from sfumato.server.pages.shell import Link
from sfumato.server.pages.views.amounts import Gauge
from sfumato.server.pages.views.answers import AnswerRow
from sfumato.service.people import Secret
from sfumato.service.rights import EVERYWHERE, Action, Grant, Role


@final
@dataclass(frozen=True)
class SignInView:
    """The page on which people sign in."""

    action: str = "/sign-in"
    next: str = "/"
    name: str = ""
    refused: str = ""
    openly: bool = False


@final
@dataclass(frozen=True)
class LinkView:
    """The page of a one-time link."""

    action: str = "/welcome"
    secret: str = ""
    refused: str = ""
    wrong: str = ""


@final
@dataclass(frozen=True)
class DataSetCard:
    """A data set on the home page."""

    name: str
    title: str
    unit: str
    href: str
    whose: str
    gauge: Gauge | None
    links: tuple[Link, ...]


@final
@dataclass(frozen=True)
class HomeView:
    """The home page."""

    greeting: str
    lead: str
    data_sets: tuple[DataSetCard, ...]
    no_data_sets: str
    tasks: tuple[Link, ...] = ()
    answers: tuple[AnswerRow, ...] | None = None
    caption: str = "My latest answers"
    names: bool = False


@final
@dataclass(frozen=True)
class ProblemView:
    """A page that says what went wrong."""

    status: int
    title: str
    detail: str
    advice: str = ""
    links: tuple[Link, ...] = ()


@final
@dataclass(frozen=True)
class GrantView:
    """One role of somebody; ``data_set`` is empty where it is about none."""

    role: str
    data_set: str


@final
@dataclass(frozen=True)
class PersonView:
    """Somebody, as administrators see them."""

    name: str
    active: bool
    grants: tuple[GrantView, ...]
    grants_text: str
    own: bool = False
    error: str = ""
    has_password: bool = True
    tokens: str = ""


@final
@dataclass(frozen=True)
class NewLink:
    """A one-time link that was just drawn; it is shown this once."""

    name: str
    address: str
    until: object


@final
@dataclass(frozen=True)
class PersonForm:
    """Somebody new, as they were filled in."""

    name: str = ""
    grants: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class PeopleView:
    """The page of all people."""

    people: tuple[PersonView, ...]
    form: PersonForm
    link: NewLink | None = None
    pages: tuple[Link, ...] = ()
    sign_out: str = "/people/sign-out"
    add: str = "/people/add"
    change: str = "/people/change"
    renew: str = "/people/renew"
    remove: str = "/people/remove"
    roles: str = ", ".join(role.value for role in Role)


def grant_views(grants: Sequence[Grant]) -> tuple[GrantView, ...]:
    """Reads grants for a page."""
    return tuple(
        GrantView(
            grant.role,
            ""
            if grant.role == Role.ADMINISTRATOR.value
            else "all data sets"
            if grant.data_set == EVERYWHERE
            else grant.data_set,
        )
        for grant in sorted(grants)
    )


def grants_text(grants: Sequence[Grant]) -> str:
    """Writes grants as they are typed, one a line."""
    return "\n".join(
        grant.role if grant.data_set == EVERYWHERE else f"{grant.role} of {grant.data_set}" for grant in sorted(grants)
    )


def read_grants(text: str) -> tuple[list[Grant], str]:
    """Reads grants, one a line: a role, and perhaps of a data set; what is wrong with them, where something is."""
    roles = {role.value for role in Role}
    made = []
    for line in text.splitlines():
        words = line.strip()
        if not words:
            continue
        role, _, data_set = words.partition(" of ")
        if role.strip() not in roles:
            return [], f"A line begins with a role: {', '.join(sorted(roles))}."
        where = data_set.strip()
        made.append(Grant(role.strip(), EVERYWHERE if where in ("", "*", "all data sets") else where))
    return made, ""


@final
@dataclass(frozen=True)
class TokenView:
    """A token in a list."""

    place: str
    called: str
    scope: str
    until: str


@final
@dataclass(frozen=True)
class ScopeView:
    """Something that a token may be good for."""

    name: str
    words: str
    chosen: bool = False


@final
@dataclass(frozen=True)
class TokenForm:
    """A new token, as somebody filled it in."""

    called: str = ""
    days: str = "90"
    errors: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class TokensView:
    """The page of one's own tokens."""

    tokens: tuple[TokenView, ...]
    form: TokenForm
    scopes: tuple[ScopeView, ...]
    secret: Secret | None = None
    most_days: int = 90
    port: int = 0
    host: str = ""
    name: str = ""
    data_set: str = ""
    action: str = "/tokens"
    revoke: str = "/tokens/revoke"


@final
@dataclass(frozen=True)
class TokensOfView:
    """The page of somebody's tokens, for administrators."""

    name: str
    tokens: tuple[TokenView, ...]
    revoke: str = "/people/tokens/revoke"


def scope_words(names: Sequence[str] | None) -> str:
    """Says what a token is good for."""
    if names is None or len(names) > 8:
        return "nearly all that you may do" if names else "all that you may do"
    return "; ".join(Action[name].value for name in names)
