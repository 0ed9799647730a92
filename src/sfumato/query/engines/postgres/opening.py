"""Opens tables of PostgreSQL: all of them for permits, copies of the public ones for the planner."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, final

from sfumato.errors import BadArgument
from sfumato.query.engines.postgres.column_checks import checked_table, refuse_unread
from sfumato.query.engines.postgres.connections import Connections
from sfumato.query.engines.postgres.dialect import dialect_of
from sfumato.query.engines.postgres.engine import PostgresEngine, Rows
from sfumato.query.engines.postgres.planning import PlannerEngine
from sfumato.query.engines.postgres.reaching import address_of, addresses_in, is_address, reached, schema_in, server_of
from sfumato.query.engines.postgres.server import Limits, check_server, driver, outage, read_address, unpaid
from sfumato.query.engines.postgres.tables import (
    Column,
    Table,
    check_view,
    columns_of,
    find,
    held_table,
    refuse,
    select_of,
    tables_of,
)
from sfumato.query.engines.protocol import Engine, Given, Opener
from sfumato.query.nodes.catalog import Catalog

if TYPE_CHECKING:
    from sfumato.query.engines.data_check import TableCheck
    from sfumato.query.engines.postgres.server import Connection
    from sfumato.query.engines.sql.dialect import Dialect
    from sfumato.query.engines.sql.held import Held
    from sfumato.query.nodes.relations import Scan

MEMORY = re.compile(r"[1-9]\d{0,6}(kB|MB|GB)", re.ASCII)
"""An amount of memory, as PostgreSQL reads it."""

MOST_PUBLIC = 1_000_000
"""Rows that a public table may have: it goes with every question that joins it."""

COLLATIONS = ("pg_c_utf8", "und-x-icu", "C.utf8", "C.UTF-8")
"""Collations that know which letters are small, the best one first; with none of them those of ASCII are known."""


@final
@dataclass(frozen=True)
class Postgres(Opener):
    """The engine that asks tables of a PostgreSQL server where they are: only bounded cells leave it.

    Each question is one transaction that only reads, on one snapshot. It may take so much ``work_mem`` for each step
    of a plan, so many seconds (``statement_timeout``; by itself no limit) and wait so many for a lock; it runs as a
    ``role`` that the one of the address belongs to, where one is named, with so many ``parallel_workers``. ``vouched``
    names views that take rows together, all of which are one unit's. ``planner`` is the address of the same database
    for a role that may read nothing: what plans questions then connects as that role.

    >>> Postgres(statement_timeout=600, role="analyst").role
    'analyst'
    """

    makes: ClassVar[type[Engine]] = PostgresEngine

    work_mem: str = "256MB"
    statement_timeout: float | None = None
    lock_timeout: float | None = 60
    role: str | None = None
    parallel_workers: int | None = None
    vouched: tuple[str, ...] = ()
    planner: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.work_mem, str) and MEMORY.fullmatch(self.work_mem)):
            raise BadArgument("work_mem", "an amount with its unit, such as '256MB'", self.work_mem)
        for name in ("statement_timeout", "lock_timeout"):
            seconds = getattr(self, name)
            if seconds is not None and (type(seconds) not in (int, float) or not 0 < seconds < 2_000_000):
                raise BadArgument(name, "a number of seconds above 0, or None", seconds)
        if self.role is not None and (not isinstance(self.role, str) or not self.role or "\0" in self.role):
            raise BadArgument("role", "the name of a role", self.role)
        workers = self.parallel_workers
        if workers is not None and (type(workers) is not int or not 0 <= workers <= 1024):
            raise BadArgument("parallel_workers", "a whole number from 0 to 1024", workers)
        if not isinstance(self.vouched, tuple) or not all(isinstance(one, str) for one in self.vouched):
            raise BadArgument(
                "vouched", "names of views, as in vouched=('clinic.totals',)", type(self.vouched).__name__
            )
        if self.planner is not None and not is_address(self.planner):
            raise BadArgument("planner", "an address such as postgresql://…", type(self.planner).__name__)

    def open(self, data: Given, catalog: Catalog) -> PostgresEngine:
        return self._opened(data, catalog.tables)

    def open_public(self, data: Given, catalog: Catalog, held: Mapping[str, Held]) -> PlannerEngine:
        """Opens copies of the public tables, on a connection of its own, to which nothing leads (`planning`).

        Whoever wants the server to see to that too names a ``planner``: a role without any rights on tables.
        """
        public = {name: scan for name, scan in catalog.tables.items() if not scan.private}
        return PlannerEngine(self._opened(data, public, known=held))

    def public_part(self, data: Given) -> Given:
        return server_of(addresses_in(data)) if data else data

    def schema_of(self, data: Given, name: str) -> Mapping[str, Mapping[str, str]]:
        given = addresses_in(data)
        return reached(server_of(given), lambda connection: schema_in(connection, given))

    def check(self, data: Given, catalog: Catalog) -> Sequence[TableCheck]:
        with closing(self._opened(data, catalog.tables, look=False)) as engine, unpaid():
            return [checked_table(engine, name, scan) for name, scan in catalog.tables.items()]

    def _opened(
        self, data: Given, tables: Mapping[str, Scan], *, known: Mapping[str, Held] | None = None, look: bool = True
    ) -> PostgresEngine:
        """Opens tables; with ``known`` only copies of them, for the planner."""
        given = addresses_in(data)
        server, limits = server_of(given), self._limits()
        names = {name: address_of(given, name, tables) for name in tables}
        dialect, there = reached(server, lambda connection: (_dialect(connection), _found(connection, names, self)))
        held, rows = {}, {}
        for number, (name, scan) in enumerate(tables.items()):
            table, columns, place = there[name]
            held[name] = held_table(f"t{number}", scan, columns) if known is None else known[name]
            rows[held[name].name] = Rows(select_of(table, held[name]), place=place)
        connections = Connections(server, limits)
        engine = PostgresEngine(connections, dialect, held, rows)
        try:
            with unpaid():
                for name, scan in tables.items():
                    _try(engine, held[name], name)
                    if look and known is None:
                        refuse_unread(engine, name, scan)
                public = (name for name, scan in tables.items() if not scan.private)
                copies = {held[name].name: _copied(engine, held[name], name) for name in public}
        except BaseException:
            engine.close()
            raise
        if known is None:
            return PostgresEngine(connections, dialect, held, {**rows, **copies})
        engine.close()
        if self.planner is not None:
            server, limits = read_address(self.planner), Limits(self.work_mem, self.statement_timeout)
        return PostgresEngine(Connections(server, limits), dialect, held, copies, known=known, reaches=False)

    def _limits(self) -> Limits:
        return Limits(self.work_mem, self.statement_timeout, self.lock_timeout, self.role, self.parallel_workers)


def _dialect(connection: Connection) -> Dialect:
    """The dialect of a server, with the best collation there is for letters that have a case."""
    check_server(connection)
    names = connection.execute(
        b"SELECT collname::text FROM pg_catalog.pg_collation AS c JOIN pg_catalog.pg_namespace AS n"
        b" ON n.oid = c.collnamespace WHERE n.nspname = 'pg_catalog' AND collname = ANY($1::text[])",
        (list(COLLATIONS),),
    ).fetchall()
    best = next((name for name in COLLATIONS if (name,) in names), None)
    return dialect_of(connection.info.server_version, "" if best is None else f'pg_catalog."{best}"')


def _found(
    connection: Connection, names: Mapping[str, tuple[str, str]], settings: Postgres
) -> Mapping[str, tuple[Table, Mapping[str, Column], bytes]]:
    """The table of each name with its columns, and a digest of which table of which server it is."""
    tables, there = tables_of(connection), {}
    if not names:
        return {}
    server = _server_mark(connection)
    for name, (wanted, schema) in names.items():
        table = find(tables, wanted, schema)
        check_view(connection, table, settings.vouched)
        there[name] = table, columns_of(connection, table), f"{server} {table.oid}".encode()
    return there


def _server_mark(connection: Connection) -> str:
    """What tells a database from all others: a standby has that of its primary."""
    [(database,)] = connection.execute(
        b"SELECT oid::int8 FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()"
    ).fetchall()
    with suppress(driver().Error):  # a server may keep its number to itself
        [(system,)] = connection.execute(
            b"SELECT system_identifier::text FROM pg_catalog.pg_control_system()"
        ).fetchall()
        return f"{system} {database}"
    return f"{connection.info.dbname} {database}"


def _try(engine: PostgresEngine, held: Held, name: str) -> None:
    """Refuses a table that may not be read, before anybody asks; no row of it is looked at."""
    try:
        engine.first_of(held)
    except driver().Error as fault:
        why = outage(fault)
    else:
        return
    told = "a policy on its rows, or the server, stands in the way" if why is None else why.value
    refuse(f"a table {name} that this role can read whole ({told})", "one that it cannot")


def _copied(engine: PostgresEngine, held: Held, name: str) -> Rows:
    """A copy of a public table, its rows in order, each value as the text that PostgreSQL reads back as it is."""
    columns = [ours for ours, _, _ in held.columns.values()]
    rows = engine.texts(held, MOST_PUBLIC + 1)
    if len(rows) > MOST_PUBLIC:
        refuse(f"a public table {name} of at most {MOST_PUBLIC:,} rows: it goes with every question", "a larger one")
    made = [dict(zip(columns, row, strict=True)) if columns else {"one": None} for row in rows]
    return Rows(copy=json.dumps(sorted(made, key=repr), ensure_ascii=False, sort_keys=True))
