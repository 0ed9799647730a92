"""The exact law of what a device sends: its own code, run once for every way that chance can fall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeVar, final

from sfumato.local.device import REMEMBERING, WHOLE, Memory, Recipe, draw

Seen = TypeVar("Seen")


@final
class EnumeratingCoins:
    """Answers along a script of choices, and from its end on with the first choice that is possible."""

    def __init__(self, script: list[int]) -> None:
        self.script, self.place, self.mass = script, 0, Fraction(1)
        self.widths: list[int] = []

    def _choose(self, masses: list[Fraction]) -> int:
        if self.place == len(self.script):
            self.script.append(0)
        choice = self.script[self.place]
        self.place += 1
        self.widths.append(len(masses))
        self.mass *= masses[choice]
        return choice

    def chance(self, weight: int) -> bool:
        return bool(self._choose([1 - Fraction(weight, WHOLE), Fraction(weight, WHOLE)]))

    def below(self, bound: int) -> int:
        return self._choose([Fraction(1, bound)] * bound)

    def many(self, count: int, weight: int) -> int:
        return sum(self.chance(weight) << place for place in range(count))


def falls_of(act: Callable[[EnumeratingCoins], Seen]) -> Iterator[tuple[Seen, Fraction]]:
    """Every way that chance can fall for something that throws coins, with what it makes and its probability."""
    script: list[int] = []
    while True:
        coins = EnumeratingCoins(script)
        yield act(coins), coins.mass
        while script and script[-1] + 1 == coins.widths[len(script) - 1]:
            script.pop()
        if not script:
            return
        script[-1] += 1


def falls(recipe: Recipe, value: Any) -> Iterator[tuple[tuple[int, int], Fraction]]:
    """The same for a report of a recipe."""
    return falls_of(lambda coins: draw(recipe, value, coins))


def histories_law(recipe: Recipe, values: Sequence[Any]) -> dict[Any, Fraction]:
    """The law of all that a device with a memory sends, given one value after another."""

    def lived(coins: EnumeratingCoins) -> tuple[Any, ...]:
        memory = Memory()
        memory.open(recipe)
        return tuple(REMEMBERING[recipe["kind"]](recipe, value, coins, memory) for value in values)

    law: dict[Any, Fraction] = {}
    for sent, mass in falls_of(lived):
        if mass:
            law[sent] = law.get(sent, Fraction(0)) + mass
    return law


def law_of(recipe: Recipe, value: Any) -> dict[tuple[int, int], Fraction]:
    """The probability of every report on a value, as exact fractions."""
    law: dict[tuple[int, int], Fraction] = {}
    for report, mass in falls(recipe, value):
        if mass:
            law[report] = law.get(report, Fraction(0)) + mass
    return law


def worst_ratio(laws: list[dict[Any, Fraction]]) -> Fraction:
    """The largest ratio of the probabilities of one report on two values; an error where one of them is 0."""
    reports = set().union(*laws)
    return max(max(law[report] for law in laws) / min(law[report] for law in laws) for report in reports)
