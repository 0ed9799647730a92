"""Jobs: questions that are answered later. How far one is can be asked, or watched as it changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sfumato.entropy import system
from sfumato.server.answering import listed, said, written
from sfumato.server.calling import Call, Calling, until_class_ends
from sfumato.server.models import DataSetName, Given, PageGiven
from sfumato.server.openapi import add, problems
from sfumato.server.reading import StrictRoute
from sfumato.service.asking import Asked
from sfumato.service.jobs import RUNNING, Job, Jobs, moment
from sfumato.service.people import Person

EVENTS = "text/event-stream"
LOOK, BEAT, LONGEST = 0.25, 15.0, 600.0
"""Seconds between two looks, between two signs of life, and after which a stream ends: who watches comes again."""

JobName = Annotated[str, Path(pattern=r"^[0-9a-zA-Z]{1,64}$", description="The name of a job.")]


def router() -> APIRouter:
    """The routes of jobs."""
    routes = APIRouter(prefix="/api/data-sets/{data_set}/jobs", tags=["jobs"], route_class=StrictRoute)
    add(routes, "GET", "", jobs, PageGiven)
    add(routes, "GET", "/{job}", one)
    add(routes, "DELETE", "/{job}", cancel, Given, also=(409,))
    routes.add_api_route(
        "/{job}/events",
        events,
        methods=["GET"],
        response_class=StreamingResponse,
        responses={200: {"content": {EVENTS: {}}}, **problems()},
    )
    return routes


async def submitted(call: Calling, data_set: str, asked: Asked, key: str | None) -> Response:
    """Queues a question, and says where its job is."""
    named = key or system().octets(16).hex()
    job = await call.run(lambda person: Jobs(call.house).submit(person, data_set, asked, named))
    call.running.keeping.workers.wake()
    place = f"/api/data-sets/{data_set}/jobs/{job.id}"
    return written(_said(shown(job, call)), 202, {"location": place, "preference-applied": "respond-async"})


async def jobs(call: Calling, data_set: DataSetName) -> Response:
    """Lists your own jobs, the latest first."""

    def look(person: Person) -> dict[str, Any]:
        mine = [shown(job, call) for job in Jobs(call.house).jobs(person, data_set)]
        return {**listed(()), "items": [_said(job) for job in mine]}

    return written(await call.run(look))


async def one(call: Calling, data_set: DataSetName, job: JobName) -> Response:
    """Says how far a job of yours is, and which answer it has."""
    return written(await call.run(lambda person: _said(shown(Jobs(call.house).job(person, data_set, job), call))))


async def cancel(call: Calling, data_set: DataSetName, job: JobName) -> Response:
    """Cancels a job of yours; what was charged stays charged."""

    def act(person: Person) -> dict[str, Any]:
        return _said(shown(Jobs(call.house).cancel(person, data_set, job, unseen=lambda one: hidden(one, call)), call))

    return written(await call.run(act))


async def events(call: Calling, request: Request, data_set: DataSetName, job: JobName) -> Response:
    """Tells each change of a job as it happens (server-sent events), until it is over."""

    def look(person: Person) -> Job:
        return shown(Jobs(call.house).job(person, data_set, job), call)

    first = await call.run(look)

    async def told() -> AsyncIterator[bytes]:
        now, quiet, so_far = first, 0.0, 0.0
        yield _event(now)
        while not now.over and so_far < LONGEST and not await request.is_disconnected():
            await asyncio.sleep(LOOK)
            quiet, so_far, before = quiet + LOOK, so_far + LOOK, now
            now = await call.run(look)
            if (now.version, now.state) != (before.version, before.state):
                quiet = 0.0
                yield _event(now)
            elif quiet >= BEAT:
                quiet = 0.0
                yield b": still there\n\n"

    return StreamingResponse(told(), media_type=EVENTS)


def hidden(job: Job, call: Call) -> bool:
    """Tells whether a job has ended, and the time class has not that its time falls into."""
    begun, ended = moment(job.started), moment(job.ended)
    if begun is None or ended is None:
        return False
    left = until_class_ends((ended - begun).total_seconds(), call.running.settings.time_classes)
    return call.house.now() < ended + timedelta(seconds=left)


def shown(job: Job, call: Call) -> Job:
    """A job as it is told: it runs until the time class ends that its time falls into, and has no times of its own.

    Nor does it have the version that its end has made: whoever watches would see it change.
    """
    plain = replace(job, started="", ended="")
    if not hidden(job, call):
        return plain
    return replace(plain, state=RUNNING, version=job.version - 1, number=None, charged=False, fault="", why="")


def _event(job: Job) -> bytes:
    return f"id: {job.version}\nevent: {job.state}\ndata: {json.dumps(_said(job))}\n\n".encode()


def _said(job: Job) -> dict[str, Any]:
    made: dict[str, Any] = said(job)
    for time in ("started", "ended"):
        del made[time]
    answer = None if job.number is None else f"/api/data-sets/{job.data_set}/answers/{job.number}"
    return {**made, "over": job.over, "answer": answer}
