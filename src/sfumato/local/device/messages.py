"""Reports as messages: bytes of a fixed length, whose first five name the format and the recipe."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from .coins import OctetCoins
from .randomizers import Drawn, Recipe, draw

FORMAT = 1
"""The version of messages; a reader refuses any other."""

HEAD = 5
"""How many bytes of a message come before its payload."""


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
