"""What curators see: the checklist, publishing, an entry for a registry; and what is published, for readers."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import BadArgument, NoProvenRoute, SfumatoError
from sfumato.release.registry import RegistryEntry
from sfumato.release.table import ReleaseTable
from sfumato.server.pages.desk import Desk, led_to
from sfumato.server.pages.routes.asking import GRAVE, MANY
from sfumato.server.pages.shell import Link, Notice, address_of
from sfumato.server.pages.views.answers import answer_view, rows_of
from sfumato.server.pages.views.curating import (
    STATED,
    TABLE_FORMS,
    PublishedView,
    PublishView,
    RegistryView,
    checklist_view,
    registry_view,
    table_listing,
)
from sfumato.server.problems import Refused
from sfumato.service.analysts import Analysts
from sfumato.service.curators import Curators

FEW = 10
"""Releases with their charts that one page shows."""

LONGEST = 400
DELTA = "1e-9"
"""The δ at which the ε of another kind of loss is stated on the page."""


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    own = "/data/{data_set}"
    routes.add_api_route(f"{own}/checklist", checklist, methods=["GET"])
    routes.add_api_route(f"{own}/checklist", settle, methods=["POST"])
    routes.add_api_route(f"{own}/checklist/begin", begin, methods=["POST"])
    routes.add_api_route(f"{own}/publish", publishing, methods=["GET"])
    routes.add_api_route(f"{own}/publish", publish, methods=["POST"])
    routes.add_api_route(f"{own}/publish/table/{{form}}", table, methods=["GET"])
    routes.add_api_route(f"{own}/publish/registry", registry, methods=["GET"])
    routes.add_api_route(f"{own}/publish/registry/{{form}}", registry_file, methods=["GET"])
    routes.add_api_route(f"{own}/published", published, methods=["GET"])
    return routes


async def checklist(request: Request) -> Response:
    """The checklist."""
    desk = await Desk.open(request)
    curators = Curators(desk.house)
    return await desk.show(
        "checklist.html",
        "Checklist",
        lambda: checklist_view(curators.checklist(desk.person, desk.data_set), desk.data_set),
    )


async def begin(request: Request) -> Response:
    """Begins to keep a checklist."""
    desk = await Desk.open(request)
    await desk.form()
    await desk.running.quick.run(lambda: Curators(desk.house).begin_checklist(desk.person, desk.data_set))
    return desk.leads("/checklist", done="kept")


async def settle(request: Request) -> Response:
    """Closes an item, opens it again, or names its owner."""
    desk = await Desk.open(request)
    fields = await desk.form()
    words = {"close": "evidence", "reopen": "why", "assign": "owner"}.get(fields.get("move", ""), "")
    said = {words: fields.get("words", "")[:4_000]} if words else {}
    await desk.running.quick.run(
        lambda: Curators(desk.house).set_item(desk.person, desk.data_set, fields.get("item", ""), **said)
    )
    return led_to(address_of(desk.data_set, "/checklist"), done="kept")


async def publishing(request: Request) -> Response:
    """The page from which answers are published."""
    desk = await Desk.open(request)
    after = desk.number("after")
    return await desk.show("publish.html", "Publish", lambda: _publishing(desk, after))


def _publishing(desk: Desk, after: int) -> PublishView:
    person, name, curators = desk.person, desk.data_set, Curators(desk.house)
    shown = frozenset(one.answer for one in curators.published(person, name))
    page = curators.answers(person, name, after=after, many=MANY)
    own = address_of(name, "/publish")
    links = [Link("From the beginning", own)] if after else []
    links += [Link("Later answers", f"{own}?after={page.after}")] if page.after is not None else []
    missing, stated = _stated(desk) if page.items else ((), None)
    return PublishView(
        missing,
        None if stated is None else table_listing(stated),
        rows_of(page.items, published=shown),
        own,
        address_of(name, "/published"),
        f"{own}/registry",
        downloads=tuple(Link(label, f"{own}/table/{form}") for form, (label, _, _) in TABLE_FORMS.items()),
        pages=tuple(links),
        openly=desk.house.settings.publish_openly,
    )


def _stated(desk: Desk) -> tuple[tuple[str, ...], ReleaseTable | None]:
    """What all releases together lack, and their table; a δ is taken only where the loss has no ε without one."""
    curators = Curators(desk.house)
    for delta in (None, DELTA):
        try:
            missing = curators.missing_for_publication(desk.person, desk.data_set, delta=delta)
            return tuple(missing), curators.release_table(desk.person, desk.data_set, delta=delta)
        except (BadArgument, NoProvenRoute):
            continue
    return (), None


def _file(content: str, media: str, name: str) -> Response:
    return Response(content, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})


async def table(request: Request) -> Response:
    """The release table as a file."""
    desk = await Desk.open(request)
    form = str(request.path_params["form"])
    if form not in TABLE_FORMS:
        raise Refused(404, f"There is no such form: one of {', '.join(TABLE_FORMS)}.")
    _, media, ending = TABLE_FORMS[form]

    def written() -> str:
        _, stated = _stated(desk)
        if stated is None:
            raise Refused(404, "There is no release to state anything of yet.")
        text: str = getattr(stated, f"to_{form}")()
        return text

    content = await desk.running.quick.run(written)
    return _file(content, media, f"release-table-{desk.data_set}.{ending}")


def _entry(desk: Desk) -> tuple[RegistryEntry, dict[str, str]]:
    """The entry for a registry, with what the address states of it."""
    said = {name: desk.request.query_params.get(name, "").strip()[:LONGEST] for name in STATED}
    stated = {name: text for name, text in said.items() if text}
    return Curators(desk.house).registry_entry(desk.person, desk.data_set, **stated), stated


async def registry(request: Request) -> Response:
    """The entry of a data set for a registry of deployments; what is stated stands in the address, and is not kept."""
    desk = await Desk.open(request)

    def made() -> RegistryView:
        entry, stated = _entry(desk)
        return registry_view(entry, stated, desk.data_set)

    return await desk.show("registry.html", "Entry of a registry", made)


async def registry_file(request: Request) -> Response:
    """The entry for a registry as a file."""
    desk = await Desk.open(request)
    form = str(request.path_params["form"])
    if form not in ("csv", "json"):
        raise Refused(404, "There is no such form: csv or json.")

    def written() -> str:
        entry, _ = _entry(desk)
        return entry.to_csv() if form == "csv" else entry.to_json()

    media = "text/csv" if form == "csv" else "application/json"
    return _file(await desk.running.quick.run(written), media, f"registry-{desk.data_set}.{form}")


async def publish(request: Request) -> Response:
    """Publishes an answer, or withdraws it from the page."""
    desk = await Desk.open(request)
    fields = await desk.form()
    text = fields.get("number", "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
    withdraws = fields.get("do") == "withdraw"

    def done() -> str:
        curators = Curators(desk.house)
        words = fields.get("words", "").strip()[:200]
        try:
            if withdraws:
                curators.withdraw(desk.person, desk.data_set, number, reason=words)
            else:
                curators.publish(desk.person, desk.data_set, number, title=words)
        except GRAVE:
            raise
        except SfumatoError as refusal:
            return str(refusal)
        return ""

    wrong = await desk.running.quick.run(done)
    if not wrong:
        return desk.leads("/publish", done="withdrawn" if withdraws else "published")
    notices = (Notice(wrong, "bad"),)
    return await desk.show("publish.html", "Publish", lambda: _publishing(desk, 0), status=422, notices=notices)


async def published(request: Request) -> Response:
    """The page that readers see."""
    desk = await Desk.open(request)
    return await desk.show("published.html", "Published", lambda: _published(desk))


def _published(desk: Desk) -> PublishedView:
    person, name, curators = desk.person, desk.data_set, Curators(desk.house)
    codebook = Analysts(desk.house).codebook(person, name)
    views, own = [], address_of(name, "/published")
    shown, page = curators.published(person, name)[::-1], max(1, desk.number("page", 1))
    for one in shown[FEW * (page - 1) : FEW * page]:
        release = curators.published_answer(person, name, one.answer)
        views.append(answer_view(release, desk.studio.drawings, data_set=name, number=one.answer, title=one.title))
    links = [Link("Later ones", f"{own}?page={page - 1}")] if page > 1 else []
    links += [Link("Earlier ones", f"{own}?page={page + 1}")] if len(shown) > FEW * page else []
    return PublishedView(codebook.title or name, codebook.description, tuple(views), pages=tuple(links))
