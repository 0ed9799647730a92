"""A server that really listens, on a port of loopback."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.unit.server.world import World
from uvicorn import Server

from sfumato.server.starting import config


@dataclass
class Live:
    """Where it listens, and what it serves."""

    world: World
    port: int
    address: str = "127.0.0.1"

    @property
    def host(self) -> str:
        return f"{self.address}:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def token(self, who: str) -> str:
        return self.world.tokens[who]

    def raw(self, octets: bytes) -> bytes:
        """Sends octets as they are, and gives what comes back until the server closes, or says nothing more."""
        with socket.create_connection((self.address, self.port), 10) as connection:
            connection.settimeout(0.7)
            answer = b""
            try:
                connection.sendall(octets)
                while more := connection.recv(65_536):
                    answer += more
            except OSError:
                pass
            return answer


@contextmanager
def listening(world: World) -> Iterator[Live]:
    """Serves the app of a world on a free port; the world itself goes on afterwards."""
    made = config(world.app, world.running.settings)
    made.lifespan = "off"
    server = Server(made)
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[held])), daemon=True)
    thread.start()
    until = time.monotonic() + 20
    while not server.started and thread.is_alive() and time.monotonic() < until:
        time.sleep(0.01)
    assert server.started
    try:
        yield Live(world, held.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(10)
        held.close()
