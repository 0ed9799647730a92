"""What a connection keeps between messages: prepared statements, and portals with what is left of their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from sfumato.server.postgres.answers import Answer, Column
from sfumato.server.postgres.faults import Fault
from sfumato.server.postgres.statements import Statement

MOST_PREPARED, MOST_PORTALS = 1_000, 20
MOST_LETTERS = 4_000_000
"""Of all prepared statements of a connection together."""

UNNAMED = ""


@final
@dataclass(frozen=True)
class Prepared:
    """A statement under a name (None: an empty text), and the types of its parameters."""

    statement: Statement | None
    oids: tuple[int, ...]


@final
class Portal:
    """A statement with values; once it ran, its answer and how much of it was sent."""

    def __init__(
        self,
        statement: Statement | None,
        values: tuple[Any, ...] = (),
        formats: tuple[int, ...] = (),
        *,
        held: bool = False,
    ) -> None:
        self.statement, self.values, self.formats, self.held = statement, values, formats, held
        self.columns: tuple[Column, ...] | None = None
        self.answer: Answer | None = None
        self.sent = 0

    def rows(self, most: int) -> tuple[tuple[tuple[str | None, ...], ...], bool]:
        """The next rows of the answer, and whether there may be more; 0 stands for all."""
        whole = () if self.answer is None else self.answer.rows
        made = whole[self.sent :] if most <= 0 else whole[self.sent : self.sent + most]
        self.sent += len(made)
        return made, 0 < most == len(made)


@final
class Kept:
    """Statements and portals by their names."""

    def __init__(self) -> None:
        self.prepared: dict[str, Prepared] = {}
        self.portals: dict[str, Portal] = {}

    def prepare(self, name: str, made: Prepared) -> None:
        """Keeps a statement; a name that is taken is refused, but for the empty one."""
        if name != UNNAMED and name in self.prepared:
            raise Fault("42P05", f"there is a prepared statement {name[:80]!r} already")
        letters = sum(len(one.statement.text) for one in self.prepared.values() if one.statement is not None)
        if len(self.prepared) >= MOST_PREPARED or letters > MOST_LETTERS:
            raise Fault("53200", "this connection has too many prepared statements", hint="DEALLOCATE ALL.")
        self.prepared[name] = made

    def statement(self, name: str) -> Prepared:
        """A prepared statement that must be there."""
        if name not in self.prepared:
            raise Fault("26000", f"there is no prepared statement {name[:80]!r}")
        return self.prepared[name]

    def bind(self, name: str, portal: Portal) -> None:
        """Keeps a portal; a name that is taken is refused, but for the empty one."""
        if name != UNNAMED and name in self.portals:
            raise Fault("42P03", f"there is a cursor {name[:80]!r} already")
        if len(self.portals) >= MOST_PORTALS:
            raise Fault("53200", "this connection has too many cursors open", hint="Close some.")
        self.portals[name] = portal

    def portal(self, name: str) -> Portal:
        """A portal that must be there."""
        if name not in self.portals:
            raise Fault("34000", f"there is no cursor {name[:80]!r}")
        return self.portals[name]

    def deallocate(self, name: str) -> None:
        """Forgets a statement, or all of them."""
        if name.upper() == "ALL":
            self.prepared.clear()
            return
        self.statement(name)
        del self.prepared[name]

    def end(self, *, kept: bool) -> None:
        """Forgets portals where a transaction ends; cursors WITH HOLD stay, where it was kept."""
        self.portals = {name: portal for name, portal in self.portals.items() if portal.held and kept}
