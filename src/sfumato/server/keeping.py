"""What goes on beside requests: jobs are done, schedules come due, webhooks are told, ended secrets removed."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import final
from urllib.parse import urlsplit

from sfumato.errors import SfumatoError
from sfumato.server.logs import Log
from sfumato.service.house import House
from sfumato.service.schedules import tick
from sfumato.service.webhooks import Post, deliver, watch_limits
from sfumato.service.workers import Pool

EVERY = 5.0
"""Seconds between two looks at schedules and webhooks."""

TIDY_EVERY = 360
"""Looks between two times that secrets which have ended are removed."""


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
        if self._thread.is_alive():
            self._thread.join(10)

    def _loop(self) -> None:
        looks = 0
        while not self._stop.wait(EVERY):
            looks += 1
            with suppress(SfumatoError):  # records or book cannot be reached: look again soon
                self._look(tidy=looks % TIDY_EVERY == 0)

    def _look(self, *, tidy: bool) -> None:
        house = self._house
        try:
            if tick(house, house.now()):
                self.workers.wake()
            watch_limits(house)
            deliver(house, house.now(), send=lambda post: sent(post, house.settings.webhook_timeout), resolve=resolved)
            if tidy:
                house.people.tidy()
        except SfumatoError:
            raise
        except Exception as fault:  # one that breaks must not end the others
            self._log.fault("keeping", fault)


def resolved(host: str, port: int) -> Iterable[str]:
    """The numbers of a host."""
    return [str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def sent(post: Post, patience: float) -> int:
    """Sends a message over TLS, to the very number that was looked at; follows no redirect, reads no answer."""
    parts = urlsplit(post.address)
    host, port = parts.hostname or "", parts.port or 443
    try:
        with socket.create_connection((post.number, port), patience) as plain:
            safe = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
            connection = http.client.HTTPSConnection(host, port, timeout=patience)
            connection.sock = safe
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", path, post.body, dict(post.headers))
            status = connection.getresponse().status
            connection.close()
            return status
    except http.client.HTTPException:
        pass
    raise OSError
