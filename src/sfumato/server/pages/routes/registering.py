"""What curators register: a file that is sent, a codebook that is drafted and reviewed, data and its new versions."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import BadArgument, NotAllowed, SfumatoError
from sfumato.server import signing_in
from sfumato.server.pages.desk import Desk, led_to
from sfumato.server.pages.routes.asking import GRAVE
from sfumato.server.pages.shell import address_of, has_role
from sfumato.server.pages.views.amounts import LossForm, read_loss_fields
from sfumato.server.pages.views.registering import (
    DraftView,
    RegisterForm,
    RegisterView,
    UploadForm,
    UploadView,
    draft_address,
    draft_view,
    form_of_version,
    read_source,
)
from sfumato.server.problems import Refused
from sfumato.server.uploading import arrived, check_own, take_in
from sfumato.service.codebooks import read_codebook
from sfumato.service.curators import Curators
from sfumato.service.data_sets import Registration
from sfumato.service.rights import Action, Role

FIELDS = ("name", "version", "source", "codebook", "period")


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    routes.add_api_route("/register", register, methods=["GET"])
    routes.add_api_route("/register", registered, methods=["POST"])
    routes.add_api_route("/register/draft", draft, methods=["GET"])
    routes.add_api_route("/upload", upload, methods=["GET"])
    routes.add_api_route("/upload", uploaded, methods=["POST"])
    return routes


def _need_curator(desk: Desk) -> None:
    if not has_role(desk.person, Role.CURATOR):
        desk.person.need(Action.REGISTER)


# Sending a file


async def upload(request: Request) -> Response:
    """The page from which a file is sent."""
    desk = await Desk.open(request)
    form = UploadForm(request.query_params.get("name", "")[:63])
    return await desk.show("upload.html", "Send data", lambda: _upload(desk, form))


def _upload(desk: Desk, form: UploadForm) -> UploadView:
    _need_curator(desk)
    return UploadView(form, takes=desk.running.settings.uploads is not None)


async def uploaded(request: Request) -> Response:
    """Takes a file in as it comes, and leads to the draft of a codebook for it."""
    desk = await Desk.open(request)
    visit = await signing_in.needed_visit(request)
    form, fields = await signing_in.checked_file_form(request, visit)
    name, file = fields.get("name", "").strip(), form.file.rpartition("/")[2].rpartition("\\")[2]
    try:
        await desk.running.quick.run(lambda: _need_curator(desk))
        if not file:
            raise Refused(422, "Choose a file.")
        await take_in(desk.running, desk.person, name, file, form.octets())
    except Refused as refusal:
        if refusal.problem.status not in (409, 422):
            raise
        wrong = UploadForm(name[:63], {"name" if "A data set is" in str(refusal) else "file": str(refusal)})
        return await desk.show("upload.html", "Send data", lambda: _upload(desk, wrong), status=422)
    return led_to(draft_address(name, file))


# A draft of a codebook


async def draft(request: Request) -> Response:
    """The draft of a codebook for a file that was sent: whose rows these are is asked, and then all of it reviewed."""
    desk = await Desk.open(request)
    said = request.query_params
    name, file, unit, protects = (said.get(part, "").strip()[:200] for part in ("name", "file", "unit", "protects"))

    def made() -> DraftView:
        place = arrived(desk.running, desk.person, name, file)
        curators, chosen = Curators(desk.house), unit or None
        try:
            drafted = curators.draft(desk.person, name, str(place), unit=chosen, protects=protects)
        except BadArgument as refusal:
            if chosen is None:
                return draft_view(name, file, None, wrong=str(refusal))
            drafted = curators.draft(desk.person, name, str(place), protects=protects)
            return draft_view(name, file, drafted, protects=protects, wrong=str(refusal))
        return draft_view(name, file, drafted, unit=unit, protects=protects, source=str(place))

    return await desk.show("draft.html", "Draft of a codebook", made, pool=desk.running.questions)


# Registering


async def register(request: Request) -> Response:
    """The page on which data is registered; for data that is registered, a new version of it."""
    desk = await Desk.open(request)
    of = request.query_params.get("of", "")[:63]

    def made() -> RegisterView:
        _need_curator(desk)
        if not of:
            return RegisterView(RegisterForm(LossForm("any")))
        return RegisterView(form_of_version(Curators(desk.house).registered(desk.person, of)))

    return await desk.show("register.html", "Register data", made)


async def registered(request: Request) -> Response:
    """Registers data, or a new version of it; or looks the codebook through, without any data."""
    desk = await Desk.open(request)
    fields = await desk.form()
    said = {name: fields.get(name, "").strip() for name in FIELDS}
    if fields.get("do") == "check":
        return await desk.show("register.html", "Register data", lambda: _checked(desk, said, fields))
    wrong = await desk.running.questions.run(lambda: _try_to_register(desk, said, fields))
    if not wrong:
        return led_to(address_of(said["name"]), done="registered")
    return await desk.show(
        "register.html", "Register data", lambda: RegisterView(_form(desk, said, fields, wrong)), status=422
    )


def _form(desk: Desk, said: dict[str, str], fields: dict[str, str], wrong: dict[str, str]) -> RegisterForm:
    before = _before(desk, said["name"])
    promise = "" if before is None else form_of_version(before).promise
    return RegisterForm(LossForm.of(fields, wrong), **said, errors=wrong, promise=promise)


def _before(desk: Desk, name: str) -> Registration | None:
    """What is registered under a name already, for whoever may see it."""
    if not desk.person.may(Action.REGISTER, name).allowed:
        return None
    try:
        return Curators(desk.house).registered(desk.person, name)
    except BadArgument:
        return None


def _checked(desk: Desk, said: dict[str, str], fields: dict[str, str]) -> RegisterView:
    desk.person.need(Action.REGISTER, said["name"])
    checked = Curators(desk.house).check(desk.person, said["name"], said["codebook"] + "\n")
    wrong = {"codebook": checked.wrong} if checked.wrong else {}
    return RegisterView(_form(desk, said, fields, wrong), doubts=checked.doubts, right=not checked.wrong)


def _try_to_register(desk: Desk, said: dict[str, str], fields: dict[str, str]) -> dict[str, str]:
    """Registers; what is wrong by field, where something is."""
    desk.person.need(Action.REGISTER, said["name"])
    before, errors = _before(desk, said["name"]), dict[str, str]()
    limit, period = (before.limit, before.period) if before is not None else (None, said["period"] or None)
    if before is None:
        limit, errors = read_loss_fields(fields, "any")
        if limit is None and not errors:
            errors = {"epsilon": "Say how much all releases together may cost."}
    source, wrong = read_source(said["source"])
    errors |= {"source": wrong} if wrong else {}
    if limit is None or errors:
        return errors
    try:
        codebook = read_codebook(said["codebook"] + "\n", longest=desk.house.settings.largest_upload)
    except SfumatoError as refusal:
        return {"codebook": str(refusal)}
    engine = None if before is None else before.engine
    made = Registration(said["name"], source, codebook, limit, said["version"] or "1", period, engine)
    try:
        check_own(desk.running, said["name"], source)
        Curators(desk.house).register(desk.person, made)
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
