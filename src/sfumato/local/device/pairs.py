"""Reports of one of a person's pairs of a key and a number, drawn from as many as everybody seems to have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .coins import Coins
from .domains import Domain, Reader, domain_reader, reader_of
from .randomizers import Drawn, Recipe, draw, randomizer


@randomizer("pairs")
def pairs(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """Draws one of at least ``most`` pairs, rounds its number to an end, and randomizes the key with the end.

    The value is a list of pairs of a key's place and a number of steps. Where fewer pairs than ``most`` are there,
    dummies stand for the rest. Options of the part are: low and high of each key, then the dummies.
    """
    keys, steps, most = recipe["keys"], recipe["steps"], recipe["most"]
    drawn = coins.below(max(most, len(value)))
    if drawn >= len(value):
        return draw(recipe["part"], 2 * keys + drawn, coins)
    key, number = value[drawn]
    return draw(recipe["part"], 2 * key + (coins.below(steps) < number), coins)


@domain_reader("pairs")
def _pairs(domain: Domain, recipe: Recipe) -> Reader:
    """A mapping from keys to numbers between two bounds, or a list of pairs; no key twice."""
    place, (low, high), steps = reader_of(domain["pairs"], {"kind": "keys"}), domain["between"], recipe["steps"]

    def read(value: Any) -> list[list[int]]:
        listed = list(value.items()) if isinstance(value, Mapping) else value
        if not isinstance(listed, list | tuple) or not all(isinstance(o, list | tuple) and len(o) == 2 for o in listed):
            raise ValueError("the value must be a mapping from keys to numbers, or a list of pairs of both")
        read_pairs = [[place(key), number_of_steps(number, low, high, steps)] for key, number in listed]
        if len({key for key, _ in read_pairs}) < len(read_pairs):
            raise ValueError("the value must have no key twice")
        return read_pairs

    return read


def number_of_steps(number: Any, low: float, high: float, steps: int) -> int:
    """The nearest of so many equal steps from one bound to the other."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not low <= number <= high:
        raise ValueError(f"each number must be between {low} and {high}: cut it to them if it may be outside")
    return math.floor((number - low) / (high - low) * steps + 0.5)
