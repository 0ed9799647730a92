"""A column that identifies units, found in what a question asks or added to it: SQL counts units by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sfumato.query.build.relation import owner_of, unused
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.questions import CountUnits, Question
from sfumato.query.nodes.relations import Join, Relation, Scan, Select, Union, Where

Tables = Mapping[str, Scan]
"""All tables there are, each with all of its columns: a name is clear or not among these."""


def with_unit(question: Question, tables: Tables) -> tuple[Relation, Column | None]:
    """Adds a column that identifies units to the source, where units are counted and such a column can be had."""
    source, owner = question.source, owner_of(question.source)
    if not any(isinstance(one, CountUnits) for one in question.statistics) or owner is None or owner.window is not None:
        return source, None
    identified = _identified(source, tables)
    return (source, None) if identified is None else identified


def _identified(relation: Relation, tables: Tables) -> tuple[Relation, Column] | None:
    """Finds or adds a column that identifies units; None where the tables have none."""
    own = next((column for column in relation.fields if column.unit == 0), None)
    if own is not None:
        return relation, own
    match relation:
        case Scan(table=table, columns=columns):
            known = tables.get(table, relation).columns
            held = next((column for column in known if column.unit == 0), None)
            return None if held is None else (replace(relation, columns=(*columns, held)), held)
        case Where(source=source):
            inner = _identified(source, tables)
            return None if inner is None else (replace(relation, source=inner[0]), inner[1])
        case Select(source=source, columns=named_columns):
            inner = _identified(source, tables)
            return None if inner is None else _selected(inner[0], list(named_columns), inner[1])
        case Join(left=left, right=right):
            inner = _identified(left, tables)
            clash = inner is None or (not relation.match.filters and right.field(inner[1].name) is not None)
            return None if inner is None or clash else (replace(relation, left=inner[0]), inner[1])
        case Union(parts=parts):
            return _all_identified(
                [_identified(part, tables) for part in parts], [column.name for column in relation.fields]
            )
    return None


def _all_identified(
    identified: Sequence[tuple[Relation, Column] | None], names: Sequence[str]
) -> tuple[Relation, Column] | None:
    parts = []
    for one in identified:
        if one is None:
            return None
        columns: list[tuple[str, Expression]] = [(name, _field(one[0], name)) for name in names]
        parts.append(_selected(one[0], columns, one[1]))
    return Union(tuple(part for part, _ in parts)), parts[0][1]


def _selected(source: Relation, columns: list[tuple[str, Expression]], unit: Column) -> tuple[Relation, Column]:
    name = unused(unit.name, {name.casefold() for name, _ in columns})
    return Select(source, (*columns, (name, unit))), replace(unit, name=name)


def _field(relation: Relation, name: str) -> Column:
    return next(column for column in relation.fields if column.name == name)
