"""Performs statements: commands here, questions at a desk that knows how to answer them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, final

from sfumato.server.postgres.answers import TEXT, Answer, Column
from sfumato.server.postgres.faults import Fault
from sfumato.server.postgres.portals import Kept, Portal
from sfumato.server.postgres.replies import listed
from sfumato.server.postgres.statements import DEFAULT, Kind, Statement
from sfumato.server.postgres.variables import Variables
from sfumato.server.postgres.writing import FAILED, IDLE, INSIDE, noticed, status

Values = Sequence[Any]
ENDINGS = frozenset({Kind.COMMIT, Kind.ROLLBACK})


class Desk(Protocol):
    """Answers questions for whoever is at the other end of a connection."""

    async def ask(self, text: str, values: Values, variables: Variables) -> Answer:
        """Answers a question, of the catalog or of a data set; pays for it where it costs something."""

    async def columns(self, text: str, oids: Sequence[int], values: Values | None, variables: Variables) -> Columns:
        """The columns that an answer will have; where there are no values yet, made-up ones of these types do."""

    async def explain(self, text: str, values: Values, variables: Variables) -> Answer:
        """Says what a question would cost; spends nothing."""

    async def catalog(self, text: str, values: Values, variables: Variables) -> Answer | None:
        """Answers a question to the catalog; None where it is none."""

    async def types(self, text: str, declared: tuple[int, ...], variables: Variables) -> tuple[int, ...]:
        """The types of the parameters of a question."""


Columns = tuple[Column, ...]


@final
class Commands:
    """Performs the statements of one connection, and keeps how its transaction stands."""

    def __init__(self, desk: Desk, variables: Variables, kept: Kept, send: Callable[[bytes], None]) -> None:
        self._desk, self._send = desk, send
        self.variables, self.kept, self.state = variables, kept, IDLE

    def failed(self) -> None:
        """Marks the transaction, where there is one, as one that can only be rolled back."""
        if self.state == INSIDE:
            self.state = FAILED

    async def columns(self, statement: Statement, oids: Sequence[int], values: Values | None) -> Columns | None:
        """The columns that a statement will give; None where it gives no rows."""
        match statement.kind:
            case Kind.QUESTION:
                self._check_state(statement)
                return await self._desk.columns(statement.text, oids, values, self.variables)
            case Kind.EXPLAIN:
                return (Column("QUERY PLAN", TEXT),)
            case Kind.SHOW:
                return (await self._shown(statement)).columns
            case Kind.FETCH:
                return await self.portal_columns(self.kept.portal(statement.words[0]))
        return None

    async def portal_columns(self, portal: Portal) -> Columns | None:
        """The columns of a portal."""
        if portal.columns is None and portal.statement is not None:
            portal.columns = await self.columns(portal.statement, (), portal.values)
        return portal.columns

    async def perform(self, statement: Statement, values: Values) -> Answer:
        """Performs a statement."""
        self._check_state(statement)
        match statement.kind:
            case Kind.QUESTION | Kind.COPY:
                return await self._desk.ask(statement.text, values, self.variables)
            case Kind.EXPLAIN:
                return await self._desk.explain(statement.text, values, self.variables)
            case Kind.FETCH:
                return await self._fetched(statement)
            case Kind.SHOW:
                return await self._shown(statement)
        return self._performed(statement, values)

    async def fill(self, portal: Portal) -> Answer:
        """Runs a portal, where it has not run yet; its answer."""
        if portal.answer is None and portal.statement is not None:
            portal.answer = await self.perform(portal.statement, portal.values)
        return portal.answer or Answer((), (), "")

    def _check_state(self, statement: Statement) -> None:
        if self.state != FAILED or statement.kind in ENDINGS:
            return
        if statement.kind is Kind.SAVEPOINT and statement.words == ("TO",):
            return
        why = "this transaction has failed, and nothing more is done in it until it ends"
        raise Fault("25P02", why, hint="Write ROLLBACK.")

    def _performed(self, statement: Statement, values: Values) -> Answer:
        """Commands that need nobody's data."""
        match statement.kind:
            case Kind.SET:
                return self._set(statement)
            case Kind.RESET:
                whole = statement.words[0].upper() == "ALL"
                self._tell(self.variables.reset() if whole else self.variables.set(statement.words[0], None))
            case Kind.BEGIN:
                self._begin()
            case Kind.COMMIT | Kind.ROLLBACK:
                return self._end(statement)
            case Kind.SAVEPOINT:
                self._savepoint(statement)
            case Kind.DISCARD:
                self._discard(statement)
            case Kind.DEALLOCATE:
                self.kept.deallocate(statement.words[0])
            case Kind.DECLARE:
                self._declare(statement, values)
            case Kind.CLOSE:
                self._close(statement.words[0])
        return Answer((), (), statement.tag)

    def _tell(self, changed: dict[str, str]) -> None:
        for name, value in changed.items():
            self._send(status(name, value))

    def _notice(self, state: str, words: str) -> None:
        self._send(noticed(Fault(state, words, severity="WARNING")))

    def _set(self, statement: Statement) -> Answer:
        name, value, local = statement.words
        if local and self.state == IDLE:
            self._notice("25P01", "SET LOCAL is of use inside of a transaction only")
            return Answer((), (), "SET")
        self._tell(self.variables.set(name, None if value == DEFAULT else value, local=bool(local)))
        return Answer((), (), "SET")

    async def _shown(self, statement: Statement) -> Answer:
        """A setting of this connection, or one that every PostgreSQL has."""
        name = statement.words[0]
        if name.upper() == "ALL":
            columns = Column("name", TEXT), Column("setting", TEXT), Column("description", TEXT)
            return Answer(columns, tuple((one, value, "") for one, value in self.variables.all), "SHOW")
        if not self.variables.says(name):
            known = await self._desk.catalog(f"SHOW {name}", (), self.variables)
            if known is not None:
                return known
        return listed(name, self.variables[name])

    def _begin(self) -> None:
        if self.state == IDLE:
            self.variables.begin()
            self.state = INSIDE
        else:
            self._notice("25001", "there is a transaction already")

    def _end(self, statement: Statement) -> Answer:
        if self.state == IDLE:
            self._notice("25P01", "there is no transaction")
            return Answer((), (), statement.tag)
        kept = statement.kind is Kind.COMMIT and self.state == INSIDE
        self._tell(self.variables.end(kept=kept))
        self.kept.end(kept=kept)
        self.state = IDLE
        return Answer((), (), "COMMIT" if kept else "ROLLBACK")

    def _savepoint(self, statement: Statement) -> None:
        if self.state == IDLE:
            raise Fault("25P01", f"{statement.tag} is of use inside of a transaction only")
        if statement.words == ("TO",):
            self.state = INSIDE

    def _discard(self, statement: Statement) -> None:
        if self.state != IDLE:
            raise Fault("25001", "DISCARD is of use outside of transactions only")
        if "ALL" in (statement.words or ("ALL",)):
            self._tell(self.variables.reset())
            self.kept.prepared.clear()
            self.kept.portals.clear()

    def _declare(self, statement: Statement, values: Values) -> None:
        held = "HOLD" in statement.words[1:]
        if self.state == IDLE and not held:
            raise Fault("25P01", "a cursor is of use inside of a transaction only", hint="Write BEGIN, or WITH HOLD.")
        inner = Statement(Kind.QUESTION, statement.text, "SELECT", offset=statement.offset)
        self.kept.bind(statement.words[0], Portal(inner, tuple(values), held=held))

    def _close(self, name: str) -> None:
        if name.upper() == "ALL":
            self.kept.portals.clear()
            return
        self.kept.portal(name)
        del self.kept.portals[name]

    async def _fetched(self, statement: Statement) -> Answer:
        portal = self.kept.portal(statement.words[0])
        answer = await self.fill(portal)
        rows, _ = portal.rows(int(statement.words[1]))
        return Answer(answer.columns, rows, f"FETCH {len(rows)}")
