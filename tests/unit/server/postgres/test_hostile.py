"""Hostile messages: whatever comes in, the answer is a right one, nothing breaks inside, and others are served."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import pytest
from tests.unit.server.postgres.hostile import framed, message_in, messages, spoiled, text_in
from tests.unit.server.postgres.ports import COUNT, OpenPort, startup

from sfumato.errors import SfumatoError
from sfumato.query.sql.text import parse
from sfumato.server.postgres.answers import Answer, Column
from sfumato.server.postgres.catalog.catalog import Catalog
from sfumato.server.postgres.faults import Fault
from sfumato.server.postgres.messages import read_first
from sfumato.server.postgres.naming import names_in, types_of
from sfumato.server.postgres.session import Session
from sfumato.server.postgres.statements import parted
from sfumato.server.postgres.variables import Variables

SEED = 7351
SENT = frozenset(b"RKSTDCZEN123tnIsHdc")
"""The first octets of messages that a server sends."""

COLUMNS = Column("n", 20), Column("m", 701), Column("t", 25), Column("d", 1082)
ROWS = ("1", "0.5", "x", "2026-01-01"), (None, None, None, None)


class PaperDesk:
    """Answers without data, but reads what it is asked as the real one does."""

    async def ask(self, text: str, values: Sequence[Any], variables: Variables) -> Answer:
        await self.columns(text, (), values, variables)
        return Answer(COLUMNS, ROWS, "SELECT 2")

    async def columns(
        self, text: str, oids: Sequence[int], values: Sequence[Any] | None, variables: Variables
    ) -> tuple[Column, ...]:
        names_in(text).plain(text)
        return COLUMNS

    async def explain(self, text: str, values: Sequence[Any], variables: Variables) -> Answer:
        parse(text)
        return Answer(COLUMNS[2:3], (("x",),), "EXPLAIN")

    async def catalog(self, text: str, values: Sequence[Any], variables: Variables) -> Answer | None:
        return None

    async def types(self, text: str, declared: tuple[int, ...], variables: Variables) -> tuple[int, ...]:
        return types_of(names_in(text), declared, None)


class Broken:
    """Remembers what broke."""

    def __init__(self) -> None:
        self.faults: list[BaseException] = []
        self.states: set[str] = set()

    def statement(self, kind: str, state: str, seconds: float) -> None:
        self.states.add(state)

    def fault(self, error: BaseException) -> None:
        self.faults.append(error)


def kinds_in(octets: bytes) -> list[int]:
    """The kinds of the messages that were sent, which must be whole."""
    kinds, at = [], 0
    while at < len(octets):
        (size,) = struct.unpack(">i", octets[at + 1 : at + 5])
        kinds.append(octets[at])
        assert size >= 4
        at += 1 + size
    assert at == len(octets)
    return kinds


async def drained() -> None:
    """Has nothing to wait for."""


async def tried(chance: random.Random, many: int) -> Broken:
    notes, session, sent = Broken(), None, bytearray()
    for kind, body in islice(messages(chance), many):
        if session is None:
            session = Session(PaperDesk(), Variables("ada", {}), notes, sent.extend, drained)
        goes_on = await session.take(kind, body)
        kinds = kinds_in(bytes(sent))
        assert set(kinds) <= SENT
        if kind == b"Q" and goes_on:
            assert kinds[-1:] == [ord("Z")]
        assert b"Traceback" not in sent
        sent.clear()
        if chance.random() < 0.3:
            assert await session.take(b"S", b"") and kinds_in(bytes(sent)) == [ord("Z")]
            sent.clear()
        session = session if goes_on else None
    return notes


@pytest.mark.parametrize("many", [10_000, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_any_message_is_answered_by_messages(many: int) -> None:
    notes = asyncio.run(tried(random.Random(SEED), many))
    assert not notes.faults
    assert "XX000" not in notes.states
    assert {"00000", "42601", "0A000", "25P02"} <= notes.states


@pytest.mark.parametrize("many", [2_000, pytest.param(30_000, marks=pytest.mark.nightly)])
def test_any_beginning_is_read_or_refused(many: int) -> None:
    chance, read = random.Random(SEED), 0
    for _ in range(many):
        body = spoiled(chance, startup(user="ada", database="sfumato", options="-c a=b")[4:])
        try:
            read_first(body)
            read += 1
        except Fault as fault:
            assert fault.state == "08P01"
    assert 0 < read < many


@pytest.mark.parametrize("many", [1_500, pytest.param(30_000, marks=pytest.mark.nightly)])
def test_any_text_is_parted_or_refused_and_no_catalog_breaks(many: int) -> None:
    chance, catalog, refused = random.Random(SEED), Catalog((), "ada", "sfumato"), 0
    for _ in range(many):
        text = text_in(chance)
        try:
            for statement in parted(text):
                catalog.answer(statement.text)
        except SfumatoError:
            refused += 1
    catalog.close()
    assert 0 < refused < many


@pytest.mark.parametrize("text", ["SHOW something secret", "SHOW CREATE TABLE secret", "DESCRIBE secret (secret)"])
def test_no_text_gets_into_the_log_of_the_process(text: str, caplog: pytest.LogCaptureFixture) -> None:
    with suppress(SfumatoError):
        parse(text)
    with suppress(SfumatoError):
        Catalog((), "ada", "sfumato").answer(text)
    assert "secret" not in caplog.text


@pytest.mark.parametrize("many", [150, pytest.param(4_000, marks=pytest.mark.nightly)])
def test_any_octets_over_a_socket_break_nothing(port: OpenPort, many: int) -> None:
    chance = random.Random(SEED)
    before = sum(line["event"] == "fault" for line in port.world.lines())
    for number in range(many):
        octets = startup(user="ada", database="sfumato")
        octets = spoiled(chance, octets) if number % 2 else octets + spoiled(chance, framed(*message_in(chance)))
        with socket.create_connection(("127.0.0.1", port.number), 10) as connection:
            connection.sendall(octets)
            connection.settimeout(0.003)
            with suppress(OSError):
                connection.recv(1_000)
    assert sum(line["event"] == "fault" for line in port.world.lines()) == before
    with port.connect() as connection:
        assert len(connection.execute(COUNT).fetchall()) == 1


@pytest.mark.parametrize("many", [60, pytest.param(3_000, marks=pytest.mark.nightly)])
def test_any_message_of_somebody_who_is_let_in_breaks_nothing(port: OpenPort, many: int) -> None:
    """Through libpq, with real questions: each is answered or refused, and no refusal is one that should not be."""
    chance = random.Random(SEED)
    before = sum(line["event"] == "fault" for line in port.world.lines())
    with port.connect("cora") as connection:  # who may not ask: what is answered costs nothing
        for _ in range(many):
            text = text_in(chance).replace("\0", "")
            result = connection.pgconn.exec_(text.encode("utf-8", "replace"))
            state = result.error_field(67)
            assert state is None or state != b"XX000", text
            if result.status in (3, 4):  # a copy has begun
                connection.close()
                connection = port.connect("cora")
    assert sum(line["event"] == "fault" for line in port.world.lines()) == before
