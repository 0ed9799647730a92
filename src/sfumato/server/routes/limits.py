"""Limits: where they stand, requests for shares, decisions, shares, and how shares are decided on."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import BadArgument
from sfumato.server.answering import listed, number_of, said, tagged, written
from sfumato.server.calling import Calling
from sfumato.server.losses import needed_loss_in
from sfumato.server.models import (
    Cursor,
    DataSetName,
    DecisionBody,
    EntryNumber,
    Given,
    Many,
    PageGiven,
    PolicyBody,
    ReasonBody,
    RequestBody,
    ShareBody,
)
from sfumato.server.openapi import add
from sfumato.server.reading import StrictRoute
from sfumato.service.analysts import Analysts
from sfumato.service.owners import Owners
from sfumato.service.people import Person

Of = Annotated[Literal["me", "all"], Query(description="Your own, or everybody's where you may see these.")]
ShareName = Annotated[
    str, Path(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}(\+[0-9]{1,6})?$", description="Whose share it is.")
]

Undecided = Annotated[bool, Query(description="Those alone on which nothing is decided yet.")]


def router() -> APIRouter:
    """The routes of limits."""
    routes = APIRouter(prefix="/api/data-sets/{data_set}", tags=["limits"], route_class=StrictRoute)
    add(routes, "GET", "/limits", limits, PageGiven)
    add(routes, "GET", "/shares", shares, PageGiven)
    add(routes, "GET", "/spending", spending, PageGiven)
    add(routes, "GET", "/requests", requests, PageGiven)
    add(routes, "POST", "/requests", request_share, Given, status=201, also=(409,))
    add(routes, "POST", "/requests/{number}/decisions", decide, Given, also=(409,))
    add(routes, "PUT", "/shares/{share}", open_share, Given, also=(409,))
    add(routes, "POST", "/shares/{share}/close", close_share, Given, also=(409,))
    add(routes, "GET", "/policy", policy)
    add(routes, "PUT", "/policy", set_policy, also=(409,))
    return routes


async def limits(call: Calling, request: Request, data_set: DataSetName) -> Response:
    """Gives the tree of limits: of the data set, and of every share, with what was spent and is left."""

    def look(person: Person) -> Response:
        return tagged(request, bytes(written(listed(Owners(call.house).limits(person, data_set))).body), JSON)

    return await call.run(look)


JSON = "application/json"


async def shares(call: Calling, data_set: DataSetName) -> Response:
    """Lists your own shares as they stand; the last one pays."""
    made = await call.run(lambda person: listed(Analysts(call.house).shares(person, data_set)))
    return written(made)


async def spending(call: Calling, data_set: DataSetName, cursor: Cursor = None, many: Many = 50) -> Response:
    """Lists what was charged to your own shares."""
    after = number_of(cursor)

    def look(person: Person) -> dict[str, Any]:
        page = Analysts(call.house).spending(person, data_set, after=after, many=many)
        return listed(page.items, page.after)

    return written(await call.run(look))


async def requests(call: Calling, data_set: DataSetName, *, of: Of = "me", undecided: Undecided = False) -> Response:
    """Lists requests for shares, with what was decided on them and why."""

    def look(person: Person) -> dict[str, Any]:
        if of == "me":
            mine = Analysts(call.house).requests(person, data_set)
            return listed(one for one in mine if not (undecided and (one.granted or one.declined)))
        return listed(Owners(call.house).requests(person, data_set, undecided=undecided))

    return written(await call.run(look))


async def request_share(call: Calling, data_set: DataSetName, body: RequestBody) -> Response:
    """Asks the owners of the limit for a share of your own."""
    loss = needed_loss_in(body)
    made = await call.run(
        lambda person: Analysts(call.house).request_share(person, data_set, loss, purpose=body.purpose)
    )
    return written(said(made), 201)


async def decide(call: Calling, data_set: DataSetName, number: EntryNumber, body: DecisionBody) -> Response:
    """Grants or declines a request, for a reason that is written down."""
    until = moment_in(body.until)

    def act(person: Person) -> Any:
        owners = Owners(call.house)
        return said(owners.decide(person, data_set, number, grants=body.grants, reason=body.reason, until=until))

    return written(await call.run(act))


async def open_share(call: Calling, data_set: DataSetName, share: ShareName, body: ShareBody) -> Response:
    """Opens a share for somebody who has not requested it."""
    loss, until = needed_loss_in(body), moment_in(body.until)

    def act(person: Person) -> Any:
        owners = Owners(call.house)
        return said(
            owners.open_share(person, data_set, share, loss, reason=body.reason, until=until, period=body.period)
        )

    return written(await call.run(act))


async def close_share(call: Calling, data_set: DataSetName, share: ShareName, body: ReasonBody) -> Response:
    """Closes a share before its time; what it held and has not spent is free again."""
    made = await call.run(
        lambda person: said(Owners(call.house).close_share(person, data_set, share, reason=body.reason))
    )
    return written(made)


async def policy(call: Calling, data_set: DataSetName) -> Response:
    """Says how shares are decided on."""
    return written(await call.run(lambda person: said(Owners(call.house).policy(person, data_set))))


async def set_policy(call: Calling, data_set: DataSetName, body: PolicyBody) -> Response:
    """Says how many people must grant a share from now on."""

    def act(person: Person) -> Any:
        return said(Owners(call.house).set_policy(person, data_set, needed=body.needed, reason=body.reason))

    return written(await call.run(act))


def moment_in(text: str | None) -> datetime | None:
    """Reads a moment with its time zone; None where nothing is said."""
    if text is None:
        return None
    try:
        made: datetime | None = datetime.fromisoformat(text)
    except ValueError:
        made = None
    if made is None or made.tzinfo is None:
        raise BadArgument("until", "a moment with its time zone, such as 2026-12-31T23:59:59+00:00", text)
    return made
