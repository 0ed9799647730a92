"""Reports of one of a person's pairs of a key and a number, drawn from as many as everybody seems to have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .coins import WHOLE, Coins
from .domains import Domain, Reader, domain_reader, reader_of
from .randomizers import Drawn, Recipe, draw, randomizer


@randomizer("pairs")
def pairs(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """Draws one of at least ``most`` pairs, rounds its number to an end, and randomizes the key with the end.

    The value is a list of pairs of a key's place and the chance of the high end. Where fewer pairs than ``most`` are
    there, dummies stand for the rest. Options of the part are: low and high of each key, then the dummies.
    """
    drawn = coins.below(max(recipe["most"], len(value)))
    if drawn >= len(value):
        return draw(recipe["part"], 2 * recipe["keys"] + drawn, coins)
    key, high = value[drawn]
    return draw(recipe["part"], 2 * key + coins.chance(high), coins)


@domain_reader("pairs")
def _pairs(domain: Domain, recipe: Recipe) -> Reader:
    """A mapping from keys to numbers between two bounds, or a list of pairs; no key twice."""
    place, bounds = reader_of(domain["pairs"], {"kind": "keys"}), [float(end) for end in recipe["between"]]

    def read(value: Any) -> list[list[int]]:
        listed = list(value.items()) if isinstance(value, Mapping) else value
        if not isinstance(listed, list | tuple) or not all(isinstance(o, list | tuple) and len(o) == 2 for o in listed):
            raise ValueError("the value must be a mapping from keys to numbers, or a list of pairs of both")
        given = [[place(key), high_chance(number, *bounds)] for key, number in listed]
        if len({key for key, _ in given}) < len(given):
            raise ValueError("the value must have no key twice")
        return given

    return read


def high_chance(number: Any, low: float, high: float) -> int:
    """The chance, over 2⁵³, with which a number between two bounds is rounded to the higher one, without bias.

    >>> high_chance(25, 0, 100) / WHOLE
    0.25
    """
    if isinstance(number, bool) or not isinstance(number, int | float) or not low <= number <= high:
        raise ValueError(f"each number must be between {low} and {high}: cut it to them if it may be outside")
    return math.floor((number - low) / (high - low) * WHOLE)
