"""How a picture is painted from strokes: outlines filled with a tone, or lines of a brush, each with soft edges.

Coordinates are in hundredths of the picture's width, from its upper left corner; tones go from 0, black, to 1, white.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.float64]

WIDE = 100.0
"""The width of a picture in units of its strokes."""

OUTLINE_STEPS, LINE_STEPS = 8, 6
"""Straight pieces between two points of a curve."""


@final
@dataclass(frozen=True)
class Stroke:
    """A smooth curve through points: filled if it has no ``width``, else drawn with a brush of that width.

    ``soft`` is how far its edge is smoked away (the standard deviation of a blur), and ``opacity`` how much it covers.
    """

    points: tuple[tuple[float, float], ...]
    tone: float
    soft: float = 1.0
    opacity: float = 1.0
    width: float | None = None


def paint(ground: Picture, strokes: Sequence[Stroke]) -> Picture:
    """Paints strokes over a ground, one after the other."""
    height, width = ground.shape
    unit = WIDE / width
    down, right = np.mgrid[0:height, 0:width] * unit + unit / 2
    picture = ground
    for stroke in strokes:
        covered = smoked(_covered(stroke, right, down, unit), stroke.soft) * stroke.opacity
        picture = picture * (1 - covered) + stroke.tone * covered
    return np.clip(picture, 0, 1)


def smoked(picture: Picture, soft: float) -> Picture:
    """Blurs a picture by a bell of a standard deviation, in units of strokes; edges keep their brightness."""
    height, width = picture.shape
    blurred: Picture = _bell(height, soft * width / WIDE) @ picture @ _bell(width, soft * width / WIDE).T
    return blurred


def _bell(size: int, deviation: float) -> Picture:
    """The matrix of weights that average along one side."""
    apart = np.subtract.outer(np.arange(size), np.arange(size)) / max(deviation, 1e-3)
    weights: Picture = np.exp(-(apart**2) / 2)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _covered(stroke: Stroke, right: Picture, down: Picture, unit: float) -> Picture:
    """The share of each pixel that a stroke covers; ``unit`` is the side of a pixel."""
    points = np.array(stroke.points, dtype=np.float64)
    if stroke.width is None:
        neighbours = [np.roll(points, shift, axis=0) for shift in (1, 0, -1, -2)]
        return _inside(_curve(neighbours, OUTLINE_STEPS), right, down).astype(np.float64)
    longer = np.vstack([2 * points[0] - points[1], points, 2 * points[-1] - points[-2]])
    line = np.vstack([_curve([longer[place : len(points) - 1 + place] for place in range(4)], LINE_STEPS), points[-1]])
    return np.clip((stroke.width / 2 - _distance(line, right, down)) / unit + 0.5, 0, 1)


def _curve(neighbours: Sequence[Picture], steps: int) -> Picture:
    """Points on the smooth curve between the second and third of four neighbours (Catmull and Rom 1974)."""
    before, here, there, after = neighbours
    at = np.linspace(0, 1, steps, endpoint=False)[:, None, None]
    curve = (
        2 * here
        + (there - before) * at
        + (2 * before - 5 * here + 4 * there - after) * at**2
        + (3 * here - before - 3 * there + after) * at**3
    ) / 2
    return curve.transpose(1, 0, 2).reshape(-1, 2)


def _inside(outline: Picture, right: Picture, down: Picture) -> NDArray[np.bool_]:
    """Which places a closed outline winds around, counted by the edges that a ray crosses."""
    within = np.zeros(right.shape, dtype=np.bool_)
    for (x, y), (to_x, to_y) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if y != to_y:
            crossed = (y > down) != (to_y > down)
            within ^= crossed & (right < (to_x - x) * (down - y) / (to_y - y) + x)
    return within


def _distance(line: Picture, right: Picture, down: Picture) -> Picture:
    """How far each place is from a line of straight pieces."""
    nearest = np.full(right.shape, np.inf)
    for (x, y), (to_x, to_y) in pairwise(line):
        along_x, along_y = to_x - x, to_y - y
        length = along_x**2 + along_y**2
        share = np.clip(((right - x) * along_x + (down - y) * along_y) / length, 0, 1) if length else 0.0
        nearest = np.minimum(nearest, np.hypot(right - x - share * along_x, down - y - share * along_y))
    return nearest
