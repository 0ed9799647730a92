"""The book: its pages, receipts, whether it verifies, and taking it away."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from sfumato.ledger.verify import Verdict
from sfumato.release.record import Receipt
from sfumato.server.answering import listed, number_of, said, written
from sfumato.server.calling import Calling
from sfumato.server.models import Cursor, DataSetName, Given, Many, PageGiven, VerifyBody
from sfumato.server.openapi import add, problems
from sfumato.server.reading import StrictRoute
from sfumato.service.auditors import Auditors
from sfumato.service.people import Person

LINES = "application/x-ndjson"
AT_ONCE = 500
"""Lines that are written in one turn of a thread."""


def router() -> APIRouter:
    """The routes of the book."""
    routes = APIRouter(prefix="/api/data-sets/{data_set}/book", tags=["book"], route_class=StrictRoute)
    add(routes, "GET", "", pages, PageGiven)
    add(routes, "GET", "/head", head)
    add(routes, "GET", "/receipts", receipts, PageGiven)
    add(routes, "POST", "/verify", verify, Given, also=(504,))
    add(routes, "POST", "/checkpoint", checkpoint, Given, also=(409,))
    routes.add_api_route(
        "/export",
        export,
        methods=["GET"],
        response_class=StreamingResponse,
        responses={200: {"content": {LINES: {}}}, **problems()},
    )
    return routes


async def pages(call: Calling, data_set: DataSetName, cursor: Cursor = None, many: Many = 50) -> Response:
    """Lists the entries of a data set, in order, without answers."""
    after = number_of(cursor)

    def look(person: Person) -> dict[str, Any]:
        page = Auditors(call.house).book(person, data_set, after=after, many=many)
        return listed(page.items, page.after)

    return written(await call.run(look))


async def head(call: Calling, data_set: DataSetName) -> Response:
    """Gives the receipt of the last entry; keep it elsewhere, and nothing before it can be cut off unseen."""
    return written(await call.run(lambda person: said(Auditors(call.house).head(person, data_set))))


async def receipts(call: Calling, data_set: DataSetName, cursor: Cursor = None, many: Many = 50) -> Response:
    """Lists receipts, to be kept elsewhere."""
    after = number_of(cursor)

    def look(person: Person) -> dict[str, Any]:
        page = Auditors(call.house).receipts(person, data_set, after=after, many=many)
        return listed((one.receipt for one in page.items), page.after)

    return written(await call.run(look))


async def verify(call: Calling, data_set: DataSetName, body: VerifyBody) -> Response:
    """Reads the whole book again, and says which entries were changed, removed or moved."""
    kept = [Receipt(one.entry, one.digest, one.account, one.time) for one in body.receipts]
    signer = None if body.signer is None else bytes.fromhex(body.signer)

    def act(person: Person) -> dict[str, Any]:
        return _verdict(Auditors(call.house).verify(person, data_set, receipts=kept, signer=signer))

    return written(await call.run(act))


async def checkpoint(call: Calling, data_set: DataSetName) -> Response:
    """Writes a checkpoint into the book, signed where the service has a key."""
    return written(await call.run(lambda person: said(Auditors(call.house).checkpoint(person, data_set))))


async def export(call: Calling, data_set: DataSetName) -> Response:
    """Writes the book, a line of JSON for each entry, without answers."""

    def begin(person: Person) -> tuple[list[str], Iterator[str]]:
        lines = iter(Auditors(call.house).export(person, data_set))
        return list(islice(lines, AT_ONCE)), lines

    first, lines = await call.run(begin)

    async def written_out() -> AsyncIterator[bytes]:
        some = first
        while some:
            yield "".join(some).encode("utf-8", "surrogatepass")
            some = await call.running.quick.run(lambda: list(islice(lines, AT_ONCE)))

    return StreamingResponse(written_out(), media_type=LINES)


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {"sound": verdict.sound, "words": str(verdict), **said(verdict)}
