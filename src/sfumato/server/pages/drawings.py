"""Drawings that were made: a chart takes a tenth of a second and more, and an answer never changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import final

from markupsafe import Markup

from sfumato.charts.canvas import Chart
from sfumato.charts.in_pages import for_page
from sfumato.errors import BadArgument, MissingExtra

MOST = 256
"""Drawings that are kept, the latest used ones."""

LARGEST = 600_000
"""Letters that a drawing may have: what is larger is no help to anybody, and is left out."""


@final
class Drawings:
    """Keeps drawings by name. Safe for threads; what two ask for at once may be drawn twice."""

    def __init__(self) -> None:
        self._kept: OrderedDict[object, str] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, name: object, chart: Callable[[], Chart], *, headline: bool = False) -> Markup:
        """A drawing by a name that says all that it depends on; empty where nothing can be drawn."""
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return Markup(self._kept[name])
        try:
            svg = for_page(chart(), headline=headline)
        except (BadArgument, MissingExtra):
            svg = ""
        svg = svg if len(svg) <= LARGEST else ""
        with self._lock:
            self._kept[name] = svg
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
        return Markup(svg)
