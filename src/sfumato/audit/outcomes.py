"""Outcomes of any kind, read as arrays: a code for each, equal where outcomes are equal, and numbers where it has some.

What is read from an outcome depends on that outcome and on what was settled beforehand, never on the others beside it:
an event of what is read is then an event of one outcome, and its hits in independent runs are independent.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.core.looks import looks, without_addresses
from sfumato.release.record import Release

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
Many: TypeAlias = Sequence[Any] | NDArray[Any]
"""Outcomes of many runs: a sequence of any things, or an array with one outcome in each row."""

PLAIN = {str, bool, type(None)}
"""Outcomes of these kinds are read once for all that are equal, which among these are the same."""

FIRST = 1000
"""The first outcomes, this many, settle how many numbers an outcome has."""

ODD = 0x9E3779B97F4A7C15
"""Multiplies what was read of a row before the next entry is added; odd, so that nothing is lost."""


@final
@dataclass(frozen=True)
class Raised:
    """The outcome of a run that failed, by the kind of the error and a hash of its text.

    An error that one side raises more often tells the sides apart too, and so does what it says.
    """

    kind: str
    text: int = field(default=0, repr=False)

    @classmethod
    def by(cls, error: Exception) -> Raised:
        """Reads an error; what it says stays here."""
        return cls(type(error).__name__, _hash_text(without_addresses(str(error))))


@final
@dataclass(frozen=True, eq=False)
class Outcomes:
    """Many outcomes as read: as they were, their codes, and their numbers, one row each (of no column, if none)."""

    given: Many
    codes: Codes
    numbers: Floats

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, start: int, end: int) -> Outcomes:
        return Outcomes(self.given[start:end], self.codes[start:end], self.numbers[start:end])


@final
@dataclass(frozen=True, eq=False)
class Pair:
    """As many outcomes on one data set as on the other."""

    left: Outcomes
    right: Outcomes

    def __len__(self) -> int:
        return len(self.left)

    def halves(self) -> tuple[Pair, Pair]:
        """Splits the outcomes of both sides into a first and a second half."""
        middle, end = len(self) // 2, len(self)
        first, second = ((side.part(0, middle), side.part(middle, end)) for side in (self.left, self.right))
        return Pair(first[0], second[0]), Pair(first[1], second[1])

    def and_then(self, more: Pair) -> Pair:
        """Appends outcomes that were read alike."""
        return Pair(_join(self.left, more.left), _join(self.right, more.right))


def _join(first: Outcomes, second: Outcomes) -> Outcomes:
    if isinstance(first.given, np.ndarray) and isinstance(second.given, np.ndarray):
        outcomes: Many = np.concatenate([first.given, second.given])
    else:
        outcomes = [*first.given, *second.given]
    return Outcomes(
        outcomes, np.concatenate([first.codes, second.codes]), np.concatenate([first.numbers, second.numbers])
    )


def width_of(outcomes: Many) -> int:
    """Settles how many numbers are read from an outcome: as many as the most common kind of outcome has."""
    if isinstance(outcomes, np.ndarray) and outcomes.dtype != object:
        return 1 if outcomes.ndim == 1 else math.prod(outcomes.shape[1:])
    widths = Counter(len(numbers) for outcome in outcomes[:FIRST] if (numbers := _numbers(outcome)) is not None)
    return widths.most_common(1)[0][0] if widths else 0


def read(outcomes: Many, width: int) -> Outcomes:
    """Reads outcomes; one with another number of numbers than was settled has none that are numbers."""
    if isinstance(outcomes, np.ndarray) and outcomes.dtype != object:
        return _read_array(outcomes)
    kinds = set(map(type, outcomes))
    if kinds == {float} and width == 1:
        return _read_array(np.array(outcomes, dtype=np.float64), given=outcomes)
    if kinds == {int} and width == 1 and min(outcomes) >= -(1 << 63) and max(outcomes) < 1 << 63:
        return _read_array(np.array(outcomes, dtype=np.int64), given=outcomes)
    seen = {outcome: _read_one(outcome, width) for outcome in set(outcomes)} if kinds <= PLAIN else {}
    parsed = [seen[outcome] for outcome in outcomes] if seen else [_read_one(outcome, width) for outcome in outcomes]
    codes = np.fromiter((code for code, _ in parsed), dtype=np.int64, count=len(parsed))
    return Outcomes(outcomes, codes, np.array([numbers for _, numbers in parsed]).reshape(len(parsed), width))


def _read_one(outcome: Any, width: int) -> tuple[int, tuple[float, ...]]:
    numbers = _numbers(outcome)
    return _code(outcome), numbers if numbers is not None and len(numbers) == width else (math.nan,) * width


def _read_array(array: NDArray[Any], *, given: Many | None = None) -> Outcomes:
    rows = array.reshape(len(array), -1)
    outcomes = array if given is None else given
    if array.dtype.kind not in "biuf":
        codes = np.fromiter((_hash_text(str(row.tolist())) for row in rows), dtype=np.int64, count=len(rows))
        return Outcomes(outcomes, codes, np.empty((len(rows), 0)))
    numbers = rows.astype(np.float64)
    bits = numbers.view(np.uint64) if array.dtype.kind == "f" else rows.astype(np.int64).view(np.uint64)
    codes = np.zeros(len(rows), dtype=np.uint64)
    for column in bits.T:
        codes = codes * np.uint64(ODD) + column
    return Outcomes(outcomes, codes.view(np.int64), numbers)


def _code(outcome: Any) -> int:
    """The code of one outcome: a number's own digits, the hash of how it looks for anything else."""
    match outcome:
        case bool():
            pass
        case int() if -(1 << 63) <= outcome < 1 << 63:
            return outcome
        case float():
            return int(np.float64(outcome).view(np.int64))
    return _hash_text(repr(looks(outcome)))


def _hash_text(words: str) -> int:
    digest = hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _numbers(outcome: Any) -> tuple[float, ...] | None:
    """The numbers of an outcome, where it is a number, None, or a row of these."""
    match outcome:
        case Release():
            return _numbers(outcome.value)
        case np.ndarray():
            return _row(outcome.ravel().tolist())
        case list() | tuple():
            return _row(outcome)
    number = _number(outcome)
    return None if number is None else (number,)


def _row(entries: Iterable[Any]) -> tuple[float, ...] | None:
    numbers = tuple(number for entry in entries if (number := _number(entry)) is not None)
    return numbers if numbers and len(numbers) == sum(1 for _ in entries) else None


def _number(value: Any) -> float | None:
    match value:
        case None:
            return math.nan
        case int() | float() | Fraction() | Decimal() | np.number() | np.bool_():
            try:
                return float(value)
            except OverflowError:
                return math.inf if value > 0 else -math.inf
            except ValueError:  # a signalling NaN
                return math.nan
    return None
