"""Many coins of one chance at a time, 64 to a word: digits of all coins are compared with the chance at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.guarantee import guarantee

PIECE = 1 << 14
"""Words that are worked on at a time, so that they stay in the processor's cache."""

TOGETHER = 6
"""After so many digits few words have an open coin; from there on only those are looked at."""


@guarantee(
    claim="every bit of every word is 1 with probability weight / 2^bits, independently",
    proof="proofs/bernoulli.md#words",
    reviewed="2c84b9a602e6",
)
def coin_words(weight: int, *, bits: int, count: int, entropy: Entropy) -> NDArray[np.uint64]:
    """Draws ``count`` words of 64 independent coins, each 1 with probability weight / 2^bits.

    A coin is 1 if ``bits`` random binary digits, read as a number, are below the weight. Digits are drawn from the
    first on, for all coins together, until each coin differs from the weight.
    """
    weight, count = integer(weight, "weight", least=0), integer(count, "count", least=0)
    if weight > 1 << bits:
        raise BadArgument("weight", "at most 2^bits", weight)
    if weight == 1 << bits:
        return np.full(count, ~np.uint64(0))
    heads = np.zeros(count, dtype=np.uint64)
    for start in range(0, count, PIECE):
        _compare(heads[start : start + PIECE], weight, bits, entropy)
    return heads


def _compare(heads: NDArray[np.uint64], weight: int, bits: int, entropy: Entropy) -> None:
    """Sets the bits of ``heads`` whose digits are below the weight's."""
    undecided = np.full(len(heads), ~np.uint64(0))
    places: NDArray[np.int64] | None = None
    for done, plane in enumerate(range(bits - 1, -1, -1)):
        if not len(undecided) or not weight & ((2 << plane) - 1):
            return  # the rest of the weight is 0, and nothing is below that
        digits = entropy.words(len(undecided))
        if weight >> plane & 1:
            fallen = undecided & ~digits
            if places is None:
                heads |= fallen
            else:
                heads[places] |= fallen
            undecided &= digits
        else:
            undecided &= ~digits
        if done >= TOGETHER:
            some = np.flatnonzero(undecided)
            undecided, places = undecided[some], some if places is None else places[some]


def column_counts(rows: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many rows have each bit set: rows of words are added up bit by bit, three rows to a sum and a carry.

    >>> column_counts(np.array([[5], [1], [4]], dtype=np.uint64))[:4].tolist()
    [2, 0, 2, 0]
    """
    width = rows.shape[1]
    totals, weight, pending = np.zeros(64 * width, dtype=np.int64), 1, rows
    while len(pending):
        carries = []
        while len(pending) >= 3:
            third = len(pending) // 3
            one, two, three = pending[:third], pending[third : 2 * third], pending[2 * third : 3 * third]
            either = one ^ two
            carries.append((one & two) | (three & either))
            pending = np.concatenate([either ^ three, pending[3 * third :]])
        octets = np.ascontiguousarray(pending.astype("<u8", copy=False)).view(np.uint8)
        totals += weight * np.unpackbits(octets, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
        weight, pending = 2 * weight, np.concatenate(carries) if carries else pending[:0]
    return totals
