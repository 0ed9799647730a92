"""Catalogs that are kept ready: one for each person and what they may see now, as long as others are not asked more."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, final

from sfumato.server.postgres.catalog.catalog import Catalog
from sfumato.server.postgres.catalog.described import Described

MOST_KEPT = 24
"""Each holds about 10 MB, once tools have asked it all that they ask."""


@final
class Catalogs:
    """The catalogs of a process. What somebody may see is said anew each time: a right that ended ends here too."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[Any, ...], Catalog] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, visible: Iterable[Described], person: str, database: str, *, path: Sequence[str] = ()) -> Catalog:
        """The catalog of a person who may see these data sets."""
        seen = tuple(visible)
        said = tuple((one.name, one.namespace, one.codebook.digest) for one in seen)
        key = said, person, database, tuple(path)
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                kept = self._kept[key] = Catalog(seen, person, database, path=path)
                while len(self._kept) > self._most:  # who still asks it holds it; then it is gone
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return kept
