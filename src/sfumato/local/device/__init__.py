"""What runs on the device: turns one value into one report, in pure Python, without any other package.

A *recipe* is what a protocol publishes for devices: a plain dictionary of texts and whole numbers, the same for
everyone (`Protocol.recipe`). A report is a short message of a fixed length: a byte for the format, four that name the
recipe, and the payload: a whole number, some bits, or both. All chances are multiples of 2⁻⁵³, so that a comparison of
whole numbers decides every coin exactly; randomness comes from the function that is given (``os.urandom`` does).

    >>> import os
    >>> recipe = {"kind": "response", "cells": 4, "bits": 0, "truth": 1 << 52}
    >>> len(message(recipe, 3, octets=os.urandom))
    6

The folder stands alone: it can be copied to a device. Its twin in JavaScript is the one file `device.js`.
"""

# Their randomizers enter themselves.
from . import again, answers, choices, codes, compound, directions, pairs, sets, signs, sketches, spellings, steps
from .again import REMEMBERING, VIEWS
from .client import Client
from .codes import field_tables
from .coins import BITS, WHOLE, Coins, OctetCoins
from .directions import LARGEST, read_vector
from .domains import DOMAINS, Domain, Reader, domain_reader, reader_of
from .memory import MEMORY_FORMAT, Memory
from .messages import FORMAT, HEAD, message, number_size, packed, tag
from .randomizers import KINDS, Drawn, Recipe, draw, randomizer
from .texts import FIELDS, LONGEST_TEXT, row_bucket, text_bucket

__all__ = [
    "BITS",
    "DOMAINS",
    "FIELDS",
    "FORMAT",
    "HEAD",
    "KINDS",
    "LARGEST",
    "LONGEST_TEXT",
    "MEMORY_FORMAT",
    "REMEMBERING",
    "VIEWS",
    "WHOLE",
    "Client",
    "Coins",
    "Domain",
    "Drawn",
    "Memory",
    "OctetCoins",
    "Reader",
    "Recipe",
    "again",
    "answers",
    "choices",
    "codes",
    "compound",
    "directions",
    "domain_reader",
    "draw",
    "field_tables",
    "message",
    "number_size",
    "packed",
    "pairs",
    "randomizer",
    "read_vector",
    "reader_of",
    "row_bucket",
    "sets",
    "signs",
    "sketches",
    "spellings",
    "steps",
    "tag",
    "text_bucket",
]
