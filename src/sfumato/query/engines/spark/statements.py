"""Statements as Spark is handed them: constants written out, and lists of public values in front.

What a question says is never pasted in: numbers, days and times are written by us from values of Python, and a text is
written in base 16. Nothing in one can end a constant. To bind them one by one takes a call for each.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping

from sfumato.query.engines.operands import constant as as_held
from sfumato.query.engines.spark.dialect import SPARK
from sfumato.query.engines.sql.statement import List, Statement, listing
from sfumato.query.nodes.kinds import Value

INLINE = 1000
"""Lists of up to so many rows are written out; longer ones are handed over as tables."""

PARAMETER = re.compile(r":p([0-9]+)(?= )")


SORTED = re.compile(r" ORDER BY (\w+ NULLS FIRST(?:, \w+ NULLS FIRST)*)\Z")
"""The order of what is fetched; Spark would draw a sample to sort it in pieces."""


def without_order(text: str) -> tuple[str, list[str]]:
    """A statement without the order at its end, and the columns that what it gives is to be sorted by."""
    match = SORTED.search(text)
    if match is None:
        return text, []
    return text[: match.start()], [part.split()[0] for part in match[1].split(", ")]


def constant(value: Value) -> str:
    """Writes a constant as it is inside of a CAST to its type."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case str():
            return f"X'{value.encode().hex()}'"
        case datetime.datetime():
            return f"'{value.isoformat(' ')}'"
        case datetime.date():
            return f"'{value.isoformat()}'"
    return f"'{value!r}'"


def written_out(text: str, statement: Statement) -> str:
    """The text of a statement with its constants."""
    return PARAMETER.sub(lambda match: constant(statement.values[int(match[1]) - 1]), text)


def with_lists(text: str, lists: Mapping[str, List], views: Mapping[str, str]) -> str:
    """A statement with the lists that it looks keys up in: those that are no views are written out."""
    parts = [
        f"{name} AS ({f'SELECT * FROM {views[name]}' if name in views else _values(columns)})"
        for name, columns in lists.items()
    ]
    if not parts:
        return text
    return f"WITH {listing(parts)}" + (f", {text[5:]}" if text.startswith("WITH ") else f" {text}")


def _values(columns: List) -> str:
    names = listing([*(f"k{place}" for place in range(len(columns))), "place"])
    rows = [f"({listing([*cells, str(place)])})" for place, cells in enumerate(_cells(columns))]
    if rows:
        return f"SELECT * FROM VALUES {listing(rows)} AS l({names})"
    nothing = [f"CAST(NULL AS {SPARK.types[kind]}) AS k{place}" for place, (kind, _) in enumerate(columns)]
    return f"SELECT {listing([*nothing, '0 AS place'])} WHERE FALSE"


def _cells(columns: List) -> Iterator[tuple[str, ...]]:
    made = [
        [f"CAST({constant(as_held(one, kind))} AS {SPARK.types[kind]})" for one in values] for kind, values in columns
    ]
    return zip(*made, strict=True)
