"""Housekeeping: what some worker must do every minute or so; all of them may, for each thing is done once."""

from __future__ import annotations

from contextlib import suppress

from sfumato.errors import SfumatoError
from sfumato.service.calls import Calls
from sfumato.service.house import House
from sfumato.service.jobs import forget_old
from sfumato.service.schedules import tick
from sfumato.service.webhooks import Resolve, Send, deliver, watch_limits


def keep_house(house: House, *, send: Send, resolve: Resolve) -> None:
    """Queues what schedules have due, tells webhooks what they are to be told, and forgets what has ended.

    Each part is tried whatever becomes of the others: where something cannot be reached, it is looked at again.
    """
    now = house.now()
    for part in (
        lambda: tick(house, now),
        lambda: watch_limits(house),
        lambda: deliver(house, now, send=send, resolve=resolve),
        lambda: forget_old(house),
        house.people.tidy,
        Calls(house).tidy,
    ):
        with suppress(SfumatoError):
            part()
