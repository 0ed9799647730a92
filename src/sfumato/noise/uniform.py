"""Uniform numbers, permutations and choices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, ball, integer, precision
from sfumato.guarantee import guarantee
from sfumato.noise.distribution import Noise
from sfumato.noise.sampling import Integers

Thing = TypeVar("Thing")

SPARSE = 8
"""A choice of fewer than 1 in 8 draws places with repeats and drops these; a denser one cuts a permutation."""


@guarantee(
    claim="independent and uniform on 0 … bound - 1, for bound <= 2^63",
    proof="proofs/uniform.md#below",
    reviewed="54a5d4516c36",
)
def below_many(bound: int, *, count: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draws an array of uniform integers below a bound by rejection, without bias."""
    width = (bound - 1).bit_length()
    drawn = np.zeros(count, dtype=np.int64)
    left = np.arange(count)
    while width and len(left):
        if width <= 16:
            tries = (entropy.halves(len(left)) >> np.uint16(16 - width)).astype(np.int64)
        else:
            tries = (entropy.words(len(left)) >> np.uint64(64 - width)).astype(np.int64)
        drawn[left] = tries
        left = left[tries >= bound]
    return drawn


@guarantee(
    claim="every order of 0 … size - 1 is equally likely",
    proof="proofs/uniform.md#permutation",
    reviewed="b75e4e29b631",
)
def permutation(size: int, *, entropy: Entropy) -> NDArray[np.int64]:
    """Draws a uniform permutation of 0 … size - 1 by sorting random keys; equal keys are drawn again."""
    size = integer(size, "size", least=0)
    while True:
        keys = entropy.words(size)
        order = np.argsort(keys).astype(np.int64)
        ranked = keys[order]
        if not np.any(ranked[1:] == ranked[:-1]):
            return order


@guarantee(
    claim="every ordered choice of k different places out of size is equally likely",
    proof="proofs/uniform.md#choice",
    reviewed="cad48eceab32",
)
def choose(size: int, *, k: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draws k different integers below size, uniformly and in random order."""
    size, k = integer(size, "size", least=0), integer(k, "k", least=0)
    if k > size:
        raise BadArgument("k", "at most the size", k)
    if k * SPARSE >= size:
        return permutation(size, entropy=entropy)[:k]
    drawn = np.zeros(0, dtype=np.int64)
    while True:
        drawn = np.concatenate([drawn, below_many(size, count=k + k // 4 + 8, entropy=entropy)])
        _, first = np.unique(drawn, return_index=True)
        if len(first) >= k:
            return drawn[np.sort(first)[:k]]


@guarantee(
    claim="of n things, every set of min(n, k) is equally likely",
    proof="proofs/uniform.md#reservoir",
    reviewed="0f6824992ea7",
)
def reservoir(things: Iterable[Thing], *, k: int, entropy: Entropy) -> list[Thing]:
    """Draws k of a stream of things, each at most once, and holds no more than k at a time; all of fewer."""
    room = integer(k, "k", least=1)
    held: list[Thing] = []
    for number, thing in enumerate(things):
        if number < room:
            held.append(thing)
        elif (place := entropy.below(number + 1)) < room:
            held[place] = thing
    return held


@final
@dataclass(frozen=True)
class Uniform(Noise):
    """Draws integers 0 … size - 1, each equally likely.

    Takes:      size, a whole number of at least 1 and at most 2^63
    Guarantee:  P(Z = z) = 1 / size, exactly (proofs/uniform.md#below)
    Cost:       2 or 8 bytes of entropy, less than twice on average

    >>> Uniform(10).quantile(Fraction(1, 2))
    4
    """

    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", integer(self.size, "size", least=1))
        if self.size > 1 << 63:
            raise BadArgument("size", "at most 2^63", self.size)

    def sample(self, entropy: Entropy) -> int:
        return entropy.below(self.size)

    def samples(self, count: int, entropy: Entropy) -> Integers:
        return below_many(self.size, count=integer(count, "count", least=0), entropy=entropy)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(Fraction(1, self.size)) if 0 <= value < self.size else arb(0)

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(Fraction(min(max(value + 1, 0), self.size), self.size))

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(Fraction(self.size - min(max(value, 0), self.size), self.size))

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, (size² - 1) / 12."""
        with precision(bits):
            return ball(Fraction(self.size**2 - 1, 12))

    @property
    def support(self) -> tuple[int, int]:
        """0 … size - 1."""
        return 0, self.size - 1
