"""What values people may have, as a protocol publishes it, and what each value is for the randomizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from .randomizers import Recipe

Domain: TypeAlias = Mapping[str, Any]
Reader: TypeAlias = Callable[[Any], Any]
"""Turns a person's value into what the randomizer is given; a ValueError, without the value, for what is outside."""

DOMAINS: dict[str, Callable[[Domain, Recipe], Reader]] = {}
"""How values are read, by the entry of a published domain that says of which form it is."""


def domain_reader(form: str) -> Callable[[Callable[[Domain, Recipe], Reader]], Callable[[Domain, Recipe], Reader]]:
    """Enters a function into `DOMAINS`."""

    def enter(function: Callable[[Domain, Recipe], Reader]) -> Callable[[Domain, Recipe], Reader]:
        DOMAINS[form] = function
        return function

    return enter


def reader_of(domain: Any, recipe: Recipe) -> Reader:
    """The reader of a published domain."""
    forms = [form for form in DOMAINS if form in domain] if isinstance(domain, Mapping) else []
    if len(forms) != 1:
        raise ValueError(
            "the protocol publishes no domain that this device knows: prepare its input and call message()"
        )
    return DOMAINS[forms[0]](domain, recipe)


@domain_reader("each")
def _each(domain: Domain, recipe: Recipe) -> Reader:
    """A list with one value of each of several domains, for the parts of a recipe."""
    readers = [reader_of(own, part) for own, part in zip(domain["each"], recipe["parts"], strict=True)]

    def read(value: Any) -> list[Any]:
        if not isinstance(value, list | tuple) or len(value) != len(readers):
            raise ValueError(f"the value must be a list of {len(readers)}: one for each part")
        return [reader(own) for reader, own in zip(readers, value, strict=True)]

    return read


_OPTIONS = {"response": "cells", "bits": "bits", "subset": "bits"}
"""Which entry of a recipe says how many values there are, for kinds where one does."""


@domain_reader("range")
def _range(domain: Domain, recipe: Recipe) -> Reader:
    options = range(*domain["range"])

    def place(value: Any) -> int | None:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return options.index(value) if whole and value in options else None

    return _listed(place, len(options), domain, recipe)


@domain_reader("values")
def _values(domain: Domain, recipe: Recipe) -> Reader:
    places = {_key(value): at for at, value in enumerate(domain["values"])}

    def place(value: Any) -> int | None:
        try:
            return places.get(_key(value))
        except TypeError:  # a list, say: nothing that could be listed
            return None

    return _listed(place, len(domain["values"]), domain, recipe)


def _key(value: Any) -> tuple[bool, Any]:
    return isinstance(value, bool), value  # for Python, True is 1; for JSON it is not


def _listed(place: Callable[[Any], int | None], options: int, domain: Domain, recipe: Recipe) -> Reader:
    """The place of a value; that of ``other`` for what is not listed, or a refusal where there is none."""
    kind = recipe["kind"]
    if kind in _OPTIONS and recipe[_OPTIONS[kind]] != options:
        raise ValueError("the list of values does not have the length that the recipe states")
    rest = None if domain.get("other") is None else place(domain["other"])

    def read(value: Any) -> int:
        found = place(value)
        found = rest if found is None else found
        if found is None:
            raise ValueError("the value must be one of those that the protocol lists")
        return found

    return read
