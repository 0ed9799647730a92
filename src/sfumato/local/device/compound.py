"""Reports made of reports: of one of several recipes, or of all of them."""

from __future__ import annotations

from collections.abc import Sequence
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


@randomizer("all of")
def all_of(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A report of each of several recipes."""
    parts = recipe["parts"]
    return 0, written_out(parts, [draw(part, own, coins) for part, own in zip(parts, value, strict=True)])


@randomizer("one true")
def one_true(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A report of each of several recipes: one, drawn by weights, of the value; the others of values made up."""
    drawn, before, reports = coins.below(sum(recipe["weights"])), 0, []
    for weight, options, part, own in zip(recipe["weights"], recipe["options"], recipe["parts"], value, strict=True):
        asked = before <= drawn < before + weight
        reports.append(draw(part, own if asked else coins.below(options), coins))
        before += weight
    return 0, written_out(recipe["parts"], reports)


def written_out(parts: Sequence[Recipe], reports: Sequence[Drawn]) -> int:
    """Reports as bits: for each a bit for each cell, if it has several, and then its bits in a place for each cell."""
    written = first = 0
    for part, (number, bits) in zip(parts, reports, strict=True):
        if part["cells"] > 1:
            written |= 1 << first + number
            first += part["cells"]
        written |= bits << first + number * part["bits"]
        first += part["cells"] * part["bits"]
    return written
