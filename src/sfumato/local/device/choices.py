"""Reports that are one of the values, some of them, or a bit for each of them."""

from __future__ import annotations

from typing import Any

from .coins import BITS, Coins
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


@randomizer("subset")
def subset(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """As many bits as stated: that of the value with some chance, and any of the others alike.

    Coins for all others at once come close to the number that is wanted; one after the other is put right then. Given
    how many are set, all sets of so many are alike at every step.
    """
    size, own = recipe["bits"], 1 << value
    others = ((1 << size) - 1) ^ own
    told = coins.chance(recipe["truth"])
    wanted, near = recipe["ones"] - told, (recipe["ones"] << 8) // size << BITS - 8
    drawn = coins.many(size, near) & others
    while (count := drawn.bit_count()) != wanted:
        open_ = drawn if count > wanted else others ^ drawn
        drawn ^= _set_bit(open_, coins.below(open_.bit_count()))
    return 0, drawn | own * told


def _set_bit(word: int, rank: int) -> int:
    """The set bit that so many lower ones are set below."""
    low, high = 0, word.bit_length()
    while high - low > 1:
        middle = (low + high) >> 1
        if (word & ((1 << middle) - 1)).bit_count() <= rank:
            low = middle
        else:
            high = middle
    return 1 << low
