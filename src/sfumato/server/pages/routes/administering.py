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
from sfumato.server.pages.shell import Notice
from sfumato.server.pages.views.granting import one_page
from sfumato.server.pages.views.visiting import (
    NewLink,
    PeopleView,
    PersonForm,
    PersonView,
    TokensOfView,
    TokenView,
    grant_views,
    grants_text,
    read_grants,
    scope_words,
)
from sfumato.server.pages.views.watching import state_view
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
    routes.add_api_route("/sign-out", sign_out, methods=["POST"])
    routes.add_api_route("/tokens", tokens, methods=["GET"])
    routes.add_api_route("/tokens/revoke", revoke, methods=["POST"])
    others = APIRouter(include_in_schema=False)
    others.include_router(routes)
    others.add_api_route("/state", state, methods=["GET"])
    return others


async def people(request: Request) -> Response:
    """Everybody."""
    desk = await Desk.open(request)
    return await desk.show("people.html", "People", lambda: _people(desk))


def _people(
    desk: Desk, *, form: PersonForm | None = None, link: NewLink | None = None, errors: dict[str, str] | None = None
) -> PeopleView:
    known = Administrators(desk.house).people(desk.person)
    shown, links = one_page(known, desk.number("page", 1), "/people")
    views = tuple(
        PersonView(
            one.name,
            one.active,
            grant_views(one.grants),
            grants_text(one.grants),
            one.name == desk.person.name,
            (errors or {}).get(one.name, ""),
            one.has_password,
            f"/people/tokens?{urlencode({'of': one.name})}",
        )
        for one in shown
    )
    return PeopleView(views, form or PersonForm(), link, links)


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


async def sign_out(request: Request) -> Response:
    """Ends all visits of somebody."""
    desk = await Desk.open(request)
    fields = await desk.form()
    name = fields.get("name", "")
    await desk.running.quick.run(lambda: Administrators(desk.house).sign_out(desk.person, name))
    return led_to("/people", done="out")


async def tokens(request: Request) -> Response:
    """The tokens of somebody, to be revoked."""
    desk = await Desk.open(request)
    name = request.query_params.get("of", "")[:80]

    def made() -> TokensOfView:
        found = Administrators(desk.house).tokens(desk.person, name)
        return TokensOfView(
            name, tuple(TokenView(one.place, one.called, scope_words(one.scope), one.until) for one in found)
        )

    return await desk.show("tokens_of.html", "Tokens", made)


async def revoke(request: Request) -> Response:
    """Makes a token of somebody good no more."""
    desk = await Desk.open(request)
    fields = await desk.form()
    name, place = fields.get("name", ""), fields.get("place", "")
    await desk.running.quick.run(lambda: Administrators(desk.house).revoke(desk.person, name, place))
    return led_to("/people", done="revoked")


async def state(request: Request) -> Response:
    """How the service runs."""
    desk = await Desk.open(request)
    return await desk.show(
        "state.html", "The service", lambda: state_view(Administrators(desk.house).state(desk.person))
    )


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
    notices = (Notice(f"{name}: {wrong}", "bad"),)
    return await desk.show(
        "people.html", "People", lambda: _people(desk, errors={name: wrong}), status=422, notices=notices
    )


async def renew(request: Request) -> Response:
    """Draws a new one-time link for somebody."""
    desk = await Desk.open(request)
    fields = await desk.form()
    name = fields.get("name", "")

    def drawn() -> PeopleView:
        return _people(desk, link=_shown(desk, name, Administrators(desk.house).invite(desk.person, name)))

    return await desk.show("people.html", "People", drawn)
