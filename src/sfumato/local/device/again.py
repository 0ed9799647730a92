"""Reports in two stages: a permanent one of each value, which a device remembers, randomized anew for each message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from .codes import inner_product, point_of
from .coins import Coins
from .memory import Memory
from .randomizers import Drawn, Recipe, draw, randomizer
from .texts import text_bucket

Remembering: TypeAlias = Callable[[Recipe, Any, Coins, Memory], "Drawn | None"]
REMEMBERING: dict[str, Remembering] = {}
"""How a report is drawn on a device with a memory, by the kind of recipe; None where there is nothing to send now."""

View: TypeAlias = Callable[[Recipe, int, Any], Any]
VIEWS: dict[str, View] = {}
"""What is left of a value under a public choice that a device has made once, by the recipe's entry ``view``."""


def remembering(kind: str) -> Callable[[Remembering], Remembering]:
    """Enters a function into `REMEMBERING`."""

    def enter(function: Remembering) -> Remembering:
        REMEMBERING[kind] = function
        return function

    return enter


def view(name: str) -> Callable[[View], View]:
    """Enters a function into `VIEWS`."""

    def enter(function: View) -> View:
        VIEWS[name] = function
        return function

    return enter


@randomizer("twice")
def twice(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A report of the permanent recipe, given to the instant one."""
    return draw(recipe["instant"], draw(recipe["permanent"], value, coins), coins)


@remembering("twice")
def twice_remembered(recipe: Recipe, value: Any, coins: Coins, memory: Memory) -> Drawn:
    """The same, with the permanent report of the first time."""
    return draw(recipe["instant"], _permanent(recipe["permanent"], value, coins, memory), coins)


def _permanent(recipe: Recipe, value: Any, coins: Coins, memory: Memory) -> Drawn:
    if recipe["kind"] != "settled":
        return memory.report(recipe, value, lambda: draw(recipe, value, coins))
    own = recipe["of"]
    choice = memory.number("choice", recipe["choices"], lambda: coins.below(recipe["choices"]))
    seen = VIEWS[recipe["view"]](recipe, choice, value)
    number, bits = memory.report(own, seen, lambda: draw(own, seen, coins))
    return int(choice * own["cells"] + number), bits


@randomizer("settled")
def settled(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A public choice, and a report on what it leaves of the value; a device with a memory makes the choice once."""
    choice = coins.below(recipe["choices"])
    number, bits = draw(recipe["of"], VIEWS[recipe["view"]](recipe, choice, value), coins)
    return choice * recipe["of"]["cells"] + number, bits


@view("hashed")
def hashed_view(recipe: Recipe, choice: int, value: Any) -> int:
    """The bucket of a place: its point's inner product with the seed that was chosen."""
    return inner_product(recipe, choice, point_of(recipe["order"], value)[0])


@view("window")
def window_view(recipe: Recipe, choice: int, value: Any) -> Drawn:
    """A bit for each place of a window that begins at the choice and goes round: 1 where the value stands."""
    place = (value - choice) % recipe["choices"]
    return 0, 1 << place if place < recipe["of"]["bits"] else 0


@view("filter")
def filter_view(recipe: Recipe, choice: int, value: Any) -> Drawn:
    """A Bloom filter: the bits that the hash functions of the cohort put a text to."""
    bits, hashes = recipe["of"]["bits"], recipe["hashes"]
    filled = 0
    for row in range(choice * hashes, (choice + 1) * hashes):
        filled |= 1 << text_bucket(recipe["key"], row, value, bits)
    return 0, filled


@randomizer("same again")
def same_again(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """The report that is given, as it is."""
    number, bits = value
    return number, bits


@randomizer("bits again")
def bits_again(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """Each bit of a report anew: 1 with one chance where it was 1, with another where it was 0."""
    number, bits = value
    ones = coins.many(recipe["bits"], recipe["truth"])
    return number, bits & ones | ~bits & coins.many(recipe["bits"], recipe["lie"])


@randomizer("number again")
def number_again(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """The number of a report anew, within its block of options: itself with some chance, else any of them alike."""
    number, bits = value
    options = recipe["options"]
    kept = coins.chance(recipe["truth"])
    return (number if kept else number - number % options + coins.below(options)), bits
