"""Leaves out columns that nothing looks at: they are not read, and a question that names them is no other one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.relations import (
    Join,
    Keep,
    Listed,
    Meet,
    PerUnit,
    Relation,
    Scan,
    Select,
    Union,
    Where,
    Windowed,
)


def pruned(relation: Relation, needed: Collection[str], *, spare: bool = True) -> Relation:
    """Drops fields that are not needed and keeps the same rows of the same units.

    With ``spare`` it may have other fields besides, in any order; then a step is left out that only names columns of
    its source again. Else it has none that it did not have before.
    """
    match relation:
        case Scan(table, columns, owner, unnested):
            return Scan(table, tuple(column for column in columns if column.name in needed), owner, unnested)
        case Listed():
            return _listed(relation, needed)
        case Where(source, condition):
            return Where(pruned(source, {*needed, *used((condition,))}, spare=spare), condition)
        case Select(source, columns):
            kept = tuple((name, made) for name, made in columns if name in needed)
            return _selected(pruned(source, used(made for _, made in kept), spare=True), kept, spare=spare)
        case Join(left=left, right=right, on=on, match=match, compared=compared):
            ours = {*needed, *(name for name, _ in on), *(name for name, _, _ in compared)}
            theirs = {*(name for _, name in on), *(name for _, _, name in compared)}
            theirs |= set() if match.filters else set(needed)
            return replace(relation, left=pruned(left, ours, spare=False), right=pruned(right, theirs, spare=False))
        case Meet(left=left, right=right, on=on):
            ours, theirs = ({*needed, *names} for names in zip(*on, strict=True))
            return replace(relation, left=pruned(left, ours, spare=False), right=pruned(right, theirs, spare=False))
        case Union(parts):
            names = [column.name for column in relation.fields if column.name in needed]
            return Union(tuple(_exactly(pruned(part, names, spare=False), names) for part in parts))
        case Keep(source, rows, work):  # which rows are kept hangs on all of their columns
            return Keep(pruned(source, [column.name for column in source.fields], spare=False), rows, work)
        case Windowed(source=source, added=added):
            wanted = tuple(one for one in added if one.column.name in needed)
            if not wanted:
                return pruned(source, needed, spare=spare)
            looked = replace(relation, added=wanted)
            seen = {*needed, *used(looked.expressions), *(one.name for one in source.fields if one.unit is not None)}
            names = [column.name for column in source.fields if column.name in seen]  # no others break ties
            return replace(looked, source=_exactly(pruned(source, names, spare=False), names))
        case PerUnit():
            return _per_unit(relation, needed)
    raise TypeError(type(relation))


def _listed(listed: Listed, needed: Collection[str]) -> Listed:
    places = [place for place, column in enumerate(listed.columns) if column.name in needed] or [0]
    rows = tuple(tuple(row[place] for place in places) for row in listed.rows)
    return Listed(tuple(listed.columns[place] for place in places), rows)


def _per_unit(per: PerUnit, needed: Collection[str]) -> PerUnit:
    """Drops folds that are not needed; of public rows that become one in all, a fold says so, and one stays."""
    folds = tuple(folded for folded in per.folds if folded.column.name in needed)
    if not per.by and not per.private:
        folds = folds or per.folds[:1]
    made = (*(made for _, made in per.by), *(folded.of for folded in folds if folded.of is not None))
    return PerUnit(pruned(per.source, used(made)), per.by, folds)


def used(made: Iterable[Expression]) -> set[str]:
    """The names of all columns that some expressions look at."""
    return {column.name for expression in made for column in expression.columns()}


def _selected(source: Relation, columns: tuple[tuple[str, Expression], ...], *, spare: bool) -> Relation:
    same = tuple((column.name, column) for column in source.fields)
    return source if same == columns or (spare and set(columns) <= set(same)) else Select(source, columns)


def _exactly(part: Relation, names: list[str]) -> Relation:
    fields = {column.name: column for column in part.fields}
    return _selected(part, tuple((name, fields[name]) for name in names), spare=False)
