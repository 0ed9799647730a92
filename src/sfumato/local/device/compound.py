"""Reports made of reports: of one of several recipes."""

from __future__ import annotations

from typing import Any

from .coins import Coins
from .randomizers import Drawn, Recipe, draw, randomizer


@randomizer("one of")
def one_of(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A report of one of several recipes, drawn by their weights; its cells come after those of the recipes before."""
    drawn, first = coins.below(sum(recipe["weights"])), 0
    for weight, part, own in zip(recipe["weights"], recipe["parts"], value, strict=True):
        if drawn < weight:
            number, bits = draw(part, own, coins)
            return first + number, bits
        drawn, first = drawn - weight, first + part["cells"]
    raise AssertionError("the number drawn is below the sum of the weights")
