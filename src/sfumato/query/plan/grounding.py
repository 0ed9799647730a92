"""Grounding: the fields of a relation, and the conditions that all of its rows meet, told in columns of its tables.

A row of a relation comes from rows of tables, each of which met every WHERE on its way. What is known of the tables'
columns, and these conditions, say together what a row can be, whatever the data is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import final

from sfumato.query.nodes.expressions import Call, Column, Expression
from sfumato.query.nodes.relations import Join, Keep, Match, Meet, PerUnit, Relation, Select, Where, Windowed

MOST_PARTS = 1000
"""An expression that would have more parts becomes a column: step after step may double it each time."""


@final
@dataclass(frozen=True)
class Ground:
    """What each field of a relation is made of, and conditions, in the same columns, that are true for every row."""

    fields: Mapping[str, Expression]
    conditions: tuple[Expression, ...] = ()

    def told(self, made: Expression) -> Expression | None:
        """Writes an expression over the fields in columns of the tables; None where it would be too long."""
        sizes = {name: size_of(field) for name, field in self.fields.items()}
        return self._told(made) if _size(made, sizes) <= MOST_PARTS else None

    def _told(self, made: Expression) -> Expression:
        match made:
            case Column(name=name):
                return self.fields.get(name, made)
            case Call(parts=parts):
                return replace(made, parts=tuple(map(self._told, parts)))
        return made


def ground(relation: Relation, path: str = "") -> Ground:
    """Finds what a relation's fields are made of. ``path`` keeps columns of different tables, or uses of one, apart."""
    match relation:
        case Keep(source=source):
            return ground(source, path)
        case Where(source=source, condition=condition):
            below = ground(source, path)
            told = (below.told(part) for part in conjuncts(condition))
            return Ground(below.fields, (*below.conditions, *(part for part in told if part is not None)))
        case Select(source=source, columns=columns):
            below = ground(source, path)
            own = {column.name: _fresh(column, f"{path}s") for column in relation.fields}
            return Ground({name: below.told(made) or own[name] for name, made in columns}, below.conditions)
        case Windowed(source=source):
            below = ground(source, path)
            own = {column.name: _fresh(column, f"{path}w") for column in relation.fields}
            return Ground({**own, **below.fields}, below.conditions)
        case PerUnit(source=source, by=by):  # each of its rows is made of one row at least, which has its groups
            below = ground(source, f"{path}u")
            own = {column.name: _fresh(column, path) for column in relation.fields}
            return Ground({**own, **{name: below.told(made) or own[name] for name, made in by}}, below.conditions)
        case Meet(left=left, right=right):
            return ground(Join(left, right, ()), path)
        case Join(left=left, right=right, match=match):
            one = ground(left, f"{path}l")
            if match.filters:
                return one
            if match is Match.LEFT:  # what matches nothing has no columns of the right, and met none of its conditions
                own = {column.name: _fresh(column, f"{path}r") for column in relation.fields}
                return Ground({**own, **one.fields}, one.conditions)
            other = ground(right, f"{path}r")
            return Ground({**one.fields, **other.fields}, (*one.conditions, *other.conditions))
    return Ground({column.name: _fresh(column, path) for column in relation.fields})


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """The conditions that must all be true for one to be; inner conjunctions are taken apart too."""
    if isinstance(condition, Call) and condition.operator == "and":
        for part in condition.parts:
            yield from conjuncts(part)
    else:
        yield condition


def size_of(made: Expression) -> int:
    """The number of parts of an expression, itself included."""
    return _size(made, {})


def _size(made: Expression, sizes: Mapping[str, int]) -> int:
    if isinstance(made, Column):
        return sizes.get(made.name, 1)
    return 1 + sum(_size(part, sizes) for part in made.parts)


def _fresh(column: Column, path: str) -> Column:
    return Column(f"{path}:{column.name}", column.kind, column.facts)
