"""Schemas: the names and types of columns that a frame, a table or files of Spark state; no value is looked at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from sfumato.query.engines.inputs.frames import schema_table
from sfumato.query.engines.protocol import Given
from sfumato.query.engines.spark.session import active_session, own_session
from sfumato.query.engines.spark.sources import SCHEME, arrow_for_spark, is_frame, missing, stored, tried, types_of

WORDS = {
    "tinyint": "TINYINT", "smallint": "SMALLINT", "int": "INTEGER", "bigint": "BIGINT", "float": "FLOAT",
    "double": "DOUBLE", "boolean": "BOOLEAN", "string": "VARCHAR", "date": "DATE", "timestamp": "TIMESTAMPTZ",
    "timestamp_ntz": "TIMESTAMP",
}  # fmt: skip
"""Spark's types in words that drafts of codebooks know."""


def schema_of(data: Given, name: str, session: Any = None) -> dict[str, dict[str, str]]:
    """The tables of some data, their columns, and the types of these, a frame under ``name``."""
    if isinstance(data, Mapping) and data:
        return {table: next(iter(schema_of(part, table, session).values())) for table, part in data.items()}
    if is_frame(data):
        return {name: _in_words(types_of(data))}
    if not isinstance(data, str | os.PathLike):
        return {name: _of_memory(data)}
    place = os.fspath(data)
    own = own_session(session or active_session())
    types = tried(lambda: types_of(stored(own, place)), missing(place))
    short = place.removeprefix(SCHEME).rstrip("/").rpartition("/")[2]
    return {short.rpartition(".")[2] if "/" not in place else short.partition(".")[0]: _in_words(types)}


def _of_memory(data: Given) -> dict[str, str]:
    from pyspark.sql.pandas.types import from_arrow_type

    table, names = schema_table(data)
    held = arrow_for_spark(table)
    types = {one.name: from_arrow_type(one.type, prefer_timestamp_ntz=True).simpleString() for one in held.schema}
    return {one: WORDS.get(types.get(one, ""), types.get(one, "").upper()) for one in names}


def _in_words(types: Mapping[str, str]) -> dict[str, str]:
    return {name: _word(held) for name, held in types.items()}


def _word(held: str) -> str:
    inner = held.removesuffix("[]")
    return WORDS.get(inner, inner.upper()) + ("[]" if inner != held else "")
