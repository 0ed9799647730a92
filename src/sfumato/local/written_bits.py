"""Reports of several questions written out in bits, so that every message of all of them is equally long.

A report of C cells and B bits is written as C bits, one of them set (none where C is 1), and then B bits for each cell,
all 0 but those of its own cell. Sums of such bits are the sums of the questions: nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


class Written(Protocol):
    """As much of a layout as is needed here."""

    @property
    def cells(self) -> int:
        """The number of cells."""

    @property
    def bits(self) -> int:
        """The number of bits."""

    @property
    def written_out(self) -> int:
        """How many bits hold a report."""


Part = TypeVar("Part", bound=Written)


def placed(parts: Sequence[Part]) -> Iterator[tuple[int, int, Part]]:
    """Where the bits of each part begin: those of its cells, and those of the bits of its first cell."""
    first = 0
    for part in parts:
        yield first, first + (part.cells if part.cells > 1 else 0), part
        first += part.written_out


def taken(rows: Words, first: int, count: int) -> Words:
    """Some bits of each row, as rows of their own.

    >>> taken(np.array([[0b1101 << 60, 0b1]], dtype=np.uint64), 62, 4).tolist()
    [[7]]
    """
    width, shift, start = (count + 63) >> 6, np.uint64(first & 63), first >> 6
    wide = np.zeros((len(rows), width + 1), dtype=np.uint64)
    there = rows[:, start : start + width + 1]
    wide[:, : there.shape[1]] = there
    bits = wide[:, :-1] >> shift
    if shift:
        bits |= wide[:, 1:] << (np.uint64(64) - shift)
    if count % 64:
        bits[:, -1] &= np.uint64((1 << count % 64) - 1)
    return bits


def _put(rows: Words, which: NDArray[np.int64], first: int, bits: Words) -> None:
    """Sets bits of some rows from a place on, where all were 0."""
    shift, start = np.uint64(first & 63), first >> 6
    for word in range(bits.shape[1]):
        rows[which, start + word] |= bits[:, word] << shift
        if shift and start + word + 1 < rows.shape[1]:
            rows[which, start + word + 1] |= bits[:, word] >> (np.uint64(64) - shift)


def written(width: int, parts: Sequence[Written], drawn: Sequence[tuple[NDArray[np.int64], Words]]) -> Words:
    """Reports of all questions, as rows of so many words."""
    rows = np.zeros((len(drawn[0][0]), width), dtype=np.uint64)
    for (first, then, part), (cells, bits) in zip(placed(parts), drawn, strict=True):
        if part.cells > 1:
            places = cells + first
            rows[np.arange(len(rows)), places >> 6] |= np.uint64(1) << (places & 63).astype(np.uint64)
        for cell in np.unique(cells).tolist() if part.bits else ():
            here = np.flatnonzero(cells == cell)
            _put(rows, here, then + cell * part.bits, bits[here])
    return rows


def sums_of_parts(sums: NDArray[np.int64], parts: Sequence[Part]) -> Iterator[tuple[Part, NDArray[np.int64]]]:
    """The sums of each question, from the number of all reports and the sums of their bits."""
    for first, then, part in placed(parts):
        own = np.empty((part.cells, 1 + part.bits), dtype=np.int64)
        own[:, 0] = sums[1 + first : 1 + then] if part.cells > 1 else sums[0]
        own[:, 1:] = sums[1 + then : 1 + then + part.cells * part.bits].reshape(part.cells, part.bits)
        yield part, own


def all_possible(
    rows: Words, parts: Sequence[Part], possible: Callable[[NDArray[np.int64], Words, Part], NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    """Which rows hold a possible report of every question: of one cell each, with bits of that cell alone."""
    good = np.ones(len(rows), dtype=np.bool_)
    for first, then, part in placed(parts):
        cells = np.zeros(len(rows), dtype=np.int64)
        if part.cells > 1:
            marks = taken(rows, first, part.cells)
            good &= np.bitwise_count(marks).sum(axis=1) == 1
            word = np.argmax(marks != 0, axis=1)
            own = marks[np.arange(len(rows)), word]
            cells = (word << 6) + np.bitwise_count(own - np.minimum(own, np.uint64(1))).astype(np.int64)
        for cell in range(part.cells if part.bits else 0):
            bits, here = taken(rows, then + cell * part.bits, part.bits), cells == cell
            good &= here | ~np.asarray(bits.any(axis=1))
            good[here] &= possible(cells[here], bits[here], part)
        if not part.bits:
            good &= possible(np.minimum(cells, part.cells - 1), rows[:, :0], part)
    return good
