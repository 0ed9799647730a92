"""Checklists of deployments, kept in the book: a release is refused while something that must be settled is open."""

from __future__ import annotations

from typing import cast

from sfumato.errors import BadArgument
from sfumato.ledger.book import Ledger
from sfumato.ledger.entry import Said
from sfumato.release.checklist import Checklist
from sfumato.release.record import Receipt

TOPIC = "checklist"


def checklist_of(ledger: Ledger, account: str) -> Checklist | None:
    """Gives the checklist of a data set as it was last written down; None where there is none."""
    found = ledger.last_note(account, TOPIC)
    return None if found is None else Checklist.from_plain(found.body["said"])


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


def open_items(ledger: Ledger, account: str) -> tuple[str, ...]:
    """Names the items that block a release."""
    found = checklist_of(ledger, account)
    return () if found is None else tuple(f"{name} {found[name].what}" for name in found.blocking)
