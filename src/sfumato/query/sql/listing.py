"""SHOW TABLES and DESCRIBE: what the codebook says, which is public. No data is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sqlglot import exp

from sfumato.codebook.columns import Column
from sfumato.errors import QueryRefused
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.kinds import Value
from sfumato.query.sql.refusals import refused

Facts: TypeAlias = Mapping[str, Sequence[Value]]
"""What is public, column by column."""


def facts_of(tree: exp.Expr, catalog: Catalog) -> Facts:
    """What SHOW TABLES or DESCRIBE asks for; refuses all else that begins like these."""
    match tree:
        case exp.Show() if tree.name.upper() in ("TABLES", "ALL TABLES"):
            return _tables(catalog)
        case exp.Describe(this=exp.Table(this=exp.Identifier(this=str(name)))):
            return _columns(name, catalog)
        case exp.Describe():
            raise refused("DESCRIBE of a query", "it describes a table. For a query, ask session.explain(…)")
    raise QueryRefused("after SHOW stands TABLES; DESCRIBE and the name of a table lists its columns.")


def _tables(catalog: Catalog) -> Facts:
    tables, book = catalog.codebook.tables, catalog.codebook
    return {
        "table_name": [table.name for table in tables],
        "protects": ["nobody: it is public" if table.public else book.protects for table in tables],
        "columns": [", ".join(column.name for column in table.columns) for table in tables],
        "description": [table.description or None for table in tables],
    }


def _columns(name: str, catalog: Catalog) -> Facts:
    columns = catalog.codebook.table(catalog.table(name).table).columns
    missing = {None: "possible", True: "possible", False: "never"}
    return {
        "column_name": [column.name for column in columns],
        "column_type": [column.row()[1] for column in columns],
        "values": [_values(column.items or column) or None for column in columns],
        "missing": [missing[column.nullable] for column in columns],
        "source": [column.source or None for column in columns],
        "description": [column.description or None for column in columns],
    }


def _values(column: Column) -> str:
    """Says which values a column may have, where the codebook does."""
    match column.tree().get("between"):
        case [low, high]:
            return f"between {low} and {high}"
    if column.keys is not None:
        return f"those of {column.keys}"
    return ", ".join("NULL" if one is None else str(one) for one in column.categories)
