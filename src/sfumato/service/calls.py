"""Questions that one worker answers and another is told to cancel: a note that they share, while one takes long.

A note is found by a digest of what only whoever asks knows. Whoever does not know it only reads, and finds nothing.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import final

from sfumato.errors import ChangedMeanwhile
from sfumato.service.house import House
from sfumato.service.records import NEW

CALL = "call"
"""The kind of these records."""


@final
@dataclass(frozen=True, eq=False)
class Calls:
    """The notes of a service on questions that run."""

    house: House

    def begin(self, secret: bytes, lasts: timedelta) -> str:
        """Notes that a question runs, for no longer than it may last; the place of the note."""
        place = _place(secret)
        with suppress(ChangedMeanwhile):
            self._remove(place)
            said = {"cancelled": False, "until": (self.house.now() + lasts).isoformat()}
            self.house.records.put(CALL, place, said, expecting=NEW)
        return place

    def cancel(self, secret: bytes) -> bool:
        """Says that a question is not wanted any more; whether there was a note of it."""
        kept = self.house.records.get(CALL, _place(secret))
        if kept is None:
            return False
        with suppress(ChangedMeanwhile):
            self.house.records.put(CALL, kept.name, {**kept.said, "cancelled": True}, expecting=kept.version)
        return True

    def cancelled(self, place: str) -> bool:
        """Tells whether somebody has said so."""
        kept = self.house.records.get(CALL, place)
        return kept is not None and bool(kept.said["cancelled"])

    def end(self, place: str) -> None:
        """Removes a note."""
        with suppress(ChangedMeanwhile):
            self._remove(place)

    def tidy(self) -> None:
        """Removes notes of workers that are gone."""
        for kept in self.house.records.all(CALL):
            if datetime.fromisoformat(kept.said["until"]) < self.house.now():
                self.end(kept.name)

    def _remove(self, place: str) -> None:
        kept = self.house.records.get(CALL, place)
        if kept is not None:
            self.house.records.remove(CALL, place, expecting=kept.version)


def _place(secret: bytes) -> str:
    return hashlib.sha256(b"call " + secret).hexdigest()
