"""Writes records as plain text, for terminals and logs; `short_text` is what `print` shows of a release."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest
from textwrap import wrap

from sfumato.release.answer import Answer
from sfumato.release.record import Failure, How, Release
from sfumato.release.render.answers import MOST_ROWS, answer_table, headline_of, interval_words, is_single
from sfumato.release.render.document import Document, Table
from sfumato.release.render.sheet import headline
from sfumato.release.render.words import clean, percent

MOST = 20
"""How many values are shown."""

WIDEST = 110
"""Letters of a text after which it goes on in the next line."""


BROKEN = frozenset({"asked", "cut", "note"})
"""What is printed on several lines where it is long."""


def short_text(release: Release) -> str:
    """Writes a release in a few lines: the value, its error, its loss, who is protected, how it was made."""
    lines = [*_value_lines(release)]
    for name, said in short_facts(release):
        lines += _labelled(name, [said]) if name in BROKEN else [f"  {name:<7}{said}"]
    return "\n".join(clean(line) for line in lines)


def short_facts(release: Release) -> list[tuple[str, str]]:
    """The few facts that are printed of a release below its value: loss, what was asked and cut, how it was made."""
    marks = ["" if release.charged else "uncharged", "REPLAYABLE: not private" if release.replayable else ""]
    marks = [mark for mark in marks if mark]
    return [
        ("loss", f"{release.loss} for {release.unit}" + (f" [{'; '.join(marks)}]" if marks else "")),
        *(("", f"{loss} for {who}") for who, loss in release.others),
        *_asked_and_cut(release.how),
        ("how", release.how.made),
        *(("claim", str(claim)) for claim in release.how.claims),
        *(("fact", str(fact)) for fact in release.facts),
        *([] if release.how.failure is Failure.NONE else [("note", release.how.failure.value)]),
        *([] if release.receipt is None else [("paid", str(release.receipt))]),
    ]


def _asked_and_cut(how: How) -> list[tuple[str, str]]:
    """What was asked, what was cut, and that no error bar holds that."""
    asked = [("asked", how.asked)] if how.asked else []
    return [
        *asked,
        *(("cut", str(cut)) for cut in how.cuts),
        *[("note", how.uncovered)] * bool(how.cuts and how.uncovered),
    ]


def asked_and_cut(how: How) -> list[str]:
    """Writes what was asked, what was cut, and that no error bar holds that."""
    return [line for name, said in _asked_and_cut(how) for line in _labelled(name, [said])]


def _labelled(name: str, said: Iterable[str]) -> list[str]:
    """Writes texts under a name, long ones on several lines."""
    return [f"  {word:<7}{line}" for text in said for word, line in _break_row((name, clean(text)))]


def _break_row(row: Sequence[str]) -> list[tuple[str, ...]]:
    """Breaks the cells of a row between words into lines."""
    cells = [wrap(cell, WIDEST, break_long_words=False, break_on_hyphens=False) for cell in row]
    return list(zip_longest(*cells, fillvalue="")) or [tuple(row)]


def _value_lines(release: Release) -> list[str]:
    if isinstance(release.value, Answer):
        return str(release.value).splitlines()
    return [headline(release) + ("" if release.half_width is None else f" ({percent(release.confidence)})")]


def answer_text(answer: Answer) -> str:
    """Writes the first rows of an answer, and what its error bars hold."""
    says = interval_words(answer)
    if is_single(answer):
        return headline_of(answer) + (f" ({percent(answer.confidence)})" if says else "")
    rows = _table_lines(answer_table(answer, most=MOST))
    return "\n".join([headline_of(answer), "", *rows, *([f"  {says}."] if says else [])])


def write(document: Document) -> str:
    """Writes everything that a document says, in columns."""
    first = " ".join(part for part in (document.headline, document.aside) if part) or document.title
    lines = [first, *(f"! {warning}" for warning in document.warnings)]
    entries, left_out = document.shortened(MOST)
    if entries:
        rows = [(entry.name, entry.shown, entry.error) for entry in entries]
        lines += ["", *columns(rows, head=document.entries_head), *([f"  {left_out}"] if left_out else [])]
    for table in document.tables:
        lines += ["", *([table.title] if table.title else []), *_table_lines(table)]
    return "\n".join(lines) + "\n"


def _table_lines(table: Table) -> list[str]:
    rows, left_out = table.shortened(MOST)
    if table.count is None:
        rows = tuple(line for row in rows for line in _break_row(row))
    return [*columns(rows, head=table.head, right=table.right), *([f"  {left_out}"] if left_out else [])]


def columns(rows: Sequence[Sequence[str]], *, head: Sequence[str] = (), right: Collection[int] = ()) -> list[str]:
    """Writes rows in columns that are as wide as their widest cell, flush left or, where said so, right."""
    every = [head, *rows] if any(head) else list(rows)
    widths = [max(len(row[place]) for row in every) for place in range(len(every[0]))] if every else []
    signs = [">" if place in right else "<" for place in range(len(widths))]
    lines = [
        "  " + "  ".join(f"{cell:{sign}{wide}}" for cell, sign, wide in zip(row, signs, widths, strict=True)).rstrip()
        for row in every
    ]
    return [lines[0], "  " + "  ".join("─" * wide for wide in widths), *lines[1:]] if any(head) else lines


def answer_lines(answer: Answer, *, most: int = MOST_ROWS) -> str:
    """Writes the first rows of an answer as a table, and what its error bars hold."""
    says = interval_words(answer)
    if is_single(answer):
        return headline_of(answer) + (f" ({percent(answer.confidence)})" if says else "")
    table = answer_table(answer, most=most)
    lines = columns(table.rows, head=table.head, right=table.right)
    left_out = len(answer) - len(table.rows)
    more = [f"  … and {left_out:,} more rows."] if left_out else []
    return "\n".join([*lines, *more, "", *([f"  {says}."] if says else [])])
