"""Moments E e^(sZ) of the privacy losses of many Laplace mechanisms at once: a closed form for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from flint import acb, arb

from sfumato.accounting.pld.float_balls import Balls, Floats
from sfumato.exact import ball
from sfumato.guarantee import guarantee

CHUNK = 1 << 18
"""No more values than this are worked out at a time."""

SMALL = 1e-4
"""Below this ratio rough moments are those of a fair sign."""


@final
@dataclass(frozen=True)
class LaplacePart:
    """Uses of Laplace noise of scale 1 about 0, against the same about ``ratio``."""

    ratio: Fraction
    count: int


@guarantee(
    claim="E e^(sZ) = e^(ar) (A e^(itr) + B e^(-(2a+1)r - itr)), A = (s+1)/(2s+1), B = s/(2s+1), s = a + it",
    proof="proofs/contour.md#laplace",
    reviewed="4d56a24ab44f",
)
def laplace_spectrum(
    parts: Sequence[LaplacePart], tilt: arb, *, spacing: arb, rows: int, columns: int
) -> tuple[Balls, arb]:
    """Encloses the product of all moments at tilt + ik·spacing, k < rows·columns, over e to a power that comes too."""
    s = [acb(tilt, spacing * place) for place in range(rows * columns)]
    upper, lower = (
        Balls.rows([[value.real for value in row]]) + Balls.rows([[value.imag for value in row]]) * Balls.exact(1j)
        for row in ([(one + 1) / (2 * one + 1) for one in s], [one / (2 * one + 1) for one in s])
    )
    product, level = Balls.exact(np.ones(len(s))), arb(0)
    stride = max(1, CHUNK // len(s))
    for start in range(0, len(parts), stride):
        chunk = parts[start : start + stride]
        ratio = Balls.column([ball(part.ratio) for part in chunk])
        turn = ratio * Balls.column([spacing]) * Balls.exact(1j)
        leaps = (turn * Balls.exact(np.arange(rows) * float(columns))).exp()
        steps = (turn * Balls.exact(np.arange(columns) * 1.0)).exp()
        turned = (leaps[:, :, None] * steps[:, None, :]).reshape(len(chunk), len(s))
        below = (ratio * (Balls.column([tilt]) * 2.0 + 1.0) * -1.0).exp()
        scales = [float(scale) for scale in _scales(chunk, float(tilt.mid()))]
        values = (upper * turned + lower * below * turned.conjugate()) * Balls.column([1 / arb(one) for one in scales])
        product = product * values.raised([part.count for part in chunk]).prod()
        level += sum(
            ((tilt * ball(part.ratio) + arb(one).log()) * part.count for part, one in zip(chunk, scales, strict=True)),
            arb(0),
        )
    return product, level


def log_moment(parts: Sequence[LaplacePart], tilt: arb) -> arb:
    """Encloses ln E e^(tilt·Z) of all parts together."""
    total = arb(0)
    for part in parts:
        reach = ball(part.ratio)
        inside = (tilt + 1 + tilt * (-(2 * tilt + 1) * reach).exp()) / (2 * tilt + 1)
        total += (tilt * reach + inside.log()) * part.count
    return total


def _scales(parts: Sequence[LaplacePart], tilt: float) -> Floats:
    """About E e^(tilt·(Z − ratio)) of each part."""
    ratios = np.array([float(part.ratio) for part in parts])
    scales: Floats = (tilt + 1 + tilt * np.exp(-(2 * tilt + 1) * ratios)) / (2 * tilt + 1)
    return scales


def rough_moments(parts: Sequence[LaplacePart], tilts: Floats) -> tuple[Floats, Floats, Floats]:
    """About ln E e^(tilt·Z) of all parts together, and its first two derivatives, at each of several tilts."""
    r = np.array([float(part.ratio) for part in parts])[:, None]
    counts = np.array([float(part.count) for part in parts])[:, None]
    twice = 2 * tilts + 1
    fallen = np.exp(-twice * r)
    top = tilts + 1 + tilts * fallen
    first, second = (1 + fallen - 2 * r * tilts * fallen) / top, 4 * r * fallen * (r * tilts - 1) / top
    small = r < SMALL
    value = np.where(small, tilts * (tilts + 1) * r * r / 2, tilts * r + np.log(top / twice))
    mean = np.where(small, (tilts + 0.5) * r * r, r + first - 2 / twice)
    spread = np.where(small, r * r, np.maximum(second - first * first + 4 / twice**2, 0.0))
    return np.sum(counts * value, axis=0), np.sum(counts * mean, axis=0), np.sum(counts * spread, axis=0)


def rough_variation(parts: Sequence[LaplacePart]) -> float:
    """About the sum of the total variations."""
    return sum(-math.expm1(-float(part.ratio) / 2) * part.count for part in parts)
