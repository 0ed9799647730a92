"""What administrators see: who there is, what they may do, one-time links."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import SfumatoError
from sfumato.server.pages.desk import Desk, led_to
from sfumato.server.pages.routes.asking import GRAVE
from sfumato.server.pages.views.visiting import (
    NewLink,
    PeopleView,
    PersonForm,
    PersonView,
    grant_views,
    grants_text,
    read_grants,
)
from sfumato.service.administrators import Administrators
from sfumato.service.people import Secret


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False, prefix="/people")
    routes.add_api_route("", people, methods=["GET"])
    routes.add_api_route("/add", add, methods=["POST"])
    routes.add_api_route("/change", change, methods=["POST"])
    routes.add_api_route("/renew", renew, methods=["POST"])
    routes.add_api_route("/remove", remove, methods=["POST"])
    return routes


async def people(request: Request) -> Response:
    """Everybody."""
    desk = await Desk.open(request)
    return await desk.show("people.html", "People", lambda: _people(desk))


def _people(
    desk: Desk, *, form: PersonForm | None = None, link: NewLink | None = None, errors: dict[str, str] | None = None
) -> PeopleView:
    known = Administrators(desk.house).people(desk.person)
    views = tuple(
        PersonView(
            one.name,
            one.active,
            grant_views(one.grants),
            grants_text(one.grants),
            one.name == desk.person.name,
            (errors or {}).get(one.name, ""),
        )
        for one in known
    )
    return PeopleView(views, form or PersonForm(), link)


def _shown(desk: Desk, name: str, secret: Secret) -> NewLink:
    address = f"{desk.running.settings.address}/welcome?{urlencode({'link': secret.text})}"
    return NewLink(name, address, secret.until)


async def add(request: Request) -> Response:
    """Adds somebody; their link is shown this once, and never led to by an address."""
    desk = await Desk.open(request)
    fields = await desk.form()
    name, text = fields.get("name", "").strip()[:80], fields.get("grants", "")[:4_000]

    def added() -> PeopleView:
        grants, wrong = read_grants(text)
        administrators = Administrators(desk.house)
        if wrong:
            return _people(desk, form=PersonForm(name, text, {"grants": wrong}))
        try:
            return _people(desk, link=_shown(desk, name, administrators.add(desk.person, name, grants)))
        except GRAVE[:1]:
            raise
        except SfumatoError as refusal:
            return _people(desk, form=PersonForm(name, text, {"name": str(refusal)}))

    return await desk.show("people.html", "People", added)


async def change(request: Request) -> Response:
    """Says anew what somebody may do."""
    desk = await Desk.open(request)
    fields = await desk.form()
    name, text = fields.get("name", ""), fields.get("grants", "")[:4_000]

    def changed() -> str:
        grants, wrong = read_grants(text)
        if not wrong:
            Administrators(desk.house).set_grants(desk.person, name, grants)
        return wrong

    return await _changed(desk, name, changed, done="changed")


async def remove(request: Request) -> Response:
    """Lets somebody in no more."""
    desk = await Desk.open(request)
    fields = await desk.form()
    name = fields.get("name", "")

    def left() -> str:
        Administrators(desk.house).leave(desk.person, name)
        return ""

    return await _changed(desk, name, left, done="removed")


async def _changed(desk: Desk, name: str, act: Callable[[], str], *, done: str) -> Response:
    def tried() -> str:
        try:
            return act()
        except GRAVE[:1]:
            raise
        except SfumatoError as refusal:
            return str(refusal)

    wrong = await desk.running.quick.run(tried)
    if not wrong:
        return led_to("/people", done=done)
    return await desk.show("people.html", "People", lambda: _people(desk, errors={name: wrong}), status=422)


async def renew(request: Request) -> Response:
    """Draws a new one-time link for somebody."""
    desk = await Desk.open(request)
    fields = await desk.form()
    name = fields.get("name", "")

    def drawn() -> PeopleView:
        return _people(desk, link=_shown(desk, name, Administrators(desk.house).invite(desk.person, name)))

    return await desk.show("people.html", "People", drawn)
