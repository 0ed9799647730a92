"""Charges beside a charge: where several kinds of units are protected, each has an account, and all of them pay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from sfumato.accounting.adaptive.costs import Cost
from sfumato.errors import AccountRefused
from sfumato.guarantee import guarantee
from sfumato.ledger.accounts import Account
from sfumato.ledger.entry import Body
from sfumato.ledger.rules import plain_loss
from sfumato.ledger.state import data_set_of

Beside: TypeAlias = Mapping[str, Cost]
"""What a charge comes to for other kinds of units, by the names of their accounts."""


@guarantee(
    claim="a charge to a data set or to a part of it is one to each account that it was opened beside, and to no other",
    proof="proofs/ledger.md#beside",
    reviewed="c33681407b8b",
)
def check_beside(find: Callable[[str], Account], account: str, beside: Beside) -> None:
    """Refuses a charge that leaves out a kind of units that the data set protects, or has one that it does not."""
    needed = find(data_set_of(account)).terms.beside
    if set(beside) != set(needed):
        told = ", ".join(needed) or "no other"
        raise AccountRefused(
            f"what {account} is charged, accounts of other kinds of units are charged in the same step: {told}. Ask "
            "through the session of the data set, which knows what each of them loses."
        )


def said_beside(account: str, said: Body) -> Body:
    """What the entry of a charge beside another says: what that one says, and whose it is."""
    return {"what": said.get("what", ""), "question": None, "key": None, "data": said.get("data", ""), "with": account}


def losses_beside(beside: Beside) -> Body:
    """What the entry of a charge says of those beside it; nothing, where there are none."""
    return {"beside": {name: plain_loss(cost.loss) for name, cost in beside.items()}} if beside else {}
