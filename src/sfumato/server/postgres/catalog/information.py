"""What stands in `information_schema`: the same facts in the words of the SQL standard."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sfumato.server.postgres.catalog.contents import NAMESPACES, Row
from sfumato.server.postgres.catalog.described import OWNER, Constraint, Database, Entry
from sfumato.server.postgres.catalog.relations import relations
from sfumato.server.postgres.catalog.types import oid_of, shown_type

WORDS = {"p": "PRIMARY KEY", "u": "UNIQUE", "f": "FOREIGN KEY"}
BITS = {"int2": 16, "int4": 32, "int8": 64, "float4": 24, "float8": 53}
LONGEST_TEXT = 1 << 30
"""How many bytes PostgreSQL says that texts may have."""


def _where(database: Database, schema: str, name: str, part: str = "table") -> Row:
    return {f"{part}_catalog": database.name, f"{part}_schema": schema, f"{part}_name": name}


def schemata(database: Database) -> Iterator[Row]:
    """All schemas."""
    for name in NAMESPACES | database.schemas:
        yield {"catalog_name": database.name, "schema_name": name, "schema_owner": OWNER}


def tables(database: Database) -> Iterator[Row]:
    """All tables, and PostgreSQL's own relations."""
    for one in relations().values():
        kind = "BASE TABLE" if one.kind == "r" else "VIEW"
        yield {**_where(database, one.schema, one.name), "table_type": kind, **READ_ONLY}
    for entry in database.tables:
        yield {**_where(database, entry.schema, entry.name), "table_type": "BASE TABLE", **READ_ONLY}


READ_ONLY = {"is_insertable_into": "NO", "is_typed": "NO"}


def columns(database: Database) -> Iterator[Row]:
    """All columns."""
    for one in relations().values():
        for place, (name, kind) in enumerate(one.columns, 1):
            yield {
                **_where(database, one.schema, one.name),
                **_column(database, place, name, kind, never=name in one.never),
            }
    for entry in database.tables:
        for column in entry.attributes:
            said = _column(database, column.number, column.name, column.type, never=column.never)
            yield {**_where(database, entry.schema, entry.name), **said}


def _column(database: Database, place: int, name: str, kind: str, *, never: bool) -> Row:
    number = kind in BITS
    return {
        "column_name": name,
        "ordinal_position": place,
        "is_nullable": "NO" if never else "YES",
        "data_type": "ARRAY" if kind.startswith("_") else shown_type(oid_of(kind)),
        "character_octet_length": LONGEST_TEXT if kind == "text" else None,
        "numeric_precision": BITS.get(kind),
        "numeric_precision_radix": 2 if number else None,
        "numeric_scale": 0 if kind in ("int2", "int4", "int8") else None,
        "datetime_precision": {"date": 0, "timestamp": 6, "timestamptz": 6}.get(kind),
        "udt_catalog": database.name,
        "udt_schema": "pg_catalog",
        "udt_name": kind,
        "dtd_identifier": str(place),
        "is_self_referencing": "NO",
        "is_identity": "NO",
        "identity_cycle": "NO",
        "is_generated": "NEVER",
        "is_updatable": "NO",
    }


def _all(database: Database) -> Iterator[tuple[Entry, Constraint]]:
    return ((entry, one) for entry in database.tables for one in (*entry.keys, *entry.references))


def table_constraints(database: Database) -> Iterator[Row]:
    """Keys and references."""
    for entry, one in _all(database):
        yield {
            **_where(database, entry.schema, one.name, "constraint"),
            **_where(database, entry.schema, entry.name),
            "constraint_type": WORDS[one.kind],
            "is_deferrable": "NO",
            "initially_deferred": "NO",
            "enforced": "YES",
        }


def key_columns(database: Database) -> Iterator[Row]:
    """Columns of keys and references."""
    for entry, one in _all(database):
        for place, name in enumerate(entry.names(one.numbers), 1):
            yield {
                **_where(database, entry.schema, one.name, "constraint"),
                **_where(database, entry.schema, entry.name),
                "column_name": name,
                "ordinal_position": place,
                "position_in_unique_constraint": place if one.kind == "f" else None,
            }


def _targets(database: Database) -> Iterator[tuple[Entry, Constraint, Entry, tuple[int, ...]]]:
    """What each constraint is about in the end: for a reference, the key that it leads to."""
    by_oid = {entry.oid: entry for entry in database.tables}
    for entry, one in _all(database):
        there, numbers = (entry, one.numbers) if one.target is None else (by_oid[one.target[0]], one.target[1])
        yield entry, one, there, numbers


def constraint_columns(database: Database) -> Iterator[Row]:
    """Columns that constraints are about."""
    for entry, one, there, numbers in _targets(database):
        for name in there.names(numbers):
            yield {
                **_where(database, there.schema, there.name),
                "column_name": name,
                **_where(database, entry.schema, one.name, "constraint"),
            }


def constraint_tables(database: Database) -> Iterator[Row]:
    """Tables that constraints are about."""
    for entry, one, there, _ in _targets(database):
        named = _where(database, entry.schema, one.name, "constraint")
        yield {**_where(database, there.schema, there.name), **named}


def referential_constraints(database: Database) -> Iterator[Row]:
    """References, and the keys that they lead to."""
    for entry, one, there, _ in _targets(database):
        if one.kind == "f":
            yield {
                **_where(database, entry.schema, one.name, "constraint"),
                **_where(database, there.schema, there.keys[0].name, "unique_constraint"),
                "match_option": "NONE",
                "update_rule": "NO ACTION",
                "delete_rule": "NO ACTION",
            }


def table_privileges(database: Database) -> Iterator[Row]:
    """What whoever asks may do with each table: look."""
    for entry in database.tables:
        yield {**_granted(database), **_where(database, entry.schema, entry.name), "with_hierarchy": "YES"}


def column_privileges(database: Database) -> Iterator[Row]:
    """What whoever asks may do with each column: look."""
    for entry in database.tables:
        for one in entry.attributes:
            yield {**_granted(database), **_where(database, entry.schema, entry.name), "column_name": one.name}


def _granted(database: Database) -> Row:
    return {"grantor": OWNER, "grantee": database.person, "privilege_type": "SELECT", "is_grantable": "NO"}


def catalog_name(database: Database) -> Iterator[Row]:
    """The name of the database."""
    yield {"catalog_name": database.name}


def enabled_roles(database: Database) -> Iterator[Row]:
    """Whoever asks."""
    yield {"role_name": database.person}


def character_sets(database: Database) -> Iterator[Row]:
    """UTF-8."""
    named = {"character_set_name": "UTF8", "character_repertoire": "UCS", "form_of_use": "UTF8"}
    yield {**named, "default_collate_catalog": database.name}


INFORMATION_CONTENTS: dict[str, Callable[[Database], Iterator[Row]]] = {
    "character_sets": character_sets,
    "column_privileges": column_privileges,
    "columns": columns,
    "constraint_column_usage": constraint_columns,
    "constraint_table_usage": constraint_tables,
    "enabled_roles": enabled_roles,
    "information_schema_catalog_name": catalog_name,
    "key_column_usage": key_columns,
    "referential_constraints": referential_constraints,
    "role_column_grants": column_privileges,
    "role_table_grants": table_privileges,
    "schemata": schemata,
    "table_constraints": table_constraints,
    "table_privileges": table_privileges,
    "tables": tables,
}
"""What stands in relations of `information_schema`."""
