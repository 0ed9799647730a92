"""Discrete Gaussians of large scale: draw a block from an envelope, a place in it uniformly, and accept.

Blocks are numbered 0, -1, 1, -2, 2, … from the middle: index 2b is [b w, b w + w) and index 2b + 1 is its mirror image,
the integers -1 - z. The envelope of a block is the mass of its integer nearest 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.exact import ball, precision
from sfumato.guarantee import guarantee
from sfumato.noise.certified import exp_minus
from sfumato.noise.gaussian_sums import direct_sum, whole_root
from sfumato.noise.inversion import TABLE_BITS, IndexLaw, InversionTable, resolve
from sfumato.noise.sampling import Integers, as_integers, put, saturated

REACH = Fraction(97, 10)
"""A table reaches this many σ; less than 2^-70 of the mass lies beyond."""

NARROW = 16
"""Blocks of up to 2^16 integers take place and acceptance from one 32-bit word."""

COIN_BITS = 52
MARGIN = 2.0**-39
"""How far a coin must be from its certified float to be decided; the float is within 2^-44 of the truth."""

Words: TypeAlias = NDArray[np.unsignedinteger]


@guarantee(
    claim="index 2b has mass proportional to exp(-(b w)² / 2σ²), index 2b + 1 to exp(-(b w + 1)² / 2σ²)",
    proof="proofs/discrete_gaussian.md#envelope",
    reviewed="2633a1d7e93f",
)
def block_law(square: Fraction, *, width: int) -> IndexLaw:
    """The law of the block that the envelope picks."""

    def remaining(right: int, left: int) -> arb:
        return direct_sum(square, start=right, width=width) + direct_sum(square, start=left, width=width, offset=1)

    def below(index: int) -> arb:
        return 1 - remaining((index + 1) // 2, index // 2) / remaining(0, 0)

    return IndexLaw(below)


def block_masses(square: Fraction, *, width: int) -> Iterator[arb]:
    """Yields F(1), F(2), … of `block_law` by recurrences, as far as a table needs."""
    half = 1 / (2 * square)
    fall = ball(-2 * width * width * half).exp()
    right, right_ratio = arb(1), ball(-width * width * half).exp()
    left, left_ratio = ball(-half).exp(), ball(-(2 + width) * width * half).exp()
    unit = 1 / (direct_sum(square, start=0, width=width) + direct_sum(square, start=0, width=width, offset=1))
    total = arb(0)
    for _ in range(int(REACH * (whole_root(square) + 1) / width) + 1):
        total += right
        yield total * unit
        total += left
        yield total * unit
        right, left = right * right_ratio, left * left_ratio
        right_ratio, left_ratio = right_ratio * fall, left_ratio * fall


def block_table(square: Fraction, *, width: int) -> InversionTable:
    """Builds the table of blocks."""
    with precision(TABLE_BITS):
        return InversionTable.of(block_law(square, width=width), block_masses(square, width=width))


@guarantee(
    claim="true with probability exp(-place (2 nearest + place) / 2σ²), given the leading bits of the coin",
    proof="proofs/discrete_gaussian.md#accept",
    reviewed="d013327b73af",
)
def accepted(square: Fraction, *, nearest: int, place: int, coin: int, bits: int, entropy: Entropy) -> bool:
    """Decides exactly whether a place in a block is kept."""
    exponent = Fraction(place * (2 * nearest + place)) / (2 * square)
    return resolve(IndexLaw(lambda _: ball(-exponent).exp(), 2), coin, bits, entropy) == 0


@final
@dataclass(frozen=True, eq=False)
class BlockSampler:
    """Draws a discrete Gaussian of scale 64 or more.

    Guarantee:  exactly the law (proofs/discrete_gaussian.md#law)
    Cost:       6 or 10 bytes of entropy a number and about 1 % of rejections
    """

    square: Fraction
    shift: int
    blocks: InversionTable
    bases: NDArray[np.int64]
    squeeze: Words

    @classmethod
    def of(cls, square: Fraction, *, shift: int, blocks: InversionTable) -> BlockSampler:
        """Lists for each block its base and the coins that are sure to be kept wherever in the block the place is."""
        count, width = len(blocks.limits), 1 << shift
        bases = np.array([saturated((k >> 1 << shift) ^ -(k & 1)) for k in range(count)], dtype=np.int64)
        half = 1 / (2 * square)
        worst = np.array([float(width * (2 * (k >> 1) * width + 2 + width) * half) for k in range(count)])
        word = 32 if shift <= NARROW else 64
        sure = np.floor((exp_minus(worst) - MARGIN) * 2.0 ** (word - shift))
        return cls(square, shift, blocks, bases, sure.astype(np.uint32 if word == 32 else np.uint64))

    @property
    def coin_bits(self) -> int:
        """How many bits of a word are left for the coin."""
        return 8 * self.squeeze.itemsize - self.shift

    def one(self, entropy: Entropy) -> int:
        while (value := self._attempt(self.blocks.one(entropy), entropy)) is None:
            pass
        return value

    def _attempt(self, index: int, entropy: Entropy) -> int | None:
        """Draws a place and a coin for a block; the integer, or None where the coin rejects it."""
        bits = max(self.coin_bits, 16)
        word = entropy.bits(self.shift + bits)
        place, coin = word & ((1 << self.shift) - 1), word >> self.shift
        side, block = -(index & 1), index >> 1 << self.shift
        squeezed = index < len(self.squeeze) and bits == self.coin_bits and coin < self.squeeze.item(index)
        if squeezed or accepted(self.square, nearest=block - side, place=place, coin=coin, bits=bits, entropy=entropy):
            return (block | place) ^ side
        return None

    def many(self, count: int, entropy: Entropy) -> Integers:
        """Draws an array of integers, of Python's where 64 bits do not hold one of them."""
        index, beyond = self.blocks.many(count, entropy)
        words = np.frombuffer(entropy.octets(self.squeeze.itemsize * count), dtype=self.squeeze.dtype)
        place = (words & self.squeeze.dtype.type((1 << self.shift) - 1)).astype(np.int64)
        value: NDArray[np.int64] = self.bases.take(index) ^ place
        coin = words >> self.squeeze.dtype.type(self.shift)
        sure = coin < self.squeeze.take(index)
        for far in beyond:
            sure[far] = True
        unsure = np.flatnonzero(~sure)
        rejected = unsure[~self._keep(value[unsure], place[unsure], coin[unsure], entropy)]
        whole: Integers = value
        for far, block in beyond.items():
            drawn = self._attempt(block, entropy)
            whole = put(whole, np.array([far]), as_integers([self.one(entropy) if drawn is None else drawn]))
        return put(whole, rejected, self.many(len(rejected), entropy)) if len(rejected) else whole

    def _keep(
        self, value: NDArray[np.int64], place: NDArray[np.int64], coin: Words, entropy: Entropy
    ) -> NDArray[np.bool_]:
        """Decides the coins that the squeeze leaves open: by certified floats, exactly where these are too close."""
        negative = value < 0
        nearest = (np.where(negative, ~value, value) - place) + negative
        exponent = place.astype(np.float64) * (2 * nearest + place).astype(np.float64) * float(1 / (2 * self.square))
        more = COIN_BITS - self.coin_bits
        tosses = coin.astype(np.int64) << more | (entropy.words(len(coin)) >> np.uint64(64 - more)).astype(np.int64)
        gap = exp_minus(exponent) - tosses.astype(np.float64) * 2.0**-COIN_BITS
        keep: NDArray[np.bool_] = gap > 0
        for close in np.flatnonzero(np.abs(gap) <= MARGIN):
            keep[close] = accepted(
                self.square, nearest=int(nearest[close]), place=int(place[close]), coin=int(tosses[close]),
                bits=COIN_BITS, entropy=entropy,
            )  # fmt: skip
        return keep
