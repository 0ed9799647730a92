"""The shape of data, from its codebook: tables without rows, in which questions can be priced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.codebook.book import Codebook
from sfumato.codebook.entries import comma_list
from sfumato.errors import BadArgument
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Scan

Tables = Mapping[str, Any]
"""Data of tables, by name."""


def arrow_types() -> dict[Kind, Any]:
    """The types of Arrow in which columns of each kind are made up."""
    import pyarrow as pa

    numbers = {Kind.BOOL: pa.bool_(), Kind.INT: pa.int64(), Kind.FLOAT: pa.float64()}
    return {**numbers, Kind.TEXT: pa.string(), Kind.DATE: pa.date32(), Kind.TIME: pa.timestamp("us")}


def without_rows(book: Codebook, public: Tables) -> dict[str, Any]:
    """Makes every private table without a row; public ones are taken as they are given."""
    catalog = Catalog(book)
    check_public(catalog, public)
    return {name: _empty(scan) if scan.private else public[name] for name, scan in catalog.tables.items()}


def check_public(catalog: Catalog, public: Tables) -> None:
    """Refuses tables that are not public, and the lack of some that are."""
    open_to_all = [name for name, scan in catalog.tables.items() if not scan.private]
    if unknown := [name for name in public if name not in open_to_all]:
        must = f"data of public tables alone ({comma_list(open_to_all) or 'there are none'}): a plan sees no other"
        raise BadArgument("public", must, unknown[0])
    if missing := [name for name in open_to_all if name not in public]:
        must = f"given for {comma_list(missing)}: the rows of a public table decide what can be asked"
        raise BadArgument("public", must, None)


def _empty(scan: Scan) -> Any:
    import pyarrow as pa

    types = arrow_types()
    columns = {column.name: types[column.kind] for column in scan.columns}
    columns |= {items.column: pa.list_(types[items.item.kind]) for items in scan.lists}
    return pa.table({name: pa.array([], kind) for name, kind in columns.items()})
