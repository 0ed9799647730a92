"""Shares: the accounts under a data set that are somebody's: ``ada`` is the first of Ada's, ``ada+2`` the next."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.errors import NotAllowed
from sfumato.ledger.accounts import Account
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.requests import requests
from sfumato.ledger.state import charge_key

MARK = "+"
"""Stands in no name of a person, so that a further share of one is nobody else's first."""


def shares_of(ledger: Ledger, data_set: str, person: str) -> list[Account]:
    """The shares of somebody, in the order in which they were opened, as they stand."""
    return ledger.first_of(f"{data_set}/{name}" for name in _names(person))


def person_of(account: str) -> str:
    """Names whose share an account is; empty for that of a data set.

    >>> person_of("visits/ada"), person_of("visits/ada+2"), person_of("visits")
    ('ada', 'ada', '')
    """
    return account.partition("/")[2].partition("/")[0].partition(MARK)[0]


def paying(ledger: Ledger, data_set: str, person: str, key: str | None = None) -> str:
    """Names the share that pays for somebody: the newest that is open; for a key that has paid before, the same one."""
    shares = shares_of(ledger, data_set, person)
    if key is not None:
        for share in shares:
            if ledger.store.by_key(charge_key(share.name, key)) is not None:
                return share.name.partition("/")[2]
    if not shares:
        raise NotAllowed(f"{person} has no share of the limit of {data_set} yet: request one, with its purpose")
    share = next((one for one in reversed(shares) if not one.closed), shares[-1])
    return share.name.partition("/")[2]


def in_kind_of(ledger: Ledger, data_set: str, loss: Loss) -> Loss:
    """A loss in the kind in which a data set counts: an ε where it counts (ε, δ) is that ε with δ = 0."""
    counts = ledger[data_set].limit
    return Approx(loss.epsilon, 0) if isinstance(loss, Pure) and isinstance(counts, Approx) else loss


def next_share(ledger: Ledger, data_set: str, person: str) -> str:
    """Names the next share of somebody: one that is no account, and that no open request is about."""
    asked = {one.share for one in requests(ledger, data_set).values() if not one.declined}
    taken = asked | {one.name.partition("/")[2] for one in shares_of(ledger, data_set, person)}
    return next(name for name in _names(person) if name not in taken)


def _names(person: str) -> Iterator[str]:
    yield person
    number = 2
    while True:
        yield f"{person}{MARK}{number}"
        number += 1
