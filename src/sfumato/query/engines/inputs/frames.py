"""Data frames and columns of arrays as Arrow tables: what has a type keeps it, and other values come as texts.

A column of Python values has no type: to infer one is to let one row decide how the others are read. Each value is
then written as a text by itself (`python_values`), and read by the codebook's type, as in a text file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from sfumato.errors import BadArgument
from sfumato.query.engines.inputs.python_values import UNREADABLE, text_of
from sfumato.query.engines.inputs.tables import plain_table

if TYPE_CHECKING:
    import pyarrow as pa

MUST = "a path, a data frame (of pandas, Polars, Arrow or another library), a list of rows, or columns of arrays"
TO_MICROSECONDS = {"s": 10**6, "ms": 10**3}
TYPED = "biufM"
"""NumPy's kinds of numbers, truth values and times."""


def columns_of(given: Any, wanted: list[str], lists: Collection[str] = ()) -> tuple[pa.Table, set[str]]:
    """The wanted columns that there are, and which of them are texts that stand for values of Python."""
    import pyarrow as pa

    given = plain_table(given, wanted)
    columns = _by_name(given)
    if columns is None:
        try:
            table = pa.table(given)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            table = None
        if table is None:
            _refuse(f"{MUST} that can be read", given)
        columns = {name: table.column(name) for name in wanted if table.schema.names.count(name) == 1}
    made, texts = {}, set()
    for name in wanted:
        if name in lists and name in columns:
            made[name] = listed(columns[name])
        elif name in columns:
            made[name], is_texts = _column(columns[name])
            texts |= {name} if is_texts else set()
    if len({len(column) for column in made.values()}) > 1:
        _refuse("columns of one length", given)
    return pa.table(made), texts


def schema_table(given: Any) -> tuple[pa.Table, list[str]]:
    """A table without rows with the typed columns of a frame, and the names of all columns; no value is looked at."""
    import pyarrow as pa

    given = plain_table(given)
    columns = _by_name(given)
    if columns is None:
        schema = given.schema if isinstance(given, pa.Table) else pa.schema(given)
        columns = {name: schema.empty_table().column(name) for name in schema.names if schema.names.count(name) == 1}
    for column in columns.values():
        _check_column(column)
    typed = {name: _typed(getattr(column, "iloc", column)[:0]) for name, column in columns.items()}
    made = {name: _held(column) for name, column in typed.items() if column is not None}
    return pa.table(made), list(filter(None, columns))


def _by_name(given: Any) -> Mapping[str, Any] | None:
    """Columns that may hold values of Python; None of what is made of Arrow's columns."""
    if isinstance(given, Mapping):
        return {str(name): column for name, column in given.items()}
    if not hasattr(given, "__arrow_c_stream__") or not (hasattr(given, "columns") or hasattr(given, "schema")):
        _refuse(MUST, given)
    if not type(given).__module__.startswith(("pandas", "polars")):
        return None
    names = [str(name) for name in given.columns]
    return {name: given[label] for name, label in zip(names, given.columns, strict=True) if names.count(name) == 1}


def _column(column: Any) -> tuple[Any, bool]:
    """A column for Arrow, and tells whether its texts stand for values of Python."""
    import pyarrow as pa

    _check_column(column)
    made = _typed(column)
    if made is None:
        return pa.array(_texts(column), pa.string()), True
    return _held(made), False


def _check_column(column: object) -> None:
    if isinstance(column, str | bytes | Mapping) or not isinstance(column, Iterable):
        _refuse("columns of arrays, each with a value for every row", column)


def _texts(column: Iterable[Any]) -> list[str | None]:
    """The texts of values of Python. Those of a category of pandas are its type's: going over the rows of one that
    holds intervals writes whole numbers otherwise where any row is missing."""
    held: Any = getattr(column, "cat", None)
    if not hasattr(held, "codes"):
        return [text_of(value) for value in column]
    words = [*map(text_of, held.categories), None]  # the place of what is missing is -1
    return [words[place] for place in held.codes]


def _held(made: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in a type that engines have, in which no value breaks a reader."""
    import pyarrow as pa

    if pa.types.is_null(made.type):
        return made.cast(pa.string())
    if pa.types.is_dictionary(made.type):
        made = _decoded(made)
    if pa.types.is_float16(made.type):  # which engines do not have
        made = made.cast(pa.float32())
    if pa.types.is_timestamp(made.type) and made.type.unit in TO_MICROSECONDS:
        made = _in_microseconds(made)
    return _sound(made)


def listed(column: Any) -> Any:
    """A column of lists for Arrow; of values of Python, lists of texts, and missing where a value is no list."""
    import pyarrow as pa

    made = _typed(column)
    if made is None:
        rows = [one.tolist() if isinstance(one, np.ndarray) else one for one in column]
        texts = [[_item(value) for value in one] if isinstance(one, list | tuple) else None for one in rows]
        return pa.array(texts, pa.list_(pa.string()))
    kind = made.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return made
    parts = [
        with_items(chunk, lambda items: _column(pa.chunked_array([items]))[0].combine_chunks()) for chunk in made.chunks
    ]
    return pa.chunked_array(parts) if parts else made


def _item(value: Any) -> str | None:
    """A value of Python in a list as a text; missing where no text can hold it."""
    made = text_of(value)
    return None if made is None or made.startswith(UNREADABLE) else made


def with_items(column: Any, change: Callable[[Any], Any]) -> Any:
    """A column of lists of Arrow with other items in place of its own, one for one."""
    import pyarrow as pa

    whole = column.take(pa.array(np.arange(len(column)))) if column.offset else column  # from its beginning
    return type(whole).from_arrays(whole.offsets, change(whole.values), mask=whole.is_null())


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a column of places in a dictionary, as polars and pandas hold categories."""
    import pyarrow as pa

    if not pa.types.is_string_view(column.type.value_type):
        return column.cast(column.type.value_type)
    parts = []
    for chunk in column.chunks:  # Arrow takes nothing out of views of texts, and checks these where it casts them
        words = chunk.dictionary.cast(pa.binary_view()).cast(pa.large_binary()).view(pa.large_string())
        parts.append(words.take(chunk.indices))
    return pa.chunked_array(parts, pa.large_string())


def _typed(column: Any) -> Any:
    """A column that has a type of its own as Arrow's; None where its values are anything."""
    import pyarrow as pa

    kind = str(getattr(getattr(column, "dtype", None), "kind", "?"))
    if isinstance(column, np.ndarray) and (
        kind not in TYPED or column.ndim != 1 or isinstance(column, np.ma.MaskedArray)
    ):
        return None
    if not (isinstance(column, np.ndarray | pa.Array | pa.ChunkedArray) or hasattr(column, "dtype")):
        return None
    if str(getattr(column, "dtype", "")).casefold() == "object":
        return None
    try:
        if isinstance(column, pa.ChunkedArray):
            return column
        stream = hasattr(column, "__arrow_c_stream__")
        made = pa.chunked_array(column if stream else [pa.array(column, from_pandas=True)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return None if _only_in_pandas(made.type) else made


def _only_in_pandas(kind: pa.DataType) -> bool:
    """Tells whether a column holds periods or intervals: in Arrow these are numbers that mean something else."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return isinstance(kind, pa.BaseExtensionType) and kind.extension_name.startswith("pandas.")


def _in_microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times in the unit in which they are read; those that have none in it are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    factor, raw = TO_MICROSECONDS[column.type.unit], column.cast(pa.int64())
    most = (2**63 - 1) // factor
    inside = pc.and_(pc.greater_equal(raw, -most), pc.less_equal(raw, most))
    kept = pc.if_else(inside, raw, pa.scalar(None, pa.int64()))
    return pc.multiply(kept, factor).cast(pa.timestamp("us", column.type.tz))


def _sound(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of which no value breaks a reader: texts that are none, and decimals with too many digits, are
    missing, and all others are as they were."""
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        return _within(column)
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        pass
    else:
        return column
    raw = column.cast(pa.large_binary()).to_pylist()
    return pa.chunked_array([pa.array([None if value is None else _text(value) for value in raw], pa.large_string())])


def _text(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _within(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decimals without those that have more digits than their type. Arrow's own check takes the least number of
    128 bits for one of none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    digits = (9,) * column.type.precision
    least, most = (pa.scalar(Decimal((sign, digits, -column.type.scale)), column.type) for sign in (1, 0))
    inside = pc.and_(pc.greater_equal(column, least), pc.less_equal(column, most))
    return pc.if_else(inside, column, pa.scalar(None, column.type))


def _refuse(must: str, got: object) -> NoReturn:
    raise BadArgument("data", must, type(got).__name__)
