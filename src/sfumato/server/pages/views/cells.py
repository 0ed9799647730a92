"""Tables as templates read them: rows of cells, each of which says whether it is a name, an amount or a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from sfumato.release.answer import Answer, Role
from sfumato.release.record import Release
from sfumato.release.render.answers import answer_table, is_single
from sfumato.release.render.document import Document, Table, entries_of

AMOUNT, BESIDE, TEXT = "amount", "beside", ""
MOST_ROWS = 500
"""Rows of an answer that a page shows; downloads have all of them."""


@final
@dataclass(frozen=True)
class Cell:
    """One cell: its text, how it stands, whether it names its row, and what is only said to those who listen."""

    text: str
    kind: str = TEXT
    header: bool = False
    aside: str = ""


@final
@dataclass(frozen=True)
class Listing:
    """A table with a head; ``note`` is a few words beside its caption."""

    rows: tuple[tuple[Cell, ...], ...]
    head: tuple[Cell, ...] = ()
    note: str = ""
    caption: str = ""


def listing_of(table: Table, *, named: bool = True, empty: Sequence[str] = ()) -> Listing:
    """Reads a table of a document; its first column names the rows, and heads that are empty get words."""
    words = iter(empty)
    head = tuple(
        Cell(text, AMOUNT if place in table.right else TEXT, aside="" if text else next(words, "what"))
        for place, text in enumerate(table.head)
    )
    rows = tuple(
        tuple(
            Cell(text, AMOUNT if place in table.right else TEXT, header=named and place == 0)
            for place, text in enumerate(row)
        )
        for row in table.rows
    )
    return Listing(rows, head, caption=table.title)


def facts_of(document: Document) -> tuple[tuple[str, str], ...]:
    """What a document says in tables of names and texts."""
    return tuple((row[0], " ".join(row[1:])) for table in document.tables if not table.head for row in table.rows)


def listing_of_release(release: Release) -> tuple[Listing, str]:
    """The values of a release with their error bars, and a sentence on what is left out."""
    if isinstance(release.value, Answer):
        return _of_answer(release.value)
    entries = entries_of(release.value, release.half_width) or entries_of({"": release.value}, release.half_width)
    rows = tuple(
        (
            Cell(entry.name or "value", header=True),
            Cell(entry.shown, AMOUNT),
            Cell(f"± {entry.error}" if entry.error else "", BESIDE),
        )
        for entry in entries[:MOST_ROWS]
    )
    more = len(entries) - len(rows)
    head = (Cell("name"), Cell("value", AMOUNT), Cell("error", BESIDE))
    return Listing(rows, head), _left_out(more)


def _of_answer(answer: Answer) -> tuple[Listing, str]:
    table = answer_table(answer, most=MOST_ROWS)
    keys = {place for place, column in enumerate(answer.columns) if column.role is Role.KEY}
    kinds: list[tuple[str, str, bool]] = []
    for place, column in enumerate(answer.columns):
        kinds.append((column.name, TEXT if place in keys else AMOUNT, place in keys and place == min(keys)))
        if column.low is not None:
            kinds.append(("", BESIDE, False))
    head, before = [], ""
    for text, (name, kind, _) in zip(table.head, kinds, strict=True):
        head.append(Cell(text, kind, aside="" if text else f"error of {before}"))
        before = name or before
    rows = tuple(
        tuple(Cell(text, kind, header) for text, (_, kind, header) in zip(row, kinds, strict=True))
        for row in table.rows
    )
    if is_single(answer) and rows and not keys:
        rows = tuple(tuple(row) for row in rows)
    return Listing(rows, tuple(head)), _left_out(len(answer) - len(rows))


def _left_out(more: int) -> str:
    if more <= 0:
        return ""
    return f"{more:,} more row{'s are' if more > 1 else ' is'} not shown here; the downloads have all of them."
