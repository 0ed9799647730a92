"""Entries of the book: what happened, chained by digests so that no entry can be changed, removed or moved unseen.

Version 1 of the format: an entry is one JSON object with its keys in order and no spaces; its digest is the SHA-256 of
that text, and the next entry holds it as ``previous``. Rules that never change: no kind and no field is removed, none
changes its meaning; what is unknown is refused.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple, TypeAlias, final

from sfumato.errors import LedgerDamaged
from sfumato.plain import Plain

FORMAT, VERSION = "sfumato/ledger", 1

NOTHING_BEFORE = "0" * 64
"""What the first entry names as the digest before it."""

Said: TypeAlias = Plain

KINDS = frozenset({"begun", "opened", "charged", "released", "failed", "closed", "noted", "balance", "progress"})

Body: TypeAlias = "dict[str, Said]"
"""What an entry says besides when, who and where: plain, public, and different for each kind."""


@final
class Entry(NamedTuple):
    """One line of the book, with the digest of the line before it."""

    number: int
    kind: str
    time: str
    by: str
    account: str
    body: Body
    previous: str
    text: str
    digest: str

    @classmethod
    def made(cls, number: int, previous: str, *, kind: str, time: str, by: str, account: str, body: Body) -> Entry:
        """Writes an entry that follows another."""
        text = canonical(
            {
                "account": account,
                "body": body,
                "by": by,
                "kind": kind,
                "number": number,
                "previous": previous,
                "time": time,
            }
        )
        return cls(number, kind, time, by, account, body, previous, text, digest_of(text))

    @classmethod
    def read(cls, text: str, digest: str) -> Entry:
        """Reads an entry as it was stored; refuses one that is not what its digest says."""
        if digest_of(text) != digest:
            raise LedgerDamaged("an entry is not what its digest says")
        try:
            fields = json.loads(text)
            entry = cls(text=text, digest=digest, **fields)
        except (ValueError, TypeError, RecursionError):
            raise LedgerDamaged("an entry cannot be read") from None
        texts = (entry.kind, entry.time, entry.by, entry.account, entry.previous)
        if not all(isinstance(text, str) for text in texts):
            raise LedgerDamaged("an entry cannot be read")
        if type(entry.number) is not int or entry.kind not in KINDS or not isinstance(entry.body, dict):
            raise LedgerDamaged("an entry is of no known kind: it may be of a newer version of sfumato")
        return entry


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def canonical(plain: object) -> str:
    """Writes plain values in the one way that is hashed."""
    return _ENCODER.encode(plain)


def digest_of(text: str) -> str:
    """The SHA-256 of a text in UTF-8, in hexadecimal; also where the text has lone surrogates."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def stamp(moment: datetime) -> str:
    """Writes a moment in universal time, to the microsecond, so that texts sort as moments do."""
    universal = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return universal.isoformat(timespec="microseconds")[:-6] + "Z"


def moment_of(text: str) -> datetime:
    """Reads what `stamp` wrote."""
    try:
        return datetime.fromisoformat(text)
    except (ValueError, TypeError):
        raise LedgerDamaged("the time of an entry cannot be read") from None
