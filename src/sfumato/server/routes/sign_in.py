"""Signing in with a program: a name and a password for a token; tokens of one's own."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, final

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import BadArgument
from sfumato.server.answering import listed as page
from sfumato.server.answering import written
from sfumato.server.calling import Calling
from sfumato.server.models import Given, Place, SignInBody, Taken
from sfumato.server.openapi import problems
from sfumato.server.reading import StrictRoute
from sfumato.server.running import running_of
from sfumato.server.signing_in import password_checked
from sfumato.service.people import TOKEN, Person, Secret
from sfumato.service.rights import Action
from sfumato.service.tokens import Tokens

DAYS = 90
SIGNED_IN = timedelta(hours=1)
"""How long a token for a password is good: it is good for everything, also to draw others."""


@final
class TokenBody(Taken):
    """What a token is called, for how long it is good, and for what alone (else for all that you may do)."""

    called: Annotated[str, Field(min_length=1, max_length=80)]
    days: Annotated[int, Field(ge=1, le=90)] = DAYS
    scope: Annotated[list[str], Field(max_length=50)] | None = None


class TokenGiven(Given):
    """A token: its text is shown this once, and kept nowhere."""

    token: str
    place: str
    until: str


def router() -> APIRouter:
    """The routes of signing in."""
    routes = APIRouter(prefix="/api", tags=["signing in"], route_class=StrictRoute)
    routes.add_api_route(
        "/sign-in",
        enter,
        methods=["POST"],
        response_model=TokenGiven,
        responses=problems(),
        openapi_extra={"security": []},
    )
    routes.add_api_route("/me", who, methods=["GET"], response_model=Given, responses=problems())
    routes.add_api_route("/tokens", listed, methods=["GET"], response_model=Given, responses=problems())
    routes.add_api_route(
        "/tokens", issue, methods=["POST"], response_model=TokenGiven, status_code=201, responses=problems()
    )
    routes.add_api_route("/tokens/{place}", revoke, methods=["DELETE"], status_code=204, responses=problems())
    return routes


async def enter(request: Request, body: SignInBody) -> Response:
    """Gives a token, good for an hour, for a name and a password. For longer, draw one that is good for less."""
    running = running_of(request)
    person = await password_checked(request, body.name, body.password)
    secret = await running.quick.run(
        lambda: running.house.people.issue(TOKEN, person.name, lasts=SIGNED_IN, called="signed in by password")
    )
    return written(_shown(secret))


async def who(call: Calling) -> Response:
    """Says who you are, what you are for which data sets, and what this token is good for."""

    def look(person: Person) -> dict[str, Any]:
        return {
            "name": person.name,
            "grants": [{"role": grant.role, "data_set": grant.data_set} for grant in person.grants],
            "scope": None if person.scope is None else sorted(action.name for action in person.scope),
        }

    return written(await call.run(look))


async def listed(call: Calling) -> Response:
    """Lists your tokens: what each is called, and when it ends."""

    return written(await call.run(lambda person: page(Tokens(call.house).mine(person))))


async def issue(call: Calling, body: TokenBody) -> Response:
    """Draws a token of your own. One that is good for some actions only cannot draw one for more."""

    def draw(person: Person) -> Secret:
        lasts = timedelta(days=body.days)
        return Tokens(call.house).issue(person, body.called, scope=_scope(body.scope), lasts=lasts)

    return written(_shown(await call.run(draw)), 201)


async def revoke(call: Calling, place: Place) -> Response:
    """Makes one of your tokens good no more."""
    await call.run(lambda person: Tokens(call.house).revoke(person, place))
    return Response(None, 204)


def _scope(names: list[str] | None) -> frozenset[Action] | None:
    if names is None:
        return None
    known = Action.__members__
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadArgument("the scope", f"of {', '.join(known)}", unknown[0])
    return frozenset(known[name] for name in names)


def _shown(secret: Secret) -> dict[str, Any]:
    return {"token": secret.text, "place": secret.place, "until": secret.until.isoformat()}
