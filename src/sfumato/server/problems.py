"""What is answered when something is refused or goes wrong: one table, from kinds of errors to statuses (RFC 9457).

A problem says what our own errors say, which is never data. Of an error that is not ours nothing is said at all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, final

from sfumato.errors import (
    AccountRefused,
    BadArgument,
    ChangedMeanwhile,
    ClockWentBack,
    LedgerDamaged,
    LedgerUnavailable,
    LimitReached,
    MissingExtra,
    NotAllowed,
    NotKept,
    NotWorkedOut,
    PermitUsed,
    ProcessGone,
    PromiseBroken,
    QueueFull,
    RunFailed,
    ServiceUnavailable,
    SfumatoError,
    SignInRefused,
)
from sfumato.remote.wire import error_to_plain

MEDIA = "application/problem+json"
FOR_PROGRAMS = ("/api/", "/metrics", "/healthz", "/readyz")
"""Where problems are JSON, also where there are pages."""

STATUSES: tuple[tuple[tuple[type[SfumatoError], ...], int, str], ...] = (
    ((SignInRefused,), 401, "nobody was let in"),
    ((NotAllowed,), 403, "this is not allowed"),
    ((ChangedMeanwhile,), 409, "somebody else was faster"),
    ((QueueFull,), 429, "too much is waiting"),
    ((LimitReached,), 409, "the limit does not allow it"),
    ((AccountRefused, PermitUsed), 409, "the account does not allow it"),
    ((RunFailed,), 500, "the question broke off and is paid"),
    ((NotKept,), 500, "the answer was made and could not be kept"),
    ((PromiseBroken,), 500, "a promise does not hold"),
    ((MissingExtra,), 501, "an optional package is not installed"),
    ((LedgerUnavailable, LedgerDamaged, ClockWentBack, ServiceUnavailable, ProcessGone), 503, "not to be had now"),
    ((NotWorkedOut,), 422, "numbers could not be put together"),
)
"""Kinds of errors with the status and title of each: the first that fits. All others were refused (422)."""

ABSENT = frozenset({"one that is registered", "one that there is"})
"""What is said of a name that nothing has. Use cases say it to those alone who may know it: rights come first."""

TITLES = {
    400: "the request cannot be read",
    401: "nobody was let in",
    403: "this is not allowed",
    404: "there is no such thing",
    405: "this cannot be done here",
    408: "the request came too slowly",
    406: "there is no such form",
    409: "this does not go together with what there is",
    411: "the length must be said",
    412: "it was changed in the meantime",
    413: "this is too large",
    415: "this is in a form that is not read here",
    421: "this is another server",
    422: "this is refused",
    428: "say which version was seen",
    429: "too many requests",
    431: "the head of the request is too large",
    500: "something went wrong",
    501: "this cannot be done here",
    503: "not to be had now",
    504: "this took too long",
}


@final
@dataclass(frozen=True)
class Problem:
    """What is answered in place of what was asked for: a status, a kind, words, and facts that a client may use."""

    status: int
    kind: str
    title: str
    detail: str
    facts: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    def body(self, request_id: str) -> bytes:
        """Writes it as JSON."""
        said = {
            "type": f"urn:sfumato:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "instance": f"urn:request:{request_id}",
            **self.facts,
        }
        return json.dumps(said, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


@final
class Refused(SfumatoError):
    """Refuses a request as such, whatever it asks: its form, its size, its rate."""

    def __init__(self, status: int, detail: str, *, kind: str = "", headers: dict[str, str] | None = None) -> None:
        self.problem = Problem(status, kind or _slug(TITLES[status]), TITLES[status], detail, {}, headers or {})
        super().__init__(detail)


def problem_of(error: BaseException) -> Problem:
    """The problem that an error is, by the table; of errors that are not ours, only that there was one."""
    if isinstance(error, Refused):
        return error.problem
    if not isinstance(error, SfumatoError):
        detail = "Something went wrong that should not. Its administrator finds it in the log by the request's id."
        return Problem(500, "internal", TITLES[500], detail)
    kind = type(error).__name__
    if isinstance(error, BadArgument) and error.must in ABSENT:
        return Problem(404, "not-there", TITLES[404], str(error), error_to_plain(error))
    status, title = next(((status, title) for kinds, status, title in STATUSES if isinstance(error, kinds)), (422, ""))
    headers = {"Retry-After": "5"} if status == 503 else {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    said = error_to_plain(error)
    return Problem(status, _dashed(kind), title or TITLES[status], str(error), said, headers)


def _dashed(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")


def _slug(title: str) -> str:
    return title.replace(" ", "-")
