"""Normal numbers rounded to whole numbers, drawn exactly and fast: the scale is a power of two.

A normal number is drawn lazily: its sign and in which of the blocks of 1/64 of the scale it lies, then as many binary
digits of its place in the block as are asked for. The blocks are the same for every scale, and so is the table of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TypeAlias, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import ball, integer, precision
from sfumato.guarantee import guarantee
from sfumato.noise.blocks import COIN_BITS, MARGIN, REACH
from sfumato.noise.certified import exp_minus
from sfumato.noise.gaussian_sums import direct_sum
from sfumato.noise.inversion import OPEN, TABLE_BITS, WORD, IndexLaw, InversionTable

BLOCK_BITS = 6
BLOCKS = 1 << BLOCK_BITS
"""Blocks in one scale."""

LEAST_POWER, MOST_POWER = BLOCK_BITS - 1, 25
"""Scales from 2^5 to 2^25: a block has a whole number of halves, and what a table holds fits into 32 bits."""

CHUNK = 1 << 15
"""How many numbers are drawn at a time: their arrays stay in the processor's cache."""

Words: TypeAlias = NDArray[np.uint32]

Open: TypeAlias = tuple[NDArray[np.intp], NDArray[np.uint16], Words]
"""Draws that tables leave open: their places, and the bits of block, place and coin."""


@guarantee(
    claim="indices 2b and 2b + 1 each have mass proportional to exp(-b² / 2·64²)",
    proof="proofs/rounded_gaussian.md#blocks",
    reviewed="92a64a749e35",
)
def block_law() -> IndexLaw:
    """The law of the block that the envelope picks, with its sign: even indices are to the right of 0."""
    square = Fraction(BLOCKS**2)

    def below(index: int) -> arb:
        left = direct_sum(square, start=(index + 1) // 2) + direct_sum(square, start=index // 2)
        return 1 - left / (2 * direct_sum(square, start=0))

    return IndexLaw(below)


def block_masses() -> Iterator[arb]:
    """Yields F(1), F(2), … of `block_law`, as far as a table needs."""
    total, unit = arb(0), 1 / (2 * direct_sum(Fraction(BLOCKS**2), start=0))
    for block in range(int(REACH * BLOCKS) + 1):
        mass = ball(-Fraction(block**2, 2 * BLOCKS**2)).exp() * unit
        for _ in range(2):
            total += mass
            yield total


@cache
def block_table() -> InversionTable:
    """The table of blocks, for all scales."""
    with precision(TABLE_BITS):
        return InversionTable.of(block_law(), block_masses())


@guarantee(
    claim="true with probability exp(-φ(2b + φ) / 2·64²), given the leading bits of the coin and of φ",
    proof="proofs/rounded_gaussian.md#accept",
    reviewed="e51a1ea2d9cf",
)
def accepted(block: int, place: int, place_bits: int, coin: int, coin_bits: int, entropy: Entropy) -> bool:
    """Decides exactly whether a place in a block is kept, by more digits of coin and place where they are needed."""
    while True:
        least, most = (Fraction(place + more, 1 << place_bits) for more in (0, 1))
        with precision(coin_bits + place_bits + WORD):
            high, low = (ball(-φ * (2 * block + φ) / (2 * BLOCKS**2)).exp() for φ in (least, most))
            if ball(Fraction(coin + 1, 1 << coin_bits)) <= low:
                return True
            if ball(Fraction(coin, 1 << coin_bits)) >= high:
                return False
        place, place_bits = place << WORD | entropy.bits(WORD), place_bits + WORD
        coin, coin_bits = coin << WORD | entropy.bits(WORD), coin_bits + WORD


@final
@dataclass(frozen=True, eq=False)
class RoundedGaussian:
    """Draws normal numbers of deviation 2^``power``, each rounded to the nearest whole number.

    Guarantee:  P(m) = Φ((m + ½) / scale) − Φ((m − ½) / scale), exactly  (proofs/rounded_gaussian.md#law)
    Cost:       6 bytes of entropy and about 10 ns a number, in vectors

    >>> from sfumato.entropy import ReplayEntropy
    >>> RoundedGaussian.of(20).samples(3, ReplayEntropy(1)).dtype
    dtype('int64')
    """

    power: int
    blocks: InversionTable
    bases: NDArray[np.int32]
    sure: Words

    @classmethod
    def of(cls, power: int) -> RoundedGaussian:
        """The sampler of a scale, a power of two from 2^5 to 2^25."""
        if not LEAST_POWER <= integer(power, "power") <= MOST_POWER:
            raise BadArgument("power", f"from {LEAST_POWER} to {MOST_POWER}", power)
        return _made(power)

    @property
    def shift(self) -> int:
        """How many digits of the place in a block there are down to halves of a whole number."""
        return self.power + 1 - BLOCK_BITS

    def sample(self, entropy: Entropy) -> int:
        """Draws one number."""
        while (half := self._attempt(self.blocks.one(entropy), entropy)) is None:
            pass
        return (half + 1) >> 1

    def samples(self, count: int, entropy: Entropy) -> NDArray[np.int64]:
        """Draws an array."""
        drawn = self._halves(integer(count, "count", least=0), entropy)
        drawn += 1
        drawn >>= 1
        return drawn

    def _halves(self, count: int, entropy: Entropy) -> NDArray[np.int64]:
        """Draws an array of normal numbers rounded down to halves, counted in halves."""
        drawn = np.empty(count, dtype=np.int64)
        opened = [self._sure(drawn[start : start + CHUNK], start, entropy) for start in range(0, count, CHUNK)]
        if opened:
            places, heads, words = (np.concatenate(part) for part in zip(*opened, strict=True))
            if len(places):
                self._settle(drawn, places, heads, words, entropy)
        return drawn

    def _sure(self, drawn: NDArray[np.int64], start: int, entropy: Entropy) -> Open:
        """Fills a chunk by tables; returns which places they leave open, and their bits."""
        heads = entropy.halves(len(drawn))
        words: Words = np.frombuffer(entropy.octets(4 * len(drawn)), dtype="<u4").astype(np.uint32, copy=False)
        cells = heads.astype(np.intp)
        value = self.bases.take(cells, mode="clip")  # faster than the default; every index is in range
        value ^= (words & np.uint32((1 << self.shift) - 1)).view(np.int32)
        drawn[:] = value
        unsure = np.flatnonzero(words >= self.sure.take(cells, mode="clip"))
        return unsure + start, heads[unsure], words[unsure]

    def _settle(
        self,
        drawn: NDArray[np.int64],
        places: NDArray[np.intp],
        heads: NDArray[np.uint16],
        words: Words,
        entropy: Entropy,
    ) -> None:
        """Decides the draws that tables leave open: by certified floats, exactly where these are too close."""
        index, beyond = self.blocks.after_many(heads, entropy)
        digits = COIN_BITS - self.shift, COIN_BITS - 32 + self.shift  # those that place and coin have to get
        more, tails = (entropy.words(len(words)) >> np.uint64(WORD - each) for each in digits)
        inside = (words & np.uint32((1 << self.shift) - 1)).astype(np.int64)
        place = inside << digits[0] | more.astype(np.int64)
        coin = (words >> np.uint32(self.shift)).astype(np.int64) << digits[1] | tails.astype(np.int64)
        block, side = (index >> 1).astype(np.int64), -(index & 1).astype(np.int64)
        within = place.astype(np.float64) * 2.0**-COIN_BITS
        exponent = within * (2 * block + within) / (2.0 * BLOCKS**2)
        gap = exp_minus(exponent) - coin.astype(np.float64) * 2.0**-COIN_BITS
        keep = gap > 0
        for close in np.flatnonzero(np.abs(gap) <= MARGIN).tolist():
            digits_of = int(place[close]), COIN_BITS, int(coin[close]), COIN_BITS
            keep[close] = accepted(int(block[close]), *digits_of, entropy)
        drawn[places] = (block << self.shift | inside) ^ side
        for far, beside in beyond.items():
            half = self._attempt(beside, entropy)
            keep[far] = half is not None
            drawn[places[far]] = half or 0
        again = places[~keep]
        if len(again):
            drawn[again] = self._halves(len(again), entropy)

    def _attempt(self, index: int, entropy: Entropy) -> int | None:
        """Draws a place and a coin for a block; the normal number in halves, or None where the coin rejects it."""
        place, coin = entropy.bits(self.shift), entropy.bits(16)
        if not accepted(index >> 1, place, self.shift, coin, 16, entropy):
            return None
        return ((index >> 1) << self.shift | place) ^ -(index & 1)


@cache
def _made(power: int) -> RoundedGaussian:
    """Lists for each value of the leading 16 bits the block and the words that are sure to be kept in it."""
    blocks, shift = block_table(), power + 1 - BLOCK_BITS
    count = len(blocks.limits)
    block = np.arange(count) >> 1
    base = (block << shift) ^ -(np.arange(count) & 1)
    worst = exp_minus((2 * block + 1).astype(np.float64) / (2.0 * BLOCKS**2))
    sure = np.floor((worst - MARGIN) * 2.0 ** (32 - shift)) * 2.0**shift
    known = blocks.cells != OPEN
    index = np.where(known, blocks.cells, 0)
    return RoundedGaussian(
        power, blocks, base[index].astype(np.int32), np.where(known, sure[index], 0.0).astype(np.uint32)
    )
