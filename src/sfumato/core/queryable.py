"""Queryables: state machines that answer one query at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NoReturn, final

from sfumato.core.domains import Data
from sfumato.core.grouped_distance import DistanceLike
from sfumato.core.metrics import Unit
from sfumato.errors import BadArgument, Exhausted, QueryRefused, RunFailed


@final
@dataclass(frozen=True)
class Spent:
    """Asks what was spent so far, at a distance (of neighbours unless given); the answer is public and free."""

    d_in: DistanceLike | Unit | None = None


@final
@dataclass(frozen=True)
class Left:
    """Asks what may still be spent; the answer is public and costs nothing."""


@final
class Turn:
    """The time in which what one query started may be asked; whoever opened the turn can end it."""

    def __init__(self) -> None:
        self._open, self._asking = True, 0

    @property
    def busy(self) -> bool:
        """Tells whether something that was started in this turn is being asked."""
        return self._asking > 0

    def end(self) -> None:
        """Ends the turn: whatever was started in it refuses all further queries."""
        self._open = False

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Counts a query that is being answered in this turn; refuses where the turn has ended."""
        if not self._open:
            raise Exhausted(
                "what started this has gone on, to a later query or to its end, and that ended this: in "
                "sequential composition an interactive answer is asked to its end before the next query. To ask "
                "several in turns, use sf.combinators.concurrent_composition(…), or concurrent=True."
            )
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1


@final
@dataclass(frozen=True, eq=False)
class Circle:
    """What the queryables of one interaction share: they speak one at a time, and only in the turns they are in."""

    lock: AbstractContextManager[bool] = field(default_factory=threading.RLock)
    turns: tuple[Turn, ...] = ()

    @contextmanager
    def entered(self) -> Iterator[Circle]:
        """Puts every queryable that is made inside the block into this circle, however deep it is hidden."""
        token = _CIRCLE.set(self)
        try:
            yield self
        finally:
            _CIRCLE.reset(token)


_CIRCLE: ContextVar[Circle | None] = ContextVar("circle", default=None)


def current() -> Circle:
    """The circle of the queryable that is answering, or a new one."""
    return _CIRCLE.get() or Circle()


@final
class Queryable:
    """Answers queries one at a time; its state is hidden and only ever moves forward.

    What an answer may cost is settled by the measurement that made the queryable, for every strategy of asking.
    `Exhausted` ends it; `QueryRefused` turns one query down and changes nothing. There is no second copy of one.
    """

    def __init__(self, answer: Callable[[Data], Data]) -> None:
        self._answer = answer
        self._circle = current()
        self._busy = False

    def __call__(self, query: Data = None) -> Data:
        """Asks one query; concurrent callers take turns. A query that asks its own queryable is refused."""
        with self._circle.lock:
            if self._busy:
                raise QueryRefused("this query asks the queryable that is answering it; ask them one after the other.")
            return self._ask(query, self._circle.turns)

    def _ask(self, query: Data, turns: tuple[Turn, ...]) -> Data:
        if turns:
            with turns[0].asking():
                return self._ask(query, turns[1:])
        self._busy = True
        try:
            with self._circle.entered():
                return shielded(lambda: self._answer(query)) if self._circle.turns else self._answer(query)
        finally:
            self._busy = False

    def __copy__(self) -> Queryable:
        return self

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__reduce__()

    def __reduce__(self) -> NoReturn:
        raise BadArgument("a queryable", "asked where it was made: a copy of its state could be asked twice", "a copy")

    def then(self, function: Callable[[Data], Data]) -> Queryable:
        """Passes all answers through a function, also those of queryables that this one starts."""

        def answer(query: Data) -> Data:
            reply = self(query)
            if isinstance(query, Spent | Left):  # public: post-processing does not touch it
                return reply
            return reply.then(function) if isinstance(reply, Queryable) else function(reply)

        return Queryable(answer)

    def __repr__(self) -> str:
        return "Queryable(…)"


def shielded(run: Callable[[], Data], name: str = "an interactive answer") -> Data:
    """Runs something that looks at data for somebody else. Why it fails could tell about the data, so it is hidden."""
    try:
        return run()
    except (QueryRefused, Exhausted, RunFailed):
        raise
    except (Exception, SystemExit, GeneratorExit):
        failed = RunFailed(name)
    raise failed  # here, and not above, so that it does not carry what went wrong with it
