"""Piecewise linear trade-off curves by their corners: envelopes, products and chains, exactly or from below.

A curve runs from (0, f(0)) to (1, 0), falls, is convex and never above 1 − α. Corners are rationals. What must be
rounded is moved down and to the left, which can only lower a falling curve.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from sfumato.guarantee import guarantee

Corner: TypeAlias = tuple[Fraction, Fraction]
"""A rate of false alarms, and the least rate of misses there."""

Corners: TypeAlias = tuple[Corner, ...]
"""All corners of a curve, from left to right, both ends included."""

Line: TypeAlias = tuple[Fraction, Fraction]
"""Height at 0 and slope downwards: misses are at least height − slope · false alarms."""

PERFECT: Corners = ((Fraction(0), Fraction(1)), (Fraction(1), Fraction(0)))

MOST = 512
"""A chain keeps at most this many edges; any further one is dropped, which lowers the curve."""

DIGITS, FINE = 512, 256
"""Corners are short while their common denominator has at most this many bits; others move to the grid of 2**-FINE."""

NEGLIGIBLE = 2.0**-100
"""Edges that are kept are spread over rates above this."""


@guarantee(
    claim="the lower convex hull of corners is not above the curve through them",
    proof="proofs/trade_off.md#corners",
    reviewed="11b8b7bf7bf3",
)
def lower_hull(corners: Iterable[Corner]) -> Corners:
    """The corners of the lower convex hull, exactly."""
    hull: list[Corner] = []
    for alpha, beta in sorted(corners):
        if hull and hull[-1][0] == alpha:
            continue
        while len(hull) > 1 and _turn(hull[-2], hull[-1], (alpha, beta)) <= 0:
            hull.pop()
        hull.append((alpha, beta))
    return tuple(hull)


def _turn(left: Corner, middle: Corner, right: Corner) -> Fraction:
    """A number that is positive where the middle corner is below the chord of the others."""
    return (middle[0] - left[0]) * (right[1] - left[1]) - (middle[1] - left[1]) * (right[0] - left[0])


def height(corners: Corners, alpha: Fraction) -> Fraction:
    """The curve at a rate of false alarms, exactly."""
    place = bisect_right(corners, alpha, key=lambda corner: corner[0])
    left = corners[place - 1]
    if place == len(corners) or alpha == left[0]:
        return left[1]
    right = corners[place]
    return left[1] + (right[1] - left[1]) * (alpha - left[0]) / (right[0] - left[0])


def edges(corners: Corners) -> list[Line]:
    """The line through each edge, from the steepest to the flattest."""
    slopes = [(left, (left[1] - right[1]) / (right[0] - left[0])) for left, right in pairwise(corners)]
    return [(left[1] + slope * left[0], slope) for left, slope in slopes]


@guarantee(
    claim="lines that no test is below have an envelope that no test is below",
    proof="proofs/trade_off.md#corners",
    reviewed="f88daddf7285",
)
def envelope(lines: Iterable[Line]) -> Corners:
    """The curve that is the largest of lines and 0, exactly; the lines must not be above 1 − α."""
    upper_lines: list[tuple[Line, Fraction]] = []  # each line with where it takes over
    for line in sorted({*lines, (Fraction(0), Fraction(0))}, key=lambda line: (-line[1], -line[0])):
        if upper_lines and upper_lines[-1][0][1] == line[1]:
            continue
        start = Fraction(0)
        while upper_lines:
            (tall, steep), since = upper_lines[-1]
            start = max(Fraction(0), (tall - line[0]) / (steep - line[1]))
            if start > since:
                break
            upper_lines.pop()
            start = Fraction(0)
        upper_lines.append((line, start))
    corners = [(start, tall - steep * start) for (tall, steep), start in upper_lines if start < 1]
    return lower_hull([*corners, (Fraction(1), Fraction(0))])


@guarantee(
    claim="f (x) g is the trade-off between the products of the two masses of the edges",
    proof="proofs/trade_off.md#product",
    reviewed="f8e24d78b70e",
)
def product(first: Corners, second: Corners) -> Corners:
    """The curve of two mechanisms together, exactly: for few corners with short numbers."""
    one, other = _masses(first), _masses(second)
    joint: dict[Fraction | None, tuple[Fraction, Fraction]] = {}
    for innocent, guilty, ratio in one:
        for also_innocent, also_guilty, other_ratio in other:
            # Without a ratio an outcome is impossible on the innocent side; it stays so in every product.
            both = None if ratio is None or other_ratio is None else ratio * other_ratio
            alarm, caught = joint.get(both, (0, 0))
            joint[both] = (alarm + innocent * also_innocent, caught + guilty * also_guilty)
    certain = joint.pop(None, (Fraction(0), Fraction(0)))[1]
    corners = [(Fraction(0), 1 - certain)]
    for ratio in sorted((ratio for ratio in joint if ratio is not None), reverse=True):
        alarm, caught = joint[ratio]
        corners.append((corners[-1][0] + alarm, corners[-1][1] - caught))
    return lower_hull([*corners, (Fraction(1), Fraction(0))])


def _masses(corners: Corners) -> list[tuple[Fraction, Fraction, Fraction | None]]:
    """For each edge its masses under both hypotheses and their ratio, the certain part first."""
    parts = [(right[0] - left[0], left[1] - right[1]) for left, right in pairwise(corners)]
    sure = 1 - corners[0][1]
    return [*([(Fraction(0), sure, None)] if sure else []), *((here, there, there / here) for here, there in parts)]


@guarantee(
    claim="T(P, Q) >= f and T(Q, R) >= g imply T(P, R) >= g(1 - f)",
    proof="proofs/trade_off.md#group",
    reviewed="2a880c510d60",
)
def chained(first: Corners, second: Corners, *, most: int = MOST) -> Corners:
    """The curve between the ends of a chain of two steps: α ↦ second(1 − first(α))."""
    first, second = lowered(first), lowered(second)
    places = [alpha for alpha, _ in first]
    for wanted in (1 - alpha for alpha, _ in second):
        # Heights fall from left to right; the flat end at height 0 needs no further place.
        place = bisect_left(first, -wanted, key=lambda corner: -corner[1])
        if 0 < place < len(first) and first[place][1] < wanted:
            (left, high), (right, low) = first[place - 1], first[place]
            places.append(left + (right - left) * (high - wanted) / (high - low))
    corners = [(alpha, height(second, 1 - height(first, alpha))) for alpha in places]
    return thinned(lower_hull([*corners, (Fraction(1), Fraction(0))]), most=most)


def short(corners: Corners) -> bool:
    """Tells whether the numbers of a curve have few digits."""
    common = 1
    for corner in corners:
        common = math.lcm(common, corner[0].denominator, corner[1].denominator)
        if common.bit_length() > DIGITS:
            return False
    return True


@guarantee(
    claim="corners that move down and to the left lower a falling curve",
    proof="proofs/trade_off.md#corners",
    reviewed="fa63a86466df",
)
def lowered(corners: Corners) -> Corners:
    """The curve itself while its numbers are short, else one just below it on a grid."""
    if short(corners):
        return corners
    unit = 1 << FINE
    moved = [
        (Fraction(math.floor(alpha * unit), unit), Fraction(math.floor(beta * unit), unit)) for alpha, beta in corners
    ]
    return lower_hull(moved)


@guarantee(
    claim="a curve without some of its edges is the envelope of the others, and lower",
    proof="proofs/trade_off.md#corners",
    reviewed="3d76929947df",
)
def thinned(corners: Corners, *, most: int = MOST) -> Corners:
    """The curve itself while its edges are few, else the envelope of a choice of them."""
    lines = edges(corners)
    return corners if len(lines) <= most else lowered(envelope(lines[place] for place in _choice(corners, lines, most)))


def _choice(corners: Corners, lines: Sequence[Line], most: int) -> list[int]:
    """Chooses edges: the first, the last, and those nearest to evenly spaced logarithms of slopes."""
    seen = [
        place
        for place, (left, right) in enumerate(pairwise(corners))
        if right[0] > NEGLIGIBLE and left[1] > NEGLIGIBLE and lines[place][1] > 0
    ]
    if not seen:
        return [0, len(lines) - 1]
    logs = [-_log(lines[place][1]) for place in seen]
    step = (logs[-1] - logs[0]) / (most - 3)
    chosen = {seen[min(len(seen) - 1, bisect_left(logs, logs[0] + step * place))] for place in range(most - 2)}
    return sorted({0, len(lines) - 1} | chosen)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
