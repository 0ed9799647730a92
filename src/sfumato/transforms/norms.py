"""Rows with a bounded norm, on an exact grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.core.domains import Array, Data, Floats, Integers, Matrix, Norm
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Number, non_negative, power_of_two, rational
from sfumato.guarantee import guarantee
from sfumato.transforms.rows import row_space
from sfumato.transforms.rowwise import rowwise

RADIUS_BITS = {1: 40, 2: 30}
"""A radius is about 2^bits steps, by order of the norm: the norm of a row in steps then fits in 64 bits."""

LARGEST = 2.0**1000
"""Offsets beyond this are cut here first, so that no step of the computation can overflow."""

EXTREME = Fraction(2) ** 900
"""Radii and origins must keep this far from the ends of the floats."""


@final
@dataclass(frozen=True)
class Ball:
    """The whole-number points within a radius of an origin that itself lies on the grid."""

    norm: Norm
    step: Fraction
    radius: int
    origin: tuple[int, ...]

    def clamp(self, rows: Array) -> Array:
        """Pulls every row of floats into the ball, as whole numbers of steps from zero."""
        offsets = rows - np.array([float(value) for value in self.norm.origin])
        pulled = _pull_inside(np.clip(offsets, -LARGEST, LARGEST), self.norm) / float(self.step)
        nearest = np.rint(pulled).astype(np.int64)
        outside = norms_exceed(nearest, self.radius, order=self.norm.order)
        nearest[outside] = np.trunc(pulled[outside]).astype(np.int64)
        still = np.flatnonzero(norms_exceed(nearest, self.radius, order=self.norm.order))
        for row in still.tolist():
            nearest[row] = shrink(nearest[row].tolist(), self.radius, order=self.norm.order)
        return self.shifted(nearest)

    def shifted(self, offsets: Array) -> Array:
        """Adds the origin, exactly."""
        if any(abs(value) >= 2**61 for value in self.origin):
            return np.asarray(offsets.astype(object) + np.array(self.origin, dtype=object))
        return np.asarray(offsets + np.array(self.origin, dtype=np.int64))


@constructor
def norm_clamp(radius: Number, *, order: int = 2, origin: Sequence[Number] | Number = 0) -> Partial[Transformation]:
    """Pulls every row of a matrix to within a radius of an origin, along the line between them.

    Takes:      a matrix of finite floats under any distance that counts rows; the L1 or L2 norm; an origin (one number
                for all columns, or one each)
    Gives:      the same rows on a fine grid; their distance from the origin is at most the radius *exactly*
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map; the norm: proofs/norm_clamp.md#inside)
    Cost:       a few passes

    >>> from sfumato.core.space import matrix
    >>> (matrix(4) >> norm_clamp(1, order=2)).map(3)
    Fraction(3, 1)
    """
    reach = non_negative(radius, "the radius")
    if reach and not 1 / EXTREME <= reach <= EXTREME:
        raise BadArgument("the radius", "0, or between 2^-900 and 2^900", radius)
    if order not in RADIUS_BITS:
        raise BadArgument("the order of the norm", "1 or 2", order)

    def build(space: Space) -> Transformation:
        domain, _ = row_space(space, "norm_clamp")
        if not isinstance(domain, Matrix) or domain.element != Floats(domain.element.between):
            raise BadArgument("what norm_clamp() works on", "a matrix of finite floats", str(space))
        ball = ball_on_grid(Norm(reach, order, _origin(origin, domain.columns)))
        target = replace(domain, element=Integers(None, ball.step), norm=ball.norm)

        def run(data: Data) -> Array:
            return ball.clamp(np.array(data, dtype=np.float64))

        return rowwise(space, target, run, f"clamp rows to {ball.norm}")

    return Partial(f"norm_clamp({radius}, order={order})", build)


def _origin(origin: Sequence[Number] | Number, columns: int) -> tuple[Fraction, ...]:
    if isinstance(origin, Sequence | np.ndarray) and not isinstance(origin, str):
        centre = tuple(rational(value, "the origin") for value in origin)
        if len(centre) != columns:
            raise BadArgument("the origin", f"one number, or {columns} of them", origin)
    else:
        centre = (rational(origin, "the origin"),) * columns
    if any(abs(value) > EXTREME for value in centre):
        raise BadArgument("the origin", "within 2^900 of zero", origin)
    return centre


def ball_on_grid(norm: Norm) -> Ball:
    """Chooses a step from the public radius and origin such that the origin is a whole number of steps."""
    common = math.lcm(*(value.denominator for value in norm.origin))
    if norm.radius == 0:
        step = Fraction(1, common)
    else:
        odd = common // (common & -common)
        step = power_of_two(norm.radius * odd) / 2 ** RADIUS_BITS[norm.order] / odd
    if any((value / step).denominator != 1 for value in norm.origin):
        raise BadArgument("the origin", "rounder: it has digits far below the radius", norm.origin)
    return Ball(norm, step, math.floor(norm.radius / step), tuple(int(value / step) for value in norm.origin))


def _pull_inside(offsets: Array, norm: Norm) -> Array:
    """Scales rows outside the ball back to about its surface, in floats; what is exact comes after.

    The entries of a row are added column by column: a reduction along rows may group its terms by the layout of the
    whole array, and then one row's outcome would depend on the others.
    """
    largest = np.abs(offsets).max(axis=1, keepdims=True, initial=0.0)
    unit = offsets / np.where(largest == 0, 1.0, largest)
    total = np.zeros(len(offsets))
    for part in unit.T:
        total = total + (np.abs(part) if norm.order == 1 else part * part)
    size = (total if norm.order == 1 else np.sqrt(total))[:, np.newaxis]
    reach = float(norm.radius) / np.where(size == 0, 1.0, size)
    return np.where(largest <= reach, offsets, unit * reach)


@guarantee(
    claim="true for exactly the rows whose norm in steps is above the radius, if it is below 2^63 (L1) or 2^31.5 (L2)",
    proof="proofs/norm_clamp.md#inside",
    reviewed="8e7fa9dcba89",
)
def norms_exceed(rows: Array, radius: int, *, order: int) -> Array:
    """Tells, in whole numbers, which rows lie outside a ball."""
    if order == 1:
        return np.asarray(np.abs(rows).sum(axis=1) > radius)
    return np.asarray((rows**2).sum(axis=1) > radius**2)


@guarantee(
    claim="a point on the segment to the origin, rounded towards it, whose norm is at most the radius",
    proof="proofs/norm_clamp.md#shrink",
    reviewed="d285e0492d2e",
)
def shrink(row: list[int], radius: int, *, order: int) -> list[int]:
    """Scales one row of whole numbers into a ball, rounding every entry towards zero."""
    size = sum(map(abs, row)) if order == 1 else math.isqrt(sum(value**2 for value in row)) + 1
    return [abs(value) * radius // max(size, 1) * (1 if value > 0 else -1) for value in row]
