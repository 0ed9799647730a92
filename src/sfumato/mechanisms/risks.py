"""Convex risks of linear models: how losses slope and bend with scores, in floats of known error and in balls.

A row has coordinates z, the first of them 1 and none beyond ±1, and one or several scores, each z·θ. Its loss is a
convex function of the scores and of the target; no slope is beyond ±1. Scores and targets are arrays of rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.guarantee import guarantee
from sfumato.noise.certified import EXP_MOST, exp_minus

Floats: TypeAlias = NDArray[np.float64]

UNIT = 2.0**-53
"""The rounding of one operation, relatively."""

EXP_UNITS = 15.0
"""The error of `exp_minus` in such units, relatively; the page proves 14.1."""

PROOF = "proofs/objective_perturbation.md"


class Risk(ABC):
    """The loss of a row as a function of its scores and its target."""

    @property
    @abstractmethod
    def scores(self) -> int:
        """How many scores a row has."""

    @property
    @abstractmethod
    def rank(self) -> int:
        """The rank of the matrix of second derivatives by scores, at most."""

    @property
    @abstractmethod
    def bend(self) -> tuple[Fraction, Fraction, Fraction]:
        """c₀, c₁, c₂ ≤ 0: where the largest slope is a, the trace of that matrix is at most c₀ + c₁a + c₂a²."""

    @property
    @abstractmethod
    def stiffness(self) -> Fraction:
        """The ridge over the scale of noise and the greatest |z|²: by simulation on made-up data, not by a theorem."""

    @property
    @abstractmethod
    def usual_slope(self) -> float:
        """About the greatest length of slopes that many rows have: what descent does not cut off."""

    @property
    @abstractmethod
    def usual_bend(self) -> float:
        """About the second derivative of a row's loss, to steer by."""

    def steered(self, scores: Floats) -> Floats:
        """About the second derivatives where only scores are known, (rows, scores, scores), to steer by."""
        return self.bends(scores, np.zeros(len(scores)))

    @abstractmethod
    def targets(self, column: Floats) -> tuple[NDArray[np.bool_], Floats]:
        """Which rows have a target that can be used, and the targets, from a column of numbers or codes."""

    @abstractmethod
    def slopes(self, scores: Floats, targets: Floats) -> Floats:
        """The derivatives of rows' losses by their scores; each within `doubt` of the truth."""

    @abstractmethod
    def doubt(self, most: float, off: float) -> float:
        """Bounds the error of `slopes` where scores are at most ``most`` in size and known up to ``off``."""

    @abstractmethod
    def exact_slopes(self, scores: list[arb], target: float) -> list[arb]:
        """Encloses the slopes of one row."""

    @abstractmethod
    def value(self, scores: Floats, targets: Floats) -> float:
        """The sum of the losses, to steer by."""

    def quick(self, scores: Floats, targets: Floats) -> tuple[float, Floats, Floats]:
        """The sum of the losses, their slopes and their bends, to steer by: no error of these is known."""
        return self.value(scores, targets), self.slopes(scores, targets), self.bends(scores, targets)

    @abstractmethod
    def bends(self, scores: Floats, targets: Floats) -> Floats:
        """The second derivatives by pairs of scores, (rows, scores, scores); within 4 `doubt`, where they exist."""

    @abstractmethod
    def firm(self, scores: Floats, targets: Floats, slack: float) -> Floats:
        """No more than the second derivatives anywhere within a small ``slack`` of the scores, in the same sense."""


def _sigmoid(scores: Floats) -> Floats:
    tail = exp_minus(np.minimum(np.abs(scores), EXP_MOST))
    return np.where(scores >= 0, 1.0, tail) / (1.0 + tail)


def _coded(column: Floats, classes: int) -> tuple[NDArray[np.bool_], Floats]:
    return (column >= 0) & (column < classes) & (column == np.floor(column)), column


@final
@dataclass(frozen=True)
class Logistic(Risk):
    """ln(1 + exp f) − y f, of classes y 0 and 1."""

    scores = 1
    rank = 1
    bend = (Fraction(0), Fraction(1), Fraction(-1))
    stiffness = Fraction(1, 4)
    usual_slope = 1.0
    usual_bend = 0.25

    def targets(self, column: Floats) -> tuple[NDArray[np.bool_], Floats]:
        return _coded(column, 2)

    def slopes(self, scores: Floats, targets: Floats) -> Floats:
        return _sigmoid(scores) - targets[:, None]

    def doubt(self, most: float, off: float) -> float:
        return logistic_doubt(off)

    def exact_slopes(self, scores: list[arb], target: float) -> list[arb]:
        return [1 / (1 + (-scores[0]).exp()) - arb(target)]

    def value(self, scores: Floats, targets: Floats) -> float:
        return float(np.sum(np.logaddexp(0.0, scores[:, 0]) - targets * scores[:, 0]))

    def quick(self, scores: Floats, targets: Floats) -> tuple[float, Floats, Floats]:
        tail = np.exp(-np.abs(scores))
        share = np.where(scores >= 0, 1.0, tail) / (1.0 + tail)
        risen = np.maximum(scores, 0.0) - targets[:, None] * scores + np.log1p(tail)
        return float(risen.sum()), share - targets[:, None], (share * (1.0 - share))[:, :, None]

    def bends(self, scores: Floats, targets: Floats) -> Floats:
        share = _sigmoid(scores)
        return (share * (1 - share))[:, :, None]

    def firm(self, scores: Floats, targets: Floats, slack: float) -> Floats:
        return (1.0 - 8.0 * slack) * self.bends(scores, targets)


@guarantee(claim="|slopes − truth| of the logistic loss", proof=f"{PROOF}#floats", reviewed="d80910aaf99f")
def logistic_doubt(off: float) -> float:
    """Bounds the error of a computed slope of the logistic loss."""
    return 8.0 * UNIT + off / 2


@final
@dataclass(frozen=True)
class Softmax(Risk):
    """ln Σ exp f_k − f_y, of several classes y, the first of which has the score 0."""

    classes: int

    def __post_init__(self) -> None:
        if integer(self.classes, "classes") < 3:
            raise BadArgument("classes", "three or more; of two, the risk is Logistic", self.classes)

    @property
    def scores(self) -> int:
        return self.classes - 1

    @property
    def rank(self) -> int:
        return self.classes - 1

    @property
    def bend(self) -> tuple[Fraction, Fraction, Fraction]:
        rest = Fraction(1, 4) if self.classes == 3 else Fraction(self.classes - 3, self.classes - 2)
        return rest, Fraction(1), Fraction(-1)

    stiffness = Fraction(1)
    usual_slope = 0.8
    usual_bend = 0.25

    def targets(self, column: Floats) -> tuple[NDArray[np.bool_], Floats]:
        return _coded(column, self.classes)

    def slopes(self, scores: Floats, targets: Floats) -> Floats:
        return np.asarray(self._shares(scores)[:, 1:] - (targets[:, None] == np.arange(1, self.classes)))

    def _shares(self, scores: Floats) -> Floats:
        every = self._every(scores)
        parts = exp_minus(np.minimum(every.max(axis=1, keepdims=True) - every, EXP_MOST))
        whole = np.zeros(len(parts))
        for part in parts.T:  # one after another, so that no row's sum depends on the layout of all
            whole = whole + part
        return np.asarray(parts / whole[:, None])

    @staticmethod
    def _every(scores: Floats) -> Floats:
        return np.concatenate([np.zeros((len(scores), 1)), scores], axis=1)

    def doubt(self, most: float, off: float) -> float:
        return softmax_doubt(self.classes, most, off)

    def exact_slopes(self, scores: list[arb], target: float) -> list[arb]:
        parts = [score.exp() for score in scores]
        whole = sum(parts, arb(1))
        return [part / whole - int(place == target) for place, part in enumerate(parts, 1)]

    def value(self, scores: Floats, targets: Floats) -> float:
        every = self._every(scores)
        own = every[np.arange(len(every)), targets.astype(np.intp)]
        return float(np.sum(np.logaddexp.reduce(every, axis=1) - own))

    def bends(self, scores: Floats, targets: Floats) -> Floats:
        shares = self._shares(scores)[:, 1:]
        made = -shares[:, :, None] * shares[:, None, :]
        places = np.arange(self.scores)
        made[:, places, places] += shares
        return made

    def firm(self, scores: Floats, targets: Floats, slack: float) -> Floats:
        return (1.0 - 8.0 * slack) * self.bends(scores, targets)


@guarantee(claim="|slopes − truth| of the multinomial loss", proof=f"{PROOF}#floats", reviewed="ba294d004026")
def softmax_doubt(classes: int, most: float, off: float) -> float:
    """Bounds the error of a computed slope of the multinomial loss."""
    return 3.0 * (EXP_UNITS * UNIT + 2.0 * most * UNIT + 2.0 * off) + (classes + 4.0) * UNIT


@final
@dataclass(frozen=True)
class SmoothHinge(Risk):
    """Huber's hinge of the margin m = ±f: 0 from 3/2 on, 1 − m up to 1/2, and (3/2 − m)²/2 between."""

    scores = 1
    rank = 1
    bend = (Fraction(1), Fraction(0), Fraction(0))
    stiffness = Fraction(3, 4)
    usual_slope = 1.0
    usual_bend = 0.3

    def targets(self, column: Floats) -> tuple[NDArray[np.bool_], Floats]:
        return _coded(column, 2)

    def slopes(self, scores: Floats, targets: Floats) -> Floats:
        side = (2.0 * targets - 1.0)[:, None]
        return -side * np.clip(1.5 - side * scores, 0.0, 1.0)

    def doubt(self, most: float, off: float) -> float:
        return hinge_doubt(most, off)

    def exact_slopes(self, scores: list[arb], target: float) -> list[arb]:
        side = 2 * int(target) - 1
        return [-side * (arb("1.5") - side * scores[0]).max(arb(0)).min(arb(1))]

    def value(self, scores: Floats, targets: Floats) -> float:
        short = 1.5 - (2.0 * targets - 1.0) * scores[:, 0]
        return float(np.sum(np.where(short > 1, short - 0.5, np.maximum(short, 0.0) ** 2 / 2)))

    def bends(self, scores: Floats, targets: Floats) -> Floats:
        short = 1.5 - (2.0 * targets - 1.0)[:, None] * scores
        return ((short > 0) & (short < 1)).astype(np.float64)[:, :, None]

    def steered(self, scores: Floats) -> Floats:
        return np.full((len(scores), 1, 1), self.usual_bend)

    def firm(self, scores: Floats, targets: Floats, slack: float) -> Floats:
        short = 1.5 - (2.0 * targets - 1.0)[:, None] * scores
        return ((short > 2 * slack) & (short < 1 - 2 * slack)).astype(np.float64)[:, :, None]


@guarantee(claim="|slopes − truth| of Huber's hinge", proof=f"{PROOF}#floats", reviewed="ae6d47010874")
def hinge_doubt(most: float, off: float) -> float:
    """Bounds the error of a computed slope of Huber's hinge."""
    return 2.0 * off + 2.0 * (most + 2.0) * UNIT


@final
@dataclass(frozen=True)
class Huber(Risk):
    """Huber's loss of the residual r = f − t: r²/2 up to |r| = 1, then |r| − 1/2; t is the target over ``width``."""

    width: Fraction

    scores = 1
    rank = 1
    bend = (Fraction(1), Fraction(0), Fraction(0))
    stiffness = Fraction(1)
    usual_slope = 0.5
    usual_bend = 0.8

    def __post_init__(self) -> None:
        if not Fraction(1, 1024) <= self.width <= 4:
            raise BadArgument("width", "between 1/1024 and 4, as a share of half of the target's bounds", self.width)

    def targets(self, column: Floats) -> tuple[NDArray[np.bool_], Floats]:
        return np.ones(len(column), dtype=np.bool_), np.clip(column, -1.0, 1.0) / float(self.width)

    def slopes(self, scores: Floats, targets: Floats) -> Floats:
        return np.clip(scores - targets[:, None], -1.0, 1.0)

    def doubt(self, most: float, off: float) -> float:
        return huber_doubt(most, off, math.ceil(1 / self.width))

    def exact_slopes(self, scores: list[arb], target: float) -> list[arb]:
        return [(scores[0] - arb(target)).max(arb(-1)).min(arb(1))]

    def value(self, scores: Floats, targets: Floats) -> float:
        apart = np.abs(scores[:, 0] - targets)
        return float(np.sum(np.where(apart > 1, apart - 0.5, apart**2 / 2)))

    def bends(self, scores: Floats, targets: Floats) -> Floats:
        return (np.abs(scores - targets[:, None]) < 1).astype(np.float64)[:, :, None]

    def steered(self, scores: Floats) -> Floats:
        return np.full((len(scores), 1, 1), self.usual_bend)

    def firm(self, scores: Floats, targets: Floats, slack: float) -> Floats:
        return (np.abs(scores - targets[:, None]) < 1 - 2 * slack).astype(np.float64)[:, :, None]


@guarantee(claim="|slopes − truth| of Huber's loss", proof=f"{PROOF}#floats", reviewed="4bda929c5e13")
def huber_doubt(most: float, off: float, far: int) -> float:
    """Bounds the error of a computed slope of Huber's loss, of targets that are at most ``far`` in size."""
    return 2.0 * off + 2.0 * (most + far) * UNIT


@final
@dataclass(frozen=True)
class CappedPoisson(Risk):
    """exp(f − 1) − v f up to f = 1, then f − v f: Poisson's loss of a count v, a share of the greatest, capped there.

    ``least`` is the least count as such a share; the column holds −1 for it and 1 for the greatest.
    """

    least: float = 0.0

    scores = 1
    rank = 1
    bend = (Fraction(1), Fraction(0), Fraction(0))
    stiffness = Fraction(2)
    usual_slope = 0.35
    usual_bend = 0.25

    def targets(self, column: Floats) -> tuple[NDArray[np.bool_], Floats]:
        inside = (np.clip(column, -1.0, 1.0) + 1.0) * 0.5
        return np.ones(len(column), dtype=np.bool_), np.clip(self.least + inside * (1.0 - self.least), 0.0, 1.0)

    def slopes(self, scores: Floats, targets: Floats) -> Floats:
        return exp_minus(np.clip(1.0 - scores, 0.0, EXP_MOST)) - targets[:, None]

    def doubt(self, most: float, off: float) -> float:
        return poisson_doubt(most, off)

    def exact_slopes(self, scores: list[arb], target: float) -> list[arb]:
        return [(scores[0] - 1).min(arb(0)).exp() - arb(target)]

    def value(self, scores: Floats, targets: Floats) -> float:
        score = scores[:, 0]
        return float(np.sum(np.where(score < 1, np.exp(np.minimum(score, 1.0) - 1), score) - targets * score))

    def quick(self, scores: Floats, targets: Floats) -> tuple[float, Floats, Floats]:
        rate = np.exp(np.minimum(scores - 1.0, 0.0))
        below, counts = scores < 1, targets[:, None]
        value = float(np.sum(np.where(below, rate, scores) - counts * scores))
        return value, rate - counts, np.where(below, rate, 0.0)[:, :, None]

    def bends(self, scores: Floats, targets: Floats) -> Floats:
        return np.where(scores < 1, exp_minus(np.clip(1.0 - scores, 0.0, EXP_MOST)), 0.0)[:, :, None]

    def firm(self, scores: Floats, targets: Floats, slack: float) -> Floats:
        return np.where(scores < 1 - 2 * slack, (1 - 2 * slack), 0.0)[:, :, None] * self.bends(scores, targets)


@guarantee(claim="|slopes − truth| of the capped Poisson loss", proof=f"{PROOF}#floats", reviewed="b2d41e6afc60")
def poisson_doubt(most: float, off: float) -> float:
    """Bounds the error of a computed slope of the capped Poisson loss."""
    return 2.0 * off + 2.0 * (EXP_UNITS + most + 4.0) * UNIT
