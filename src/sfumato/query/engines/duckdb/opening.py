"""Opens data in DuckDB: all tables for permits, the public ones for the planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, final

from sfumato.query.engines.duckdb.column_checks import checked_tables, refuse_columns
from sfumato.query.engines.duckdb.engine import DuckDBEngine
from sfumato.query.engines.duckdb.schemas import schema_of
from sfumato.query.engines.duckdb.sources import open_source
from sfumato.query.engines.protocol import Given, Opener
from sfumato.query.nodes.catalog import Catalog

if TYPE_CHECKING:
    import duckdb

    from sfumato.query.engines.data_check import TableCheck
    from sfumato.query.engines.duckdb.copies import Notes
    from sfumato.query.engines.sql.held import Held
    from sfumato.query.nodes.relations import Scan


@final
class DuckDBOpener(Opener):
    """Opens files, frames and DuckDB's own databases (`sources`)."""

    def open(self, data: Given, catalog: Catalog) -> DuckDBEngine:
        return open_source(data, catalog, look=refuse_columns)

    def open_public(self, data: Given, catalog: Catalog, held: Mapping[str, Held]) -> DuckDBEngine:
        return open_source(data, catalog, public=held)

    def schema_of(self, data: Given, name: str) -> Mapping[str, Mapping[str, str]]:
        return schema_of(data, name)

    def check(self, data: Given, catalog: Catalog) -> Sequence[TableCheck]:
        checks: list[TableCheck] = []

        def look(
            connection: duckdb.DuckDBPyConnection,
            tables: Mapping[str, Scan],
            held: Mapping[str, Held],
            notes: Mapping[str, Notes],
        ) -> None:
            checks[:] = checked_tables(connection, tables, held, notes)

        open_source(data, catalog, look=look).close()
        return checks
