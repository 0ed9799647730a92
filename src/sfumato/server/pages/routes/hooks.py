"""Webhooks of a data set, for owners and curators: which addresses are told of what, and how that went."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import ChangedMeanwhile, SfumatoError
from sfumato.server.pages.desk import Desk
from sfumato.server.pages.routes.asking import GRAVE
from sfumato.server.pages.views.hooks import HookForm, HooksView, NewHook, hooks_view
from sfumato.service.announcements import EVENTS
from sfumato.service.rights import Action
from sfumato.service.webhooks import Webhooks


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False, prefix="/data/{data_set}/webhooks")
    routes.add_api_route("", webhooks, methods=["GET"])
    routes.add_api_route("", add, methods=["POST"])
    routes.add_api_route("/test", test, methods=["POST"])
    routes.add_api_route("/remove", remove, methods=["POST"])
    return routes


async def webhooks(request: Request) -> Response:
    """All webhooks of a data set."""
    desk = await Desk.open(request)
    return await desk.show("webhooks.html", "Webhooks", lambda: _webhooks(desk))


def _webhooks(
    desk: Desk, *, form: HookForm | None = None, made: NewHook | None = None, errors: dict[str, str] | None = None
) -> HooksView:
    known = Webhooks(desk.house).webhooks(desk.person, desk.data_set)
    hosts = desk.house.settings.webhook_hosts
    return hooks_view(known, desk.data_set, form or HookForm(events=EVENTS), hosts=hosts, made=made, errors=errors)


async def add(request: Request) -> Response:
    """Has an address told of events; the secret is shown this once, and never led to by an address."""
    desk = await Desk.open(request)
    fields = await desk.form()
    name, address = fields.get("name", "").strip()[:80], fields.get("address", "").strip()[:600]
    events = tuple(event for number, event in enumerate(EVENTS) if fields.get(f"event-{number}"))

    def added() -> tuple[HooksView, int]:
        desk.person.need(Action.KEEP_WEBHOOKS, desk.data_set)
        errors: dict[str, str] = {}
        try:
            secret = Webhooks(desk.house).add(desk.person, desk.data_set, name, address, events)
        except ChangedMeanwhile:
            errors = {"name": "There is a webhook of this name: choose another, or remove that one first."}
        except GRAVE:
            raise
        except SfumatoError as refusal:
            errors = {_field_of(str(refusal)): str(refusal)}
        else:
            return _webhooks(desk, made=NewHook(name, secret)), 200
        return _webhooks(desk, form=HookForm(name, address, events, errors)), 422

    view, status = await desk.running.quick.run(added)
    return await desk.show("webhooks.html", "Webhooks", lambda: view, status=status)


def _field_of(why: str) -> str:
    begins = {"the name": "name", "the address": "address", "events": "events"}
    return next((field for words, field in begins.items() if why.startswith(words)), "name")


async def test(request: Request) -> Response:
    """Sends a message that tells of nothing but a test."""
    desk = await Desk.open(request)
    fields = await desk.form()
    name = fields.get("name", "")

    def tested() -> str:
        try:
            Webhooks(desk.house).test(desk.person, desk.data_set, name)
        except GRAVE:
            raise
        except SfumatoError as refusal:
            return str(refusal)
        return ""

    wrong = await desk.running.quick.run(tested)
    if not wrong:
        return desk.leads("/webhooks", done="tested")
    return await desk.show("webhooks.html", "Webhooks", lambda: _webhooks(desk, errors={name: wrong}), status=422)


async def remove(request: Request) -> Response:
    """Tells an address nothing more."""
    desk = await Desk.open(request)
    fields = await desk.form()
    await desk.running.quick.run(
        lambda: Webhooks(desk.house).remove(desk.person, desk.data_set, fields.get("name", ""))
    )
    return desk.leads("/webhooks", done="unhooked")
