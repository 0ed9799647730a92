"""What is answered when something is refused: one table, from kinds of errors to PostgreSQL's codes (SQLSTATE).

A fault says what our own errors say, which is never data. Of an error that is not ours nothing is said at all.
"""

from __future__ import annotations

from typing import final

from sfumato.errors import (
    AccountRefused,
    BadArgument,
    CannotCalibrate,
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
    QueryRefused,
    QueueFull,
    RunFailed,
    ServiceUnavailable,
    SfumatoError,
    SignInRefused,
    UnknownFormat,
)
from sfumato.query.sql.pointing import places_of
from sfumato.server.problems import ABSENT, Refused

ERROR, FATAL = "ERROR", "FATAL"

STATES: tuple[tuple[tuple[type[SfumatoError], ...], str], ...] = (
    ((SignInRefused,), "28000"),
    ((NotAllowed,), "42501"),
    ((LimitReached,), "53400"),
    ((AccountRefused, PermitUsed), "55000"),
    ((QueueFull,), "53000"),
    ((ChangedMeanwhile,), "40001"),
    ((RunFailed, NotKept, NotWorkedOut), "58000"),
    ((PromiseBroken, UnknownFormat), "XX000"),
    ((MissingExtra,), "0A000"),
    ((LedgerUnavailable, LedgerDamaged, ClockWentBack, ServiceUnavailable, ProcessGone), "57P03"),
    ((CannotCalibrate,), "22023"),
)
"""Kinds of errors with the code of each: the first that fits. What is left of `SfumatoError` is told by its words."""

WORDS: tuple[tuple[str, str], ...] = (
    ("there is no table ", "42P01"),
    ("there is no column ", "42703"),
    ("there is no function ", "42883"),
    ("the text cannot be read", "42601"),
    ("the text is nested too deeply", "54001"),
    ("the question is nested too deeply", "54001"),
    ("the text has the parameter ", "08P01"),
    ("there is a value for the parameter ", "08P01"),
    ("the text asks nothing", "42601"),
    ("the text holds several statements", "42601"),
)
"""What refusals of questions begin with, and the code of each; all others are of what is not answered here (0A000)."""

RATES, BUSY = {429: "53400", 503: "53300", 504: "57014"}, "53000"
HINTS = ("write ", "say ", "ask ", "add ", "use ", "give ", "put ", "name ", "leave ", "there are", "did you mean")
UNPRICED = (
    "SET sfumato.epsilon = 0.1 (or sfumato.rho, sfumato.mu, or sfumato.accuracy = '50, 0.95'), or write SELECT WITH "
    "DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.1) …"
)


@final
class Gone(Exception):
    """Tells that the other side has left, or takes nothing any more."""


@final
class Fault(SfumatoError):
    """Reports what a client of the PostgreSQL port is told: a code, a message, and perhaps advice and a place."""

    def __init__(
        self,
        state: str,
        message: str,
        *,
        detail: str = "",
        hint: str = "",
        position: int | None = None,
        severity: str = ERROR,
    ) -> None:
        self.state, self.message, self.detail, self.hint = state, message, detail, hint
        self.position, self.severity = position, severity
        super().__init__(message)

    @property
    def fatal(self) -> bool:
        """Tells whether the connection ends with it."""
        return self.severity == FATAL


def protocol_fault(why: str) -> Fault:
    """The end of a connection that says what the protocol has no place for."""
    return Fault("08P01", f"the message cannot be read: {why}", severity=FATAL)


def unsupported(what: str, hint: str = "") -> Fault:
    """The refusal of something that PostgreSQL has and this port has not."""
    return Fault("0A000", f"{what} is not supported here", hint=hint)


def fault_of(error: BaseException, text: str = "") -> Fault:
    """What a client is told of an error; ``text`` is what was asked, in which the place of a refusal is looked for."""
    if isinstance(error, Fault):
        return error
    if isinstance(error, Refused):
        return Fault(RATES.get(error.problem.status, BUSY), error.problem.detail)
    if not isinstance(error, SfumatoError):
        return Fault("XX000", "something went wrong that should not", hint="Its administrator finds it in the log.")
    message, hint = _with_advice(" ".join(str(error).split()))
    state = getattr(error, "code", None) or _state(error)
    if isinstance(error, BadArgument) and error.name == "loss or accuracy":
        message, hint = "nothing says what the question may cost, or how near its answer must come", UNPRICED
    return Fault(state, message, hint=hint, position=_position(error, text))


def _state(error: SfumatoError) -> str:
    for kinds, state in STATES:
        if isinstance(error, kinds):
            return state
    if isinstance(error, BadArgument):
        return "3F000" if error.must in ABSENT else "22023"
    if isinstance(error, QueryRefused):
        return next((state for begins, state in WORDS if str(error).startswith(begins)), "0A000")
    return "0A000"


def _with_advice(words: str) -> tuple[str, str]:
    """Parts what happened from what to write instead, where the words say the latter last."""
    for mark in ("; ", ": ", ". "):
        first, found, rest = words.partition(mark)
        if found and rest.lower().startswith(HINTS):
            return first.rstrip("."), rest[:1].upper() + rest[1:]
    return words, ""


def _position(error: SfumatoError, text: str) -> int | None:
    """The place that a refusal speaks of, counted from 1, in letters."""
    if not text or not isinstance(error, QueryRefused):
        return None
    places = places_of(text, str(error))
    return places[0][0] + 1 if places else None
