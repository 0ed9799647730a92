"""Tables as attacks read them: columns by name, from whatever holds a table, with one rule for which cells are equal.

Two cells are the same where an attacker would take them for the same value: NaN is NaN, None is None and neither is the
other; 1 and 1.0 are one number, for frames make floats of whole numbers where one is missing; True is not 1; a text is
never a number, and where one table has numbers in a column and the other has texts, that is said and nothing is
matched.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property
from numbers import Number
from typing import Any, NoReturn, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument, did_you_mean

Given: TypeAlias = Any
"""Columns by name, a data frame (pandas, Polars, Arrow), rows as dictionaries, or made-up data of `sf.datasets`."""

Cell: TypeAlias = Hashable
Key: TypeAlias = tuple[Cell, ...]

_MUST = "columns by name, a data frame (pandas, Polars, Arrow), or a list of rows as dictionaries"
_LISTING = ("to_list", "to_pylist", "tolist")  # how Polars, Arrow, NumPy and pandas call it
_TRUE, _FALSE = (bool, True), (bool, False)


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """A table: its columns by name, all of one length. ``name`` is what messages call it."""

    columns: Mapping[str, tuple[Cell, ...]] = field(repr=False)
    name: str = "table"

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    def column(self, name: str) -> tuple[Cell, ...]:
        """A column by name; where there is none, the refusal says which there are."""
        if name not in self.columns:
            hint = did_you_mean(name, self.names, ", such as {!r}")
            _refuse(f"a column of {self.name}", f"one of {', '.join(self.names)}{hint}", name)
        return self.columns[name]

    def chosen(self, names: Iterable[str] | None, what: str) -> tuple[str, ...]:
        """Checks the names of chosen columns, all where none are named, once each."""
        wanted = self.names if names is None else (names,) if isinstance(names, str) else tuple(names)
        if not wanted or len(set(wanted)) < len(wanted):
            _refuse(what, "one or more columns, each named once", wanted)
        for name in wanted:
            self.column(name)
        return wanted

    def keys(self, names: Sequence[str]) -> list[Key]:
        """What each row has in some columns, in a form in which equal keys are equal cells."""
        return list(zip(*([matched(cell) for cell in self.column(name)] for name in names), strict=True))

    def classes(self, names: Sequence[str]) -> dict[Key, tuple[int, ...]]:
        """Groups the rows that have the same in some columns, by what they have."""
        rows_by_key: dict[Key, list[int]] = {}
        for place, key in enumerate(self.keys(names)):
            rows_by_key.setdefault(key, []).append(place)
        return {key: tuple(places) for key, places in rows_by_key.items()}

    def codes(self, name: str) -> NDArray[np.int64]:
        """Codes a column as numbers 0, 1, …: the same number for the same cell."""
        seen: dict[Cell, int] = {}
        return np.array([seen.setdefault(matched(cell), len(seen)) for cell in self.column(name)], dtype=np.int64)

    def row(self, place: int) -> dict[str, Cell]:
        return {name: column[place] for name, column in self.columns.items()}

    def kept(self, places: Iterable[int]) -> Rows:
        """Some of the rows, in the order in which they are named."""
        wanted = list(places)
        return Rows({name: tuple(column[at] for at in wanted) for name, column in self.columns.items()}, self.name)

    def replaced(self, columns: Mapping[str, Sequence[Cell]]) -> Rows:
        """The table with some of its columns exchanged or added."""
        return Rows({**self.columns, **{name: tuple(column) for name, column in columns.items()}}, self.name)


def read_table(given: Given, name: str = "table", *, empty: bool = False) -> Rows:
    """Reads a table of any form; without rows only where that is allowed."""
    if isinstance(given, Rows):
        columns = dict(given.columns)
    else:
        columns = {str(key): _column(cells, str(key), name) for key, cells in _by_name(given, name).items()}
    if not columns:
        _refuse(name, "a table with at least one column", "none")
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        _refuse(name, "columns of one length", sorted(lengths))
    if not empty and lengths == {0}:
        _refuse(name, "a table with at least one row: of nobody nothing can be learnt", "no rows")
    return Rows(columns, name)


def read_targets(given: Given, name: str = "known") -> Rows:
    """Reads what is known of targets: a table, or of one target a value for each column."""
    if isinstance(given, Mapping) and given and all(_single(value) for value in given.values()):
        given = {column: [value] for column, value in given.items()}
    return read_table(given, name)


def _single(value: object) -> bool:
    return isinstance(value, str | bytes) or not hasattr(value, "__len__")


def _by_name(given: Given, name: str) -> Mapping[Any, Any]:
    held = getattr(given, "columns", None)
    if isinstance(given, Mapping):
        return given
    if isinstance(held, Mapping):  # made-up data, and what generalising gives
        return held
    names = getattr(given, "column_names", held)
    if names is not None and hasattr(given, "__getitem__"):
        listed = [str(column) for column in names]
        if len(set(listed)) < len(listed):
            _refuse(f"the columns of {name}", "named once each", listed)
        return {column: given[column] for column in names}
    if isinstance(given, list | tuple) and given and all(isinstance(row, Mapping) for row in given):
        first = list(given[0])
        if any(set(row) != set(first) for row in given):
            _refuse(f"the rows of {name}", "dictionaries with the same keys", "rows whose keys differ")
        return {key: [row[key] for row in given] for key in first}
    if isinstance(given, list | tuple) and not given:
        _refuse(name, "a table with at least one row: of nobody nothing can be learnt", "no rows")
    return _refuse(name, _MUST, type(given).__name__)


def _column(cells: Any, column: str, name: str) -> tuple[Cell, ...]:
    for listing in _LISTING:
        if hasattr(cells, listing):
            cells = getattr(cells, listing)()
            break
    if isinstance(cells, str | bytes) or not isinstance(cells, Iterable):
        _refuse(f"the column {column!r} of {name}", "a sequence of cells", type(cells).__name__)
    try:
        plain = tuple(plain_cell(cell) for cell in cells)
        hash(plain)
    except TypeError:
        plain = None
    if plain is None:
        _refuse(f"the column {column!r} of {name}", "single values: numbers, texts, dates …", "cells of several parts")
    return plain


def plain_cell(cell: Any) -> Cell:
    """A cell as Python has it; every NaN becomes the one NaN, so that it equals itself."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, Decimal):
        return math.nan if cell.is_nan() else cell
    try:
        return cell if bool(cell == cell) else math.nan
    except TypeError:  # pandas' NA, which is neither equal nor unequal to itself
        if type(cell).__name__ == "NAType":
            return None
        raise


def matched(cell: Cell) -> Cell:
    """What stands for a cell in a key: Python's True equals 1, and ours must not."""
    if cell is True:
        return _TRUE
    return _FALSE if cell is False else cell


def same_cell(left: Any, right: Any) -> bool:
    """Tells whether two cells are the same value; in a tuple the one NaN equals itself.

    >>> same_cell(float("nan"), float("nan")), same_cell(1, 1.0), same_cell(1, True)
    (True, True, False)
    """
    return (matched(plain_cell(left)),) == (matched(plain_cell(right)),)


def unmatched(cell: Cell) -> Cell:
    """Undoes `matched`: the cell that stands in a key."""
    return cell[1] if cell in (_TRUE, _FALSE) and isinstance(cell, tuple) else cell


def shared_columns(
    released: Rows, known: Rows, on: Iterable[str] | None = None, *, but: Iterable[str | None] = ()
) -> tuple[str, ...]:
    """Chooses the columns to match on, those that both tables have unless they are named, and compares their kinds."""
    if on is None:
        shared = tuple(name for name in released.names if name in known.columns and name not in set(but))
        if not shared:
            _refuse(
                "what is known",
                f"of columns that {released.name} has too ({', '.join(released.names)}); rename what means the same",
                ", ".join(known.names),
            )
    else:
        shared = released.chosen(on, "on")
        known.chosen(shared, "on")
    for name in shared:
        ours, theirs = kinds(released.column(name)), kinds(known.column(name))
        if ours and theirs and not ours & theirs:
            _refuse(
                f"the column {name!r}",
                "of one kind in both tables; translate codes into labels first, or one type into the other",
                f"{' and '.join(sorted(ours))} here, {' and '.join(sorted(theirs))} there",
            )
    return shared


def kinds(cells: Iterable[Cell]) -> frozenset[str]:
    """Tells which kinds of value are in a column; missing ones are of none."""
    names = {_kind(kind) for kind in {type(cell) for cell in cells if cell is not None and cell is not math.nan}}
    return frozenset(names)


def _kind(kind: type) -> str:
    for ours, called in ((bool, "truth values"), (Number, "numbers"), (str, "texts"), (date, "dates")):
        if issubclass(kind, ours):
            return called
    return "other values"


def _refuse(what: str, must: str, got: object) -> NoReturn:
    raise BadArgument(what, must, got)
