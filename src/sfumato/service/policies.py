"""Policies of data sets, in their books: how many people must grant a share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.ledger.ledger import Ledger

TOPIC = "policy"
MOST_NEEDED = 20


@final
@dataclass(frozen=True)
class Policy:
    """How shares of a data set are decided on: how many people must grant one, and who said so and why."""

    needed: int = 1
    by: str = ""
    reason: str = ""


def policy_of(ledger: Ledger, data_set: str) -> Policy:
    """The policy of a data set as its book says; one person decides, where it says nothing.

    Anybody who decides may ask for more people. For fewer, as many must say so as were needed before.
    """
    policy, votes = Policy(), dict[int, set[str]]()
    for note in ledger.notes(data_set, TOPIC):
        match note.body["said"]:
            case {"needed": int(needed), "reason": str(reason)}:
                votes.setdefault(needed, set()).add(note.by)
                if needed >= policy.needed or len(votes[needed]) >= policy.needed:
                    policy, votes = Policy(needed, note.by, reason), {}
    return policy


def keep_policy(ledger: Ledger, data_set: str, needed: int, *, reason: str, by: str) -> Policy:
    """Writes down what somebody wants the policy to be, and gives the one that holds for requests from then on."""
    many = integer(needed, "needed", least=1)
    if many > MOST_NEEDED:
        raise BadArgument("needed", f"at most {MOST_NEEDED} people", needed)
    if not isinstance(reason, str) or not reason.strip():
        raise BadArgument("reason", "said in words: it is written down for all to read", reason)
    ledger.note(data_set, TOPIC, {"needed": many, "reason": reason.strip()}, by=by)
    return policy_of(ledger, data_set)


def needed_for(ledger: Ledger, data_set: str) -> int:
    """How many people must grant a share of a data set."""
    return policy_of(ledger, data_set).needed
