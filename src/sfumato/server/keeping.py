"""What goes on beside requests: jobs are done, schedules come due, webhooks are told, ended secrets removed."""

from __future__ import annotations

import threading
from typing import final

from sfumato.server.logs import Log
from sfumato.service.house import House
from sfumato.service.housekeeping import keep_house
from sfumato.service.sending import Sender, numbers_of
from sfumato.service.workers import Pool

EVERY = 15.0
"""Seconds between two rounds through the house."""


@final
class Keeping:
    """The threads of one process that work without being asked."""

    def __init__(self, house: House, log: Log) -> None:
        self._house, self._log, self._stop = house, log, threading.Event()
        self.workers = Pool(house)
        self._thread = threading.Thread(target=self._loop, name="keeping", daemon=True)

    def start(self) -> None:
        """Begins."""
        self.workers.start()
        self._thread.start()

    def stop(self) -> None:
        """Takes nothing new, and waits for what runs; what waits is kept as records, for the next start."""
        self._stop.set()
        self.workers.stop()
        self._thread.join(10)

    def _loop(self) -> None:
        send = Sender(self._house.settings.webhook_timeout)
        while not self._stop.wait(EVERY):
            try:
                keep_house(self._house, send=send, resolve=numbers_of)
            except Exception as fault:  # one round that breaks must not end the others
                self._log.fault("keeping", fault)
