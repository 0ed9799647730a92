"""Opens data in DuckDB: all tables for permits, the public ones for the planner."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

from sfumato.errors import BadArgument
from sfumato.query.engines.duckdb.column_checks import checked_tables, refuse_columns
from sfumato.query.engines.duckdb.engine import DuckDBEngine
from sfumato.query.engines.duckdb.schemas import schema_of
from sfumato.query.engines.duckdb.sources import open_source
from sfumato.query.engines.protocol import Engine, Given, Opener
from sfumato.query.nodes.catalog import Catalog

if TYPE_CHECKING:
    import duckdb

    from sfumato.query.engines.data_check import TableCheck
    from sfumato.query.engines.duckdb.copies import Notes
    from sfumato.query.engines.sql.held import Held
    from sfumato.query.nodes.relations import Scan


MEMORY = re.compile(r"\d{1,9}(\.\d{1,3})? ?(KB|MB|GB|TB|KiB|MiB|GiB|TiB)", re.ASCII | re.IGNORECASE)
"""An amount of memory, as DuckDB reads it."""


@final
@dataclass(frozen=True)
class DuckDB(Opener):
    """The engine that opens files, frames and DuckDB's own databases, in this process.

    It takes at most so much ``memory`` for tables and what is worked out on them, and puts what needs more into a
    temporary folder (by itself: 80 % of the machine's), and so many ``threads`` (by itself: all).

    >>> DuckDB(memory="4GB", threads=2)
    DuckDB(memory='4GB', threads=2)
    """

    makes: ClassVar[type[Engine]] = DuckDBEngine

    memory: str | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.memory is not None and not (isinstance(self.memory, str) and MEMORY.fullmatch(self.memory)):
            raise BadArgument("memory", "an amount with its unit, such as '4GB'", self.memory)
        if self.threads is not None and (type(self.threads) is not int or self.threads < 1):
            raise BadArgument("threads", "a whole number, 1 or more", self.threads)

    def open(self, data: Given, catalog: Catalog) -> DuckDBEngine:
        return open_source(data, catalog, memory=self.memory, threads=self.threads, look=refuse_columns)

    def open_public(self, data: Given, catalog: Catalog, held: Mapping[str, Held]) -> DuckDBEngine:
        return open_source(data, catalog, memory=self.memory, threads=self.threads, public=held)

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

        open_source(data, catalog, memory=self.memory, threads=self.threads, look=look).close()
        return checks
