"""Parquet files by Parquet's own types, read such that no cell makes it fail: texts are bytes, times numbers."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.query.engines.inputs.frames import TO_MICROSECONDS, with_items

if TYPE_CHECKING:
    import pyarrow.parquet as pq


def footer_of(file: Path) -> bytes:
    """The footer of a Parquet file, with its length and the mark behind it; or the whole file, if it is none."""
    with file.open("rb") as held:
        size = held.seek(0, os.SEEK_END)
        held.seek(max(size - 8, 0))
        many = int.from_bytes(held.read(4), "little")
        held.seek(max(size - 8 - many, 0))
        return held.read()


def opened(file: Path) -> pq.ParquetFile:
    """Opens a file by Parquet's own types. Arrow's, which its writers keep under a name in the footer, are not found:
    its reader would check all texts of a dictionary, and raise at one that is none."""
    import pyarrow.parquet as pq

    own = b"PAR1" + footer_of(file).replace(b"ARROW:schema", b"arrow:schema")
    return pq.ParquetFile(file, metadata=pq.read_metadata(BytesIO(own)), coerce_int96_timestamp_unit="us")


def plain(column: Any) -> Any:
    """A column of Arrow in a form that engines take whatever is in it: texts as bytes, times by microseconds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(column.storage)
    if pa.types.is_dictionary(kind):
        return plain(column.dictionary_decode())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return with_items(column, plain)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.binary_view() if pa.types.is_string_view(kind) else pa.large_binary()).cast(
            pa.large_binary()
        )
    if pa.types.is_timestamp(kind) and kind.unit in TO_MICROSECONDS:
        factor, raw = TO_MICROSECONDS[kind.unit], column.view(pa.int64())
        most = (2**63 - 1) // factor
        inside = pc.and_(pc.greater_equal(raw, -most), pc.less_equal(raw, most))
        kept = pc.if_else(inside, raw, pa.scalar(None, pa.int64()))
        return pc.multiply(kept, factor).view(pa.timestamp("us", kind.tz))
    return column.cast(pa.float32()) if pa.types.is_float16(kind) else column


def sound_texts(column: Any, kind: Any) -> Any:
    """What `plain` made of a column of texts, or of lists of them, as texts again; those that are none are missing."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return sound_texts(column, kind.storage_type)
    if pa.types.is_dictionary(kind):
        return sound_texts(column, kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return with_items(column, lambda items: sound_texts(items, kind.value_type))
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if pa.types.is_null(kind):
        return column.cast(pa.large_string())
    if not texts:
        return column
    try:
        return column.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array([_text(raw.as_py()) for raw in column], pa.large_string())


def _text(raw: bytes | None) -> str | None:
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError:
        return None
