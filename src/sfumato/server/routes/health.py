"""Whether the server runs and can answer, and its counters."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from sfumato.errors import SfumatoError
from sfumato.server.answering import written
from sfumato.server.calling import Calling
from sfumato.server.openapi import problems
from sfumato.server.problems import MEDIA
from sfumato.server.running import running_of
from sfumato.service.people import Person
from sfumato.service.rights import Action

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def router(*, metrics: bool) -> APIRouter:
    """The routes of health; of counters only where they have no port of their own."""
    routes = APIRouter(tags=["health"])
    plain = {200: {"content": {"text/plain": {}}}, **problems()}
    routes.add_api_route("/healthz", alive, methods=["GET"], response_class=PlainTextResponse, responses=plain)
    routes.add_api_route(
        "/readyz",
        ready,
        methods=["GET"],
        response_model=dict[str, bool],
        responses={**problems(), 503: {"content": {"application/json": {}, MEDIA: {}}, "description": "not yet"}},
    )
    if metrics:
        routes.add_api_route(
            "/metrics",
            counters,
            methods=["GET"],
            response_class=PlainTextResponse,
            responses=plain,
        )
    return routes


async def alive() -> Response:
    """Tells that the process answers."""
    return PlainTextResponse("ok\n")


async def ready(request: Request) -> Response:
    """Tells whether book and records can be read."""
    running = running_of(request)

    def look() -> dict[str, bool]:
        made = {"book": True, "records": True}
        try:
            running.house.ledger.store.last("noted")
        except SfumatoError:
            made["book"] = False
        try:
            running.house.records.get("ready", "ready")
        except SfumatoError:
            made["records"] = False
        return made

    made = await running.quick.run(look)
    return written(made, 200 if all(made.values()) else 503)


async def counters(call: Calling) -> Response:
    """The counters of this process, for Prometheus; for those who may see how the service runs."""

    def look(person: Person) -> str:
        person.need(Action.WATCH)
        return call.running.metrics.text()

    return Response(await call.run(look), 200, media_type=PROMETHEUS)
