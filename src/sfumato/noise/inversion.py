"""Certified inversion: one uniform number, compared with cumulative masses, decides the outcome.

A uniform U in [0, 1) is known by its leading bits. Outcome k is the one with F(k) <= U < F(k + 1), where F(k) is the
mass of the outcomes below k, known as a ball. Leading bits that leave the outcome open are extended, and the balls are
sharpened, until it is clear. So the outcome has *exactly* the stated distribution, whatever the table or precision is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.exact import ball, precision
from sfumato.guarantee import guarantee

WORD = 64
CELL = 16
CELLS = 1 << CELL
TOP = (1 << WORD) - 1
OPEN = -1
"""Marks a guide cell whose leading 16 bits do not decide the outcome."""

TABLE_BITS = 192
"""Precision for the masses in a table; far more than the 64 bits that are compared."""

GUARD_BITS = 64

Indices: TypeAlias = NDArray[np.int16] | NDArray[np.int32]


@final
@dataclass(frozen=True, eq=False)
class IndexLaw:
    """A distribution on the indices 0, 1, 2, …, told by its cumulative mass.

    ``below(k)`` gives, as a ball at the working precision, the mass of the indices 0 … k - 1, for 1 <= k < size.
    """

    below: Callable[[int], arb]
    size: int | None = None

    def mass_below(self, index: int) -> arb:
        """The mass of the indices below one, exactly 0 and 1 at the ends."""
        if index <= 0:
            return arb(0)
        if self.size is not None and index >= self.size:
            return arb(1)
        return self.below(index)


@guarantee(
    claim="the index k with F(k) <= U < F(k + 1), or None where the known bits of U leave it open",
    proof="proofs/inversion.md#locate",
    reviewed="02147cdcfc60",
)
def locate(law: IndexLaw, prefix: int, bits: int) -> int | None:
    """Finds the one index that fits every U whose leading bits are these, if there is only one."""
    with precision(bits + GUARD_BITS):
        low, high = ball(Fraction(prefix, 1 << bits)), ball(Fraction(prefix + 1, 1 << bits))
        first, last = 0, 1
        while not law.mass_below(last) > low and (law.size is None or last < law.size):
            first, last = last, 2 * last
        while last - first > 1:
            middle = (first + last) // 2
            if law.mass_below(middle) > low:
                last = middle
            else:
                first = middle
        certain = law.mass_below(first) <= low and high <= law.mass_below(first + 1)
    return first if certain else None


@guarantee(
    claim="has exactly the law, given the leading bits", proof="proofs/inversion.md#resolve", reviewed="454b4ed86193"
)
def resolve(law: IndexLaw, prefix: int, bits: int, entropy: Entropy) -> int:
    """Draws more bits of U until the outcome is certain."""
    while (index := locate(law, prefix, bits)) is None:
        prefix = prefix << WORD | entropy.bits(WORD)
        bits += WORD
    return index


@guarantee(
    claim="u < T means U < F; u > T + 1 means U > F, for the 64 leading bits u of U",
    proof="proofs/inversion.md#thresholds",
    reviewed="3b6006f2134d",
)
def thresholds(masses: Iterable[arb]) -> NDArray[np.uint64]:
    """Turns cumulative masses F(1), F(2), … into 64-bit thresholds; call it at `TABLE_BITS` of precision."""
    unit, quarter = arb(2) ** WORD, arb(0.25)
    limits = []
    for mass in masses:
        scaled = mass * unit
        whole = scaled.lower().floor().unique_fmpz()
        if whole is None or not scaled.rad() < quarter:
            raise ArithmeticError("a cumulative mass is not known well enough for a table; raise the precision")
        limits.append(min(max(int(whole), 0), TOP))
    return np.maximum.accumulate(np.array(limits, dtype=np.uint64))


@guarantee(
    claim="a cell names an index only if every word in the cell is certain to have it",
    proof="proofs/inversion.md#guide",
    reviewed="f642d91feacb",
)
def guide(limits: NDArray[np.uint64]) -> Indices:
    """Lists, for each value of the leading 16 bits, the index they decide, or `OPEN`."""
    shift = np.uint64(WORD - CELL)
    cell = (limits >> shift).astype(np.int64)
    beside = (np.minimum(limits, np.uint64(TOP - 1)) + np.uint64(1)) >> shift
    held = np.bincount(cell, minlength=CELLS)
    index = np.cumsum(held) - held
    index[(held > 0) | (index == len(limits))] = OPEN
    index[beside.astype(np.int64)] = OPEN
    return index.astype(np.int16) if len(limits) < 1 << 15 else index.astype(np.int32)


@final
@dataclass(frozen=True, eq=False)
class InversionTable:
    """Draws indices of a law by comparing 64-bit words with thresholds; the first 16 bits nearly always suffice.

    Guarantee:  exactly the law (proofs/inversion.md#table)
    Cost:       2 bytes of entropy and a few nanoseconds an index, in vectors
    """

    law: IndexLaw
    limits: NDArray[np.uint64]
    cells: Indices

    @classmethod
    def of(cls, law: IndexLaw, masses: Iterable[arb]) -> InversionTable:
        """Builds the table from F(1), F(2), …, which must be balls of the law's own masses (`TABLE_BITS` or so)."""
        limits = thresholds(masses)
        return cls(law, limits, guide(limits))

    @classmethod
    def listing(cls, law: IndexLaw, count: int) -> InversionTable:
        """Builds the table of the first indices from the law itself."""
        with precision(TABLE_BITS):
            return cls.of(law, (law.mass_below(index) for index in range(1, count + 1)))

    def one(self, entropy: Entropy) -> int:
        return self.after(entropy.bits(CELL), entropy)

    def after(self, head: int, entropy: Entropy) -> int:
        """Draws one index whose first 16 bits are already drawn."""
        index = int(self.cells.item(head))
        return index if index != OPEN else self.decide(head << (WORD - CELL) | entropy.bits(WORD - CELL), entropy)

    def many(self, count: int, entropy: Entropy) -> tuple[Indices, dict[int, int]]:
        """Draws an array of indices, and by position those that lie beyond the table (which are 0 in the array)."""
        return self.after_many(entropy.halves(count), entropy)

    def after_many(self, heads: NDArray[np.uint16], entropy: Entropy) -> tuple[Indices, dict[int, int]]:
        """The same for indices whose first 16 bits are already drawn."""
        indices = self.cells.take(heads)
        open_places = np.flatnonzero(indices < 0)
        beyond: dict[int, int] = {}
        if len(open_places):
            tails = entropy.words(len(open_places)) >> np.uint64(CELL)
            words = heads[open_places].astype(np.uint64) << np.uint64(WORD - CELL) | tails
            rank = np.searchsorted(self.limits, words, side="right")
            indices[open_places] = rank
            for place in np.flatnonzero(self._unsure(words, rank)):
                index = self.decide(int(words[place]), entropy)
                within = index < len(self.limits)
                indices[open_places[place]] = index if within else 0
                if not within:
                    beyond[int(open_places[place])] = index
        return indices, beyond

    def decide(self, word: int, entropy: Entropy) -> int:
        """Finds the index for a 64-bit word, drawing more bits only where it is open."""
        words = np.array([word], dtype=np.uint64)
        rank = np.searchsorted(self.limits, words, side="right")
        return resolve(self.law, word, WORD, entropy) if self._unsure(words, rank)[0] else int(rank[0])

    def _unsure(self, words: NDArray[np.uint64], rank: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Finds the words that lie on a threshold, just above one, or beyond them all."""
        close = words - self.limits[np.maximum(rank - 1, 0)] <= 1
        unsure: NDArray[np.bool_] = (close & (rank > 0)) | (rank == len(self.limits))
        return unsure
