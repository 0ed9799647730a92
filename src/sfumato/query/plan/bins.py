"""Bins: a public grid between the bounds of an expression, in which rows are counted: whole numbers, floats, days."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.errors import QueryRefused
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.operators.released import Released
from sfumato.query.plan.decomposition import unbounded
from sfumato.query.plan.selection_statistics import whole_places
from sfumato.release.vectors import Array, Vector

MOST_VALUES = 1 << 16
"""Whole numbers between bounds with no more values than this are bins by themselves."""

FLOAT_BINS = 1 << 14
"""Other numbers are put into this many bins of equal width."""


@final
@dataclass(frozen=True)
class Bins:
    """A public grid of bins between the bounds of an expression."""

    of: Expression
    low: Fraction
    high: Fraction
    many: int
    origin: datetime.date | None = None
    """Where these are days, or minutes, those after this one."""

    @staticmethod
    def read(of: Expression, verb: str = "quantile") -> Bins:
        """Lays bins over the bounds of an expression; refuses one without bounds, and says which it needs."""
        if of.kind.temporal:
            steps, low, high, origin = _since(of, verb)
            return replace(Bins._laid(steps, (Fraction(low), Fraction(high))), origin=origin)
        ends = of.facts.numbers
        if not of.kind.numeric:
            raise QueryRefused(f"{verb} takes numbers, days or times; got {of.kind.value}.")
        if ends is None:
            raise QueryRefused(unbounded(verb, of))
        return Bins._laid(of, ends)

    @staticmethod
    def _laid(of: Expression, ends: tuple[Fraction, Fraction]) -> Bins:
        if of.kind is Kind.INT:
            low, high = Fraction(math.ceil(ends[0])), Fraction(math.floor(ends[1]))
            if low > high:
                raise QueryRefused(f"there is no whole number between {ends[0]} and {ends[1]}.")
            if high - low < MOST_VALUES:
                return Bins(of, low, high, int(high - low) + 1)
            ends = low, high
        made = Bins(of, *ends, 1 if ends[0] == ends[1] else FLOAT_BINS)
        if not made.exact and made.many > 1 and not math.isfinite(made._factor):
            raise QueryRefused("these bounds are too wide or too narrow to be cut into bins: give others.")
        return made

    @property
    def exact(self) -> bool:
        """Tells whether every bin is one whole number."""
        return self.of.kind is Kind.INT and self.many == self.high - self.low + 1

    @property
    def expression(self) -> Expression:
        """The value itself, or the number of its bin, worked out in floats; the last one holds what is rounded up."""
        if self.exact:
            return self.of
        number = self.of if self.of.kind is Kind.FLOAT else call("to_float", self.of)
        steps = call("mul", call("sub", number, literal(float(self.low))), literal(self._factor))
        return call("clamp", call("floor", steps), literal(0), literal(self.many - 1))

    @property
    def _factor(self) -> float:
        """The number of bins to a unit; infinite, or 0, where floats cannot hold the bounds."""
        try:
            width = float(self.high) - float(self.low)
            factor = self.many / width
        except (OverflowError, ZeroDivisionError):
            return math.inf
        return factor if math.isfinite(width) else math.inf

    def places(self, values: Sequence[Value]) -> Array:
        """The places of bins as the engine names them."""
        return whole_places(values, int(self.low) if self.exact else 0, self.many)

    @property
    def width(self) -> Fraction:
        """How far it is from one bin to the next."""
        return Fraction(1) if self.exact else (self.high - self.low) / self.many

    def released(self, places: Array) -> Released:
        """The value in the middle of each bin, without an interval: how far off it is depends on where the rows are."""
        middles = self.middles(places)
        if self.origin is None:
            return unknown_error(middles, whole=self.of.kind is Kind.INT)
        unit = "minutes" if isinstance(self.origin, datetime.datetime) else "days"
        moments = np.empty(len(middles), dtype=object)
        moments[:] = [self.origin + datetime.timedelta(**{unit: int(steps)}) for steps in middles]
        return moments

    def middles(self, places: Array) -> Array:
        """The number in the middle of each bin: a whole number for whole numbers."""
        step = self.width
        if self.exact:
            middles = [int(self.low) + int(place) for place in places]
        elif self.of.kind is Kind.INT:
            middles = [math.floor(self.low + (2 * int(place) + 1) * step / 2) for place in places]
        else:
            return np.array([float(self.low + (2 * int(place) + 1) * step / 2) for place in places], dtype=np.float64)
        large = max(abs(self.low), abs(self.high)) >= 1 << 62
        return np.array(middles, dtype=object if large else np.int64)


def _since(of: Expression, verb: str) -> tuple[Expression, int, int, datetime.date]:
    """A day, or a time to the minute, as steps after a public one, with the bounds of these; refuses one without."""
    match of.facts.between:
        case (datetime.datetime() as first, datetime.datetime() as last):
            origin = datetime.datetime.combine(first.date(), datetime.time())
            minutes = call("mul", call("sub", call("to_date", of), literal(first.date())), literal(1440))
            for part, many in (("hour", 60), ("minute", 1)):
                minutes = call("add", minutes, call("mul", call(part, of), literal(many)))
            low, high = ((end - origin) // datetime.timedelta(minutes=1) for end in (first, last))
            return minutes, low, high, origin
        case (datetime.date() as first, datetime.date() as last):
            return call("sub", of, literal(first)), 0, (last - first).days, first
    raise QueryRefused(unbounded(verb, of))


def unknown_error(values: Array, *, whole: bool) -> Vector:
    """Numbers of whose error nothing is known."""
    nowhere = np.full(len(values), math.inf)
    return Vector(values, -nowhere, nowhere, whole)
