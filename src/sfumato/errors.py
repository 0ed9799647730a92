"""Every exception that sfumato raises on purpose.

The tree::

    SfumatoError
    ├── BadArgument (ValueError)          a parameter is out of range, of the wrong type, NaN …
    ├── SpaceMismatch (TypeError)         a metric that is not defined on a domain
    ├── CannotJoin (TypeError)            two components with different spaces
    ├── NotChainable (TypeError)          something that is no component stands in a chain
    ├── UnboundedColumn (ValueError)      values without bounds, so one unit could move the answer without limit
    ├── NotNoisable (TypeError)           noise asked for where there is no number or vector to add it to
    ├── UnknownSize (ValueError)          an aggregate that is only stable when the number of rows is known
    ├── NotInDomain (ValueError)          data outside the domain it was declared to be in (never shows the data)
    ├── NoDistance (ValueError)           two values between which a metric is not defined
    ├── NoProvenRoute (TypeError)         a conversion or fact for which there is no theorem
    ├── CannotCalibrate (ValueError)      no parameter meets the requested loss or accuracy
    ├── UnknownFormat (ValueError)        a stored record that this version cannot read with certainty
    ├── ClaimRequired (ValueError)        something the software cannot check needs an explicit ``claim``
    ├── BadCodebook (ValueError)          a codebook that says what it must not, or leaves out what it must say
    ├── Exhausted (RuntimeError)          an interactive mechanism that has given its last answer
    ├── QueryRefused (ValueError)         an interactive mechanism declines one query and goes on
    ├── NoTruthValue (TypeError)          an expression about rows stands where Python wants true or false
    ├── RunFailed (RuntimeError)          a measurement broke off while it looked at the data; what it costs is spent
    ├── ProcessGone (RuntimeError)        one of several processes that train together is gone, or could not pay
    ├── LimitReached (RuntimeError)       a charge does not fit an account of a ledger; says what is left
    ├── AccountRefused (ValueError)       an account that is unknown, closed, expired, or opened already on other terms
    ├── PermitUsed (RuntimeError)         a permit works once, for what it was charged for, in the process that charged
    ├── NotKept (RuntimeError)            a release was paid for and made, but could not be stored; the error carries it
    ├── NotPublished (RuntimeError)       a table that was drawn and kept is not in its place; asking again is free
    ├── NotWorkedOut (RuntimeError)       released numbers could not be put together as asked; the error carries them
    ├── ClockWentBack (RuntimeError)      the clock is behind the last entry of a ledger
    ├── LedgerUnavailable (RuntimeError)  a ledger that cannot be read or written now; nothing was charged
    ├── LedgerDamaged (ValueError)        a ledger with entries that were changed, removed or cannot be read
    ├── NotAllowed (PermissionError)      somebody asks a service for what their roles do not let them do
    ├── SignInRefused (PermissionError)   a name, password, token or link that does not let anybody in
    ├── ChangedMeanwhile (RuntimeError)   a record of a service that somebody else has changed since it was read
    ├── ServiceUnavailable (RuntimeError) records of a service that cannot be read or written now
    ├── QueueFull (RuntimeError)          somebody who has as many jobs waiting as one person may have
    ├── PromiseBroken (AssertionError)    an audit found a mechanism that costs more than it says
    └── MissingExtra (ImportError)        an optional package is not installed

An error says what happened, why it matters and what to write instead. It has its facts as fields, and never data.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from sfumato.shown import Several as Several  # who raises an error says what it shows
from sfumato.shown import Unseen as Unseen
from sfumato.shown import did_you_mean as did_you_mean
from sfumato.shown import shown as shown


class SfumatoError(Exception):
    """The root of every deliberate error. Errors survive pickling, so that worker processes can raise them."""

    def __reduce__(self) -> tuple[object, ...]:
        # The way of Exception would call __init__ with the finished text.
        return _revived, (type(self), self.args, vars(self).copy())


def _revived(kind: type[SfumatoError], args: tuple[object, ...], facts: dict[str, object]) -> SfumatoError:
    error = kind.__new__(kind, *args)
    vars(error).update(facts)
    return error


class BadArgument(SfumatoError, ValueError):
    """Reports a parameter that is out of range or of the wrong type."""

    def __init__(self, name: str, must: str, got: object) -> None:
        self.name, self.must, self.got = name, must, shown(got)  # never the thing itself: it may be data
        super().__init__(f"{name} must be {must}; got {self.got}.")


@contextmanager
def elements() -> Iterator[None]:
    """Hides what an error inside would show of a value: one that was taken out of a list, which may be data."""
    try:
        return (yield)
    except BadArgument as refusal:
        name, must = refusal.name, refusal.must
    raise BadArgument(name, must, Unseen()) from None


class SpaceMismatch(SfumatoError, TypeError):
    """Reports a metric that is not defined on a domain."""

    def __init__(self, domain: object, metric: object, why: str) -> None:
        self.domain, self.metric, self.why = domain, metric, why
        super().__init__(f"{metric} is not a distance on {domain}: {why}")


class CannotJoin(SfumatoError, TypeError):
    """Reports two components with different spaces."""

    def __init__(self, left: object, right: object, part: str) -> None:
        self.left, self.right, self.part = left, right, part
        super().__init__(
            f"these do not fit together: the left side gives {part} {left}, the right side takes {right}. "
            "Both must be equal, or the guarantee of the right side says nothing about the left."
        )


class NotChainable(SfumatoError, TypeError):
    """Reports something in a chain that is neither a component nor an allowed function."""


class UnboundedColumn(SfumatoError, ValueError):
    """Reports values without bounds, where one unit could move the answer without limit."""

    def __init__(self, verb: str, column: str | None = None) -> None:
        self.verb, self.column = verb, column
        what = f"{verb}({column!r})" if column else f"{verb}()"
        super().__init__(
            f"{what} has no bounds on its values, so one unit could move it without limit. "
            f"Put clamp(lower, upper) before {verb}(), with bounds from public knowledge and never from the data."
        )


class NotNoisable(SfumatoError, TypeError):
    """Reports noise asked for where there is no number, or no vector in the right norm, to add it to."""

    def __init__(self, verb: str, space: object, norm: object) -> None:
        self.verb, self.space, self.norm = verb, space, norm
        super().__init__(
            f"{verb}() adds noise to one number, or to a vector under {norm}, and this is {space}. Put an aggregate "
            "before it, such as count(), sum() or mean(); for a vector, ask the aggregate for that norm "
            f"(metric=sf.{type(norm).__name__}())."
        )


class UnknownSize(SfumatoError, ValueError):
    """Reports an aggregate that is only stable when the number of rows is public."""

    def __init__(self, verb: str, instead: str) -> None:
        self.verb, self.instead = verb, instead
        super().__init__(f"{verb}() is not stable when the number of rows is unknown. {instead}")


class NotInDomain(SfumatoError, ValueError):
    """Reports data outside its declared domain, without showing the data."""

    def __init__(self, domain: object) -> None:
        self.domain = domain
        missing = " Where values may be missing, declare sf.Floats(nan=True) and put impute_nan or drop_nan first."
        super().__init__(
            f"the data is not in the declared domain {domain}. Declare what holds for every possible data set, or "
            "put a transformation first that makes it so, such as clamp, resize or keep."
            + (missing if "floats" in str(domain) else "")
        )


class NoDistance(SfumatoError, ValueError):
    """Reports two values between which a metric is not defined."""

    def __init__(self, metric: object, why: str) -> None:
        self.metric, self.why = metric, why
        super().__init__(f"{metric} is not defined here: {why}")


class NoProvenRoute(SfumatoError, TypeError):
    """Reports a loss, fact or conversion for which there is no theorem."""


class CannotCalibrate(SfumatoError, ValueError):
    """Reports that no parameter meets what was asked for."""


class UnknownFormat(SfumatoError, ValueError):
    """Reports a stored record that cannot be read with certainty, so that nothing is guessed."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(
            f"this record cannot be read: {what}. A loss that is guessed may be too small, so nothing is guessed: read "
            "it with the version of sfumato that wrote it or a newer one, or write the event anew."
        )


class ClaimRequired(SfumatoError, ValueError):
    """Reports something that cannot be checked and so needs an explicit claim."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(
            f"{what} cannot be checked by sfumato. If you vouch for it, pass claim=sf.claim('why it holds'); "
            "the claim is recorded and printed with every release."
        )


class BadCodebook(SfumatoError, ValueError):
    """Reports what is wrong in a codebook, and where in it."""

    def __init__(self, where: str, why: str) -> None:
        self.where, self.why = where, why
        super().__init__(f"codebook, {where}: {why}" + ("" if why.endswith("?") else "."))


class Exhausted(SfumatoError, RuntimeError):
    """Reports an interactive mechanism that has given its last answer."""


class QueryRefused(SfumatoError, ValueError):
    """Reports one query that an interactive mechanism declines; nothing is spent and it goes on."""


class NoTruthValue(SfumatoError, TypeError):
    """Reports an expression about rows that stands where Python wants true or false: in ``if``, ``and``, ``not`` …."""

    def __init__(self, expression: object) -> None:
        self.expression = expression
        super().__init__(
            f"{shown(expression)} has a value for each row, so it is neither true nor false by itself. Join conditions "
            "with & and |, turn one round with ~, in brackets: (t.a > 0) & (t.b < 5); ask with is_in([…]) and "
            "between(low, high)."
        )


class RunFailed(SfumatoError, RuntimeError):
    """Reports a measurement that broke off while it looked at the data: charged, and silent but for an ``outage``."""

    def __init__(self, mechanism: str, outage: Enum | None = None) -> None:
        self.mechanism, self.outage = mechanism, outage
        mute = "; why it failed is not shown, because that could tell something about the data. Try it on made-up data"
        why = mute if outage is None else f", and a retry with the same key costs nothing more: {outage.value}"
        super().__init__(
            f"{mechanism} broke off while it looked at the data. What it costs has been charged{why}. For an answer "
            "ask under another key, or none, and pay again: this charge is used up."
        )


class ProcessGone(SfumatoError, RuntimeError):
    """Reports processes that cannot go on together: one of them is gone, or could not do its part."""


class LimitReached(SfumatoError, RuntimeError):
    """Reports a charge that does not fit an account; carries what was asked for, the limit, and what is left."""

    def __init__(self, account: str, asked: object, left: object, limit: object, why: str) -> None:
        self.account, self.asked, self.left, self.limit, self.why = account, asked, left, limit, why
        super().__init__(f"{account} cannot pay {asked}: {why}")


class AccountRefused(SfumatoError, ValueError):
    """Reports an account that is unknown, closed, expired, or was opened on other terms."""


class PermitUsed(SfumatoError, RuntimeError):
    """Reports a permit that was used already, or is used for something else or somewhere else."""


class NotKept(SfumatoError, RuntimeError):
    """Reports a release that was paid for and made but could not be stored; ``release`` is the release."""

    def __init__(self, release: Any) -> None:
        self.release = release
        super().__init__(
            "the release was charged and made, but the ledger could not store it, so that asking again would cost "
            "again. It is not lost: this error carries it as `release`."
        )


class NotPublished(SfumatoError, RuntimeError):
    """Reports a table that was paid for, drawn and kept, but is not in its place yet: asking again puts it there."""


class NotWorkedOut(SfumatoError, RuntimeError):
    """Reports numbers that were released and could not be put together as asked; ``release`` has them."""

    def __init__(self, release: Any) -> None:
        self.release = release
        super().__init__(
            "the numbers were released, paid for and kept, but putting them together failed: a row too many in an "
            "inner query, a value too large, or too long a run. This error carries them as `release`."
        )


class ClockWentBack(SfumatoError, RuntimeError):
    """Reports a clock that is behind the last entry of a ledger."""

    def __init__(self, now: object, last: object) -> None:
        self.now, self.last = now, last
        super().__init__(
            f"the clock says {now}, and the last entry of the ledger was made at {last}. Periods and expiry would be "
            "counted wrongly, so nothing was charged: set the clock right and try again."
        )


class LedgerUnavailable(SfumatoError, RuntimeError):
    """Reports a ledger that cannot be read or written now; ``certain`` tells whether surely nothing was charged."""

    def __init__(self, why: str, *, certain: bool = True) -> None:
        self.why, self.certain = why, certain
        so = "Nothing was charged and nothing ran" if certain else "Nothing ran; it may have been charged all the same"
        super().__init__(f"the ledger cannot be used: {why}. {so}.")


class LedgerDamaged(SfumatoError, ValueError):
    """Reports a ledger with entries that were changed or removed, or cannot be read."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(
            f"the ledger is damaged: {what}. What was spent can no longer be told, so nothing more is released: "
            "bring back a copy that verifies."
        )


class PromiseBroken(SfumatoError, AssertionError):
    """Reports an audit that caught a mechanism."""

    def __init__(self, subject: str, found: str) -> None:
        self.subject, self.found = subject, found
        super().__init__(
            f"{subject} does not keep its promise: {found}. Release nothing more from it; what it has released cost "
            "more than was charged."
        )


class NotAllowed(SfumatoError, PermissionError):
    """Reports a request that somebody's roles do not allow; the reason says which roles would."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"{reason}.")


class SignInRefused(SfumatoError, PermissionError):
    """Reports that nobody was let in; it is the same whatever was wrong."""

    def __init__(self) -> None:
        super().__init__("nobody is let in by this name with this password, token or link.")


class ChangedMeanwhile(SfumatoError, RuntimeError):
    """Reports a record that somebody else has made, changed or removed since it was read; nothing was written."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"somebody else has changed {what} in the meantime. Nothing was written: look at it again.")


class ServiceUnavailable(SfumatoError, RuntimeError):
    """Reports records of a service that cannot be read or written now."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"the records of the service cannot be used: {why}. Try again, or tell its administrator.")


class QueueFull(SfumatoError, RuntimeError):
    """Reports somebody who has as many questions waiting as one person may have."""

    def __init__(self, person: str, most: int) -> None:
        self.person, self.most = person, most
        super().__init__(f"{person} has {most} questions waiting, which is the most. Wait for one, or cancel one.")


class MissingExtra(SfumatoError, ImportError):
    """Reports an optional package that is not installed."""

    def __init__(self, feature: str, extra: str = "", *, package: str = "") -> None:
        self.feature, self.extra, self.package = feature, extra, package
        super().__init__(f"{feature} needs optional packages: pip install " + (package or f"'sfumato[{extra}]'"))
