"""Queryables: state machines that answer one query at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import final

from sfumato.core.domains import Data


@final
class Queryable:
    """Answers queries one at a time; its state is hidden and only ever moves forward.

    What an answer may cost is settled by the measurement that made the queryable, for every strategy of asking.
    `Exhausted` ends it; `QueryRefused` turns one query down and changes nothing.
    """

    def __init__(self, answer: Callable[[Data], Data]) -> None:
        self._answer = answer
        self._turn = threading.Lock()

    def __call__(self, query: Data = None) -> Data:
        """Asks one query; concurrent callers take turns."""
        with self._turn:
            return self._answer(query)

    def then(self, function: Callable[[Data], Data]) -> Queryable:
        """Gives a queryable whose answers have passed through a function."""
        return Queryable(lambda query: function(self(query)))

    def __repr__(self) -> str:
        return "Queryable(…)"
