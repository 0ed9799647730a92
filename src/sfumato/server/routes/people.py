"""People: who there is, what they are, how they are let in; and how the service runs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.server.answering import check_unchanged, etag, listed, said, tagged, written
from sfumato.server.calling import Calling
from sfumato.server.models import Given, GrantBody, GrantsBody, LinkGiven, PageGiven, PersonBody, PersonName, Place
from sfumato.server.openapi import add
from sfumato.server.reading import StrictRoute
from sfumato.service.administrators import Administrators
from sfumato.service.people import Known, Person, Secret
from sfumato.service.rights import Grant


def router() -> APIRouter:
    """The routes of people."""
    routes = APIRouter(prefix="/api", tags=["people"], route_class=StrictRoute)
    add(routes, "GET", "/state", state)
    add(routes, "GET", "/people", people, PageGiven)
    add(routes, "POST", "/people", add_person, LinkGiven, status=201, also=(409,))
    add(routes, "PUT", "/people/{name}/grants", set_grants, Given, also=(409, 412))
    add(routes, "POST", "/people/{name}/invite", invite, LinkGiven)
    add(routes, "POST", "/people/{name}/sign-out", sign_out, None, status=204)
    add(routes, "DELETE", "/people/{name}", leave, None, status=204, also=(409,))
    add(routes, "GET", "/people/{name}/tokens", tokens, PageGiven)
    add(routes, "DELETE", "/people/{name}/tokens/{place}", revoke, None, status=204, also=(409,))
    return routes


async def state(call: Calling) -> Response:
    """Says how the service runs; nothing of any data."""
    return written(await call.run(lambda person: said(Administrators(call.house).state(person))))


async def people(call: Calling, request: Request) -> Response:
    """Lists everybody, also those who have left."""

    def look(person: Person) -> Response:
        made = listed(Administrators(call.house).people(person))
        return tagged(request, bytes(written(made).body), "application/json")

    return await call.run(look)


async def add_person(call: Calling, body: PersonBody) -> Response:
    """Adds somebody; with the link that is given they choose a password."""
    made = await call.run(lambda person: Administrators(call.house).add(person, body.name, _grants(body.grants)))
    return written(_link(made), 201)


async def set_grants(call: Calling, request: Request, name: PersonName, body: GrantsBody) -> Response:
    """Says anew what somebody is; with If-Match only if it is still what you have seen."""

    def act(person: Person) -> Response:
        administrators = Administrators(call.house)
        before = next((one for one in administrators.people(person) if one.name == name), None)
        if before is not None:
            check_unchanged(request, _tag(before), needed=False)
        administrators.set_grants(person, name, _grants(body.grants))
        now = next(one for one in administrators.people(person) if one.name == name)
        return written(said(now), headers={"etag": _tag(now)})

    return await call.run(act)


async def invite(call: Calling, name: PersonName) -> Response:
    """Draws a new one-time link for somebody; older ones are good no more."""
    return written(_link(await call.run(lambda person: Administrators(call.house).invite(person, name))))


async def sign_out(call: Calling, name: PersonName) -> Response:
    """Ends all visits of somebody."""
    await call.run(lambda person: Administrators(call.house).sign_out(person, name))
    return Response(None, 204)


async def leave(call: Calling, name: PersonName) -> Response:
    """Lets somebody in no more."""
    await call.run(lambda person: Administrators(call.house).leave(person, name))
    return Response(None, 204)


async def tokens(call: Calling, name: PersonName) -> Response:
    """Lists the tokens of somebody."""
    return written(await call.run(lambda person: listed(Administrators(call.house).tokens(person, name))))


async def revoke(call: Calling, name: PersonName, place: Place) -> Response:
    """Makes a token of somebody good no more."""
    await call.run(lambda person: Administrators(call.house).revoke(person, name, place))
    return Response(None, 204)


def _grants(bodies: list[GrantBody]) -> list[Grant]:
    return [Grant(one.role, one.data_set) for one in bodies]


def _link(secret: Secret) -> dict[str, Any]:
    return {"link": secret.text, "until": secret.until.isoformat()}


def _tag(known: Known) -> str:
    return etag(known.name.encode(), known.grants, known.active)
