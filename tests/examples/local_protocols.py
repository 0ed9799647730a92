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
from sfumato.local.dbitflip import dbitflip
from sfumato.local.hashing import LocalHashing
from sfumato.local.memoised import loloha, memoised
from sfumato.local.one_of import OneOf
from sfumato.local.protocol import LocalProtocol
from sfumato.local.rappor import Rappor, rappor
from sfumato.local.response import Response
from sfumato.local.stages import BitsAgain
from sfumato.local.tracked import tracked
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values
from sfumato.local.vectors import VectorMean
from sfumato.local.windowed import Windowed

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


def _turn_columns(rows: list[Any]) -> list[Any]:
    steps, answers = zip(*rows, strict=True)
    return [list(steps), _columns(list(answers))]


def _one_of() -> LocalProtocol[Any]:
    yes = Values(["yes", "no"])
    parts = (Response(yes, Pure(1)), UnaryEncoding.optimized(Values(range(3)), Pure(2)), Response(yes, Pure("0.5")))
    return OneOf(parts, (2, 3, 1))


def _three() -> Values:
    return Values(["a", "b", "c"])


def apart(protocol: Rappor, count: int = 2) -> tuple[str, ...]:
    """Texts whose filters in the first cohort have all their bits for themselves: the worst that a report can tell."""
    texts: list[str] = []
    taken: set[int] = set()
    for number in range(10_000):
        own = set(protocol.filled(str(number), 0))
        if len(own) == protocol.hashes and not own & taken and len(texts) < count:
            texts.append(str(number))
            taken |= own
    return tuple(texts)


def _small_rappor() -> Rappor:
    return rappor(lifetime=3, report=1, bits=2, hashes=1, cohorts=2)


def _one_time_rappor() -> Rappor:
    return Rappor.published(f=Fraction(1, 4), bits=4, hashes=2, cohorts=2)


def _histories() -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(number >> step & 1 for step in range(4)) for number in range(16))


def _in_turns() -> LocalProtocol[Any]:
    return Windowed(OneOf((Response(_three(), Pure(1)), UnaryEncoding.optimized(_three(), Pure(1)))), 3)


AGAIN: dict[str, Example] = {
    "remembered response": Example(lambda: memoised(Response(_three(), Pure(2)), report=1), ("a", "b", "c")),
    "remembered response, the same again": Example(lambda: memoised(Response(_three(), Pure(2))), ("a", "b", "c")),
    "remembered bits": Example(lambda: memoised(UnaryEncoding.optimized(_three(), Pure(2)), report=1), ("a", "b", "c")),
    "basic RAPPOR": Example(lambda: rappor(["a", "b"], lifetime=3, report=1), ("a", "b")),
    "longitudinal hashing": Example(lambda: loloha(range(4), lifetime=2, report="0.5", buckets=3), tuple(range(4))),
    "two buckets": Example(lambda: loloha(range(4), lifetime=3, report=1, buckets=2), tuple(range(4))),
    "remembered hashing, the same again": Example(
        lambda: memoised(LocalHashing(Values(range(4)), Pure(1), 4)), tuple(range(4))
    ),
    "bits of a window": Example(lambda: dbitflip(range(5), bits=2, lifetime=2), tuple(range(5))),
    "bits of a window, anew": Example(lambda: dbitflip(range(4), bits=2, lifetime=2, report=1), tuple(range(4))),
    "one bit of a window": Example(lambda: dbitflip(range(3), bits=1, lifetime=2, report=1), tuple(range(3))),
    "all bits, remembered": Example(lambda: dbitflip(range(3), bits=3, lifetime=1), tuple(range(3))),
    "RAPPOR": Example(_small_rappor, apart(_small_rappor())),
    "one-time RAPPOR": Example(_one_time_rappor, apart(_one_time_rappor())),
    "RAPPOR with other coins": Example(
        lambda: Rappor(2, 1, 1, 3 << 51, BitsAgain(3 << 51, 1 << 50)), apart(Rappor(2, 1, 1, 3 << 51))
    ),
    "in turns": Example(_in_turns, tuple((4, (one, two)) for one in "abc" for two in "abc"), _turn_columns),
    "a change of two": Example(lambda: tracked(steps=4, changes=2, loss=1), _histories()),
    "a change of one": Example(lambda: tracked(steps=3, changes=1, loss=3), _histories()),
}
"""Protocols for people who are asked again and again."""


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
    **AGAIN,
    "vectors of two entries": Example(
        lambda: VectorMean(2, Fraction(1), Pure(2), 3, 5, 2, 11),
        ([1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.3, -0.4], [0.0, 0.0]),
    ),
}
"""Every example, by its name."""

SMALL = tuple(name for name in EXAMPLES if ", epsilon" not in name or ", 3 values, epsilon 1" in name)
"""One of each kind, where all would repeat."""
