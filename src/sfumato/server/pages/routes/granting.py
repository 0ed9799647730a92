"""What budget owners see: the tree of limits, the queue of requests; decisions with their reasons."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import SfumatoError
from sfumato.server.pages.desk import Desk
from sfumato.server.pages.routes.asking import GRAVE
from sfumato.server.pages.views.granting import LimitsView, RequestsView, limits_view, requests_view
from sfumato.service.auditors import Auditors
from sfumato.service.owners import Owners
from sfumato.service.rights import Action

CLOSED_HERE = "closed on the page of limits"


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False, prefix="/data/{data_set}")
    routes.add_api_route("/limits", limits, methods=["GET"])
    routes.add_api_route("/limits/close", close, methods=["POST"])
    routes.add_api_route("/requests", requests, methods=["GET"])
    routes.add_api_route("/requests", decide, methods=["POST"])
    return routes


async def limits(request: Request) -> Response:
    """The tree of limits."""
    desk = await Desk.open(request)

    def made() -> LimitsView:
        lines = Auditors(desk.house).limits(desk.person, desk.data_set)
        may = desk.person.may(Action.CLOSE_SHARES, desk.data_set).allowed
        return limits_view(lines, desk.data_set, may_close=may)

    return await desk.show("limits.html", "Limits and shares", made)


async def close(request: Request) -> Response:
    """Closes a share before its time."""
    desk = await Desk.open(request)
    fields = await desk.form()
    reason = fields.get("reason", "").strip()[:4_000] or CLOSED_HERE
    await desk.running.quick.run(
        lambda: Owners(desk.house).close_share(desk.person, desk.data_set, fields.get("share", ""), reason=reason)
    )
    return desk.leads("/limits", done="closed")


async def requests(request: Request) -> Response:
    """The queue of requests."""
    desk = await Desk.open(request)
    return await desk.show("requests.html", "Requests", lambda: _requests(desk))


def _requests(desk: Desk, errors: dict[int, str] | None = None) -> RequestsView:
    owners = Owners(desk.house)
    asked = owners.requests(desk.person, desk.data_set)
    decider = desk.person.name if desk.person.may(Action.DECIDE, desk.data_set).allowed else ""
    lines = owners.limits(desk.person, desk.data_set)
    return requests_view(asked, lines, desk.data_set, decider, errors)


async def decide(request: Request) -> Response:
    """Writes a decision into the book, with its reason."""
    desk = await Desk.open(request)
    fields = await desk.form()
    text, reason = fields.get("request", ""), fields.get("reason", "").strip()[:4_000]
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
    grants = fields.get("decision") == "grant"

    def decided() -> tuple[str, str]:
        if not reason:
            desk.person.need(Action.DECIDE, desk.data_set)
            return "", "Say why: it is written down for all to read."
        try:
            now = Owners(desk.house).decide(desk.person, desk.data_set, number, grants=grants, reason=reason)
        except GRAVE:
            raise
        except SfumatoError as refusal:
            return "", str(refusal)
        return ("granted" if now.granted else "declined" if now.declined else "noted"), ""

    done, wrong = await desk.running.quick.run(decided)
    if wrong:
        return await desk.show("requests.html", "Requests", lambda: _requests(desk, {number: wrong}), status=422)
    return desk.leads("/requests", done=done)
