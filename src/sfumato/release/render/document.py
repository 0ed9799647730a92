"""What a record says, in order, free of any form: what every renderer reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from sfumato.release.render.words import clean, number, numeric, paired, short, width


@final
@dataclass(frozen=True)
class Entry:
    """One of several released values: its name, the value, and the half of its error bar (None where unknown)."""

    name: str
    value: Any
    half_width: Any

    @property
    def shown(self) -> str:
        return number(self.value, error=self.half_width) if numeric(self.value) else short(self.value)

    @property
    def error(self) -> str:
        return "" if self.half_width is None else width(self.half_width)


@final
@dataclass(frozen=True)
class Table:
    """A table with a head, or of names and what they say, if the head is empty. Its texts are made harmless.

    Columns of numbers stand flush ``right``. Where a table lists data, ``count`` is how many rows there are in all, of
    which it has the first.
    """

    rows: tuple[tuple[str, ...], ...]
    head: tuple[str, ...] = ()
    title: str = ""
    right: frozenset[int] = frozenset()
    count: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(tuple(clean(cell) for cell in row) for row in self.rows))
        object.__setattr__(self, "head", tuple(clean(cell) for cell in self.head))
        object.__setattr__(self, "title", clean(self.title))

    def shortened(self, most: int) -> tuple[tuple[tuple[str, ...], ...], str]:
        """The rows, of a list of data the first, and a sentence on those that were left out."""
        if self.count is None or self.count <= most:
            return self.rows, ""
        rest = f"{self.count - most} more row{'s are' if self.count > most + 1 else ' is'} not shown"
        return self.rows[:most], f"{rest}; to_pandas() and the JSON form have all."


@final
@dataclass(frozen=True)
class Document:
    """A record as a reader sees it: a headline, warnings, the first of its values, tables.

    ``count`` is how many values there are in all. ``record`` makes the whole record for programs, where that is asked,
    and ``whole`` every row of the table that lists data, where there is one.
    """

    title: str
    headline: str = ""
    aside: str = ""
    warnings: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    entries_head: tuple[str, str, str] = ("", "value", "±")
    count: int = 0
    tables: tuple[Table, ...] = ()
    record: Callable[[], Any] = dict
    whole: Callable[[], Table] | None = None

    def __post_init__(self) -> None:
        for name in ("title", "headline", "aside"):
            object.__setattr__(self, name, clean(getattr(self, name)))
        object.__setattr__(self, "warnings", tuple(clean(warning) for warning in self.warnings))

    def shortened(self, most: int) -> tuple[tuple[Entry, ...], str]:
        """The first values, and a sentence on those that were left out."""
        if self.count <= most:
            return self.entries, ""
        return self.entries[:most], f"{self.count - most} more values are not shown; the JSON form has all."


def entries_of(value: Any, half_width: Any = None, *, most: int | None = None) -> tuple[Entry, ...]:
    """Reads several values, the first ``most``, off lists, arrays, dictionaries, pairs of names and values.

    A single value has none.
    """
    named = named_values(value)
    if named is None:
        return ()
    widths = _widths([name for name, _ in named], half_width)[:most]
    named = named[:most]
    return tuple(Entry(clean(name, most=120), each, wide) for (name, each), wide in zip(named, widths, strict=True))


def named_values(value: Any) -> list[tuple[Any, Any]] | None:
    """The names and the values of something that holds several; those without names are counted from 1."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return list(value.items())
    if not isinstance(value, list | tuple):
        return None
    if value and all(paired(each) for each in value):
        return [(name, each) for name, each in value]
    return list(enumerate(value, start=1))


def _widths(names: Sequence[Any], half_width: Any) -> list[Any]:
    if isinstance(half_width, Mapping):
        return [half_width.get(name) for name in names]
    widths = half_width.tolist() if isinstance(half_width, np.ndarray) else half_width
    if isinstance(widths, list | tuple):
        return list(widths) if len(widths) == len(names) else [None] * len(names)
    return [widths] * len(names)
