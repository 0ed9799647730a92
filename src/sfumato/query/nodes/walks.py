"""Ways through relations: what is somewhere in one, and one with other sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sfumato.query.nodes.relations import Join, Meet, OfOne, Relation, Union


def meetings(relation: Relation) -> Iterator[Meet]:
    """The joins of rows of different units in a relation: where there are any, its rows belong to no single one."""
    if isinstance(relation, Meet):
        yield relation
    for source in relation.sources:
        yield from meetings(source)


def with_sources(relation: Relation, sources: Sequence[Relation]) -> Relation:
    """Rebuilds a relation on other sources; a table, which has none, stays as it is."""
    match relation, sources:
        case OfOne(), [source]:
            return replace(relation, source=source)  # type: ignore[type-var]  # every one is a record
        case Join() | Meet(), [left, right]:
            return replace(relation, left=left, right=right)
        case Union(), _:
            return Union(tuple(sources))
    return relation
