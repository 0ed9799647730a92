"""Requests for a share of a limit: who asked for what and why, who decided what and why. All of it is in the book."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import final

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import AccountRefused, BadArgument, LedgerDamaged
from sfumato.exact import integer
from sfumato.ledger.accounts import Account, checked_name
from sfumato.ledger.entry import Body
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.rules import plain_loss, read_loss

ASKED, DECIDED = "request", "decision"


@final
@dataclass(frozen=True)
class Decision:
    """What one person decided on a request, and why."""

    by: str
    grants: bool
    reason: str


@final
@dataclass(frozen=True)
class Request:
    """A request for a share of a limit, and what was decided on it; ``number`` is its entry in the book."""

    number: int
    account: str
    share: str
    by: str
    loss: Loss
    purpose: str
    needed: int
    decisions: tuple[Decision, ...] = ()

    @property
    def granted(self) -> bool:
        """Tells whether enough people have granted it and nobody has declined."""
        return not self.declined and sum(decision.grants for decision in self.decisions) >= self.needed

    @property
    def declined(self) -> bool:
        """Tells whether somebody has declined it."""
        return any(not decision.grants for decision in self.decisions)


def ask_for_share(
    ledger: Ledger, account: str, share: str, loss: Loss, *, purpose: str, by: str, needed: int = 1
) -> Request:
    """Asks for a share of an account's limit; ``by`` may be a pseudonym, and ``needed`` people must grant it."""
    checked_name(f"{account}/{share}")
    if "/" in share:
        raise BadArgument("share", "one name, without '/'", share)
    said: Body = {
        "share": share,
        "loss": plain_loss(loss),
        "purpose": _words(purpose, "purpose"),
        "needed": integer(needed, "needed", least=1),
    }
    receipt = ledger.note(account, ASKED, said, by=by)
    return Request(receipt.entry, account, share, by, loss, purpose, needed)


def requests(ledger: Ledger, account: str) -> dict[int, Request]:
    """All requests on an account by number, with what was decided on them."""
    decided: dict[int, list[Decision]] = {}
    for entry in ledger.notes(account, DECIDED):
        match entry.body["said"]:
            case {"request": int(number), "grants": bool(grants), "reason": str(reason)}:
                decided.setdefault(number, []).append(Decision(entry.by, grants, reason))
    return {request.number: request for request in _asked(ledger, account, decided)}


def _asked(ledger: Ledger, account: str, decided: dict[int, list[Decision]]) -> Iterator[Request]:
    for entry in ledger.notes(account, ASKED):
        match entry.body["said"]:
            case {"share": str(share), "loss": loss, "purpose": str(purpose), "needed": int(needed)}:
                made = tuple(decided.get(entry.number, ()))
                with suppress(LedgerDamaged):  # a note that looks like a request, and is none
                    yield Request(entry.number, account, share, entry.by, read_loss(loss), purpose, needed, made)


def decide_on(
    ledger: Ledger,
    request: Request,
    *,
    grants: bool,
    reason: str,
    by: str,
    until: datetime | None = None,
) -> Account | None:
    """Grants or declines a request, for a reason that is written down; nobody decides on their own, nor twice.

    With the last grant that it needs, in the same step, the share is opened and holds its limit; then it is given.
    """
    if not isinstance(grants, bool):
        raise BadArgument("grants", "True or False", grants)
    seen = ledger.last_note(request.account, DECIDED)
    last = 0 if seen is None else seen.number
    now = requests(ledger, request.account).get(request.number)
    if now is None:
        raise AccountRefused(f"there is no request {request.number} on {request.account}.")
    if now.granted or now.declined or by == now.by or any(decision.by == by for decision in now.decisions):
        raise AccountRefused(f"request {request.number} is decided already, or not for {by} to decide.")
    said: Body = {"request": request.number, "grants": grants, "reason": _words(reason, "reason")}
    decided = replace(now, decisions=(*now.decisions, Decision(by, grants, reason)))
    if not decided.granted:
        ledger.note(now.account, DECIDED, said, expecting=last, by=by)
        return None
    return ledger.open_account(
        f"{now.account}/{now.share}",
        limit=now.loss,
        holds=True,
        until=until,
        about={"request": str(now.number), "purpose": now.purpose},
        note=(DECIDED, said),
        expecting=last,
        by=by,
    )


def _words(text: str, name: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise BadArgument(name, "said in words: it is written down for all to read", text)
    return text.strip()
