"""What all requests of one process share: the house, settings, threads, rates, counters, the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TextIO, TypeVar, final

from starlette.requests import HTTPConnection

from sfumato.entropy import system
from sfumato.server.keeping import Keeping
from sfumato.server.logs import Log
from sfumato.server.metrics import Metrics
from sfumato.server.problems import Refused
from sfumato.server.rates import Buckets, Failures
from sfumato.server.settings import ServerSettings
from sfumato.service.house import House

Made = TypeVar("Made")


@final
class Pool:
    """Threads for one kind of work. What would have to wait too long is refused (503) before it begins."""

    def __init__(self, threads: int, waiting: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._most, self._busy = threads + waiting, 0

    async def run(self, act: Callable[[], Made]) -> Made:
        """Does something in a thread. It is done to its end, even if nobody waits for it any more."""
        if self._busy >= self._most:
            raise Refused(503, "The service has too much to do now. Try again.", headers={"Retry-After": "1"})
        self._busy += 1
        future = asyncio.get_running_loop().run_in_executor(self._threads, act)
        future.add_done_callback(self._done)
        return await asyncio.shield(future)

    def _done(self, future: asyncio.Future[Made]) -> None:
        self._busy -= 1
        if not future.cancelled():
            future.exception()  # asked for, so that nobody is told of an error that nobody waits for

    @property
    def busy(self) -> int:
        """How much runs or waits."""
        return self._busy

    def close(self) -> None:
        """Waits for what runs; what has not begun is left out."""
        self._threads.shutdown(wait=True, cancel_futures=True)


@final
@dataclass(frozen=True, eq=False)
class Running:
    """One running server. Routes find it at the app (`running_of`)."""

    house: House
    settings: ServerSettings
    quick: Pool
    questions: Pool
    passwords: Pool
    people: Buckets
    addresses: Buckets
    sign_ins: Buckets
    failures: Failures
    metrics: Metrics
    log: Log
    keeping: Keeping

    @staticmethod
    def begin(house: House, settings: ServerSettings, log: TextIO | None = None) -> Running:
        """Makes what a server needs; nothing listens yet."""
        rates, now, lines = settings.rates, time.monotonic, Log(log, system().octets(32))
        return Running(
            house,
            settings,
            Pool(settings.threads, settings.waiting, "quick"),
            Pool(settings.question_threads, settings.waiting, "question"),
            Pool(settings.password_threads, 4 * settings.password_threads, "password"),
            Buckets(rates.person_burst, rates.person_second, now),
            Buckets(rates.address_burst, rates.address_second, now),
            Buckets(rates.sign_ins, rates.sign_ins / 60, now),
            Failures(rates.sign_in_delay, rates.sign_in_longest, now),
            Metrics(),
            lines,
            Keeping(house, lines),
        )

    def close(self) -> None:
        """Waits for questions that are being answered, and lets go of the house."""
        if self.settings.works:
            self.keeping.stop()
        for pool in (self.passwords, self.questions, self.quick):
            pool.close()
        self.house.close()


def running_of(connection: HTTPConnection) -> Running:
    """The server that a request came to."""
    running: Running = connection.app.state.running
    return running
