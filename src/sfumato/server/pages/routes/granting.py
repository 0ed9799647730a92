"""What budget owners see: the tree of limits, the queue of requests; decisions with their reasons."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import SfumatoError
from sfumato.server.pages.desk import Desk
from sfumato.server.pages.routes.asking import GRAVE
from sfumato.server.pages.views.amounts import FIELDS, LossForm, kind_of_limit, read_loss_fields
from sfumato.server.pages.views.granting import (
    LimitsView,
    OpenForm,
    PolicyForm,
    RequestsView,
    limits_view,
    policy_view,
    requests_view,
)
from sfumato.service.auditors import Auditors
from sfumato.service.owners import Owners
from sfumato.service.rights import Action

CLOSED_HERE = "closed on the page of limits"


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False, prefix="/data/{data_set}")
    routes.add_api_route("/limits", limits, methods=["GET"])
    routes.add_api_route("/limits/close", close, methods=["POST"])
    routes.add_api_route("/limits/open", open_share, methods=["POST"])
    routes.add_api_route("/requests", requests, methods=["GET"])
    routes.add_api_route("/requests", decide, methods=["POST"])
    routes.add_api_route("/requests/policy", set_policy, methods=["POST"])
    return routes


async def limits(request: Request) -> Response:
    """The tree of limits."""
    desk = await Desk.open(request)
    return await desk.show("limits.html", "Limits and shares", lambda: _limits(desk))


def _limits(desk: Desk, form: OpenForm | None = None) -> LimitsView:
    lines = Auditors(desk.house).limits(desk.person, desk.data_set)
    may = desk.person.may(Action.CLOSE_SHARES, desk.data_set).allowed
    opens = desk.person.may(Action.DECIDE, desk.data_set).allowed
    needed = Owners(desk.house).policy(desk.person, desk.data_set).needed
    usual = OpenForm(LossForm(kind_of_limit(lines[0].limit)))
    return limits_view(
        lines,
        desk.data_set,
        may_close=may,
        form=(form or usual) if opens and needed == 1 else None,
        page=desk.number("page", 1),
    )


async def open_share(request: Request) -> Response:
    """Opens a share for somebody who has not asked for it."""
    desk = await Desk.open(request)
    fields = await desk.form()
    name, reason = fields.get("name", "").strip()[:80], fields.get("reason", "").strip()[:4_000]
    period = fields.get("period", "")[:20]

    def opened() -> OpenForm | None:
        desk.person.need(Action.DECIDE, desk.data_set)
        kind = kind_of_limit(Owners(desk.house).limits(desk.person, desk.data_set)[0].limit)
        loss, errors = read_loss_fields(fields, kind)
        if loss is None and not errors:
            errors = {FIELDS[kind][0]: "Say how much."}
        if not reason:
            errors["reason"] = "Say why: it is written down for all to read."
        if loss is not None and not errors:
            try:
                Owners(desk.house).open_share(
                    desk.person, desk.data_set, name, loss, reason=reason, period=period or None
                )
            except GRAVE:
                raise
            except SfumatoError as refusal:
                errors = {"name": str(refusal)}
        return OpenForm(LossForm.of(fields, errors, kind), name, reason, period, errors) if errors else None

    wrong = await desk.running.quick.run(opened)
    if wrong is None:
        return desk.leads("/limits", done="opened")
    return await desk.show("limits.html", "Limits and shares", lambda: _limits(desk, wrong), status=422)


async def close(request: Request) -> Response:
    """Closes a share before its time."""
    desk = await Desk.open(request)
    fields = await desk.form()
    reason = fields.get("reason", "").strip()[:4_000] or CLOSED_HERE
    await desk.running.quick.run(
        lambda: Owners(desk.house).close_share(desk.person, desk.data_set, fields.get("share", ""), reason=reason)
    )
    return desk.leads("/limits", done="closed")


async def requests(request: Request) -> Response:
    """The queue of requests."""
    desk = await Desk.open(request)
    return await desk.show("requests.html", "Requests", lambda: _requests(desk))


def _requests(desk: Desk, errors: dict[int, str] | None = None, *, form: PolicyForm | None = None) -> RequestsView:
    owners = Owners(desk.house)
    asked = owners.requests(desk.person, desk.data_set)
    decider = desk.person.name if desk.person.may(Action.DECIDE, desk.data_set).allowed else ""
    lines = owners.limits(desk.person, desk.data_set)
    policy = policy_view(owners.policy(desk.person, desk.data_set), desk.data_set, may=bool(decider), form=form)
    return requests_view(asked, lines, desk.data_set, decider, policy, errors=errors, page=desk.number("page", 1))


async def set_policy(request: Request) -> Response:
    """Writes down how many people are to grant a share from now on."""
    desk = await Desk.open(request)
    fields = await desk.form()
    text, reason = fields.get("needed", "").strip()[:20], fields.get("reason", "").strip()[:4_000]

    def set_anew() -> dict[str, str]:
        desk.person.need(Action.DECIDE, desk.data_set)
        if not (text.isascii() and text.isdigit()):
            return {"needed": "Write a whole number, 1 or more."}
        if not reason:
            return {"reason": "Say why: it is written down for all to read."}
        try:
            Owners(desk.house).set_policy(desk.person, desk.data_set, needed=int(text), reason=reason)
        except GRAVE:
            raise
        except SfumatoError as refusal:
            return {"needed": str(refusal)}
        return {}

    errors = await desk.running.quick.run(set_anew)
    if not errors:
        return desk.leads("/requests", done="policy")
    form = PolicyForm(text, reason, errors)
    return await desk.show("requests.html", "Requests", lambda: _requests(desk, form=form), status=422)


async def decide(request: Request) -> Response:
    """Writes a decision into the book, with its reason."""
    desk = await Desk.open(request)
    fields = await desk.form()
    text, reason = fields.get("request", ""), fields.get("reason", "").strip()[:4_000]
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
    grants = fields.get("decision") == "grant"

    def decided() -> tuple[str, str]:
        if not reason:
            desk.person.need(Action.DECIDE, desk.data_set)
            return "", "Say why: it is written down for all to read."
        try:
            now = Owners(desk.house).decide(desk.person, desk.data_set, number, grants=grants, reason=reason)
        except GRAVE:
            raise
        except SfumatoError as refusal:
            return "", str(refusal)
        return ("granted" if now.granted else "declined" if now.declined else "noted"), ""

    done, wrong = await desk.running.quick.run(decided)
    if wrong:
        return await desk.show("requests.html", "Requests", lambda: _requests(desk, {number: wrong}), status=422)
    return desk.leads("/requests", done=done)
