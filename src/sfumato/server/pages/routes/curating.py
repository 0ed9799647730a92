"""What curators see: registering data, the checklist, publishing; and the page of what is published, for readers."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import BadArgument, NoProvenRoute, NotAllowed, SfumatoError
from sfumato.server.pages.desk import Desk, led_to
from sfumato.server.pages.routes.asking import GRAVE, MANY
from sfumato.server.pages.shell import Link, address_of, has_role
from sfumato.server.pages.views.amounts import LossForm, read_loss_fields
from sfumato.server.pages.views.answers import answer_view, rows_of
from sfumato.server.pages.views.cells import Listing
from sfumato.server.pages.views.curating import (
    PublishedView,
    PublishView,
    RegisterForm,
    RegisterView,
    checklist_view,
    table_listing,
)
from sfumato.service.analysts import Analysts
from sfumato.service.codebooks import read_codebook
from sfumato.service.curators import Curators
from sfumato.service.data_sets import Registration
from sfumato.service.rights import Action, Role

FIELDS = ("name", "version", "source", "codebook", "period")
DELTA = "1e-9"
"""The δ at which the ε of another kind of loss is stated on the page."""


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    routes.add_api_route("/register", register, methods=["GET"])
    routes.add_api_route("/register", registered, methods=["POST"])
    own = "/data/{data_set}"
    routes.add_api_route(f"{own}/checklist", checklist, methods=["GET"])
    routes.add_api_route(f"{own}/checklist", settle, methods=["POST"])
    routes.add_api_route(f"{own}/checklist/begin", begin, methods=["POST"])
    routes.add_api_route(f"{own}/publish", publishing, methods=["GET"])
    routes.add_api_route(f"{own}/publish", publish, methods=["POST"])
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
    missing, table = _stated(desk) if page.items else ((), None)
    return PublishView(
        missing, table, rows_of(page.items, published=shown), own, address_of(name, "/published"), pages=tuple(links)
    )


def _stated(desk: Desk) -> tuple[tuple[str, ...], Listing | None]:
    """What all releases together lack, and their table; a δ is taken only where the loss has no ε without one."""
    curators = Curators(desk.house)
    for delta in (None, DELTA):
        try:
            missing = curators.missing_for_publication(desk.person, desk.data_set, delta=delta)
            return tuple(missing), table_listing(curators.release_table(desk.person, desk.data_set, delta=delta))
        except (BadArgument, NoProvenRoute):
            continue
    return (), None


async def publish(request: Request) -> Response:
    """Publishes an answer, or withdraws it from the page."""
    desk = await Desk.open(request)
    fields = await desk.form()
    text = fields.get("number", "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
    withdraws = fields.get("do") == "withdraw"

    def done() -> None:
        curators = Curators(desk.house)
        words = fields.get("words", "").strip()[:200]
        if withdraws:
            curators.withdraw(desk.person, desk.data_set, number, reason=words)
        else:
            curators.publish(desk.person, desk.data_set, number, title=words)

    await desk.running.quick.run(done)
    return desk.leads("/publish", done="withdrawn" if withdraws else "published")


async def published(request: Request) -> Response:
    """The page that readers see."""
    desk = await Desk.open(request)
    return await desk.show("published.html", "Published", lambda: _published(desk))


def _published(desk: Desk) -> PublishedView:
    person, name, curators = desk.person, desk.data_set, Curators(desk.house)
    codebook = Analysts(desk.house).codebook(person, name)
    views = []
    for one in curators.published(person, name)[-MANY:]:
        release = curators.published_answer(person, name, one.answer)
        views.append(answer_view(release, desk.studio.drawings, data_set=name, number=one.answer, title=one.title))
    return PublishedView(codebook.title or name, codebook.description, tuple(reversed(views)))


async def register(request: Request) -> Response:
    """The page on which data is registered."""
    desk = await Desk.open(request)
    return await desk.show("register.html", "Register data", lambda: _register(desk, RegisterForm(LossForm("any"))))


def _register(desk: Desk, form: RegisterForm) -> RegisterView:
    if not has_role(desk.person, Role.CURATOR):
        desk.person.need(Action.REGISTER)
    return RegisterView("/register", form)


async def registered(request: Request) -> Response:
    """Registers data, or a new version of it."""
    desk = await Desk.open(request)
    fields = await desk.form()
    said = {name: fields.get(name, "").strip() for name in FIELDS}
    wrong = await desk.running.questions.run(lambda: _try_to_register(desk, said, fields))
    if not wrong:
        return led_to(address_of(said["name"]), done="registered")
    form = RegisterForm(LossForm.of(fields, wrong), **said, errors=wrong)
    return await desk.show("register.html", "Register data", lambda: _register(desk, form), status=422)


def _try_to_register(desk: Desk, said: dict[str, str], fields: dict[str, str]) -> dict[str, str]:
    """Registers; what is wrong by field, where something is."""
    desk.person.need(Action.REGISTER, said["name"])
    limit, errors = read_loss_fields(fields, "any")
    if limit is None and not errors:
        errors = {"epsilon": "Say how much all releases together may cost."}
    if limit is None:
        return errors
    try:
        codebook = read_codebook(said["codebook"].strip() + "\n")
    except SfumatoError as refusal:
        return {"codebook": str(refusal)}
    try:
        Curators(desk.house).register(
            desk.person,
            Registration(said["name"], said["source"], codebook, limit, said["version"] or "1", said["period"] or None),
        )
    except NotAllowed:
        raise
    except GRAVE:
        raise
    except SfumatoError as refusal:
        return {_field_of(str(refusal)): str(refusal)}
    return {}


def _field_of(why: str) -> str:
    """Which field a refusal is about, by its first words."""
    begins = {"the source": "source", "the name": "name", "the version": "version", "the data set": "name"}
    return next((field for words, field in begins.items() if why.startswith(words)), "source")
