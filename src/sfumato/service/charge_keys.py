"""Keys of charges: derived from who asks what for whom, so that the keys of two people never meet."""

from __future__ import annotations

import hashlib
import json

from sfumato.errors import BadArgument

ASKED, JOB, SCHEDULE = "ask", "job", "schedule"
"""By which way a question came; the keys of each are its own."""

LONGEST = 200


def charge_key_of(way: str, data_set: str, person: str, key: str) -> str:
    """The key of the charge for a question that somebody gave a key to."""
    return f"{way}/{digest_of_key(data_set, person, checked_key(key))}"


def digest_of_key(*parts: str) -> str:
    """A digest of texts, of which no two lists have the same."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def checked_key(key: object) -> str:
    """Reads a key that somebody chose."""
    if isinstance(key, str) and 0 < len(key) <= LONGEST and key.isprintable():
        return key
    raise BadArgument("the key", f"a line of at most {LONGEST} letters", key)
