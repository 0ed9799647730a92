"""Announcements: what webhooks are told of, kept as records until it has been sent. Without data, always."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from sfumato.entropy import system
from sfumato.errors import SfumatoError
from sfumato.service.house import House
from sfumato.service.records import NEW

HOOK, MESSAGE = "webhook", "webhook message"
"""Kinds of records: an address that is told of something, and what it is yet to be told."""

GRANTED, DECLINED, LOW, PUBLISHED = "share granted", "share declined", "limit low", "release published"
EVENTS = (GRANTED, DECLINED, LOW, PUBLISHED)
TEST = "test"
"""What a webhook is told when somebody wants to see whether it arrives."""


def announce(house: House, data_set: str, event: str, facts: Mapping[str, object]) -> None:
    """Leaves a message for every webhook of a data set that is to be told of an event.

    What has happened is in the book and stays so: where records cannot be written now, nobody is told.
    """
    with suppress(SfumatoError):
        for hook in house.records.all(HOOK, f"{data_set}/"):
            if event in hook.said["events"]:
                leave_message(house, hook.name, data_set, event, facts)


def leave_message(house: House, hook: str, data_set: str, event: str, facts: Mapping[str, object]) -> None:
    """Leaves one message for one webhook."""
    now = house.now().isoformat()
    number = system().octets(12).hex()
    said = {
        "hook": hook,
        "body": {"id": number, "event": event, "data_set": data_set, "time": now, "facts": dict(facts)},
        "tries": 0,
        "next": now,
    }
    house.records.put(MESSAGE, f"{data_set}/{number}", said, expecting=NEW)
