"""What every contender is asked for; standard library only, since it is imported in all their environments."""

from __future__ import annotations

import math
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


@final
@dataclass(frozen=True)
class Setting:
    """Is one point of the grid: DP-SGD, and the δ at which ε is asked for."""

    training: Training
    delta: float

    @property
    def name(self) -> str:
        """Gives the setting in words."""
        asked = self.training
        return f"rate {asked.rate:g}, noise {asked.noise:g}, {asked.steps} steps"


@final
@dataclass(frozen=True)
class Calibration:
    """Is one question for the least noise of DP-SGD."""

    epsilon: float
    delta: float
    rate: float
    steps: int


def spread(place: int) -> Setting:
    """Gives one of many settings that fill the whole range evenly: multiples of irrational numbers, modulo 1."""
    rate, noise, steps, delta = (place * math.sqrt(prime) % 1 for prime in (2, 3, 5, 7))
    asked = Training(rounded(10 ** (6 * rate - 6)), rounded(0.4 * 250**noise), round(10 ** (9 * steps)))
    return Setting(asked, rounded(10 ** (17 * delta - 20)))


def rounded(value: float) -> float:
    """Gives three digits."""
    return float(f"{value:.3g}")


GRID = tuple(spread(place) for place in range(1, 201))
"""DP-SGD with rates from 1e-6 to 1, noise from 0.4 to 100, up to a billion steps, at δ from 1e-20 to 1e-3."""

GRID_ONLY = "--grid"
"""The flag that leaves out everything but the grid and the calibrations."""

CALIBRATIONS = (
    Calibration(1.0, 1e-8, 1024 / 1e7, 9765),
    Calibration(1.0, 1e-7, 256 / 1e6, 3907),
    Calibration(0.5, 1e-5, 16 / 60_000, 3750),
    Calibration(1.0, 1e-5, 0.01, 1000),
    Calibration(8.0, 1e-6, 0.001, 100_000),
)

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
