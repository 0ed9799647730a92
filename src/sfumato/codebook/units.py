"""Whose a row is: an id in its table, or in one that foreign keys lead to; always, or in a window of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, final

from sfumato.codebook.columns import Place, Plain
from sfumato.codebook.entries import Entries, comma_list
from sfumato.errors import BadCodebook

if TYPE_CHECKING:
    from sfumato.codebook.columns import Column
    from sfumato.codebook.tables import Table

WINDOWS = ("hour", "day", "week", "month", "quarter", "year")
"""How long a window may be; weeks begin on Monday."""

MOST_HOPS = 8
"""How many foreign keys may lie between a row and the id that it belongs to."""


@final
@dataclass(frozen=True)
class Window:
    """The stretch of time in which a unit is protected as a whole, by a column of dates or times.

    ``reason`` says why it is enough: what somebody does in several windows is protected in each of them, and the losses
    add up over the windows that the person is in.
    """

    column: str
    every: str
    reason: str = ""

    @staticmethod
    def read(entries: Entries) -> Window:
        window = Window(
            entries.needed("column", "name the column of dates or times that says when"),
            entries.one_of("every", WINDOWS, usual=""),
            entries.text("reason"),
        )
        entries.done()
        return window

    def tree(self) -> Plain:
        said = {"column": self.column, "every": self.every, "reason": self.reason}
        return {key: value for key, value in said.items() if value}


@final
@dataclass(frozen=True)
class Link:
    """A foreign key: a row belongs to the owner of the row of table ``of`` that has ``column`` as its key."""

    column: str
    of: str

    @staticmethod
    def read(entries: Entries, columns: Sequence[str]) -> Link | None:
        """Reads a foreign key from the entry ``id`` of a table, None where that is no mapping."""
        declared = entries.inner("id") if isinstance(entries.value("id"), Mapping) else None
        if declared is None:
            return None
        link = Link(
            declared.needed("through", "name the column that refers to another table"),
            declared.needed("of", "name the table that it refers to"),
        )
        declared.done()
        declared.known(link.column, columns, "through")
        return link

    def tree(self) -> Plain:
        return {"through": self.column, "of": self.of}


@final
@dataclass(frozen=True)
class Hop:
    """One step along a foreign key: from a row to the one that has its ``leaves`` as ``arrives``."""

    leaves: Place
    arrives: Place


@final
@dataclass(frozen=True)
class UnitPath:
    """How a row is known to be somebody's: the hops to the table that has the id, the id, and where the window is.

    The window, where there is one, is in the nearest table on the way that has its column.
    """

    hops: tuple[Hop, ...]
    id: Place
    window: Place | None = None


def unit_path(tables: Sequence[Table], name: str, window: Window | None = None) -> UnitPath:
    """Follows foreign keys from a table to the id that its rows belong to, or says why there is none."""
    known = {table.name: table for table in tables}
    hops: list[Hop] = []
    table = known[name]
    while table.link is not None:
        if len(hops) == MOST_HOPS:
            _refuse(
                name, f"more than {MOST_HOPS} foreign keys lie between its rows and an id, if there is any: a cycle?"
            )
        hops.append(_hop(table, table.link, known))
        table = known[table.link.of]
    if not table.id:
        _refuse(table.name, "no column says whose a row is: name it (id: …), the way to it (id: {through: …, of: …})")
    places = [known[name], *(known[hop.arrives.table] for hop in hops)]
    return UnitPath(tuple(hops), Place(table.name, table.id), window and _window(window, places))


def _hop(table: Table, link: Link, known: Mapping[str, Table]) -> Hop:
    if link.of not in known:
        _refuse(table.name, f"id leads to the table {link.of!r}, which there is not: {comma_list([*known])}")
    there = known[link.of]
    if there.public:
        _refuse(table.name, f"id leads to {link.of}, which is public: nothing in it is of anybody")
    if len(there.key) != 1:
        _refuse(
            link.of,
            f"{table.name}.{link.column} refers to its key, which must be one column: write key: […] if no two rows of "
            f"{link.of} can agree in it",
        )
    leaves, arrives = table[link.column], there[there.key[0]]
    kind, key_kind = _kind(leaves), _kind(arrives)
    if kind != key_kind:
        _refuse(
            table.name,
            f"{leaves.place} is {kind} and refers to {arrives.place}, which is {key_kind}: they would never be equal",
        )
    return Hop(leaves.place, arrives.place)


def _kind(column: Column) -> str:
    """The kind of a column's values; of categories, what they are a list of."""
    return f"categories ({type(column.categories[0]).__name__})" if column.categories else column.type


def _window(window: Window, way: Sequence[Table]) -> Place:
    for table in way:
        for column in table.columns:
            if column.name == window.column:
                if column.type not in ("date", "time") or (window.every == "hour" and column.type == "date"):
                    wanted = "time" if window.every == "hour" else "date or time"
                    _refuse(
                        table.name, f"{column.name} is {column.type}, and windows by the {window.every} need {wanted}"
                    )
                return column.place
    return _refuse(
        way[0].name,
        f"the unit has a window by {window.column!r}, and there is no such column here"
        + (f", nor in {comma_list([table.name for table in way[1:]])}" if way[1:] else ""),
    )


def _refuse(table: str, why: str) -> NoReturn:
    raise BadCodebook(f"table {table!r}", why)
