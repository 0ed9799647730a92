r"""Writes records as Markdown, with tables as GitHub reads them. What could be markup is escaped.

>>> escaped("a | b <i>*c*</i>")
'a \\| b \\<i\\>\\*c\\*\\</i\\>'
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sfumato.release.render.document import Document

MOST = 40
"""How many values are shown."""

_MARKUP = re.compile(r"([\\`*_\[\]<>|~$&])")
_SAFE_LINK = re.compile(r"https?://[A-Za-z0-9./_~%?=#:+,;@-]+")


def write(document: Document) -> str:
    """Writes everything that a document says."""
    blocks = [f"**{escaped(document.headline or document.title)}**" + _beside(document.aside)]
    blocks += [f"> **Warning.** {escaped(warning)}" for warning in document.warnings]
    entries, left_out = document.shortened(MOST)
    if entries:
        rows = [(entry.name, entry.shown, entry.error) for entry in entries]
        blocks += [pipes(rows, head=document.entries_head), escaped(left_out)]
    for table in document.tables:
        shown, left_out = table.shortened(MOST)
        title = f"**{escaped(table.title)}**" if table.title else ""
        blocks += [title, pipes(shown, head=table.head, right=table.right), escaped(left_out)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _beside(aside: str) -> str:
    return f" {escaped(aside)}" if aside else ""


def pipes(rows: Sequence[Sequence[str]], *, head: Sequence[str] = (), right: Collection[int] = ()) -> str:
    """Writes a table; Markdown has none without a head, so that an empty one is written."""
    wide = len(head) or max((len(row) for row in rows), default=1)
    above = [escaped(cell) for cell in head] or [""] * wide
    lines = [
        above,
        ["---:" if place in right else "---" for place in range(wide)],
        *([escaped(cell) for cell in row] for row in rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def escaped(text: str) -> str:
    """Writes a text so that Markdown shows it as it is; a plain web address becomes a link."""
    if _SAFE_LINK.fullmatch(text):
        return f"<{text}>"
    return _MARKUP.sub(r"\\\1", text)
