"""When a model is good enough, and what all estimates check first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.release.progress import Progress
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Measured, total_of

ITERATIONS = 1000
"""Counts are worked out at most so often; most models need 50 to 250 times."""

TOLERANCE = 1e-3
"""A model is done when `PATIENCE` evaluations improve L by less than this share of it."""

PATIENCE = 10


@final
@dataclass(frozen=True)
class Watching:
    """Stops when few evaluations gained little, or when there were enough."""

    iterations: int
    tolerance: float
    progress: Progress | None
    values: list[tuple[int, float]] = field(default_factory=list)

    @staticmethod
    def of(iterations: int, tolerance: float, progress: Progress | None) -> Watching:
        """Checks what a caller asks for."""
        if not tolerance >= 0:
            raise BadArgument("tolerance", "a number of at least 0", tolerance)
        return Watching(integer(iterations, "iterations", least=0), float(tolerance), progress)

    def __call__(self, value: float, evaluations: int) -> bool:
        """Tells whether a value after so many evaluations is good enough."""
        self.values.append((evaluations, value))
        if self.progress is not None:
            self.progress(min(evaluations, self.iterations), self.iterations)
        earlier = [old for when, old in self.values[:-1] if when <= evaluations - PATIENCE]
        return evaluations >= self.iterations or (bool(earlier) and earlier[-1] - value <= self.tolerance * value)


def total_for(domain: Domain, measured: Sequence[Measured], total: float | None) -> float:
    """The number of rows that a model is for: the stated one, or that of the measured marginals, which must fit."""
    for one in measured:
        one.check(domain)
    number = total_of(measured) if total is None else float(total)
    if not (math.isfinite(number) and number > 0):
        raise BadArgument("total", "a number greater than 0", total)
    return number
