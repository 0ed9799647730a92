"""Checks data against its codebook, for whoever holds the data: how many values of each column do not read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from sfumato.codebook.book import Codebook
from sfumato.query.engines.registry import EngineChoice, opener_of
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.kinds import Kind
from sfumato.release.render.text import columns

FORMS = {
    Kind.INT: "numbers such as 12, 12.0 or 1e5",
    Kind.FLOAT: "numbers such as 12, 0.5 or 1e-05; a decimal comma needs decimal: ',' in the codebook",
    Kind.BOOL: "true and false, yes and no, t and f, y and n, 1 and 0",
    Kind.DATE: "days such as 2012-01-31, 2012/1/31 or 20120131; others need format: in the codebook, as '%d/%m/%Y'",
    Kind.TIME: "times such as 2012-01-31T23:59:59Z; others need format: in the codebook, as '%d/%m/%Y %H:%M'",
    Kind.TEXT: "texts",
}
"""What reads as each kind, for whoever has something else."""


@final
@dataclass(frozen=True)
class ColumnCheck:
    """How a column reads: how many values are held, of which some are unread and some outside of bounds or lists.

    Values that are missing are not held. A number that is outside is moved into its bounds; a day, a time or a
    category that is outside becomes missing, as every value does that is unread.
    """

    name: str
    type: str
    values: int
    missing: int
    unread: int
    outside: int


@final
@dataclass(frozen=True)
class TableCheck:
    """How a table reads: rows, further rows of a text file that could not be read at all, and columns."""

    name: str
    rows: int
    unread: int
    columns: tuple[ColumnCheck, ...]


@final
@dataclass(frozen=True)
class DataCheck:
    """What a check found: numbers about private data, exact and unpaid for. It is for the holder's eyes only."""

    tables: tuple[TableCheck, ...]

    @property
    def fits(self) -> bool:
        """Tells whether every row and every value reads; values outside of their bounds do."""
        return not self.unread and not any(table.unread for table in self.tables)

    @property
    def unread(self) -> dict[str, int]:
        """The columns that have values which do not read, and how many."""
        return {
            f"{table.name}.{column.name}": column.unread
            for table in self.tables
            for column in table.columns
            if column.unread
        }

    def __str__(self) -> str:
        lines: list[str] = []
        for table in self.tables:
            lost = f", and {table.unread} that could not be read" if table.unread else ""
            head = ("column", "type", "values", "missing", "unread", "outside")
            rows = [
                (column.name, column.type, *map(str, (column.values, column.missing, column.unread, column.outside)))
                for column in table.columns
            ]
            lines += [f"{table.name}: {table.rows} rows{lost}", *columns([head, *rows])]
        return "\n".join(lines)


def check_data(
    data: Any, codebook: Codebook | Mapping[str, object] | str | Path, *, engine: EngineChoice = None
) -> DataCheck:
    """Counts how data reads by its codebook: rows and values that do not, and values outside of bounds and lists.

    It is for whoever holds the data, before anybody asks anything: the numbers are exact and cost nothing, so they must
    not be published. No value is shown. ``engine`` is that of `Dataset`.

    >>> check = check_data({"day": ["2012-01-31", "31/01/2012", None]}, {
    ...     "codebook": 1, "title": "Days", "unit": {"protects": "a row"},
    ...     "tables": {"days": {"columns": {"day": {"type": "date"}}}}})
    >>> check.fits, check.unread
    (False, {'days.day': 1})
    >>> print(check)
    days: 3 rows
      column  type  values  missing  unread  outside
      day     date  2       1        1       0
    """
    book = codebook if isinstance(codebook, Codebook) else Codebook.read(codebook)
    return DataCheck(tuple(opener_of(data, engine).check(data, Catalog(book))))
