"""Working out over released numbers and public tables: what the engine that is made for it is given, and gives.

That engine speaks the language of questions (`query.sql.text.LANGUAGE`). It is new for each run, reaches nothing but
what it is handed, and is gone afterwards. No private table is ever in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

from sfumato.query.nodes.kinds import Kind


@final
@dataclass(frozen=True)
class Given:
    """A column of a table that is handed in. Whole numbers that are ``wide`` may be larger than 64 bits."""

    name: str
    kind: Kind
    values: Sequence[Any]
    wide: bool = False


class WorksOut(Protocol):
    """Runs one SELECT over some tables; returns its columns in order, as names and Python values.

    It refuses a SELECT that fails (`QueryRefused`), and says nothing of why: that may quote what the tables hold.
    """

    def __call__(self, text: str, tables: Mapping[str, Sequence[Given]]) -> list[tuple[str, list[Any]]]: ...
