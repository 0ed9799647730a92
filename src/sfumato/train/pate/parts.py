"""Who teaches whom: every unit is with one teacher, whoever else is there."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from sfumato.guarantee import guarantee
from sfumato.train.people import names_of as people_named

KEY = 32
"""Bytes of the key: as many as BLAKE2b takes well, and more than anybody guesses."""


@guarantee(
    claim="the teacher of a unit is a random function of its name alone: all its rows have one, and nobody else moves",
    proof="proofs/pate.md#parts",
    reviewed="ca41da307ac5",
)
def teacher_of(names: Iterable[bytes], teachers: int, key: bytes) -> NDArray[np.int64]:
    """The teacher of each row by the name of its unit, under a random key."""
    drawn = (int.from_bytes(blake2b(name, key=key, digest_size=16).digest(), "little") for name in names)
    return np.fromiter((number % teachers for number in drawn), dtype=np.int64)


def names_of(people: object, rows: int) -> list[bytes]:
    """The name of each row's unit: that of the person, or, where a row is a unit, its place."""
    return [str(place).encode() for place in range(rows)] if people is None else people_named(people)
