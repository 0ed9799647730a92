"""Reports on texts that nobody can list: a public row, and a report of the bucket that the text falls into there."""

from __future__ import annotations

from typing import Any

from .coins import Coins
from .randomizers import Drawn, Recipe, draw, randomizer
from .texts import row_bucket


@randomizer("rows")
def rows(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A uniform row, and a report of the bucket of a text in it; the cells of the rows follow each other."""
    return _in_row(recipe, coins.below(recipe["rows"]), value, coins)


@randomizer("prefixes")
def prefixes(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """The same, where each length of prefixes has so many rows of its own, and a prefix is what falls into a bucket."""
    row = coins.below(recipe["rows"] * len(recipe["lengths"]))
    return _in_row(recipe, row, value[: recipe["lengths"][row // recipe["rows"]]], coins)


def _in_row(recipe: Recipe, row: int, text: str, coins: Coins) -> Drawn:
    part = recipe["part"]
    number, bits = draw(part, row_bucket(recipe["key"], row, text, recipe["buckets"]), coins)
    return row * part["cells"] + number, bits


@randomizer("sign")
def sign(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A uniform column of a Hadamard matrix, but the constant one, and its entry in a row: 0 or 1, told or turned."""
    column = coins.below(recipe["cells"] >> 1)
    entry = (value & (column + 1)).bit_count() & 1
    return 2 * column + (entry if coins.chance(recipe["truth"]) else 1 - entry), 0
