"""Schedules, questions that are asked again every day, week or month; and webhooks, which are told what happened."""

from __future__ import annotations

from typing import Annotated, Literal, final

from fastapi import APIRouter, Path
from pydantic import Field
from starlette.responses import Response

from sfumato.server.answering import listed, said, written
from sfumato.server.calling import Calling
from sfumato.server.models import DataSetName, Given, Named, PageGiven, QuestionBody, Taken
from sfumato.server.openapi import add
from sfumato.server.reading import StrictRoute
from sfumato.server.routes.questions import asked_in
from sfumato.service.schedules import Schedules
from sfumato.service.webhooks import Webhooks

Name = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$", description="What it is called.")]
Event = Literal["share granted", "share declined", "limit low", "release published"]


@final
class ScheduleBody(Taken):
    """A question that is asked again, when, and what becomes of times at which the service did not run."""

    question: QuestionBody
    every: Literal["day", "week", "month"]
    at: Annotated[str, Field(pattern=r"^[0-2][0-9]:[0-5][0-9]$")] = "00:00"
    missed: Named = "latest"


class WebhookBody(Taken):
    """Where to tell what has happened, and of which events."""

    address: Annotated[str, Field(min_length=1, max_length=500)]
    events: Annotated[list[Event], Field(min_length=1, max_length=4)]


def router() -> APIRouter:
    """The routes of schedules and webhooks."""
    routes = APIRouter(prefix="/api/data-sets/{data_set}", tags=["schedules"], route_class=StrictRoute)
    add(routes, "GET", "/schedules", schedules, PageGiven)
    add(routes, "PUT", "/schedules/{name}", add_schedule, Given, status=201, also=(409,))
    add(routes, "POST", "/schedules/{name}/resume", resume, Given, also=(409,))
    add(routes, "DELETE", "/schedules/{name}", remove_schedule, None, status=204, also=(409,))
    add(routes, "GET", "/webhooks", webhooks, PageGiven)
    add(routes, "PUT", "/webhooks/{name}", add_webhook, Given, status=201, also=(409,))
    add(routes, "POST", "/webhooks/{name}/test", test_webhook, None, status=202)
    add(routes, "DELETE", "/webhooks/{name}", remove_webhook, None, status=204, also=(409,))
    return routes


async def schedules(call: Calling, data_set: DataSetName) -> Response:
    """Lists your own schedules."""
    return written(await call.run(lambda person: listed(Schedules(call.house).schedules(person, data_set))))


async def add_schedule(call: Calling, data_set: DataSetName, name: Name, body: ScheduleBody) -> Response:
    """Has a question asked each day, week or month, paid from your share."""
    asked = asked_in(body.question)
    made = await call.run(
        lambda person: Schedules(call.house).add(
            person, data_set, name, asked, every=body.every, at=body.at, missed=body.missed
        )
    )
    return written(said(made), 201)


async def resume(call: Calling, data_set: DataSetName, name: Name) -> Response:
    """Goes on with a schedule that was stopped."""
    return written(await call.run(lambda person: said(Schedules(call.house).resume(person, data_set, name))))


async def remove_schedule(call: Calling, data_set: DataSetName, name: Name) -> Response:
    """Asks no more; what was asked stays."""
    await call.run(lambda person: Schedules(call.house).remove(person, data_set, name))
    return Response(None, 204)


async def webhooks(call: Calling, data_set: DataSetName) -> Response:
    """Lists the webhooks of a data set, without their secrets."""
    return written(await call.run(lambda person: listed(Webhooks(call.house).webhooks(person, data_set))))


async def add_webhook(call: Calling, data_set: DataSetName, name: Name, body: WebhookBody) -> Response:
    """Has an address told of events; the secret that signs what it is told is shown this once."""
    secret = await call.run(lambda person: Webhooks(call.house).add(person, data_set, name, body.address, body.events))
    return written({"name": name, "secret": secret}, 201)


async def test_webhook(call: Calling, data_set: DataSetName, name: Name) -> Response:
    """Has a webhook told of nothing but a test; the list of webhooks says how that went."""
    await call.run(lambda person: Webhooks(call.house).test(person, data_set, name))
    return Response(None, 202)


async def remove_webhook(call: Calling, data_set: DataSetName, name: Name) -> Response:
    """Tells an address nothing more."""
    await call.run(lambda person: Webhooks(call.house).remove(person, data_set, name))
    return Response(None, 204)
