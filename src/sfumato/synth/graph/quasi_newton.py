"""Descent to the least value of a smooth function, from its gradients (L-BFGS; Nocedal & Wright 2006, chapter 7)."""

from __future__ import annotations

from collections import deque
from typing import Protocol, TypeAlias

from sfumato.synth.graph.measured import Floats

MEMORY = 30
"""So many past steps tell of the curvature."""

SHORTER = 20
"""A step is shortened at most so often; if none of them descends, the search ends."""

Past: TypeAlias = "deque[tuple[Floats, Floats, float]]"


class Function(Protocol):
    """A function of a vector that tells more of the place where it was evaluated last."""

    def at(self, point: Floats) -> float:
        """The value at a point."""

    def gradient(self) -> Floats:
        """The gradient at the last point."""

    def curvature(self) -> Floats:
        """A guess at the diagonal of the curvature at the last point, positive."""


class Watch(Protocol):
    """What is told of every step, and says when to stop."""

    def __call__(self, value: float, evaluations: int) -> bool:
        """Tells whether a value after so many evaluations is good enough."""


def descend(function: Function, start: Floats, *, stop: Watch, evaluations: int = 0) -> Floats:
    """Descends from a point until told to stop, or until no step descends; returns the last point.

    The function was evaluated last at the point that is returned, or at one beyond it.
    """
    past: Past = deque(maxlen=MEMORY)
    point, value = start, function.at(start)
    gradient, diagonal = function.gradient(), function.curvature()
    evaluations += 1
    while not stop(value, evaluations):
        step = _direction(gradient, past, diagonal)
        slope, length, before = float(step @ gradient), 1.0, value
        if not slope < 0:
            past.clear()
            step = -gradient / diagonal
            slope = float(step @ gradient)
        for _ in range(SHORTER):
            there = point + length * step
            value = function.at(there)
            evaluations += 1
            if value <= before + 1e-4 * length * slope:
                break
            length *= min(max(-slope * length / (2 * (value - before - slope * length)), 0.1), 0.5)
        else:
            return point
        moved, bent = there - point, function.gradient() - gradient
        point, gradient, diagonal = there, gradient + bent, function.curvature()
        square = float(bent @ bent)
        if square > 1e-250 and (inner := float(moved @ bent)) > 1e-12 * square:  # below, products come to nothing
            past.append((moved, bent, 1 / inner))
    return point


def _direction(gradient: Floats, past: Past, diagonal: Floats) -> Floats:
    step, weights = -gradient, []
    for moved, bent, inverse in reversed(past):
        weights.append(inverse * float(moved @ step))
        step -= weights[-1] * bent
    step /= diagonal
    if past:
        _, bent, inverse = past[-1]
        curved = inverse * float(bent @ (bent / diagonal))
        step *= 1 / curved if curved > 0 else 1.0  # it underflows where answers are met exactly
    for (moved, bent, inverse), weight in zip(past, reversed(weights), strict=True):
        step += (weight - inverse * float(bent @ step)) * moved
    return step
