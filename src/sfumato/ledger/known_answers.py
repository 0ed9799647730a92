"""Answers that were found in the book before: the same few questions are asked again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar, final

from sfumato.ledger.store import Row, Store

REMEMBERED = 256
"""How many questions are known with their answers."""

PAID = 16_384
"""How many keys are known to be in the book."""

Answer = TypeVar("Answer")


@final
class KnownAnswers(Generic[Answer]):
    """What the book answers to questions, or that it answers them not, as long as nothing newer in it does.

    A book only grows: what is found stays true until an entry answers the same question, and whoever folds entries
    shows all of them here (`forget`). That a key is in the book stays true for ever. Not safe for threads by itself.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[str, Answer | None] = OrderedDict()
        self._paid: OrderedDict[str, None] = OrderedDict()

    def forget(self, rows: Iterable[Row]) -> None:
        """Forgets what is answered anew."""
        for row in rows:
            if row.question is not None:
                self._answers.pop(row.question, None)

    def find(self, question: str, look: Callable[[], tuple[Answer | None, bool]]) -> Answer | None:
        """What the book answers, from memory or by a look into it, which also says whether that is to be remembered.

        The book must have been read to its end before.
        """
        if question in self._answers:
            self._answers.move_to_end(question)
            return self._answers[question]
        found, kept = look()
        if kept:
            self._answers[question] = found
        while len(self._answers) > REMEMBERED:
            self._answers.popitem(last=False)
        return found

    def __len__(self) -> int:
        return len(self._answers) + len(self._paid)

    def has_key(self, store: Store, key: str) -> bool:
        """Tells whether a key is in the book."""
        if key in self._paid:
            return True
        if store.by_key(key) is None:
            return False
        self._paid[key] = None
        while len(self._paid) > PAID:
            self._paid.popitem(last=False)
        return True
