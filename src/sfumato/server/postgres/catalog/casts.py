"""From one type to another: what somebody wrote in quotes, read as a type, and values cast as PostgreSQL casts them."""

from __future__ import annotations

import re
from typing import Protocol

from sfumato.server.postgres.catalog.refusals import (
    BAD_TEXT,
    NO_FUNCTION,
    NO_TABLE,
    NO_TYPE,
    UNSUPPORTED,
    CatalogRefused,
    refused,
)
from sfumato.server.postgres.catalog.scopes import Typed, quoted
from sfumato.server.postgres.catalog.types import (
    NUMBERS,
    OBJECTS,
    TEXTS,
    VECTORS,
    WHOLE,
    array_items,
    array_of,
    element_of,
    kept,
    shown_type,
    types,
)

LOOKED_UP = {
    "regclass": ("classes", "class_numbers"),
    "regtype": ("types", "type_numbers"),
    "regproc": ("functions", "function_numbers"),
    "regprocedure": ("functions", "function_numbers"),
    "regnamespace": ("namespaces", "namespace_numbers"),
    "regrole": ("roles", "role_numbers"),
}
"""The engine's variables that have the names of objects, and the numbers of names."""

TRUE = ("t", "true", "y", "yes", "on", "1")
FALSE = ("f", "false", "n", "no", "off", "0")
NOT_THERE = {"regclass": NO_TABLE, "regtype": NO_TYPE, "regproc": NO_FUNCTION}


class Numbers(Protocol):
    """What knows the numbers of objects by their names."""

    def number(self, kind: str, name: str) -> int | None: ...

    def note(self, parameter: int, name: str) -> None: ...


def constant(numbers: Numbers, text: str, name: str) -> str:
    """A text in quotes as the engine reads it, once its type is known."""
    inner = element_of(name)
    try:
        if name in VECTORS:
            return _list([str(int(part)) for part in text.split()], name)
        if inner is not None:
            items = array_items(text)
            return _list(["NULL" if one is None else constant(numbers, one, inner) for one in items], name)
        if name in OBJECTS:
            return str(_object(numbers, text.strip(), name))
        if name in (*WHOLE, "oid", "xid", "cid"):
            return f"CAST({int(text)} AS BIGINT)"
        if name in NUMBERS:
            float(text)
            return f"CAST({quoted(text.strip())} AS {kept(name)})"
        if name == "bool":
            return _truth(text.strip().lower())
    except CatalogRefused:
        raise
    except (ValueError, IndexError):
        raise refused(BAD_TEXT, f"invalid input syntax for type {shown_type(types()[name].oid)}") from None
    if kept(name) != "VARCHAR":
        return f"CAST({quoted(text)} AS {kept(name)})"
    return quoted(text[:1] if name == "char" else text)


def _list(items: list[str], name: str) -> str:
    return f"CAST([{', '.join(items)}] AS {kept(name)})"


def _truth(word: str) -> str:
    if word in TRUE or word in FALSE:
        return "true" if word in TRUE else "false"
    raise ValueError


def _object(numbers: Numbers, text: str, name: str) -> int:
    if text == "-" or text.isdecimal():
        return 0 if text == "-" else int(text)
    number = numbers.number(name, text)
    if number is None:
        what = {"regclass": "relation", "regtype": "type", "regproc": "function"}.get(name, "object")
        raise refused(NOT_THERE.get(name, NO_TYPE), f"the {what} that the text in quotes names does not exist")
    return number


def coerced(numbers: Numbers, given: Typed, name: str) -> str:
    """A value where a type is expected: what is in quotes is read as that type, all else stays what it is."""
    if given.parameter:
        numbers.note(given.parameter, name)
    if given.text is not None:
        return constant(numbers, given.text, name)
    if given.type == "unknown" and given.sql == "NULL":
        return f"CAST(NULL AS {kept(name)})"
    if name in TEXTS and given.type not in TEXTS and given.type in (*OBJECTS, "bool"):
        return cast(numbers, given, name).sql
    return given.sql


def cast(numbers: Numbers, given: Typed, name: str) -> Typed:
    """A value cast, as by `::`."""
    if given.text is not None or given.sql == "NULL":
        return Typed(coerced(numbers, given, name), name)
    source = given.type
    if source == name:
        return given
    return Typed(_as(given.sql, source, name), name)


def _as(sql: str, source: str, name: str) -> str:
    inner, own = element_of(name), element_of(source)
    if inner is not None:
        if own is None:
            raise refused(UNSUPPORTED, "a cast to a list of what is no list is not answered by the catalog")
        one = _as("v", own, inner)
        return sql if one == "v" else f"list_transform({sql}, lambda v: {one})"
    if name in OBJECTS:
        return f"getvariable('{LOOKED_UP[name][1]}')[{sql}]" if source in TEXTS and name in LOOKED_UP else sql
    if own is not None:
        return _list_as_text(sql, source, own, name)
    if kept(name) == "VARCHAR":
        said = _as_text(sql, source)
        return f"left({said}, 1)" if name == "char" and source in TEXTS else said
    if name == "bool":
        return f"({sql} <> 0)" if source in NUMBERS else f"CAST({sql} AS BOOLEAN)"
    return sql if kept(name) == kept(source) else f"CAST({sql} AS {kept(name)})"


def _as_text(sql: str, source: str) -> str:
    if source in LOOKED_UP:
        return f"getvariable('{LOOKED_UP[source][0]}')[{sql}]"
    return sql if kept(source) == "VARCHAR" else f"CAST({sql} AS VARCHAR)"


def _list_as_text(sql: str, source: str, own: str, name: str) -> str:
    if kept(name) != "VARCHAR":
        raise refused(UNSUPPORTED, "a cast of a list to what is no list is not answered by the catalog")
    if source in VECTORS:
        return f"array_to_string({sql}, ' ')"
    plain = r"regexp_full_match(v, '[^{}\",\\\s]+') AND upper(v) <> 'NULL'"
    escaped = r"""'"' || replace(replace(v, '\', '\\'), '"', '\"') || '"'"""
    one = f"CASE WHEN {plain} THEN v ELSE {escaped} END"
    shown = _as_text("v", own)
    listed = sql if shown == "v" else f"list_transform({sql}, lambda v: {shown})"
    return f"'{{' || array_to_string(list_transform({listed}, lambda v: coalesce({one}, 'NULL')), ',') || '}}'"


def item_type(name: str) -> str:
    """The type of what is in a list; refuses what is none."""
    inner = element_of(name)
    if inner is None:
        raise refused("42809", "op ANY/ALL (array) requires array on right side")
    return inner


def listed(numbers: Numbers, given: Typed, item: str) -> Typed:
    """A list of a type of items: what is in quotes is read as one."""
    if given.text is not None or given.sql == "NULL":
        name = array_of(item)
        return Typed(coerced(numbers, given, name), name)
    item_type(given.type)
    return given


def is_composite(name: str) -> bool:
    """Tells whether a type has named parts."""
    return re.match(r"\(", name) is not None


def part_of(name: str, part: str) -> str | None:
    """The type of a named part."""
    parts = dict(one.split(":") for one in name.strip("()").split(","))
    return parts.get(part)
