"""The page of a data set: who is protected, one's share, and the codebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final
from urllib.parse import urlencode

from sfumato.codebook.book import Codebook
from sfumato.codebook.columns import COLUMN_HEAD
from sfumato.codebook.tables import Table
from sfumato.release.render.words import clean
from sfumato.server.pages.shell import Link
from sfumato.server.pages.views.amounts import Gauge
from sfumato.server.pages.views.cells import Cell, Listing

FEW = 100
"""Rows of a public table that a first look shows."""

LONG = 600
"""Letters of one value that a page of a codebook shows."""


@final
@dataclass(frozen=True)
class ColumnLine:
    """A column that can be asked about, beside the editor."""

    name: str
    words: str


@final
@dataclass(frozen=True)
class TableView:
    """A table of a codebook; a public one can be looked at as it is, and joined in questions (``look``)."""

    name: str
    listing: Listing
    public: bool
    look: str = ""


@final
@dataclass(frozen=True)
class DataSetView:
    """What the page of a data set shows."""

    title: str
    description: str
    protects: tuple[tuple[str, str], ...]
    whose: str
    gauge: Gauge | None
    no_share: str
    links: tuple[Link, ...]
    tables: tuple[TableView, ...]
    facts: tuple[tuple[str, str], ...]


def data_set_view(
    name: str,
    codebook: Codebook,
    version: str,
    *,
    gauge: Gauge | None,
    whose: str,
    no_share: str,
    links: Sequence[Link],
    ask: str = "",
) -> DataSetView:
    """Makes the page of a data set from its codebook and how somebody's share stands."""
    return DataSetView(
        codebook.title or name,
        codebook.description,
        _protects(codebook, version),
        whose,
        gauge,
        no_share,
        tuple(links),
        tuple(
            TableView(table.name, listing, table.public, _look(ask, table) if table.public and ask else "")
            for table, listing in zip(codebook.tables, tables_of(codebook), strict=True)
        ),
        _facts(codebook),
    )


def protected(codebook: Codebook) -> str:
    """Names who is protected."""
    return " and ".join(kind.protects for kind in codebook.kinds) or codebook.protects


def _protects(codebook: Codebook, version: str) -> tuple[tuple[str, str], ...]:
    sampling = "" if codebook.sampling is None else codebook.sampling.method
    collected = " to ".join(str(day) for day in codebook.collected)
    named = (
        ("Protected", protected(codebook)),
        ("Not protected", "; ".join(codebook.not_protected)),
        ("Scope", codebook.scope),
        ("Collected", collected),
        ("Sampling", sampling),
        ("Codebook of", "" if codebook.created is None else str(codebook.created)),
        ("Version", version),
        ("Contact", codebook.contact),
    )
    return tuple((label, text) for label, text in named if text)


def _look(ask: str, table: Table) -> str:
    """The editor with a question that a public table answers by itself: exact, and free."""
    names = ", ".join(_in_sql(column.name) for column in table.columns)
    return f"{ask}?{urlencode({'question': f'SELECT {names} FROM {_in_sql(table.name)} LIMIT {FEW}'})}"


def _in_sql(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def tables_of(codebook: Codebook) -> tuple[Listing, ...]:
    """The tables of a codebook with their columns."""
    head = tuple(Cell(text) for text in (*COLUMN_HEAD, "what it is"))
    return tuple(
        Listing(
            tuple(
                (
                    Cell(column.name, header=True),
                    *(Cell(clean(text, most=LONG)) for text in column.row()[1:]),
                    Cell(_described(column.description, column.erroneous, column.missing)),
                )
                for column in table.columns
            ),
            head,
            note=clean(table.description, most=LONG),
            caption=clean(f"Table {table.headline}", most=200),
        )
        for table in codebook.tables
    )


def _described(*texts: str) -> str:
    return clean("; ".join(text for text in texts if text), most=LONG)


def _facts(codebook: Codebook) -> tuple[tuple[str, str], ...]:
    stated = (*codebook.invariants, *codebook.public, *codebook.releases)
    sheet = tuple((name.capitalize(), str(text)) for name, text in dict(codebook.datasheet).items() if text)
    return (*((clean(fact.what, most=200), fact.source) for fact in stated), *sheet)


def columns_of(codebook: Codebook) -> tuple[ColumnLine, ...]:
    """The columns that can be asked about, by table."""
    several = len(codebook.tables) > 1
    return tuple(
        ColumnLine(
            f"{table.name}.{column.name}" if several else column.name,
            clean(" ".join(text for text in (column.row()[1], column.row()[2], column.description) if text), most=160),
        )
        for table in codebook.tables
        for column in table.columns
    )


def tables_words(codebook: Codebook) -> str:
    """Says which tables there are."""
    names = [clean(table.name, most=60) for table in codebook.tables]
    if len(names) == 1:
        return f"The table is {names[0]}."
    return f"Tables: {', '.join(names[:12])}{', …' if len(names) > 12 else ''}."
