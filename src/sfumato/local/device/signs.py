"""Reports of a sign at a place: which of two values that belong together, and where, in one bit of a public mask."""

from __future__ import annotations

from typing import Any

from .coins import Coins
from .randomizers import Drawn, Recipe, randomizer


@randomizer("signs")
def signs(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A uniform row of a Hadamard matrix, and its entry at the place with the sign of the value, or any bit."""
    row = coins.below(recipe["cells"] >> 1)
    told = coins.chance(recipe["truth"])
    bit = ((row & value >> 1).bit_count() + value) & 1
    return 2 * row + (bit if told else coins.below(2)), 0
