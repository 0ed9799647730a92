"""What budget owners do: see where limits stand, decide on requests, open and close shares, and keep a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import final

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.plans.shares import split
from sfumato.errors import AccountRefused, BadArgument
from sfumato.exact import Number
from sfumato.ledger.accounts import Account
from sfumato.ledger.requests import Request, decide_on, requests
from sfumato.service.announcements import DECLINED, GRANTED, announce
from sfumato.service.asking import Asked
from sfumato.service.demands import Demand, demand_of
from sfumato.service.house import House
from sfumato.service.limits import Line, line_of, lines_of
from sfumato.service.meanings import Meaning, meaning_of
from sfumato.service.people import NAME, Person
from sfumato.service.policies import Policy, keep_policy, policy_of
from sfumato.service.rights import Action
from sfumato.service.shares import in_kind_of, person_of

OPENED, CLOSED = "share opened", "share closed"
"""Topics of notes: who opened or closed a share without a request, and why."""

MOST_SHARES = 200


@final
@dataclass(frozen=True, eq=False)
class Owners:
    """The use cases of budget owners; each says first who does it, and refuses what they may not do (`NotAllowed`)."""

    house: House

    def limits(self, person: Person, data_set: str) -> list[Line]:
        """The tree of accounts of a data set, each with limit, spent, left, what parts hold, and its period."""
        person.need(Action.SEE_LIMITS, data_set)
        self.house.data_sets.registered(data_set)
        return lines_of(self.house.ledger, data_set)

    def requests(self, person: Person, data_set: str, *, undecided: bool = False) -> list[Request]:
        """The requests for shares of a data set, with what was decided on them; or the undecided ones alone."""
        person.need(Action.SEE_LIMITS, data_set)
        self.house.data_sets.registered(data_set)
        found = requests(self.house.ledger, data_set).values()
        return [one for one in found if not (undecided and (one.granted or one.declined))]

    def decide(
        self,
        person: Person,
        data_set: str,
        number: int,
        *,
        grants: bool,
        reason: str,
        until: datetime | None = None,
    ) -> Request:
        """Grants or declines a request, for a reason; with the last grant that it needs the share is opened.

        Nobody decides on a request of their own.
        """
        person.need(Action.DECIDE, data_set)
        self.house.data_sets.registered(data_set)
        found = requests(self.house.ledger, data_set).get(number) if type(number) is int else None
        if found is None:
            raise BadArgument("the number", f"that of a request for a share of {data_set}", number)
        if person_of(f"{data_set}/{found.share}") == person.name:
            raise AccountRefused(f"request {number} is for a share of {person.name}: somebody else decides on it.")
        decide_on(self.house.ledger, found, grants=grants, reason=reason, by=person.name, until=until)
        now = requests(self.house.ledger, data_set)[number]
        if now.granted or now.declined:
            announce(self.house, data_set, GRANTED if now.granted else DECLINED, {"request": number})
        return now

    def propose(
        self,
        person: Person,
        data_set: str,
        among: Mapping[str, Number] | Sequence[str],
        *,
        of: Loss | None = None,
        ranked: bool = False,
    ) -> dict[str, Loss]:
        """Divides a loss, or what is left of the limit, among people: equally, by weights or by rank; opens nothing."""
        person.need(Action.DECIDE, data_set)
        self.house.data_sets.registered(data_set)
        return split(self.house.ledger.left(data_set) if of is None else of, among, ranked=ranked)

    def demand(self, person: Person, data_set: str, asked: Sequence[Asked], *, within: Loss | None = None) -> Demand:
        """What questions with a wanted accuracy cost together; where that is too much, which of them must relax."""
        person.need(Action.DECIDE, data_set)
        session = self.house.data_sets.session(data_set)
        return demand_of(session, asked, self.house.ledger.left(data_set) if within is None else within)

    def open_share(
        self,
        person: Person,
        data_set: str,
        name: str,
        loss: Loss,
        *,
        reason: str,
        until: datetime | None = None,
        period: str | None = None,
    ) -> Line:
        """Opens a share for somebody without a request; it holds its limit, or has one for each ``period``.

        Where a policy asks for several people, nobody does it alone: the share is requested.
        """
        person.need(Action.DECIDE, data_set)
        self._check_alone(person, data_set, name)
        return self._open(data_set, name, loss, reason=reason, until=until, period=period, by=person.name)

    def open_shares(self, person: Person, data_set: str, shares: Mapping[str, Loss], *, reason: str) -> list[Line]:
        """Opens a share for each of several people, such as `propose` gives; stops at the first that does not fit."""
        person.need(Action.DECIDE, data_set)
        if not isinstance(shares, Mapping) or not 0 < len(shares) <= MOST_SHARES:
            raise BadArgument("the shares", f"losses by name, at most {MOST_SHARES}", type(shares).__name__)
        for name in shares:
            self._check_alone(person, data_set, name)
        return [self._open(data_set, name, loss, reason=reason, by=person.name) for name, loss in shares.items()]

    def close_share(self, person: Person, data_set: str, share: str, *, reason: str) -> Line:
        """Closes a share before its time, for a reason; what it held and has not spent is free again."""
        person.need(Action.CLOSE_SHARES, data_set)
        self.house.data_sets.registered(data_set)
        name = f"{data_set}/{_share_name(share)}"
        if name not in self.house.ledger.accounts:
            raise BadArgument("the share", f"one of {data_set}", share)
        self.house.ledger.note(data_set, CLOSED, {"share": share, "reason": _words(reason)}, by=person.name)
        return line_of(self.house.ledger, self.house.ledger.close_account(name, by=person.name))

    def policy(self, person: Person, data_set: str) -> Policy:
        """How shares of a data set are decided on."""
        person.need(Action.SEE_LIMITS, data_set)
        self.house.data_sets.registered(data_set)
        return policy_of(self.house.ledger, data_set)

    def set_policy(self, person: Person, data_set: str, *, needed: int, reason: str) -> Policy:
        """Says how many people must grant a share from now on; for fewer, as many must say so as now decide."""
        person.need(Action.DECIDE, data_set)
        self.house.data_sets.registered(data_set)
        return keep_policy(self.house.ledger, data_set, needed, reason=reason, by=person.name)

    def meaning(self, person: Person, loss: Loss) -> Meaning:
        """What a loss means: in odds, and in how often attacks succeed; it needs no data."""
        person.need(Action.WEIGH)
        return meaning_of(loss)

    def _check_alone(self, person: Person, data_set: str, name: str) -> None:
        """Refuses what takes several people, and a share of one's own."""
        self.house.data_sets.registered(data_set)
        if person_of(f"{data_set}/{_share_name(name)}") == person.name:
            raise AccountRefused(f"this is a share of {person.name}: somebody else decides on it.")
        needed = policy_of(self.house.ledger, data_set).needed
        if needed > 1:
            raise AccountRefused(f"a share of {data_set} takes {needed} people: it is requested, and then decided on.")

    def _open(
        self,
        data_set: str,
        name: str,
        loss: Loss,
        *,
        reason: str,
        by: str,
        until: datetime | None = None,
        period: str | None = None,
    ) -> Line:
        ledger = self.house.ledger
        account: Account = ledger.open_account(
            f"{data_set}/{name}",
            limit=in_kind_of(ledger, data_set, loss),
            holds=period is None,
            period=period,
            until=until,
            about={"purpose": _words(reason)},
            note=(OPENED, {"share": name, "reason": _words(reason)}),
            by=by,
        )
        announce(self.house, data_set, GRANTED, {"share": name})
        return line_of(ledger, account)


def _share_name(name: object) -> str:
    """Reads the name of a share: that of a person, perhaps with which of theirs it is."""
    if isinstance(name, str):
        who, mark, number = name.partition("+")
        if NAME.fullmatch(who) and (not mark or number.isdecimal()):
            return name
    raise BadArgument("the share", "called as the person whose it is, such as ada (or ada+2)", name)


def _words(text: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise BadArgument("reason", "said in words: it is written down for all to read", text)
    return text.strip()
