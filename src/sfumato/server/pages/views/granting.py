"""Limits, shares and requests on pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import final

from sfumato.ledger.requests import Decision, Request
from sfumato.server.pages.shell import Link, address_of
from sfumato.server.pages.views.amounts import Gauge, LossForm, gauge_of, part_of
from sfumato.service.limits import Line

LEGEND = "The strong colour is spent, the faint one set aside for shares and not spent yet; the rest is free."


@final
@dataclass(frozen=True)
class AccountRow:
    """One account of the tree of limits."""

    name: str
    share: str
    depth: int
    limit: str
    spent: str
    gauge: Gauge
    state: str
    tone: str
    until: str
    open: bool


@final
@dataclass(frozen=True)
class LimitsView:
    """The tree of limits of a data set."""

    promise: str
    whole: Gauge
    rows: tuple[AccountRow, ...]
    close: str
    may_close: bool
    legend: str = LEGEND


def limits_view(lines: Sequence[Line], data_set: str, *, may_close: bool) -> LimitsView:
    """Makes the page of limits."""
    first, *others = lines
    rows = tuple(_row(one, data_set) for one in others)
    whole = gauge_of_whole(first, others)
    return LimitsView(first.promise, whole, rows, address_of(data_set, "/limits/close"), may_close)


def gauge_of_line(line: Line) -> Gauge:
    """The gauge of an account."""
    return gauge_of(line.limit, line.spent, line.left, line.held)


def gauge_of_whole(whole: Line, others: Sequence[Line]) -> Gauge:
    """The gauge of a data set: what shares that hold their limit have spent counts as spent, to be drawn."""
    gauge = gauge_of_line(whole)
    own = part_of(whole.spent, whole.limit)
    parts = [part_of(one.spent, whole.limit) for one in others if one.holds and not one.closed]
    if gauge.gone is None or own is None or None in parts:
        return gauge
    gone = own + sum(part for part in parts if part is not None)
    return replace(gauge, gone=min(gauge.reserved, gone) if parts else gauge.gone)


def _row(line: Line, data_set: str) -> AccountRow:
    if line.closed:
        state, tone = "closed", ""
    elif line.holds:
        state, tone = "set aside", "good"
    else:
        state, tone = f"each {line.period}: {line.now}" if line.period else "a cap", ""
    share = line.account.removeprefix(f"{data_set}/") if line.account.startswith(f"{data_set}/") else ""
    return AccountRow(
        line.account,
        share,
        max(0, line.depth - 1),
        str(line.limit),
        str(line.spent),
        gauge_of_line(line),
        state,
        tone,
        line.until or "",
        bool(share) and not line.closed,
    )


@final
@dataclass(frozen=True)
class RequestView:
    """One request for a share, with what was decided on it."""

    number: int
    by: str
    loss: str
    purpose: str
    state: str
    tone: str
    needed: int
    decisions: tuple[Decision, ...]
    decidable: bool = False
    why_not: str = ""
    action: str = ""
    error: str = ""
    time: str = ""


@final
@dataclass(frozen=True)
class RequestsView:
    """The queue of requests."""

    lead: str
    whole: Gauge
    waiting: tuple[RequestView, ...]
    decided: tuple[RequestView, ...]


@final
@dataclass(frozen=True)
class ShareForm:
    """The form of a request as somebody filled it in."""

    loss: LossForm
    purpose: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Which fields its loss has."""
        return self.loss.kind


@final
@dataclass(frozen=True)
class ShareView:
    """The page on which shares are requested."""

    action: str
    form: ShareForm
    requests: tuple[RequestView, ...]


def request_view(
    request: Request, *, person: str = "", data_set: str = "", errors: Mapping[int, str] | None = None
) -> RequestView:
    """Reads a request; ``person`` is who would decide on it."""
    waiting = not request.granted and not request.declined
    own = request.by == person or request.share.partition("+")[0] == person
    before = any(one.by == person for one in request.decisions)
    why_not = ""
    if waiting and person and own:
        why_not = "It is your own: somebody else decides on it."
    elif waiting and person and before:
        why_not = "You have decided on it; it needs somebody else, too."
    return RequestView(
        request.number,
        request.by,
        str(request.loss),
        request.purpose,
        "waiting" if waiting else "granted" if request.granted else "declined",
        "warn" if waiting else "good" if request.granted else "bad",
        request.needed,
        request.decisions,
        waiting and bool(person) and not own and not before,
        why_not,
        address_of(data_set, "/requests") if data_set else "",
        (errors or {}).get(request.number, ""),
    )


def requests_view(
    requests: Sequence[Request],
    lines: Sequence[Line],
    data_set: str,
    person: str,
    errors: Mapping[int, str] | None = None,
) -> RequestsView:
    """Makes the queue."""
    views = [request_view(one, person=person, data_set=data_set, errors=errors) for one in requests]
    waiting = tuple(one for one in views if one.state == "waiting")
    many = len(waiting)
    lead = "Nobody waits for a decision." if not many else f"{many} {'waits' if many == 1 else 'wait'} for a decision."
    decided = tuple(reversed([one for one in views if one.state != "waiting"]))
    return RequestsView(lead, gauge_of_whole(lines[0], lines[1:]), waiting, decided)


def request_tasks(names: Mapping[str, int]) -> tuple[Link, ...]:
    """What waits for whoever decides, by data set."""
    return tuple(
        Link(f"{many} request{'s' if many > 1 else ''} for a share of {name}", address_of(name, "/requests"))
        for name, many in names.items()
        if many
    )
