"""Functions that give rows: in FROM, or in the list of a SELECT, where each of their rows makes one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sfumato.server.postgres.catalog.casts import Numbers, coerced, is_composite, item_type
from sfumato.server.postgres.catalog.refusals import NO_FUNCTION, refused
from sfumato.server.postgres.catalog.scopes import Typed
from sfumato.server.postgres.catalog.types import VECTORS, kept

MOST_ROWS = 2_000
"""How many rows one call may give."""


def rows_of(numbers: Numbers, name: str, given: Sequence[Typed]) -> Typed | None:
    """A list of the rows of a call, with the type of one row; None where the function gives no rows."""
    if name in EMPTY:
        kind = EMPTY[name]
        parts = ", ".join(f"{part.partition(':')[0]} {kept(part.partition(':')[2])}" for part in _parts(kind))
        return Typed(f"CAST([] AS {f'STRUCT({parts})' if is_composite(kind) else kept(kind)}[])", kind, name, 2)
    make = SETS.get(name)
    if make is None:
        return None
    try:
        made = make(numbers, given)
    except IndexError:
        raise refused(NO_FUNCTION, f"function {name} is called with too few arguments") from None
    return made.called(name)


def columns_of(kind: str, name: str) -> list[tuple[str, str]]:
    """The columns of a call in FROM, with their types."""
    if not is_composite(kind):
        return [(name, kind)]
    return [(part.partition(":")[0], part.partition(":")[2]) for part in _parts(kind)]


def _parts(kind: str) -> list[str]:
    return kind.strip("()").split(",") if is_composite(kind) else []


def _unnested(numbers: Numbers, given: Sequence[Typed]) -> Typed:
    one = given[0]
    sql = coerced(numbers, one, "_text" if one.type == "unknown" else one.type)
    return Typed(sql, item_type("_text" if one.type == "unknown" else one.type))


def _series(numbers: Numbers, given: Sequence[Typed]) -> Typed:
    first, last = (coerced(numbers, one, "int4") for one in (given[0], given[1]))
    step = coerced(numbers, given[2], "int4") if len(given) > 2 else "1"
    many = f"(v.b - v.a) / nullif(v.s, 0) > {MOST_ROWS}"
    sql = (
        f"list_transform([{{'a': {first}, 'b': {last}, 's': {step}}}], lambda v: "
        f"CASE WHEN {many} THEN error('long') ELSE generate_series(v.a, v.b, v.s) END)[1]"
    )
    wide = "int8" if "int8" in (given[0].type, given[1].type) else "int4"
    return Typed(sql, wide)


def _subscripts(numbers: Numbers, given: Sequence[Typed]) -> Typed:
    item_type(given[0].type)
    if given[0].type in VECTORS:
        return Typed(f"range(0, len({given[0].sql}))", "int4")
    return Typed(f"range(1, len({given[0].sql}) + 1)", "int4")


def _expanded(numbers: Numbers, given: Sequence[Typed]) -> Typed:
    inner = item_type(given[0].type)
    return Typed(f"list_transform({given[0].sql}, lambda v, i: {{'x': v, 'n': i}})", f"(x:{inner},n:int4)")


def _split(word: str) -> Callable[[Numbers, Sequence[Typed]], Typed]:
    def split(numbers: Numbers, given: Sequence[Typed]) -> Typed:
        text, at = (coerced(numbers, one, "text") for one in (given[0], given[1]))
        return Typed(f"{word}(left({text}, 1000), {at})", "text")

    return split


def _keywords(numbers: Numbers, given: Sequence[Typed]) -> Typed:
    parts = "'word': split_part(v, ' ', 1), 'catcode': split_part(v, ' ', 2), 'barelabel': true"
    texts = "'catdesc': CASE split_part(v, ' ', 2) WHEN 'R' THEN 'reserved' ELSE 'unreserved' END, 'baredesc': ''"
    kind = "(word:text,catcode:char,barelabel:bool,catdesc:text,baredesc:text)"
    return Typed(f"list_transform(getvariable('keywords'), lambda v: {{{parts}, {texts}}})", kind)


def _options(numbers: Numbers, given: Sequence[Typed]) -> Typed:
    listed = coerced(numbers, given[0], "_text")
    parts = "'option_name': split_part(v, '=', 1), 'option_value': split_part(v, '=', 2)"
    return Typed(f"list_transform({listed}, lambda v: {{{parts}}})", "(option_name:text,option_value:text)")


SETS: dict[str, Callable[[Numbers, Sequence[Typed]], Typed]] = {
    "_pg_expandarray": _expanded,
    "generate_series": _series,
    "generate_subscripts": _subscripts,
    "pg_get_keywords": _keywords,
    "pg_options_to_table": _options,
    "regexp_split_to_table": _split("string_split_regex"),
    "string_to_table": _split("string_split"),
    "unnest": _unnested,
}

EMPTY = {
    "aclexplode": "(grantor:oid,grantee:oid,privilege_type:text,is_grantable:bool)",
    "pg_listening_channels": "text",
    "pg_partition_ancestors": "regclass",
    "pg_partition_tree": "(relid:regclass,parentrelid:regclass,isleaf:bool,level:int4)",
    "pg_tablespace_databases": "oid",
}
"""Functions that have no rows here, and what a row would be."""


def in_list(rows: Typed) -> Typed:
    """A call in the list of a SELECT: one row for each."""
    return Typed(f"unnest({rows.sql})", rows.type, rows.name, 2)
