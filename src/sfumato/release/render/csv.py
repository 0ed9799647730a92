"""Writes tables as comma-separated values that a spreadsheet opens without running anything."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from sfumato.release.render.document import Document
from sfumato.release.render.words import clean

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def write(document: Document) -> str:
    """Writes the values of a document, then its tables, a blank line between them."""
    blocks = []
    if document.entries:
        rows = [(entry.name, entry.shown, entry.error) for entry in document.entries]
        blocks.append(lines([document.entries_head, *rows]))
    facts = tuple(table for table in document.tables if table.count is None)
    tables = facts if document.whole is None else (document.whole(), *facts)
    blocks += [lines([table.head, *table.rows] if table.head else table.rows) for table in tables]
    return "\n".join(blocks)


def lines(rows: Sequence[Sequence[str]]) -> str:
    """Writes rows, each cell made harmless."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([[harmless(cell) for cell in row] for row in rows])
    return written.getvalue()


def harmless(cell: str) -> str:
    """Puts a quotation mark before a text that a spreadsheet would take for a formula; numbers stay as they are.

    >>> harmless("=1+1"), harmless("-4.5"), harmless("- four")
    ("'=1+1", '-4.5', "'- four")
    """
    text = clean(cell)
    risky = text.lstrip()[:1] in tuple("=+-@＝＋－＠") and not _NUMBER.fullmatch(text)
    return f"'{text}" if text and risky else text
