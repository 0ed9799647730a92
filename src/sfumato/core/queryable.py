"""Queryables: state machines that answer one query at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import final

from sfumato.core.domains import Data
from sfumato.errors import QueryRefused


@final
class Queryable:
    """Answers queries one at a time; its state is hidden and only ever moves forward.

    What an answer may cost is settled by the measurement that made the queryable, for every strategy of asking.
    `Exhausted` ends it; `QueryRefused` turns one query down and changes nothing.
    """

    def __init__(self, answer: Callable[[Data], Data]) -> None:
        self._answer = answer
        self._turn = threading.Lock()
        self._asking: int | None = None

    def __call__(self, query: Data = None) -> Data:
        """Asks one query; concurrent callers take turns. A query that asks its own queryable is refused."""
        if self._asking == threading.get_ident():
            raise QueryRefused("this query asks the queryable that is answering it; ask them one after the other.")
        with self._turn:
            self._asking = threading.get_ident()
            try:
                return self._answer(query)
            finally:
                self._asking = None

    def then(self, function: Callable[[Data], Data]) -> Queryable:
        """Gives a queryable whose answers have passed through a function."""
        return Queryable(lambda query: function(self(query)))

    def __repr__(self) -> str:
        return "Queryable(…)"
