"""The exact probabilities of the selections in `selection`, as balls; for tests, plots and small candidate sets."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

from flint import arb

from sfumato.exact import BITS, ball, precision
from sfumato.guarantee import guarantee

ENDS = Fraction(1, 1 << 80)
"""Noise values beyond this tail are not summed one by one; their mass widens the balls."""


def known(exponents: Sequence[Fraction | None]) -> list[Fraction]:
    """The exponents that are possible."""
    return [exponent for exponent in exponents if exponent is not None]


@guarantee(
    claim="widths[i] exp(exponent of i), over the sum of these",
    proof="proofs/selection_sampling.md#exponential",
    reviewed="53aee5746086",
)
def exponential_probabilities(
    exponents: Sequence[Fraction | None], *, widths: Sequence[int] | None = None, bits: int = BITS
) -> list[arb]:
    """Encloses the probability of each candidate under `exponential_index` or `interval_index`."""
    top = max(known(exponents))
    sizes = widths if widths is not None else [1] * len(exponents)
    with precision(bits):
        weights = [
            arb(0) if exponent is None else size * ball(exponent - top).exp()
            for exponent, size in zip(exponents, sizes, strict=True)
        ]
        total = sum(weights, arb(0))
        return [weight / total for weight in weights]


@guarantee(
    claim="p(i) times the expectation of 1 / (1 + other heads), with p = exp(exponent - best)",
    proof="proofs/selection_sampling.md#flip",
    reviewed="122f613eae30",
)
def permute_and_flip_probabilities(exponents: Sequence[Fraction | None], *, bits: int = BITS) -> list[arb]:
    """Encloses the probability of each candidate under `permute_and_flip_index`."""
    top = max(known(exponents))
    with precision(bits):
        coins = [arb(0) if exponent is None else ball(exponent - top).exp() for exponent in exponents]
        return [
            coin * share([(1 - rival, rival) for j, rival in enumerate(coins) if j != i])
            for i, coin in enumerate(coins)
        ]


def share(others: Sequence[tuple[arb, arb]]) -> arb:
    """Integrates the product of (a + b t) over t in [0, 1]: the chance to win a fair draw among the b that show up."""
    product = [arb(1)]
    for constant, slope in others:
        product = [
            (product[k] * constant if k < len(product) else arb(0)) + (product[k - 1] * slope if k else arb(0))
            for k in range(len(product) + 1)
        ]
    return sum((term / (k + 1) for k, term in enumerate(product)), arb(0))


@guarantee(
    claim="the product of the exponential probabilities among those left, for each ordered choice",
    proof="proofs/selection_sampling.md#peeling",
    reviewed="544053108207",
)
def top_k_probabilities(
    exponents: Sequence[Fraction | None], *, k: int, bits: int = BITS
) -> dict[tuple[int, ...], arb]:
    """Encloses the probability of each ordered choice under `top_k_indices`."""
    top = max(known(exponents))
    with precision(bits):
        weights = {i: ball(e - top).exp() for i, e in enumerate(exponents) if e is not None}
        total = sum(weights.values(), arb(0))
        chances = {}
        for order in permutations(weights, k):
            chance, left = arb(1), total
            for place in order:
                chance, left = chance * weights[place] / left, left - weights[place]
            chances[order] = chance
        return chances
