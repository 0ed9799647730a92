"""Answers that are tables: keys, noisy numbers, and where the exact number of each cell is."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument, MissingExtra, Several
from sfumato.exact import Number, probability
from sfumato.release.interval import Interval

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Cells: TypeAlias = NDArray[Any]
"""A column of cells: truth values, 64-bit whole numbers, floats, or objects (None, larger numbers, texts, dates)."""

KINDS = {bool: "truth values", int: "numbers", float: "numbers", str: "texts", datetime.date: "dates"}
"""What the cells of a column may be; times are told apart further below, by whether they know their zone."""


class Role(Enum):
    """What a column of an answer is: what names its rows, or what was computed from noisy numbers."""

    KEY = "key"
    VALUE = "value"


@final
@dataclass(frozen=True)
class Bin:
    """Marks a column as one bin of a histogram: of which histogram, what it counts, and between which edges.

    Columns with one ``histogram`` belong together, and are drawn as one.
    """

    histogram: str
    of: str
    low: float
    high: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class AnswerColumn:
    """One column of an answer; its cells are of one kind (numbers, texts, …), or None: a null key, a missing answer.

    ``low`` and ``high`` hold where the exact number of each cell is, with the confidence of the answer, cell by cell
    and not for all cells at once. They are None where nothing is known. Arrays are copied, and cannot be changed.

    >>> AnswerColumn("n", [812, 3], Role.VALUE, low=[797, -12], high=[827, 18]).values
    array([812,   3])
    """

    name: str
    values: Cells
    role: Role
    low: Cells | None = None
    high: Cells | None = None
    bin: Bin | None = None

    def __init__(
        self,
        name: str,
        values: Sequence[object] | Cells,
        role: Role,
        low: Sequence[object] | Cells | None = None,
        high: Sequence[object] | Cells | None = None,
        bin: Bin | None = None,  # it is one
    ) -> None:
        if not isinstance(name, str) or not isinstance(role, Role):
            raise BadArgument("a column of an answer", "named by a text, and a key or a value", Several(name, role))
        if (low is None) != (high is None) or (role is Role.KEY and low is not None):
            raise BadArgument(f"the interval of column {name!r}", "two ends, of a value", role.value)
        parts = {"name": name, "values": cells_of(values, name), "role": role, "low": None, "high": None, "bin": bin}
        if low is not None and high is not None:
            parts |= {"low": cells_of(low, name), "high": cells_of(high, name)}
        for part, value in parts.items():
            object.__setattr__(self, part, value)
        self._check()

    def _check(self) -> None:
        if self.low is None or self.high is None:
            return
        if not len(self.low) == len(self.high) == len(self.values):
            raise BadArgument(f"the interval of column {self.name!r}", "of one low and one high end a cell", len(self))
        if not all(_are_numbers(cells) for cells in (self.values, self.low, self.high)):
            raise BadArgument(f"the interval of column {self.name!r}", "of numbers, about numbers", "something else")
        if not _ordered(self.low, self.high):
            raise BadArgument(f"the low ends of column {self.name!r}", "at most the high ends, or both None", "others")

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"AnswerColumn({self.name!r}, {len(self)} {self.role.value}{'' if len(self) == 1 else 's'})"

    def intervals(self, confidence: Fraction) -> list[Interval | None] | None:
        """The interval of each cell, each at the confidence; None where nothing is known."""
        if self.low is None or self.high is None:
            return None
        ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return [None if low is None else Interval(low, high, confidence) for low, high in ends]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """The value of a release that is a table: columns of keys, columns of values, the interval of each value.

    Each interval holds with ``confidence`` by itself: of a thousand cells at 95 %, some fifty may be off. ``atoms`` are
    the noisy numbers, and keys, that everything else was computed from; they are kept, and not shown.

    >>> answer = Answer((AnswerColumn("n", [812], Role.VALUE, low=[797], high=[827]),), Fraction(95, 100))
    >>> answer.only(), answer.to_dict(intervals=True)
    (812, {'n': [812], 'n_low': [797], 'n_high': [827]})
    """

    columns: tuple[AnswerColumn, ...]
    confidence: Fraction = Fraction(95, 100)
    atoms: tuple[tuple[str, Cells], ...] = ()

    def __post_init__(self) -> None:
        columns = tuple(self.columns)
        if not columns or not all(isinstance(column, AnswerColumn) for column in columns):
            raise BadArgument("the columns of an answer", "one or more columns", self.columns)
        if len({column.name for column in columns}) < len(columns) or len({len(column) for column in columns}) > 1:
            named = [(column.name, len(column)) for column in columns]
            raise BadArgument("the columns of an answer", "of different names and of one length", named)
        if not isinstance(self.confidence, Fraction) or not 0 <= self.confidence <= 1:
            raise BadArgument("the confidence of an answer", "a Fraction between 0 and 1", self.confidence)
        atoms = tuple((name, cells_of(cells, name)) for name, cells in self.atoms)
        if len(dict(atoms)) < len(atoms):
            raise BadArgument("the atoms of an answer", "under different names", [name for name, _ in atoms])
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "atoms", atoms)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def keys(self) -> tuple[AnswerColumn, ...]:
        """The columns that name the rows."""
        return tuple(column for column in self.columns if column.role is Role.KEY)

    @property
    def values(self) -> tuple[AnswerColumn, ...]:
        """The columns that were computed from noisy numbers."""
        return tuple(column for column in self.columns if column.role is Role.VALUE)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, name: str) -> AnswerColumn:
        for column in self.columns:
            if column.name == name:
                return column
        raise BadArgument("the name of a column", "one of " + ", ".join(map(repr, self.names)), name)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.rows()

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yields the rows one by one, as dictionaries; for many rows the columns are faster."""
        for row in zip(*(column.values.tolist() for column in self.columns), strict=True):
            yield dict(zip(self.names, row, strict=True))

    def only(self) -> Any:
        """The one number of an answer of one row and one column; any other answer is refused."""
        if len(self) != 1 or len(self.columns) != 1:
            size = f"{len(self)} rows and {len(self.columns)} columns"
            raise BadArgument("an answer that is one number", "of one row and one column; read others by name", size)
        return self.columns[0].values.tolist()[0]

    def intervals(self, confidence: Number | None = None) -> dict[str, list[Interval | None]] | None:
        """The intervals of the cells, by the name of the column, each of which holds by itself.

        Columns about which nothing is known are left out. None for a ``confidence`` above that of the answer.
        """
        if confidence is not None and probability(confidence, "confidence") > self.confidence:
            return None
        by_column = {column.name: column.intervals(self.confidence) for column in self.columns}
        return {name: each for name, each in by_column.items() if each is not None}

    def to_dict(self, *, intervals: bool = False) -> dict[str, list[Any]]:
        """The columns as lists; with ``intervals``, ``n_low`` and ``n_high`` follow ``n``: see `parts`."""
        return {name: cells.tolist() for name, cells in self.parts(intervals=intervals)}

    def parts(self, *, intervals: bool = False) -> list[tuple[str, Cells]]:
        """Names and cells of the columns; with ``intervals``, also those of the ends that are known.

        The ends of column n are called n_low and n_high, with underscores after them where a column has that name.
        """
        parts, taken = [], set(self.names)
        for column in self.columns:
            parts.append((column.name, column.values))
            if intervals and column.low is not None and column.high is not None:
                for end, cells in (("low", column.low), ("high", column.high)):
                    name = f"{column.name}_{end}"
                    while name in taken:
                        name += "_"
                    taken.add(name)
                    parts.append((name, cells))
        return parts

    def to_pandas(self, *, intervals: bool = False) -> pandas.DataFrame:
        """Converts to a data frame of pandas, with NaN where an answer is missing; for ``intervals`` see `to_dict`."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("answers as data frames of pandas", package="pandas") from None
        parts = dict(self.parts(intervals=intervals))
        return pandas.DataFrame({name: _listed_objects(cells) for name, cells in parts.items()})

    def to_arrow(self, *, intervals: bool = False) -> pyarrow.Table:
        """Converts to a table of Arrow; whole numbers beyond 64 bits become floats, as Arrow has no others."""
        try:
            import pyarrow
        except ImportError:
            raise MissingExtra("answers as tables of Arrow", "sql") from None
        parts = dict(self.parts(intervals=intervals))
        return pyarrow.table({name: pyarrow.array(_within_64_bits(cells)) for name, cells in parts.items()})

    def to_parquet(self) -> bytes:
        """Writes the bytes of a Parquet file, with the ends of intervals in columns of their own."""
        table = self.to_arrow(intervals=True)
        import pyarrow
        import pyarrow.parquet

        written = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(table, written)
        return bytes(written.getvalue().to_pybytes())

    def to_polars(self, *, intervals: bool = False) -> polars.DataFrame:
        """Converts to a data frame of Polars, by way of `to_arrow`."""
        try:
            import polars
        except ImportError:
            raise MissingExtra("answers as data frames of Polars", "sql") from None
        return polars.DataFrame(self.to_arrow(intervals=intervals))

    def __str__(self) -> str:
        from sfumato.release.render.text import answer_text

        return answer_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from sfumato.release.render.html import answer_html

        return answer_html(self)


def cells_of(values: Sequence[object] | Cells, name: str) -> Cells:
    """Copies the cells of a column into the plainest array that holds them, which cannot be changed."""
    array = values if isinstance(values, np.ndarray) else np.fromiter(values, dtype=object, count=len(values))
    if array.ndim != 1 or array.dtype.kind not in "biufUMO":
        raise BadArgument(f"column {name!r} of an answer", "a row of numbers, texts, dates or None", array.dtype)
    match array.dtype.kind:
        case "b":
            cells = array.copy()
        case "f":
            cells = array.astype(np.float64)
        case "i":
            cells = array.astype(np.int64)
        case "M":
            day = np.datetime_data(array.dtype)[0] == "D"
            cells = _plainest(array.astype("M8[D]" if day else "M8[us]").tolist(), name)
        case _:
            cells = _plainest(array.tolist(), name)
    cells.setflags(write=False)
    return cells


def _plainest(entries: list[Any], name: str) -> Cells:
    types = set(map(type, entries))
    if any(issubclass(kind, np.generic) for kind in types):
        entries = [entry.item() if isinstance(entry, np.generic) else entry for entry in entries]
        types = set(map(type, entries))
    kinds = {_kind(kind, entries) for kind in types - {type(None)}}
    if len(kinds) > 1 or None in kinds:
        must = "of one kind: numbers, texts, truth values, dates or times, or None"
        raise BadArgument(f"the cells of column {name!r}", must, sorted(kind.__name__ for kind in types))
    if types == {bool} or types == {float}:
        return np.array(entries, dtype=types.pop())
    if types == {int} and min(entries) >= -(2**63) and max(entries) < 2**63:
        return np.array(entries, dtype=np.int64)
    return np.fromiter(entries, dtype=object, count=len(entries))


def _kind(kind: type, entries: list[Any]) -> str | None:
    """Names a kind of cells; times have one where all of them, or none, have a zone, which must be a fixed one."""
    if kind is not datetime.datetime:
        return KINDS.get(kind)
    times = [entry for entry in entries if type(entry) is kind]
    zones = {type(time.tzinfo) for time in times}
    plain = zones in ({type(None)}, {datetime.timezone}) and not any(time.fold for time in times)
    return "times" if plain else None


def _are_numbers(cells: Cells) -> bool:
    return cells.dtype.kind in "if" or (
        cells.dtype.kind == "O" and set(map(type, cells.tolist())) <= {int, float, type(None)}
    )


def _are_whole(cells: Cells) -> bool:
    return cells.dtype.kind == "i" or (cells.dtype.kind == "O" and set(map(type, cells.tolist())) <= {int})


def _ordered(low: Cells, high: Cells) -> bool:
    """Tells whether low ends are at most high ends; NumPy would compare numbers of two kinds after rounding them."""
    if low.dtype == high.dtype and low.dtype.kind in "if":
        return bool(np.all(low <= high))
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return all(first is second is None or (None not in (first, second) and first <= second) for first, second in pairs)


def _listed_objects(cells: Cells) -> Cells | list[Any]:
    """Objects as a list: data frames then find out by themselves what they are."""
    return cells.tolist() if cells.dtype.kind == "O" else cells.copy()


def _within_64_bits(cells: Cells) -> Cells | list[Any]:
    entries = _listed_objects(cells)
    if not isinstance(entries, list) or not _are_numbers(cells):
        return entries
    whole = float not in set(map(type, entries))
    if whole and all(entry is None or -(2**63) <= entry < 2**63 for entry in entries):
        return entries
    return [None if entry is None else _nearest(entry) for entry in entries]


def floats_of(cells: Cells) -> NDArray[np.float64]:
    """Numbers as floats, to draw them; NaN where there is none."""
    if cells.dtype.kind in "if":
        return cells.astype(np.float64)
    nearest = [_nearest(cell) if type(cell) in (int, float) else np.nan for cell in cells.tolist()]
    return np.array(nearest, dtype=np.float64)


def _nearest(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
