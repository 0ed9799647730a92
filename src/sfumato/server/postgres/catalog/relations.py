"""PostgreSQL's own relations: the columns that tools expect of `pg_catalog` and `information_schema`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import final

from sfumato.server.postgres.catalog.types import fact_lines

CATALOG, INFORMATION = "pg_catalog", "information_schema"


@final
@dataclass(frozen=True)
class Relation:
    """A relation of PostgreSQL's own: its schema, name, number, kind, and columns with types; ``never`` are missing."""

    schema: str
    name: str
    oid: int
    kind: str
    columns: tuple[tuple[str, str], ...]
    never: frozenset[str]

    @property
    def place(self) -> str:
        """The name under which the engine has it."""
        return f'"{self.schema}.{self.name}"'


@cache
def relations() -> dict[tuple[str, str], Relation]:
    """All relations of PostgreSQL's own, by schema and name."""
    return {(one.schema, one.name): one for one in map(_relation, fact_lines("relations"))}


def _relation(line: str) -> Relation:
    head, _, listed = line.partition(": ")
    place, oid, kind = head.split(" ")
    schema, _, name = place.partition(".")
    pairs = [part.split(" ") for part in listed.split(", ")]
    columns = tuple((column, type_.rstrip("!").replace("_pg_statistic", "_text")) for column, type_ in pairs)
    never = frozenset(column for column, type_ in pairs if type_.endswith("!"))
    return Relation(schema, name, int(oid), kind, columns, never)
