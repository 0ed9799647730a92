"""How whatever has a document shows itself: as text where it is printed, as HTML in notebooks, in any form by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection

from sfumato.release.render.document import Document

MEDIA = {"text/plain": "text", "text/html": "html", "text/markdown": "markdown"}
"""The kinds of text that notebooks choose from, and the form of each."""


class Displayed(ABC):
    """Something that says what it has to say as a document."""

    @abstractmethod
    def document(self) -> Document:
        """What it says, for any form."""

    def to_text(self) -> str:
        """Writes plain text."""
        return self._rendered("text")

    def to_html(self) -> str:
        """Writes a fragment of HTML, without scripts."""
        return self._rendered("html")

    def to_markdown(self) -> str:
        """Writes Markdown."""
        return self._rendered("markdown")

    def _rendered(self, form: str) -> str:
        from sfumato.release.render import rendered

        return rendered(self.document(), form)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """Every form that a notebook may choose from; without scripts and without styles of the page."""
        chosen = [name for name in MEDIA if name in (include or MEDIA) and name not in (exclude or ())]
        return {name: str(self) if name == "text/plain" else self._rendered(MEDIA[name]) for name in chosen}

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.document().headline})"
