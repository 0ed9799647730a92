"""Reports by linear codes: a value is a point over a finite field, and a public seed maps it to a bucket."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .coins import Coins
from .randomizers import Drawn, Recipe, randomizer


@lru_cache(maxsize=16)
def field_tables(prime: int, polynomial: int) -> tuple[list[int], list[int]]:
    """Sums and products of a finite field, row by row: its elements are polynomials, written as digits in base prime.

    The modulus is written the same way, with its leading 1: x² + x + 1 over two elements is 7.
    """
    order = 1
    while order * prime <= polynomial:
        order *= prime
    places = [prime**at for at in range(order.bit_length()) if prime**at < order]

    def plus(one: int, two: int) -> int:
        return sum((one // place + two // place) % prime * place for place in places)

    def scaled(one: int, by: int) -> int:
        return sum(one // place * by % prime * place for place in places)

    minus, products = scaled(polynomial % order, prime - 1), []
    for left in range(order):
        row = [0]
        for right in range(1, order):
            high, low = divmod(row[right // prime] * prime, order)
            row.append(plus(plus(low, scaled(minus, high)), scaled(left, right % prime)))
        products += row
    return [plus(one, two) for one in range(order) for two in range(order)], products


def point_of(order: int, place: int) -> tuple[int, int]:
    """The code of a value, whose digits are a 1 and any lower ones, and the weight of the 1: order^j."""
    block = 1
    while place >= block:
        place -= block
        block *= order
    return place + block, block


def inner_product(recipe: Recipe, left: int, right: int) -> int:
    """The inner product of two rows of digits over the field of a recipe."""
    order, prime, total = recipe["order"], recipe["prime"], 0
    if order == prime:
        while right:
            left, one = divmod(left, order)
            right, two = divmod(right, order)
            total += one * two
        return int(total % order)
    sums, products = field_tables(prime, recipe["polynomial"])
    while right:
        left, one = divmod(left, order)
        right, two = divmod(right, order)
        total = sums[total * order + products[one * order + two]]
    return total


@randomizer("hashed")
def hashed(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A uniform seed, and what it hashes the value to with some chance, else any bucket alike."""
    order = recipe["order"]
    seed = coins.below(recipe["cells"] // order)
    told = coins.chance(recipe["truth"])
    return seed * order + (inner_product(recipe, seed, point_of(order, value)[0]) if told else coins.below(order)), 0


@randomizer("plane")
def plane(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A point whose entry at the place of the value is the inner product of its later ones with the value's code.

    That is so for all points of a hyperplane: one of them is drawn with some chance, else one of all other points. A
    point is a row of digits whose highest that is not 0 is 1.
    """
    order, cells = recipe["order"], recipe["cells"]
    code, block = point_of(order, value)
    inside, outside = (cells - 1) // order, cells - (cells - 1) // order
    below = outside // block  # the weight of the entry at the place of the value
    if coins.chance(recipe["truth"]):
        later, low = divmod(point_of(order, coins.below(inside))[0], below)
        more = 0
    else:
        drawn, low = divmod(coins.below(outside), below)
        later, more = (
            (point_of(order, (drawn - 1) // (order - 1))[0], (drawn - 1) % (order - 1) + 1) if drawn else (0, 1)
        )
    entry = _sum(recipe, inner_product(recipe, later, code), more)
    return _place_of(order, low + below * (entry + order * later)), 0


def _sum(recipe: Recipe, one: int, two: int) -> int:
    if recipe["order"] == recipe["prime"]:
        return int((one + two) % recipe["order"])
    return field_tables(recipe["prime"], recipe["polynomial"])[0][int(one * recipe["order"] + two)]


def _place_of(order: int, code: int) -> int:
    """The place of a point: `point_of` the other way round."""
    place, block = 0, 1
    while code >= block * order:
        place += block
        block *= order
    return place + code - block


@randomizer("hadamard")
def hadamard(recipe: Recipe, value: Any, coins: Coins) -> Drawn:
    """A row of bits, any of those that have an even number in common with the code of the value, or an odd one."""
    code, block = point_of(2, value)
    drawn = coins.below(recipe["cells"])
    odd = not coins.chance(recipe["truth"])
    return (drawn if (drawn & code).bit_count() & 1 == odd else drawn ^ block), 0
