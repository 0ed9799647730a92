"""Laws of the privacy loss on a lattice: one that dominates a pair, and one that the pair dominates.

The dominating law joins the profile's values at the lattice points by straight lines ("connect the dots"). The
dominated law joins points below supporting lines. Both are worked out with balls; masses are rounded to the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import final

from flint import arb

from sfumato.accounting.pld.pairs.pair import NONE, Line, Pair
from sfumato.errors import BadArgument
from sfumato.exact import ball
from sfumato.guarantee import guarantee

BITS = 128
"""Precision of the balls behind a law."""

TIE = arb(0, arb(2) ** -96)
"""Points closer than this to a test's edge may be on its wrong side: what that can cost, relative to their mass."""


LIFTED = arb(2) ** -90
"""A line may be lifted by this share of its test's mass at most, to make up for rounding."""


@final
@dataclass(frozen=True)
class Law:
    """A law on whole multiples of a step, known from above and from below, with what lies at infinite loss.

    ``exact`` says that ``below`` is dominated by the pair itself. Otherwise the pair spread by one coin of the step
    dominates it: see proofs/lattice.md#spread. ``short`` is what must be taken off the profile from below.
    """

    places: list[int]
    above: list[arb]
    below: list[arb]
    infinite: tuple[arb, arb]
    short: arb
    exact: bool


def lattice_law(pair: Pair, places: list[int], step: Fraction, *, aligned: bool = False, anchored: bool = False) -> Law:
    """The laws of a pair on chosen lattice points; ``aligned`` says that every loss of the pair is one of them.

    The points must rise, have 0 among them for a smooth pair, and be neighbours for any other that is not aligned. One
    that is ``anchored``, with every loss that carries a mass of its own among the points, is taken for smooth.
    """
    if len(places) < 3:
        raise BadArgument("places", "three or more", places)
    lines = pair.lines()
    unit = ball(step)
    losses = [unit * place for place in places]
    ratios = [loss.exp() for loss in losses]
    touching = [lines(loss) for loss in losses]
    values = profile_values(touching, ratios)
    masses = joined_masses(values, ratios)
    above, beyond = [arb(mass.upper()) for mass in masses], arb(values[-1].upper())
    if pair.smooth or anchored:
        middles = [lines((left + right) / 2) for left, right in pairwise(losses)]
        below, short = dominated_masses(middles, touching, ratios)
        return Law(places, above, below, (beyond, arb(0)), short, exact=True)
    # The outermost masses depend on what lies further out. From above they move up one place; from below they are left.
    above[1] += above[0]
    sure = touching[-1].here if touching[-1].there.is_zero() else arb(0)
    return Law(places[1:-1], above[1:-1], masses[1:-1], (beyond + above[-1], sure), arb(0), exact=aligned)


@guarantee(
    claim="h(x) = P(S) - x Q(S), at least 0 and at least 1 - x, up to ties",
    proof="proofs/lattice.md#values",
    reviewed="c5baa6beed2b",
)
def profile_values(touching: list[Line], ratios: list[arb]) -> list[arb]:
    """Encloses the profile at each point."""
    values = []
    before = arb(1)
    for line, ratio in zip(touching, ratios, strict=True):
        # What a tie can cost is at most this share of the mass above the point before.
        value = line.here - ratio * line.there + TIE * before
        least = 1 - ratio
        values.append(value if value > 0 and value > least else value.max(arb(0)).max(least))
        before = line.here
    return values


@guarantee(
    claim="masses x_j (s_j - s_(j-1)) of the chords' slopes s, from (0, 1) on the left to level on the right",
    proof="proofs/lattice.md#join",
    reviewed="f58caa5ca082",
)
def joined_masses(values: list[arb], ratios: list[arb]) -> list[arb]:
    """Encloses the masses of the law whose profile joins the values by straight lines."""
    masses = []
    slope = (values[0] - 1) / ratios[0]
    for place, ratio in enumerate(ratios):
        following = _chord(values, ratios, place, place + 1) if place + 1 < len(ratios) else arb(0)
        masses.append((ratio * (following - slope)).nonnegative_part())
        slope = following
    return masses


@guarantee(
    claim="chords between points that are below the supporting lines of their cells are below the profile",
    proof="proofs/lattice.md#below",
    reviewed="fc069500f6a9",
)
def dominated_masses(middles: list[Line], touching: list[Line], ratios: list[arb]) -> tuple[list[arb], arb]:
    """Masses of a law that the pair dominates, from one supporting line inside each cell."""
    cells = zip(middles, pairwise(touching), pairwise(ratios), strict=True)
    kept = [_kept(line, ends, cell) for line, ends, cell in cells]
    first = kept[0][0]
    points = [_lesser(1 - ratios[0], first.here - ratios[0] * first.there)]
    for (left, _), (right, _), ratio in zip(kept, kept[1:], ratios[1:], strict=False):
        points.append(_lesser(left.here - ratio * left.there, right.here - ratio * right.there))
    points.append(arb(0))
    masses, short = hull_masses(points, ratios)
    lifted = max((lift for _, lift in kept if lift > 0), default=arb(0))
    return masses, arb((short + lifted).upper())


def _kept(line: Line, ends: tuple[Line, Line], cell: tuple[arb, arb]) -> tuple[Line, arb]:
    """A cell's line that is not negative inside the cell, and by how much it was lifted for that.

    That is the line at the middle, or the one at the left end, if it is nowhere below 1 − x either and does not lose
    most of the profile at the right end; else the one at the right end, where it is sharp.
    """
    left, right = cell
    height = line.here - right * line.there
    blunt = height < (ends[1].here - right * ends[1].there) / 2
    if height >= 0 and not blunt and line.here - left * line.there >= 1 - left:
        return line, arb(0)
    for (here, there), floor in list(zip(ends, (1 - left, arb(0)), strict=True))[1 if blunt else 0 :]:
        low, high = arb(here.lower()), arb(there.upper())
        lift = arb((right * high - low).max(floor + left * high - low).nonnegative_part().upper())
        if lift.is_zero() or lift < LIFTED * low:
            return Line(low + lift, high), lift
    return NONE, arb(0)


@guarantee(
    claim="masses of the points' lower hull; what rounding leaves negative is carried up, and at the top given back",
    proof="proofs/lattice.md#hull",
    reviewed="4fbeaa3d939d",
)
def hull_masses(points: list[arb], ratios: list[arb]) -> tuple[list[arb], arb]:
    """Masses of a law whose profile, less a constant that is given too, lies below all chords of some points.

    The first chord begins at (0, 1), where every profile does.
    """
    heights, places = [arb(1), *points], [arb(0), *ratios]
    corners: list[int] = []
    for place in range(len(heights)):
        while len(corners) > 1 and _chord(heights, places, corners[-1], place) < _chord(heights, places, *corners[-2:]):
            corners.pop()
        corners.append(place)
    masses, owed, slope = [arb(0)] * len(heights), arb(0), _chord(heights, places, *corners[:2])
    for number, place in enumerate(corners[1:], start=1):
        following = _chord(heights, places, *corners[number : number + 2]) if number + 1 < len(corners) else arb(0)
        mass = arb((following - slope - owed).lower())
        slope, owed = following, (-mass).nonnegative_part()
        masses[place] = arb((places[place] * mass.nonnegative_part()).lower())
    return masses[1:], arb((owed * ratios[-1]).upper())


def _chord(heights: list[arb], ratios: list[arb], left: int, right: int) -> arb:
    """The slope of the chord between two places."""
    return (heights[right] - heights[left]) / (ratios[right] - ratios[left])


def _lesser(left: arb, right: arb) -> arb:
    """An exact number that is at most both."""
    return arb(left.lower().min(right.lower()))
