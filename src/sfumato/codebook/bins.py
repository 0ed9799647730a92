"""Bins of columns: how finely numbers, days and times are told apart where combinations of columns are counted."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from sfumato.codebook.entries import Entries, number_text, read_date, read_moment
from sfumato.core.atoms import Bounds
from sfumato.errors import BadArgument, shown
from sfumato.exact import rational

Edge: TypeAlias = Fraction | datetime.date
Bins: TypeAlias = int | tuple[Edge, ...]
"""How many bins of one width there are between the bounds; or where one ends and the next begins."""

MOST_BINS = 10_000
"""A column has at most this many bins."""

BINNED = ("float", "int", "date", "time")
"""The types of columns that have bins."""


def read_bins(entries: Entries, kind: str, between: object) -> Bins | None:
    """Reads how many bins a column has or where they meet; both bounds, where there are any, are edges besides."""
    stated = entries.value("bins")
    if stated is None:
        return None
    if kind not in BINNED:
        entries.refuse(f"bins are for numbers, dates and times, and this is {kind}")
    if not isinstance(stated, list | tuple):
        many = entries.whole("bins", least=1) or 1
        return many if many <= MOST_BINS else entries.refuse(f"bins must be at most {MOST_BINS}; got {many}")
    return _edges(entries, kind, stated, between)


def _edges(entries: Entries, kind: str, stated: Sequence[object], between: object) -> tuple[Edge, ...]:
    edges: list[Any] = [read_edge(entries, kind, edge, "an edge of bins") for edge in stated]
    least = 2 if between is None else 1
    if len(edges) < least or len(edges) > MOST_BINS:
        must = "one or more edges" if between is not None else "two or more edges, where there are no bounds"
        entries.refuse(f"bins must be a number of bins, or {must}; got {len(edges)}")
    if not all(low < high for low, high in pairwise(edges)):
        entries.refuse("the edges of bins must be in rising order, none twice")
    if between is not None:
        ends: Any = (between.lower, between.upper) if isinstance(between, Bounds) else between
        if edges[0] < ends[0] or edges[-1] > ends[1]:
            entries.refuse("the edges of bins must be within the bounds (between)")
    return tuple(edges)


def read_edge(entries: Entries, kind: str, value: object, what: str) -> Edge:
    """Reads a number, a day or a moment, as the type of a column has it."""
    if kind == "date":
        return read_date(value, lambda got: entries.refuse(f"{what} {got}"))
    if kind == "time":
        return read_moment(value, lambda got: entries.refuse(f"{what} {got}"))
    number = _number(value)
    if number is None:
        entries.refuse(f"{what} must be a number; got {shown(value)}")
    if kind == "int" and number.denominator != 1:
        entries.refuse(f"{what} must be a whole number for an int column; got {shown(value)}")
    return number


def _number(value: object) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, Decimal | str | int | float | Fraction):
        return None
    try:
        return rational(value, "an edge")
    except BadArgument:
        return None


def bins_tree(bins: Bins | None) -> object:
    """Bins as they are written."""
    return bins if bins is None or isinstance(bins, int) else [edge_tree(edge) for edge in bins]


def edge_tree(edge: Edge) -> object:
    """A number, a day or a moment as it is written."""
    return number_text(edge) if isinstance(edge, Fraction) else edge.isoformat()
