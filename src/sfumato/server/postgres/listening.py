"""Listens on the PostgreSQL port for as long as a server runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sfumato.server.postgres.channel import Channel
from sfumato.server.postgres.connections import Connection
from sfumato.server.postgres.faults import FATAL, Fault
from sfumato.server.postgres.port import Limits, Port
from sfumato.server.postgres.writing import failed
from sfumato.server.running import Running

BACKLOG = 256


@asynccontextmanager
async def listening(running: Running, number: int, limits: Limits | None = None) -> AsyncIterator[int]:
    """Opens the port; several workers may have the same one. What is given is its number."""
    port, loop = Port(running, limits), asyncio.get_running_loop()

    def made() -> Channel:
        channel = Channel()
        task = loop.create_task(_served(port, channel))
        if not port.keep(task):
            channel.crowded = True
        return channel

    server = await loop.create_server(
        made, running.settings.pg_address, number, backlog=BACKLOG, reuse_port=running.settings.several
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await port.close()


async def _served(port: Port, channel: Channel) -> None:
    await channel.opened
    if channel.crowded:
        channel.send(failed(Fault("53300", "there are too many connections now", severity=FATAL)))
        channel.close(port.limits.startup)
        return
    await Connection(port, channel).serve()
