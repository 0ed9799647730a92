"""What whoever reaches the service may read without signing in: published releases, where the settings say so.

These pages are the same for everybody, so that they can be kept: they name nobody, hold no token, and read no cookie.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.server.answering import tagged
from sfumato.server.pages.desk import Studio
from sfumato.server.pages.rendering import render
from sfumato.server.pages.shell import Link, Shell
from sfumato.server.pages.views.reading import NoticesView, notices_view, reading_view
from sfumato.server.running import Running, running_of
from sfumato.service.answers import Rendered
from sfumato.service.readers import Readers

KEPT = "public, max-age=300"
"""Five minutes: what is withdrawn is gone from every cache that keeps to it soon after."""

FORMS = ("csv", "parquet", "json", "html")


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False, prefix="/published")
    for path, endpoint in (("", all_of_them), ("/{number}", one), ("/{number}/{form}", download)):
        routes.add_api_route(path, endpoint, methods=["GET", "HEAD"])
    return routes


def _parts(request: Request) -> tuple[Running, Studio, Readers]:
    running, studio = running_of(request), request.app.state.studio
    return running, studio, Readers(running.house, studio.board)


async def _shown(request: Request, template: str, title: str, make: Callable[[Readers, Studio], Any]) -> Response:
    running, studio, readers = _parts(request)
    links = (Link("Published releases", "/published", request.url.path == "/published"), Link("Sign in", "/sign-in"))

    def made() -> Response:
        view = make(readers, studio)
        shell = Shell(title, request.url.path, links=links, openly=True)
        text = render(studio.templates, template, shell=shell, view=view)
        return tagged(request, text.encode(), "text/html; charset=utf-8", kept=KEPT)

    return await running.quick.run(made)


async def all_of_them(request: Request) -> Response:
    """All published releases, the latest first."""
    text = request.query_params.get("page", "")
    page = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 1

    def make(readers: Readers, _: Studio) -> NoticesView:
        return notices_view(readers.published(), page)

    return await _shown(request, "openly.html", "Published releases", make)


async def one(request: Request) -> Response:
    """One published release, ready to be printed."""
    number = _number(request)

    def make(readers: Readers, studio: Studio) -> object:
        return reading_view(readers.notice(number), readers.answer(number), studio.drawings, FORMS)

    return await _shown(request, "openly_one.html", f"Release {number}", make)


async def download(request: Request) -> Response:
    """One published release as a file."""
    running, _, readers = _parts(request)
    form, number = str(request.path_params["form"]), _number(request)

    def written() -> Response:
        made: Rendered = readers.rendered(number, form)
        headers = {"content-disposition": f'attachment; filename="{made.name}"'}
        return tagged(request, made.content, made.media, headers=headers, kept=KEPT)

    return await running.quick.run(written)


def _number(request: Request) -> int:
    text = str(request.path_params["number"])
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
