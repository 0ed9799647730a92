"""The catalogs of people who are connected: one for each and the data sets that they may see, while these hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from sfumato.codebook.book import Codebook
from sfumato.query.plan.remembered import Remembered
from sfumato.server.postgres.answers import Answer, Column
from sfumato.server.postgres.catalog.catalog import Catalog, Visit
from sfumato.server.postgres.catalog.described import Described
from sfumato.server.postgres.naming import DATABASE
from sfumato.server.postgres.values import text_of
from sfumato.server.postgres.variables import Variables

KEPT = 16
"""Catalogs that are kept; each is a small database in memory."""

OWN = re.compile(r"pg_|information_schema", re.IGNORECASE)
FROM = re.compile(r"\bfrom\b", re.IGNORECASE)


@final
@dataclass(frozen=True)
class Seen:
    """A data set as somebody sees it: the version that is registered, and its codebook."""

    version: str
    codebook: Codebook

    @property
    def tables(self) -> frozenset[str]:
        """The names of its tables."""
        return frozenset(table.name for table in self.codebook.tables)


def may_ask_catalog(text: str) -> bool:
    """Tells whether a text may be about the catalog: it names something of it, or asks no table at all."""
    return OWN.search(text) is not None or FROM.search(text) is None


@final
class Catalogs:
    """Makes catalogs when they are asked for."""

    def __init__(self) -> None:
        self._kept: Remembered[Catalog] = Remembered(KEPT)

    def answer(
        self,
        text: str,
        values: Sequence[Any],
        person: str,
        seen: Mapping[str, Seen],
        variables: Variables,
        process: int,
    ) -> Answer | None:
        """Answers a question to the catalog; None where it is none."""
        visit = Visit(variables.stated, process)
        return self._of(person, seen).answer(text, tuple(text_of(value) for value in values), visit=visit)

    def columns(self, text: str, many: int, person: str, seen: Mapping[str, Seen]) -> tuple[Column, ...] | None:
        """The columns of an answer of the catalog; None where it has none to give."""
        return self._of(person, seen).describe(text, many)

    def _of(self, person: str, seen: Mapping[str, Seen]) -> Catalog:
        def made() -> Catalog:
            return Catalog([Described(name, one.codebook) for name, one in seen.items()], person, DATABASE)

        return self._kept.get((person, tuple((name, one.version) for name, one in seen.items())), made)
