"""How a route is called: by whom, in which thread, how long it may take, and in which time class its answer leaves."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar, final

from fastapi import Depends
from starlette.requests import Request

from sfumato.errors import SignInRefused
from sfumato.server.problems import Refused
from sfumato.server.running import Pool, Running, running_of
from sfumato.service.house import House
from sfumato.service.people import TOKEN, Person

Made = TypeVar("Made")

BEARER = "bearer "
LONGEST_TOKEN = 200


@final
class Call:
    """One call of the API. Whoever calls is known by a token in the header ``Authorization``, and by nothing else.

    The token is looked up in the thread that does the work, before it: there is one way to a thread and back.
    """

    def __init__(self, request: Request) -> None:
        self.request, self.running = request, running_of(request)
        said = request.headers.get("authorization", "")
        self._token = said[len(BEARER) :].strip() if said[: len(BEARER)].lower() == BEARER else ""
        if not 0 < len(self._token) <= LONGEST_TOKEN:
            raise SignInRefused

    @property
    def house(self) -> House:
        """What use cases work on."""
        return self.running.house

    async def run(self, act: Callable[[Person], Made]) -> Made:
        """Does something quick for whoever calls."""
        return await self._in(self.running.quick, act)

    async def ask(self, act: Callable[[Person], Made]) -> Made:
        """Does something that may look at data: its answer, or refusal, leaves at the end of a time class."""
        began = time.monotonic()
        try:
            return await self._in(self.running.questions, act)
        finally:
            await asyncio.sleep(until_class_ends(time.monotonic() - began, self.running.settings.time_classes))

    async def _in(self, pool: Pool, act: Callable[[Person], Made]) -> Made:
        try:
            async with asyncio.timeout(self.running.settings.patience):
                return await pool.run(lambda: act(self._known()))
        except TimeoutError:
            pass
        raise Refused(504, "This took too long. If it costs something it is paid: ask the same again for its answer.")

    def _known(self) -> Person:
        running: Running = self.running
        person = running.house.people.known_by(TOKEN, self._token)
        self.request.state.person = person.name
        running.people.take(person.name)
        return person


def until_class_ends(seconds: float, classes: Sequence[float]) -> float:
    """How long to wait until the time class ends that so many seconds fall into; the last one repeats."""
    place = bisect_left(classes, seconds)
    return classes[place] - seconds if place < len(classes) else -seconds % classes[-1]


async def call_of(request: Request) -> Call:
    """Reads who calls from a request."""
    return Call(request)


Calling = Annotated[Call, Depends(call_of)]
