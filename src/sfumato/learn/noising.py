"""Noise for sums: of the mechanisms that a loss can pay for, the one that is nearest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, sqrt

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, Unit, VectorMetric
from sfumato.core.transformation import Transformation
from sfumato.errors import NoProvenRoute
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.release.record import Noised


def least_noise(exact: Callable[[VectorMetric], Transformation], loss: Loss, unit: Unit) -> Measurement:
    """Noise on an exact vector that costs a unit no more than a loss, of the kind that spreads least.

    ``exact`` makes the vector under a distance: that of the noise decides how far apart neighbours are.
    """
    made = list(_candidates(exact, loss, unit))
    if not made:
        raise NoProvenRoute(f"no noise on sums has a loss that is known in terms of {type(loss).__name__}.")
    return min(made, key=_spread) if len(made) > 1 else made[0]


def _candidates(exact: Callable[[VectorMetric], Transformation], loss: Loss, unit: Unit) -> Iterator[Measurement]:
    if isinstance(loss, Pure | Approx):
        yield (exact(L1()) >> laplace()).with_loss(Pure(loss.epsilon), d_in=unit)
    if not isinstance(loss, Pure) and not (isinstance(loss, Approx) and not loss.delta):
        yield (exact(L2()) >> gaussian()).with_loss(loss, d_in=unit)


def _spread(measurement: Measurement) -> float:
    noised = measurement.noise
    return inf if noised is None else deviation_of(noised)


def deviation_of(noised: Noised) -> float:
    """The standard deviation of the noise on each number, in its unit."""
    return sqrt(float(noised.noise.variance().upper())) * float(noised.step)
