"""Many quantiles of a column at once, and bounds for values by quantiles."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal, TypeAlias, final

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.combinators.analysis import analysis
from sfumato.combinators.interaction import adaptive_composition
from sfumato.combinators.turns import charged_at
from sfumato.core.domains import Bounds, Data
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, non_negative, positive, rational
from sfumato.mechanisms.joint_quantiles import COLDEST, joint_quantiles
from sfumato.mechanisms.quantile import support
from sfumato.mechanisms.recursive_quantiles import read_levels, recursive_quantiles
from sfumato.noise.ordered_points import MOST_POINTS
from sfumato.stats.shares import Spendable, noise_of, parameter_for, spendable
from sfumato.transforms.aggregate import count
from sfumato.transforms.rows import column_space
from sfumato.transforms.rowwise import clamp

Method: TypeAlias = Literal["best", "recursive", "joint"]

COUNT_PARTS = {False: Fraction(1, 8), True: Fraction(1, 16)}
"""What a noisy number of rows gets of the loss, where few quantiles, or at least ``MANY``, are chosen all at once."""

MANY = 15

FEWEST, MOST = {True: 2, False: 4}, 64
"""The least number of quantiles, where the size is public and where it is not, from which the joint choice is better
under Pure; and the most that it is asked for: those between are interpolated."""

ENOUGH, PLENTY, LARGEST = 12, 24, 1 << 22
"""The joint choice needs this many rows for each gap, in units of its temperature, where it is asked for few quantiles,
this many where it is asked for more than ``FEW``; and it is slow for more rows in all than the last."""

FEW, LEAST = 16, 8
"""Of more than ``FEW`` quantiles some may be interpolated, between this many that are chosen at least."""


@constructor
def quantiles(
    alphas: Iterable[Number],
    *,
    loss: Loss,
    d_in: Number | Unit | None = None,
    between: tuple[Number, Number] | None = None,
    step: Number | None = None,
    method: Method = "best",
) -> Partial[Measurement]:
    """Chooses several quantiles of a column, in order.

    ``recursive`` chooses the middle one first, those below it among the smaller rows, those above among the others;
    ``joint`` chooses all of them at once, given a number of rows: noisy, for ⅛ of the loss or less, unless the size is
    public. ``best`` goes by what errs less: joint under Pure for 4 of them or more (2 where the size is public), unless
    rows are few or very many; else recursive. Where there are too few rows for each of many quantiles, it chooses as
    many of them as there are rows for, evenly spread and 64 at most, and interpolates the others.

    Takes:      a column of numbers without NaN; bounds here or from clamp(); increasing alphas between 0 and 1; a loss
                of Pure or ZCDP for neighbours at ``d_in`` (as a rule 1, see `Space.closest`)
    Gives:      a tuple of points of a fine grid in increasing order: integers for integers, else the nearest floats
    Guarantee:  the loss, at distances up to d_in  (proofs/recursive_quantiles.md#rows, proofs/joint_quantiles.md#loss,
                proofs/interaction.md#strategies)
    Cost:       a sort and, by the method, one or a few dozen passes over the values for each quantile

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> quantiles([0.25, 0.5, 0.75], between=(0, 100), loss=Pure(1))).map(1)
    Pure(epsilon=1.0)
    """
    levels, whole = read_levels(alphas), spendable(loss, "quantiles")
    if method not in ("best", "recursive", "joint"):
        raise BadArgument("method", '"best", "recursive" or "joint"', method)
    if method == "joint" and not 0 < len(levels) <= MOST_POINTS:
        raise BadArgument("alphas", f'1 to {MOST_POINTS} quantiles, for method="joint"', len(levels))
    fixed = None if step is None else positive(step, "step")

    def build(space: Space) -> Measurement:
        domain, _ = column_space(space, "quantiles")
        if between is not None:
            bounds = Bounds.read(between)
            bounded = space >> clamp(bounds.lower, bounds.upper)
            return bounded >> quantiles(levels, loss=loss, d_in=d_in, step=step, method=method)
        support(domain.element, fixed)
        ways = Ways(space, levels, fixed, charged_at(space, d_in))
        size = domain.size
        if method == "recursive" or (method == "best" and not promising(len(levels), whole, size)):
            return space >> ways.recursive(whole)
        if size is not None:
            return ways.choice(whole, Fraction(size), always=method == "joint").asked(space)
        part = COUNT_PARTS[len(levels) >= MANY]
        first, rest = whole.scaled(part), whole.scaled(1 - part)
        slices = space >> adaptive_composition([first, rest], d_in=ways.d_in)
        return analysis(slices, CountFirst(ways, first, rest, always=method == "joint"), name="quantiles")

    return Partial(f"quantiles({len(levels)} of them, loss={loss})", build)


def promising(number: int, loss: Spendable, size: int | None) -> bool:
    """Says whether all quantiles at once may be better than by halving, from what is public."""
    return isinstance(loss, Pure) and number >= FEWEST[size is not None]


def anchors(rows: Fraction, number: int, temperature: Fraction) -> int:
    """How many of a number of quantiles to choose at once: all, fewer where rows are few, 0 where none."""
    if number <= FEW and ENOUGH * temperature * (number + 1) <= rows <= Fraction(LARGEST, number + 1):
        return number
    chosen = min(number, MOST, math.floor(rows / (PLENTY * temperature)) - 1)
    return chosen if chosen >= min(number, LEAST) and rows <= Fraction(LARGEST, chosen + 1) else 0


@final
@dataclass(frozen=True)
class Choice:
    """A measurement that chooses some of the wanted quantiles, and their places among all."""

    mechanism: Partial[Measurement]
    places: list[int]
    levels: list[Fraction]

    def filled(self, chosen: tuple[int | float, ...]) -> tuple[int | float, ...]:
        """Interpolates all quantiles on straight lines between the chosen ones, in whole numbers for integers."""
        points = list(chosen[:1])
        for (start, low), (end, high) in pairwise(zip(self.places, chosen, strict=True)):
            width, rise = self.levels[end] - self.levels[start], Fraction(high) - Fraction(low)
            for level in self.levels[start + 1 : end]:
                between = Fraction(low) + rise * (level - self.levels[start]) / width
                points.append(math.floor(between) if isinstance(low, int) else float(between))
            points.append(high)
        return tuple(points)

    def asked(self, space: Space) -> Measurement:
        """The measurement of all quantiles."""
        chosen = space >> self.mechanism
        return chosen if len(self.places) == len(self.levels) else chosen.then(self.filled, name="interpolated")


@final
@dataclass(frozen=True)
class Ways:
    """How a list of quantiles of a space can be chosen for a loss. The temperatures are public."""

    space: Space
    levels: list[Fraction]
    step: Fraction | None
    d_in: Number | Unit

    def recursive(self, loss: Spendable) -> Partial[Measurement]:
        """The choice by halving that costs a loss."""

        def build(heat: Fraction) -> Partial[Measurement]:
            return recursive_quantiles(self.levels, temperature=heat, step=self.step, measure=type(loss))

        return build(parameter_for(lambda heat: self.space >> build(heat), loss, self.d_in))

    def choice(self, loss: Spendable, total: Fraction, *, always: bool) -> Choice:
        """What to ask for at a loss, for a public number of rows: some or all of them at once, or by halving."""
        number, heat = len(self.levels), self.heat(loss)
        chosen = number if always else anchors(total, number, heat)
        if not chosen:
            return Choice(self.recursive(loss), list(range(number)), self.levels)
        places = [round(place * (number - 1) / max(1, chosen - 1)) for place in range(chosen)]
        levels = [self.levels[place] for place in places]
        return Choice(self._joint(levels, loss, total, heat), places, self.levels)

    def heat(self, loss: Spendable) -> Fraction:
        """The temperature of the joint choice that costs a loss, or less where that is enormous."""

        def build(heat: Fraction) -> Measurement:
            return self.space >> self._joint(self.levels[:1], loss, Fraction(0), heat)

        return max(COLDEST, parameter_for(build, loss, self.d_in))

    def _joint(self, levels: list[Fraction], loss: Spendable, total: Fraction, heat: Fraction) -> Partial[Measurement]:
        return joint_quantiles(levels, total=total, temperature=heat, step=self.step, measure=type(loss))


@final
@dataclass(frozen=True)
class CountFirst:
    """Asks for a noisy number of rows, then for all quantiles at once, or by halving where that is better."""

    ways: Ways
    first: Spendable
    rest: Spendable
    always: bool

    def __call__(self, ask: Queryable, entropy: Entropy) -> tuple[int | float, ...]:
        """Asks for the number of rows and then for the quantiles."""
        kind, ways = type(self.first), self.ways
        scale = parameter_for(lambda b: ways.space >> count() >> noise_of(kind, b), self.first, ways.d_in)
        rows = Fraction(ask(count() >> noise_of(kind, scale)))
        choice = ways.choice(self.rest, rows, always=self.always)
        return choice.filled(ask(choice.mechanism))


@constructor
def bounds_by_quantiles(
    low: Number = 0.05,
    high: Number = 0.95,
    *,
    loss: Loss,
    d_in: Number | Unit | None = None,
    between: tuple[Number, Number] | None = None,
    slack: Number = 0,
    step: Number | None = None,
) -> Partial[Measurement]:
    """Finds bounds for clamping: a low and a high quantile of a column with loose public bounds.

    Takes:      as quantiles(); ``slack`` moves both bounds outwards by that part of their distance, within the public
                bounds
    Gives:      the pair (lower, upper), in order; it may be empty (lower = upper) where the rows are few
    Guarantee:  the loss, at distances up to d_in: that of quantiles([low, high])  (proofs/recursive_quantiles.md#rows)
    Cost:       that of two quantiles

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> bounds_by_quantiles(between=(-100, 100), loss=Pure("0.2"))).map(1)
    Pure(epsilon=0.2)
    """
    levels, outwards = read_levels([low, high]), non_negative(slack, "slack")

    def build(space: Space) -> Measurement:
        if between is not None:
            bounds = Bounds.read(between)
            inner = bounds_by_quantiles(*levels, loss=loss, d_in=d_in, slack=slack, step=step)
            return (space >> clamp(bounds.lower, bounds.upper)) >> inner
        chosen = space >> quantiles(levels, loss=loss, d_in=d_in, step=step)
        grid = support(column_space(space, "bounds_by_quantiles")[0].element, None if step is None else rational(step))
        ends = grid.low * grid.step, grid.high * grid.step
        return chosen.then(lambda pair: widen(pair, outwards, ends), name="outwards") if outwards else chosen

    return Partial(f"bounds_by_quantiles({low}, {high}, loss={loss})", build)


def widen(pair: tuple[Data, Data], slack: Fraction, ends: tuple[Fraction, Fraction]) -> tuple[Data, Data]:
    """Moves two bounds outwards by a part of their distance, as far as public ends allow.

    >>> widen((20, 80), Fraction(1, 10), (Fraction(0), Fraction(82)))
    (14, 82)
    """
    low, high = Fraction(pair[0]), Fraction(pair[1])
    lower, upper = max(ends[0], low - slack * (high - low)), min(ends[1], high + slack * (high - low))
    if isinstance(pair[0], int):
        return math.floor(lower), math.ceil(upper)
    return float(lower), float(upper)
