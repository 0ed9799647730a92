"""Writes records as JSON for readers: one flat object of numbers, texts and lists, complete.

The exact form in which releases are kept, and from which they are read back, is another one; here numbers are floats.
"""

from __future__ import annotations

import json

from sfumato.release.render.document import Document


def write(document: Document) -> str:
    """Writes the record; "<" is written as its code, so that the text may stand inside a web page."""
    text = json.dumps(document.record(), ensure_ascii=False, allow_nan=False, indent=1)
    return text.replace("<", "\\u003c") + "\n"
