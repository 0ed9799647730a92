"""Questions of several blocks: finished private answers, and a SELECT over them that is post-processing and free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.query.nodes.questions import Question
from sfumato.query.nodes.relations import Relation


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
