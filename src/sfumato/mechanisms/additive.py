"""Additive noise on exact values: Laplace and Gaussian, for numbers and vectors, on integers and on grids.

Whatever the input, what is noised is a whole number of grid steps: integers as they are, exact aggregates in their own
step, and floats after rounding to a power-of-two grid, whose effect on the distance is part of the map.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import overload

from sfumato.accounting.events import Noise as NoiseEvent
from sfumato.accounting.facts import loss_of
from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.core.domains import Data, Floats, Integers
from sfumato.core.law import Law, ProductLaw, ShiftedLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, Metric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.unscaled import Unscaled
from sfumato.entropy import Entropy
from sfumato.exact import Distance, Number, positive, up
from sfumato.mechanisms.gridding import Gridded, exact_add, gridded
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import Noise
from sfumato.release.interval import share_of_each
from sfumato.release.record import How, Noised


@overload
def laplace(scale: Number, *, step: Number | None = ...) -> Partial[Measurement]: ...
@overload
def laplace(scale: None = ..., *, step: Number | None = ...) -> Unscaled: ...
@constructor
def laplace(scale: Number | None = None, *, step: Number | None = None) -> Partial[Measurement] | Unscaled:
    """Adds Laplace noise of a scale, drawn exactly on the integers or on the values' grid.

    Without a scale it waits for a loss, which then decides it: ``chain.with_loss(sf.Pure(1))`` (`core.unscaled`).

    Takes:      a number under the absolute distance, or a vector under the L1 distance
    Gives:      the noisy number or vector: whole numbers for integers, else the floats nearest to grid values
    Guarantee:  Pure(epsilon = d_in / scale)  (proofs/additive.md#laplace; floats: proofs/gridding.md#rounding)
    Cost:       some 20 ns a coordinate

    >>> from sfumato.core.space import scalar
    >>> (scalar(int) >> laplace(scale=2)).map(1)
    Pure(epsilon=0.5)
    """
    if scale is None:
        return Unscaled("laplace", lambda least: laplace(least, step=step))
    size = positive(scale, "scale")
    grid_step = None if step is None else positive(step, "step")
    return Partial(
        f"laplace(scale={scale})",
        lambda space: additive(
            space, "laplace", L1, Pure, size, grid_step, DiscreteLaplace, "proofs/additive.md#laplace"
        ),
    )


@overload
def gaussian(scale: Number, *, step: Number | None = ...) -> Partial[Measurement]: ...
@overload
def gaussian(scale: None = ..., *, step: Number | None = ...) -> Unscaled: ...
@constructor
def gaussian(scale: Number | None = None, *, step: Number | None = None) -> Partial[Measurement] | Unscaled:
    """Adds Gaussian noise of a scale (its standard deviation), drawn exactly on the integers or on the values' grid.

    Without a scale it waits for a loss, which then decides it: ``chain.with_loss(sf.Pure(1))`` (`core.unscaled`).

    Takes:      a number under the absolute distance, or a vector under the L2 distance
    Gives:      the noisy number or vector: whole numbers for integers, else the floats nearest to grid values
    Guarantee:  ZCDP(rho = d_in² / (2 scale²))  (proofs/additive.md#gaussian; floats: proofs/gridding.md#rounding)
    Cost:       some 40 ns a coordinate

    >>> from sfumato.core.space import scalar
    >>> (scalar(int) >> gaussian(scale=2)).map(1)
    ZCDP(rho=0.125)
    """
    if scale is None:
        return Unscaled("gaussian", lambda least: gaussian(least, step=step))
    size = positive(scale, "scale")
    grid_step = None if step is None else positive(step, "step")
    return Partial(
        f"gaussian(scale={scale})",
        lambda space: additive(
            space, "gaussian", L2, ZCDP, size, grid_step, DiscreteGaussian, "proofs/additive.md#gaussian"
        ),
    )


def additive(
    space: Space,
    name: str,
    norm: type[Metric],
    measure: type[Loss],
    scale: Fraction,
    step: Fraction | None,
    family: Callable[[Fraction], Noise],
    proof: str,
) -> Measurement:
    """Builds the measurement that adds noise of one family, scaled to the grid of a space."""
    grid = gridded(space, norm=norm, scale=scale, step=step, verb=name)
    how = How(
        name,
        (("scale", f"{up(scale):.6g}"), ("step", f"{up(grid.step):.3g}")),
        proofs=(proof, "proofs/gridding.md#rounding"),
    )
    return with_noise(space, grid, family(scale / grid.step), measure, how)


def with_noise(
    space: Space,
    grid: Gridded,
    noise: Noise,
    measure: type[Loss],
    how: How,
    privacy_map: Callable[[Distance], Loss] | None = None,
) -> Measurement:
    """Builds the measurement that adds fresh noise to every coordinate; it costs what is a fact of the noise.

    Where no fact is of this kind, ``privacy_map`` gives the loss of a shift.
    """
    coordinates = 1 if grid.size is None else grid.size
    price = privacy_map or (lambda shift: loss_of(noise, measure, shift))
    return Measurement(
        source=space,
        measure=measure,
        function=lambda data, entropy: add_noise(data, grid, noise, entropy),
        privacy_map=lambda d_in: price(grid.shift(d_in)),
        how=how,
        law=lambda data: _law(data, grid, noise),
        error=lambda confidence: half_width(grid, noise, confidence, coordinates),
        noise=noise_record(grid, noise),
        event=None
        if privacy_map
        else lambda d_in: NoiseEvent(noise, grid.shift(d_in), coordinates=max(1, coordinates)),
    ).recorded()


def add_noise(data: Data, grid: Gridded, noise: Noise, entropy: Entropy) -> Data:
    """Draws fresh noise for every coordinate and adds it in whole numbers."""
    whole = grid.whole(data)
    if isinstance(whole, int):
        return grid.value(whole + noise.sample(entropy))
    return grid.value(exact_add(whole, noise.samples(len(whole), entropy)))


def noise_record(grid: Gridded, noise: Noise, offset: int = 0) -> Noised:
    """The record of fresh noise on every coordinate of a grid."""
    coordinates, rounding = 1 if grid.size is None else grid.size, rounding_of(grid)
    return Noised(noise, grid.step, coordinates, rounding, offset)


def rounding_of(grid: Gridded) -> Fraction:
    """How far values are moved to the grid, at most: floats half a step, exact values not at all."""
    return grid.step / 2 if isinstance(grid.element, Floats) else Fraction(0)


def half_width(grid: Gridded, noise: Noise, confidence: Fraction, coordinates: int) -> Data:
    """The error that all coordinates, which are independent, keep together with a confidence, in values."""
    missed = share_of_each(1 - confidence, coordinates=max(1, coordinates), union=False)
    return in_values(grid, noise.half_width(1 - missed))


def in_values(grid: Gridded, steps: int) -> Data:
    """The error of values whose noise is within so many steps: with what rounding adds, and rounded up."""
    width = steps * grid.step + rounding_of(grid)
    return int(width) if isinstance(grid.element, Integers) and grid.step == 1 else up(width)


def _law(data: Data, grid: Gridded, noise: Noise) -> Law:
    whole = grid.whole(data)
    if isinstance(whole, int):
        return ShiftedLaw(noise, whole)
    return ProductLaw(tuple(ShiftedLaw(noise, int(entry)) for entry in whole))
