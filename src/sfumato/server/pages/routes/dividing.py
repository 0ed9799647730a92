"""How budget owners divide an amount among several people: it is shown first, and then a share opened for each."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import SfumatoError
from sfumato.server.pages.desk import Desk
from sfumato.server.pages.routes.asking import GRAVE
from sfumato.server.pages.views.amounts import FIELDS, LossForm, kind_of_limit, read_loss_fields
from sfumato.server.pages.views.dividing import DivideForm, DivideView, divide_view, read_names
from sfumato.service.owners import Owners
from sfumato.service.rights import Action
from sfumato.service.shares import in_kind_of


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False, prefix="/data/{data_set}/limits/divide")
    routes.add_api_route("", divide, methods=["GET"])
    routes.add_api_route("", divided, methods=["POST"])
    return routes


async def divide(request: Request) -> Response:
    """The page on which an amount is divided."""
    desk = await Desk.open(request)
    return await desk.show("divide.html", "Divide among several", lambda: _divide(desk, {}, {}))


def _divide(
    desk: Desk, fields: Mapping[str, str], errors: dict[str, str], shares: Mapping[str, Loss] | None = None
) -> DivideView:
    desk.person.need(Action.DECIDE, desk.data_set)
    lines = Owners(desk.house).limits(desk.person, desk.data_set)
    form = DivideForm(
        LossForm.of(fields, errors, kind_of_limit(lines[0].limit)),
        fields.get("names", "")[:20_000],
        "rank" if fields.get("how") == "rank" else "equally",
        fields.get("reason", "")[:4_000],
        errors,
    )
    return divide_view(lines, desk.data_set, form, shares or {})


async def divided(request: Request) -> Response:
    """Shows what each would get; or opens these shares, with a reason."""
    desk = await Desk.open(request)
    fields = await desk.form()
    errors, shares = await desk.running.quick.run(lambda: _shares(desk, fields))
    if fields.get("do") == "open" and not errors:
        return desk.leads("/limits", done="divided")
    return await desk.show(
        "divide.html",
        "Divide among several",
        lambda: _divide(desk, fields, errors, shares),
        status=422 if errors else 200,
    )


def _shares(desk: Desk, fields: Mapping[str, str]) -> tuple[dict[str, str], dict[str, Loss]]:
    """What each would get, or what is wrong by field; opened, where that was asked for."""
    desk.person.need(Action.DECIDE, desk.data_set)
    owners, reason = Owners(desk.house), fields.get("reason", "").strip()[:4_000]
    kind = kind_of_limit(owners.limits(desk.person, desk.data_set)[0].limit)
    whole, errors = read_loss_fields(fields, kind)
    if whole is None and not errors:
        errors = {FIELDS[kind][0]: "Say how much in all."}
    names, wrong = read_names(fields.get("names", ""))
    errors |= {"names": wrong} if wrong else {}
    if whole is None or errors:
        return errors, {}
    whole, ranked = in_kind_of(desk.house.ledger, desk.data_set, whole), fields.get("how") == "rank"
    try:
        shares = owners.propose(desk.person, desk.data_set, names, of=whole, ranked=ranked and isinstance(names, list))
        if fields.get("do") == "open":
            if not reason:
                return {"reason": "Say why: it is written down for all to read."}, shares
            owners.open_shares(desk.person, desk.data_set, shares, reason=reason)
    except GRAVE:
        raise
    except SfumatoError as refusal:
        return {"names": str(refusal)}, {}
    return {}, shares
