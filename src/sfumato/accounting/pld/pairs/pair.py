"""What every dominating pair can say: its supporting lines.

A pair (P, Q) is described by its profile h(x) = sup over tests S of P(S) − x·Q(S), x = exp(ℓ): the least δ at ε = ℓ.
h is convex and falls. The test that rejects where the privacy loss is above ℓ touches it: the line x ↦ P(S) − x·Q(S)
lies below h everywhere and meets it at exp(ℓ).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from flint import arb


class Line(NamedTuple):
    """A supporting line: the masses of one test under both distributions, as balls."""

    here: arb
    there: arb


Lines: TypeAlias = Callable[[arb], Line]
"""Takes a loss ℓ and encloses P(S) and Q(S) for a test S that is optimal at exp(ℓ)."""

NONE, ALL = Line(arb(0), arb(0)), Line(arb(1), arb(1))
"""The lines of the tests that reject never and always."""


class Pair(ABC):
    """A dominating pair; a frozen record of public numbers."""

    @abstractmethod
    def lines(self) -> Lines:
        """Prepares the supporting lines, at the precision of balls that is in force now and when they are asked for."""

    @abstractmethod
    def reversed(self) -> Pair:
        """(Q, P). A pair that is as hard to tell apart either way gives itself."""

    @abstractmethod
    def hints(self, tail: float) -> list[float]:
        """Rising losses that show where the mass lies, as far out as the mass ``tail``; they steer, no more."""

    @property
    @abstractmethod
    def smooth(self) -> bool:
        """Tells whether the profile bends smoothly but for a kink at 1; else the losses may sit on single points."""

    @property
    def dense(self) -> bool:
        """Tells whether it is as good as smooth once sampling has bent its losses off every lattice."""
        return self.smooth

    @property
    @abstractmethod
    def pitch(self) -> Fraction | None:
        """A step of which every loss is a whole multiple, if there is one."""

    @property
    def largest(self) -> Fraction | None:
        """A number that no finite loss exceeds, the least where it is rational; None where there is none."""
        return None

    @property
    def anchor(self) -> Fraction | None:
        """A step of which every loss that carries a mass of its own is a whole multiple, if there is one."""
        return self.pitch


def largest_of(pairs: Iterable[Pair]) -> Fraction | None:
    """A number that no finite loss of several pairs exceeds, if all have one."""
    ends = [pair.largest for pair in pairs]
    known = [end for end in ends if end is not None]
    return max(known) if len(known) == len(ends) else None


def rank(record: Any) -> tuple[Any, ...]:
    """A key that puts pairs, and lists of them, into the same order in every run; equal only for equal ones.

    >>> rank((Fraction(1, 2), 3))
    ('', (('', Fraction(1, 2)), ('', 3)))
    """
    if isinstance(record, tuple):
        return "", tuple(map(rank, record))
    if names := _fields_of(type(record)):
        return type(record).__name__, tuple(rank(getattr(record, name)) for name in names)
    return type(record).__name__ if record is None else "", record


def _fields_of(kind: type) -> tuple[str, ...]:
    """The names of a record's fields; none for what is no record, or has no fields."""
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
    return _FIELDS[kind]


_FIELDS: dict[type, tuple[str, ...]] = {}
"""What `_fields_of` has found."""
