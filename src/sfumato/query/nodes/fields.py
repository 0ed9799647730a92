"""Fields: what is known of a column once it is made anew, may be missing, or comes from several relations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.facts import Ends, Facts


def renamed(name: str, made: Expression) -> Column:
    """The column that holds an expression: a plain column keeps where it is from, anything else is new."""
    if isinstance(made, Column):
        return Column(name, made.kind, made.facts, made.origin, made.unit)
    return Column(name, made.kind, made.facts)


def optional(column: Column) -> Column:
    """Makes a column's values possibly missing: it no longer identifies the unit of every row."""
    return replace(column, facts=replace(column.facts, nullable=True), unit=None)


def merged(columns: tuple[Column, ...]) -> Column:
    """The column of a union: with bounds and keys only where every part has them, or no value at all."""
    first = columns[0]
    ends = [column.facts.between for column in columns if column.facts.keys != ()]
    keys = [column.facts.keys for column in columns]
    lists = [listed for listed in keys if listed is not None]
    same = len({(column.origin, column.unit) for column in columns}) == 1
    units = {column.unit for column in columns}
    facts = Facts(
        between=_hull(ends),
        keys=tuple(dict.fromkeys(key for listed in lists for key in listed)) if len(lists) == len(keys) else None,
        nullable=any(column.facts.nullable for column in columns),
    )
    return Column(first.name, first.kind, facts, first.origin if same else "", units.pop() if len(units) == 1 else None)


def _hull(ends: list[Ends | None]) -> Ends | None:
    known: list[Any] = [one for one in ends if one is not None]
    if len(known) != len(ends) or not ends:
        return None
    return min(low for low, _ in known), max(high for _, high in known)
