"""Rights: what each role may do, and the one place where that is decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, unique
from typing import final

from sfumato.errors import NotAllowed


@final
@unique
class Role(Enum):
    """What somebody is for a data set. One person may be several things, and different ones for different data sets."""

    CURATOR = "curator"
    ANALYST = "analyst"
    OWNER = "budget owner"
    AUDITOR = "auditor"
    ADMINISTRATOR = "administrator"


@final
@unique
class Action(Enum):
    """What can be done; each value completes a sentence that begins with 'Ada may'."""

    DESCRIBE = "read what is public about the data set"
    REGISTER = "register data, with its codebook and limit"
    PUBLISH = "publish releases, and withdraw them from the page"
    KEEP_CHECKLIST = "work on the checklist"
    EXPLAIN = "have questions explained"
    ASK = "ask questions, within a share"
    SCHEDULE = "have a question asked again every day or week"
    REQUEST_SHARE = "request a share of the limit"
    SEE_OWN_ANSWERS = "see the answers to their own questions"
    SEE_ANSWERS = "see the answers to everybody's questions"
    SEE_PUBLISHED = "see published releases"
    SEE_LIMITS = "see limits, shares and what was spent"
    DECIDE = "grant or decline shares of the limit, with a reason"
    CLOSE_SHARES = "close a share before its time"
    READ_BOOK = "read the book of charges, without answers"
    VERIFY = "verify the book"
    EXPORT_BOOK = "export the book, without answers"
    MANAGE_PEOPLE = "add people, and say what they may do"
    WATCH = "see how the service runs"
    KEEP_WEBHOOKS = "have addresses told of decisions and releases"
    KEEP_TOKENS = "keep tokens of their own"
    KEEP_ACCOUNT = "change their own password, and end their own visits"
    WEIGH = "have a loss put into odds"


EVERYBODY = frozenset({Action.KEEP_TOKENS, Action.KEEP_ACCOUNT, Action.WEIGH})
"""What is about nobody's data: a role anywhere allows it."""

ALL_SEE = EVERYBODY | {Action.DESCRIBE, Action.SEE_PUBLISHED}

RIGHTS: Mapping[Role, frozenset[Action]] = {
    Role.CURATOR: ALL_SEE
    | {
        Action.REGISTER,
        Action.PUBLISH,
        Action.KEEP_CHECKLIST,
        Action.EXPLAIN,
        Action.SEE_ANSWERS,
        Action.SEE_LIMITS,
        Action.KEEP_WEBHOOKS,
    },
    Role.ANALYST: ALL_SEE | {Action.EXPLAIN, Action.ASK, Action.SCHEDULE, Action.REQUEST_SHARE, Action.SEE_OWN_ANSWERS},
    Role.OWNER: ALL_SEE | {Action.SEE_LIMITS, Action.DECIDE, Action.CLOSE_SHARES, Action.EXPLAIN, Action.KEEP_WEBHOOKS},
    Role.AUDITOR: ALL_SEE | {Action.SEE_LIMITS, Action.READ_BOOK, Action.VERIFY, Action.EXPORT_BOOK},
    Role.ADMINISTRATOR: EVERYBODY | {Action.MANAGE_PEOPLE, Action.WATCH},
}
"""The whole matrix. Who sees rows is not in it: nobody does."""

EVERYWHERE = "*"
"""Stands for all data sets, those to come too."""

GLOBAL = frozenset({Action.MANAGE_PEOPLE, Action.WATCH})
"""What is done to the service and to no data set: only a role that holds everywhere allows it."""

UNNAMED = frozenset({Action.SEE_PUBLISHED})
"""What whoever reaches the service may do without signing in, and only where its settings publish openly."""


@final
@dataclass(frozen=True, order=True)
class Grant:
    """Makes somebody something for a data set, or for all of them (`EVERYWHERE`)."""

    role: str
    data_set: str = EVERYWHERE

    @property
    def actions(self) -> frozenset[Action]:
        """What it allows, where it holds."""
        return RIGHTS[Role(self.role)]

    def covers(self, data_set: str) -> bool:
        """Tells whether it holds for a data set; "" stands for the service itself."""
        return self.data_set == EVERYWHERE or (bool(data_set) and self.data_set == data_set)


@final
@dataclass(frozen=True)
class Verdict:
    """Whether something is allowed, and why; the reason names roles and data sets, and nothing that is in these."""

    allowed: bool
    reason: str

    def enforce(self) -> None:
        """Refuses what is not allowed (`NotAllowed`)."""
        if not self.allowed:
            raise NotAllowed(self.reason)


def verdict(name: str, grants: Iterable[Grant], action: Action, data_set: str = "") -> Verdict:
    """Decides whether somebody with these grants may do something to a data set, or to the service itself ("").

    >>> verdict("ada", [Grant("analyst", "visits")], Action.ASK, "visits")
    Verdict(allowed=True, reason='ada is analyst of visits')
    >>> print(verdict("ada", [Grant("analyst", "visits")], Action.ASK, "grades").reason)
    ada may not ask questions, within a share, of grades: that takes an analyst of it
    """
    where = "" if action in GLOBAL else data_set
    for grant in sorted(grants):
        if action in grant.actions and (action in EVERYBODY or grant.covers(where)):
            return Verdict(True, f"{name} is {grant.role} of {_called(grant.data_set)}")
    able = " or ".join(_with_article(role.value) for role in Role if action in RIGHTS[role])
    local = data_set and action not in GLOBAL | EVERYBODY
    of = f", of {data_set}: that takes {able} of it" if local else f": that takes {able}"
    return Verdict(False, f"{name} may not {action.value}{of}")


def verdict_on_unnamed(action: Action, *, openly: bool) -> Verdict:
    """Decides whether somebody who has not signed in may do something; ``openly`` is what the settings say.

    >>> verdict_on_unnamed(Action.SEE_PUBLISHED, openly=False).allowed
    False
    """
    if openly and action in UNNAMED:
        return Verdict(True, "this service publishes openly")
    return Verdict(False, f"whoever has not signed in may not {action.value}")


def _called(data_set: str) -> str:
    return "all data sets" if data_set == EVERYWHERE else data_set


def _with_article(role: str) -> str:
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role}"
