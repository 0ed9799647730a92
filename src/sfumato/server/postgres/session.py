"""One connection that is let in, message by message: what comes in, what is done, and what goes out.

Nothing here knows of sockets: octets go to ``send``, and questions to a desk. So every message there can be is tried.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Protocol, final

from sfumato.errors import SfumatoError
from sfumato.server.postgres.answers import Answer
from sfumato.server.postgres.commands import Commands, Desk
from sfumato.server.postgres.faults import Fault, Gone, fault_of, unsupported
from sfumato.server.postgres.messages import (
    BINARY_FORMAT,
    TEXT_FORMAT,
    Bind,
    Call,
    Close,
    Describe,
    Execute,
    Flush,
    Message,
    Parse,
    Query,
    Sync,
    Terminate,
    read_message,
)
from sfumato.server.postgres.portals import Kept, Portal, Prepared
from sfumato.server.postgres.replies import copied
from sfumato.server.postgres.statements import Kind, Statement, parted
from sfumato.server.postgres.values import octets_of, value_of
from sfumato.server.postgres.variables import Variables
from sfumato.server.postgres.writing import (
    BOUND,
    CLOSED,
    COPIED,
    EMPTY,
    IDLE,
    NO_DATA,
    PARSED,
    SUSPENDED,
    copying,
    described,
    done,
    failed,
    parameters,
    ready,
    row,
)
from sfumato.server.postgres.writing import copied as copied_line

WITH_PARAMETERS = frozenset({Kind.QUESTION, Kind.EXPLAIN, Kind.COPY, Kind.DECLARE})
ROWS_AT_ONCE = 500
"""Rows after which it is waited until the client has taken them."""


class Notes(Protocol):
    """Takes down what was done, without what was asked."""

    def statement(self, kind: str, state: str, seconds: float) -> None:
        """Notes a statement: its kind, the code of its end, and how long it took."""

    def fault(self, error: BaseException) -> None:
        """Notes something that went wrong and should not."""


@final
class Session:
    """Takes the messages of one connection, and answers them."""

    def __init__(
        self,
        desk: Desk,
        variables: Variables,
        notes: Notes,
        send: Callable[[bytes], None],
        drained: Callable[[], Awaitable[None]],
    ) -> None:
        self._desk, self._notes, self._send, self._drained = desk, notes, send, drained
        self._kept = Kept()
        self._commands = Commands(desk, variables, self._kept, send)
        self._skipping = False

    @property
    def inside(self) -> bool:
        """Tells whether a transaction is open."""
        return self._commands.state != IDLE

    async def take(self, kind: bytes, body: bytes) -> bool:
        """Answers a message; tells whether the connection goes on."""
        try:
            message = read_message(kind, body)
        except Fault as fault:
            self._send(failed(fault))
            return False
        if isinstance(message, Terminate):
            return False
        if isinstance(message, Sync):
            self._sync()
        elif isinstance(message, Query):
            self._skipping = False
            await self._simple(message.text)
            self._send(ready(self._commands.state))
        elif not self._skipping:
            await self._guarded(self._extended(message), skips=True)
        await self._drained()
        return True

    # One by one

    def _sync(self) -> None:
        self._skipping = False
        if self._commands.state == IDLE:
            self._kept.end(kept=True)
        self._send(ready(self._commands.state))

    async def _guarded(self, act: Awaitable[None], *, skips: bool, text: str = "", offset: int = 0) -> bool:
        """Does something; what goes wrong is said to the client, and ends the group of messages that it is in."""
        try:
            await act
        except Gone:
            raise
        except Exception as error:
            if not isinstance(error, SfumatoError):
                self._notes.fault(error)
            self._send(failed(_placed(fault_of(error, text), offset)))
            self._commands.failed()
            self._skipping = skips
            return False
        return True

    async def _noted(self, kind: Kind, act: Awaitable[Answer]) -> Answer:
        began, state = time.monotonic(), "XX000"
        try:
            answer = await act
            state = "00000"
            return answer
        except SfumatoError as error:
            state = fault_of(error).state
            raise
        finally:
            self._notes.statement(kind.value, state, time.monotonic() - began)

    # Several statements in one text

    async def _simple(self, text: str) -> None:
        statements: list[Statement] = []

        async def read() -> None:
            statements.extend(parted(text))

        if not await self._guarded(read(), skips=False):
            return
        if not statements:
            self._send(EMPTY)
        for statement in statements:
            act = self._answered(statement)
            if not await self._guarded(act, skips=False, text=statement.text, offset=statement.offset):
                return
        if not self.inside:
            self._kept.end(kept=True)

    async def _answered(self, statement: Statement) -> None:
        answer = await self._noted(statement.kind, self._commands.perform(statement, ()))
        if statement.kind is Kind.COPY:
            await self._copy(answer, statement)
            return
        if answer.columns:
            self._send(described(answer.columns, [TEXT_FORMAT] * len(answer.columns)))
        await self._rows(answer, answer.rows, ())
        self._send(done(answer.tag))

    async def _rows(self, answer: Answer, rows: tuple[tuple[str | None, ...], ...], formats: tuple[int, ...]) -> None:
        forms = _spread(formats, len(answer.columns))
        binary = [
            column.oid if form == BINARY_FORMAT else None for column, form in zip(answer.columns, forms, strict=True)
        ]
        for number, cells in enumerate(rows, 1):
            self._send(row(_cell(cell, oid) for cell, oid in zip(cells, binary, strict=True)))
            if number % ROWS_AT_ONCE == 0:
                await self._drained()

    async def _copy(self, answer: Answer, statement: Statement) -> None:
        self._send(copying(len(answer.columns)))
        for number, line in enumerate(copied(answer, statement.words), 1):
            self._send(copied_line(line))
            if number % ROWS_AT_ONCE == 0:
                await self._drained()
        self._send(COPIED)
        self._send(done(f"COPY {len(answer.rows)}"))

    # Statements that are prepared first

    async def _extended(self, message: Message) -> None:
        match message:
            case Parse():
                await self._parse(message)
                self._send(PARSED)
            case Bind():
                self._bind(message)
                self._send(BOUND)
            case Describe(portal=True):
                await self._placed_in(self._kept.portal(message.name).statement, self._describe_portal(message.name))
            case Describe():
                await self._placed_in(
                    self._kept.statement(message.name).statement, self._describe_statement(message.name)
                )
            case Execute():
                await self._placed_in(self._kept.portal(message.portal).statement, self._execute(message))
            case Close():
                (self._kept.portals if message.portal else self._kept.prepared).pop(message.name, None)
                self._send(CLOSED)
            case Call():
                raise unsupported("calling a function by its number")
            case Flush():
                pass

    async def _placed_in(self, statement: Statement | None, act: Awaitable[None]) -> None:
        """Does something about a statement, so that a refusal says where in its text."""
        try:
            await act
        except SfumatoError as error:
            if statement is None:
                raise
            fault = _placed(fault_of(error, statement.text), statement.offset)
        else:
            return
        raise fault

    async def _parse(self, message: Parse) -> None:
        if message.name == "":
            self._kept.prepared.pop("", None)
        statements = parted(message.text)
        if len(statements) > 1:
            raise Fault("42601", "several statements cannot be prepared as one")
        statement = statements[0] if statements else None
        oids = message.oids
        if statement is not None and statement.kind in WITH_PARAMETERS:
            oids = await self._desk.types(statement.text, message.oids, self._commands.variables)
        self._kept.prepare(message.name, Prepared(statement, oids))

    def _bind(self, message: Bind) -> None:
        prepared = self._kept.statement(message.statement)
        if len(message.values) != len(prepared.oids):
            many = len(prepared.oids)
            raise Fault("08P01", f"the statement has {many} parameters, and there are {len(message.values)} values")
        formats = _spread(message.formats, len(message.values))
        given = enumerate(zip(prepared.oids, formats, message.values, strict=True), 1)
        values = tuple(value_of(oid, form, octets, number) for number, (oid, form, octets) in given)
        if message.portal == "":
            self._kept.portals.pop("", None)
        self._kept.bind(message.portal, Portal(prepared.statement, values, message.results))

    async def _describe_statement(self, name: str) -> None:
        prepared = self._kept.statement(name)
        columns = None
        if prepared.statement is not None:
            columns = await self._commands.columns(prepared.statement, prepared.oids, () if not prepared.oids else None)
        self._send(parameters(prepared.oids))
        self._send(NO_DATA if columns is None else described(columns, [TEXT_FORMAT] * len(columns)))

    async def _describe_portal(self, name: str) -> None:
        portal = self._kept.portal(name)
        columns = await self._commands.portal_columns(portal)
        self._send(NO_DATA if columns is None else described(columns, _spread(portal.formats, len(columns))))

    async def _execute(self, message: Execute) -> None:
        portal = self._kept.portal(message.portal)
        statement = portal.statement
        if statement is None:
            self._send(EMPTY)
            return
        answer = await self._noted(statement.kind, self._commands.fill(portal))
        if statement.kind is Kind.COPY:
            await self._copy(answer, statement)
            return
        rows, more = portal.rows(message.most)
        await self._rows(answer, rows, portal.formats)
        if more:
            self._send(SUSPENDED)
        else:
            self._send(done(f"SELECT {portal.sent}" if statement.kind is Kind.QUESTION else answer.tag))


def _spread(formats: tuple[int, ...], many: int) -> list[int]:
    """Formats one by one: none stands for texts, and one for all."""
    if len(formats) in (0, 1):
        return [*(formats or (TEXT_FORMAT,))] * many
    if len(formats) != many:
        raise Fault("08P01", "there are other formats than columns")
    return list(formats)


def _cell(cell: str | None, oid: int | None) -> bytes | None:
    if cell is None:
        return None
    return cell.encode("utf-8", "replace") if oid is None else octets_of(oid, cell)


def _placed(fault: Fault, offset: int) -> Fault:
    """The same fault, with its place counted from the beginning of what was sent."""
    if fault.position is None or not offset:
        return fault
    return Fault(
        fault.state,
        fault.message,
        detail=fault.detail,
        hint=fault.hint,
        position=fault.position + offset,
        severity=fault.severity,
    )
