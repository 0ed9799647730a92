"""Descent to the minimum of a convex risk: noisy gradients, in coordinates that a noisy Gram matrix makes round."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement
from statistics import NormalDist
from typing import TypeAlias, final

import numpy as np

from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP
from sfumato.combinators.analysis import analysis
from sfumato.combinators.converted import convert_measure
from sfumato.combinators.interaction import adaptive_composition
from sfumato.core.grouped_distance import AnyDistance
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L2
from sfumato.core.partial import Partial
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import CannotCalibrate
from sfumato.exact import up
from sfumato.learn.columns import Floats
from sfumato.learn.moments import Moments
from sfumato.mechanisms.additive import gaussian
from sfumato.mechanisms.risks import Risk
from sfumato.stats.shares import parameter_for
from sfumato.transforms.gradients import Tangent, gradient_sums
from sfumato.transforms.gram import Coordinates, gram

Gaussian: TypeAlias = ZCDP | GDP
"""Losses of Gaussian noise that can be cut into shares."""

STEPS = 16
"""How many gradients are asked for; more cost time, and in ρ or μ² no accuracy (proofs/descent.md#steps)."""

MEASURING = Fraction(1, 4)
"""The part of the loss that the Gram matrix gets."""

LATE = 2
"""The t-th step counts in the average by this power of t."""

ROUNDING = 0.5
"""How much of the noise on the Gram matrix is added to it before it makes coordinates round."""

TYPICAL = 16.0
"""How large the mean square of scores is expected to be."""

LEAST_BEND = 0.01
"""No direction is taken to bend less."""

CLIPPING = (0.1, 0.5, 0.4)
"""Up to the first noise gradients are as long as a row is; from the second on they are cut to the last part of it."""

SLACK = (Fraction(0), Fraction(1, 1 << 40), Fraction(1, 1 << 24), Fraction(1, 1 << 12), Fraction(1, 16))
"""By how much a scale of noise is enlarged, until its Gaussian loss, that of a grid, is kept."""

POINTS = 255
"""Points at which the bend of a risk of several scores is averaged."""

BOUND = 2.0**40
"""Coefficients are kept within this, however little is known."""


@final
@dataclass(frozen=True)
class Descent:
    """Asks for the Gram matrix of the rows, then for gradients at one model after another; it sees noisy answers alone.

    ``kinds`` are those of the features, ``target`` that of the target's column; ``ridge`` is a penalty on |θ|²/2.
    """

    space: Space
    kinds: tuple[int, ...]
    target: int
    risk: Risk
    ridge: float
    loss: Gaussian
    d_in: AnyDistance

    @property
    def layout(self) -> Coordinates:
        """How the features become coordinates."""
        return Coordinates(self.kinds)

    @property
    def step_loss(self) -> Gaussian:
        """What one gradient may cost."""
        return self.loss.scaled((1 - MEASURING) / STEPS)

    def measurement(self) -> Measurement:
        """All steps as one measurement, whose loss is that of the slices."""
        slices: list[Gaussian] = [self.loss.scaled(MEASURING), *[self.step_loss] * STEPS]
        self._step_scale, self._gram_scale  # noqa: B018  # what cannot be priced is refused before anything is charged
        asked = self.space >> adaptive_composition(slices, d_in=self.d_in)
        name = f"descent of {type(self.risk).__name__} risk by {self.risk.scores * self.layout.size} coefficients"
        return analysis(asked, self.run, name=f"{name}, {STEPS} steps")

    def run(self, ask: Queryable, entropy: Entropy) -> list[float]:
        """Goes all the way: the coefficients of each score, the constant's first."""
        moments = self._moments(ask)
        ground = Ground.of(moments, self.risk, self._noise_of_all)
        total, weight = np.zeros((self.risk.scores, self.layout.size)), 0.0
        theta = total
        for step in range(1, STEPS + 1):
            slope = self._gradient(ask, ground, theta)
            total = total + step**LATE * (theta - ground.move(theta, slope, self.ridge))
            weight += step**LATE
            theta = ground.bounded(total / weight)
        return [float(one) for one in (theta @ ground.basis.T).ravel()]

    def _moments(self, ask: Queryable) -> Moments:
        noisy = ask(self._noised(self._gram, self._gram_scale))
        return Moments(self.layout, self.layout.matrix(noisy), up(self._gram_scale))

    def _gradient(self, ask: Queryable, ground: Ground, theta: Floats) -> Floats:
        """The mean of the rows' gradients, in round coordinates."""
        tangent = Tangent.read(self.risk, self.layout, theta @ ground.basis.T, ground.basis / ground.clip)
        noisy = ask(self._noised(gradient_sums(tangent), self._step_scale))
        sums = np.asarray(noisy, dtype=np.float64).reshape(theta.shape)
        return np.asarray(sums * (ground.clip / ground.rows))

    @property
    def _gram(self) -> Partial[Transformation]:
        pairs = list(combinations_with_replacement(range(len(self.kinds) + 1), 2))
        return gram((*self.kinds, self.target), pairs=pairs, metric=L2())

    @cached_property
    def _gram_scale(self) -> Fraction:
        return self._scale(self._gram, self.loss.scaled(MEASURING))

    @cached_property
    def _step_scale(self) -> Fraction:
        """The scale of the noise on every sum of gradients: none is longer than 1."""
        size = self.layout.size
        tangent = Tangent.read(self.risk, self.layout, np.zeros((self.risk.scores, size)), np.eye(size))
        return self._scale(gradient_sums(tangent), self.step_loss)

    @property
    def _noise_of_all(self) -> float:
        """The deviation of the noise on the mean of all gradients, in their length."""
        return up(self._step_scale) / math.sqrt(STEPS)

    def _scale(self, seen: Partial[Transformation], loss: Gaussian) -> Fraction:
        """The least scale of noise that a loss pays for, or about that."""
        amount = loss if isinstance(loss, ZCDP) else ZCDP(loss.amounts[0] / 2)
        least = parameter_for(lambda scale: self.space >> seen >> gaussian(scale), amount, self.d_in)
        for more in SLACK:
            if self._noised(seen, least * (1 + more)).check(self.d_in, loss):
                return least * (1 + more)
        raise CannotCalibrate(
            f"there is no noise on a grid whose loss is known to be within {loss}; ask for a less extreme one."
        )

    def _noised(self, seen: Partial[Transformation], scale: Fraction) -> Measurement:
        made: Measurement = self.space >> seen >> gaussian(scale)
        return made if isinstance(self.loss, ZCDP) else convert_measure(made, GDP)


@final
@dataclass(frozen=True, eq=False)
class Ground:
    """What the noisy Gram matrix says: round coordinates z·basis, the number of rows, and how the risk bends there.

    In these coordinates rows are about as long in every direction that the noise does not hide. ``mean`` is that of
    the rows, ``clip`` the length that gradients are cut to, ``noise`` the deviation of the noise on their mean.
    """

    risk: Risk
    basis: Floats
    rows: float
    mean: Floats
    clip: float
    noise: float

    @staticmethod
    def of(moments: Moments, risk: Risk, noise: float) -> Ground:
        """Reads a noisy Gram matrix; ``noise`` is that on the sum of all gradients of length 1."""
        size = moments.layout.size
        values, vectors = np.linalg.eigh(moments.gram)
        values = np.clip(values, 0.0, None)
        rows = max(float(moments.gram[0, 0]), float(size))
        whole = np.maximum(values + ROUNDING * moments.deviation * math.sqrt(size), 1e-12 * rows)
        basis = vectors / np.sqrt(whole / rows)
        length = math.sqrt(float(np.sum(values / whole)) + 0.5) * risk.usual_slope
        low, high, least = CLIPPING
        hidden = length * noise * math.sqrt(size) / (rows * risk.usual_bend)
        clip = length * min(max(1 - (1 - least) * (hidden - low) / (high - low), least), 1.0)
        mean = np.clip(moments.gram[0] / rows, -1.0, 1.0) @ basis
        surely = rows if rows > moments.deviation else float(size)  # else there may be hardly any
        return Ground(risk, basis, rows, mean / max(1.0, float(np.linalg.norm(mean))), clip, clip * noise / surely)

    def move(self, theta: Floats, slope: Floats, ridge: float) -> Floats:
        """How far to go from a model, against its gradient: less where the noise hides what there may be."""
        bend = self.bend(theta)
        size = len(bend)
        usual = max(float(np.trace(bend)) / size, LEAST_BEND)
        shrinking = self.noise**2 / usual * self.basis.shape[1] / TYPICAL
        penalty = np.kron(np.eye(self.risk.scores), self.basis.T @ self.basis) * (ridge / self.rows)
        pull = penalty + shrinking * np.eye(size)
        whole = bend + LEAST_BEND * np.eye(size) + pull
        return np.asarray(np.linalg.solve(whole, slope.ravel() + pull @ theta.ravel()).reshape(theta.shape))

    def bend(self, theta: Floats) -> Floats:
        """The second derivatives of the mean risk at a model, for rows that were normal: of those, scores are known.

        A row is what its scores say, plus a part that is independent of them (proofs/descent.md#bend).
        """
        scores, size = theta.shape
        along, triangle = np.linalg.qr(theta.T)
        within = self.mean @ along
        spread = np.eye(scores) - np.outer(within, within)
        values, vectors = np.linalg.eigh(spread)
        points, weights = normal_points(scores)
        inside = within + points @ (vectors * np.sqrt(np.clip(values, 0.0, None))).T
        bends = self.risk.steered(inside @ triangle)
        apart, beside = np.eye(size) - along @ along.T, self.mean - along @ within
        made = np.empty((scores, size, scores, size))
        for one, other in np.ndindex(scores, scores):
            weight = weights * bends[:, one, other]
            across = np.outer(along @ (weight @ inside), beside)
            own = along @ ((inside * weight[:, None]).T @ inside) @ along.T
            made[one, :, other, :] = own + across + across.T + weight.sum() * apart
        return made.reshape(scores * size, -1)

    @staticmethod
    def bounded(theta: Floats) -> Floats:
        """Coefficients that are finite and not huge, whatever the noise was."""
        return np.clip(np.nan_to_num(theta, nan=0.0, posinf=BOUND, neginf=-BOUND), -BOUND, BOUND)


@lru_cache(maxsize=32)
def normal_points(size: int) -> tuple[Floats, Floats]:
    """Points and weights that stand for a normal law in so many dimensions: public numbers, the same each time."""
    if size == 1:
        points, weights = np.polynomial.hermite_e.hermegauss(31)
        return points[:, None], weights / weights.sum()
    ratio = 2.0
    for _ in range(64):  # the root of x^(d+1) = x + 1, whose powers spread points evenly
        ratio = (1.0 + ratio) ** (1.0 / (size + 1))
    steps = np.array([ratio ** -(place + 1) for place in range(size)])
    cells = (0.5 + np.outer(np.arange(1, POINTS + 1), steps)) % 1.0
    law = NormalDist()
    half = np.array([[law.inv_cdf(min(max(cell, 1e-9), 1 - 1e-9)) for cell in row] for row in cells.tolist()])
    return np.concatenate([half, -half]), np.full(2 * POINTS, 0.5 / POINTS)
