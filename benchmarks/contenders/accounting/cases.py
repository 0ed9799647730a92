"""What every contender is asked for; standard library only, since it is imported in all their environments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

ADD_REMOVE, CHANGE_ONE = "add/remove", "change-one"


@final
@dataclass(frozen=True)
class Question:
    """Is one question: the least ε at this δ for the plan of a case, between neighbours of a kind."""

    case: str
    delta: float
    relation: str = ADD_REMOVE


@final
@dataclass(frozen=True)
class Training:
    """Is DP-SGD: Gaussian noise (in units of the clipping norm) on Poisson samples, step after step."""

    rate: float
    noise: float
    steps: int


COUNT = 1000
SCALE = 30.0
EXACT = {
    1e-6: 5.18903664082188626,
    1e-9: 6.54435761139796170,
    1e-12: 7.66548102885843744,
    1e-14: 8.32932220375798623,
    1e-20: 10.0593423962308269,
}
"""The exact ε of `COUNT` Gaussians of that `SCALE` at each δ: worked out from the normal integral to 60 digits."""

TRAININGS = {
    "dpsgd": Training(rate=0.01, noise=1.0, steps=10_000),
    "dpsgd long": Training(rate=0.001, noise=0.8, steps=50_000),
}

GAUSSIANS = tuple(20 + 100 * index / 499 for index in range(500))
LAPLACES = tuple(40 + 360 * index / 499 for index in range(500))
"""The scales of the case `hetero`: a thousand different mechanisms."""

DPSGD = Question("dpsgd", 1e-5)
HETERO = Question("hetero", 1e-5)
LONG = Question("dpsgd long", 1e-6)
EXCHANGE = Question("dpsgd", 1e-5, CHANGE_ONE)
GAUSS = tuple(Question("gauss", delta) for delta in EXACT)
SWEEP = tuple(Question("dpsgd", delta) for delta in (1e-4, 1e-6, 1e-8, 1e-10))
QUESTIONS = (*GAUSS, DPSGD, *SWEEP, EXCHANGE, LONG, HETERO)

SIGMA_RATE, SIGMA_STEPS = 0.01, 1000
SIGMA_EPSILON, SIGMA_DELTA = 1.0, 1e-5
"""The case `sigma`: the least noise for which this many steps at this rate keep (ε, δ)."""
