"""Reports on numbers, which stand on public equidistant places or in public buckets."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .coins import WHOLE, Coins
from .domains import Domain, Reader, domain_reader, reader_of
from .randomizers import Drawn, Recipe, randomizer


@randomizer("slope")
def slope(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A 1 with a chance that rises by the same step from each place to the next, else a 0."""
    return int(coins.chance(recipe["low"] + recipe["step"] * value)), 0


@randomizer("window")
def window(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """With some chance a cell of the window that begins at stride · place, else any cell; all alike."""
    if coins.chance(recipe["truth"]):
        return recipe["stride"] * value + coins.below(recipe["width"]), 0
    return coins.below(recipe["cells"]), 0


_PLACES = {
    "slope": lambda recipe: (WHOLE - 2 * recipe["low"]) // recipe["step"] + 1,
    "window": lambda recipe: (recipe["cells"] - recipe["width"]) // recipe["stride"] + 1,
}
"""How many places a recipe has, for kinds where it says so."""


def number_place(value: float, low: float, high: float, steps: int) -> int:
    """The place nearest to a number on a grid of ``steps`` steps; what lies outside of it stands at its nearer end.

    These are the operations of binary64 arithmetic in this order, in every language: a device in JavaScript finds the
    same place, to the last bit.
    """
    inside = min(max(value, low), high)
    return math.floor((inside - low) * steps / (high - low) + 0.5)


def number_bucket(value: float, low: float, high: float, count: int) -> int:
    """The bucket of a number, of ``count`` equally wide ones; the last one has its upper end too."""
    inside = min(max(value, low), high)
    return min(math.floor((inside - low) * count / (high - low)), count - 1)


def read_number(value: Any) -> float:
    """A number as binary64 arithmetic has it; refuses NaN, which stands nowhere, and what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ValueError("the value must be a number, and not NaN")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _reader(entry: Domain, count: int, places: int, recipe: Recipe, find: Callable[..., int]) -> Reader:
    low, high = float(entry["low"]), float(entry["high"])
    counted = _PLACES.get(recipe["kind"])
    if counted is not None and counted(recipe) != places:
        raise ValueError("the grid of numbers does not have the length that the recipe states")
    return lambda value: find(read_number(value), low, high, count)


@domain_reader("numbers")
def _numbers(domain: Domain, recipe: Recipe) -> Reader:
    """The nearest of equidistant places from one bound to the other."""
    steps = domain["numbers"]["steps"]
    return _reader(domain["numbers"], steps, steps + 1, recipe, number_place)


@domain_reader("buckets")
def _buckets(domain: Domain, recipe: Recipe) -> Reader:
    """The bucket of a number, of equally wide ones from one bound to the other."""
    count = domain["buckets"]["count"]
    return _reader(domain["buckets"], count, count, recipe, number_bucket)


@domain_reader("same")
def _same(domain: Domain, recipe: Recipe) -> Reader:
    """One value, which all parts of a recipe are asked about."""
    readers = [reader_of(domain["same"], part) for part in recipe["parts"]]
    return lambda value: [reader(value) for reader in readers]
