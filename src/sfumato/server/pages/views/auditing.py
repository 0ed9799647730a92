"""The book on pages: its entries without answers, whether it is sound, its last entry."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import SfumatoError
from sfumato.ledger.rules import read_loss
from sfumato.ledger.verify import Verdict
from sfumato.release.record import Receipt
from sfumato.release.render.words import clean
from sfumato.server.pages.shell import address_of
from sfumato.service.auditors import BookLine

TONES = {"charged": "warn", "released": "good", "failed": "bad"}
LONG, DIGITS = 300, 12
HEXADECIMAL = re.compile("[0-9a-f]{40,}")


@final
@dataclass(frozen=True)
class EntryView:
    """One entry."""

    number: int
    kind: str
    tone: str
    account: str
    by: str
    said: str
    time: str
    digest: str


@final
@dataclass(frozen=True)
class VerdictView:
    """What reading the whole book again has shown."""

    sound: bool
    words: str
    faults: tuple[str, ...]


@final
@dataclass(frozen=True)
class BookView:
    """The page of the book."""

    entries: tuple[EntryView, ...]
    head: tuple[tuple[str, str], ...]
    verify: str
    export: str
    receipts: str = ""
    receipts_wrong: str = ""
    verdict: VerdictView | None = None
    first: str = ""
    next: str = ""
    take: str = ""
    checkpoint: str = ""
    signer: str = ""


def book_view(
    lines: Sequence[BookLine],
    after: int | None,
    head: Receipt,
    data_set: str,
    *,
    begun: int = 0,
    verdict: Verdict | None = None,
    receipts: str = "",
    wrong: str = "",
    export: bool = True,
    signer: str | None = None,
) -> BookView:
    """Makes the page of the book."""
    own = address_of(data_set, "/book")
    facts = (("Entry", f"{head.entry}"), ("Written", head.time), ("Digest", head.digest))
    return BookView(
        tuple(_entry(line) for line in lines),
        facts,
        f"{own}/verify",
        f"{own}/export" if export else "",
        receipts,
        wrong,
        None if verdict is None else verdict_view(verdict),
        own if begun else "",
        f"{own}?after={after}" if after is not None else "",
        f"{own}/receipts",
        "" if signer is None else f"{own}/checkpoint",
        signer or "",
    )


def verdict_view(verdict: Verdict) -> VerdictView:
    """Says what a verdict says."""
    words = f"{verdict.entries:,} entries were read again, {verdict.signed:,} of them signed checkpoints."
    return VerdictView(verdict.sound, words, tuple(str(fault) for fault in verdict.faults[:100]))


def _entry(line: BookLine) -> EntryView:
    return EntryView(
        line.number,
        line.kind,
        TONES.get(line.kind, ""),
        line.account,
        line.by,
        clean(_said(line.kind, line.said), most=LONG),
        line.time,
        f"{line.digest[:DIGITS]}…",
    )


def _said(kind: str, body: Mapping[str, Any]) -> str:
    """Says in short what an entry says."""
    match kind, body:
        case "charged", {"loss": loss}:
            return f"{_loss(loss)}: {str(body.get('what', '')).partition(' → ')[0]}"
        case "released", {"charge": int(number)}:
            return f"the answer that entry {number} paid for"
        case "noted", {"topic": "request", "said": {"share": share, "loss": loss, "purpose": purpose}}:
            return f"asks for {_loss(loss)} as {share}: {purpose}"
        case "noted", {"topic": "decision", "said": {"request": number, "grants": bool(grants), "reason": reason}}:
            return f"{'grants' if grants else 'declines'} request {number}: {reason}"
        case "noted", {"topic": "rights", "said": {"person": person, "roles": list(roles)}}:
            return f"{person} is now {', '.join(map(str, roles)) or 'nothing here any more'}"
        case "noted", {"topic": "published", "said": {"answer": number, "title": title}}:
            return f"publishes answer {number}: {title}"
        case "opened", {"rule": {"limit": limit}}:
            return f"limit {_loss(limit)}"
        case "noted", {"topic": str(topic), "said": said}:
            return f"{topic}: {_flat(said)}"
    return _flat({name: said for name, said in body.items() if name not in ("rule", "event", "states", "terms")})


def _loss(plain: object) -> str:
    try:
        loss = read_loss(plain)
    except SfumatoError:
        return "a loss"
    return str(loss) if isinstance(loss, Loss) else "a loss"


def _flat(said: object) -> str:
    match said:
        case Mapping():
            return ", ".join(f"{name} {_flat(one)}" for name, one in said.items() if name not in ("history", "format"))
        case list():
            return f"{len(said)} of them" if len(said) > 6 else ", ".join(map(_flat, said))
    return clean(said, most=40 if HEXADECIMAL.fullmatch(str(said)) else 160)


def receipts_of(text: str) -> tuple[list[Receipt], str]:
    """Reads receipts, one a line: a number and a digest; what is wrong with them, where something is."""
    made = []
    for line in text.splitlines():
        parts = line.split()
        if not parts:
            continue
        if len(parts) != 2 or not (parts[0].isascii() and parts[0].isdigit() and len(parts[0]) < 18):
            return [], "Write a number and a digest on each line."
        if len(parts[1]) != 64 or not all(letter in "0123456789abcdef" for letter in parts[1]):
            return [], "A digest has 64 letters, from 0 to 9 and a to f."
        made.append(Receipt(int(parts[0]), parts[1], "", ""))
    return made, ""
