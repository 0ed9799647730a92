"""What a data set really lost by its votes: less than the plan where teachers agree, and itself private.

Which loss a data set has tells about it, so the number is for the holder's eyes: it may steer how many teachers to take
the next time on other data, and must not be published, nor pay for anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.exact import Number, probability, up
from sfumato.guarantee import guarantee
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.train.pate.aggregators import ConfidentGNMax, GNMax
from sfumato.train.pate.plan import VotingPlan

ORDERS = np.array([1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 256.0])
"""Orders at which losses are added up; more would find a little less."""

FARTHER = np.geomspace(1.01, 1e4, 160)
"""Orders that the bound is tried with: any is sound."""

MARK = "itself private: for the eyes of the holder of the data alone"

Reals = NDArray[np.float64]


@final
@dataclass(frozen=True, repr=False)
class ForHolder(Displayed):
    """An ε that depends on the data: a function of private votes, and no loss that a release could state."""

    epsilon: float
    delta: float
    planned: float
    """ε of the whole plan, whatever the data: what was paid."""

    def document(self) -> Document:
        """The number with its mark, for any form."""
        rows = (
            ("this data set lost", f"ε = {self.epsilon:.4g} at δ = {self.delta:.3g}"),
            ("what was paid, and may be published", f"ε = {self.planned:.4g} at the same δ"),
            ("note", MARK),
        )
        return Document("Loss that depends on the data", MARK, tables=(Table(rows),))


def for_holder(plan: VotingPlan, votes: NDArray[np.int64], scores: NDArray[np.int64], delta: Number) -> ForHolder:
    """What questions lost for these votes, by Gaussian noise: each by the better of the plan and of how sure it was."""
    noise, chance = plan.aggregator, float(probability(delta, "delta"))
    if not isinstance(noise, GNMax | ConfidentGNMax) or plan.touched != 1:
        raise BadArgument("for_holder()", "asked of Gaussian noise on votes, a unit with one teacher", str(noise))
    if not 0 < chance < 1:
        raise BadArgument("delta", "greater than 0 and less than 1", delta)
    paid = up(plan.account(delta=delta).epsilon.upper)
    return ForHolder(min(_epsilon(lost_by(noise, votes, scores).sum(axis=0), chance), paid), chance, paid)


@guarantee(
    claim="for each question, Rényi divergence either way between these votes and those of any neighbour",
    proof="proofs/pate.md#local",
    reviewed="7f2d0c18fd0a",
)
def lost_by(noise: GNMax | ConfidentGNMax, votes: NDArray[np.int64], scores: NDArray[np.int64]) -> Reals:
    """What each question lost at each of `ORDERS`: its label, and where there is one, its check."""
    label = 1 / float(noise.sigma) ** 2
    lost = local_renyi(other_winner(votes, float(noise.sigma)), label)
    if isinstance(noise, GNMax):
        return lost
    wide = float(noise.sigma_check)
    check = 1 / (2 * wide**2)
    above = scores.max(axis=1) - noise.threshold
    fails, passes = gaussian_tail(above + 1, wide), gaussian_tail(-above, wide)
    apart = lost + local_renyi(np.minimum(fails, passes), check)
    return np.minimum(apart, local_renyi(passes, check + label))


@guarantee(
    claim="log of a bound on the chance that the class with the most votes does not win",
    proof="proofs/pate.md#doubt",
    reviewed="a8e0b7c7d20e",
)
def other_winner(votes: NDArray[np.int64], sigma: float) -> Reals:
    """How likely another class than the first wins, at most, as a logarithm."""
    ranked = np.sort(votes, axis=1)[:, ::-1]
    gaps = (ranked[:, :1] - ranked[:, 1:]).astype(np.float64)
    return np.asarray(np.minimum(np.logaddexp.reduce(-(gaps**2) / (4 * sigma**2), axis=1), 0.0))


@guarantee(
    claim="log of a bound on the chance of noise of so much or more",
    proof="proofs/pate.md#doubt",
    reviewed="856cde4bd8d9",
)
def gaussian_tail(away: NDArray[np.int64], sigma: float) -> Reals:
    """How likely Gaussian noise is so far away or farther, at most, as a logarithm."""
    return np.asarray(-(np.maximum(away, 0).astype(np.float64) ** 2) / (2 * sigma**2))


@guarantee(
    claim="Rényi divergence either way between a data set with an outcome of chance 1 − q at least, and any neighbour",
    proof="proofs/pate.md#local",
    reviewed="9e553021fccd",
)
def local_renyi(log_q: Reals, rho: float) -> Reals:
    """What a question lost at each of `ORDERS`, where the mechanism has a loss of ρ whatever the data."""
    # The chance of any other outcome for a neighbour, by the best of several orders.
    raised = ((FARTHER - 1) / FARTHER) * (FARTHER * rho + log_q[:, None])
    log_other = np.maximum(raised.min(axis=1), log_q)
    held = np.where(log_other < math.log(0.5), -np.log1p(-np.exp(np.minimum(log_other, math.log(0.5)))), np.inf)
    lost = np.empty((len(log_q), len(ORDERS)))
    for place, order in enumerate(ORDERS):
        above = order * FARTHER
        share = (above - order) / (above - 1)
        rest = ((order - 1) * above * rho + share * log_other[:, None]).min(axis=1)
        lost[:, place] = np.minimum(np.logaddexp((order - 1) * held, rest) / (order - 1), order * rho)
    return lost


def _epsilon(lost: Reals, delta: float) -> float:
    """ε at a δ, from a curve of Rényi losses."""
    from_curve = lost + np.log1p(-1 / ORDERS) - (math.log(delta) + np.log(ORDERS)) / (ORDERS - 1)
    return max(float(from_curve.min()), 0.0)
