"""Laplace noise that is cut off: an error that never exceeds a public reach, for a δ."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.accounting.facts.truncated_laplace import truncated_laplace_approx
from sfumato.accounting.losses.measures import Approx
from sfumato.core.domains import Data, Floats
from sfumato.core.law import ShiftedLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance, Number, positive, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.additive import noise_record, rounding_of
from sfumato.mechanisms.gridding import Gridded, gridded
from sfumato.noise.bounded import Truncated
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.record import Failure, How

DISCRETE_PROOF = "proofs/truncated_laplace.md#discrete"
ONE_SIDED_PROOF = "proofs/truncated_laplace.md#one-sided"


@constructor
def truncated_laplace(scale: Number, *, reach: Number) -> Partial[Measurement]:
    """Adds Laplace noise conditioned on being no larger than a reach.

    Takes:      a number under the absolute distance
    Gives:      a number that is certain to be within the reach of the exact one (for floats, and half a grid step)
    Guarantee:  Approx(epsilon = d_in / scale, δ), δ the noise's mass within d_in of an end of its range; an outcome
                there tells neighbours apart with certainty  (proofs/truncated_laplace.md#discrete)
    Cost:       a few µs

    >>> from sfumato.core.space import scalar
    >>> (scalar(int) >> truncated_laplace(scale=1, reach=14)).map(1).delta < 1e-6
    True
    """
    return _partial("truncated_laplace", scale, reach, 0, DISCRETE_PROOF)


@constructor
def upper_estimate(scale: Number, *, reach: Number) -> Partial[Measurement]:
    """Adds truncated Laplace noise and the reach: never below the exact value, at most twice the reach above it.

    Takes:      a number under the absolute distance, such as the count of rows
    Gives:      an upper bound on it, fit to be a public descriptor
    Guarantee:  the loss of `truncated_laplace`  (proofs/truncated_laplace.md#one-sided)
    Cost:       a few µs

    >>> from sfumato.core.space import scalar
    >>> (scalar(int) >> upper_estimate(scale=1, reach=10))(1000).value >= 1000
    True
    """
    return _partial("upper_estimate", scale, reach, 1, ONE_SIDED_PROOF)


@constructor
def lower_estimate(scale: Number, *, reach: Number) -> Partial[Measurement]:
    """Adds truncated Laplace noise less the reach: never above the exact value, at most twice the reach below it.

    Takes:      a number under the absolute distance, such as the count of rows
    Gives:      a lower bound on it, fit to be a public descriptor
    Guarantee:  the loss of `truncated_laplace`  (proofs/truncated_laplace.md#one-sided)
    Cost:       a few µs

    >>> from sfumato.core.space import scalar
    >>> (scalar(int) >> lower_estimate(scale=1, reach=10))(1000).value <= 1000
    True
    """
    return _partial("lower_estimate", scale, reach, -1, ONE_SIDED_PROOF)


def _partial(name: str, scale: Number, reach: Number, side: int, proof: str) -> Partial[Measurement]:
    size, cut = positive(scale, "scale"), positive(reach, "reach")
    return Partial(f"{name}(scale={scale}, reach={reach})", lambda space: _build(space, name, size, cut, side, proof))


def _build(space: Space, name: str, scale: Fraction, reach: Fraction, side: int, proof: str) -> Measurement:
    grid = gridded(space, norm=L1, scale=scale, step=None, verb=name)
    if grid.size is not None:
        raise BadArgument(f"what {name}() works on", "one number: its loss on vectors is not known", str(space))
    radius = math.floor(reach / grid.step)
    if radius < 1:
        raise BadArgument("reach", f"at least the values' step, {grid.step}", reach)
    if side and isinstance(grid.element, Floats):
        raise BadArgument(f"what {name}() works on", "exact values, for rounding would blur the bound", str(space))
    noise = Truncated.within(DiscreteLaplace(scale / grid.step), radius=radius)
    offset = side * radius

    def draw(data: Data, entropy: Entropy) -> Data:
        return grid.value(_whole(grid, data) + noise.sample(entropy) + offset)

    width = (radius + abs(offset)) * grid.step + rounding_of(grid)
    return Measurement(
        source=space,
        measure=Approx,
        function=draw,
        privacy_map=lambda d_in: truncated_loss(noise, grid.shift(d_in)),
        how=How(
            name.replace("_", " "),
            (("scale", f"{up(scale):.6g}"), ("reach", f"{up(reach):.6g}")),
            proofs=(proof,),
            failure=Failure.DISTINGUISHING,
        ),
        law=lambda data: ShiftedLaw(noise, _whole(grid, data) + offset),
        error=lambda _: int(width) if width.denominator == 1 else up(width),
        noise=noise_record(grid, noise, offset),
    ).recorded()


def _whole(grid: Gridded, data: Data) -> int:
    return int(grid.whole(data))


@guarantee(
    claim="the loss of the noise at this shift; δ = 1 without limit on the shift",
    proof=DISCRETE_PROOF,
    reviewed="2fe142200a3a",
)
def truncated_loss(noise: Truncated, shift: Distance) -> Approx:
    """The loss of truncated Laplace noise on whole numbers."""
    if shift == 0:
        return Approx(0, 0)
    return Approx(math.inf, 1) if shift == math.inf else truncated_laplace_approx(noise, shift)
