"""The K-norm mechanism of the L∞ ball: one draw of noise for a whole vector, where a unit may move every coordinate."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import final, overload

import numpy as np
from flint import arb

from sfumato.accounting.events import Noise as NoiseEvent
from sfumato.accounting.facts import loss_of
from sfumato.accounting.losses.measures import ZCDP, Pure
from sfumato.core.domains import Array, Data, Integers, Vector
from sfumato.core.law import Law
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import LInf, PiecewiseLInf
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.unscaled import Unscaled
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, NotNoisable
from sfumato.exact import Distance, Number, as_distance, integer, positive, root, squared, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.additive import in_values, with_noise
from sfumato.mechanisms.gridding import Gridded, exact_add, gridded
from sfumato.noise.cube import Cube
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.record import How

PROOF = "proofs/k_norm.md#loss"


@overload
def k_norm(scale: Number, *, step: Number | None = ...) -> Partial[Measurement]: ...
@overload
def k_norm(scale: None = ..., *, step: Number | None = ...) -> Unscaled: ...
@constructor
def k_norm(scale: Number | None = None, *, step: Number | None = None) -> Partial[Measurement] | Unscaled:
    """Adds noise to a whole vector with density falling in its largest coordinate: the K-norm mechanism of a cube.

    Where one unit may move all of m coordinates by as much as a bound, a coordinate has 6 times less variance than with
    Laplace noise at the same ε (from m = 8 on more than 4 times less). Without a scale it waits for a loss.

    Takes:      a vector under the L∞ distance; a number under the absolute distance, where it is Laplace noise; exact
                sums under the L∞ distance added up over pieces, where each piece has a noise of its own
    Gives:      the noisy vector: whole numbers for integers, else the floats nearest to grid values
    Guarantee:  Pure(epsilon = d_in / scale)  (proofs/k_norm.md#loss; floats: proofs/gridding.md#rounding)
    Cost:       some 0.1 ms, and 50 ns a coordinate

    >>> from sfumato.core.space import vector
    >>> sums = vector(int, size=66, metric=LInf())
    >>> (sums >> k_norm(scale=2)).map(1)
    Pure(epsilon=0.5)
    """
    if scale is None:
        return Unscaled("k_norm", lambda least: k_norm(least, step=step))
    width = positive(scale, "scale")
    grid_step = None if step is None else positive(step, "step")
    return Partial(f"k_norm(scale={scale})", lambda space: _k_norm(space, width, grid_step))


def _k_norm(space: Space, scale: Fraction, step: Fraction | None) -> Measurement:
    pieces = space.metric.pieces if isinstance(space.metric, PiecewiseLInf) else 1
    grid = (_pieces_on_grid(space) if isinstance(space.metric, PiecewiseLInf) else None) or gridded(
        space, norm=LInf, scale=scale, step=step, verb="k_norm"
    )
    told = (("scale", f"{up(scale):.6g}"), ("step", f"{up(grid.step):.3g}"))
    how = How("k-norm", told, proofs=(PROOF, "proofs/gridding.md#rounding"))
    if grid.size is None or grid.size <= 1:
        return with_noise(space, grid, DiscreteLaplace(scale / grid.step), Pure, how)
    noise = Cube(scale / grid.step, grid.size // pieces)
    return Measurement(
        source=space,
        measure=Pure,
        function=lambda data, entropy: grid.value(
            exact_add(np.asarray(grid.whole(data)), noise_of_pieces(noise, pieces, entropy))
        ),
        privacy_map=lambda d_in: k_norm_loss(noise, grid.shift(d_in)),
        how=how,
        law=lambda data: CubeLaw(noise, tuple(map(int, np.asarray(grid.whole(data)))), pieces),
        error=lambda confidence: in_values(grid, noise.half_width(1 - (1 - confidence) / pieces)),
        event=(lambda d_in: k_norm_event(noise, grid.shift(d_in))) if pieces == 1 else None,
    ).recorded()


def _pieces_on_grid(space: Space) -> Gridded:
    """Reads exact sums in pieces; other vectors are refused: what rounding them adds up to is not worked out."""
    if not isinstance(space.domain, Vector) or not isinstance(space.domain.element, Integers):
        raise NotNoisable("k_norm", space, LInf())
    return Gridded(space.domain.element, space.domain.size, PiecewiseLInf, space.domain.element.step)


def noise_of_pieces(noise: Cube, pieces: int, entropy: Entropy) -> Array:
    """Draws noise for every piece by itself, and deals it out to the coordinates in turn."""
    return np.stack([noise.sample(entropy) for _ in range(pieces)], axis=1).ravel()


@guarantee(claim="epsilon = shift / scale, in L∞", proof=PROOF, reviewed="57c9b5f45cc0")
def k_norm_loss(noise: Cube, shift: Distance) -> Pure:
    """The loss of noise on a whole vector: that of Laplace noise on one number that moves as far."""
    loss = loss_of(DiscreteLaplace(noise.scale), Pure, shift)
    return Pure(loss.epsilon)  # type: ignore[attr-defined]  # loss_of gives the kind it was asked for


@guarantee(
    claim="neighbours are no easier to tell apart than with discrete Laplace noise on one number that moves as far",
    proof="proofs/k_norm.md#event",
    reviewed="fda12f2ee738",
)
def k_norm_event(noise: Cube, shift: Distance) -> NoiseEvent:
    """What the accountant counts in every kind of loss: Laplace noise on one number, which is no less of a loss."""
    return NoiseEvent(DiscreteLaplace(noise.scale), shift)


@final
@dataclass(frozen=True)
class CubeLaw(Law):
    """The distribution of a vector of whole numbers plus noise on all of it, or on each piece, as tuples."""

    noise: Cube
    centre: tuple[int, ...]
    pieces: int = 1

    def probability(self, outcome: Data) -> arb:
        moved = [abs(int(y) - x) for y, x in zip(outcome, self.centre, strict=True)]
        return math.prod(
            (self.noise.pmf(max(moved[place :: self.pieces])) for place in range(self.pieces)), start=arb(1)
        )

    def outcomes(self, missed: Fraction) -> Iterable[Data]:
        far = self.noise.half_width(1 - missed / self.pieces)
        return product(*(range(x - far, x + far + 1) for x in self.centre))


def coordinate_variances(
    loss: Pure | ZCDP,
    *,
    size: int,
    linf: Number = 1,
    l1: Number | None = None,
    l2: Distance | Number | None = None,
) -> dict[str, float]:
    """The variance of one coordinate with each noise that keeps a loss on a vector, the least first.

    ``linf``, ``l1`` and ``l2`` are how far a unit moves the vector in each norm: if left out, all coordinates by
    ``linf``. Numbers are for choosing a noise: they are those of steps that are small beside it, in floats.

    >>> from sfumato.accounting.losses.measures import Pure
    >>> coordinate_variances(Pure(1), size=66)
    {'k_norm': 1518.6666666666667, 'laplace': 8712.0}
    """
    count, far = integer(size, "size", least=1), positive(linf, "linf")
    total = count * far if l1 is None else positive(l1, "l1")
    square = up(squared(root(count * far**2) if l2 is None else as_distance(l2, "l2")))
    if not isinstance(loss, Pure | ZCDP) or loss == type(loss).nothing():
        raise BadArgument("loss", "a Pure or ZCDP loss above 0", loss)
    variances = {"gaussian": square / (2 * up(loss.rho))} if isinstance(loss, ZCDP) else {}
    epsilon = _pure_within(up(loss.rho)) if isinstance(loss, ZCDP) else up(loss.epsilon)
    variances["k_norm"] = (count + 1) * (count + 2) / 3 * (up(far) / epsilon) ** 2
    variances["laplace"] = 2 * (up(total) / epsilon) ** 2
    return dict(sorted(variances.items(), key=lambda one: one[1]))


def _pure_within(rho: float) -> float:
    """The ε whose zCDP loss, ε tanh(ε / 2), is ρ (proofs/conversions.md#pure-zcdp); from below by bisection."""
    low, high = 0.0, math.sqrt(2 * rho) + rho + 1
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * math.tanh(middle / 2) <= rho else (low, middle)
    return low
