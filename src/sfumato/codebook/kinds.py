"""Several kinds of units in one codebook, such as people and firms, each of which is protected and has a limit."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from sfumato.codebook.columns import Plain
from sfumato.codebook.entries import Entries
from sfumato.codebook.tables import FACT, Contributions, Table
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.errors import BadCodebook
from sfumato.guarantee import guarantee

if TYPE_CHECKING:
    from sfumato.codebook.book import Codebook

NAME = re.compile(r"[^\W\d]\w*")
"""How a kind of unit may be called: it stands in the name of its account."""


@final
@dataclass(frozen=True)
class UnitKind:
    """One of several kinds of units: what the kind is called, who one of them is, and the column of their ids."""

    name: str
    protects: str
    id: str

    @staticmethod
    def read(name: object, value: object) -> UnitKind:
        entries = Entries.read(value, f"units, {name}")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            entries.refuse("the name of a kind must be one word, as in units: {people: …, firms: …}")
        kind = UnitKind(
            name,
            entries.needed("protects", "say who is protected, in words that are printed with every release"),
            entries.needed("id", "name the column that says whose a row is"),
        )
        entries.done()
        return kind

    def tree(self) -> Plain:
        return {"protects": self.protects, "id": self.id}


def read_kinds(entries: Entries) -> tuple[UnitKind, ...]:
    """Reads kinds of units, the first of which is the one whose rows questions may cut."""
    kinds = tuple(UnitKind.read(name, value) for name, value in entries.given.items())
    if len(kinds) < 2:
        entries.refuse("a kind of unit that is the only one is written unit: {protects: …, id: …}")
    for what in ("protects", "id"):
        if len({getattr(kind, what) for kind in kinds}) < len(kinds):
            entries.refuse(f"two kinds have the same {what}: each kind of unit has its own")
    return kinds


def check_kinds(book: Codebook) -> None:
    """Refuses what has no theorem where several kinds of units are protected."""
    for table in book.tables if book.kinds else ():
        where, names = f"table {table.name!r}", [column.name for column in table.columns]
        if table.link is not None:
            raise BadCodebook(
                where, "id leads to another table, and several kinds of units are protected: put the ids into the table"
            )
        for kind in book.kinds[1:]:
            if table.public and kind.id in names:
                why = f"it is public, and has the column {kind.id!r}, which says whose a row is: give it another name"
                raise BadCodebook(where, why)
            bounds = bounds_of(table, kind)
            if bounds is not None and bounds.by != FACT:
                raise BadCodebook(
                    f"{where}, contributions, {kind.name}",
                    f"only rows of {book.protects}, the first kind, can be cut: where rows of {kind.protects} are, "
                    f"other rows of people would come in for them. State how many {kind.protects} can have (by: fact), "
                    f"or put {kind.name} first under units",
                )


def bounds_of(table: Table, kind: UnitKind) -> Contributions | None:
    """The bounds that a table states for a kind of unit beside the first."""
    return dict(table.others).get(kind.name)


def taken_by(book: Codebook, kind: UnitKind) -> GroupedDistance:
    """What one unit of a kind beside the first takes with it: so many rows, of so many units of the first kind."""
    private = [table for table in book.tables if kind.id in [column.name for column in table.columns]]
    if not private:
        raise BadCodebook(f"units, {kind.name}", f"no table has the column {kind.id!r}")
    return added_up([_taken_in(table, kind, book) for table in private])


@guarantee(
    claim="a unit with at most nᵢ rows of at most pᵢ ids in table i has at most Σ nᵢ rows of at most Σ pᵢ ids in all",
    proof="proofs/query.md#kinds",
    reviewed="76748ea55d9b",
)
def added_up(tables: Sequence[GroupedDistance]) -> GroupedDistance:
    """What a unit has in several tables together."""
    parts, rows, largest = (sum(getattr(one, name) for one in tables) for name in ("parts", "rows", "largest"))
    return GroupedDistance(parts, rows, largest)


def _taken_in(table: Table, kind: UnitKind, book: Codebook) -> GroupedDistance:
    """What a table states: rows in all, ids of the first kind (groups by that column), rows in each."""
    first, stated = table.id, bounds_of(table, kind) or Contributions()
    by_id = frozenset({first})
    ids, each = (
        {frozenset(names): most for names, most in given}.get(by_id, math.inf)
        for given in (stated.groups, stated.rows_each)
    )
    rows = math.inf if stated.rows is None else stated.rows
    taken = GroupedDistance(ids, rows, each)
    if taken.parts == math.inf:
        raise BadCodebook(
            f"table {table.name!r}",
            f"how many rows may {kind.protects} have? Rows of {book.protects} are cut where there are too many, and of "
            f"{kind.protects} none: state what holds in every possible table, contributions: {{{kind.name}: {{rows: …, "
            f"source: …}}}}, or of how many {first} its rows are, {{groups: {{{first}: …}}, source: …}}",
        )
    return taken
