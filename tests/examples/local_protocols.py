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
from sfumato.local.geometry import GeometryResponse
from sfumato.local.one_of import OneOf
from sfumato.local.protocol import LocalProtocol
from sfumato.local.response import Response
from sfumato.local.subsets import SubsetSelection
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


def _geometry(order: int) -> Example:
    return Example(lambda: GeometryResponse(Values(range(5)), Pure(1), order), tuple(range(5)))


def _subsets(size: int) -> Example:
    return Example(lambda: SubsetSelection(Values(range(5)), Pure(1), size), tuple(range(5)))


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
    **{f"geometry response over {order} elements": _geometry(order) for order in (2, 3, 4, 9)},
    **{f"subset selection of {size} of 5": _subsets(size) for size in (2, 4)},
}
"""Every example, by its name."""

SMALL = tuple(name for name in EXAMPLES if ", epsilon" not in name or ", 3 values, epsilon 1" in name)
"""One of each kind, where all would repeat."""
