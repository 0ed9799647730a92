"""Structural zeros: combinations of values that no row of a table can have, by public knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, final

from sfumato.codebook.bins import BINNED, Edge, edge_tree, read_edge
from sfumato.codebook.columns import Column, Plain
from sfumato.codebook.entries import Entries, comma_list, source_tree
from sfumato.errors import shown
from sfumato.release.record import Fact


@final
@dataclass(frozen=True)
class Span:
    """All values from a lower to an upper one, both included."""

    lower: Edge
    upper: Edge

    def __str__(self) -> str:
        return f"in [{edge_tree(self.lower)}, {edge_tree(self.upper)}]"


Values: TypeAlias = "Span | tuple[Any, ...]"
"""Some values of a column: a stretch of them, or a list."""


@final
@dataclass(frozen=True)
class Impossible:
    """A combination that cannot occur: every column in ``where`` with one of its values; and whence that is known."""

    where: tuple[tuple[str, Values], ...]
    source: str

    @staticmethod
    def read(entries: Entries, columns: Sequence[Column]) -> Impossible:
        """Reads one combination, or says what is wrong with it."""
        declared = entries.inner("where")
        if declared is None or not declared.given:
            entries.missing("where", "say what cannot occur, as in where: {age: {between: [0, 14]}, married: true}")
        types = {column.name: column for column in columns}
        where = []
        for name, value in declared.given.items():
            column = types[declared.known(str(name), [*types], "where")]
            where.append((column.name, read_values(declared, column.type, column.categories, column.name, value)))
        made = Impossible(tuple(where), entries.source("that it cannot occur is"))
        entries.done()
        return made

    def fact(self, table: str) -> Fact:
        """The combination as a public fact."""
        said = " and ".join(f"{name} {_words(values)}" for name, values in self.where)
        return Fact(f"no row of {table} has {said}", self.source)

    def tree(self) -> Plain:
        """The combination as plain data."""
        return {"where": {name: _tree(values) for name, values in self.where}, "source": source_tree(self.source)}


def read_impossible(entries: Entries, columns: Sequence[Column]) -> tuple[Impossible, ...]:
    """Reads the list of combinations that cannot occur in a table."""
    stated = entries.value("impossible")
    if stated is None:
        return ()
    if not isinstance(stated, list | tuple):
        entries.refuse(f"impossible must be a list of entries such as {{where: …, source: …}}; got {shown(stated)}")
    places = (Entries.read(one, f"{entries.where}, impossible, entry {place}") for place, one in enumerate(stated, 1))
    return tuple(Impossible.read(one, columns) for one in places)


def read_values(entries: Entries, kind: str, categories: Sequence[object], name: str, value: object) -> Values:
    """Reads some values of a column: one, a list of them, or ``{between: [lower, upper]}``."""
    if kind == "list":
        entries.refuse(f"{name} is a list, and combinations are of single values")
    if isinstance(value, Mapping):
        return _span(entries, kind, name, value)
    listed = list(value) if isinstance(value, list | tuple) else [value]
    if not listed or any(one is None for one in listed):
        entries.refuse(f"{name} must have one or more values, and missing is none; got {shown(value)}")
    if kind in BINNED:
        return tuple(read_edge(entries, kind, one, f"a value of {name}") for one in listed)
    made = tuple(float(one) if isinstance(one, Decimal) else one for one in listed)
    known = categories or ((False, True) if kind == "bool" else ())
    for one in made:
        if known and not any(one == other and isinstance(one, bool) == isinstance(other, bool) for other in known):
            entries.refuse(f"{name} must have values that it can have; {shown(one)} is none of them")
        if not isinstance(one, str | int | float | bool):
            entries.refuse(f"a value of {name} must be a text, a number, true or false; got {shown(one)}")
    return made


def _span(entries: Entries, kind: str, name: str, value: Mapping[object, object]) -> Span:
    ends = value.get("between")
    if set(value) != {"between"} or not isinstance(ends, list | tuple) or len(ends) != 2:
        entries.refuse(f"{name} must be a value, a list of them, or {{between: [lower, upper]}}; got {shown(value)}")
    if kind not in BINNED:
        entries.refuse(f"between is for numbers, dates and times, and {name} is {kind}: list its values")
    low, high = (read_edge(entries, kind, end, f"between of {name}") for end in ends)
    if low > high:  # type: ignore[operator]
        entries.refuse(f"between of {name} must have its lower end first")
    return Span(low, high)


def _tree(values: Values) -> object:
    if isinstance(values, Span):
        return {"between": [edge_tree(values.lower), edge_tree(values.upper)]}
    return [one if isinstance(one, str | bool | int | float) else edge_tree(one) for one in values]


def _words(values: Values) -> str:
    return str(values) if isinstance(values, Span) else f"one of {comma_list([str(one) for one in values])}"
