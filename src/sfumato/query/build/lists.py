"""Lists: columns of a table that hold several values in each row, and a row for each of these."""

from __future__ import annotations

from dataclasses import replace

from sfumato.errors import QueryRefused
from sfumato.query.build.relation import selected, unused
from sfumato.query.nodes.catalog import name_in
from sfumato.query.nodes.relations import Items, Relation, Scan, Select, Where


def list_named(relation: Relation, name: str) -> Items | None:
    """Looks up a list column of the one table that rows are of, whatever row by row was made of them."""
    match relation:
        case Scan(lists=lists):
            known = {items.column: items for items in lists}
            match = name_in(name, known)
            return None if match is None else known[match]
        case Where(source=source) | Select(source=source):
            return list_named(source, name)
    return None


def unnested(
    relation: Relation, items: Items, name: str, most: int | None = None, *, rows_kept: bool = False
) -> Relation:
    """Makes a row for each item of a list column, as a column ``name``: at most ``most``, or as the codebook says."""
    match relation:
        case Scan(unnested=others):
            facts = items.item.facts
            fewer = most is not None and (items.most is None or most < items.most)
            added = replace(
                items,
                item=replace(items.item, name=name, facts=replace(facts, nullable=rows_kept or facts.nullable)),
                most=most if fewer else items.most,
                kept=rows_kept,
                by_codebook=not fewer,
            )
            if relation.field(name) is not None:
                raise QueryRefused(f"there is a column {name!r} already: give the items another name.")
            return replace(relation, unnested=(*others, added))
        case Where(source=source, condition=condition):
            return Where(unnested(source, items, name, most, rows_kept=rows_kept), condition)
        case Select(source=source, columns=columns):
            inner = unused(name, {column.name.casefold() for column in source.fields})
            below = unnested(source, items, inner, most, rows_kept=rows_kept)
            return selected(below, [*columns, (name, below.fields[-1])])
    raise TypeError(relation)
