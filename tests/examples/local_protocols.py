"""Small protocols of every kind, with values that together show the worst that a report can tell.

Whatever is listed here is held to its loss by enumeration, read back from messages, added up over shards, and drawn by
the twin in JavaScript: `tests/exact/test_local.py`, `tests/unit/local/test_every_protocol.py`. A test asks for at least
one example of every protocol of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.accounting.losses.measures import Pure
from sfumato.local.choosing import CANDIDATES
from sfumato.local.dithered import DitheredMean
from sfumato.local.hybrid import HybridMean
from sfumato.local.numbers import Buckets, Numbers
from sfumato.local.one_of import OneOf
from sfumato.local.piecewise import PiecewiseMean
from sfumato.local.protocol import LocalProtocol
from sfumato.local.response import Response
from sfumato.local.square_wave import SquareWave
from sfumato.local.two_valued import TwoValuedMean
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values

SIZES = (2, 3, 5)
LOSSES = ("0.01", "1", "2.5", "8")


@dataclass(frozen=True)
class Example:
    """A protocol, values between which its loss is reached, and how a column of many people's values is made of them.

    ``slack`` is the share of the claimed loss that may not be reached: nearly none, but where a bound is not tight.
    """

    build: Callable[[], LocalProtocol[Any]]
    values: tuple[Any, ...]
    column: Callable[[list[Any]], Any] = list
    slack: Fraction = Fraction(1, 10**6)


def _frequency(name: str, size: int, epsilon: str) -> Example:
    return Example(lambda: CANDIDATES[name](Values(range(size)), Pure(Fraction(epsilon))), tuple(range(size)))


def _columns(rows: list[Any]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _one_of() -> LocalProtocol[Any]:
    yes = Values(["yes", "no"])
    parts = (Response(yes, Pure(1)), UnaryEncoding.optimized(Values(range(3)), Pure(2)), Response(yes, Pure("0.5")))
    return OneOf(parts, (2, 3, 1))


def _numbers(build: Callable[[Numbers, Pure], LocalProtocol[Any]], steps: int, epsilon: str) -> Example:
    grid = Numbers(-1, 1, steps)
    places = tuple(float(grid.point(place)) for place in range(steps + 1))
    return Example(lambda: build(grid, Pure(Fraction(epsilon))), places)


def _buckets(count: int, epsilon: str) -> Example:
    buckets = Buckets(0, 10, count)
    return Example(lambda: SquareWave(buckets, Pure(Fraction(epsilon))), tuple(buckets.edges[:-1].tolist()))


MEANS: dict[str, Callable[[Numbers, Pure], LocalProtocol[Any]]] = {
    "two-valued mean": TwoValuedMean,
    "piecewise mean": PiecewiseMean,
    "hybrid mean": lambda grid, loss: HybridMean(grid, loss, (2, 3)),
    "dithered mean of 2 levels": lambda grid, loss: DitheredMean(grid, loss, 2),
    "dithered mean of 3 levels": lambda grid, loss: DitheredMean(grid, loss, 3),
    "dithered mean of 5 levels": lambda grid, loss: DitheredMean(grid, loss, 5),
}
NUMBERS: dict[str, Example] = {
    **{
        f"{name}, {steps + 1} values, epsilon {epsilon}": _numbers(build, steps, epsilon)
        for name, build in MEANS.items()
        for steps in (1, 2, 4, 7)
        for epsilon in LOSSES
    },
    **{
        f"square wave, {count} values, epsilon {epsilon}": _buckets(count, epsilon)
        for count in (2, 3, 8)
        for epsilon in LOSSES
    },
}
"""Means and distributions of numbers."""

EXAMPLES: dict[str, Example] = {
    **{
        f"{name}, {size} values, epsilon {epsilon}": _frequency(name, size, epsilon)
        for name in CANDIDATES
        for size in SIZES
        for epsilon in LOSSES
    },
    "one of three questions": Example(
        _one_of,
        tuple((yes, count, other) for yes in ("yes", "no") for count in range(3) for other in ("yes", "no")),
        _columns,
    ),
    **NUMBERS,
}
"""Every example, by its name."""

SMALL = tuple(name for name in EXAMPLES if ", epsilon" not in name or ", 3 values, epsilon 1" in name)
"""One of each kind, where all would repeat."""
