"""From a request to a page: who asks, what is done for them in a thread, and what is sent back.

Views call use cases and nothing else: rights are decided there. A view is made in a thread of the server's pools, and
the page is written in the same thread.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, final
from urllib.parse import quote

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sfumato.server import signing_in
from sfumato.server.calling import until_class_ends
from sfumato.server.pages.assets import Assets
from sfumato.server.pages.drawings import Drawings
from sfumato.server.pages.rendering import environment, render
from sfumato.server.pages.shell import THEMES, Notice, Shell, address_of, links_of, tabs_of
from sfumato.server.problems import Refused
from sfumato.server.running import Pool, Running, running_of
from sfumato.server.signing_in import FORM_TOKEN, Visit
from sfumato.service.house import House
from sfumato.service.people import Person
from sfumato.service.readers import Board

Made = TypeVar("Made")

LONGEST_ONWARD = 1_000
"""Letters of an address that somebody comes back to after signing in."""

THEME = "sfumato-theme"
"""The cookie that says light or dark; it is about nobody."""

DONE = {
    "asked": "Your request is in the book. Whoever owns the limit decides on it.",
    "granted": "The share is granted, and its loss set aside.",
    "noted": "Your decision is in the book; the request needs another one.",
    "declined": "The request is declined.",
    "closed": "The share is closed; what was left of it is free again.",
    "kept": "The checklist is written into the book.",
    "published": "It is published.",
    "withdrawn": "It is withdrawn from the page.",
    "registered": "The data set is registered.",
    "changed": "It is changed.",
    "removed": "They are let in no more.",
    "revoked": "The token is good for nothing more.",
    "started": "The schedule is started.",
    "stopped": "The schedule is stopped.",
    "opened": "The share is open.",
    "divided": "The shares are open.",
    "policy": "It is in the book; below stands what holds now.",
    "tested": "A test is on its way. Load this page again in a minute to see how it went.",
    "unhooked": "That address is told nothing more.",
    "password": "Your password is changed. All other visits have ended.",
    "ended": "The visit has ended.",
    "signed": "A checkpoint is in the book.",
    "out": "All their visits have ended.",
}
"""What a page says after something was done. An address names the sentence and never holds it."""


@final
@dataclass(frozen=True)
class Studio:
    """What all pages of one server share: templates, files, drawings that were made, and what readers see."""

    templates: Environment
    assets: Assets
    drawings: Drawings
    board: Board

    @staticmethod
    def begin(house: House) -> Studio:
        """Loads what comes with the package."""
        assets = Assets.load()
        return Studio(environment(assets), assets, Drawings(), Board(house.ledger))


@final
@dataclass(frozen=True)
class Desk:
    """One request for a page."""

    request: Request
    running: Running
    studio: Studio
    visit: Visit | None

    @staticmethod
    async def open(request: Request) -> Desk:
        """Begins to serve somebody who is signed in; others are led to where they can (`SignInRefused`)."""
        return Desk._of(request, await signing_in.needed_visit(request))

    @staticmethod
    async def for_anybody(request: Request) -> Desk:
        """Begins to serve whoever it is."""
        return Desk._of(request, await signing_in.visit_of(request))

    @staticmethod
    def _of(request: Request, visit: Visit | None) -> Desk:
        request.state.visit = visit  # for the page of a problem, should there be one
        return Desk(request, running_of(request), request.app.state.studio, visit)

    @property
    def house(self) -> House:
        """What use cases work in."""
        return self.running.house

    @property
    def person(self) -> Person:
        """Who is signed in."""
        if self.visit is None:
            return Person("", ())
        return self.visit.person

    @property
    def data_set(self) -> str:
        """The data set that the address names; empty where it names none."""
        return str(self.request.path_params.get("data_set", ""))

    def number(self, name: str, usual: int = 0) -> int:
        """A whole number of the address; what is none is the usual one."""
        text = self.request.query_params.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else usual

    async def form(self) -> dict[str, str]:
        """The fields of a form of this page, once its token is checked; lines end as Python's do."""
        fields = await signing_in.checked_form(self.request, self.visit)
        return {name: text.replace("\r\n", "\n") for name, text in fields.items()}

    async def show(
        self,
        template: str,
        title: str,
        make: Callable[[], Any],
        *,
        status: int = 200,
        pool: Pool | None = None,
        notices: tuple[Notice, ...] = (),
    ) -> Response:
        """Makes a view in a thread and sends its page."""

        def made() -> str:
            return self.written(template, title, make(), notices=notices)

        text = await (pool or self.running.quick).run(made)
        return HTMLResponse(text, status)

    async def ask(self, act: Callable[[], Made]) -> Made:
        """Does something that may look at data: its answer, or its refusal, leaves at the end of a class of times."""
        began = time.monotonic()
        try:
            return await asyncio.wait_for(self.running.questions.run(act), self.running.settings.patience)
        except TimeoutError:
            pass
        finally:
            await asyncio.sleep(until_class_ends(time.monotonic() - began, self.running.settings.time_classes))
        raise Refused(504, "This took too long. If it costs something it is paid: ask the same again for its answer.")

    def written(self, template: str, title: str, view: Any, *, notices: tuple[Notice, ...] = ()) -> str:
        """Writes the page of a view."""
        return render(self.studio.templates, template, shell=self.shell(title, notices), view=view)

    def shell(self, title: str, notices: tuple[Notice, ...] = ()) -> Shell:
        """The frame of the page."""
        path, done = self.request.url.path, DONE.get(self.request.query_params.get("done", ""))
        theme = self.request.cookies.get(THEME, "")
        person = None if self.visit is None else self.visit.person
        return Shell(
            title=title,
            here=path,
            person="" if person is None else person.name,
            csrf_field=FORM_TOKEN,
            csrf="" if self.visit is None else self.visit.form_token,
            theme=theme if theme in THEMES else "",
            links=() if person is None else links_of(person, path),
            data_set=self.data_set if person is not None else "",
            tabs=() if person is None or not self.data_set else tabs_of(person, self.data_set, path),
            notices=(*([Notice(done)] if done and self.request.method == "GET" else []), *notices),
        )

    def leads(self, page: str = "", *, done: str = "") -> Response:
        """Leads to a page of the data set after something was done."""
        return led_to(address_of(self.data_set, page), done=done)


def led_to(path: str, *, done: str = "") -> Response:
    """Leads to a page of ours."""
    return RedirectResponse(f"{path}?done={done}" if done else path, status_code=303)


def own_path(text: str, usual: str = "/") -> str:
    """A path of ours out of what somebody sent; whatever might lead elsewhere is not taken."""
    own = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isascii() and text.isprintable()
    return text if own and "\\" not in text and len(text) < 2_000 else usual


def sign_in_address(request: Request) -> str:
    """Where to sign in and come back from, to the very page."""
    query = request.url.query
    whole = f"{request.url.path}?{query}" if query and len(query) < LONGEST_ONWARD else request.url.path
    return f"/sign-in?next={quote(whole, safe='/')}" if whole != "/" else "/sign-in"
