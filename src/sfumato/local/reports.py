"""Many reports at once: as arrays, as messages, and as the counts that are all an estimate needs.

Every protocol sends a whole number below some number of *cells*, or a row of *bits*, or both. What is kept of reports
is how often each cell came and how often each bit was set in it: sums, which add up over shards and which any database
can make.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.local.device import HEAD, number_size
from sfumato.local.written_bits import all_possible
from sfumato.noise.coin_words import column_counts

AT_ONCE = 1 << 16
"""How many messages are read at a time."""


@final
@dataclass(frozen=True)
class Layout:
    """What a report consists of: a number below ``cells``, then ``bits`` bits (``ones`` of them set, if stated).

    ``parts`` are the layouts of several questions whose cells follow each other, where a report answers one of them;
    ``together`` those of questions that a report answers all at once, written out in its bits one after the other.
    """

    cells: int
    bits: int = 0
    ones: int | None = None
    parts: tuple[Layout, ...] = ()
    together: tuple[Layout, ...] = ()

    @property
    def words(self) -> int:
        """How many 64-bit words hold the bits."""
        return (self.bits + 63) >> 6

    @property
    def size(self) -> int:
        """The number of bytes of a payload."""
        return number_size(self.cells) + ((self.bits + 7) >> 3)

    @property
    def written_out(self) -> int:
        """How many bits hold a report without a number: a bit for each cell, and its bits in a place for each cell."""
        return (self.cells if self.cells > 1 else 0) + self.cells * self.bits


@final
@dataclass(frozen=True)
class Reports:
    """Reports as arrays: the cell of each, and its bits in 64-bit words, little end first (no columns without bits)."""

    head: bytes
    layout: Layout
    cells: NDArray[np.int64]
    bits: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.cells)

    def messages(self) -> list[bytes]:
        """The reports as devices would send them, one message each."""
        rows = np.empty((len(self), HEAD + self.layout.size), dtype=np.uint8)
        rows[:, :HEAD] = np.frombuffer(self.head, dtype=np.uint8)
        split = HEAD + number_size(self.layout.cells)
        rows[:, HEAD:split] = self.cells.astype("<i8").view(np.uint8).reshape(-1, 8)[:, : split - HEAD]
        if self.layout.bits:
            octets = np.ascontiguousarray(self.bits.astype("<u8", copy=False)).view(np.uint8)
            rows[:, split:] = octets[:, : rows.shape[1] - split]
        whole, step = rows.tobytes(), rows.shape[1]
        return [whole[start : start + step] for start in range(0, len(whole), step)]


@final
@dataclass(frozen=True)
class Rejected:
    """How many messages were not counted, and why: of a wrong length, of another protocol, or of impossible content.

    A message is of another protocol, whatever its length, if its first bytes are not those of this one.
    ``excess`` are those of senders who sent more than they may.
    """

    truncated: int = 0
    foreign: int = 0
    invalid: int = 0
    excess: int = 0

    def __add__(self, other: Rejected) -> Rejected:
        return Rejected(
            self.truncated + other.truncated,
            self.foreign + other.foreign,
            self.invalid + other.invalid,
            self.excess + other.excess,
        )

    @property
    def total(self) -> int:
        """All of them."""
        return self.truncated + self.foreign + self.invalid + self.excess


NONE_REJECTED = Rejected()


def read_messages(messages: Iterable[bytes], head: bytes, layout: Layout) -> Iterator[tuple[Reports, Rejected]]:
    """Reads messages in pieces; what no device could have sent is left out and counted."""
    if isinstance(messages, str | bytes | bytearray | memoryview) or not isinstance(messages, Iterable):
        must = "a list of messages (a single one too), or what randomize_many() gave"
        raise BadArgument("reports", must, type(messages).__name__)
    source = iter(messages)
    while piece := list(islice(source, AT_ONCE)):
        reports, _, rejected = read_piece(piece, head, layout)
        yield reports, rejected


def read_piece(piece: Sequence[bytes], head: bytes, layout: Layout) -> tuple[Reports, NDArray[np.int64], Rejected]:
    """Reads some messages at once: the reports, the places of their messages in the piece, and what was left out."""
    if not all(isinstance(one, bytes | bytearray | memoryview) for one in piece):
        raise BadArgument("reports", "messages (bytes), or what randomize_many() gave", type(piece[0]).__name__)
    size = HEAD + layout.size
    whole = np.flatnonzero(np.fromiter((len(one) == size for one in piece), dtype=np.bool_, count=len(piece)))
    right = b"".join(bytes(piece[place]) for place in whole.tolist())
    rows = np.frombuffer(right, dtype=np.uint8).reshape(len(whole), size)
    own = np.all(rows[:, :HEAD] == np.frombuffer(head, dtype=np.uint8), axis=1)
    reports, good = _unpacked(rows[own, HEAD:], head, layout)
    cut = sum(len(one) != size and bytes(one[:HEAD]) == head[: len(one)] for one in piece)
    rejected = Rejected(cut, len(piece) - cut - int(np.sum(own)), int(np.sum(~good)))
    return reports, whole[own][good], rejected


def _unpacked(payloads: NDArray[np.uint8], head: bytes, layout: Layout) -> tuple[Reports, NDArray[np.bool_]]:
    split = number_size(layout.cells)
    wide = np.zeros((len(payloads), 8), dtype=np.uint8)
    wide[:, :split] = payloads[:, :split]
    octets = np.zeros((len(payloads), 8 * layout.words), dtype=np.uint8)
    octets[:, : payloads.shape[1] - split] = payloads[:, split:]
    cells = wide.view("<u8").reshape(-1)
    bits = octets.view("<u8").astype(np.uint64, copy=False).reshape(len(payloads), layout.words)
    good = cells < np.uint64(layout.cells)
    good[good] = _possible(cells[good].astype(np.int64), bits[good], layout)
    return Reports(head, layout, cells[good].astype(np.int64), bits[good]), good


def _possible(cells: NDArray[np.int64], bits: NDArray[np.uint64], layout: Layout) -> NDArray[np.bool_]:
    """Which reports a device could have sent: no bit beyond the last, as many ones as stated, in each part alike."""
    own = bits[:, : layout.words]
    good = ~np.asarray(bits[:, layout.words :].any(axis=1))
    if layout.bits % 64:
        good &= own[:, -1] >> np.uint64(layout.bits % 64) == 0
    if layout.ones is not None:
        good &= np.bitwise_count(own).sum(axis=1) == layout.ones
    first = 0
    for part in layout.parts:
        here = np.flatnonzero((cells >= first) & (cells < first + part.cells))
        good[here] &= _possible(cells[here] - first, bits[here], part)
        first += part.cells
    if layout.together:
        good &= all_possible(bits, layout.together, _possible)
    return good


def sums_of(reports: Reports) -> NDArray[np.int64]:
    """How many reports came in each cell (column 0), and how many of those had each bit set (columns 1 and on)."""
    layout = reports.layout
    came = np.bincount(reports.cells, minlength=layout.cells).astype(np.int64)
    if not layout.bits:
        return came.reshape(-1, 1)
    sums = np.zeros((layout.cells, 1 + layout.bits), dtype=np.int64)
    sums[:, 0] = came
    if layout.cells == 1:
        sums[0, 1:] = column_counts(reports.bits)[: layout.bits]
        return sums
    order = np.argsort(reports.cells, kind="stable")
    ends = np.cumsum(came)
    for cell in np.flatnonzero(came):
        rows = reports.bits[order[ends[cell] - came[cell] : ends[cell]]]
        sums[cell, 1:] = column_counts(rows)[: layout.bits]
    return sums
