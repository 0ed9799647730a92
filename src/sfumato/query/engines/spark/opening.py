"""Opens data in Spark: all tables for permits, the public ones for the planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

from sfumato.query.engines.protocol import Engine, Given, Opener
from sfumato.query.engines.spark.column_checks import checked_tables, refuse_columns
from sfumato.query.engines.spark.engine import SparkEngine
from sfumato.query.engines.spark.schemas import schema_of
from sfumato.query.engines.spark.sources import open_source
from sfumato.query.nodes.catalog import Catalog

if TYPE_CHECKING:
    from sfumato.query.engines.data_check import TableCheck
    from sfumato.query.engines.sql.held import Held
    from sfumato.query.nodes.relations import Scan


@final
@dataclass(frozen=True)
class Spark(Opener):
    """The engine that opens frames of Spark, its tables (`"spark://catalog.schema.table"`) and files that it reads.

    With a ``session``, classic or of Spark Connect, tables are named without the scheme, too, and paths are Parquet
    (or ORC) on any file system that it knows; without one, the session of a frame is used, or the one that is active.
    Questions run in sessions of their own beside it: its settings stay as they are, and change no answer.
    """

    makes: ClassVar[type[Engine]] = SparkEngine

    session: Any = None

    def open(self, data: Given, catalog: Catalog) -> SparkEngine:
        return open_source(data, catalog, self.session, look=refuse_columns)

    def open_public(self, data: Given, catalog: Catalog, held: Mapping[str, Held]) -> SparkEngine:
        return open_source(data, catalog, self.session, public=held)

    def schema_of(self, data: Given, name: str) -> Mapping[str, Mapping[str, str]]:
        return schema_of(data, name, self.session)

    def check(self, data: Given, catalog: Catalog) -> Sequence[TableCheck]:
        checks: list[TableCheck] = []

        def look(session: Any, tables: Mapping[str, Scan], held: Mapping[str, Held]) -> None:
            checks[:] = checked_tables(session, tables, held)

        open_source(data, catalog, self.session, look=look).close()
        return checks
