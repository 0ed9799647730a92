"""One connection of octets: what came in and was not read yet, TLS when it is asked for, waiting for slow readers."""

from __future__ import annotations

import asyncio
import ssl
from typing import cast, final

from sfumato.server.postgres.faults import Gone, protocol_fault

HELD = 1 << 16
"""Octets that may have come and not been read before no more are taken from the network."""


@final
class Channel(asyncio.Protocol):
    """A connection, from which octets are read in numbers that are known beforehand."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._held, self._wanted = bytearray(), 0
        self._arrived: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._paused = self._full = self.gone = self.crowded = False
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.left: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # those of other loops derive from nothing
        if not self.opened.done():
            self.opened.set_result(None)

    def data_received(self, data: bytes) -> None:
        self._held += data
        if len(self._held) > max(HELD, self._wanted) and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        _wake(self._arrived)

    def eof_received(self) -> bool:
        self.gone = True
        _wake(self._arrived)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone = True
        for waiting in (self._arrived, self._writable, self.left):
            _wake(waiting)

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        _wake(self._writable)

    # What connections do

    @property
    def peer(self) -> str:
        """The address of the other side."""
        name = None if self._transport is None else self._transport.get_extra_info("peername")
        return str(name[0]) if isinstance(name, tuple) and name else "local"

    async def take(self, count: int) -> bytes:
        """Reads so many octets."""
        self._wanted = count
        while len(self._held) < count:
            if self.gone:
                raise Gone
            if self._paused and self._transport is not None:
                self._paused = False
                self._transport.resume_reading()
            self._arrived = asyncio.get_running_loop().create_future()
            await self._arrived
        made = bytes(self._held[:count])
        del self._held[:count]
        return made

    def send(self, octets: bytes) -> None:
        """Sends octets, as soon as they can go."""
        if self._transport is not None and not self.gone:
            self._transport.write(octets)

    async def drained(self) -> None:
        """Waits until the other side has taken enough of what was sent."""
        while self._full and not self.gone:
            self._writable = asyncio.get_running_loop().create_future()
            await self._writable
        if self.gone:
            raise Gone

    async def encrypt(self, context: ssl.SSLContext, seconds: float) -> None:
        """Goes on by TLS; refuses a connection on which something was sent before, which nobody has vouched for."""
        if self._held:
            raise protocol_fault("something was sent before encryption was agreed upon")
        if self._transport is None:
            raise Gone
        self.send(b"S")
        loop = asyncio.get_running_loop()
        try:
            made = await loop.start_tls(self._transport, self, context, server_side=True, ssl_handshake_timeout=seconds)
        except (OSError, ssl.SSLError):
            made = None
        if made is None:
            raise Gone
        self._transport = made

    def close(self, seconds: float) -> None:
        """Closes the connection when what was sent has left, or after some seconds."""
        if self._transport is not None and not self.left.done():
            self._transport.close()
            asyncio.get_running_loop().call_later(seconds, self.abort)

    def abort(self) -> None:
        """Closes the connection at once."""
        self.gone = True
        if self._transport is not None and not self.left.done():
            self._transport.abort()


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
