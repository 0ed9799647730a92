"""Data sets: which there are, what is public about each, and registering them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from sfumato.accounting.losses.measures import Loss
from sfumato.codebook.book import Codebook
from sfumato.errors import BadArgument
from sfumato.server.answering import check_unchanged, etag, listed, said, tagged, written
from sfumato.server.calling import Calling
from sfumato.server.losses import needed_loss_in
from sfumato.server.models import CodebookBody, DataSetGiven, DataSetName, LossBody, PageGiven, RegisterBody
from sfumato.server.openapi import add
from sfumato.server.reading import StrictRoute
from sfumato.server.uploading import check_own
from sfumato.service.analysts import Analysts
from sfumato.service.codebooks import read_codebook
from sfumato.service.curators import Curators
from sfumato.service.data_sets import Registration
from sfumato.service.people import Person
from sfumato.service.places import without_password
from sfumato.service.rights import Action


def router() -> APIRouter:
    """The routes of data sets."""
    routes = APIRouter(prefix="/api/data-sets", tags=["data sets"], route_class=StrictRoute)
    add(routes, "GET", "", all_of_them, PageGiven)
    add(routes, "GET", "/{data_set}", one, DataSetGiven)
    add(routes, "PUT", "/{data_set}", register, DataSetGiven, also=(409, 412, 428, 501))
    add(routes, "GET", "/{data_set}/codebook", codebook, None, also=(501,))
    add(routes, "GET", "/{data_set}/registration", registration)
    add(routes, "POST", "/{data_set}/codebook/check", check)
    return routes


async def all_of_them(call: Calling, request: Request) -> Response:
    """Lists the data sets that you may read of."""
    analysts = Analysts(call.house)

    def look(person: Person) -> Response:
        names = sorted(analysts.data_sets(person))
        return _tagged(request, listed({"name": name, "version": analysts.version(person, name)} for name in names))

    return await call.run(look)


async def one(call: Calling, request: Request, data_set: DataSetName) -> Response:
    """Says which version of a data set questions are about, and what you may do with it."""
    return await call.run(lambda person: _tagged(request, _of(call, person, data_set)))


async def codebook(
    call: Calling, request: Request, data_set: DataSetName, form: Annotated[Literal["json", "yaml"], Query()] = "json"
) -> Response:
    """Gives the codebook: what is public about the data."""
    analysts = Analysts(call.house)

    def look(person: Person) -> Response:
        book = analysts.codebook(person, data_set)
        if form == "yaml":
            return tagged(request, book.to_yaml().encode(), "application/yaml")
        return tagged(request, bytes(written(book.to_plain()).body), "application/json")

    return await call.run(look)


async def registration(call: Calling, data_set: DataSetName) -> Response:
    """Says what was registered, for curators: with where the data is, but not with what it takes to sign in there."""
    curators = Curators(call.house)

    def look(person: Person) -> Response:
        known = curators.registered(person, data_set)
        source = known.source
        places = (
            without_password(source) if isinstance(source, str) else {k: without_password(v) for k, v in source.items()}
        )
        return written(
            {
                "name": known.name,
                "source": places,
                "limit": said(known.limit),
                "version": known.version,
                "period": known.period,
                "engine": known.engine,
                "codebook": known.codebook.digest,
            },
            headers={"etag": _tag(known)},
        )

    return await call.run(look)


async def register(call: Calling, request: Request, data_set: DataSetName, body: RegisterBody) -> Response:
    """Registers data, or a new version of it; a change says in If-Match which registration it is to."""
    curators = Curators(call.house)

    def act(person: Person) -> Response:
        person.need(Action.REGISTER, data_set)
        made = _registration(data_set, body)
        check_own(call.running, data_set, made.source)
        before = _before(curators, person, data_set)
        if before is not None and before.plain != made.plain:
            check_unchanged(request, _tag(before), needed=True)
        curators.register(person, made)
        now = curators.registered(person, data_set)
        return written(_of(call, person, data_set), headers={"etag": _tag(now)})

    return await call.ask(act)


async def check(call: Calling, data_set: DataSetName, body: CodebookBody) -> Response:
    """Checks a codebook without any data."""
    curators = Curators(call.house)

    def look(person: Person) -> dict[str, Any]:
        checked = curators.check(person, data_set, body.codebook)
        return {"right": checked.codebook is not None, "wrong": checked.wrong, "doubts": list(checked.doubts)}

    return written(await call.run(look))


def _registration(name: str, body: RegisterBody) -> Registration:
    limit: Loss | dict[str, Loss]
    if isinstance(body.limit, LossBody):
        limit = needed_loss_in(body.limit)
    else:
        limit = {kind: needed_loss_in(one) for kind, one in body.limit.items()}
    book: Codebook = read_codebook(body.codebook)
    return Registration(name, body.source, book, limit, body.version, body.period, body.engine)


def _before(curators: Curators, person: Person, data_set: str) -> Registration | None:
    try:
        return curators.registered(person, data_set)
    except BadArgument:
        return None


def _of(call: Calling, person: Person, data_set: str) -> dict[str, Any]:
    analysts = Analysts(call.house)
    book = analysts.codebook(person, data_set)
    return {
        "name": data_set,
        "version": analysts.version(person, data_set),
        "codebook": book.digest,
        "title": book.document().headline,
        "may": sorted(action.name for action in Action if person.may(action, data_set).allowed),
    }


def _tagged(request: Request, made: dict[str, Any]) -> Response:
    return tagged(request, bytes(written(made).body), "application/json")


def _tag(known: Registration) -> str:
    return etag(known.version.encode(), known.codebook.digest, known.limit, known.period, known.engine)
