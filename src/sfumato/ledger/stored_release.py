"""How a release is kept beside the entry that settles its charge, so that the same question need not be paid twice.

The entry holds the digest of what is kept, and everybody may see entries who may not see answers. So a release is kept
with a salt, without which nobody can confirm a guess of it. What was kept before version 2 is the release alone.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import final

from sfumato.errors import BadArgument, LedgerDamaged, UnknownFormat
from sfumato.ledger.entry import Entry, canonical, digest_of
from sfumato.ledger.store import Row, storable
from sfumato.plain import without_header
from sfumato.release.answer import Answer
from sfumato.release.codec import release_from_plain, release_to_plain
from sfumato.release.record import Release

SHORT = 1 << 16
"""Letters of a release that is kept ready once it was read."""


FORMAT, VERSION = "sfumato/kept", 2
SALT_BYTES = 16


def kept_text(release: Release, salt: bytes) -> str | None:
    """The text of a release and its salt; None where its value has no stored form (it goes on answering)."""
    try:
        said = {"format": FORMAT, "version": VERSION, "salt": salt.hex(), "release": release_to_plain(release)}
        text = canonical(said)
    except BadArgument:
        return None
    return text if storable(text) else None


def read_kept(row: Row) -> Release | None:
    """Reads the release that is kept with an entry, None where there is none; refuses another than its digest says."""
    if row.value is None:
        return None
    if Entry.read(row.text, row.digest).body.get("value") != digest_of(row.value):
        raise LedgerDamaged(f"entry {row.number} does not belong to the release that is kept with it")
    try:
        return _short(row.value) if len(row.value) <= SHORT else _release(row.value)
    except (ValueError, UnknownFormat):
        raise LedgerDamaged("a stored release cannot be read") from None


def _release(text: str) -> Release:
    plain = json.loads(text)
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        return release_from_plain(plain)
    fields = without_header(plain, FORMAT, VERSION)
    if set(fields) != {"salt", "release"}:
        raise UnknownFormat("a field of it is missing, or is not known")
    return release_from_plain(fields["release"])


@lru_cache(maxsize=256)
def _answer(text: str) -> Release:
    """Reads the text of a release that nobody can change: its value is an answer, whose cells are not to be written."""
    release = _release(text)
    if not isinstance(release.value, Answer):
        raise _Changeable
    return release


def _short(text: str) -> Release:
    """Reads a text that may have been read before: the same few questions are asked again and again."""
    try:
        return _answer(text)
    except _Changeable:
        return _release(text)


@final
class _Changeable(Exception):
    """Says that whoever has a release could change its value."""
