"""A PostgreSQL port that really listens, for tests."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import uvloop
from tests.unit.server.world import World

from sfumato.server.postgres.listening import listening
from sfumato.server.postgres.port import Limits

SAID = "-c sfumato.epsilon=0.1 -c sfumato.max_rows=5"
COUNT = "SELECT COUNT(*) AS n FROM visits"
STARTED = 20


@dataclass
class OpenPort:
    """Where it listens, and whose it is."""

    world: World
    number: int

    def words(self, who: str = "ada", **more: Any) -> dict[str, Any]:
        """What psycopg, and psql in its way, are told to connect."""
        said = {"host": "127.0.0.1", "port": self.number, "user": who, "password": self.world.tokens.get(who, "none")}
        return said | {"dbname": "sfumato", "options": SAID, "connect_timeout": 20} | more

    def connect(self, who: str = "ada", *, autocommit: bool = True, **more: Any) -> psycopg.Connection[Any]:
        return psycopg.connect(**self.words(who, **more), autocommit=autocommit)

    def address(self, who: str = "ada", scheme: str = "postgresql") -> str:
        return f"{scheme}://{who}:{self.world.tokens[who]}@127.0.0.1:{self.number}/sfumato"

    def raw(self, *parts: bytes, seconds: float = 1.0) -> bytes:
        """Sends octets as they are, and gives what comes back until the server closes, or says nothing more."""
        with socket.create_connection(("127.0.0.1", self.number), 10) as connection:
            connection.settimeout(seconds)
            answer = b""
            try:
                for part in parts:
                    connection.sendall(part)
                while more := connection.recv(65_536):
                    answer += more
            except OSError:
                pass
            return answer


def startup(**said: str) -> bytes:
    """The octets that a connection begins with."""
    body = struct.pack(">i", 3 << 16) + b"".join(f"{name}\0{value}\0".encode() for name, value in said.items()) + b"\0"
    return struct.pack(">i", len(body) + 4) + body


@contextmanager
def opened(world: World, limits: Limits | None = None, *, number: int = 0) -> Iterator[OpenPort]:
    """Opens the port of a world on loopback, in a thread of its own."""
    ready, stop, numbers = threading.Event(), asyncio.Event(), list[int]()
    loop = uvloop.new_event_loop()  # as the server itself has it

    async def serve() -> None:
        async with listening(world.running, number, limits) as found:
            numbers.append(found)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(STARTED)
    try:
        yield OpenPort(world, numbers[0])
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(STARTED)
        loop.close()
