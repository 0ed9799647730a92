"""Cells in the SQL of a database: from a codebook alone, with nothing opened, and nothing said of noise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
        lacking = sorted(database.lacks.intersection(needs_of_cells(cells)))
        if lacking:
            raise QueryRefused(f"{' and '.join(lacking)} is not written for {database.title}: ask without it.")
        statement = Statement(database.dialect)
        try:
            text = statement_of(cells, Relations(self._held, statement))
        except KeyError as unknown:  # a template that is not there: of a form of an operator, such as MOD of floats
            lacking = [str(unknown.args[0])]
        if lacking:
            raise QueryRefused(f"{lacking[0]} is not written for {database.title}: ask without it.")
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
        whole = with_constants(head + text, statement, database)
        return translated(whole, database) if database.own is None else whole

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
