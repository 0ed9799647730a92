"""What all contenders are asked: how many counts of equal error a limit answers."""

from __future__ import annotations

import json
from typing import NamedTuple, Self

DELTA = 1e-6
EPSILON, RHO = "epsilon", "rho"
LIMITS = ((EPSILON, 1.0), (EPSILON, 4.0), (RHO, 0.5))
"""Limits of (ε, δ) and of ρ."""

LAPLACE, GAUSSIAN, MIXED = "laplace", "gaussian", "mixed"
KINDS = (LAPLACE, GAUSSIAN, MIXED)

QUESTIONS = {EPSILON: (1_000, 10_000), RHO: (50, 1_000, 10_000)}
"""Noise is such that our own rule answers this many; the others answer what they can with the same noise."""

ASKED = 1_000
"""Sessions of so many questions are really asked, and show that rules count right; longer ones are counted only."""

MOST = 10_000
"""Nobody is asked more than this."""


class Case(NamedTuple):
    """A session: its limit, its noise, how many questions our rule is to answer, and the scale at which it does."""

    measure: str
    limit: float
    session: str
    questions: int
    scale: int

    @classmethod
    def read(cls, text: str) -> Self:
        """Reads a case from the command line of a contender."""
        return cls(*json.loads(text))

    def __str__(self) -> str:
        return json.dumps(self)

    @property
    def laplace_scale(self) -> float:
        """The scale of Laplace noise of the same error: 19 times in 20 both are within 1.96 times the scale."""
        return 1.96 * self.scale / 3

    def gaussian(self, number: int) -> bool:
        """Tells whether a question gets Gaussian noise; in mixed sessions both kinds take turns."""
        return self.session == GAUSSIAN or (self.session == MIXED and number % 2 == 1)

    def of_gaussian(self, questions: int) -> int:
        """How many of so many questions get Gaussian noise."""
        return {LAPLACE: 0, GAUSSIAN: questions, MIXED: questions // 2}[self.session]
