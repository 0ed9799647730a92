"""Small protocols of every kind, with values that together show the worst that a report can tell.

Whatever is listed here is held to its loss by enumeration, read back from messages, added up over shards, and drawn by
the twin in JavaScript: `tests/exact/test_local.py`, `tests/unit/local/test_every_protocol.py`. A test asks for at least
one example of every protocol of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from sfumato.accounting.losses.measures import Pure
from sfumato.local.all_of import AllOf
from sfumato.local.attributes import attributes
from sfumato.local.choosing import CANDIDATES
from sfumato.local.dbitflip import dbitflip
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.geometry import GeometryResponse
from sfumato.local.hashing import LocalHashing
from sfumato.local.heavy_hitters import HeavyHitters
from sfumato.local.heavy_rounds import PrefixFrequencies
from sfumato.local.item_sets import PARTS, ItemSets
from sfumato.local.joint import joint
from sfumato.local.memoised import loloha, memoised
from sfumato.local.one_of import OneOf
from sfumato.local.one_true import OneTrue
from sfumato.local.pairs import key_values
from sfumato.local.protocol import LocalProtocol
from sfumato.local.ranges import ranges
from sfumato.local.rappor import Rappor, rappor
from sfumato.local.response import Response
from sfumato.local.signed import SignedResponse
from sfumato.local.signs import HadamardSign
from sfumato.local.sketches import CountMeanSketch, HadamardSketch
from sfumato.local.spelled import WholeNumbers, Words
from sfumato.local.stages import BitsAgain
from sfumato.local.subsets import SubsetSelection
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

YES = Values(["yes", "no"])
LISTS = {"sex": ["f", "m"], "age": range(3)}
PEOPLE = tuple((sex, age) for sex in LISTS["sex"] for age in LISTS["age"])
BITS = tuple({"a": a, "b": b} for a in (False, True) for b in (False, True))
BASKETS: tuple[dict[str, float], ...] = (
    {},
    {"x": 0},
    {"x": 1},
    {"x": 0.25, "y": 1},
    {"y": 0, "x": 0},
    {"z": 1, "y": 1},
    {"x": 1, "y": 1, "z": 0.5},
)


def _all_of() -> LocalProtocol[Any]:
    inner = OneOf((Response(YES, Pure(1)), UnaryEncoding.optimized(Values(range(2)), Pure(1))))
    return AllOf((Response(YES, Pure("0.5")), UnaryEncoding.symmetric(Values(range(3)), Pure(2)), inner))


def _all_of_columns(rows: list[Any]) -> list[Any]:
    first, second, third = _columns(rows)
    return [first, second, _columns(third)]


def _one_true(part: Callable[[Values, Pure], FrequencyProtocol]) -> Callable[[], LocalProtocol[Any]]:
    return lambda: OneTrue((part(YES, Pure(1)), part(Values(range(3)), Pure(1))), (1, 2))


def _attributes(how: str) -> Callable[[], LocalProtocol[Any]]:
    return lambda: attributes(LISTS, loss=1, users=100, how=how)


def _baskets(way: str) -> Callable[[], LocalProtocol[Any]]:
    return lambda: key_values(["x", "y", "z"], between=(0, 1), most=2, loss=1, way=way)


def _by_name(rows: list[Any]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


SEVERAL: dict[str, Example] = {
    "all of three questions": Example(
        _all_of,
        tuple(
            (yes, age, (no, two)) for yes in ("yes", "no") for age in (0, 2) for no in ("yes", "no") for two in (0, 1)
        ),
        _all_of_columns,
    ),
    "one true answer, by response": Example(
        _one_true(Response), tuple((yes, age) for yes in ("yes", "no") for age in range(3)), _columns
    ),
    "one true answer, in bits": Example(
        _one_true(UnaryEncoding.optimized), tuple((yes, age) for yes in ("yes", "no") for age in range(3)), _columns
    ),
    **{f"two attributes, {how}": Example(_attributes(how), PEOPLE, _columns) for how in ("sample", "split", "fake")},
    "joint product": Example(lambda: joint(LISTS, loss=1, users=100, how="product"), PEOPLE, _columns),
    "joint margins": Example(
        lambda: joint(LISTS, loss=1, users=100, marginals=[["age"], ["sex"]], how="marginals"), PEOPLE, _columns
    ),
    "joint parities": Example(
        lambda: joint({"a": [False, True], "b": [False, True]}, loss=1, users=100, how="parities"), BITS, _by_name
    ),
    "signs of pairs": Example(lambda: SignedResponse(Values(range(5)), Pure(1)), tuple(range(5))),
    "ranges by a tree": Example(lambda: ranges(range(5), loss=2, users=100, how=3), tuple(range(5))),
    "ranges by halves": Example(lambda: ranges(range(5), loss=2, users=100, how="haar"), tuple(range(5))),
    **{f"keys with numbers, {way}": Example(_baskets(way), BASKETS) for way in ("response", "bits")},
}
"""Protocols made of protocols."""


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
    **AGAIN,
    "vectors of two entries": Example(
        lambda: VectorMean(2, Fraction(1), Pure(2), 3, 5, 2, 11),
        ([1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.3, -0.4], [0.0, 0.0]),
    ),
    **SEVERAL,
    **{f"geometry response over {order} elements": _geometry(order) for order in (2, 3, 4, 9)},
    **{f"subset selection of {size} of 5": _subsets(size) for size in (2, 4)},
}
"""Every example, by its name."""

TEXTS = ("a", "grün", "", "\ud800")
SETS: tuple[Any, ...] = ((), (0,), (2, 1), (1, 2, 3), (0, 1, 2, 3))
WORDS = ("", "a", "b", "ab", "ba", "bb")
OPEN: dict[str, Example] = {
    "count-mean sketch": Example(lambda: CountMeanSketch("key", Pure("1.5"), rows=3, buckets=4), TEXTS),
    "Hadamard sketch": Example(lambda: HadamardSketch("key", Pure("1.5"), rows=18, buckets=4, longest=7), TEXTS),
    "Hadamard signs": Example(lambda: HadamardSign(Values(range(8)), Pure(2)), tuple(range(8))),
    "Hadamard signs of two": Example(lambda: HadamardSign(Values(range(2)), Pure(2)), (0, 1)),
    **{
        f"item sets by {method}": Example(partial(ItemSets, Values(range(4)), 2, Pure("1.5"), method), SETS)
        for method in PARTS
    },
    "item sets of one": Example(lambda: ItemSets(Values(["a", "b"]), 1, Pure(1)), ((), ("a",), ("b", "a"))),
    "heavy words": Example(
        lambda: HeavyHitters(Words("ab", 2), "key", (1, 3), HadamardSign(Values(range(4)), Pure(1)), rows=2), WORDS
    ),
    "heavy numbers": Example(
        lambda: HeavyHitters(WholeNumbers(3), "key", (2, 3), LocalHashing(Values(range(4)), Pure(1), 3), rows=3),
        tuple(range(8)),
    ),
    "a round of words": Example(
        lambda: PrefixFrequencies(Words("ab", 2), 2, Response(Values(["", "a\n", "ab", "ba"], ""), Pure(1))), WORDS
    ),
    "a round of numbers": Example(
        lambda: PrefixFrequencies(WholeNumbers(3), 2, UnaryEncoding.optimized(Values(["", "00", "11"], ""), Pure(1))),
        tuple(range(8)),
    ),
}
"""Open and large domains."""
EXAMPLES.update(OPEN)

SMALL = tuple(name for name in EXAMPLES if ", epsilon" not in name or ", 3 values, epsilon 1" in name)
"""One of each kind, where all would repeat."""
