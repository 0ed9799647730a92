"""Reports over time: of those whose turn it is, and of one change of many."""

from __future__ import annotations

from typing import Any

from .again import remembering
from .coins import Coins
from .domains import Domain, Reader, domain_reader, reader_of
from .memory import Memory
from .randomizers import Drawn, Recipe, draw, randomizer


@randomizer("in turn")
def in_turn(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A report in a step of time, of somebody whose turn it is: the turn, and a report of another recipe."""
    step, own = value
    number, bits = draw(recipe["of"], own, coins)
    return step % recipe["turns"] * recipe["of"]["cells"] + number, bits


@remembering("in turn")
def in_turn_remembered(recipe: Recipe, value: Any, coins: Coins, memory: Memory) -> Drawn | None:
    """The same in the turn that the device has drawn once, nothing in others; asked again, the same report again."""
    step, _ = value
    turn = memory.number("turn", recipe["turns"], lambda: coins.below(recipe["turns"]))
    if step % recipe["turns"] != turn:
        return None
    last = memory.recall("step")
    if last is not None and int(last) > step:
        raise ValueError("steps go forward: the device has reported in a later one already")
    if last != str(step):
        number, bits = in_turn(recipe, value, coins)
        memory.keep("step", str(step))
        memory.keep("sent", f"{number} {bits}")
    return memory.report_of(recipe, "sent")


@domain_reader("in steps")
def _in_steps(domain: Domain, recipe: Recipe) -> Reader:
    """A pair of a step of time, a whole number, and a value."""
    inner = reader_of(domain["in steps"], recipe["of"])

    def read(value: Any) -> list[Any]:
        if not isinstance(value, list | tuple) or len(value) != 2 or type(value[0]) is not int:
            raise ValueError("the value must be a pair: the step, a whole number from 0 on, and the value in it")
        if not 0 <= value[0] < 1 << 53:
            raise ValueError("the value must be a pair: the step, a whole number from 0 on, and the value in it")
        return [value[0], inner(value[1])]

    return read


@randomizer("tracked")
def tracked(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A history of bits, through one change of it: a level, and a sign for each stretch of 2^level steps that ended.

    The sign is that of the kept change, with some chance more than the other, where it lies in the stretch, and a fair
    coin elsewhere.
    """
    level, kept = coins.below(recipe["cells"]), coins.below(recipe["changes"])
    return level, _signs(recipe, value, coins, (level, kept), 0, 0)


@remembering("tracked")
def tracked_remembered(recipe: Recipe, value: Any, coins: Coins, memory: Memory) -> Drawn:
    """The same; what was drawn for stretches that ended earlier stays, and the history must go on as it began."""
    level = memory.number("level", recipe["cells"], lambda: coins.below(recipe["cells"]))
    kept = memory.number("kept", recipe["changes"], lambda: coins.below(recipe["changes"]))
    past, history = memory.recall("history") or "", "".join(str(bit) for bit in value)
    if not history.startswith(past):
        raise ValueError("the history must go on from the one that was reported: what was reported cannot change")
    signs = memory.report_of(recipe, "signs")[1] if past else 0
    signs = _signs(recipe, value, coins, (level, kept), len(past) >> level, signs)
    memory.keep("history", history)
    memory.keep("signs", f"{level} {signs}")
    return level, signs


def _signs(recipe: Recipe, history: Any, coins: Coins, chosen: tuple[int, int], start: int, signs: int) -> int:
    """Adds signs of the stretches that have ended, from one on, to those that were drawn."""
    level, kept = chosen
    changes = [step for step, bit in enumerate(history) if bit != (history[step - 1] if step else 0)]
    where = changes[kept] >> level if kept < len(changes) else -1
    for stretch in range(start, len(history) >> level):
        if stretch == where:
            rises = history[changes[kept]]
            signs |= (coins.chance(recipe["truth"]) == bool(rises)) << stretch
        else:
            signs |= coins.below(2) << stretch
    return signs


@domain_reader("history")
def _history(domain: Domain, recipe: Recipe) -> Reader:
    """A list of 0 and 1 (or false and true), one for each step so far."""
    longest = domain["history"]["longest"]

    def read(value: Any) -> list[int]:
        bits = value if isinstance(value, list | tuple) else None
        if (
            bits is None
            or not 0 < len(bits) <= longest
            or not all(type(b) in (int, bool) and b in (0, 1) for b in bits)
        ):
            raise ValueError(f"the value must be a history: 1 to {longest} of 0 and 1, one for each step so far")
        return [int(bit) for bit in bits]

    return read
