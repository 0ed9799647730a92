"""Questions of several blocks: finished private answers, and a SELECT over them that is post-processing and free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from sfumato.query.nodes.questions import Question
from sfumato.query.nodes.relations import Relation

HIDDEN = "§"
"""What the names of tables and columns begin with that carry error bars, and that nobody sees."""


@final
@dataclass(frozen=True)
class Finished:
    """An inner query that is answered privately, and the name that its answer has in the SELECT over it.

    ``keys_only`` says that only its keys are looked at: where these are public, nothing needs to be asked.
    """

    name: str
    question: Question
    keys_only: bool = False


@final
@dataclass(frozen=True)
class WorkedOut:
    """A SELECT over finished answers and public tables, each under its name; no table of people is among them.

    ``text`` is the SELECT as it was asked; ``run`` is the same for the throw-away engine: where a number would make it
    fail, its value is missing.
    """

    text: str
    run: str
    answers: tuple[Finished, ...]
    tables: tuple[tuple[str, Relation], ...] = ()


@final
@dataclass(frozen=True)
class Released:
    """What is known of a column of a finished answer: its name, whether it is a key, and whether it has error bars."""

    name: str
    key: bool
    barred: bool


@final
@dataclass(frozen=True)
class Barred:
    """A SELECT that takes error bars along.

    ``tables`` are further tables that it needs: for each finished answer what the table is called, and which columns in
    it hold the low and high ends of which of the answer's. ``ends`` are the hidden columns of the result that hold the
    ends of others, ``keys`` the columns that are made of keys alone; both by names without case.
    """

    run: str
    tables: Mapping[str, tuple[str, Mapping[str, tuple[str, str]]]]
    ends: Mapping[str, tuple[str, str]]
    keys: frozenset[str]
