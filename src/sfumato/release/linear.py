"""Linear combinations of released numbers, and ratios of two: values, and where the exact ones are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, final

from sfumato.exact import Extended
from sfumato.release.interval import centred
from sfumato.release.record import Noised, Release
from sfumato.release.sums import Terms, sum_above

Ends: TypeAlias = tuple[Extended, Extended]
"""The ends of an interval, exact."""

Size: TypeAlias = Callable[[Fraction, Fraction], Fraction]
"""From a source's weights above and below the line to the size of its weight in a difference."""

EVERYWHERE: Ends = (-math.inf, math.inf)

DOUBLINGS = 40
"""How often the search for a ratio that is too large doubles it before it gives up: then it has no end."""

SHARPNESS, MOST_STEPS = Fraction(1, 1 << 10), 80
"""Ends of a ratio are found to this share of the interval, in at most this many steps."""


@final
@dataclass(frozen=True, eq=False)
class Source:
    """One coordinate of a release: its exact noisy value, the noise on it, and how far it may be off besides.

    Two sources with the same key carry the same noise. A release is known again by itself, and a stored one, which may
    be read twice, by the entry of the ledger that paid for it.
    """

    key: tuple[object, ...]
    centre: Fraction
    noised: Noised
    moved: Extended

    @classmethod
    def of(cls, release: Release, noised: Noised, coordinate: int, value: object) -> Source:
        receipt = release.receipt
        identity = (release,) if receipt is None else (receipt.account, receipt.entry, receipt.digest)
        centre, moved = centred(value, noised)
        return cls((*identity, coordinate, centre), centre, noised, moved)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@final
@dataclass(frozen=True, eq=False)
class Linear:
    """A public number and a sum of sources with public weights."""

    constant: Fraction
    weights: Mapping[Source, Fraction] = field(default_factory=dict)

    @property
    def value(self) -> Fraction:
        """The combination of the noisy values."""
        return self.constant + sum((weight * source.centre for source, weight in self.weights.items()), Fraction(0))

    def plus(self, other: Linear, times: Fraction = Fraction(1)) -> Linear:
        """Adds another combination, multiplied by ``times``."""
        weights = dict(self.weights)
        for source, weight in other.weights.items():
            weights[source] = weights.get(source, Fraction(0)) + times * weight
        non_zero = {source: weight for source, weight in weights.items() if weight != 0}
        return Linear(self.constant + times * other.constant, non_zero)

    def times(self, factor: Fraction) -> Linear:
        return Linear(Fraction(0)).plus(self, factor)

    def same(self, other: Linear) -> bool:
        return self.constant == other.constant and dict(self.weights) == dict(other.weights)

    def ends(self, sure: Fraction) -> Ends:
        """Where the exact value is: the noise is this far above and this far below with half the chance each."""
        value, missed = self.value, (1 - sure) / 2
        moved = sum((abs(weight) * source.moved for source, weight in self.weights.items()), Fraction(0))
        above = sum_above(_terms(self.weights.items()), missed)
        if all(source.noised.noise.symmetric for source in self.weights):
            below = above
        else:
            below = sum_above(_terms((source, -weight) for source, weight in self.weights.items()), missed)
        return value - above - moved, value + below + moved


def _terms(weights: Iterable[tuple[Source, Fraction]]) -> Terms:
    return tuple((source.noised.noise, weight * source.noised.step) for source, weight in weights if weight)


def ratio_ends(top: Linear, bottom: Linear, sure: Fraction) -> Ends | None:
    """Where the exact ratio is, by Fieller's way; None where a noise is not known to be symmetric.

    At the exact ratio r, the exact top - r · bottom is 0: so the interval of the noisy one holds 0 as often as it is
    right, whatever the denominator (Fieller 1954). What is given covers all r of which that is true: segments are left
    out from the far ends inward, each only when it is true of no r in it.
    """
    if not all(source.noised.noise.symmetric for source in (*top.weights, *bottom.weights)):
        return None
    if bottom.value < 0:
        top, bottom = top.times(Fraction(-1)), bottom.times(Fraction(-1))
    if bottom.value == 0 or bottom.ends(sure)[0] <= 0:
        return EVERYWHERE
    top, whole = _proper(top, bottom)
    if not top.weights and top.constant == 0:
        return whole, whole
    return whole - _greatest(top.times(Fraction(-1)), bottom, sure), whole + _greatest(top, bottom, sure)


def _proper(top: Linear, bottom: Linear) -> tuple[Linear, Fraction]:
    """Takes a public number out of a ratio, a / b + k for (a + k b) / b, where that leaves no noise in common."""
    for source, weight in bottom.weights.items():
        whole = top.weights.get(source, Fraction(0)) / weight
        rest = top.plus(bottom, -whole)
        if whole and not rest.weights.keys() & bottom.weights.keys():
            return rest, whole
    return top, Fraction(0)


def _greatest(top: Linear, bottom: Linear, sure: Fraction) -> Extended:
    """An upper end of the ratios that are held: never below the least upper end, and near it."""
    over, under = top.value, bottom.value
    middle, width, blurred = over / under, _wide(top, bottom, sure), _wide(top, bottom, sure, sharpest=False)

    def left_out(low: Fraction, high: Fraction) -> bool:
        return low * under - over > width(lambda s, n: max(abs(s - low * n), abs(s - high * n)))

    def left_out_from(low: Fraction) -> bool:
        # Divided by r: what holds for all r from here on. Now the weights above the line vary: every noise is blurred.
        return under - max(over, Fraction(0)) / low > blurred(lambda s, n: max(abs(n), abs(s / low - n)))

    end = abs(middle) + width(lambda s, n: abs(s) + abs(middle * n)) / under
    if end == math.inf:
        return math.inf
    end = max(Fraction(end), Fraction(1, 1 << 1000))
    for _ in range(DOUBLINGS):
        if left_out_from(end):
            return _sweep(middle, end, left_out)
        end *= 2
    return math.inf


def _sweep(middle: Fraction, end: Fraction, left_out: Callable[[Fraction, Fraction], bool]) -> Fraction:
    step = (end - middle) / 2
    for _ in range(MOST_STEPS):
        if step <= SHARPNESS * (end - middle):
            break
        if left_out(end - step, end):
            end -= step
            step = min(step, (end - middle) / 2)
        else:
            step /= 2
    return end


def _wide(top: Linear, bottom: Linear, sure: Fraction, *, sharpest: bool = True) -> Callable[[Size], Extended]:
    """Builds a function from the sizes of all weights to a width that noise with no larger weights keeps, so surely.

    Symmetric noise that is never likelier further out is the wider the larger its weight, if it has a density: Z + U
    with U uniform on a step has one, and is at most half a step from Z. So one step of each noise is added, but
    (``sharpest``) for that of the only noise below the line, where no other weight varies (proofs/accuracy.md#ratios).
    """
    sources = list({**top.weights, **bottom.weights})
    pairs = [(s, top.weights.get(s, Fraction(0)), bottom.weights.get(s, Fraction(0))) for s in sources]
    sharp = [s for s, above, below in pairs if below and not above] if sharpest and len(bottom.weights) == 1 else []

    def width(size: Size) -> Extended:
        sizes = [(source, size(above, below)) for source, above, below in pairs]
        blur = sum((weight * source.noised.step for source, weight in sizes if source not in sharp), Fraction(0))
        moved = sum((weight * source.moved for source, weight in sizes), Fraction(0))
        return sum_above(_terms(sizes), (1 - sure) / 2) + blur + moved

    return width
