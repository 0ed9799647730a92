"""Reports that are one of the values, or a bit for each of them."""

from __future__ import annotations

from typing import Any

from .coins import Coins
from .randomizers import Drawn, Recipe, randomizer


@randomizer("response")
def response(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """The truth with some chance, else any cell alike."""
    return (int(value) if coins.chance(recipe["truth"]) else coins.below(recipe["cells"])), 0


@randomizer("bits")
def bits(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A bit for each place: 1 with one chance where the value stands, with another elsewhere."""
    others = coins.many(recipe["bits"], recipe["lie"]) & ~(1 << value)
    return 0, others | coins.chance(recipe["truth"]) << value
