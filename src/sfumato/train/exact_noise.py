"""Exact noise for gradients: their sum is put on a grid, and normal numbers rounded to the grid are added.

What is added is a normal number rounded after the addition, so that it costs what ideal Gaussian noise costs; what the
grid moves, and what sums of floats may be off by, is counted as if a unit had added it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import torch
from torch import Tensor, nn

from sfumato.accounting.events import Event, Gaussian
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Several
from sfumato.exact import Number, integer, positive, rational
from sfumato.guarantee import guarantee
from sfumato.noise.rounded_gaussian import MOST_POWER, RoundedGaussian
from sfumato.train.batches import Batches, FixedBatches
from sfumato.train.noise import Gradients, Noise, NoiseStream

PROOF = "proofs/exact_training.md"

LEAST_GRID, FINER = 16, 11
"""A deviation is at least 2^16 steps of the grid, and 2^11 of all that rounding moves, up to what the sampler has."""

FARTHEST = 2.0**44
"""Sums are held within this many steps of the grid, where floats of 53 bits are good to a small part of a step."""

ROUNDINGS = 1 + Fraction(1, 1 << 6)
"""What rounding to the grid moves two sums apart in one entry, in steps: 1, and what dividing by the step is off."""

ROUGHEST = Fraction(1, 4)
"""Where sums of floats may be off by more of the bound than this, smaller pieces of batches are asked for."""

LARGEST = 2.0**900
"""Deviations beyond this, or below its inverse, would leave the range of floats."""

AT_ONCE = 1 << 16
"""How many numbers are rounded at a time: their arrays stay in the processor's cache."""

LOST_BITS = {torch.float32: 24, torch.float64: 53}
"""Adding two floats is off by at most this many binary digits below what they add up to."""


@final
@dataclass(frozen=True)
class Exact(Noise):
    """Gaussian noise that is drawn exactly, on a grid, for gradients of ``dimension`` numbers. Get one from `of`.

    ``summing`` is by how much of the bound neighbours' sums of floats may differ beside what a unit adds.
    """

    dimension: int
    summing: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", integer(self.dimension, "dimension", least=1))
        object.__setattr__(self, "summing", rational(self.summing, "summing"))
        if self.summing < 0:
            raise BadArgument("summing", "at least 0: a part of the bound of clipping", self.summing)

    @classmethod
    def of(cls, parameters: Sequence[nn.Parameter], batches: Batches, largest: int | None = None) -> Exact:
        """The exact noise for the parameters of a model that are trained, of at most ``largest`` units at once."""
        kinds = {each.dtype for each in parameters}
        if not kinds <= LOST_BITS.keys():
            must = "of 32 or 64 bits: sums of shorter floats are too rough for exact noise"
            raise BadArgument("parameters", must, Several(*sorted(map(str, kinds))))
        short = torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32
        if short and any(each.is_cuda for each in parameters):
            must = (
                "added up at single precision for exact noise: torch.backends.cuda.matmul.allow_tf32 = False, and "
                "torch.backends.cudnn.allow_tf32 = False"
            )
            raise BadArgument("gradients", must, "TF32")
        lost = min(LOST_BITS[kind] for kind in kinds)
        units = most_units(batches)
        summing = summing_error(units, units if largest is None else min(units, largest), lost)
        if summing > ROUGHEST:
            must = "smaller with exact noise, such as 64: sums of floats of so many units at once would be too rough"
            raise BadArgument("largest", must, largest)
        return cls(sum(each.numel() for each in parameters), summing)

    @property
    def wide(self) -> bool:
        return True

    @property
    def power(self) -> int:
        """A deviation is 2^power steps of the grid."""
        return min(max(LEAST_GRID, FINER + (_root_above(self.dimension) - 1).bit_length()), MOST_POWER)

    @guarantee(
        claim="the deviation over how far one unit moves the sum on the grid, of so many numbers; never more",
        proof=f"{PROOF}#price",
        reviewed="617a0d2f3864",
    )
    def multiplier(self, multiplier: Fraction) -> Fraction:
        """The noise in units of all that one unit may move, where it is ``multiplier`` times the bound of clipping."""
        rounding = multiplier * _root_above(self.dimension) * ROUNDINGS / (1 << self.power)
        return multiplier / ((1 + self.summing + rounding) * (1 + Fraction(1, 1 << 40)))

    def event(self, batches: Batches, multiplier: Number) -> Event:
        return batches.event(Gaussian(self.multiplier(positive(multiplier, "noise_multiplier"))))

    def start(self, parameters: Sequence[nn.Parameter], entropy: Entropy) -> NoiseStream:
        many = sum(each.numel() for each in parameters)
        if many > self.dimension:
            raise BadArgument("dimension", f"at least {many}, the number of all that is trained", self.dimension)
        return _Gridded(parameters, RoundedGaussian.of(self.power), entropy)

    def __str__(self) -> str:
        return (
            f"Gaussian, drawn exactly on a grid of 2^-{self.power} deviations; gradients are floats, "
            f"whose sums may be off by {float(self.summing):.2g} of the bound, which is paid for"
        )


@final
class _Gridded(NoiseStream):
    def __init__(self, parameters: Sequence[nn.Parameter], sampler: RoundedGaussian, entropy: Entropy) -> None:
        self._parameters, self._sampler, self._entropy = parameters, sampler, entropy

    def add(self, sums: Gradients, deviation: float) -> Gradients:
        if not 1 / LARGEST <= deviation <= LARGEST:
            raise BadArgument("noise_multiplier times clip", "in the range of floats", deviation)
        step = math.ldexp(deviation, -self._sampler.power)
        sizes = [each.numel() for each in self._parameters]
        drawn = torch.from_numpy(self._sampler.samples(sum(sizes), self._entropy)).split(sizes)
        return {
            parameter: _noisy(noise.to(parameter.device), sums.get(parameter), step, parameter)
            for parameter, noise in zip(self._parameters, drawn, strict=True)
        }


def _noisy(noise: Tensor, sums: Tensor | None, step: float, like: Tensor) -> Tensor:
    """The sums on the grid with whole numbers of noise, in the shape and kind of a parameter."""
    noisy = torch.empty(like.numel(), dtype=like.dtype, device=like.device)
    flat = None if sums is None else sums.reshape(-1)
    for start in range(0, len(noisy), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        total = noise[part].double()
        if flat is not None:
            total += gridded(flat[part], step)
        noisy[part] = total.mul_(step)
    return noisy.view(like.shape)


@guarantee(
    claim="whole numbers; two sums D apart in L2 are at most D / step + (1 + 2^-6)·√entries apart",
    proof=f"{PROOF}#grid",
    reviewed="f9cd8218057a",
)
def gridded(sums: Tensor, step: float) -> Tensor:
    """Rounds sums to whole numbers of a step, those beyond 2^44 steps to there; what is no number is 0."""
    steps = sums.to(torch.float64, copy=True).mul_(1 / step)
    return steps.nan_to_num_(nan=0.0).clamp_(-FARTHEST, FARTHEST).round_()


@guarantee(
    claim="at least what rounding moves the float sums of two batches of at most so many units apart, over the bound",
    proof=f"{PROOF}#sums",
    reviewed="ef4255e38089",
)
def summing_error(units: int, at_once: int, lost: int) -> Fraction:
    """By how much of the bound sums of floats of neighbours may differ beside what the unit adds, in any order.

    ``at_once`` units are added up in floats of ``lost`` bits, and what they add up to in those of 53.

    >>> float(summing_error(600, 128, 24)) < 0.005
    True
    """
    if at_once + 6 > 1 << (lost - 7):
        must = f"at most {(1 << (lost - 7)) - 6:,} for exact noise: sums of floats would be too rough"
        raise BadArgument("largest", must, at_once)
    return Fraction(units * (at_once + 6), 1 << lost) * (1 + Fraction(1, 1 << 6))


@guarantee(
    claim="more units than these are in a batch with a chance below e^-72, by Bernstein's inequality",
    proof=f"{PROOF}#sums",
    reviewed="9bc2a21db6a7",
)
def most_units(batches: Batches) -> int:
    """How many units a batch has at most."""
    expected = math.ceil(batches.expected)
    if isinstance(batches, FixedBatches):
        return expected
    return expected + 12 * _root_above(expected) + 100


def _root_above(number: int) -> int:
    """The least whole number that is at least the square root."""
    return math.isqrt(number - 1) + 1
