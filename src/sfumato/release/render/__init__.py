"""How records look. One file for each form: text, html, markdown, latex, json, csv.

A record says what it has to say as a `Document`; a form is a file here with one function, ``write(document) -> str``.
A new form is a new file, and works for every record at once: releases, release tables, registry entries.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from sfumato.errors import BadArgument
from sfumato.release.render.document import Document

PARTS = frozenset({"answers", "displayed", "document", "sheet", "words"})
"""The files here that are no forms."""


def forms() -> list[str]:
    """Names the forms there are: the other files of this folder."""
    return sorted({module.name for module in iter_modules(__path__)} - PARTS)


def rendered(document: Document, form: str) -> str:
    """Writes a document in one of the forms, by its name."""
    if form not in forms():
        raise BadArgument("the form of a record", "one of " + ", ".join(forms()), form)
    text: str = import_module(f"sfumato.release.render.{form}").write(document)
    return text
