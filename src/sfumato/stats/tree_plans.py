"""Plans for trees of counts: which layers to release and how to share a loss among them, by the error on ranges.

The expected squared error, averaged over every range of bins, is known before any data: with layers whose nodes hold
s₀, s₁, … bins and get the weights w₀, w₁, … it is Σ cᵢ / λᵢ, where λᵢ = Σ_{j ≥ i} wⱼ² sⱼ, and cᵢ depends on the sizes
alone (proofs/trees.md#error). A plan makes it small. Nothing here is a privacy statement: any plan is as private as the
loss that it shares out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, combinations
from typing import final

import numpy as np

from sfumato.core.domains import Array
from sfumato.errors import BadArgument
from sfumato.exact import integer

FINEST_SHARE = 1 << 12
"""Shares are whole multiples of 1 / 4096: near the best, error hardly depends on them."""

DEEPEST = 4
"""The most layers between bins and total that plans for Laplace noise try; enough for a million bins."""

ROUNDS = 200
"""Steps towards the best weights; a few dozen are enough."""


@final
@dataclass(frozen=True)
class Plan:
    """How many bins a node of each released layer holds, from the top down, and the layer's share of the loss.

    ``error`` is the expected squared error of a range, averaged over all ranges, for noise whose variance at the whole
    loss is 1 (Pure: 2 / ε², ZCDP: 1 / 2ρ, for neighbours that move one count by 1).
    """

    widths: tuple[int, ...]
    shares: tuple[Fraction, ...]
    error: float


@lru_cache(maxsize=256)
def best_plan(bins: int, *, concentrated: bool, known: bool, branching: tuple[int, ...] | int | None = None) -> Plan:
    """Finds the plan with the least average error, among all trees or those with a given branching.

    ``concentrated`` says that the shares of squares of weights add up (Gaussian noise and zCDP), else the weights do
    (Laplace noise); ``known``, that the total is public.

    >>> best_plan(16, concentrated=False, known=False).widths, best_plan(4096, concentrated=False, known=False).widths
    ((1,), (256, 16, 1))
    """
    if branching is not None:
        lists = [_layer_widths(bins, branching)]
    elif concentrated:
        lists = [[1 << place for place in range((bins - 1).bit_length())]]
    else:
        inner = [1 << place for place in range(1, (bins - 1).bit_length())]
        lists = [[1, *chosen] for count in range(DEEPEST + 1) for chosen in combinations(inner, count)]
    tried = [tuple(reversed(widths)) for widths in lists]
    if not known:
        tried += [(bins, *widths) for widths in tried if bins > 1]
    if concentrated:
        plans = [_plan_by_squares(bins, widths, known=known) for widths in tried]
    else:
        plans = _plans_by_sum(bins, tried, known=known)
    return min(plans, key=lambda plan: plan.error)


def _layer_widths(bins: int, branching: tuple[int, ...] | int) -> list[int]:
    """Widths of the layers of a tree, from the bins up, without the total."""
    if isinstance(branching, tuple):
        radices = [integer(radix, "branching", least=2) for radix in branching]
        widths = list(accumulate(reversed(radices), lambda width, radix: width * radix, initial=1))
        if widths[-1] < bins:
            raise BadArgument("branching", f"factors that make at least the number of bins, {bins}", branching)
    else:
        radix = integer(branching, "branching", least=2)
        widths = list(accumulate(range(bins.bit_length()), lambda width, _: width * radix, initial=1))
    return [width for width in widths if width < bins]


@lru_cache(maxsize=1024)
def energy(bins: int, width: int) -> float:
    """The average over all ranges of Σ (bins of the range in a node)² / width, over the nodes of a layer."""
    places = np.arange(bins)
    before = np.concatenate([[0.0], np.cumsum(places + 1.0)])
    after = bins - places
    inside = before[places + 1] - before[places // width * width]
    both = 2 * np.dot(after, inside) - np.dot(after, places + 1.0)
    return float(both / width / (bins * (bins + 1) / 2))


def _energies(bins: int, widths: Sequence[int], *, known: bool) -> Array:
    levels = [energy(bins, bins) if known else 0.0, *(energy(bins, width) for width in widths)]
    return np.maximum(np.diff(levels), 1e-12)


def _plans_by_sum(bins: int, tried: Sequence[tuple[int, ...]], *, known: bool) -> list[Plan]:
    """The plan with the best weights for each list of widths, where the weights add up to 1."""
    plans = []
    for depth in sorted({len(widths) for widths in tried}):
        same = [widths for widths in tried if len(widths) == depth]
        sizes = np.array(same, dtype=np.float64)
        energies = np.array([_energies(bins, widths, known=known) for widths in same])
        weights = np.full(sizes.shape, 1 / depth)
        for _ in range(ROUNDS):
            # At the best weights all pulls are equal: a layer's weight times the fall of the error with its square.
            pull = weights * sizes * np.cumsum(energies / _sums_below(weights**2 * sizes) ** 2, axis=1)
            weights = weights * np.sqrt(np.sqrt(pull / pull.max(axis=1, keepdims=True)))
            weights /= weights.sum(axis=1, keepdims=True)
        errors = np.sum(energies / _sums_below(weights**2 * sizes), axis=1)
        plans += [_plan(widths, row, float(error)) for widths, row, error in zip(same, weights, errors, strict=True)]
    return plans


def _plan_by_squares(bins: int, widths: tuple[int, ...], *, known: bool) -> Plan:
    """The plan with the best weights for a list of widths, where their squares add up to 1: λ² ∝ c / d."""
    sizes, energies = np.array(widths, dtype=np.float64), _energies(bins, widths, known=known)
    dimensions = np.diff(np.concatenate([[0.0], 1 / sizes]))
    wanted = np.minimum.accumulate(np.sqrt(energies / dimensions))
    squares = -np.diff(np.append(wanted, 0.0)) / sizes
    squares /= squares.sum()
    return _plan(widths, squares, float(np.sum(energies / _sums_below(squares * sizes))))


def _sums_below(parts: Array) -> Array:
    return np.cumsum(parts[..., ::-1], axis=-1)[..., ::-1]


def _plan(widths: tuple[int, ...], shares: Array, error: float) -> Plan:
    """Rounds shares to rationals that add up to exactly 1, and drops layers that get none; the last takes the rest."""
    whole = [int(share * FINEST_SHARE) for share in shares[:-1]]
    layers = [(width, count) for width, count in zip(widths, whole, strict=False) if count > 0]
    rest = Fraction(FINEST_SHARE - sum(count for _, count in layers), FINEST_SHARE)
    return Plan(
        (*(width for width, _ in layers), widths[-1]),
        (*(Fraction(count, FINEST_SHARE) for _, count in layers), rest),
        error,
    )
