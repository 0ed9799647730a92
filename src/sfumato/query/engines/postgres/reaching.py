"""From what is given as data to a server: which address each table has, and a connection to look at its catalog."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from sfumato.errors import BadArgument, SfumatoError
from sfumato.query.engines.postgres.server import (
    SCHEMES,
    Address,
    connected,
    driver,
    outage,
    read_address,
)
from sfumato.query.engines.postgres.tables import Table, columns_of, find, refuse, tables_of
from sfumato.query.engines.protocol import Given

if TYPE_CHECKING:
    from sfumato.query.engines.postgres.server import Connection

Found = TypeVar("Found")

READABLE = (
    b"SELECT pg_catalog.has_table_privilege($1::oid, 'SELECT') OR"
    b" pg_catalog.has_any_column_privilege($1::oid, 'SELECT')"
)


def is_address(data: object) -> bool:
    """Tells whether something is the address of a server."""
    return isinstance(data, str) and data.partition("://")[0] in SCHEMES and "://" in data


def addresses_in(data: Given) -> dict[str, Address]:
    """The addresses in what is given, by table; under an empty name the one for all."""
    if isinstance(data, Address):
        return {"": data}
    if is_address(data):
        return {"": read_address(data)}
    if isinstance(data, Mapping) and data and all(map(is_address, data.values())):
        return {str(name): read_address(part) for name, part in data.items()}
    return refuse("an address such as postgresql://host/database, or one for each table", type(data).__name__)


def server_of(given: Mapping[str, Address]) -> Address:
    """The one database that all tables are in: a question is one transaction there."""
    first = next(iter(given.values()))
    if any(one.settings != first.settings for one in given.values()):
        refuse("in one database of one server, with one user: a question is one transaction", "several addresses")
    return Address(first.settings)


def address_of(given: Mapping[str, Address], name: str, tables: Collection[str]) -> tuple[str, str]:
    """The name of a table there and its schema, which is empty where the address names none."""
    if name not in given and "" not in given:
        refuse(f"given for each table: {{table: …}} with {', '.join(tables)}", f"nothing for {name}")
    if name not in given and given[""].table and len(tables) > 1:
        refuse("an address for each table where ?table= names one: {table: 'postgresql://…?table=…'}", "one address")
    address = given.get(name) or given[""]
    return address.table or name, address.schema


def reached(server: Address, look: Callable[[Connection], Found]) -> Found:
    """What a look at the catalog of a server finds; whatever goes wrong, the message is ours."""
    try:
        with closing(connected(server)) as connection:
            return look(connection)
    except SfumatoError:
        raise
    except driver().Error as fault:
        known = outage(fault) if getattr(fault, "sqlstate", None) else None
        why = _unreached(str(fault)) if known is None else known.value
    raise BadArgument("data", f"a database that can be reached: {why}", server.shown)


def _unreached(said: str) -> str:
    """Why there is no connection: psycopg gives no code, and its words may quote the address."""
    known = {
        "password authentication failed": "the server does not let this role in: the password is wrong",
        "no password supplied": "the server wants a password",
        "does not exist": "there is no such database, or no such role",
        "timeout": "the server does not answer",
        "permission denied for database": "the role may not connect to this database",
    }
    return next((ours for theirs, ours in known.items() if theirs in said), "the server does not answer, or not to us")


def schema_in(connection: Connection, given: Mapping[str, Address]) -> dict[str, dict[str, str]]:
    """The tables that can be read, their columns and types: those that addresses name, or all of a database or schema.

    Tables on the search path are called by their names, others by schema and name.
    """
    known, schema = tables_of(connection), dict[str, dict[str, str]]()
    for called, address in given.items():
        if address.table or called:
            table = find(known, address.table or called, address.schema)
            schema[called or table.name] = _columns(connection, table)
            continue
        for table in known:
            if address.schema in ("", table.schema) and connection.execute(READABLE, (table.oid,)).fetchall()[0][0]:
                plain = table.name if table.place or address.schema else table.full
                schema.setdefault(plain, _columns(connection, table))
    if not schema:
        refuse("a database with tables that this role can read", "one without")
    return schema


def _columns(connection: Connection, table: Table) -> dict[str, str]:
    """The columns of a table, with types in words that drafts of codebooks know."""
    return {name: _word(one.held) for name, one in columns_of(connection, table).items()}


def _word(held: str) -> str:
    if held.endswith("[]"):
        return f"{_word(held[:-2])}[]"
    return {"name": "TEXT", "citext": "TEXT"}.get(held, held.upper())
