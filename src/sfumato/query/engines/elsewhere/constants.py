"""Constants in the text of a statement: what was bound is written out, as each database reads it for certain."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from sqlglot import exp

from sfumato.query.engines.elsewhere.database import Database
from sfumato.query.engines.sql.statement import List, Statement, listing
from sfumato.query.nodes.kinds import Kind, Value


def written(value: Value, database: Database) -> str:
    """A value as a constant."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case float():
            mantissa, sign, power = repr(value + 0.0).partition("e")  # the zero has no sign
            approximate = f"{mantissa}E{int(power or 0)}" if sign or "." in mantissa else f"{mantissa}.0E0"
            # Where such a number could be read as a decimal first, which is rounded twice, its text is read.
            return f"'{approximate}'" if database.texts_as_floats else approximate
        case datetime.datetime():
            return _quoted(value.isoformat(" ", "microseconds"), database)
        case datetime.date():
            return _quoted(value.isoformat(), database)
    return _quoted(str(value), database)


def with_constants(text: str, statement: Statement, database: Database) -> str:
    """A text with the constants that it binds."""
    number = re.escape(statement.dialect.parameter).replace(re.escape("{}"), "([0-9]+)")
    place = re.compile(rf"CAST\({number} AS ")
    return place.sub(lambda one: f"CAST({written(statement.values[int(one[1]) - 1], database)} AS ", text)


def list_parts(statement: Statement, database: Database) -> Iterator[str]:
    """The parts of a WITH that hold lists of public values."""
    for name, columns in statement.lists.items():
        yield f"{name} AS ({_rows(columns, database)})"


def _rows(columns: List, database: Database) -> str:
    types = database.types
    names = [f"k{place}" for place in range(len(columns))]
    rows = list(zip(*(values for _, values in columns), strict=True))
    if database.values:
        cells = [listing([*(written(cell, database) for cell in row), str(place)]) for place, row in enumerate(rows)]
        held = listing(f"({row})" for row in cells)
        shown = listing(_typed(name, kind, database) for name, (kind, _) in zip(names, columns, strict=True))
        return f"SELECT {shown}, place FROM (VALUES {held}) AS v({listing([*names, 'place'])})"
    lines = []
    for place, row in enumerate(rows):
        cells = [
            f"CAST({written(cell, database)} AS {types[kind]})" for cell, (kind, _) in zip(row, columns, strict=True)
        ]
        collated = [
            cell + (database.dialect.collation if kind is Kind.TEXT else "")
            for cell, (kind, _) in zip(cells, columns, strict=True)
        ]
        named = listing(f"{cell} AS {name}" for cell, name in zip(collated, names, strict=True))
        lines.append(f"SELECT {named}, {place} AS place")
    return " UNION ALL ".join(lines)


def _typed(name: str, kind: Kind, database: Database) -> str:
    collation = database.dialect.collation if kind is Kind.TEXT else ""
    return f"CAST({name} AS {database.types[kind]}){collation} AS {name}"


def _quoted(text: str, database: Database) -> str:
    return database.national + exp.Literal.string(text).sql(dialect=database.language)
