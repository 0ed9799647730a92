"""What a service whose parts were killed has in its book, held against what whoever asked was told."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

import sfumato as sf
from sfumato.ledger.entry import canonical
from sfumato.release.codec import release_to_plain
from sfumato.service.charge_keys import charge_key_of
from sfumato.service.house import House

PRICE, SHARE = "0.01", "0.12"
GOT, REFUSED, LOST = "answered", "refused", "lost"


@final
@dataclass(frozen=True)
class Outcome:
    """What somebody was told under a key: the answer as it was sent, or that there is none."""

    person: str
    way: str
    key: str
    what: str
    answer: str = ""

    @property
    def charge_key(self) -> str:
        """The key that the book has of it."""
        return charge_key_of(self.way, "visits", self.person, self.key)


@final
@dataclass(frozen=True)
class Charge:
    """A charge as the book has it: whose, under which key, how it was settled (or ""), with which answer."""

    number: int
    account: str
    key: str
    settled: str
    answer: str = ""


@final
@dataclass
class Found:
    """What came of kills: how many of each kind, what the book has, how long restarts took, and what is wrong."""

    kills: Counter[str] = field(default_factory=Counter)
    charges: list[Charge] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    restarts: dict[str, list[float]] = field(default_factory=dict)
    over_limit: int = 0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        told, settled = Counter(one.what for one in self.outcomes), Counter(one.settled for one in self.charges)
        slow = ", ".join(
            f"{kind} {sorted(times)[len(times) // 2]:.2f} s (longest {max(times):.2f})"
            for kind, times in self.restarts.items()
            if times
        )
        return (
            f"kills {dict(self.kills)}; {len(self.charges)} charges: {settled['released']} with an answer, "
            f"{settled['failed']} noted as failed, {settled['']} broken off; told: {dict(told)}; "
            f"over the limit {self.over_limit}; wrong {len(self.wrong)}; there again after: {slow}"
        )


def charges_in(house: House) -> list[Charge]:
    """All charges of the book, each with how it was settled."""
    settled = {entry.body["charge"]: entry.kind for entry in house.ledger.entries(kinds=("released", "failed"))}
    made = []
    for entry in house.ledger.entries(kinds=("charged",)):
        release = house.shelf.release(entry.number)
        answer = "" if release is None else canonical(release_to_plain(release))
        kind = str(settled.get(entry.number, ""))
        made.append(Charge(entry.number, entry.account, str(entry.body.get("key")), kind, answer))
    return made


def wrong_with(charges: list[Charge], outcomes: list[Outcome]) -> list[str]:
    """Says where what was told is not what the book has."""
    by_key: dict[str, Charge] = {}
    wrong = []
    for charge in charges:
        if charge.key in by_key:
            wrong.append(f"charge {charge.number} is a second one for its key")
        by_key[charge.key] = charge
    for one in outcomes:
        found = by_key.pop(one.charge_key, None)
        if one.what == REFUSED and found is not None:
            wrong.append(f"{one.key} was refused, and is charged")
        elif one.what != REFUSED and found is None:
            wrong.append(f"{one.key} was {one.what}, and is not charged")
        elif one.what == GOT and found is not None and canonical(json.loads(one.answer)) != found.answer:
            wrong.append(f"{one.key} was answered with what the book does not have")
        if found is not None and found.account != f"visits/{one.person}":
            wrong.append(f"{one.key} is charged to {found.account}")
    return wrong + [f"charge {left.number} is one that nobody asked for" for left in by_key.values()]


def check(house: House, found: Found, rounds: int) -> None:
    """Holds the book against all that was told, and its sums against its charges."""
    found.charges = charges_in(house)
    found.wrong += wrong_with(found.charges, found.outcomes)
    found.wrong += [str(fault) for fault in house.ledger.verify().faults]
    counts = Counter(charge.account for charge in found.charges)
    for number in range(rounds):
        name = f"visits/a{number}"
        account = house.ledger[name]
        found.over_limit += not account.spent.within(account.limit)
        if account.spent != sf.Pure(PRICE).times(counts[name]):
            found.wrong.append(f"{name} has spent {account.spent} with {counts[name]} charges")
        if account.spent != account.limit:
            found.wrong.append(f"{name} has spent {account.spent} of {account.limit}, and the rest was refused")
    whole = house.ledger["visits"]  # all of it is held for shares: what they spend is within what they hold
    found.over_limit += Fraction(PRICE) * len(found.charges) > Fraction(SHARE) * rounds
    if whole.held != whole.limit or whole.spent != whole.spent.nothing():
        found.wrong.append(f"visits holds {whole.held} of {whole.limit} for shares, and has spent {whole.spent}")
