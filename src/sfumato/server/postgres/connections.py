"""A connection from its first octet to its last: encryption, proof, then a session; each step within its time."""

from __future__ import annotations

import asyncio
import shlex
import struct
import time
from base64 import b64encode
from collections.abc import Callable
from typing import TypeVar, final

from sfumato.entropy import system
from sfumato.errors import SfumatoError, SignInRefused
from sfumato.server.calling import until_class_ends
from sfumato.server.postgres.channel import Channel
from sfumato.server.postgres.desk import PersonsDesk
from sfumato.server.postgres.faults import FATAL, Fault, Gone, fault_of, protocol_fault
from sfumato.server.postgres.messages import LONGEST_STARTUP, VERSION, Cancel, Encryption, Startup, read_first
from sfumato.server.postgres.naming import DATABASE
from sfumato.server.postgres.port import Port
from sfumato.server.postgres.sasl import Proof, refused_fault
from sfumato.server.postgres.session import Session
from sfumato.server.postgres.variables import Variables
from sfumato.server.postgres.writing import (
    IDLE,
    failed,
    key,
    let_in,
    negotiated,
    ready,
    sasl,
    sasl_continues,
    sasl_ends,
    status,
)
from sfumato.server.signing_in import failing_names
from sfumato.service.people import TOKEN, Person

Made = TypeVar("Made")

LONGEST_PROOF = 2_000
RESERVED = "_pq_."
"""What the names of extensions of the protocol begin with."""

OWN_NAMES = frozenset({"user", "database", "options", "replication"})


@final
class Connection:
    """One connection."""

    def __init__(self, port: Port, channel: Channel) -> None:
        self._port, self._running, self._channel = port, port.running, channel
        self._encrypted = False
        self._person, self._number = "", port.next_number()

    async def serve(self) -> None:
        """Serves until either side has enough."""
        try:
            async with asyncio.timeout(self._port.limits.startup):
                begun = await self._begin()
            if begun is not None:
                await self._go_on(*begun)
        except (Gone, TimeoutError, ConnectionError):
            self._channel.abort()
        except Exception as error:
            if not isinstance(error, SfumatoError):
                self.fault(error)
            fault = fault_of(error)
            self._channel.send(failed(Fault(fault.state, fault.message, hint=fault.hint, severity=FATAL)))
        finally:
            self._channel.close(self._port.limits.write)

    # Until somebody is let in

    async def _begin(self) -> tuple[PersonsDesk, Variables] | None:
        self._running.addresses.take(self._channel.peer)
        first = await self._first()
        if isinstance(first, Cancel):
            self._port.cancel(first.process, first.secret)
            return None
        if self._port.needs_tls and not self._encrypted:
            raise Fault("28000", "this server speaks by TLS alone", hint="Connect with sslmode=require or stricter.")
        name, said = _asked_in(first)
        unknown = [one for one in first.said if one.startswith(RESERVED)]
        if first.minor or unknown:
            self._channel.send(negotiated(VERSION, unknown))
        place, person = await self._proved(name)
        self._person = person.name
        return PersonsDesk(self._running, self._port.catalogs, place), Variables(person.name, said)

    async def _first(self) -> Startup | Cancel:
        for _ in range(3):  # asked for GSSAPI, asked for TLS, began
            size = struct.unpack(">i", await self._channel.take(4))[0]
            if not 8 <= size <= LONGEST_STARTUP:
                raise protocol_fault("it is too long, or too short, to begin a connection")
            first = read_first(await self._channel.take(size - 4))
            if not isinstance(first, Encryption):
                return first
            context = self._port.context
            if first.tls and context is not None and not self._encrypted:
                await self._channel.encrypt(context, self._port.limits.startup)
                self._encrypted = True
            else:
                self._channel.send(b"N")
        raise protocol_fault("it asks for encryption again and again")

    async def _proved(self, name: str) -> tuple[str, Person]:
        """Lets in whoever proves a token of the person that they say they are."""
        running, address = self._running, self._channel.peer
        here, names = failing_names(name, address, "pg ")
        running.failures.check(names)
        people = running.house.people
        salt, tokens = await self._at_class_end(lambda: (people.salt(name), people.provable(name)))
        proof = Proof(salt, tokens, b64encode(system().octets(18)), self._port.binding if self._encrypted else None)
        self._channel.send(sasl(proof.mechanisms))
        mechanism, said = _initial(await self._proof())
        self._channel.send(sasl_continues(proof.first(mechanism, said)))
        try:
            place, own = proof.last(await self._proof())
            person = await running.quick.run(lambda: people.still_known_by(TOKEN, place))
        except (Fault, SignInRefused):
            running.failures.failed(names)
            running.metrics.add("sfumato_sign_ins_refused_total")
            raise refused_fault() from None
        running.failures.succeeded(here)
        self._channel.send(sasl_ends(own) + let_in())
        return place, person

    async def _at_class_end(self, act: Callable[[], Made]) -> Made:
        """Does something so that the time it took tells nothing."""
        began = time.monotonic()
        made = await self._running.quick.run(act)
        await asyncio.sleep(until_class_ends(time.monotonic() - began, self._running.settings.time_classes))
        return made

    async def _proof(self) -> bytes:
        kind, size = await self._head()
        if kind != b"p" or size > LONGEST_PROOF:
            raise protocol_fault("a proof was asked for")
        return await self._channel.take(size)

    async def _head(self) -> tuple[bytes, int]:
        head = await self._channel.take(5)
        size = struct.unpack(">i", head[1:])[0] - 4
        if not 0 <= size <= self._port.limits.message:
            raise protocol_fault(f"it has more than {self._port.limits.message:,} octets")
        return head[:1], size

    # Afterwards

    async def _go_on(self, desk: PersonsDesk, variables: Variables) -> None:
        channel = self._channel
        self._port.let_in(self._person)
        process, secret = self._port.known_by(desk)
        try:
            for name, value in variables.reported.items():
                channel.send(status(name, value))
            channel.send(key(process, secret) + ready(IDLE))
            session = Session(desk, variables, self, channel.send, self._drained)
            await self._listen(session, desk)
        finally:
            self._port.forget(process)
            self._port.let_out(self._person)

    async def _listen(self, session: Session, desk: PersonsDesk) -> None:
        limits = self._port.limits
        self._channel.left.add_done_callback(lambda _: desk.cancel())
        while True:
            try:
                async with asyncio.timeout(limits.idle):
                    kind, size = await self._head()
            except TimeoutError:
                raise Fault("57P05", "nothing was asked for too long", severity=FATAL) from None
            async with asyncio.timeout(limits.startup):
                body = await self._channel.take(size)
            if not await session.take(kind, body):
                return

    async def _drained(self) -> None:
        """Waits for whoever does not take answers as fast as they come, and lets others go on in between."""
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(self._port.limits.write):
                await self._channel.drained()
        except TimeoutError:
            raise Gone from None

    # What is taken down

    def statement(self, kind: str, state: str, seconds: float) -> None:
        """Notes a statement that was done: its kind and how it ended, and nothing of what it asked."""
        self._running.metrics.request("PG", kind, state, seconds)
        self._running.log.line(
            "statement",
            connection=self._number,
            kind=kind,
            state=state,
            milliseconds=round(1000 * seconds, 1),
            person=self._running.log.pseudonym(self._person),
        )

    def fault(self, error: BaseException) -> None:
        """Notes something that went wrong and should not."""
        self._running.log.fault(f"pg-{self._number}", error)


def _initial(body: bytes) -> tuple[str, bytes]:
    """The mechanism that a client has chosen, and what it says first."""
    name, found, rest = body.partition(b"\0")
    if not found or len(rest) < 4 or struct.unpack(">i", rest[:4])[0] != len(rest) - 4:
        raise protocol_fault("it begins no proof")
    return name.decode("latin-1"), rest[4:]


def _asked_in(first: Startup) -> tuple[str, dict[str, str]]:
    """Who somebody says they are, and the settings that they begin with."""
    name, database = first.said.get("user", ""), first.said.get("database", DATABASE)
    if not name or len(name) > 100:
        raise Fault("28000", "a connection says whose it is: user", severity=FATAL)
    if "replication" in first.said and first.said["replication"].lower() not in ("false", "off", "no", "0"):
        raise Fault("0A000", "nothing is replicated from here", severity=FATAL)
    if database != DATABASE:
        raise Fault("3D000", f"there is one database here, {DATABASE}; data sets are its schemas", severity=FATAL)
    said = {
        name: value for name, value in first.said.items() if name not in OWN_NAMES and not name.startswith(RESERVED)
    }
    return name, _options(first.said.get("options", "")) | said


def _options(text: str) -> dict[str, str]:
    """The settings in ``-c name=value --name=value``."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = ["?"]
    made, at = {}, 0
    while at < len(words):
        word, at = words[at], at + 1
        if word == "-c" and at < len(words):
            word, at = words[at], at + 1
        elif word.startswith(("-c", "--")):
            word = word[2:]
        else:
            word = ""
        name, found, value = word.partition("=")
        if not found:
            raise Fault("22023", "options are written as -c name=value", severity=FATAL)
        made[name.replace("-", "_")] = value
    return made
