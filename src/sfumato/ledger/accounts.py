"""Accounts: who may spend what. A tree of limits; what one account pays, those above it pay too.

An account that *holds* its limit has it set aside by the accounts above: nobody else can spend it, and what is left of
it goes back when the account is closed. An account that does not hold is a cap: it can never get more than the account
above has left, whoever else spends from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeGuard, final

from sfumato.accounting.adaptive.approx_filter import ApproxFilter, holds
from sfumato.accounting.adaptive.charge import Rule, charge_to, counted, kind_of
from sfumato.accounting.adaptive.costs import NOTHING, Cost, spending_of
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import (
    AccountRefused,
    BadArgument,
    Exhausted,
    LedgerDamaged,
    LimitReached,
    NoProvenRoute,
    QueryRefused,
)
from sfumato.guarantee import guarantee
from sfumato.ledger.entry import Body, Said, stamp
from sfumato.ledger.periods import Period
from sfumato.ledger.rules import anew, at_state, left_of, plain_rule, read_rule, shortened, state_of
from sfumato.release.render import rendered
from sfumato.release.render.document import Document, Table

LONGEST_NAME = 200


@final
@dataclass(frozen=True)
class Terms:
    """What an account was opened on, which never changes: its unit, and what was said about it.

    ``beside`` names the accounts of other kinds of units that every charge of a data set is one to, in the same step.
    """

    holds: bool = False
    period: Period | None = None
    until: str | None = None
    unit: str = ""
    adjacency: str = ""
    metric: str = ""
    bound: str = ""
    about: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[str, ...] = ()

    @property
    def protects(self) -> tuple[str, str, str]:
        """Who is protected, exactly: in words, by which distance, and how far apart."""
        return self.unit, self.metric, self.bound

    def plain(self) -> Body:
        """The terms as the entry that opens the account holds them."""
        return {
            "holds": self.holds,
            "period": None if self.period is None else self.period.value,
            "until": self.until,
            "unit": self.unit,
            "adjacency": self.adjacency,
            "metric": self.metric,
            "bound": self.bound,
            "about": {**self.about},
            **({"beside": list(self.beside)} if self.beside else {}),
        }

    @classmethod
    def read(cls, body: Mapping[str, object]) -> Terms:
        """Reads the terms of an entry."""
        about, until, beside = body.get("about"), body.get("until"), body.get("beside", [])
        if not isinstance(about, dict) or not (until is None or isinstance(until, str)) or not _names(beside):
            raise LedgerDamaged("an account was opened on terms that cannot be read")
        return cls(
            holds=body.get("holds") is True,
            period=Period.named(body.get("period")),
            until=until,
            unit=str(body.get("unit")),
            adjacency=str(body.get("adjacency")),
            metric=str(body.get("metric")),
            bound=str(body.get("bound")),
            about=about,
            beside=tuple(beside),
        )


def _names(given: object) -> TypeGuard[list[str]]:
    return isinstance(given, list) and all(isinstance(name, str) for name in given)


@final
class Account(NamedTuple):
    """An account as it stands: its rule with all that was charged, and what parts of it hold."""

    name: str
    rule: Rule
    terms: Terms
    now: str = ""
    parts: tuple[str, ...] = ()
    held: Loss | None = None
    closed: bool = False

    @property
    def above(self) -> str:
        """Names the account above; empty for a data set."""
        return self.name.rpartition("/")[0]

    @property
    def limit(self) -> Loss:
        """What may be spent, in each period if there are periods."""
        return self.rule.limit

    @property
    def spent(self) -> Loss:
        """What was charged, in this period if there are periods; not what parts hold and have not spent."""
        return self.rule.spent

    @property
    def left(self) -> Loss:
        """The largest loss that this account's own rule still admits; the accounts above have their say too."""
        return kind_of(self.rule).nothing() if self.closed else left_of(self.rule, self.held)

    @property
    def promise(self) -> str:
        """Says what is promised, to whom, and for how long."""
        promised = f"{self.limit} for {self.terms.unit}" if self.terms.unit else f"{self.limit}"
        if self.terms.period is None:
            return f"{promised}, for all releases together, however they are chosen"
        each = self.terms.period.value
        return (
            f"{promised}, for all releases of any one {each} together; what a unit loses in several {each}s adds up: "
            f"{self.over(12)} in 12 {each}s"
        )

    def document(self) -> Document:
        """Where the account stands, and what it promises, for any form."""
        state = "closed" if self.closed else self.now
        held = () if self.held is None else (("held by parts", str(self.held)),)
        told = (("limit", str(self.limit)), ("spent", str(self.spent)), *held, ("left", self.left.str_down()))
        rows = (
            *told,
            *((("now", state),) if state else ()),
            *((("parts", ", ".join(self.parts)),) if self.parts else ()),
        )
        return Document(self.name, f"{self.name}: {self.promise}", tables=(Table(rows),))

    def __str__(self) -> str:
        return rendered(self.document(), "text")

    def _repr_html_(self) -> str:
        return rendered(self.document(), "html")

    def over(self, periods: int) -> Loss:
        """What the limit comes to over some periods, for a unit that is in the data in all of them."""
        return self.limit.times(periods)

    def at(self, moment: datetime) -> Account:
        """The account in the period of a moment; refuses where it is closed or has expired."""
        if self.closed:
            raise AccountRefused(f"the account {self.name} is closed; it pays for nothing more.")
        if self.terms.until is not None and expired(self, stamp(moment)):
            raise AccountRefused(f"the account {self.name} expired at {self.terms.until}; it pays for nothing more.")
        return self.rolled(moment)

    @guarantee(
        claim="the limit holds for the charges of each period; what parts hold goes on being held",
        proof="proofs/ledger.md#periods",
        reviewed="27cc5e30b0fe",
    )
    def rolled(self, moment: datetime) -> Account:
        """The account in the period of a moment: in a new one nothing is spent yet. No period comes back."""
        if self.terms.period is None:
            return self
        label = self.terms.period.label(moment)
        if label < self.now:
            raise AccountRefused("the period " + label + " of " + self.name + " is over: it is " + self.now + " now.")
        if label == self.now:
            return self
        fresh = anew(self.rule)
        return self._replace(rule=fresh if self.held is None else divided(fresh), now=label)

    def admits(self, cost: Loss | Cost) -> bool:
        """Tells whether the account's own rule admits a cost now."""
        try:
            self.paying(cost)
        except (LimitReached, NoProvenRoute):
            return False
        return not self.closed

    @guarantee(
        claim="an account pays only what its rule admits beside all that it was charged and all that its parts hold",
        proof="proofs/ledger.md#charges",
        reviewed="950d9c5d8cec",
    )
    def paying(self, cost: Loss | Cost) -> Account:
        """Pays and returns the account that follows; refuses, and says what is left, where it cannot."""
        if self.held is not None and not within_with_held(self.rule, cost, self.held):
            raise LimitReached(self.name, Cost.of(cost).loss, self.left, self.limit, self._short_of())
        try:
            paid = charge_to(self.rule, cost)
        except (QueryRefused, Exhausted):
            raise LimitReached(self.name, Cost.of(cost).loss, self.left, self.limit, self._short_of()) from None
        return self._replace(rule=shortened(paid, self.held))

    def _short_of(self) -> str:
        told = f"{self.spent} of {self.limit} is spent"
        told += f", {self.held} is held by parts of it" if self.held is not None else ""
        told += f" in {self.now}" if self.now else ""
        left = self.left.str_down()
        return f"{told}, and {left} is left. Nothing ran and nothing was charged; ask for something cheaper."

    def holding(self, part: Account) -> Account:
        """Sets the limit of a part aside and returns the account that follows; refuses where that does not fit."""
        if not isinstance(self.rule, SumFilter | ApproxFilter) or type(part.limit) is not type(self.limit):
            must = f"a {type(self.limit).__name__}, and {self.name} one whose limit adds up"
            raise BadArgument("the limit of a part that holds", must, part.limit)
        if not within_with_held(divided(self.rule), part.limit, self.held or part.limit.nothing()):
            raise LimitReached(self.name, part.limit, self.left, self.limit, self._short_of())
        return self.set_aside(part)

    def set_aside(self, part: Account) -> Account:
        """Sets the limit of a part aside without asking whether it fits."""
        held = part.limit if self.held is None else self.held.then(part.limit)
        return self._replace(rule=divided(self.rule), held=held, parts=(*self.parts, part.name))

    def given_back(self, part: Account) -> Account:
        """Frees the limit of a part; what the part has spent is not charged here, see `bearing`."""
        parts = tuple(name for name in self.parts if name != part.name)
        held = self.held.minus(part.limit) if parts and self.held is not None else None
        return self._replace(held=held, parts=parts)

    def bearing(self, part: Account) -> Account:
        """The account once a part is closed: it bears what the part has spent, and the rest is free again."""
        free = self.given_back(part)
        return free._replace(rule=shortened(free.rule.after(cost_of_part(part.rule)), free.held))

    def state(self) -> Said:
        """What changes of an account as it pays, as entries hold it."""
        return [state_of(self.rule), self.now]

    def in_state(self, state: object) -> Account:
        """The account in a state that was written down; refuses one that cannot be read."""
        match state:
            case [rule, str(now)]:
                return self._replace(rule=at_state(self.rule, rule), now=now)
        raise LedgerDamaged("the state of an account cannot be read")


@guarantee(
    claim="what is charged and what is held, with one more loss, is within the limit",
    proof="proofs/ledger.md#held",
    reviewed="44198c04ca55",
)
def within_with_held(rule: Rule, cost: Loss | Cost, held: Loss) -> bool:
    """Tells whether a cost fits beside what parts hold."""
    if isinstance(rule, ApproxFilter):
        both = spending_of(Cost.of(held), rule.order).then(spending_of(Cost.of(cost), rule.order))
        return holds(rule.counted.then(both), rule.room)
    return isinstance(rule, SumFilter) and rule.spent.then(held).then(counted(cost, kind_of(rule))).within(rule.limit)


@guarantee(
    claim="a rule that nothing was charged to yet is exchanged before any answer; it keeps the same limit",
    proof="proofs/ledger.md#divided",
    reviewed="9369c86e07fb",
)
def divided(rule: Rule) -> Rule:
    """The rule of an account once a part holds something of it: an untouched (ε, δ) limit is divided exactly."""
    return SumFilter(rule.limit) if isinstance(rule, ApproxFilter) and rule.counted == NOTHING else rule


@guarantee(
    claim="what a part that closes has cost: its sum, where sums decide what it may spend; else all of its limit",
    proof="proofs/ledger.md#closing",
    reviewed="26f1dd89b158",
)
def cost_of_part(rule: Rule) -> Loss:
    """What a part that held its limit leaves charged to the account above when it closes."""
    if isinstance(rule, SumFilter):
        return rule.spent
    return type(rule.limit).nothing() if rule == anew(rule) else rule.limit


def checked_name(name: object) -> str:
    """Reads the name of an account: parts joined by slashes, each a few printable characters."""
    short = isinstance(name, str) and len(name) <= LONGEST_NAME and name.isprintable()
    if isinstance(name, str) and short and all(part and part == part.strip() for part in name.split("/")):
        return name
    raise BadArgument("the name of an account", "one or more names joined by '/', such as 'visits/ada'", name)


def check_terms(account: Account, above: Account | None) -> None:
    """Refuses a name or terms that no account can have where it stands."""
    checked_name(account.name)
    if account.terms.holds and (account.terms.period is not None or above is None):
        raise BadArgument("holds", "for an account under another, and without periods", account.name)
    if above is not None and account.terms.protects != above.terms.protects:
        raise BadArgument("the unit", f"that of {above.name}, {above.terms.unit}, which pays too", account.terms.unit)


def opened_account(name: str, body: Mapping[str, object]) -> Account:
    """Reads an account as it was opened."""
    return Account(name, read_rule(body.get("rule")), Terms.read(body))


def opening(account: Account) -> Body:
    """What the entry that opens an account says: its rule and its terms."""
    return {"rule": plain_rule(account.rule), **account.terms.plain()}


def expired(account: Account, now: str) -> bool:
    """Tells whether an account's time is over; moments as they are written sort as they do in time."""
    return account.terms.until is not None and now >= account.terms.until
