"""PostgreSQL: computes cells where the tables are, in one transaction that reads. Nothing that it says is ever shown.

Tables of a question are named SELECTs before it (``WITH t0 AS …``): of the server's tables for permits, and without
rows for rehearsals, so that both run the same text. Public tables are copies, the same in both halves: how often a key
comes in one of them must be what the other counted.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, final

from sfumato.core.outages import Outage
from sfumato.errors import QueryRefused, RunFailed
from sfumato.query.engines.operands import constant
from sfumato.query.engines.postgres.connections import Connections
from sfumato.query.engines.postgres.reading import made_as
from sfumato.query.engines.postgres.server import driver, is_lost, outage, unpaid
from sfumato.query.engines.sql.dialect import Dialect
from sfumato.query.engines.sql.engine import Answer, SQLEngine, Tuples
from sfumato.query.engines.sql.held import Held
from sfumato.query.engines.sql.statement import Statement, listing
from sfumato.query.nodes.kinds import Kind

VERSION_DIGITS = 32
"""The number of hexadecimal digits that name a version of data."""

LACKS = frozenset({"regexp_extract", "regexp_replace"})
"""Of what matches a pattern PostgreSQL takes another part than other engines do (`patterns`)."""

NOTHING = "[]"
"""The copy of a table without rows."""

COLLATED = re.compile(r' COLLATE (pg_catalog[.])?"[A-Za-z0-9_.-]+"')
"""What texts of a planner may name: collations."""

PATTERN = re.compile(r"~ CAST\(\$([0-9]+) AS text\)")


@final
@dataclass(frozen=True)
class Rows:
    """The rows of a table: a SELECT on the server, or a copy of public ones as JSON. ``place`` digests which it is."""

    select: str = ""
    copy: str = NOTHING
    place: bytes = b""


@final
class PostgresEngine(SQLEngine):
    """Tables of one database. Several threads may use it at once. `opening.Postgres` makes one.

    It names no tables but those that it was opened with: the planner's names none at all (``reaches``), for what it
    has of public tables are copies. ``known`` are the tables that questions may be about, where they are more.
    """

    name: ClassVar[str] = "PostgreSQL"
    lacks: ClassVar[frozenset[str]] = LACKS

    def __init__(
        self,
        connections: Connections,
        dialect: Dialect,
        tables: Mapping[str, Held],
        rows: Mapping[str, Rows],
        *,
        known: Mapping[str, Held] | None = None,
        reaches: bool = True,
    ) -> None:
        self._connections, self._dialect, self._reaches = connections, dialect, reaches
        self._tables, self._known = dict(tables), dict(tables if known is None else known)
        self._rows = dict(rows)
        self._contents: dict[str, bytes] = {}

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    @property
    def held(self) -> Mapping[str, Held]:
        return self._tables

    @cached_property
    def empty(self) -> PostgresEngine:
        twin = PostgresEngine(self._connections, self._dialect, self._known, {}, reaches=False)
        twin.empty = twin  # it has no rows to be without
        return twin

    def at_once(self) -> AbstractContextManager[None]:
        return self._connections.at_once()

    def answer(self, text: str, statement: Statement, *, few: bool) -> Answer:
        self._check(text, statement)
        whole, values = self._completed(text, statement)
        if not self._rows:  # a rehearsal: patterns are compiled when the first row comes, and here there is none
            used = {int(place) for place in PATTERN.findall(text)}
            for pattern in sorted(used):
                self._asked("SELECT '' ~ CAST($1 AS text)", (statement.values[pattern - 1],))
        names, rows = self._asked(whole, values)
        return Tuples(names, rows)

    def _asked(self, text: str, values: tuple[Any, ...]) -> tuple[list[str], list[tuple[Any, ...]]]:
        """What a statement gives. On another connection once more, where one is lost before anything was answered."""
        why: Outage | None = None
        for last in (False, True):
            try:
                return self._connections.run(text, values)
            except driver().Error as fault:
                together = self._connections.together
                again = is_lost(fault) or fault.sqlstate == "40001"
                hopeless = last or not again or (together is not None and together.answered)
                why = outage(fault)
            if hopeless:
                break
        if why is None or (not self._reaches and why is Outage.CHANGED):  # then it is the statement
            raise RuntimeError("PostgreSQL broke off. Why is not shown: it could tell something about the data.")
        if not self._reaches:
            raise QueryRefused(f"PostgreSQL could not try this question: {why.value}. Nothing was charged.")
        raise RunFailed("PostgreSQL", why)

    def _check(self, text: str, statement: Statement) -> None:
        """Refuses what no text of the server can hold; and tables in a text of the planner's."""
        listed = (value for columns in statement.lists.values() for _, values in columns for value in values)
        if any(isinstance(value, str) and "\0" in value for value in (*statement.values, *listed)):
            raise QueryRefused(
                "PostgreSQL holds no text with the character U+0000, which this question compares with. Nothing was "
                "charged. Leave it out."
            )
        if not self._reaches and '"' in COLLATED.sub("", text):
            raise TypeError(text[:40])

    def _completed(self, text: str, statement: Statement) -> tuple[str, tuple[Any, ...]]:
        """The text with its tables and lists before it, and all that it binds."""
        used = {int(place) for place in statement.bound(text)}
        values: list[Any] = [value if at in used else 0 for at, value in enumerate(statement.values, start=1)]
        parts = []
        for held in self._known.values():
            if re.search(rf"\b{held.name}\b", text):
                parts.append(f"{held.name} AS {self._source(held, values)}")
        for name, columns in statement.lists.items():
            arrays = []
            for kind, listed in columns:
                values.append([constant(value, kind) for value in listed])
                arrays.append(f"CAST(${len(values)} AS {self._dialect.types[kind]}[])")
            named = [f"k{place}" for place in range(len(columns))]
            shown = [
                f"{name}{self._dialect.collation if kind is Kind.TEXT else ''} AS {name}"
                for name, (kind, _) in zip(named, columns, strict=True)
            ]
            parts.append(
                f"{name} AS MATERIALIZED (SELECT {listing([*shown, 'place - 1 AS place'])} FROM"
                f" unnest({listing(arrays)}) WITH ORDINALITY AS l({listing([*named, 'place'])}))"
            )
        if parts:
            text = f"WITH {listing(parts)}" + (f", {text[5:]}" if text.startswith("WITH ") else f" {text}")
        return text, tuple(values)

    def _source(self, held: Held, values: list[Any]) -> str:
        rows = self._rows.get(held.name, Rows())
        if rows.select:
            return f"NOT MATERIALIZED ({rows.select})"
        values.append(rows.copy)
        made = [f"{ours} {_typed(made_as(kind))}" for ours, kind, _ in held.columns.values()]
        columns = listing(made or ["one int4"])
        return f"MATERIALIZED (SELECT * FROM json_to_recordset(CAST(${len(values)} AS json)) AS j({columns}))"

    def fingerprints(self, key: bytes) -> Mapping[str, str]:
        return {name: _digest(key, b"rows", self._content(name)) for name in self._tables}

    def places(self, key: bytes) -> Mapping[str, str]:
        marks = {name: self._rows.get(held.name, Rows()).place for name, held in self._tables.items()}
        return {name: _digest(key, b"place", place) for name, place in marks.items() if place}

    def _content(self, name: str) -> bytes:
        """What tells the rows of a table from others, in any order: how many, and two sums of their hashes.

        Of a table on the server that takes one scan, when a session is first opened.
        """
        held = self._tables[name]
        rows = self._rows.get(held.name, Rows())
        if not rows.select:
            return rows.copy.encode("utf-8", "surrogatepass")
        if name not in self._contents:
            columns = listing(ours for ours, _, _ in held.columns.values())
            hashed = [self._dialect.key_hash.format(columns).replace(", 0)", f", {seed})") for seed in (1, 2)]
            sums = listing(f"coalesce(sum({one}), 0)" for one in hashed) if columns else "0"
            with unpaid():
                _, [sums_of] = self._asked(f"SELECT count(*), {sums} FROM ({rows.select}) AS q", ())
            self._contents[name] = repr(tuple(map(int, sums_of))).encode()
        return self._contents[name]

    def first_of(self, held: Held) -> None:
        """Reads no row of a table, which fails where that is not allowed."""
        self._connections.run(f"SELECT 1 FROM ({self._rows[held.name].select}) AS q LIMIT 0")

    def texts(self, held: Held, most: int) -> list[tuple[str | None, ...]]:
        """The first rows of a public table as texts."""
        shown = listing(f"CAST({ours} AS text)" for ours, _, _ in held.columns.values()) or "NULL"
        _, rows = self._asked(f"SELECT {shown} FROM ({self._rows[held.name].select}) AS q LIMIT {int(most)}", ())
        return rows if held.columns else [() for _ in rows]

    def close(self) -> None:
        self._connections.close()


def _typed(made: str) -> str:
    return f'{made} COLLATE "C"' if made.removesuffix("[]") == "text" else made


def _digest(key: bytes, what: bytes, mark: bytes) -> str:
    return hmac.new(key, what + b"\0" + mark, "sha256").hexdigest()[:VERSION_DIGITS]
