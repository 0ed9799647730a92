"""Opens data in Polars: all tables for permits, the public ones for the planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from sfumato.errors import BadArgument, MissingExtra
from sfumato.query.engines.protocol import Engine, Given, Opener
from sfumato.query.nodes.catalog import Catalog

if TYPE_CHECKING:
    import polars as pl

    from sfumato.query.engines.data_check import TableCheck
    from sfumato.query.engines.polars.engine import PolarsEngine
    from sfumato.query.engines.polars.held import Held
    from sfumato.query.nodes.relations import Scan


@final
@dataclass(frozen=True)
class Polars(Opener):
    """The engine that opens lazy frames, and on demand other frames and files, in this process.

    Questions run on the ``streaming`` engine of Polars, which holds parts of a table at a time; without it, on the one
    that holds all of it. Its threads are set once for the process, by ``POLARS_MAX_THREADS``.

    >>> Polars(streaming=False)
    Polars(streaming=False)
    """

    streaming: bool = True

    def __post_init__(self) -> None:
        if type(self.streaming) is not bool:
            raise BadArgument("streaming", "True or False", self.streaming)

    @property
    def makes(self) -> type[Engine]:  # type: ignore[override]  # Polars is loaded when somebody asks, and not before
        """The class of the engines that it opens."""
        _needed()
        from sfumato.query.engines.polars.engine import PolarsEngine

        return PolarsEngine

    def open(self, data: Given, catalog: Catalog) -> PolarsEngine:
        _needed()
        from sfumato.query.engines.polars.column_checks import refuse_columns
        from sfumato.query.engines.polars.sources import open_source

        return open_source(data, catalog, streaming=self.streaming, look=refuse_columns)

    def open_public(self, data: Given, catalog: Catalog, held: Mapping[str, Held]) -> PolarsEngine:
        _needed()
        from sfumato.query.engines.polars.sources import open_source

        return open_source(data, catalog, streaming=self.streaming, public=held)

    def schema_of(self, data: Given, name: str) -> Mapping[str, Mapping[str, str]]:
        _needed()
        from sfumato.query.engines.polars.schemas import schema_of

        return schema_of(data, name)

    def check(self, data: Given, catalog: Catalog) -> Sequence[TableCheck]:
        _needed()
        from sfumato.query.engines.polars.column_checks import checked_table
        from sfumato.query.engines.polars.sources import open_source

        checks: list[TableCheck] = []

        def look(name: str, scan: Scan, held: Held, rows: pl.LazyFrame, lost: int) -> None:
            checks.append(checked_table(name, scan, held, rows, lost))

        open_source(data, catalog, look=look).close()
        return checks


def _needed() -> None:
    """Refuses to open anything where Polars is not installed, and says how to install it."""
    try:
        import polars  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtra("queries on Polars", "sql") from None
