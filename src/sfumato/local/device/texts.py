"""A public family of hash functions of texts, for domains that nobody can list."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from .domains import Domain, Reader, domain_reader
from .randomizers import Recipe

LONGEST_TEXT = 1 << 16
"""Letters of a text that is hashed; a longer one is no value of anybody."""

FIELDS = 16
"""How many rows of a sketch one digest serves, two bytes for each."""


def text_bucket(key: str, row: int, text: str, buckets: int) -> int:
    """The bucket, of a number that is a power of 2, into which function ``row`` of the family ``key`` puts a text.

    It is the lowest bits of the first 8 bytes of SHA-256 of [key, row, text] as JSON, in ASCII and without blanks. A
    report's loss rests on nothing of it: only that estimates are unbiased supposes that it looks random.

    >>> text_bucket("words", 0, "hello", 16), text_bucket("words", 1, "hello", 16)
    (0, 5)
    """
    return int.from_bytes(_digest(key, row, text)[:8], "little") & (buckets - 1)


def row_bucket(key: str, row: int, text: str, buckets: int) -> int:
    """The bucket of a text in a row of a sketch: of at most 2¹⁶ buckets, of which one digest holds those of 16 rows.

    Row 16 b + i has the lowest bits of the i-th two bytes of the digest that `text_bucket` has for b.

    >>> [row_bucket("words", row, "hello", 16) for row in (0, 2, 16)]
    [0, 4, 5]
    """
    block, place = divmod(row, FIELDS)
    return int.from_bytes(_digest(key, block, text)[2 * place : 2 * place + 2], "little") & (buckets - 1)


def _digest(key: str, row: int, text: str) -> bytes:
    stated = json.dumps([key, row, text], separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(stated.encode()).digest()


@domain_reader("texts")
def _texts(domain: Domain, recipe: Recipe) -> Reader:
    """Any text of at most so many letters (UTF-16 units, as JavaScript counts them)."""
    longest = domain["texts"]["longest"]

    def read(value: Any) -> str:
        if not isinstance(value, str) or len(value.encode("utf-16-le", "surrogatepass")) > 2 * longest:
            raise ValueError(f"the value must be a text of at most {longest} letters")
        return value

    return read
