"""Writes records as a fragment of HTML for notebooks and pages: no scripts, no styles outside it, light and dark.

Colours are those of the page around it, but for the bars and the warning, which are legible on black and on white.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from sfumato.release.answer import Answer
from sfumato.release.render.answers import answer_table, interval_words
from sfumato.release.render.document import Document, Entry, Table
from sfumato.release.render.words import finite

MOST = 1000
"""How many values are shown, at most: all that a sheet holds."""

BAR, WARNING, RULE = "#3d8fd1", "#d55e00", "rgba(128,128,128,.35)"
WIDE, HIGH = 180, 14
"""The size of a drawn bar, in pixels."""

_FONT = "font-family:system-ui,'Segoe UI','Liberation Sans',Arial,sans-serif;font-size:13px;line-height:1.45"
_ROW = f"border-bottom:1px solid {RULE};background:none"
_TEXT = "text-align:left;vertical-align:top"
_NAME = f"{_TEXT};font-weight:normal;opacity:.7;white-space:nowrap"
_DIGITS = "text-align:right;vertical-align:top;font-variant-numeric:tabular-nums"
_TABLE = "border-collapse:collapse;margin:8px 0 0;font-size:13px;background:none;color:inherit"
_LINK = re.compile(r"https?://[A-Za-z0-9./_~%?=#:+,;@&-]+")


def write(document: Document) -> str:
    """Writes everything that a document says."""
    parts = [_head(document), *(_warning(warning) for warning in document.warnings)]
    entries, left_out = document.shortened(MOST)
    if entries:
        parts.append(_draw_entries(entries, document.entries_head))
        if left_out:
            parts.append(_small(left_out))
    parts += [_table(table) if table.count is None else listing(table) for table in document.tables]
    return f'<div style="{_FONT};color:inherit;max-width:60em">\n' + "\n".join(parts) + "\n</div>\n"


def answer_html(answer: Answer) -> str:
    """Writes the table of an answer by itself."""
    says = interval_words(answer)
    parts = [listing(answer_table(answer, most=MOST)), *([_small(f"{says}.")] if says else [])]
    return f'<div style="{_FONT};color:inherit">\n' + "\n".join(parts) + "\n</div>\n"


def escaped(text: str) -> str:
    """Writes a text so that a browser shows it as it is."""
    return html.escape(text, quote=True)


def linked(text: str) -> str:
    """Writes a text; a web address becomes a link."""
    if not _LINK.fullmatch(text):
        return escaped(text)
    return f'<a href="{escaped(text)}" rel="noopener noreferrer" style="color:inherit">{escaped(text)}</a>'


def _head(document: Document) -> str:
    if not document.headline:
        return f'<div style="font-size:16px;font-weight:600">{escaped(document.title)}</div>'
    aside = f' <span style="opacity:.7">{escaped(document.aside)}</span>' if document.aside else ""
    lists = any(table.count is not None for table in document.tables)
    size = 26 if len(document.headline) <= 60 and not lists else 16
    return f'<div><span style="font-size:{size}px;font-weight:600">{escaped(document.headline)}</span>{aside}</div>'


def _warning(text: str) -> str:
    look = f"margin:8px 0 0;padding:4px 10px;border-left:4px solid {WARNING};background:rgba(213,94,0,.14)"
    return f'<div role="alert" style="{look}">{escaped(text)}</div>'


def _table(table: Table) -> str:
    above = f'<div style="margin:12px 0 0;font-weight:600">{escaped(table.title)}</div>' if table.title else ""
    head = "".join(f'<th scope="col" style="{_NAME}">{escaped(cell)}</th>' for cell in table.head)
    rows = [f'<thead><tr style="{_ROW}">{head}</tr></thead>', "<tbody>"] if head else ["<tbody>"]
    rows += [_row(row) for row in table.rows]
    return f'{above}<table cellpadding="4" style="{_TABLE}">' + "\n".join([*rows, "</tbody></table>"])


def listing(table: Table) -> str:
    """Writes a list of data in a table that scrolls; nothing in it becomes a link."""
    rows, left_out = table.shortened(MOST)
    looks = [_DIGITS if place in table.right else _TEXT for place in range(len(table.head))]
    head = "".join(
        f'<th scope="col" style="{look};opacity:.7">{escaped(cell)}</th>'
        for look, cell in zip(looks, table.head, strict=True)
    )
    body = "\n".join(
        f'<tr style="{_ROW}">'
        + "".join(f'<td style="{look}">{escaped(cell)}</td>' for look, cell in zip(looks, row, strict=True))
        + "</tr>"
        for row in rows
    )
    drawn = f'<table cellpadding="4" style="{_TABLE}"><thead><tr style="{_ROW}">{head}</tr></thead>'
    scrolled = f'<div style="max-height:32em;overflow:auto">{drawn}<tbody>\n{body}\n</tbody></table></div>'
    return scrolled + (_small(left_out) if left_out else "")


def _small(sentence: str) -> str:
    return f'<p style="margin:6px 0 0;opacity:.7">{escaped(sentence)}</p>'


def _row(row: Sequence[str]) -> str:
    name, *rest = row
    cells = "".join(f'<td style="{_TEXT};overflow-wrap:anywhere">{linked(cell)}</td>' for cell in rest)
    return f'<tr style="{_ROW}"><th scope="row" style="{_NAME}">{escaped(name)}</th>{cells}</tr>'


def _draw_entries(entries: Sequence[Entry], head: Sequence[str]) -> str:
    """Writes values in a table that scrolls, each with a bar from zero and its error, all on one scale."""
    ends = _ends(entries)
    titles = [*head, ""] if ends else list(head)
    top = "".join(
        f'<th scope="col" style="{_NAME if place in (0, 3) else _DIGITS}">{escaped(title)}</th>'
        for place, title in enumerate(titles)
    )
    rows = "\n".join(_value_row(entry, ends) for entry in entries)
    head_row = f'<thead><tr style="{_ROW}">{top}</tr></thead>'
    body = f'<table cellpadding="4" style="{_TABLE}">{head_row}<tbody>\n{rows}\n</tbody></table>'
    return f'<div style="max-height:32em;overflow:auto">{body}</div>'


def _value_row(entry: Entry, ends: tuple[float, float] | None) -> str:
    cells = f'<th scope="row" style="{_TEXT};font-weight:normal">{escaped(entry.name)}</th>'
    cells += "".join(f'<td style="{_DIGITS}">{escaped(cell)}</td>' for cell in (entry.shown, entry.error))
    return f'<tr style="{_ROW}">{cells}' + (f'<td style="{_TEXT}">{_bar(entry, ends)}</td></tr>' if ends else "</tr>")


def _span(entry: Entry) -> tuple[float, float, float] | None:
    value, half = finite(entry.value), finite(entry.half_width)
    if value is None:
        return None
    return value, value - (half or 0.0), value + (half or 0.0)


def _ends(entries: Sequence[Entry]) -> tuple[float, float] | None:
    """The ends of the scale of all bars, zero among them; none where nothing can be drawn."""
    spans = [span for span in map(_span, entries) if span is not None]
    low, high = min((span[1] for span in spans), default=0.0), max((span[2] for span in spans), default=0.0)
    low, high = min(0.0, low), max(0.0, high)
    return (low, high) if spans and 0 < high - low < float("inf") else None


def _bar(entry: Entry, ends: tuple[float, float]) -> str:
    span = _span(entry)
    if span is None:
        return ""
    low, high = ends
    zero, value, left, right = (1 + (place - low) / (high - low) * (WIDE - 2) for place in (0.0, *span))
    middle = HIGH / 2
    body = f'<rect x="{min(zero, value):.1f}" y="2" width="{abs(value - zero):.1f}" height="{HIGH - 4}" fill="{BAR}"/>'
    line = 'stroke="currentColor" stroke-width="1.5"'
    if entry.half_width is not None:
        body += f'<path d="M{left:.1f} {middle}H{right:.1f}M{left:.1f} 4v6M{right:.1f} 4v6" {line} fill="none"/>'
    return f'<svg width="{WIDE}" height="{HIGH}" viewBox="0 0 {WIDE} {HIGH}" aria-hidden="true">{body}</svg>'
