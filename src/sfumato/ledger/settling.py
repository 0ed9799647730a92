"""How a charge ends: with the release that is kept beside it, or as one that broke off."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from sfumato.entropy import system
from sfumato.errors import NotKept, SfumatoError
from sfumato.ledger.entry import Body, Entry, digest_of
from sfumato.ledger.replica import Replica
from sfumato.ledger.store import Pen
from sfumato.ledger.stored_release import SALT_BYTES, kept_text
from sfumato.ledger.transaction import Draft, Transaction
from sfumato.release.record import Release


def keep_release(
    replica: Replica, release: Release, charge: Entry, *, check: Callable[[Pen], None] | None = None
) -> Release:
    """Stores a release beside its charge; where that cannot be done, the error carries it."""
    text = kept_text(release, system().octets(SALT_BYTES))
    body: Body = {"charge": charge.number, "question": charge.body["question"]}
    body["value"] = None if text is None else digest_of(text)
    try:
        _settle(replica, Draft("released", charge.account, body, value=text), charge, check)
    except SfumatoError:
        raise NotKept(release) from None
    return release


def note_failure(replica: Replica, charge: Entry, *, check: Callable[[Pen], None] | None = None) -> None:
    """Notes that what was charged broke off. The charge stands whether or not this can be written."""
    with suppress(SfumatoError):
        _settle(replica, Draft("failed", charge.account, {"charge": charge.number}), charge, check)


def _settle(replica: Replica, draft: Draft, charge: Entry, check: Callable[[Pen], None] | None) -> None:
    def write(transaction: Transaction, pen: Pen) -> None:
        if check is not None:
            check(pen)
        transaction.add(draft)

    replica.append(write, by=charge.by)
