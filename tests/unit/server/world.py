"""A small service for tests: made-up visits, somebody of each role, an app that is called in this process."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import FastAPI

import sfumato as sf
from sfumato.server.app import make_app
from sfumato.server.running import Running
from sfumato.server.settings import Rates, ServerSettings
from sfumato.service.data_sets import Registration
from sfumato.service.house import House
from sfumato.service.people import TOKEN
from sfumato.service.rights import Grant

ORIGIN = "http://testserver"
PAGE = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
ROLES = {
    "ada": "analyst",
    "ben": "analyst",
    "cora": "curator",
    "olga": "budget owner",
    "amir": "auditor",
    "root": "administrator",
}
MARKER = "zz-marker-7351"
"""A text that stands in the private data and nowhere else."""

BOOK = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a person", "id": "user_id"},
    "tables": {
        "visits": {
            "columns": {
                "user_id": {"type": "str"},
                "site": {"categories": ["north", "south"], "source": "the map"},
                "minutes": {"type": "float", "between": [0, 60], "source": "the clock"},
            }
        }
    },
}
COUNT = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1", "max_rows": 5}
EASY = Rates(person_burst=10_000, person_second=10_000, address_burst=10_000, address_second=10_000, sign_ins=10_000)


@dataclass
class World:
    """The app, its house, what it has logged, and everybody's token."""

    house: House
    app: FastAPI
    log: io.StringIO
    folder: Path
    loop: asyncio.AbstractEventLoop
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def running(self) -> Running:
        running: Running = self.app.state.running
        return running

    def call(self, who: str | None, method: str, path: str, **said: Any) -> httpx.Response:
        """Calls the API as somebody, or as nobody."""
        headers = {} if who is None else {"authorization": f"Bearer {self.tokens.get(who, who)}"}
        headers |= said.pop("headers", {})
        return asyncio.run_coroutine_threadsafe(self._call(method, path, headers, said), self.loop).result(60)

    async def _call(self, method: str, path: str, headers: dict[str, str], said: dict[str, Any]) -> httpx.Response:
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
            return await client.request(method, path, headers=headers, **said)

    def post(self, who: str | None, path: str, said: object, **more: Any) -> httpx.Response:
        return self.call(who, "POST", path, json=said, **more)

    def ask(self, who: str | None, said: dict[str, object] | None = None, **more: Any) -> httpx.Response:
        return self.post(who, "/api/data-sets/visits/ask", COUNT | (said or {}), **more)

    def grant(self, who: str, data_set: str = "visits", epsilon: object = "2") -> None:
        """Has somebody request a share, and the owner grant it."""
        place = f"/api/data-sets/{data_set}/requests"
        made = self.post(who, place, {"epsilon": epsilon, "purpose": "to learn"})
        assert made.status_code == 201, made.text
        number = made.json()["number"]
        decided = self.post("olga", f"{place}/{number}/decisions", {"grants": True, "reason": "fine"})
        assert decided.status_code == 200, decided.text

    def lines(self) -> list[dict[str, Any]]:
        """What was logged so far."""
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


def write_visits(file: Path, *, rows: int = 400) -> None:
    """Writes visits of some people; each has two of them. One of the sites stands in no codebook."""
    people = [f"person {number // 2}" for number in range(rows)]
    sites = ["north" if number % 3 else "south" for number in range(rows - 1)] + [MARKER]
    minutes = [float(number % 60) for number in range(rows)]
    pq.write_table(pa.table({"user_id": people, "site": sites, "minutes": minutes}), file)


@contextmanager
def world_in(folder: Path, *, rates: Rates = EASY, **settings: Any) -> Iterator[World]:
    """Makes a service in memory, with data in a folder."""
    write_visits(folder / "visits.parquet")
    house = House.open("memory:", "memory:", folders=(folder,))
    tokens = {}
    for name, role in ROLES.items():
        house.people.add(name, [Grant(role)])
        tokens[name] = house.people.issue(TOKEN, name).text
    log = io.StringIO()
    said = {"origin": ORIGIN, "works": False, "uploads": folder / "uploads"}
    app = make_app(house, ServerSettings(**(said | {"rates": rates, "time_classes": FINE} | settings)), log=log)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield World(house, app, log, folder, loop, tokens)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        app.state.running.close()


FINE = (*(number / 1000 for number in range(1, 5_000)), 5.0, 60.0)
"""Time classes so fine that tests wait for nothing."""


def register(world: World, name: str = "visits", *, limit: sf.Loss | None = None, file: str = "visits.parquet") -> None:
    """Registers the visits, as the curator would."""
    book = sf.Codebook.read(BOOK)
    source = str(world.folder / file)
    world.house.data_sets.register(Registration(name, source, book, limit or sf.Pure(10)), by="cora")
