"""What runs on the device: turns one value into one report, in pure Python, without any other package.

A *recipe* is what a protocol publishes for devices: a plain dictionary of texts and whole numbers, the same for
everyone (`Protocol.recipe`). A report is a short message of a fixed length: a byte for the format, four that name the
recipe, and the payload: a whole number, some bits, or both. All chances are multiples of 2⁻⁵³, so that a comparison of
whole numbers decides every coin exactly; randomness comes from the function that is given (``os.urandom`` does).

    >>> import os
    >>> recipe = {"kind": "response", "cells": 4, "bits": 0, "truth": 1 << 52}
    >>> len(message(recipe, 3, octets=os.urandom))
    6

The file stands alone: it can be copied to a device. Its twin in JavaScript is `device.js`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeAlias, final

FORMAT = 1
"""The version of messages; a reader refuses any other."""

BITS = 53
WHOLE = 1 << BITS
"""Chances are whole numbers over this one."""

HEAD = 5
"""How many bytes of a message come before its payload."""

Recipe: TypeAlias = Mapping[str, Any]
Drawn: TypeAlias = tuple[int, int]
"""The whole number of a report and its bits, as a whole number too (bit i has weight 2^i); 0 where there is none."""


class Coins(Protocol):
    """What a randomizer asks of chance; a test can answer with every possibility in turn."""

    def chance(self, weight: int) -> bool:
        """True with probability weight / 2⁵³."""

    def below(self, bound: int) -> int:
        """A uniform whole number in 0 … bound − 1."""

    def many(self, count: int, weight: int) -> int:
        """``count`` independent coins, each true with probability weight / 2⁵³, as the bits of a whole number."""


@final
class OctetCoins:
    """Coins made of random bytes, exactly as likely as stated."""

    def __init__(self, octets: Callable[[int], bytes]) -> None:
        self._octets = octets

    def chance(self, weight: int) -> bool:
        """Compares 53 random bits with the weight."""
        return int.from_bytes(self._octets(7), "little") >> 3 < weight

    def below(self, bound: int) -> int:
        """Draws bits until they are below the bound."""
        width = (bound - 1).bit_length()
        size = (width + 7) >> 3
        while (drawn := int.from_bytes(self._octets(size), "little") >> ((size << 3) - width)) >= bound:
            pass
        return drawn

    def many(self, count: int, weight: int) -> int:
        """Compares all coins with the weight at once, a binary digit at a time, until every one is decided."""
        size, heads, open_ = (count + 7) >> 3, 0, (1 << count) - 1
        for plane in range(BITS - 1, -1, -1):
            if not open_ or not weight & ((2 << plane) - 1):
                break
            drawn = int.from_bytes(self._octets(size), "little")
            if weight >> plane & 1:
                heads |= open_ & ~drawn
                open_ &= drawn
            else:
                open_ &= ~drawn
        return heads


def _response(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """The truth with some chance, else any cell alike."""
    return (int(value) if coins.chance(recipe["truth"]) else coins.below(recipe["cells"])), 0


def _bits(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A bit for each place: 1 with one chance where the value stands, with another elsewhere."""
    bits = coins.many(recipe["bits"], recipe["lie"]) & ~(1 << value)
    return 0, bits | coins.chance(recipe["truth"]) << value


@lru_cache(maxsize=16)
def field_tables(prime: int, polynomial: int) -> tuple[list[int], list[int]]:
    """Sums and products of a finite field, row by row: its elements are polynomials, written as digits in base prime.

    The modulus is written the same way, with its leading 1: x² + x + 1 over two elements is 7.
    """
    order = 1
    while order * prime <= polynomial:
        order *= prime
    places = [prime**at for at in range(order.bit_length()) if prime**at < order]

    def plus(one: int, two: int) -> int:
        return sum((one // place + two // place) % prime * place for place in places)

    def scaled(one: int, by: int) -> int:
        return sum(one // place * by % prime * place for place in places)

    minus, products = scaled(polynomial % order, prime - 1), []
    for left in range(order):
        row = [0]
        for right in range(1, order):
            high, low = divmod(row[right // prime] * prime, order)
            row.append(plus(plus(low, scaled(minus, high)), scaled(left, right % prime)))
        products += row
    return [plus(one, two) for one in range(order) for two in range(order)], products


def _point(order: int, place: int) -> tuple[int, int]:
    """The code of a value, whose digits are a 1 and any lower ones, and the weight of the 1: order^j."""
    block = 1
    while place >= block:
        place -= block
        block *= order
    return place + block, block


def _inner(recipe: Recipe, left: int, right: int) -> int:
    """The inner product of two rows of digits over the field of a recipe."""
    order, prime, total = recipe["order"], recipe["prime"], 0
    if order == prime:
        while right:
            left, one = divmod(left, order)
            right, two = divmod(right, order)
            total += one * two
        return int(total % order)
    sums, products = field_tables(prime, recipe["polynomial"])
    while right:
        left, one = divmod(left, order)
        right, two = divmod(right, order)
        total = sums[total * order + products[one * order + two]]
    return total


def _hashed(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A uniform seed, and what it hashes the value to with some chance, else any bucket alike."""
    order = recipe["order"]
    seed = coins.below(recipe["cells"] // order)
    told = coins.chance(recipe["truth"])
    return seed * order + (_inner(recipe, seed, _point(order, value)[0]) if told else coins.below(order)), 0


def _one_of(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A report of one of several recipes, drawn by their weights; its cells come after those of the recipes before."""
    drawn, first = coins.below(sum(recipe["weights"])), 0
    for weight, part, own in zip(recipe["weights"], recipe["parts"], value, strict=True):
        if drawn < weight:
            number, bits = draw(part, own, coins)
            return first + number, bits
        drawn, first = drawn - weight, first + part["cells"]
    raise AssertionError("the number drawn is below the sum of the weights")


KINDS: dict[str, Callable[[Recipe, Any, Coins], Drawn]] = {
    "response": _response,
    "bits": _bits,
    "hashed": _hashed,
    "one of": _one_of,
}
"""How a report is drawn, by the kind of recipe."""


def draw(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """Draws one report: its whole number and its bits."""
    return KINDS[recipe["kind"]](recipe, value, coins)


def tag(recipe: Recipe) -> bytes:
    """The five bytes that every message of a recipe begins with."""
    text = json.dumps(dict(recipe), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return bytes([FORMAT]) + hashlib.sha256(text.encode()).digest()[: HEAD - 1]


def number_size(cells: int) -> int:
    """How many bytes hold a whole number below ``cells``."""
    return ((cells - 1).bit_length() + 7) >> 3


def packed(recipe: Recipe, drawn: Drawn) -> bytes:
    """Writes a report as a message: the tag, the number and the bits, little end first."""
    number, bits = drawn
    first = number.to_bytes(number_size(recipe["cells"]), "little")
    return tag(recipe) + first + bits.to_bytes((recipe["bits"] + 7) >> 3, "little")


def message(recipe: Recipe, value: Any, *, octets: Callable[[int], bytes]) -> bytes:
    """Randomizes one value, and writes the report as a message."""
    return packed(recipe, draw(recipe, value, OctetCoins(octets)))


_OPTIONS = {"response": "cells", "bits": "bits"}
"""Which entry of a recipe says how many values there are, for kinds where one does."""


@final
@dataclass(frozen=True)
class Client:
    """Randomizes values by what a protocol has published (`read`), on a device that has this file only."""

    recipe: Recipe
    places: Mapping[tuple[bool, Any], int] | range
    other: int | None = None

    @classmethod
    def read(cls, text: str) -> Client:
        """Reads the text of ``protocol.publish()``; refuses what this file cannot follow to the letter."""
        stated = json.loads(text)
        if not isinstance(stated, dict) or stated.get("format") != FORMAT:
            raise ValueError(f"this device reads format {FORMAT} of what a protocol publishes, and no other")
        recipe, domain = stated.get("recipe"), stated.get("domain")
        kind = recipe.get("kind") if isinstance(recipe, dict) else None
        if not isinstance(recipe, dict) or not isinstance(kind, str) or kind not in KINDS:
            raise ValueError(f"this device knows recipes of the kinds {', '.join(sorted(KINDS))}, not {kind!r}")
        if stated.get("tag") != tag(recipe).hex():
            raise ValueError("the tag is not that of the recipe: it was changed on its way, or misread")
        if not isinstance(domain, dict) or ("range" in domain) == ("values" in domain):
            raise ValueError("the protocol publishes no list of values: prepare its input and call message()")
        options = range(*domain["range"]) if "range" in domain else domain["values"]
        if kind in _OPTIONS and recipe[_OPTIONS[kind]] != len(options):
            raise ValueError("the list of values does not have the length that the recipe states")
        places = options if isinstance(options, range) else {_key(value): at for at, value in enumerate(options)}
        rest = domain.get("other")
        return cls(recipe, places, None if rest is None else _place(places, rest))

    def randomize(self, value: Any, *, octets: Callable[[int], bytes]) -> bytes:
        """The message of one value; one that is not listed stands as ``other``, or is refused where there is none."""
        place = _place(self.places, value)
        place = self.other if place is None else place
        if place is None:
            raise ValueError("the value must be one of those that the protocol lists")
        return message(self.recipe, place, octets=octets)


def _key(value: Any) -> tuple[bool, Any]:
    return isinstance(value, bool), value  # for Python, True is 1; for JSON it is not


def _place(places: Mapping[tuple[bool, Any], int] | range, value: Any) -> int | None:
    if isinstance(places, range):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return places.index(value) if whole and value in places else None
    try:
        return places.get(_key(value))
    except TypeError:  # a list, say: nothing that could be listed
        return None
