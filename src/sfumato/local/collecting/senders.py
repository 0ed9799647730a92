"""How many reports somebody sent, without saying who: keyed hashes, a count for each, and no report beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument, Unseen
from sfumato.exact import integer

Sender: TypeAlias = str | bytes | int
Pseudonyms: TypeAlias = NDArray[np.uint64]
"""Two words for each sender."""

SHORTEST_KEY, LONGEST_KEY = 16, 64
SIZE = 16
"""Pseudonyms have 128 bits: among 10⁹ senders two share one with chance 10⁻²¹."""


@final
@dataclass(frozen=True)
class SenderLimit:
    """At most so many reports by one sender, in each period or in all; ``key`` makes pseudonyms and is never stored."""

    most: int
    key: bytes
    each_period: bool = False

    @classmethod
    def read(cls, most: int | None, key: bytes | None, *, each_period: bool) -> SenderLimit | None:
        """Reads what a caller asked for."""
        if most is None:
            if key is not None or each_period:
                raise BadArgument("max_reports", "a number, where a key or each_period is given", most)
            return None
        if not isinstance(key, bytes) or not SHORTEST_KEY <= len(key) <= LONGEST_KEY:
            raise BadArgument(
                "key",
                f"{SHORTEST_KEY} to {LONGEST_KEY} secret random bytes, kept elsewhere than the reports, so that nobody "
                "can try out names",
                Unseen(),
            )
        return cls(integer(most, "max_reports", least=1), key, each_period)

    @property
    def check(self) -> bytes:
        """What tells another key from this one, and nothing else of it."""
        return blake2b(b"", key=self.key, digest_size=SIZE, person=b"sfumato.check").digest()

    def period(self, period: str) -> str:
        """The period within which reports are counted."""
        return period if self.each_period else ""

    def pseudonyms(self, senders: Sequence[Sender], *, question: str, period: str) -> Pseudonyms:
        """Pseudonyms of senders, which are others for each question, and for each period if each is counted anew."""
        place = blake2b(f"{question}\0{self.period(period)}".encode(), digest_size=SIZE, person=b"sfumato.place")
        salt, key = place.digest(), self.key
        hashed = b"".join(blake2b(_octets(sender), key=key, digest_size=SIZE, salt=salt).digest() for sender in senders)
        return np.frombuffer(hashed, dtype="<u8").astype(np.uint64, copy=False).reshape(-1, 2)


def _octets(sender: Sender) -> bytes:
    if isinstance(sender, bytes):
        return b"b" + sender
    if isinstance(sender, str):
        return b"s" + sender.encode("utf-8", "surrogatepass")
    if isinstance(sender, int | np.integer) and not isinstance(sender, bool):
        return f"i{int(sender)}".encode()
    raise BadArgument("a sender", "a text, bytes or a whole number", Unseen())


def grouped(pseudonyms: Pseudonyms) -> tuple[Pseudonyms, NDArray[np.int64]]:
    """Every pseudonym once, in order, and which of them each sender has."""
    order = np.lexsort((pseudonyms[:, 1], pseudonyms[:, 0]))
    ordered = pseudonyms[order]
    new = np.ones(len(ordered), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    which = np.empty(len(ordered), dtype=np.int64)
    which[order] = np.cumsum(new) - 1
    return ordered[new], which


def allowed(which: NDArray[np.int64], before: NDArray[np.int64], most: int) -> NDArray[np.bool_]:
    """Which reports count: the first of each sender, as many as are left after those of earlier batches.

    >>> allowed(np.array([0, 1, 0, 0]), before=np.array([0, 2]), most=2).tolist()
    [True, False, True, False]
    """
    order = np.argsort(which, kind="stable")
    counts = np.bincount(which, minlength=len(before))
    begins = np.cumsum(counts) - counts
    ordinal = np.empty(len(which), dtype=np.int64)
    ordinal[order] = np.arange(len(which)) - np.repeat(begins, counts)
    fits: NDArray[np.bool_] = before[which] + ordinal < most
    return fits
