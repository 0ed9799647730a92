"""A collector: keeps what devices send, sums it up in the store, and estimates."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import length_hint
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from sfumato.entropy import system
from sfumato.errors import BadArgument, Unseen
from sfumato.local.collecting.batches import Batch, Period, read_chosen, read_name, read_period
from sfumato.local.collecting.senders import Sender, SenderLimit, allowed, grouped
from sfumato.local.collecting.store import Draft, Store
from sfumato.local.device import HEAD
from sfumato.local.protocol import LocalProtocol, Tally, a_protocol
from sfumato.local.reports import AT_ONCE, NONE_REJECTED, Rejected, Reports, read_piece
from sfumato.release.progress import Progress, reporting

Estimated = TypeVar("Estimated")


@final
class Collector(Generic[Estimated]):
    """Keeps the reports on one question in a store, a DuckDB file or a folder of Parquet files, and sums them up there.

    Takes:      the protocol, and the place: a file ``….duckdb``, or a folder; ``question`` names what was asked, where
                a store keeps reports on several; ``max_reports`` by one sender, whose ``key`` makes pseudonyms
    Gives:      `add` a batch, `tally` and `aggregate` what is there, `batches`
    Guarantee:  none of its own: what a report tells, its protocol bounds. Rows do not say who sent them, nor in which
                order they came: each piece of 65,536 is stored in the order of its content
    Cost:       `add` about 0.5 µs a report, 2 µs with senders; `tally` a scan of the store, at the speed of plain sums

    Reports that come with senders are no shuffled reports: who receives them can tell them apart, so that the loss of
    each by itself counts. Senders are not kept; a keyed hash of each is, with a number of reports, and no report.
    """

    def __init__(
        self,
        protocol: LocalProtocol[Estimated],
        place: str | Path,
        *,
        question: str = "reports",
        max_reports: int | None = None,
        each_period: bool = False,
        key: bytes | None = None,
    ) -> None:
        self.protocol: LocalProtocol[Estimated] = a_protocol(protocol)
        self._limit = SenderLimit.read(max_reports, key, each_period=each_period)
        if not isinstance(place, str | Path) or not str(place):
            raise BadArgument("place", "a file that ends in .duckdb, or a folder", place)
        name, check = read_name(question, "question"), None if self._limit is None else self._limit.check
        self._store = Store(place)
        try:
            self._question = self._store.adopt(name, protocol.head.hex(), protocol.publish(), protocol.layout, check)
        except BaseException:
            self._store.close()
            raise

    def __enter__(self) -> Collector[Estimated]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the store, which other processes can open then."""
        self._store.close()

    def __repr__(self) -> str:
        return f"Collector of {self._question.name!r} at {str(self._store.place)!r}"

    def add(
        self,
        messages: Iterable[bytes] | Reports,
        *,
        batch: str | None = None,
        period: Period | None = None,
        senders: Iterable[Sender] | None = None,
        progress: Progress | None = None,
    ) -> Batch:
        """Adds a batch of messages: wholly and durably, or not at all.

        A batch that is there already under its key ``batch`` is not counted again, so that whoever is not sure can add
        it once more; under a key that has other content it is refused. What is truncated, of another protocol or
        impossible is left out and counted; so are reports of ``senders`` (one for each message) who sent too many.
        """
        if (senders is None) != (self._limit is None):
            raise BadArgument(
                "senders", "given if, and only if, the collector has max_reports=: they serve nothing else", Unseen()
            )
        key = read_name(system().octets(12).hex() if batch is None else batch, "batch")
        intake = _Intake(self.protocol, self._limit, self._question.name, read_period(period))
        steps = length_hint(messages)
        with self._store.transaction() as rows, reporting(progress, "collecting") as tell:
            draft = Draft(self._store, rows, self._question, key)
            try:
                known = draft.known()
                for piece, own in _pieces(messages, self.protocol.head, senders):
                    intake.take(piece, own, None if known else draft)
                    tell(intake.received, max(steps, intake.received))
                self._refuse_strangers(intake)
                if known is not None:
                    return _again(known, intake)
                made = Batch(key, intake.period, intake.accepted, intake.rejected)
                draft.finish(made, intake.digest.digest())
            except BaseException:
                draft.forget()
                raise
        return made

    def tally(
        self, *, periods: Period | Iterable[Period] | None = None, batches: str | Iterable[str] | None = None
    ) -> Tally:
        """Sums up all reports, or those of some periods or batches; equals the protocol's tally of the messages."""
        return self._store.tally(
            self._question, self.protocol.head, read_chosen(periods, "periods"), read_chosen(batches, "batches")
        )

    def aggregate(
        self, *, periods: Period | Iterable[Period] | None = None, batches: str | Iterable[str] | None = None
    ) -> Estimated:
        """Estimates from all reports, or those of some periods or batches."""
        return self.protocol.aggregate(self.tally(periods=periods, batches=batches))

    def batches(self) -> tuple[Batch, ...]:
        """All batches, in the order in which they came."""
        return self._store.batches(self._question)

    def _refuse_strangers(self, intake: _Intake) -> None:
        """Refuses a batch in which nothing is of this protocol, and says of which it is where that is known."""
        if not intake.received or intake.rejected.foreign < intake.received:
            return
        with_tag = {bytes.fromhex(tag): name for tag, name in self._store.tags().items()}
        name = with_tag.get(intake.first_head)
        raise BadArgument(
            "messages",
            f"of the protocol of {self._question.name!r}, which begin with {self.protocol.head.hex()}",
            Unseen() if name is None else f"those of the question {name!r}",
        )


def order_of_content(cells: NDArray[np.int64], bits: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The order by cells and then by all words: of equal rows there is no telling which came first."""
    order = np.lexsort((*bits.T[1::-1], cells))
    if bits.shape[1] > 2:  # two words nearly always decide
        first, near = cells[order], bits[order, :2]
        if ((first[1:] == first[:-1]) & (near[1:] == near[:-1]).all(axis=1)).any():
            order = np.lexsort((*bits.T[::-1], cells))
    return order


@final
class _Intake:
    """Reads the pieces of one batch, and counts."""

    def __init__(self, protocol: LocalProtocol[Any], limit: SenderLimit | None, question: str, period: str) -> None:
        self._protocol, self._limit, self._question, self.period = protocol, limit, question, period
        self.digest = hashlib.sha256(f"{protocol.head.hex()} {period}".encode())
        self.received, self.accepted, self.rejected = 0, 0, NONE_REJECTED
        self.first_head = b""

    def take(self, piece: Sequence[bytes] | Reports, senders: Sequence[Sender] | None, draft: Draft | None) -> None:
        """Reads a piece, and hands its reports on; without a draft they are only compared."""
        reports, places, rejected = self._read(piece)
        order = order_of_content(reports.cells, reports.bits)
        cells, bits = reports.cells[order], reports.bits[order]
        self.digest.update(repr(rejected).encode())
        self.digest.update(cells.astype("<i8").tobytes() + bits.astype("<u8").tobytes())
        self.received += len(piece)
        self.rejected += rejected
        if draft is None:
            return
        if self._limit is not None and senders is not None:
            mask = self._counted(self._limit, [senders[place] for place in places.tolist()], draft)[order]
            self.rejected += Rejected(excess=int(np.sum(~mask)))
            cells, bits = cells[mask], bits[mask]
        self.accepted += len(cells)
        draft.append(cells, bits)

    def _read(self, piece: Sequence[bytes] | Reports) -> tuple[Reports, NDArray[np.int64], Rejected]:
        if isinstance(piece, Reports):
            return piece, np.arange(len(piece)), NONE_REJECTED
        read = read_piece(piece, self._protocol.head, self._protocol.layout)
        if not self.received and len(piece):
            self.first_head = bytes(piece[0][:HEAD])
        return read

    def _counted(self, limit: SenderLimit, senders: list[Sender], draft: Draft) -> NDArray[np.bool_]:
        """Which reports count, of those whose senders these are; what they sent is counted with it."""
        period = limit.period(self.period)
        every, which = grouped(limit.pseudonyms(senders, question=self._question, period=self.period))
        mask = allowed(which, draft.sent_before(every, period), limit.most)
        draft.count_senders(every, period, np.bincount(which[mask], minlength=len(every)))
        return mask


def _pieces(
    messages: Iterable[bytes] | Reports, head: bytes, senders: Iterable[Sender] | None
) -> Iterator[tuple[Sequence[bytes] | Reports, Sequence[Sender] | None]]:
    """Messages with their senders, so many at a time that little memory is needed."""
    if isinstance(messages, str | bytes) or not isinstance(messages, Iterable | Reports):
        raise BadArgument("messages", "messages of devices (bytes), any number of them", Unseen())
    sources = None if senders is None else iter(senders)
    for piece in _sliced(messages, head):
        own = None if sources is None else list(islice(sources, len(piece)))
        if own is not None and len(own) < len(piece):
            raise BadArgument("senders", "as many as messages: one for each", "fewer")
        yield piece, own
    if sources is not None and next(sources, None) is not None:
        raise BadArgument("senders", "as many as messages: one for each", "more")


def _sliced(messages: Iterable[bytes] | Reports, head: bytes) -> Iterator[Sequence[bytes] | Reports]:
    if isinstance(messages, Reports):
        if messages.head != head:
            raise BadArgument("the reports", "of the same protocol, with the same parameters", "those of another")
        if len(messages) and not 0 <= messages.cells.min() <= messages.cells.max() < messages.layout.cells:
            raise BadArgument("the reports", "such as devices send: cells that the protocol has", Unseen())
        for first in range(0, len(messages), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            yield Reports(messages.head, messages.layout, messages.cells[part], messages.bits[part])
        return
    source = iter(messages)
    while piece := list(islice(source, AT_ONCE)):
        yield piece


def _again(known: tuple[Batch, bytes], intake: _Intake) -> Batch:
    """The batch that is there already, if this is the same."""
    batch, digest = known
    if digest != intake.digest.digest():
        raise BadArgument("batch", "a key of its own: one with other content or another period has it", batch.key)
    return Batch(batch.key, batch.period, batch.accepted, batch.rejected, repeated=True)
