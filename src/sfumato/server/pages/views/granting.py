"""Limits, shares and requests on pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, final

from sfumato.ledger.requests import Decision, Request
from sfumato.server.pages.shell import Link, address_of
from sfumato.server.pages.views.amounts import Gauge, LossForm, gauge_of, part_of
from sfumato.server.pages.views.registering import PERIODS
from sfumato.service.limits import Line
from sfumato.service.policies import Policy

Item = TypeVar("Item")

MANY = 50
"""How many lines one page of a list has."""

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
    purpose: str = ""


@final
@dataclass(frozen=True)
class OpenForm:
    """A share that nobody has asked for, as somebody filled it in."""

    loss: LossForm
    name: str = ""
    reason: str = ""
    period: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class LimitsView:
    """The tree of limits of a data set; ``form`` opens a share, for those who may do so alone."""

    promise: str
    whole: Gauge
    rows: tuple[AccountRow, ...]
    close: str
    open: str
    may_close: bool
    form: OpenForm | None = None
    pages: tuple[Link, ...] = ()
    divide: str = ""
    legend: str = LEGEND
    periods: Sequence[tuple[str, str]] = (("", "for good, until it is closed"), *PERIODS[1:])


def limits_view(
    lines: Sequence[Line], data_set: str, *, may_close: bool, form: OpenForm | None = None, page: int = 1
) -> LimitsView:
    """Makes the page of limits."""
    first, *others = lines
    shown, links = one_page(others, page, address_of(data_set, "/limits"))
    rows = tuple(_row(one, data_set) for one in shown)
    whole = gauge_of_whole(first, others)
    close, opens = address_of(data_set, "/limits/close"), address_of(data_set, "/limits/open")
    return LimitsView(
        first.promise, whole, rows, close, opens, may_close, form, links, f"{address_of(data_set, '/limits')}/divide"
    )


def one_page(items: Sequence[Item], page: int, own: str) -> tuple[Sequence[Item], tuple[Link, ...]]:
    """One page of a list, and the ways to those before and after it."""
    begin = MANY * (max(1, page) - 1)
    links = [Link("Those before", f"{own}?page={page - 1}")] if begin else []
    links += [Link("More", f"{own}?page={max(1, page) + 1}")] if len(items) > begin + MANY else []
    return items[begin : begin + MANY], tuple(links)


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
        line.purpose,
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
class PolicyForm:
    """Another policy, as somebody filled it in."""

    needed: str = ""
    reason: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class PolicyView:
    """How many people must grant a share, who said so, and the form by which that is changed."""

    words: str
    by: str
    reason: str
    form: PolicyForm | None
    action: str


def policy_view(policy: Policy, data_set: str, *, may: bool, form: PolicyForm | None = None) -> PolicyView:
    """Reads a policy; whoever decides may change it."""
    words = "One person grants a share." if policy.needed == 1 else f"{policy.needed} people must grant a share."
    own = PolicyForm(str(policy.needed)) if form is None else form
    action = address_of(data_set, "/requests/policy")
    return PolicyView(words, policy.by, policy.reason, own if may else None, action)


@final
@dataclass(frozen=True)
class RequestsView:
    """The queue of requests."""

    lead: str
    whole: Gauge
    waiting: tuple[RequestView, ...]
    decided: tuple[RequestView, ...]
    policy: PolicyView
    pages: tuple[Link, ...] = ()


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
class SpentView:
    """One charge to a share of one's own."""

    number: int
    time: str
    share: str
    asked: str
    loss: str


@final
@dataclass(frozen=True)
class ShareView:
    """The page of one's share: how it stands, what was paid from it, and the form by which another one is requested."""

    action: str
    form: ShareForm
    requests: tuple[RequestView, ...]
    gauge: Gauge | None
    whose: str
    spent: tuple[SpentView, ...]
    pages: tuple[Link, ...] = ()


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
    policy: PolicyView,
    *,
    errors: Mapping[int, str] | None = None,
    page: int = 1,
) -> RequestsView:
    """Makes the queue."""
    views = [request_view(one, person=person, data_set=data_set, errors=errors) for one in requests]
    waiting = tuple(one for one in views if one.state == "waiting")
    many = len(waiting)
    lead = "Nobody waits for a decision." if not many else f"{many} {'waits' if many == 1 else 'wait'} for a decision."
    decided = [one for one in reversed(views) if one.state != "waiting"]
    shown, links = one_page(decided, page, address_of(data_set, "/requests"))
    return RequestsView(lead, gauge_of_whole(lines[0], lines[1:]), waiting, tuple(shown), policy, links)


def request_tasks(names: Mapping[str, int]) -> tuple[Link, ...]:
    """What waits for whoever decides, by data set."""
    return tuple(
        Link(f"{many} request{'s' if many > 1 else ''} for a share of {name}", address_of(name, "/requests"))
        for name, many in names.items()
        if many
    )
