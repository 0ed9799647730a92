"""What people answer when a protocol asks several things: by name, as cells of tables, as nodes of a tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .domains import Domain, Reader, domain_reader, reader_of
from .randomizers import Recipe


@domain_reader("named")
def _named(domain: Domain, recipe: Recipe) -> Reader:
    """A mapping with all of the names, or a list in their order."""
    names, inner = domain["named"], reader_of(domain["of"], recipe)

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return inner(value)
        if set(value) != set(names):
            raise ValueError(f"the answers must be those to {', '.join(names)}: one each, and no other")
        return inner([value[name] for name in names])

    return read


@domain_reader("joint")
def _joint(domain: Domain, recipe: Recipe) -> Reader:
    """A list of answers: for each table its cell, the first attribute slowest; or only whether the sum is odd."""
    readers = [reader_of(own, {"kind": "joint"}) for own in domain["joint"]]

    def read(value: Any) -> list[int]:
        if not isinstance(value, list | tuple) or len(value) != len(readers):
            raise ValueError(f"the value must be a list of {len(readers)}: one for each attribute")
        places = [reader(own) for reader, own in zip(readers, value, strict=True)]
        return [_cell(table, places, domain) for table in domain["tables"]]

    return read


def _cell(table: list[int], places: list[int], domain: Domain) -> int:
    if domain["parities"]:
        return sum(places[one] for one in table) % 2
    cell = 0
    for one in table:
        cell = cell * domain["sizes"][one] + places[one]
    return cell


@domain_reader("levels")
def _levels(domain: Domain, recipe: Recipe) -> Reader:
    """One of a list of values: for each level of a tree the node that it lies in, of so many values each."""
    reader = reader_of(domain["of"], {"kind": "levels"})
    return lambda value: [reader(value) // width for width in domain["levels"]]
