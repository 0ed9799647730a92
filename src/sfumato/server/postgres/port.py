"""The port itself: who is connected, how many there may be, what cancels what, and the certificate."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import ssl
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from sfumato.entropy import system
from sfumato.errors import BadArgument, SfumatoError
from sfumato.server.postgres.catalog.keeping import Catalogs
from sfumato.server.postgres.desk import PersonsDesk
from sfumato.server.postgres.faults import FATAL, Fault
from sfumato.server.running import Running
from sfumato.server.settings import LOOPBACK
from sfumato.service.calls import Calls

KEY_BYTES = 4
WEAK = {"md5": "sha256", "sha1": "sha256"}
"""Digests of certificates in whose place a better one is taken for the binding (RFC 5929, 4.1)."""


@final
@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much one connection may send and wait, and how many there may be."""

    message: int = 1 << 20
    startup: float = 15.0
    write: float = 60.0
    idle: float = 3_600.0
    connections: int = 200
    per_person: int = 50


@final
class Port:
    """What the connections of one port share."""

    def __init__(self, running: Running, limits: Limits | None = None) -> None:
        settings = running.settings
        self.running, self.limits = running, limits or Limits()
        self.context: ssl.SSLContext | None = None
        self.binding: bytes | None = None
        if settings.pg_tls is not None:
            self.context, self.binding = tls_of(*settings.pg_tls)
        self._numbers, self._tasks = itertools.count(1), set[asyncio.Task[None]]()
        self._desks: dict[int, tuple[bytes, PersonsDesk]] = {}
        self._people: Counter[str] = Counter()
        self._passing = set[asyncio.Future[None]]()
        self.catalogs = Catalogs()

    @property
    def needs_tls(self) -> bool:
        """Tells whether only encrypted connections are let in."""
        return self.running.settings.pg_address not in LOOPBACK

    def next_number(self) -> int:
        """The number of a new connection, for the log."""
        return next(self._numbers)

    # Who is connected

    def keep(self, task: asyncio.Task[None]) -> bool:
        """Counts a connection; tells whether there is room for it."""
        if len(self._tasks) >= self.limits.connections:
            return False
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.running.metrics.add("sfumato_pg_connections")
        task.add_done_callback(lambda _: self.running.metrics.add("sfumato_pg_connections", -1))
        return True

    def let_in(self, person: str) -> None:
        """Counts a connection of somebody, or refuses it."""
        if self._people[person] >= self.limits.per_person:
            raise Fault("53300", f"one person has at most {self.limits.per_person} connections", severity=FATAL)
        self._people[person] += 1

    def let_out(self, person: str) -> None:
        """Counts one less."""
        self._people[person] -= 1
        if self._people[person] <= 0:
            del self._people[person]

    async def close(self) -> None:
        """Ends all connections."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # What cancels what

    def known_by(self, desk: PersonsDesk) -> tuple[int, bytes]:
        """The number and the secret by which a connection can be cancelled."""
        number = int.from_bytes(system().octets(4), "big") >> 1
        while number in self._desks:
            number = int.from_bytes(system().octets(4), "big") >> 1
        secret = system().octets(KEY_BYTES)
        self._desks[number], desk.process = (secret, desk), number
        desk.secret = number.to_bytes(4, "big") + secret
        return number, secret

    def forget(self, number: int) -> None:
        """Forgets a connection that has ended."""
        self._desks.pop(number, None)

    def cancel(self, number: int, secret: bytes) -> None:
        """Cancels what a connection is doing, for whoever knows its secret; nobody is told whether there was any."""
        known = self._desks.get(number)
        if known is not None and hmac.compare_digest(known[0], secret):
            known[1].cancel()
        elif known is None and self.running.settings.several:  # it may be a connection of another worker
            passing = asyncio.ensure_future(self._pass_on(number.to_bytes(4, "big", signed=True) + secret))
            self._passing.add(passing)
            passing.add_done_callback(self._passing.discard)

    async def _pass_on(self, secret: bytes) -> None:
        with suppress(SfumatoError):
            await self.running.quick.run(lambda: Calls(self.running.house).cancel(secret))


def tls_of(certificate: Path, key: Path) -> tuple[ssl.SSLContext, bytes | None]:
    """What TLS is spoken with, and what proofs are bound to: a digest of the certificate (RFC 5929)."""
    from cryptography.x509 import load_pem_x509_certificate

    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(certificate, key)
        read = load_pem_x509_certificate(certificate.read_bytes())
        name = "" if read.signature_hash_algorithm is None else read.signature_hash_algorithm.name
    except (OSError, ValueError):
        name, context, read = "", None, None
    if context is None or read is None:
        raise BadArgument("certificate_file", "a certificate in PEM, with its key", certificate.name)
    der = ssl.PEM_cert_to_DER_cert(_pem(certificate))
    # A certificate that says no digest (Ed25519) has no binding that all clients agree upon.
    return context, hashlib.new(WEAK.get(name, name), der).digest() if name else None


def _pem(file: Path) -> str:
    text, end = file.read_text(encoding="ascii", errors="replace"), "-----END CERTIFICATE-----"
    return text[text.index("-----BEGIN CERTIFICATE-----") : text.index(end) + len(end)]
