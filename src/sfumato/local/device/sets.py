"""Reports on sets: one thing of a set that was padded to a public size."""

from __future__ import annotations

from typing import Any

from .coins import Coins
from .domains import Domain, Reader, domain_reader, reader_of
from .randomizers import Drawn, Recipe, draw, randomizer


@randomizer("padded")
def padded(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A report of one thing: of the set and numbered dummies that fill it up to ``most``, or of a larger set alone."""
    size = len(value)
    drawn = coins.below(max(size, recipe["most"]))
    return draw(recipe["part"], value[drawn] if drawn < size else recipe["items"] + drawn - size, coins)


@domain_reader("sets")
def _sets(domain: Domain, recipe: Recipe) -> Reader:
    """A list of different listed values; what is not listed is refused, or left out where the domain says so."""
    listed, strict = domain["sets"], domain["unlisted"] != "left out"
    options = len(listed["values"]) if "values" in listed else len(range(*listed["range"]))
    if options != recipe["items"]:
        raise ValueError("the list of values does not have the length that the recipe states")
    place = reader_of(listed, recipe)

    def read(value: Any) -> list[int]:
        if not isinstance(value, list | tuple | set | frozenset):
            raise ValueError("the value must be a list of different values that the protocol lists")
        places = []
        for one in value:
            try:
                places.append(place(one))
            except ValueError:
                if strict:
                    raise
        if len(set(places)) < len(places):
            raise ValueError("the value must be a list of different values that the protocol lists")
        return sorted(places)

    return read
