"""Checklists of deployments, kept in the book: a release is refused while something that must be settled is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sfumato.errors import AccountRefused, BadArgument
from sfumato.ledger.entry import Entry, Said
from sfumato.ledger.state import State, data_set_of
from sfumato.release.checklist import Checklist
from sfumato.release.record import Receipt

if TYPE_CHECKING:
    from sfumato.ledger.ledger import Ledger

TOPIC = "checklist"


def checklist_of(ledger: Ledger, account: str) -> Checklist | None:
    """The checklist of a data set as it was last written down; None where there is none."""
    return _read(ledger.last_note(account, TOPIC))


def keep_checklist(ledger: Ledger, account: str, checklist: Checklist, *, by: str = "curator") -> Receipt:
    """Writes a checklist down; its history must go on from the one that was written down before.

    From the first time on, sessions on the data set release nothing while a mandatory item is open.
    """
    before = checklist_of(ledger, account)
    if before is not None and (
        checklist.history[: len(before.history)] != before.history or not checklist.mandatory >= before.mandatory
    ):
        raise BadArgument(
            "checklist", "one that goes on from the one in the book, with all that is mandatory there", ""
        )
    return ledger.note(account, TOPIC, cast(Said, checklist.to_plain()), by=by)


def check_settled(state: State, account: str) -> None:
    """Refuses to release anything from a data set with a checklist on which something mandatory is open."""
    data_set = data_set_of(account)
    checklist = _read(state.notes.get((data_set, TOPIC)))
    if checklist is not None and checklist.blocking:
        items = "; ".join(f"{name} {checklist[name].what}" for name in checklist.blocking)
        raise AccountRefused(f"nothing is released from {data_set} while its checklist is open: {items}.")


def _read(note: Entry | None) -> Checklist | None:
    return None if note is None else Checklist.from_plain(note.body["said"])
