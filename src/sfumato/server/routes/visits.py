"""Signing in and out with a browser: what forms are sent to. The pages with these forms are in `server.pages`."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sfumato.server import signing_in
from sfumato.server.problems import Refused

HOME = "/"


def router() -> APIRouter:
    """The routes that begin and end visits."""
    routes = APIRouter(include_in_schema=False)
    routes.add_api_route("/sign-in", enter, methods=["POST"])
    routes.add_api_route("/welcome", welcome, methods=["POST"])
    routes.add_api_route("/sign-in/proxy", enter_by_proxy, methods=["GET"])
    routes.add_api_route("/sign-out", leave, methods=["POST"])
    return routes


async def enter(request: Request) -> Response:
    """Lets somebody in by the fields ``name`` and ``password``, and leads to ``next`` (a path of ours)."""
    fields = await signing_in.checked_form(request, None)
    request.state.tried = fields.get("name", "")[:100], fields.get("next", HOME)  # for the page that says it failed
    visit = await signing_in.sign_in(request, fields.get("name", ""), fields.get("password", ""))
    return signing_in.keep(_to(fields.get("next", HOME)), request, visit)


async def welcome(request: Request) -> Response:
    """Lets whoever holds a one-time ``link`` choose a ``password``, and lets them in."""
    fields = await signing_in.checked_form(request, None)
    password = fields.get("password", "")
    if fields.get("again", password) != password:
        raise Refused(422, "The two passwords differ. The link is still good: go back, and type them again.")
    visit = await signing_in.choose_password(request, fields.get("link", ""), password)
    return signing_in.keep(_to(HOME), request, visit)


async def enter_by_proxy(request: Request) -> Response:
    """Lets in whom a trusted proxy names."""
    return signing_in.keep(_to(HOME), request, await signing_in.known_to_proxy(request))


async def leave(request: Request) -> Response:
    """Signs somebody out."""
    visit = await signing_in.needed_visit(request)
    await signing_in.checked_form(request, visit)
    await signing_in.end(request, visit)
    return signing_in.forget(_to(HOME), request)


def _to(path: str) -> Response:
    """Leads to a page of ours, and to nowhere else."""
    own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return RedirectResponse(path if own else HOME, status_code=303)
