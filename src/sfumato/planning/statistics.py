"""Tables to plan on, and the statistics that a first release has by default: how many, and how values are spread."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from fractions import Fraction

from sfumato.codebook.book import Codebook
from sfumato.codebook.columns import Column
from sfumato.codebook.tables import FACT, Table
from sfumato.core.atoms import Bounds
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.planning.desk import Book, Desk
from sfumato.planning.shape import Tables
from sfumato.planning.wishes import Wanted, wanted
from sfumato.query.frame.table import Frame
from sfumato.templates.template import quoted

BARS = 10
"""So many bars has the histogram of a column of numbers, from which its cumulative distribution is read."""

MOST_GROUPS = 400
"""A list with more values than this is no overview."""


def table(codebook: Book, name: str | None = None, *, unit: str | None = None, public: Tables | None = None) -> Frame:
    """A table of a codebook as a frame, without any data: to write statistics for `plan` in Python.

    >>> from sfumato.datasets import visits
    >>> table(visits().codebook).columns
    ('user_id', 'site', 'day', 'minutes')
    """
    return Desk.open(codebook, unit=unit, public=public).table(name)


def default_release(
    codebook: Book,
    table: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    rows_each: int | None = None,
    uses: Sequence[str | Wanted] = (),
) -> tuple[Wanted, ...]:
    """The statistics of a first release, from a codebook: numbers of people and rows, and how key columns are spread.

    Of ``columns`` (all, where none are named) numbers get a histogram of ten bars, from which their cumulative
    distribution is read, and lists of values a count for each. ``rows_each`` says how many rows of a person to keep,
    where the codebook does not bound them. What the declared ``uses`` need comes first, then numbers, then columns.
    """
    book = codebook if isinstance(codebook, Codebook) else Codebook.read(codebook)
    private = [one.name for one in book.tables if not one.public]
    chosen = book.table(private[0] if table is None and len(private) == 1 else table)
    if chosen.public:
        raise BadArgument("table", "one that is private: what is public needs no plan", table)
    most = None if rows_each is None else integer(rows_each, "rows_each", least=1)
    stated = chosen.contributions
    if chosen.id and most is None and (stated is None or stated.rows is None):
        must = f"given: nobody says how many rows of {book.protects} count, so say how many to keep"
        raise BadArgument("rows_each", must, None)
    if most is not None and stated is not None and stated.by == FACT and stated.rows is not None:
        most = min(most, stated.rows)
    wants = [one if isinstance(one, Wanted) else wanted(one, max_rows=most) for one in uses]
    named = [chosen[name] for name in columns] if columns is not None else list(chosen.columns)
    return (*wants, *_numbers(chosen, most), *_columns(chosen, named, most))


def _numbers(table: Table, most: int | None) -> Iterator[Wanted]:
    where = quoted(table.name)
    if table.id:
        people = f"SELECT COUNT(DISTINCT {quoted(table.id)}) AS people FROM {where}"
        yield wanted(people, name="how many people", priority=1)
    if table.size is None:
        yield wanted(f"SELECT COUNT(*) AS rows FROM {where}", name="how many rows", priority=1, max_rows=most)


def _columns(table: Table, columns: Sequence[Column], most: int | None) -> Iterator[Wanted]:
    for column in columns:
        text = None if column.name == table.id else _overview(column, quoted(table.name))
        if text is not None:
            yield wanted(text, name=f"how {column.name} is spread", priority=2, max_rows=most)


def _overview(column: Column, where: str) -> str | None:
    """The question that shows how a column is spread; None where public facts are too few for one."""
    name, ends = quoted(column.name), column.between
    if isinstance(ends, Bounds):
        return (
            f"SELECT HISTOGRAM({name}, [{', '.join(_edges(ends, whole=column.type == 'int'))}]) AS {name} FROM {where}"
        )
    days = ends is not None and isinstance(ends[0], datetime.date) and column.type == "date"
    many = (ends[1] - ends[0]).days + 1 if days and ends is not None else len(column.categories)
    if column.type == "bool" or 1 < many <= MOST_GROUPS:
        return f"SELECT {name}, COUNT(*) AS n FROM {where} GROUP BY {name}"
    return None


def _edges(ends: Bounds, *, whole: bool) -> list[str]:
    low, high = Fraction(ends.lower), Fraction(ends.upper)
    bars = min(BARS, int(high - low)) if whole else BARS
    edges = [low + (high - low) * place / bars for place in range(bars + 1)]
    edges = [Fraction(round(edge)) if whole else edge for edge in edges]
    return [f"{float(edge):g}" if edge.denominator != 1 else str(edge.numerator) for edge in dict.fromkeys(edges)]
