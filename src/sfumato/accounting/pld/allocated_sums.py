"""Sums of many independent likelihood ratios, bounded from above: what random allocation needs.

A unit is in one of T steps, at random. Against its absence the likelihood ratio is the mean of T independent ratios
r, one for each step. What is asked for are E(Σr − y)₊ and E(y − Σr)₊ for any y. Each ratio is put on a lattice
(`Ratios`), which can only enlarge both; ordinary ones are added up by tilted transforms (`Sums`), the few rare and
large ones are counted by hand (`allocated_profile`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.accounting.pld.fourier import UNIT, real_inverse, real_transform, transform_error
from sfumato.accounting.pld.lattice import BITS, joined_masses, profile_values
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.saddle_point import sketch
from sfumato.accounting.pld.tilted_composition import (
    MARGIN,
    MULTIPLY,
    Piece,
    float_down,
    float_up,
    norm,
    overflow,
    power,
    powers,
)
from sfumato.errors import NoProvenRoute
from sfumato.exact import ball, precision
from sfumato.guarantee import guarantee

Floats = NDArray[np.float64]

FINE = 96
"""Lattice steps in one standard deviation of ordinary ratios."""

CELLS = 64
"""Cells in one standard deviation of the loss, for rare ratios."""

HUGE = 650.0
"""Larger losses than this are not told apart."""

LOW_PLACES = 1 << 16
"""Ratios up to the number of steps are put on so many places, where there are few steps."""

RARELY = 2.0**-5
"""Ratios that come up less often than this in all steps together are rare."""

LEAST_EDGE = 2.0**-40
"""Ratios below this are never rare: their sum over all steps is next to nothing."""

MOST_RARE = 4096
"""No more rare ratios than this are told apart: their pairs are listed."""

TAIL = 1e-27
"""Ratios are listed as far out as the mechanism with the unit exceeds them with this chance."""

MOST_PLACES = 1 << 19
"""No window has more places than this."""

FAR = 32.0
"""Windows leave about exp(−FAR) of the tilted mass outside."""

DEPTHS = (1.0, 14.0, 36.0)
"""Sums are tilted to where their chance is about exp(−this), to each side."""

NUDGE, WIDER, SMALLEST = 1e-6, 1 + 2.0**-30, 1e-280
"""Places are read so far to the safe side, sums enlarged so much, for all rounding; powers are used down to this."""

STEEPEST = 150.0
"""No tilt changes the weight of a ratio by more than about four times this power of e."""

LARGEST = 1 << 23
"""No sum is worked out on more places than this."""

ABSOLUTE = 1e-290
"""What underflow can cost."""

BEYOND = "these steps are beyond what can be added up reliably. Sample with sf.events.Poisson, or account in Renyi."


@final
@dataclass(frozen=True)
class Ratios:
    """A law of the ratio r of one step, without the unit: ordinary ones at places of a lattice, rare ones elsewhere.

    ``lost`` is the chance, with the unit, of what has no ratio. Masses are rounded up; ``ordinary`` bounds the chance
    of the ordinary ones, ``mean`` their mean, from below and above; ``cell`` is how far apart rare losses are.
    """

    step: float
    masses: Floats
    rare: Floats
    chances: Floats
    lost: float
    ordinary: tuple[float, float]
    mean: tuple[float, float]
    spread: float
    cell: float


def ratios_of(pair: Pair, steps: int) -> Ratios:
    """Puts the ratio of one step on a lattice that suits so many steps."""
    with precision(BITS):
        rough, behind = sketch(pair, 1, TAIL), sketch(pair.reversed(), 1, TAIL)
        # How often ratios come up without the unit: chances with it, over tiny ratios, would be rounding alone.
        ratios, weights = np.exp(np.minimum(-behind.losses[::-1], HUGE)), behind.masses[::-1] / np.sum(behind.masses)
        beyond = np.cumsum(weights[::-1])[::-1]
        last = int(np.searchsorted(-beyond, -RARELY / steps).clip(1, ratios.size - 1))
        kept, edge = weights[: last + 1] / np.sum(weights[: last + 1]), max(float(ratios[last]), LEAST_EDGE)
        mean = float(np.sum(kept * ratios[: last + 1]))
        spread = math.sqrt(float(np.sum(kept * (ratios[: last + 1] - mean) ** 2)))
        step = dyadic(max(spread / FINE, 26 * spread * math.sqrt(steps) / MOST_PLACES, 4 * edge / MOST_PLACES))
        places = _places(round(mean / step), math.ceil(edge / step))
        cell, top = _cell(rough.losses, rough.masses), min(float(rough.losses[-1]), HUGE)
        count = max(0, math.ceil((top - math.log(places[-1] * step)) / cell))
        if count > MOST_RARE:
            raise NoProvenRoute(BEYOND)
        rare = [places[-1] * step * math.exp(number * cell) for number in range(1, count + 1)]
        return listed(pair, step, places, rare, cell)


def low_ratios_of(pair: Pair, steps: int) -> Ratios:
    """Puts the ratio of one step on a fine lattice up to the number of steps; what is larger is left out."""
    with precision(BITS):
        step = dyadic(steps / LOW_PLACES)
        places = _places(round(1 / step), math.ceil(steps / step) + 1)
        return listed(pair, step, places, [], 1.0)


def _cell(losses: Floats, masses: Floats) -> float:
    """How far apart losses may be listed: a share of their standard deviation, within reason."""
    weights = masses / np.sum(masses)
    centre = float(np.sum(weights * losses))
    return min(1 / 8, max(1e-3, math.sqrt(float(np.sum(weights * (losses - centre) ** 2))) / CELLS))


def dyadic(value: float) -> float:
    """A number of few digits that is not below another."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.ceil(mantissa * 1024) / 1024, exponent)


def _places(centre: int, last: int) -> list[int]:
    """Places from 1 to the last, each cell at most 1/FINE of its distance from the centre, and from 0."""
    places, place = [1], 1
    while place < last:
        place += max(1, min(place, abs(centre - place)) // FINE)
        places.append(place)
    return places


@guarantee(
    claim="a law of the ratio that dominates the pair: its profile joined at the points, each mass rounded up",
    proof="proofs/allocation.md#ratios",
    reviewed="f9d1ff521a50",
)
def listed(pair: Pair, step: float, places: Sequence[int], rare: Sequence[float], cell: float) -> Ratios:
    """Joins the dots of a pair's profile at chosen ratios: a law that dominates the pair."""
    lines = pair.lines()
    points = [arb(step) * place for place in places] + [arb(value) for value in rare]
    values = profile_values([lines(point.log()) for point in points], points)
    masses = [mass / point for mass, point in zip(joined_masses(values, points), points, strict=True)]
    never = (1 + (values[0] - 1) / points[0]).nonnegative_part()
    common = masses[: len(places)]
    ordinary = never + sum(common, arb(0))
    mean = sum((mass * point for mass, point in zip(common, points, strict=False)), arb(0)) / ordinary
    above = np.zeros(places[-1] + 1)
    above[[0, *places]] = [float_up(mass) for mass in (never, *common)]
    middle = float(mean.mid())
    spread = math.sqrt(float(np.sum(above * (step * np.arange(above.size) - middle) ** 2)))
    return Ratios(
        step,
        above,
        np.array(rare),
        np.array([float_up(mass) for mass in masses[len(places) :]]),
        float_up(values[-1]),
        (float_down(ordinary), float_up(ordinary)),
        (float_down(mean), float_up(mean)),
        spread,
        cell,
    )


@final
@dataclass(frozen=True)
class Excess:
    """Upper bounds of E(S − y)₊ at places of a lattice from ``first`` on, for a measure of S; they fall.

    For E(y − S)₊ the lattice is turned round: places stand for −S.
    """

    step: float
    first: int
    values: Floats
    mass: float

    @guarantee(
        claim="at least E(S - y)+ for every y: chords between places, the whole mass as slope before the first, level "
        "after the last",
        proof="proofs/allocation.md#sums",
        reviewed="499e899dbb95",
    )
    def at(self, points: Floats, doubt: Floats) -> Floats:
        """The bounds at any points, each of which may be wrong by a doubt."""
        index = (points - doubt) / self.step - self.first - NUDGE
        before = np.maximum(0.0, -index) * (self.step * self.mass)
        inside = np.clip(index, 0.0, self.values.size - 1.0)
        left = np.minimum(inside.astype(np.int64), self.values.size - 2)
        share = inside - left
        joined = self.values[left] * (1 - share) + self.values[left + 1] * share
        bounds: Floats = (joined + before) * WIDER + ABSOLUTE
        return bounds


def sums_of(ratios: Ratios, counts: Sequence[int], *, sign: int) -> dict[int, Excess]:
    """Bounds E(S − y)₊, or for a negative sign E(y − S)₊, for sums S of several numbers of ordinary ratios."""
    bounds = {0: Excess(ratios.step, -1, np.array([ratios.step, 0.0]), 1.0)}
    wanted = sorted({count for count in counts if count})
    if wanted:
        law = Tilting(ratios, wanted[-1], sign)
        panels = [panel(ratios, wanted, tilt, law.window(tilt)) for tilt in law.tilts()]
        for place, count in enumerate(wanted):
            lowest = _least([heights[place] for heights in panels])
            bounds[count] = Excess(ratios.step, *lowest, ratios.ordinary[1] ** count * WIDER)
    return bounds


def _least(panels: Sequence[tuple[int, Floats]]) -> tuple[int, Floats]:
    """The least of several falling bounds, each on a window of its own, from the first place at which there is one."""
    first = min(start for start, _ in panels)
    values = np.full(max(start + heights.size for start, heights in panels) - first, np.inf)
    for start, heights in panels:
        part = values[start - first : start - first + heights.size]
        np.minimum(part, heights, out=part)
    falling = np.minimum.accumulate(values)
    known = np.isfinite(falling)
    if not known.any():
        raise NoProvenRoute(BEYOND)
    return first + int(np.argmax(known)), falling[known]


@final
@dataclass(frozen=True)
class Window:
    """Places on which a sum is worked out, and an extra tilt towards the side to which it is tilted."""

    start: int
    size: int
    extra: float

    def outside(self, piece: Piece) -> float:
        """Bounds the tilted mass beyond the end of the window that the tilt leads to."""
        last = self.start + self.size if self.extra > 0 else self.start - 1
        if last < 0 or (self.extra > 0 and piece.count * (piece.above.size - 1) < last):
            return 0.0
        return overflow([piece], place=last, extra=Fraction(self.extra), step=Fraction(1))


@final
class Tilting:
    """Where to look: tilts and windows for a sum of ordinary ratios. Nothing here is certified."""

    def __init__(self, ratios: Ratios, count: int, sign: int) -> None:
        self._places = np.flatnonzero(ratios.masses)
        self._logs = np.log(ratios.masses[self._places])
        self._count, self.sign = count, sign

    def log_moment(self, tilt: float) -> tuple[float, float]:
        """ln of the moment generating function of the sum in places, and its derivative."""
        exponents = self._logs + tilt * self._places
        most = float(np.max(exponents))
        grown = np.exp(exponents - most)
        total = float(np.sum(grown))
        return self._count * (most + math.log(total)), self._count * float(np.sum(grown * self._places)) / total

    def tilts(self) -> list[float]:
        """Tilts to one side that lead to each of the depths."""
        return sorted({self._tilt(depth) for depth in DEPTHS}, key=abs)

    def _tilt(self, depth: float) -> float:
        low, high = 0.0, 1e-12
        base = self.log_moment(0.0)[0]

        def reached(tilt: float) -> bool:
            value, mean = self.log_moment(self.sign * tilt)
            return self.sign * tilt * mean - value + base >= depth

        while high * float(self._places[-1]) < STEEPEST and not reached(high):
            low, high = high, 4 * high
        for _ in range(20):
            middle = math.sqrt(max(low, 1e-13) * high)
            low, high = (low, middle) if reached(middle) else (middle, high)
        return self.sign * high

    def window(self, tilt: float) -> Window:
        """A window that holds nearly all of the sum under a tilt, and the extra tilt that shows it."""
        base, sides = self.log_moment(tilt)[0], {}
        for side in (-1, 1):
            extras = [side * abs(tilt) * 2.0 ** (number / 4) for number in range(-40, 41)]
            sides[side] = min(
                ((self.log_moment(tilt + extra)[0] - base + FAR) / extra * side, extra) for extra in extras
            )
        bottom = max(0, math.floor(-sides[-1][0]))
        top = min(self._count * int(self._places[-1]), math.ceil(sides[1][0])) + 1
        size = 1 << max(4, (top - bottom + 2).bit_length())
        if size > LARGEST:
            raise NoProvenRoute(BEYOND)
        return Window(bottom, size, sides[1][1] if tilt > 0 else sides[-1][1])


@guarantee(
    claim="at each place of the window at least E(S - y)+, or for a negative tilt E(y - S)+, of sums of ordinary "
    "ratios: the tilted circular law, its error by Cauchy and Schwarz, what overflows by Markov",
    proof="proofs/allocation.md#sums",
    reviewed="02467a2014bf",
)
def panel(ratios: Ratios, counts: Sequence[int], tilt: float, window: Window) -> list[tuple[int, Floats]]:
    """For each count the first place of a window, and bounds at its places; for a negative tilt those of −S."""
    size, rate, bounds = window.size, Fraction(abs(tilt)), []
    with precision(BITS):
        piece, scale = tilted_ratios(ratios, tilt)
        fall, peak = powers(rate, size), 1 / (ball(rate) * arb(1).exp())
        weights = np.arange(size) * fall
        length, slack = math.sqrt(float(np.sum(weights * weights))) * MARGIN, 8 * size * UNIT
        for count, (law, error) in zip(counts, circular_powers(piece.above, counts, size=size), strict=True):
            here = replace(window, start=window.start * count // counts[-1])
            first = here.start if tilt > 0 else 1 - here.start - size
            held = np.roll(law, -(here.start % size))
            sums = np.cumsum(np.cumsum(((held if tilt > 0 else held[::-1]) * fall)[::-1]))[::-1]
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                above = np.maximum(np.append(sums[1:], 0.0) / fall, 0.0)
            outside = float_up(peak * here.outside(replace(piece, count=count)))
            heights = (above * (1 + slack) + error * length * (1 + 4 * slack) + outside) * fall
            heights *= float_up((count * scale - ball(rate) * first).exp()) * ratios.step * WIDER
            bounds.append((first, np.where((fall > SMALLEST) & ~np.isnan(heights), heights, np.inf) + ABSOLUTE))
    return bounds


def tilted_ratios(ratios: Ratios, tilt: float) -> tuple[Piece, arb]:
    """The law of an ordinary ratio times exp(tilt·place), scaled, and ln of the scale."""
    places = np.flatnonzero(ratios.masses)
    grown = [arb(float(ratios.masses[place])) * (arb(tilt) * int(place)).exp() for place in places]
    total = arb(float(sum(grown, arb(0)).mid()))
    above = np.zeros(ratios.masses.size)
    above[places] = [float_up(mass / total) for mass in grown]
    return Piece(0, above, above, 1), total.log()


@guarantee(
    claim="the circular convolution of a law with itself, as often as each count says, within an error in the 2-norm",
    proof="proofs/allocation.md#powers",
    reviewed="a81eae0591f2",
)
def circular_powers(law: Floats, counts: Sequence[int], *, size: int) -> list[tuple[Floats, float]]:
    """Powers of one law on a circle, for rising counts from 1 on, each with a bound of its error."""
    turns = -(-law.size // size)
    folded = np.pad(law, (0, turns * size - law.size)).reshape(turns, size).sum(axis=0)
    relative, root = transform_error(size) + 4 * UNIT, math.sqrt(size)
    spectrum = real_transform(folded)
    missed = relative * root * math.sqrt(float(np.sum(folded * folded))) * MARGIN
    growth = math.log((1 + 2 * turns * UNIT) * math.fsum(law) + missed) * MARGIN
    if 2 * counts[-1] * MULTIPLY > 1 / 4 or counts[-1] * growth > 100:
        raise NoProvenRoute(
            "these are more steps than can be added up reliably. Sample with sf.events.Poisson instead."
        )
    grown, done = power(spectrum, counts[0]), counts[0]
    laws = []
    for count in counts:
        for _ in range(count - done):
            grown = grown * spectrum
        done = count
        length = math.sqrt(2) * norm(grown) * MARGIN
        wrong = math.exp(max(0.0, count * growth)) * count * (missed + turns * UNIT * root * 2)
        wrong = (wrong + 2 * math.expm1(2 * count * MULTIPLY) * length) * MARGIN
        error = (wrong + relative * (length + wrong)) / root * MARGIN + ABSOLUTE
        laws.append((real_inverse(grown), error))
    return laws
