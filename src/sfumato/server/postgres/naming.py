"""Which data set a question is about: data sets are schemas, and a schema before a table is taken off by its place.

Names are taken from the tree that the planner itself reads, with the places where they stand; nothing else of a text is
ever changed.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

from sqlglot import exp

from sfumato.codebook.book import Codebook
from sfumato.codebook.columns import Column
from sfumato.core.atoms import Bounds
from sfumato.query.sql.text import parse
from sfumato.server.postgres.answers import (
    BOOL,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    NUMERIC,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
)
from sfumato.server.postgres.faults import Fault
from sfumato.server.postgres.values import INTEGERS

DATABASE = "sfumato"
"""The one database that there is."""

OWN_SCHEMAS = ("pg_catalog", "information_schema", "pg_toast", "public")
TYPES = {"float": FLOAT8, "int": INT8, "bool": BOOL, "str": TEXT, "categories": TEXT, "date": DATE, "time": TIMESTAMP}
CASTS = {
    exp.DType.INT: INT8,
    exp.DType.BIGINT: INT8,
    exp.DType.SMALLINT: INT8,
    exp.DType.DOUBLE: FLOAT8,
    exp.DType.FLOAT: FLOAT8,
    exp.DType.DECIMAL: NUMERIC,
    exp.DType.BOOLEAN: BOOL,
    exp.DType.DATE: DATE,
    exp.DType.TIMESTAMP: TIMESTAMP,
}
SAMPLES: Mapping[int, Any] = {
    **dict.fromkeys((INT2, INT4, INT8), 1),
    **dict.fromkeys((FLOAT4, FLOAT8, NUMERIC), 1.0),
    **dict.fromkeys((TIMESTAMP, TIMESTAMPTZ), datetime.datetime(2000, 1, 1)),
    BOOL: True,
    DATE: datetime.date(2000, 1, 1),
}
"""A value of each type."""


@final
@dataclass(frozen=True)
class Names:
    """The names of a question: schemas and where they stand, tables without one, and what parameters stand beside."""

    schemas: frozenset[str]
    tables: frozenset[str]
    cuts: tuple[tuple[int, int], ...]
    beside: Mapping[int, tuple[str, int]]

    def plain(self, text: str) -> str:
        """The text without its schemas."""
        for start, end in sorted(self.cuts, reverse=True):
            text = text[:start] + text[end:]
        return text


@lru_cache(maxsize=256)
def names_in(text: str) -> Names:
    """Reads the names in a question, or refuses it as the planner would."""
    tree = parse(text).tree
    inner = {one.alias.casefold() for one in tree.find_all(exp.CTE)}
    schemas, tables, cuts = set[str](), set[str](), set[tuple[int, int]]()
    for node in tree.find_all(exp.Table, exp.Column):
        of, own = node.args.get("db"), node.args.get("table" if isinstance(node, exp.Column) else "this")
        if isinstance(of, exp.Identifier) and isinstance(own, exp.Identifier):
            schemas.add(of.name)
            cuts.add(_cut(node.args.get("catalog"), of, own))
        elif isinstance(node, exp.Table) and isinstance(own, exp.Identifier) and own.name.casefold() not in inner:
            tables.add(own.name)
    return Names(frozenset(schemas), frozenset(tables), tuple(sorted(cuts)), _beside(tree))


def _cut(catalog: object, of: exp.Identifier, own: exp.Identifier) -> tuple[int, int]:
    first = catalog if isinstance(catalog, exp.Identifier) else of
    if first is not of and first.name.casefold() != DATABASE:
        raise Fault("0A000", f"there is one database here, {DATABASE}, and no question is about another")
    start, end = first.meta.get("start"), own.meta.get("start")
    if not (isinstance(start, int) and isinstance(end, int) and start < end):
        raise Fault("0A000", "a schema stands where none is read", hint="Leave the schema out of it.")
    return start, end


def _beside(tree: exp.Expr) -> Mapping[int, tuple[str, int]]:
    """What each numbered parameter stands beside: the name of a column, or the number of a type."""
    found: dict[int, tuple[str, int]] = {}
    for node in tree.find_all(exp.Placeholder):
        number = str(node.this)
        if number.isdigit() and len(number) < 6:
            known = _neighbour(node)
            if found.get(int(number), ("", 0)) == ("", 0):
                found[int(number)] = known
    return found


def _neighbour(node: exp.Expr) -> tuple[str, int]:
    above = node.parent
    if isinstance(above, exp.Cast):
        return "", CASTS.get(above.to.this, TEXT)
    if isinstance(above, exp.Limit):
        return "", INT8
    while isinstance(above, exp.Paren | exp.Neg):
        above = above.parent
    if isinstance(above, exp.Binary | exp.Between | exp.In):
        for column in above.find_all(exp.Column):
            return column.name, 0
        if any(not one.is_string for one in above.find_all(exp.Literal)):
            return "", FLOAT8
    return "", 0


def types_of(names: Names, declared: tuple[int, ...], book: Codebook | None) -> tuple[int, ...]:
    """The types of all parameters: declared, or those of what they stand beside, or texts."""
    many = max([len(declared), *names.beside])
    columns = {} if book is None else {one.name.casefold(): one.type for table in book.tables for one in table.columns}
    made = []
    for number in range(1, many + 1):
        said = declared[number - 1] if number <= len(declared) else 0
        beside, oid = names.beside.get(number, ("", 0))
        made.append(said or oid or TYPES.get(columns.get(beside.casefold(), ""), TEXT))
    return tuple(made)


def made_up(names: Names, oids: Sequence[int], book: Codebook | None) -> list[Any]:
    """Values that stand for those of parameters where only columns are asked for: such as the codebook allows."""
    columns = {} if book is None else {one.name.casefold(): one for table in book.tables for one in table.columns}
    return [
        _sample(columns.get(names.beside.get(number, ("", 0))[0].casefold()), oid) for number, oid in enumerate(oids, 1)
    ]


def _sample(column: Column | None, oid: int) -> Any:
    if column is not None and column.categories and oid == TEXT:
        return next((one for one in column.categories if isinstance(one, str)), "")
    if column is None or column.between is None:
        return SAMPLES.get(oid, "")
    low, high = (column.between.lower, column.between.upper) if isinstance(column.between, Bounds) else column.between
    middle: Any = low + (high - low) / 2  # type: ignore[operator]
    if oid in INTEGERS:
        return int(middle)
    return float(middle) if oid in (FLOAT4, FLOAT8, NUMERIC) else middle


def located(names: Names, search_path: str, visible: Callable[[], Mapping[str, frozenset[str]]]) -> str:
    """The data set that a question is about; ``visible`` has those that there are for somebody, with their tables."""
    if len(names.schemas) > 1:
        raise Fault("0A000", "a question is about one data set, and this one names several")
    if names.schemas:
        return _named(next(iter(names.schemas)), visible)
    there = visible()
    path = [part.strip(' "') for part in search_path.split(",")]
    for name in path:
        if name in there:
            return name
    if len(there) == 1:
        return next(iter(there))
    wanted = {one.casefold() for one in names.tables}
    having = [name for name, tables in there.items() if wanted and wanted <= {one.casefold() for one in tables}]
    if len(having) == 1:
        return having[0]
    listed = f"Write data_set.table, or SET search_path; there are: {', '.join(sorted(there)) or 'none'}."
    if not wanted:
        raise Fault("0A000", "a question names a table, and this one names none", hint=listed)
    why = "several data sets have such a table" if having else "no data set has such a table"
    raise Fault("42P01", why, hint=listed)


def _named(schema: str, visible: Callable[[], Mapping[str, frozenset[str]]]) -> str:
    there = visible()
    if schema in there:
        return schema
    alike = [name for name in there if name.casefold() == schema.casefold()]
    if alike:
        return alike[0]
    if schema.casefold() in OWN_SCHEMAS:
        raise Fault("42P01", f"there is no such table in {schema}")
    return schema  # whether it is there is said by the use case, to those who may know
