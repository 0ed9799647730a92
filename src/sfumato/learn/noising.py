"""Noise for sums: of the mechanisms that a loss can pay for, the one that spreads least."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias, final

from sfumato.accounting.convert.renyi import zcdp_rho
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.combinators.converted import convert_measure
from sfumato.core.domains import Vector
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, LInf, Unit, VectorMetric
from sfumato.core.pieces import PiecewiseLInf
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Root
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.cube import coordinate_variances, k_norm
from sfumato.release.record import Noised

Exact: TypeAlias = Callable[[VectorMetric], Transformation]
"""Makes an exact vector under a distance: that of the noise decides how far apart neighbours are."""

LAPLACE_TAILS = 3.0
"""The excess kurtosis of Laplace noise."""

CUBE_TAILS = -1.2
"""That of a uniform number, as coordinates of a cube are."""


@final
@dataclass(frozen=True, eq=False)
class NoisySums:
    """Sums with noise: the measurement, the deviation of the noise on each, and how heavy its tails are.

    Numbers wᵢZᵢ, added up, have the excess kurtosis (``tails`` Σwᵢ⁴ + ``common`` (Σwᵢ²)²) / (Σwᵢ²)².
    """

    measurement: Measurement
    deviation: float
    tails: float = 0.0
    common: float = 0.0


def least_noise(exact: Exact, loss: Loss, unit: Unit, *, pieces: int = 1) -> NoisySums:
    """Noise on an exact vector that costs a unit no more than a loss, of the kind that spreads least.

    ``pieces`` says that the vector is as many pieces of which a row is in one (`PiecewiseLInf`).
    """
    return min(_candidates(exact, loss, unit, pieces), key=lambda one: one.deviation)


def _candidates(exact: Exact, loss: Loss, unit: Unit, pieces: int) -> Iterator[NoisySums]:
    """Pure ε buys Laplace noise or that of cubes, whichever is nearer; a δ, or another kind, Gaussian noise."""
    if not isinstance(loss, Pure):
        made = (exact(L2()) >> gaussian()).with_loss(loss, d_in=unit)
        if made.noise is not None:
            yield NoisySums(made, deviation_of(made.noise))
    if isinstance(loss, Pure | Approx):
        pure = Pure(loss.epsilon)
        far, total = exact(LInf() if pieces == 1 else PiecewiseLInf(pieces)), exact(L1())
        reach, l1 = far.map(unit), total.map(unit)
        if not isinstance(far.target.domain, Vector) or isinstance(reach, Root) or isinstance(l1, Root):
            raise BadArgument("what noise is added to", "a vector of sums", str(far.target))
        size = (far.target.domain.size or pieces) // pieces
        variances = coordinate_variances(pure, size=size, linf=reach, l1=l1)
        if variances["k_norm"] < variances["laplace"]:
            wider = (size + 3) * (size + 4) / ((size + 1) * (size + 2))  # the cube's random radius is common to all
            made = (far >> k_norm()).with_loss(pure, d_in=unit)
            yield NoisySums(made, sqrt(variances["k_norm"]), CUBE_TAILS * wider, 3 * (wider - 1))
        else:
            made = (total >> laplace()).with_loss(pure, d_in=unit)
            yield NoisySums(made, sqrt(variances["laplace"]), LAPLACE_TAILS)


def ways_to_spend(loss: Loss) -> list[Loss]:
    """The losses that add up and that a loss pays for: of an (ε, δ) all of ε, or a ρ."""
    if not isinstance(loss, Approx):
        return [loss]
    pure: list[Loss] = [Pure(loss.epsilon)]
    return [*pure, ZCDP(zcdp_rho(loss.epsilon, delta=loss.delta))] if loss.delta else pure


def restated(made: Measurement, loss: Loss) -> Measurement:
    """A measurement in one of the `ways_to_spend` a loss, at its price in that loss."""
    if not isinstance(loss, Approx) or made.measure is Approx:
        return made
    return convert_measure(made, Approx, delta=loss.delta if made.measure is ZCDP else None)


def deviation_of(noised: Noised) -> float:
    """The standard deviation of the noise on each number, in its unit."""
    return sqrt(float(noised.noise.variance().upper())) * float(noised.step)
