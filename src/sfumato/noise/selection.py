"""Choosing one of many candidates with probabilities that depend on exponents, decided exactly.

A candidate's exponent is a rational (or None: impossible), or an entry of an integer array times a rational unit.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TypeAlias, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import ball, down, integer, lower, positive
from sfumato.guarantee import guarantee
from sfumato.noise.bernoulli import flip_exp
from sfumato.noise.coins import LARGEST_UNIT, flip_exp_many
from sfumato.noise.inversion import WORD, IndexLaw, resolve

Exponents: TypeAlias = Sequence[Fraction | None] | NDArray[np.int64]

DEEPEST = 1 << 12
"""Levels this far below the best are lumped together: they are hit once in 2^4096 draws."""

_HIGHEST_LEVEL = float(1 << 62)
_SAFETY = 1 - 2.0**-50


@final
@dataclass(frozen=True, eq=False)
class Field:
    """A set of candidates sorted into levels: exp(-gap) <= 2^-level, where gap is the distance to the best exponent.

    ``places`` are the candidates that are possible, ``levels`` belongs to them, ``gap(i)`` is exact.
    """

    places: NDArray[np.int64]
    levels: NDArray[np.int64]
    gap: Callable[[int], Fraction]


@guarantee(
    claim="exp(-gap) <= 2^-level, for every possible candidate",
    proof="proofs/selection_sampling.md#levels",
    reviewed="9271633a981b",
)
def field(exponents: Exponents, *, unit: Fraction, possible: NDArray[np.bool_]) -> Field:
    """Sorts candidates into levels, with floats that only ever err towards a lower level."""
    places = np.flatnonzero(possible)
    if not len(places):
        raise BadArgument("exponents", "possible for at least one candidate", "none")
    rate = Fraction(lower(lambda: ball(unit) / arb(2).log()))
    if isinstance(exponents, np.ndarray):
        chosen, best = exponents[places], exponents[places].max()
        factor = min(down(rate) * _SAFETY, LARGEST_UNIT)
        depth = (best.astype(np.uint64) - chosen.astype(np.uint64)).astype(np.float64) * factor
        levels = np.floor(np.minimum(depth, _HIGHEST_LEVEL)).astype(np.int64)
        return Field(places, levels, lambda place: (int(best) - int(exponents[place])) * unit)
    known = {place: Fraction(exponents[place] or 0) for place in places.tolist()}
    top = max(known.values())
    exact = [min(math.floor((top - known[place]) * rate), 1 << 62) for place in places.tolist()]
    return Field(places, np.array(exact, dtype=np.int64), lambda place: (top - known[place]) * unit)


@guarantee(
    claim="candidate i and offset o < widths[i] with probability proportional to exp(exponent of i)",
    proof="proofs/selection_sampling.md#levels",
    reviewed="6dd6c5769375",
)
def draw(candidates: Field, *, widths: NDArray[np.int64] | None, entropy: Entropy) -> tuple[int, int]:
    """Draws a level, a place in it uniformly, and accepts with what the level overstates."""
    base = int(candidates.levels.min())
    depth = np.minimum(candidates.levels - base, DEEPEST).astype(np.int16)
    order = np.argsort(depth, kind="stable")
    ranked = depth[order]
    starts = np.flatnonzero(np.diff(ranked, prepend=-1))
    stops = np.append(starts[1:], len(ranked))
    sizes = np.ones(len(order), dtype=np.int64) if widths is None else widths[candidates.places[order]]
    totals = exact_sums(sizes, starts)
    ends = list(accumulate(n << (DEEPEST - int(d)) for n, d in zip(totals, ranked[starts], strict=True)))
    while True:
        level = bisect_right(ends, entropy.below(ends[-1]))
        members = slice(starts[level], stops[level])
        member, offset = pick(sizes[members], ticket=entropy.below(totals[level]))
        place = int(candidates.places[order[members][member]])
        if keeps(candidates.gap(place), level=base + int(ranked[starts[level]]), entropy=entropy):
            return place, offset


@guarantee(
    claim="true with probability 2^level exp(-gap), which must be at most 1",
    proof="proofs/selection_sampling.md#levels",
    reviewed="c88fb3f82429",
)
def keeps(gap: Fraction, *, level: int, entropy: Entropy) -> bool:
    """Flips the coin that undoes what a level overstates."""
    if gap == 0 and level == 0:
        return True
    law = IndexLaw(lambda _: (level * arb(2).log() - ball(gap)).exp(), 2)
    return resolve(law, entropy.bits(WORD), WORD, entropy) == 0


def exact_sums(sizes: NDArray[np.int64], starts: NDArray[np.int64]) -> list[int]:
    """Adds up non-negative integers from each start to the next, without overflow."""
    high, low = np.add.reduceat(sizes >> 31, starts), np.add.reduceat(sizes & ((1 << 31) - 1), starts)
    return [(above << 31) + under for above, under in zip(high.tolist(), low.tolist(), strict=True)]


def pick(sizes: NDArray[np.int64], *, ticket: int) -> tuple[int, int]:
    """Finds the entry that holds a ticket when each has as many tickets as its size, and the ticket's place in it."""
    whole = sizes if exact_sums(sizes, np.zeros(1, dtype=np.int64))[0] < 1 << 62 else sizes.astype(object)
    ends = np.cumsum(whole)
    member = int(np.searchsorted(ends, ticket, side="right"))
    return member, ticket - int(ends[member]) + int(sizes[member])


def possible_mask(exponents: Exponents, possible: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Finds the candidates that may be chosen."""
    if isinstance(exponents, np.ndarray):
        if exponents.dtype != np.int64:
            raise BadArgument("exponents", "an array of int64, with a unit", exponents.dtype)
        mask = np.ones(len(exponents), dtype=np.bool_)
    else:
        mask = np.array([exponent is not None for exponent in exponents], dtype=np.bool_)
    return mask if possible is None else mask & possible


@guarantee(
    claim="P(i) is proportional to exp(exponent of i)",
    proof="proofs/selection_sampling.md#exponential",
    reviewed="d6afd19adfe4",
)
def exponential_index(
    exponents: Exponents,
    *,
    entropy: Entropy,
    unit: Fraction = Fraction(1),
    possible: NDArray[np.bool_] | None = None,
) -> int:
    """Draws a candidate with probability proportional to exp(exponent); this is also noisy max with Gumbel noise."""
    mask = possible_mask(exponents, possible)
    return draw(field(exponents, unit=positive(unit, "unit"), possible=mask), widths=None, entropy=entropy)[0]


@guarantee(
    claim="P(i, offset) is proportional to exp(exponent of i) for 0 <= offset < widths[i]",
    proof="proofs/selection_sampling.md#intervals",
    reviewed="63a4eb284011",
)
def interval_index(
    exponents: Exponents,
    *,
    widths: NDArray[np.int64],
    entropy: Entropy,
    unit: Fraction = Fraction(1),
    possible: NDArray[np.bool_] | None = None,
) -> tuple[int, int]:
    """Draws an interval with probability proportional to width × exp(exponent), and a uniform place inside it."""
    if len(widths) != len(exponents) or (widths < 0).any():
        raise BadArgument("widths", "one whole number of at least 0 for each candidate", len(widths))
    mask = possible_mask(exponents, possible) & (widths > 0)
    return draw(field(exponents, unit=positive(unit, "unit"), possible=mask), widths=widths, entropy=entropy)


@guarantee(
    claim="k selections without replacement, each proportional to exp(exponent) among those left",
    proof="proofs/selection_sampling.md#peeling",
    reviewed="3c7d188ff90b",
)
def top_k_indices(
    exponents: Exponents,
    *,
    k: int,
    entropy: Entropy,
    unit: Fraction = Fraction(1),
    possible: NDArray[np.bool_] | None = None,
) -> list[int]:
    """Draws k candidates in order, one after another; this is also one-shot Gumbel noise and the k largest."""
    left = possible_mask(exponents, possible).copy()
    if integer(k, "k", least=1) > int(left.sum()):
        raise BadArgument("k", "at most the number of possible candidates", k)
    chosen: list[int] = []
    for _ in range(k):
        chosen.append(exponential_index(exponents, unit=unit, possible=left, entropy=entropy))
        left[chosen[-1]] = False
    return chosen


@guarantee(
    claim="the law of permute-and-flip, which is noisy max with exponential noise",
    proof="proofs/selection_sampling.md#flip",
    reviewed="43ae7f9fe3d2",
)
def permute_and_flip_index(
    exponents: Exponents,
    *,
    entropy: Entropy,
    unit: Fraction = Fraction(1),
    possible: NDArray[np.bool_] | None = None,
) -> int:
    """Flips a coin of exp(exponent - best) for every candidate and draws uniformly among the heads."""
    places = np.flatnonzero(possible_mask(exponents, possible))
    if not len(places):
        raise BadArgument("exponents", "possible for at least one candidate", "none")
    if isinstance(exponents, np.ndarray):
        chosen = exponents[places].astype(np.uint64)
        gaps = exponents[places].max().astype(np.uint64) - chosen
        heads = places[flip_exp_many(gaps, unit=positive(unit, "unit"), entropy=entropy)]
    else:
        known = [Fraction(exponents[place] or 0) for place in places.tolist()]
        top = max(known)
        coins = [flip_exp((top - exponent) * positive(unit, "unit"), entropy=entropy) for exponent in known]
        heads = places[np.array(coins)]
    return int(heads[entropy.below(len(heads))])
