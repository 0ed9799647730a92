"""Answers: one's own and everybody's, in every form; and what is published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from sfumato.release.record import Release
from sfumato.server.answering import FORMS, form_asked, listed, number_of, release_written, said, tagged, written
from sfumato.server.calling import Calling
from sfumato.server.models import Cursor, DataSetName, EntryNumber, Many, PageGiven, PublishBody, ReasonBody
from sfumato.server.openapi import RELEASE_FORMS, add, problems
from sfumato.server.problems import Refused
from sfumato.server.reading import StrictRoute
from sfumato.service.analysts import Analysts
from sfumato.service.curators import Curators
from sfumato.service.people import Person

Of = Annotated[Literal["me", "all"], Query(description="Your own, or everybody's where you may see these.")]
TABLE_FORMS = {"json": "application/json", "html": "text/html", "latex": "application/x-latex", "csv": "text/csv"} | {
    "markdown": "text/markdown",
    "text": "text/plain",
}


def router() -> APIRouter:
    """The routes of answers."""
    routes = APIRouter(prefix="/api/data-sets/{data_set}", tags=["answers"], route_class=StrictRoute)
    add(routes, "GET", "/answers", answers, PageGiven)
    _add_release(routes, "/answers/{number}", answer)
    add(routes, "GET", "/answers/{number}/missing", missing)
    add(routes, "GET", "/releases", published, PageGiven)
    _add_release(routes, "/releases/{number}", published_answer)
    add(routes, "PUT", "/releases/{number}", publish, also=(409,))
    add(routes, "POST", "/releases/{number}/withdraw", withdraw, None, status=204)
    routes.add_api_route(
        "/release-table",
        release_table,
        methods=["GET"],
        response_class=Response,
        responses={200: {"content": {media: {} for media in TABLE_FORMS.values()}}, **problems(406, 409)},
    )
    return routes


def _add_release(routes: APIRouter, path: str, endpoint: Callable[..., Any]) -> None:
    routes.add_api_route(
        path,
        endpoint,
        methods=["GET"],
        response_class=Response,
        responses={200: RELEASE_FORMS, 304: {"description": "unchanged"}, **problems(406, 501)},
    )


async def answers(
    call: Calling, data_set: DataSetName, of: Of = "me", cursor: Cursor = None, many: Many = 50
) -> Response:
    """Lists answers, in the order of the book: what was asked, when, by whom, at what price."""
    after = number_of(cursor)

    def look(person: Person) -> dict[str, Any]:
        cases = Analysts(call.house) if of == "me" else Curators(call.house)
        page = cases.answers(person, data_set, after=after, many=many)
        return listed(page.items, page.after)

    return written(await call.run(look))


async def answer(
    call: Calling, request: Request, data_set: DataSetName, number: EntryNumber, of: Of = "me"
) -> Response:
    """Gives one answer by its number, in the form that is asked for."""

    def look(person: Person) -> Release:
        cases = Analysts(call.house) if of == "me" else Curators(call.house)
        return cases.answer(person, data_set, number)

    return await _release(call, request, number, look)


async def missing(call: Calling, data_set: DataSetName, number: EntryNumber) -> Response:
    """Says what an answer still lacks before it may be published."""
    lacks = await call.run(lambda person: Curators(call.house).missing(person, data_set, number))
    return written({"missing": lacks})


async def published(call: Calling, request: Request, data_set: DataSetName) -> Response:
    """Lists what is published of a data set."""

    def look(person: Person) -> Response:
        made = listed(Curators(call.house).published(person, data_set))
        return tagged(request, bytes(written(made).body), "application/json")

    return await call.run(look)


async def published_answer(call: Calling, request: Request, data_set: DataSetName, number: EntryNumber) -> Response:
    """Gives a published answer, in the form that is asked for."""
    return await _release(
        call, request, number, lambda person: Curators(call.house).published_answer(person, data_set, number)
    )


async def publish(call: Calling, data_set: DataSetName, number: EntryNumber, body: PublishBody) -> Response:
    """Publishes an answer: everybody who may read of the data set sees it."""
    made = await call.run(lambda person: Curators(call.house).publish(person, data_set, number, title=body.title))
    return written(said(made))


async def withdraw(call: Calling, data_set: DataSetName, number: EntryNumber, body: ReasonBody) -> Response:
    """Shows a published answer no more."""
    await call.run(lambda person: Curators(call.house).withdraw(person, data_set, number, reason=body.reason))
    return Response(None, 204)


async def release_table(
    call: Calling,
    request: Request,
    data_set: DataSetName,
    delta: Annotated[str | None, Query(max_length=60, description="The δ at which to state ε.")] = None,
) -> Response:
    """Gives the release table of a data set, from the book alone."""
    form = form_asked(request)
    if form not in TABLE_FORMS:
        raise Refused(406, f"There is no such form: one of {', '.join(TABLE_FORMS)}.")

    def look(person: Person) -> str:
        table = Curators(call.house).release_table(person, data_set, delta=delta)
        text: str = getattr(table, f"to_{form}")()
        return text

    return Response(await call.run(look), media_type=TABLE_FORMS[form])


async def _release(call: Calling, request: Request, number: int, find: Callable[[Person], Release]) -> Response:
    form = form_asked(request)

    def look(person: Person) -> Response:
        made = release_written(find(person), form, number)
        return tagged(request, bytes(made.body), FORMS[form], headers=dict(made.headers))

    return await call.run(look)
