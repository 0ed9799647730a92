"""Answers and lists as Arrow, which engines hand out very many rows in, and take public values in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from sfumato.query.engines.sql.engine import Answer
from sfumato.query.engines.sql.statement import List
from sfumato.query.nodes.kinds import Kind, Value

if TYPE_CHECKING:
    import pyarrow as pa


@final
class ArrowColumns(Answer):
    """Columns of Arrow, which very many rows come in."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def numbers(self, name: str) -> np.ndarray[Any, Any]:
        return _numbers(self._table[name])

    def values(self, name: str, kind: Kind) -> list[Value]:
        return _values(self._table[name])


def list_table(columns: List) -> pa.Table:
    """Public values as a table with columns k0, k1, … and the place of each row."""
    import pyarrow as pa

    types = {
        Kind.BOOL: pa.bool_(),
        Kind.INT: pa.int64(),
        Kind.FLOAT: pa.float64(),
        Kind.TEXT: pa.string(),
        Kind.DATE: pa.date32(),
        Kind.TIME: pa.timestamp("us"),
    }
    made = {f"k{place}": pa.array(values, types[kind]) for place, (kind, values) in enumerate(columns)}
    many = len(columns[0][1])
    return pa.table({**made, "place": np.arange(many, dtype=np.uint16 if many <= 2**16 else np.uint32)})


def _numbers(column: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """Whole numbers as an array of int64; as Python ints, where one of them is larger.

    128 bits come as decimals without places: two words each, the lower one first.
    """
    import pyarrow as pa

    if not pa.types.is_decimal(column.type):
        return column.to_numpy().astype(np.int64)  # type: ignore[no-any-return]
    parts = [_words(chunk) for chunk in column.chunks if len(chunk)]
    words = np.concatenate(parts) if parts else np.zeros((0, 2), np.int64)
    low, high = words[:, 0], words[:, 1]
    if np.array_equal(high, low >> 63):
        return np.ascontiguousarray(low)
    wide = [(int(upper) << 64) | (int(lower) & (2**64 - 1)) for lower, upper in words.tolist()]
    numbers = np.empty(len(wide), object)
    numbers[:] = wide
    return numbers


def _words(chunk: pa.Array) -> np.ndarray[Any, np.dtype[np.int64]]:
    data = np.frombuffer(chunk.buffers()[1], np.int64).reshape(-1, 2)
    return data[chunk.offset : chunk.offset + len(chunk)]


def _values(column: pa.ChunkedArray) -> list[Value]:
    """Values as Python holds them. Numbers go through NumPy, which is faster by far."""
    import pyarrow as pa

    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return column.to_pylist()  # type: ignore[no-any-return]
    filled = column.fill_null(0) if column.null_count else column
    values = filled.to_numpy().tolist()
    if column.null_count:
        for place in np.flatnonzero(column.is_null().to_numpy()).tolist():
            values[place] = None
    return values  # type: ignore[no-any-return]
