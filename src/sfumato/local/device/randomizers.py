"""How a report is drawn, by the kind of its recipe; kinds that need nothing of each other are each in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from .coins import Coins

Recipe: TypeAlias = Mapping[str, Any]
Drawn: TypeAlias = tuple[int, int]
"""The whole number of a report and its bits, as a whole number too (bit i has weight 2^i); 0 where there is none."""
Randomizer: TypeAlias = Callable[[Recipe, Any, Coins], Drawn]

KINDS: dict[str, Randomizer] = {}
"""How a report is drawn, by the kind of recipe."""


def randomizer(kind: str) -> Callable[[Randomizer], Randomizer]:
    """Enters a function into `KINDS`."""

    def enter(function: Randomizer) -> Randomizer:
        KINDS[kind] = function
        return function

    return enter


def draw(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """Draws one report: its whole number and its bits."""
    return KINDS[recipe["kind"]](recipe, value, coins)
