"""One's own account: another password, open visits, signing out everywhere."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import BadArgument, SignInRefused
from sfumato.server import signing_in
from sfumato.server.pages.desk import Desk, led_to
from sfumato.server.pages.shell import roles_of
from sfumato.server.pages.views.accounts import AccountView, account_view
from sfumato.service.accounts import Accounts


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False, prefix="/account")
    routes.add_api_route("", account, methods=["GET"])
    routes.add_api_route("/password", change_password, methods=["POST"])
    routes.add_api_route("/visits/end", end_visit, methods=["POST"])
    routes.add_api_route("/sign-out", sign_out, methods=["POST"])
    return routes


async def account(request: Request) -> Response:
    """One's own account."""
    desk = await Desk.open(request)
    return await desk.show("account.html", "My account", lambda: _account(desk))


def _account(desk: Desk, errors: dict[str, str] | None = None) -> AccountView:
    visit = "" if desk.visit is None else desk.visit.secret
    return account_view(Accounts(desk.house).mine(desk.person, visit=visit), roles_of(desk.person), errors or {})


async def change_password(request: Request) -> Response:
    """Takes another password from whoever knows the one there is; all visits end, and a new one begins."""
    desk = await Desk.open(request)
    fields = await desk.form()
    visit = await signing_in.needed_visit(request)
    old, new = fields.get("old", ""), fields.get("password", "")
    errors = {} if new == fields.get("again", "") else {"again": "The two passwords differ."}
    if not errors:
        try:
            begun = await signing_in.changed_password(request, visit, old, new)
        except SignInRefused:
            errors = {"old": "This is not your password."}
        except BadArgument as refusal:
            errors = {"password": f"It must be {refusal.must}."}
        else:
            return signing_in.keep(led_to("/account", done="password"), request, begun)
    return await desk.show("account.html", "My account", lambda: _account(desk, errors), status=422)


async def end_visit(request: Request) -> Response:
    """Ends one visit of one's own."""
    desk = await Desk.open(request)
    fields = await desk.form()
    await desk.running.quick.run(lambda: Accounts(desk.house).end_visit(desk.person, fields.get("place", "")))
    return led_to("/account", done="ended")


async def sign_out(request: Request) -> Response:
    """Ends all visits of one's own, this one too."""
    desk = await Desk.open(request)
    await desk.form()
    await desk.running.quick.run(lambda: Accounts(desk.house).sign_out_everywhere(desk.person))
    return signing_in.forget(led_to("/sign-in"), request)
