"""Reports of vectors: one of a few public random directions, more likely one that points as the vector does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .coins import BITS, Coins
from .domains import Domain, Reader, domain_reader
from .randomizers import Drawn, Recipe, randomizer

_STEP = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1

LARGEST = 1e300
"""Numbers beyond it are taken for faults."""


def mixed_word(key: int, place: int) -> int:
    """The ``place``-th word of a public stream of 64-bit words (SplitMix64, Steele, Lea and Flood 2014)."""
    word = (key + (place + 1) * _STEP) & _MASK
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _MASK
    return word ^ word >> 31


def direction(key: int, cell: int, size: int) -> list[float]:
    """The direction of a cell: normal numbers, two at a time from two words (Box and Muller 1958)."""
    pairs, entries = (size + 1) >> 1, []
    for pair in range(pairs):
        at = 2 * (cell * pairs + pair)
        length = math.sqrt(-2 * math.log(((mixed_word(key, at) >> 11) + 1) / (1 << BITS)))
        angle = 2 * math.pi * ((mixed_word(key, at + 1) >> 11) / (1 << BITS))
        entries += [length * math.cos(angle), length * math.sin(angle)]
    return entries[:size]


def nearest(recipe: Recipe, vector: Sequence[float], group: int) -> list[int]:
    """The numbers of the directions of a group that point most as the vector does."""
    several, size = recipe["directions"], recipe["size"]
    scores = []
    for number in range(several):
        total = 0.0
        for one, two in zip(direction(recipe["key"], group * several + number, size), vector, strict=True):
            total += one * two
        scores.append(total)
    return sorted(range(several), key=lambda number: (-scores[number], number))[: recipe["near"]]


@randomizer("directions")
def directions(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A uniform group of directions, and one of its nearest with some chance, else one of the others.

    A vector shorter than 1 is turned round with a chance that makes it right on average. Whatever directions are taken
    for the nearest, there are equally many: the loss rests on that alone.
    """
    vector, weight = value
    several, near = recipe["directions"], recipe["near"]
    group = coins.below(recipe["cells"] // several)
    pointing = list(vector) if coins.chance(weight) else [-entry for entry in vector]
    chosen = nearest(recipe, pointing, group)
    if coins.chance(recipe["truth"]):
        number = chosen[coins.below(near)]
    else:
        inside = set(chosen)
        number = [other for other in range(several) if other not in inside][coins.below(several - near)]
    return group * several + number, 0


@domain_reader("vector")
def _vector(domain: Domain, recipe: Recipe) -> Reader:
    """A list of so many finite numbers; a longer vector than the radius is shortened to it."""
    size, radius = domain["vector"]["size"], domain["vector"]["radius"]
    return lambda value: read_vector(value, size, radius)


def read_vector(vector: Any, size: int, radius: float) -> list[Any]:
    """The vector over its own largest entry, and the weight with which it is not turned round."""
    good = isinstance(vector, list | tuple) and len(vector) == size
    if not good or not all(_finite(entry) for entry in vector):
        raise ValueError(f"the value must be a list of {size} finite numbers")
    largest = float(max(abs(entry) for entry in vector))
    if largest == 0:
        return [[0.0] * size, 1 << (BITS - 1)]
    scaled, squares = [float(entry) / largest for entry in vector], 0.0
    for entry in scaled:
        squares += entry * entry
    share = min(1.0, math.sqrt(squares) * (largest / radius))
    return [scaled, math.floor((1 + share) * (1 << (BITS - 1)))]


def _finite(entry: Any) -> bool:
    return isinstance(entry, int | float) and not isinstance(entry, bool) and abs(entry) <= LARGEST
