"""The pages of a small world, called in this process or served to a browser."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import html5lib
import httpx
import uvicorn
from fastapi import FastAPI
from tests.unit.pages.world import World, world

from sfumato.server.app import make_app
from sfumato.server.settings import Rates, ServerSettings
from sfumato.server.signing_in import FORM_TOKEN, form_token
from sfumato.service.people import VISIT

ORIGIN = "http://testserver"
OWN_PAGE = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
EASY = Rates(person_burst=10**6, person_second=10.0**6, address_burst=10**6, address_second=10.0**6, sign_ins=10**6)
FINE = (*(number / 1000 for number in range(1, 200)), 1.0, 5.0, 60.0)
"""Time classes so fine that tests wait for nothing."""


@dataclass(frozen=True)
class Site:
    """The app of a world, and a visit of everybody."""

    world: World
    app: FastAPI
    loop: asyncio.AbstractEventLoop
    visits: dict[str, str]

    def get(self, who: str | None, path: str) -> httpx.Response:
        """Opens a page as somebody, or as nobody."""
        return self.call(who, "GET", path)

    def post(self, who: str | None, path: str, fields: dict[str, str], **said: Any) -> httpx.Response:
        """Sends a form as a browser does from one of our pages; ``token`` in place of the right one."""
        token = said.pop("token", form_token(self.visits[who]) if who is not None else None)
        given = {**({} if token is None else {FORM_TOKEN: token}), **fields}
        return self.call(who, "POST", path, data=given, headers=said.pop("headers", OWN_PAGE), **said)

    def call(self, who: str | None, method: str, path: str, **said: Any) -> httpx.Response:
        """Sends a request, and follows nothing."""
        cookies = {} if who is None else {"sfumato": self.visits[who]}
        return asyncio.run_coroutine_threadsafe(self._call(method, path, cookies, said), self.loop).result(60)

    async def _call(self, method: str, path: str, cookies: dict[str, str], said: dict[str, Any]) -> httpx.Response:
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN, cookies=cookies) as client:
            return await client.request(method, path, **said)


@contextmanager
def site_in(folder: Path) -> Iterator[Site]:
    """Makes a world with its app, to be called in this process."""
    with world(folder) as made:
        said = ServerSettings(
            origin=ORIGIN, works=False, rates=EASY, time_classes=FINE, uploads=folder / "uploads", pg_port=5433
        )
        app = make_app(made.house, said, log=io.StringIO())
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        visits = {one.name: made.house.people.issue(VISIT, one.name).text for one in made.house.people}
        try:
            yield Site(made, app, loop, visits)
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


@contextmanager
def served_in(folder: Path) -> Iterator[tuple[World, str]]:
    """Serves the pages of a world on a free port of this machine, for a browser."""
    with world(folder) as made:
        config = uvicorn.Config(lambda: None, host="127.0.0.1", port=0, log_level="critical", lifespan="off")
        listener = config.bind_socket()
        port = listener.getsockname()[1]
        app = make_app(
            made.house,
            ServerSettings(port=port, works=False, rates=EASY, time_classes=FINE, uploads=folder / "uploads"),
        )
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            yield made, f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join()
            listener.close()


def parsed(text: str) -> Any:
    """Reads a page by the rules of HTML; what breaks them is an error."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)
