"""Uniform sets of many places, as rows of bits in 64-bit words."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.guarantee import guarantee
from sfumato.noise.coin_words import coin_words
from sfumato.noise.uniform import below_many

DIGITS = 8
"""Binary digits of the chance of the first coins, which need only be near."""

PIECE = 1 << 18
"""Words that are worked on at a time, so that they stay near the processor."""


@guarantee(
    claim="each row is uniform on the sets of so many places below size, without the one left out",
    proof="proofs/uniform.md#subsets",
    reviewed="0743360ee874",
)
def subset_words(
    size: int, counts: NDArray[np.int64], *, without: NDArray[np.int64], entropy: Entropy
) -> NDArray[np.uint64]:
    """Draws a set for each row: ``counts`` of the places below ``size``, of which one is left out.

    Coins for all places come near the counts, rather below than above them, since it is quicker to add. What is missing
    is then added at places drawn at random, and what is too much taken away; a place where there is nothing to do is in
    vain. Given how many places of a row are set, all sets of so many are alike at every step.
    """
    width = (size + 63) >> 6
    mean = float(np.mean(counts)) if len(counts) else 0.0
    aim = max(mean - math.sqrt(mean * (size - mean) / size), 0.0)
    near = math.floor(aim / size * (1 << DIGITS))
    flat = coin_words(near, bits=DIGITS, count=len(counts) * width, entropy=entropy)
    words = flat.reshape(len(counts), width)
    if size % 64:
        words[:, -1] &= np.uint64((1 << size % 64) - 1)
    flat[np.arange(len(counts)) * width + (without >> 6)] &= ~_bits(without)
    step = max(1, PIECE // width)
    for start in range(0, len(counts), step):
        piece = slice(start, start + step)
        _put_right(words[piece], size, counts[piece], without[piece], entropy)
    return words


def _put_right(
    words: NDArray[np.uint64], size: int, counts: NDArray[np.int64], without: NDArray[np.int64], entropy: Entropy
) -> None:
    """Adds and takes away places of each row until it has as many as it must."""
    flat, width, open_ = words.reshape(-1), words.shape[1], np.arange(len(words))
    while len(open_):
        missing = counts[open_] - np.bitwise_count(words[open_]).sum(axis=1, dtype=np.int64)
        open_, missing = open_[missing != 0], missing[missing != 0]
        which = np.repeat(open_, np.abs(missing))  # as many draws as are missing: never one too many
        places = below_many(size, count=len(which), entropy=entropy)
        adding, other = np.repeat(missing > 0, np.abs(missing)), places != without[which]
        at, bits = which * width + (places >> 6), _bits(places)
        np.bitwise_or.at(flat, at[adding & other], bits[adding & other])
        np.bitwise_and.at(flat, at[~adding], ~bits[~adding])


def _bits(places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The bit of each place in its word."""
    return np.uint64(1) << (places & 63).astype(np.uint64)
