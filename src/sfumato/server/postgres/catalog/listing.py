"""Which relation of `pg_catalog` holds what: facts of `contents`, lists of them, and what is the same for everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sfumato.server.postgres.catalog.contents import (
    Row,
    all_types,
    attributes,
    classes,
    constraints,
    databases,
    descriptions,
    functions,
    index_text,
    indexes,
    keys,
    namespaces,
    operator_classes,
    procedures,
    roles,
    settings,
)
from sfumato.server.postgres.catalog.described import OWNER, Database
from sfumato.server.postgres.catalog.relations import relations

ACCESS = (
    (2, "heap", "heap_tableam_handler", "t"),
    (403, "btree", "bthandler", "i"),
    (405, "hash", "hashhandler", "i"),
    (783, "gist", "gisthandler", "i"),
    (2742, "gin", "ginhandler", "i"),
    (4000, "spgist", "spghandler", "i"),
    (3580, "brin", "brinhandler", "i"),
)


def table_lists(database: Database) -> Iterator[Row]:
    """The rows of `pg_tables`: tables, and PostgreSQL's own ones."""
    for relation in relations().values():
        if relation.kind == "r":
            yield {"schemaname": relation.schema, "tablename": relation.name, "tableowner": OWNER, **INDEXED}
    for entry in database.tables:
        named = {"schemaname": entry.schema, "tablename": entry.name, "tableowner": OWNER}
        yield {**named, **INDEXED, "hasindexes": bool(entry.keys)}


INDEXED: Row = dict.fromkeys(("hasindexes", "hasrules", "hastriggers", "rowsecurity"), False)


def view_lists(database: Database) -> Iterator[Row]:
    """The rows of `pg_views`: PostgreSQL's own ones."""
    for relation in relations().values():
        if relation.kind == "v":
            yield {"schemaname": relation.schema, "viewname": relation.name, "viewowner": OWNER}


def index_lists(database: Database) -> Iterator[Row]:
    """The rows of `pg_indexes`."""
    for entry in database.tables:
        for key in entry.keys:
            named = {"schemaname": entry.schema, "tablename": entry.name, "indexname": key.name}
            yield {**named, "indexdef": index_text(entry, key.name, [one.name for one in keys(entry)])}


def counters(database: Database) -> Iterator[Row]:
    """The rows of `pg_stat_user_tables`: sizes are those that a codebook states, and 0 where it states none."""
    for entry in database.tables:
        named = {"relid": entry.oid, "schemaname": entry.schema, "relname": entry.name}
        yield {**named, "n_live_tup": entry.stated.size or 0, "seq_scan": 0, "n_dead_tup": 0}


def plain_rows(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Callable[[Database], Iterator[Row]]:
    """Rows that are the same for everybody."""
    made = [dict(zip(names, row, strict=True)) for row in rows]
    return lambda database: iter(made)


CONTENTS: dict[str, Callable[[Database], Iterator[Row]]] = {
    "pg_am": plain_rows(
        ("oid", "amname", "amhandler", "amtype"),
        [(oid, name, functions().get(handler, ("0",))[0], kind) for oid, name, handler, kind in ACCESS],
    ),
    "pg_attribute": attributes,
    "pg_authid": roles,
    "pg_class": classes,
    "pg_collation": plain_rows(
        ("oid", "collname", "collnamespace", "collowner", "collprovider", "collencoding", "collisdeterministic"),
        [
            (100, "default", 11, 10, "d", -1, True),
            (950, "C", 11, 10, "c", -1, True),
            (951, "POSIX", 11, 10, "c", -1, True),
        ],
    ),
    "pg_constraint": constraints,
    "pg_database": databases,
    "pg_description": descriptions,
    "pg_index": indexes,
    "pg_indexes": index_lists,
    "pg_language": plain_rows(
        ("oid", "lanname", "lanowner", "lanispl", "lanpltrusted"),
        [(12, "internal", 10, False, False), (13, "c", 10, False, False), (14, "sql", 10, False, True)],
    ),
    "pg_namespace": namespaces,
    "pg_opclass": operator_classes,
    "pg_proc": procedures,
    "pg_roles": roles,
    "pg_settings": settings,
    "pg_stat_all_tables": counters,
    "pg_stat_user_tables": counters,
    "pg_statio_all_tables": counters,
    "pg_statio_user_tables": counters,
    "pg_tables": table_lists,
    "pg_tablespace": plain_rows(("oid", "spcname", "spcowner"), [(1663, "pg_default", 10), (1664, "pg_global", 10)]),
    "pg_type": all_types,
    "pg_user": roles,
    "pg_views": view_lists,
}
"""What stands in relations of `pg_catalog`."""
