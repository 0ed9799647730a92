"""What auditors see: the book without answers, whether it is sound, and its export."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sfumato.ledger.verify import Verdict
from sfumato.server.pages.desk import Desk
from sfumato.server.pages.views.auditing import BookView, book_view, receipts_of
from sfumato.service.auditors import Auditors
from sfumato.service.rights import Action

MANY = 100
LONGEST_RECEIPTS = 200_000


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False, prefix="/data/{data_set}/book")
    routes.add_api_route("", book, methods=["GET"])
    routes.add_api_route("/verify", verify, methods=["POST"])
    routes.add_api_route("/export", export, methods=["GET"])
    return routes


async def book(request: Request) -> Response:
    """The entries of a data set."""
    desk = await Desk.open(request)
    after = desk.number("after")
    return await desk.show("audit.html", "The book", lambda: _book(desk, after))


def _book(desk: Desk, after: int, *, verdict: Verdict | None = None, receipts: str = "", wrong: str = "") -> BookView:
    auditors = Auditors(desk.house)
    page = auditors.book(desk.person, desk.data_set, after=after, many=MANY)
    return book_view(
        page.items,
        page.after,
        auditors.head(desk.person, desk.data_set),
        desk.data_set,
        begun=after,
        verdict=verdict,
        receipts=receipts,
        wrong=wrong,
        export=desk.person.may(Action.EXPORT_BOOK, desk.data_set).allowed,
    )


async def verify(request: Request) -> Response:
    """Reads the whole book again, and says whether it is sound."""
    desk = await Desk.open(request)
    fields = await desk.form()
    text = fields.get("receipts", "")[:LONGEST_RECEIPTS]
    receipts, wrong = receipts_of(text)

    def made() -> BookView:
        if wrong:
            return _book(desk, 0, receipts=text, wrong=wrong)
        verdict = Auditors(desk.house).verify(desk.person, desk.data_set, receipts=receipts)
        return _book(desk, 0, verdict=verdict, receipts=text)

    return await desk.show("audit.html", "The book", made, status=422 if wrong else 200, pool=desk.running.questions)


async def export(request: Request) -> Response:
    """The book as a file of lines, without answers."""
    desk = await Desk.open(request)
    lines: Iterator[str] = await desk.running.quick.run(lambda: Auditors(desk.house).export(desk.person, desk.data_set))
    name = f"book-{desk.data_set}.jsonl"
    return StreamingResponse(
        lines, media_type="application/jsonl", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
