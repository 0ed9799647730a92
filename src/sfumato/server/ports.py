"""Other ports of a server: counters for Prometheus on one of their own, and the PostgreSQL protocol.

Each is something that is entered when the server starts and left when it stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from sfumato.server.running import Running

LONGEST_HEAD = 8_192


@asynccontextmanager
async def opened(running: Running) -> AsyncIterator[None]:
    """Opens the other ports that settings name, for as long as the server runs."""
    async with AsyncExitStack() as stack:
        if running.settings.metrics_port is not None:
            await stack.enter_async_context(counters(running, running.settings.metrics_port))
        if running.settings.pg_port:
            await stack.enter_async_context(postgres(running, running.settings.pg_port))
        yield


@asynccontextmanager
async def counters(running: Running, port: int) -> AsyncIterator[None]:
    """Answers with the counters of this process, on loopback alone: whoever is on this machine may read them."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
            right = len(head) <= LONGEST_HEAD and head.startswith(b"GET /metrics ")
            body = running.metrics.text().encode() if right else b""
            status = b"200 OK" if right else b"404 Not Found"
            writer.write(
                b"HTTP/1.1 " + status + b"\r\ncontent-type: text/plain; version=0.0.4\r\nconnection: close\r\n"
                b"content-length: " + str(len(body)).encode() + b"\r\n\r\n" + body
            )
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port, limit=LONGEST_HEAD)
    async with server:
        yield


@asynccontextmanager
async def postgres(running: Running, port: int) -> AsyncIterator[None]:
    """Speaks the PostgreSQL protocol."""
    from sfumato.server.postgres.listening import listening

    async with listening(running, port):
        yield
