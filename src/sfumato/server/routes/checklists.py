"""Checklists of deployments: begun once, and item by item settled on evidence."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import BadArgument
from sfumato.release.checklist import Checklist
from sfumato.server.answering import check_unchanged, etag, tagged, written
from sfumato.server.calling import Calling
from sfumato.server.models import ChecklistBody, DataSetName, Given, ItemBody
from sfumato.server.openapi import add
from sfumato.server.reading import StrictRoute
from sfumato.service.curators import Curators
from sfumato.service.people import Person

Item = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]{0,60}$", description="The name of an item.")]


def router() -> APIRouter:
    """The routes of checklists."""
    routes = APIRouter(prefix="/api/data-sets/{data_set}/checklist", tags=["checklists"], route_class=StrictRoute)
    add(routes, "GET", "", checklist)
    add(routes, "POST", "", begin, Given, status=201)
    add(routes, "PATCH", "/{item}", set_item, Given, also=(409, 412))
    return routes


async def checklist(call: Calling, request: Request, data_set: DataSetName) -> Response:
    """Gives the checklist of a data set as it stands."""

    def look(person: Person) -> Response:
        kept = Curators(call.house).checklist(person, data_set)
        if kept is None:
            raise BadArgument("the checklist", "one that there is", data_set)
        return tagged(request, bytes(written(_said(kept)).body), "application/json")

    return await call.run(look)


async def begin(call: Calling, data_set: DataSetName, body: ChecklistBody) -> Response:
    """Begins a checklist: from then on nothing is released while something mandatory is open."""
    mandatory = None if body.mandatory is None else frozenset(body.mandatory)
    made = await call.run(
        lambda person: _said(Curators(call.house).begin_checklist(person, data_set, mandatory=mandatory))
    )
    return written(made, 201)


async def set_item(call: Calling, request: Request, data_set: DataSetName, item: Item, body: ItemBody) -> Response:
    """Settles an item, opens it again, or names who looks after it."""

    def act(person: Person) -> Response:
        curators = Curators(call.house)
        before = curators.checklist(person, data_set)
        if before is not None:
            check_unchanged(request, etag(bytes(written(_said(before)).body)), needed=False)
        made = curators.set_item(person, data_set, item, evidence=body.evidence, why=body.why, owner=body.owner)
        return written(_said(made))

    return await call.run(act)


def _said(kept: Checklist) -> dict[str, Any]:
    return {"open": sorted(kept.blocking), "checklist": kept.to_plain()}
