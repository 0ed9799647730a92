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

MANY, AT_ONCE = 100, 200
LONGEST_RECEIPTS = 200_000


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False, prefix="/data/{data_set}/book")
    routes.add_api_route("", book, methods=["GET"])
    routes.add_api_route("/verify", verify, methods=["POST"])
    routes.add_api_route("/checkpoint", checkpoint, methods=["POST"])
    routes.add_api_route("/receipts", receipts, methods=["GET"])
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
        signer=_signer(desk),
    )


def _signer(desk: Desk) -> str | None:
    """The key that checkpoints bear, in digits; empty where they are not signed, None for those who write none."""
    if not desk.person.may(Action.VERIFY, desk.data_set).allowed:
        return None
    key = Auditors(desk.house).signer(desk.person, desk.data_set)
    return "" if key is None else key.hex()


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


async def checkpoint(request: Request) -> Response:
    """Writes a checkpoint into the book, signed where the service has a key."""
    desk = await Desk.open(request)
    await desk.form()
    await desk.running.questions.run(lambda: Auditors(desk.house).checkpoint(desk.person, desk.data_set))
    return desk.leads("/book", done="signed")


async def receipts(request: Request) -> Response:
    """Receipts of the entries of a data set as a file, one a line, as the form takes them to verify."""
    desk = await Desk.open(request)

    def begun() -> Iterator[str]:
        auditors = Auditors(desk.house)
        auditors.receipts(desk.person, desk.data_set, many=1)  # whoever may not is told so before a file begins
        return _receipts(auditors, desk)

    lines: Iterator[str] = await desk.running.quick.run(begun)
    return _file(lines, "text/plain", f"receipts-{desk.data_set}.txt")


def _receipts(auditors: Auditors, desk: Desk) -> Iterator[str]:
    after: int | None = 0
    while after is not None:
        page = auditors.receipts(desk.person, desk.data_set, after=after, many=AT_ONCE)
        yield "".join(f"{one.number} {one.receipt.digest}\n" for one in page.items)
        after = page.after


async def export(request: Request) -> Response:
    """The book as a file of lines, without answers."""
    desk = await Desk.open(request)
    lines: Iterator[str] = await desk.running.quick.run(lambda: Auditors(desk.house).export(desk.person, desk.data_set))
    return _file(lines, "application/jsonl", f"book-{desk.data_set}.jsonl")


def _file(lines: Iterator[str], media: str, name: str) -> Response:
    """Sends lines as a file; the name of a data set that is registered has nothing in it that a header could not."""
    return StreamingResponse(lines, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})
