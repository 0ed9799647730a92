"""PostgreSQL's types as the catalog knows them: their numbers, how they are kept, and how texts of theirs are read.

A type is its name in `pg_type`, and `_name` is an array of it. ``unknown`` is a text in quotes that nothing has said
the type of. Kept are all whole numbers as one type, all numbers of objects (`oid`, `regclass` …) with them, and all
that is written in letters as text: what a value is, the binder knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import final

FACTS = "sfumato.server.postgres.catalog"

NAMES_OF_TYPES = {
    "bigint": "int8",
    "boolean": "bool",
    "char": "bpchar",
    "character": "bpchar",
    "character varying": "varchar",
    "dec": "numeric",
    "decimal": "numeric",
    "double precision": "float8",
    "float": "float8",
    "int": "int4",
    "integer": "int4",
    "real": "float4",
    "smallint": "int2",
    "time with time zone": "timetz",
    "time without time zone": "time",
    "timestamp with time zone": "timestamptz",
    "timestamp without time zone": "timestamp",
    "bit varying": "varbit",
}
"""SQL's words for types, and the names under which PostgreSQL keeps them."""

SHOWN_AS = {
    "bool": "boolean",
    "bpchar": "character",
    "char": '"char"',
    "float4": "real",
    "float8": "double precision",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "time": "time without time zone",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
    "timetz": "time with time zone",
    "varbit": "bit varying",
    "varchar": "character varying",
}
"""How `format_type` writes types."""

WHOLE = ("int2", "int4", "int8")
NUMBERS = (*WHOLE, "numeric", "float4", "float8")
"""Types of numbers; of two, the later one holds what both hold."""

OBJECTS = ("regclass", "regtype", "regproc", "regnamespace", "regrole", "regprocedure", "regcollation", "regoper")
TEXTS = ("text", "varchar", "name", "bpchar", "unknown")
VECTORS = {"int2vector": "int2", "oidvector": "oid"}
"""Lists that PostgreSQL counts from 0, and what is in them."""

KEPT = {
    **dict.fromkeys((*WHOLE, *OBJECTS, "oid", "xid", "cid"), "BIGINT"),
    "bool": "BOOLEAN",
    "date": "DATE",
    "float4": "DOUBLE",
    "float8": "DOUBLE",
    "interval": "INTERVAL",
    "numeric": "DECIMAL(38, 6)",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP",
}
"""How values are kept; all others are texts."""


@final
@dataclass(frozen=True)
class TypeFact:
    """One line of `facts/types.txt`: a type as `pg_type` has it."""

    oid: int
    name: str
    fields: tuple[str, ...]

    @property
    def element(self) -> int:
        """The number of the type of what is in it, 0 where it is no list."""
        return int(self.fields[5])

    @property
    def category(self) -> str:
        return self.fields[3]


@cache
def fact_lines(name: str) -> tuple[str, ...]:
    """The lines of a table of facts, without what is said about it."""
    text = files(FACTS).joinpath("facts", f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


@cache
def types() -> dict[str, TypeFact]:
    """All types, by name."""
    read = (line.split(" ") for line in fact_lines("types"))
    return {name: TypeFact(int(oid), name, tuple(rest)) for oid, name, *rest in read}


@cache
def types_by_oid() -> dict[int, TypeFact]:
    """All types, by number."""
    return {fact.oid: fact for fact in types().values()}


def oid_of(name: str) -> int:
    """The number of a type; what nothing is known of goes as text."""
    return types()["text" if name == "unknown" or name not in types() else name].oid


def element_of(name: str) -> str | None:
    """The type of what is in a list."""
    if name in VECTORS:
        return VECTORS[name]
    return name[1:] if name.startswith("_") else None


def array_of(name: str) -> str:
    """The type of lists of something."""
    return f"_{'text' if name == 'unknown' else name}"


def kept(name: str) -> str:
    """How values of a type are kept."""
    inner = element_of(name)
    return f"{kept(inner)}[]" if inner is not None else KEPT.get(name, "VARCHAR")


def canonical(words: str) -> str | None:
    """The name of a type as it is kept; None where there is no such type."""
    name = NAMES_OF_TYPES.get(words, words)
    return name if name in types() or name in OBJECTS else None


def shown_type(oid: int, modifier: int | None = None) -> str:
    """What `format_type` says of a type."""
    fact = types_by_oid().get(oid)
    if fact is None:
        return "-" if oid == 0 else "???"
    if fact.name.startswith("_") and fact.element:
        return f"{shown_type(fact.element, modifier)}[]"
    if modifier is None or modifier < 0 or fact.name not in ("varchar", "bpchar", "numeric"):
        return SHOWN_AS.get(fact.name, fact.name)
    if fact.name == "numeric":
        return f"numeric({(modifier - 4) >> 16},{(modifier - 4) & 0xFFFF})"
    return f"{SHOWN_AS[fact.name]}({modifier - 4})"


def unified(found: Sequence[str]) -> str:
    """The type that several values have together, as in CASE, COALESCE or the columns of a UNION."""
    known = [name for name in found if name != "unknown"]
    if not known:
        return "text"
    first = known[0]
    for name in known[1:]:
        if first in NUMBERS and name in NUMBERS:
            first = max(first, name, key=NUMBERS.index)
        elif (first in WHOLE and name == "oid") or (first == "varchar" and name == "text") or first == "bpchar":
            first = name
    return first


def array_items(text: str) -> list[str | None]:
    """Reads PostgreSQL's text of a list, of one dimension, as in ``{a,"b c",NULL}``."""
    inner = text.strip()
    if not (inner.startswith("{") and inner.endswith("}")):
        raise ValueError
    items: list[str | None] = []
    place, end = 1, len(inner) - 1
    while place < end:
        item, place, quoted = _item(inner, place, end)
        items.append(None if not quoted and item.upper() == "NULL" else item)
        place += 1
    return items


def _item(text: str, place: int, end: int) -> tuple[str, int, bool]:
    """Reads one item, up to the comma or the end; tells whether it stood in quotes."""
    letters: list[str] = []
    quoted = inside = False
    while place < end and (inside or text[place] != ","):
        sign = text[place]
        if sign == "\\":
            place += 1
            letters.append(text[place])
        elif sign == '"':
            inside, quoted = not inside, True
        elif sign in "{}" and not inside:
            raise ValueError
        else:
            letters.append(sign)
        place += 1
    if inside:
        raise ValueError
    item = "".join(letters)
    return (item if quoted else item.strip()), place, quoted


def array_text(items: Sequence[str | None]) -> str:
    """Writes PostgreSQL's text of a list."""
    return "{" + ",".join(_written(item) for item in items) + "}"


def _written(item: str | None) -> str:
    if item is None:
        return "NULL"
    if item and item.upper() != "NULL" and not set(item) & set('{},"\\ \t\n\r\v\f'):
        return item
    escaped = item.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
