"""The minimum of a strongly convex risk, on a grid: found in floats, certified, refined by balls until it is clear."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np
from flint import arb, arb_mat, fmpq

from sfumato.entropy import Entropy
from sfumato.exact import ball, endpoints, precision
from sfumato.guarantee import guarantee
from sfumato.mechanisms.risks import PROOF, UNIT, Floats, Risk
from sfumato.transforms.gram import BITS as ROW_BITS

GRID_BITS = 20
"""Coefficients are released in whole numbers of 2⁻²⁰."""

FIRST_BITS = 64
"""How many bits of each real number of noise are drawn at first, beyond its step."""

EXACT_BITS = 53 - ROW_BITS
"""Coefficients of this many bits times coordinates make sums that floats hold."""

SLOPE_BITS = 19
"""Slopes to so many bits, times coordinates, make sums over a piece of rows that floats hold."""

PIECE = 1 << 12
"""Rows that are added up at once."""

BALL_PIECE = 1 << 12
"""Rows that are balls at once."""

SLACK = 1 + 2.0**-20
"""Covers the rounding of sums and products of a few bounds."""

FEW, THIN = 1 << 11, 8
"""Where there are more rows than a few, one of eight is tried first."""

MOST_STEPS = 200

ENOUGH, ROUGHLY = 1e-8, 1e-2
"""What the last of Newton's steps may gain, of all rows and of some: the next one would gain about its square."""

LEAST_SHARE = 2.0**-80
"""The least part of a Newton step that is tried: far out, where losses are straight, whole ones are far too long."""


@final
class Push:
    """One draw of a vector of real numbers: whole steps, plus uniform parts whose bits are drawn when needed."""

    def __init__(self, whole: list[int], step: Fraction, entropy: Entropy) -> None:
        self.step = step
        self._whole, self._entropy = whole, entropy
        self._parts, self.bits = [0] * len(whole), 0
        self.extend(FIRST_BITS)

    def extend(self, bits: int) -> None:
        """Draws so many more bits of every coordinate."""
        self._parts = [(part << bits) | self._entropy.bits(bits) for part in self._parts]
        self.bits += bits

    @property
    def lower(self) -> list[Fraction]:
        """The least that each coordinate can still be; it is less than `width` more."""
        size = 1 << self.bits
        return [
            (whole - Fraction(1, 2) + Fraction(part, size)) * self.step
            for whole, part in zip(self._whole, self._parts, strict=True)
        ]

    @property
    def width(self) -> Fraction:
        """How much of each coordinate is not drawn yet."""
        return self.step / (1 << self.bits)


@final
@dataclass(frozen=True, eq=False)
class Sight:
    """A value, its gradient and its second derivatives."""

    value: float
    slope: Floats
    hessian: Floats


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, targets, a ridge (a float, exactly) and a push: Σ loss + ridge |θ|²/2 + push·θ is to be least."""

    risk: Risk
    rows: Floats
    targets: Floats
    ridge: float
    push: Push

    @property
    def shape(self) -> tuple[int, int]:
        """Scores and coordinates: the shape of the coefficients."""
        return self.risk.scores, self.rows.shape[1]

    def look(self, theta: Floats, push: Floats) -> Sight:
        """What is to be least at a place, in floats to steer by, with its first and second derivatives."""
        value, slopes, bends = self.risk.quick(self.rows @ theta.T, self.targets)
        whole = self.weighted(bends)
        return Sight(
            value + self.ridge * float(np.sum(theta**2)) / 2 + float(np.sum(push * theta)),
            np.asarray(slopes.T @ self.rows + self.ridge * theta + push),
            whole + self.ridge * np.eye(len(whole)),
        )

    def hessian(self, theta: Floats) -> Floats:
        """The second derivatives in floats, to steer by."""
        whole = self.weighted(self.risk.bends(self.rows @ theta.T, self.targets))
        return whole + self.ridge * np.eye(len(whole))

    def weighted(self, bends: Floats) -> Floats:
        """The sum of rows' bends, each times the products of coordinates."""
        scores, width = self.shape
        made = np.empty((scores, width, scores, width))
        for one in range(scores):
            for other in range(one + 1):
                block = (self.rows * bends[:, one, other, None]).T @ self.rows
                made[one, :, other, :], made[other, :, one, :] = block, block.T
        return made.reshape(scores * width, -1)


def least(problem: Problem) -> list[int]:
    """The minimum, rounded to the grid: whole numbers of steps, score by score."""
    push = np.array([float(one) for one in problem.push.lower]).reshape(problem.shape)
    theta = _descend(problem, push, ENOUGH)
    for _ in range(3):
        slope, error = certified_gradient(problem, theta)
        cells = settled(theta, slope, error, problem.ridge)
        if cells is None:
            cells = settled(theta, slope, error, firm_ridge(problem, theta))
        if cells is not None:
            return cells
        theta = theta - _newton_step(problem.hessian(theta), slope)
    return refined(problem, theta)


def _newton_step(hessian: Floats, slope: Floats) -> Floats:
    """Newton's step; where second derivatives cannot be inverted in floats, a short one along the gradient."""
    try:
        step = np.linalg.solve(hessian, slope.ravel())
    except np.linalg.LinAlgError:
        step = np.full(slope.size, np.nan)
    chosen = step if np.all(np.isfinite(step)) else slope.ravel() / np.trace(hessian)
    return np.asarray(chosen.reshape(slope.shape))


def _descend(problem: Problem, push: Floats, enough: float) -> Floats:
    """Newton's steps, halved until they lead down, until one gains little: from 0, or from where some rows lead."""
    theta = np.zeros(problem.shape)
    if len(problem.rows) > FEW:
        rows, targets = problem.rows[::THIN], problem.targets[::THIN]
        fewer = replace(problem, rows=rows, targets=targets, ridge=problem.ridge / THIN)
        theta = _descend(fewer, push / THIN, ROUGHLY)
        theta = min(np.zeros(problem.shape), theta, key=lambda start: problem.look(start, push).value)
    here = problem.look(theta, push)
    for _ in range(MOST_STEPS):
        step = _newton_step(here.hessian, here.slope)
        fall, share = float(np.sum(step * here.slope)), 1.0
        if fall <= enough:
            return np.asarray(theta - step)
        there = problem.look(theta - step, push)
        while there.value > here.value - share * fall / 4 and share > LEAST_SHARE:
            share /= 2
            there = problem.look(theta - share * step, push)
        theta, here = theta - share * step, there
    return theta


@guarantee(
    claim="the scores of rows, all at most the second number in size, and each within the third of the truth",
    proof=f"{PROOF}#certificate",
    reviewed="84042376fc12",
)
def certified_scores(problem: Problem, theta: Floats) -> tuple[Floats, float, float]:
    """Scores in floats, how large they are and how far off at most: infinitely, where coefficients are too large."""
    reach, width = float(np.abs(theta).sum(axis=1).max()) * SLACK, problem.shape[1]
    if not reach < 2.0**20:
        return np.zeros((len(problem.rows), len(theta))), math.inf, math.inf
    grain = 2.0 ** (math.ceil(math.log2(reach + 2.0)) - EXACT_BITS)
    coarse = np.rint(theta / grain) * grain
    scores = problem.rows @ coarse.T + problem.rows @ (theta - coarse).T
    most = float(np.max(np.abs(scores), initial=0.0)) * SLACK
    off = UNIT * (most + 2 * width**2 * grain) * SLACK
    return scores, most + off, off


@guarantee(
    claim="no more than any eigenvalue of the second derivatives, wherever θ moves by less than a step of the grid",
    proof=f"{PROOF}#firm",
    reviewed="7cee387d9cfe",
)
def firm_ridge(problem: Problem, theta: Floats) -> float:
    """How strongly convex the whole is around θ: the ridge, and what the rows add, where that can be shown."""
    scores, most, off = certified_scores(problem, theta)
    slack = math.sqrt(problem.shape[1]) * 2.0**-GRID_BITS * SLACK + off
    doubt, count = problem.risk.doubt(most, off), len(problem.rows)
    if not (slack < 0.01 and doubt < 0.01):
        return problem.ridge
    whole = problem.weighted(problem.risk.firm(scores, problem.targets, slack))
    size = len(whole)
    vague = size * count * ((count + 16) * UNIT + 4 * doubt + 8 * UNIT) * SLACK
    vague += 4 * (size + 3) * UNIT * float(np.trace(whole)) + 1e-290
    try:
        low = float(np.linalg.eigvalsh(whole)[0]) / 2
        np.linalg.cholesky(whole - (low + vague) * np.eye(size))
    except np.linalg.LinAlgError:
        return problem.ridge
    return problem.ridge + max(low, 0.0) / SLACK


@guarantee(
    claim="numbers whose exact sums are within count 2⁻⁵³ of the sums of slopes times coordinates, slopes at most 2",
    proof=f"{PROOF}#certificate",
    reviewed="93a6e41d7841",
)
def split_sums(slopes: Floats, rows: Floats) -> Floats:
    """Sums of slopes times coordinates, (parts, scores, coordinates): of each piece of rows one exact, one small."""
    made = []
    for start in range(0, len(rows), PIECE):
        piece, coordinates = slopes[start : start + PIECE], rows[start : start + PIECE]
        coarse = np.rint(piece * 2.0**SLOPE_BITS) * 2.0**-SLOPE_BITS
        made += [coarse.T @ coordinates, (piece - coarse).T @ coordinates]
    return np.array(made).reshape(-1, slopes.shape[1], rows.shape[1])


@guarantee(
    claim="every coordinate of the gradient at θ, for every push still possible, is within the error of the slope",
    proof=f"{PROOF}#certificate",
    reviewed="6bd2297905fd",
)
def certified_gradient(problem: Problem, theta: Floats) -> tuple[Floats, Floats]:
    """The gradient in floats, with a bound on its error: sums of rows are added up without rounding in between."""
    width, count = problem.shape[1], len(problem.rows)
    scores, most, off = certified_scores(problem, theta)
    sums = split_sums(problem.risk.slopes(scores, problem.targets), problem.rows)
    total = np.empty(theta.shape)
    lower = problem.push.lower
    for score, place in np.ndindex(*theta.shape):
        exact = lower[score * width + place]
        near = float(exact)
        parts = [near, float(exact - Fraction(near)), problem.ridge * float(theta[score, place])]
        total[score, place] = math.fsum([*parts, *sums[:, score, place].tolist()])
    rows = count * (problem.risk.doubt(most, off) + 4 * UNIT)
    pushed = np.array([float(abs(one)) for one in lower]).reshape(theta.shape)
    rest = 4 * UNIT * (np.abs(total) + np.abs(problem.ridge * theta)) + UNIT * UNIT * 4 * pushed
    return total, (rows + rest + float(problem.push.width) * 2) * SLACK + 1e-290


@guarantee(
    claim="where a list is given, it is the minimum rounded to the grid",
    proof=f"{PROOF}#certificate",
    reviewed="ae9c8317f559",
)
def settled(theta: Floats, slope: Floats, error: Floats, ridge: float) -> list[int] | None:
    """The grid point next to the minimum, where the gradient leaves no doubt about it; else None."""
    radius = float(np.sqrt(np.sum((np.abs(slope) + error) ** 2))) * SLACK / ridge * 2.0**GRID_BITS
    places = theta.ravel() * 2.0**GRID_BITS
    if not (radius < 0.5 and np.all(np.abs(places) < 2.0**50)):
        return None
    near = np.floor(places + 0.5)
    clear = np.abs(places - near) + radius * SLACK < 0.5 - 2.0**-30
    return [int(one) for one in near] if np.all(clear) else None


@guarantee(
    claim="the minimum rounded to the grid, with probability 1", proof=f"{PROOF}#refinement", reviewed="90a398b480f6"
)
def refined(problem: Problem, start: Floats) -> list[int]:
    """The grid point next to the minimum, by balls and bits of the push that grow until there is no doubt."""
    bits, theta = 2 * FIRST_BITS, [Fraction(float(one)) for one in start.ravel()]
    while True:
        problem.push.extend(bits)
        with precision(2 * bits):
            theta, cells = _narrowed(problem, theta)
        if cells is not None:
            return cells
        bits *= 2


def _narrowed(problem: Problem, theta: list[Fraction]) -> tuple[list[Fraction], list[int] | None]:
    """Newton's steps as far as the working precision leads, and the grid point where that is clear."""
    slope = _ball_gradient(problem, theta)
    while True:
        length = _length(slope)
        radius = length / Fraction(problem.ridge)
        cells = [_cell(one - radius) for one in theta]
        if cells == [_cell(one + radius) for one in theta]:
            return theta, cells
        if length <= 8 * _length([one - one.mid() for one in slope]):
            return theta, None
        theta, slope = _nearer(problem, theta, slope)


def _nearer(problem: Problem, theta: list[Fraction], slope: list[arb]) -> tuple[list[Fraction], list[arb]]:
    """One step to the minimum: Newton's, halved until the gradient is shorter; else one along it, always nearer."""
    length, share = _length(slope), Fraction(1)
    step = _newton_fractions(problem, theta, slope)
    while share > LEAST_SHARE:
        further = [one - share * part for one, part in zip(theta, step, strict=True)]
        there = _ball_gradient(problem, further)
        if _length(there) <= (1 - share / 4) * length:
            return further, there
        share /= 2
    steepest = Fraction(problem.ridge) + problem.rows.size * problem.risk.scores
    further = [one - _middle(part) / steepest for one, part in zip(theta, slope, strict=True)]
    return further, _ball_gradient(problem, further)


def _cell(place: Fraction) -> int:
    return math.floor(place * (1 << GRID_BITS) + Fraction(1, 2))


def _middle(value: arb) -> Fraction:
    mantissa, exponent = (int(part) for part in value.mid().man_exp())
    return mantissa * Fraction(2) ** exponent


def _length(slope: list[arb]) -> Fraction:
    """A rational that is not below the length of a vector of balls."""
    farthest = [arb(one.abs_upper()) for one in slope]
    return Fraction(endpoints(sum((one * one for one in farthest), arb(0)).sqrt())[1])


def _newton_fractions(problem: Problem, theta: list[Fraction], slope: list[arb]) -> list[Fraction]:
    size = max(abs(_middle(one)) for one in slope)
    if not size:
        return [Fraction(0)] * len(theta)
    at = np.array([float(one) for one in theta]).reshape(problem.shape)
    along = np.array([float(_middle(one) / size) for one in slope]).reshape(problem.shape)
    step = _newton_step(problem.hessian(at), along)
    return [Fraction(float(part)) * size for part in step.ravel()]


def _ball_gradient(problem: Problem, theta: list[Fraction]) -> list[arb]:
    """Encloses the gradient at exact coefficients, for every push still possible."""
    scores, width = problem.shape
    near = [arb(fmpq(one.numerator, one.denominator)) for one in theta]
    half = problem.push.width / 2
    pushed = [ball(one + half) + arb(0, ball(half).upper()) for one in problem.push.lower]
    total = [part + arb(problem.ridge) * one for part, one in zip(pushed, near, strict=True)]
    across = arb_mat(width, scores, [near[k * width + j] for j in range(width) for k in range(scores)])
    for start in range(0, len(problem.rows), BALL_PIECE):
        rows = arb_mat(problem.rows[start : start + BALL_PIECE].tolist())
        table, targets = rows * across, problem.targets[start : start + BALL_PIECE]
        slopes = [
            problem.risk.exact_slopes([table[i, k] for k in range(scores)], float(target))
            for i, target in enumerate(targets)
        ]
        added = arb_mat(slopes).transpose() * rows
        total = [one + added[place // width, place % width] for place, one in enumerate(total)]
    return total
