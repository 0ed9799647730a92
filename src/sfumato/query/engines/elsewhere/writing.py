"""Cells in the SQL of a database: from a codebook alone, with nothing opened, and nothing said of noise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import final

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.engines.elsewhere.constants import list_parts, with_constants
from sfumato.query.engines.elsewhere.database import Database
from sfumato.query.engines.elsewhere.translation import translated
from sfumato.query.engines.needs import needs_of_cells
from sfumato.query.engines.sql.cells import statement_of
from sfumato.query.engines.sql.held import Held
from sfumato.query.engines.sql.relations import Relations
from sfumato.query.engines.sql.statement import Statement, listing
from sfumato.query.nodes.relations import Scan
from sfumato.query.plan.engine_plan import Cells

ANY_TEXT = "any_text("
"""Stands for the text of a column that is no category, where a database does not compare such texts rightly."""

SEVERAL = "several_values("
"""Stands for several values as one, where a database has no value for that."""

DISTINCT_SUM = re.compile(r"CAST\(DISTINCT (\w+) AS ")
"""A sum of different values, each of which is made wide first."""


@final
class Writer:
    """Writes cells on the tables of a catalog, in the SQL of one database."""

    def __init__(self, database: Database, tables: Mapping[str, Scan]) -> None:
        self._database, self._scans = database, tables
        self._held = {name: self._table(f"t{place}", scan) for place, (name, scan) in enumerate(tables.items(), 1)}

    def text(self, cells: Cells) -> str:
        """The statement of cells; refuses, by name, what the database is not written for."""
        database = self._database
        self._refuse(sorted(database.lacks.intersection(needs_of_cells(cells))))
        statement = Statement(database.dialect)
        text = self._made(cells, statement)
        if ANY_TEXT in text:
            raise QueryRefused(
                f"{database.title} compares texts without the blanks at their ends, so that only columns with "
                "categories are written for it: list the texts that there can be."
            )
        if SEVERAL in text:
            raise QueryRefused(f"combinations of several columns are not counted in {database.title}.")
        text = DISTINCT_SUM.sub(r"DISTINCT CAST(\1 AS ", text)
        parts = [*self._tables(text), *list_parts(statement, database)]
        head = f"WITH {listing(parts)} " if parts else ""
        whole = head + with_constants(text, statement, database)
        return translated(whole, database) if database.own is None else whole

    def _made(self, cells: Cells, statement: Statement) -> str:
        try:
            return statement_of(cells, Relations(self._held, statement))
        except KeyError as unknown:  # a template that is not there: of a form of an operator, such as MOD of floats
            lacking = str(unknown.args[0])
        return self._refuse([lacking])

    def _refuse(self, lacking: Sequence[str]) -> str:
        """Refuses what is not written, by name, where there is any of it."""
        if lacking:
            named = " and ".join(lacking)
            raise QueryRefused(f"{named} is not written for {self._database.title}: ask without it.")
        return ""

    def types(self) -> Iterator[str]:
        """The columns of each table, with the types that they are taken to have."""
        for name, table in self._held.items():
            yield f"{name}: {listing(f'{column} {held}' for column, (_, held, _) in table.columns.items())}"

    def _table(self, place: str, scan: Scan) -> Held:
        types = self._database.types
        columns = {
            column.name: (f"c{number}", types[column.kind], column.kind) for number, column in enumerate(scan.columns)
        }
        written = {column.name: column.facts.written for column in scan.columns if column.facts.written}
        return Held(place, columns, written=written, owner=scan.owner)

    def _tables(self, text: str) -> Iterator[str]:
        """The tables that a statement looks at, as parts of a WITH: with names of ours for their columns."""
        for name, held in self._held.items():
            if f" {held.name})" in text:
                columns = listing(f"{self._named(column)} AS {ours}" for column, (ours, _, _) in held.columns.items())
                source = ".".join(map(self._named, name.split(".")))
                yield f"{held.name} AS (SELECT {columns} FROM {source})"

    def _named(self, name: str) -> str:
        return exp.to_identifier(name, quoted=True).sql(dialect=self._database.language)
