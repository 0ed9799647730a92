"""Values that are spelled in letters, and the prefixes by which they are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .domains import Domain, Reader, domain_reader, reader_of
from .randomizers import Recipe

END = "\n"
"""What ends a word, so that a word is not the beginning of another one."""


def spelling_of(spelled: Mapping[str, Any]) -> Callable[[Any], str]:
    """How values are spelled: whole numbers of so many bits by digits, words by their letters and an end."""
    if "bits" in spelled:
        bits = spelled["bits"]

        def digits(value: Any) -> str:
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << bits:
                raise ValueError(f"the value must be a whole number of at most {bits} bits")
            return format(value, f"0{bits}b")

        return digits
    letters, longest = frozenset(spelled["alphabet"]), spelled["longest"]

    def word(value: Any) -> str:
        if not isinstance(value, str) or len(value) > longest or not letters.issuperset(value):
            raise ValueError(f"the value must be a text of at most {longest} letters of the alphabet")
        return value + END

    return word


@domain_reader("spelled")
def _spelled(domain: Domain, recipe: Recipe) -> Reader:
    """Whatever can be spelled."""
    return spelling_of(domain["spelled"])


@domain_reader("prefix")
def _prefix(domain: Domain, recipe: Recipe) -> Reader:
    """The place of a value's prefix of some length in a list."""
    spell, length = spelling_of(domain["prefix"]["of"]), domain["prefix"]["length"]
    place = reader_of(domain["prefix"]["listed"], recipe)
    return lambda value: place(spell(value)[:length])
