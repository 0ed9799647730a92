"""The one source of randomness.

`SystemEntropy` expands keys from the operating system with ChaCha20. It is safe across threads and forks, and mixes in
fresh operating-system randomness often, so that two copies of one virtual machine go separate ways soon after they are
started. What no user-space generator can do: a machine that is copied between two draws gives both copies the same next
bytes until the next refresh (at most `REKEY_BYTES`, for at most `REFRESH_SECONDS` of the machine's clock), and a key in
memory can be read by whoever can read the memory.

`ReplayEntropy` gives the same bytes for the same seed, everywhere and for ever. It is for tests: what is made with it
is marked, because whoever knows the seed can subtract the noise.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Protocol, TypeVar, final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.guarantee import guarantee

BLOCK_LEAST, BLOCK_MOST = 1 << 10, 1 << 16
"""The buffer for small draws starts at 1 KiB and doubles with demand up to 64 KiB."""

PIECE = 1 << 18
"""Large draws leave the cipher in pieces of 256 KiB, a size that stays in the processor's cache."""

REKEY_BYTES = 1 << 20
"""One key makes at most about 1 MiB."""

REFRESH_SECONDS = 1.0
"""A key, and whatever is buffered from it, is dropped after this many seconds."""

_ZEROS = memoryview(bytes(PIECE))

Outcome = TypeVar("Outcome")


class Entropy(Protocol):
    """A source of independent fair bits; every draw is new, none is handed out twice."""

    @property
    def replayable(self) -> bool:
        """Says whether the same bits can be had again, in which case nothing made from them is private."""

    @property
    def drawn(self) -> int:
        """Counts the bytes handed out so far."""

    def octets(self, count: int) -> bytes:
        """Draws ``count`` random bytes."""

    def bits(self, count: int) -> int:
        """Draws a whole number of ``count`` random bits.

        >>> 0 <= ReplayEntropy(1).bits(200) < 2**200
        True
        """
        size = (count + 7) >> 3
        return int.from_bytes(self.octets(size), "little") >> ((size << 3) - count)

    def below(self, bound: int) -> int:
        """Draws a uniform whole number in 0 … bound - 1."""
        return below(bound, self)

    def words(self, count: int) -> NDArray[np.uint64]:
        """Draws an array of random 64-bit words."""
        return np.frombuffer(self.octets(8 * count), dtype="<u8").astype(np.uint64, copy=False)

    def halves(self, count: int) -> NDArray[np.uint16]:
        """Draws an array of random 16-bit words."""
        return np.frombuffer(self.octets(2 * count), dtype="<u2").astype(np.uint16, copy=False)

    def perform(self, act: object, draw: Callable[[], Outcome]) -> Outcome:
        """Draws the outcome of a randomized step. A source made for audits also writes down what was randomized."""
        return draw()


@guarantee(claim="uniform on 0 … bound - 1", proof="proofs/entropy.md#below", reviewed="5aaa4a6c3db4")
def below(bound: int, entropy: Entropy) -> int:
    """Draws a uniform whole number below a bound by rejection, without bias."""
    if bound < 1:
        raise BadArgument("bound", "a whole number of at least 1", bound)
    width = (bound - 1).bit_length()
    while (draw := entropy.bits(width)) >= bound:
        pass
    return draw


def _stream(key: bytes) -> CipherContext:
    return Cipher(ChaCha20(key, bytes(16)), mode=None).encryptor()


_alive: weakref.WeakSet[SystemEntropy] = weakref.WeakSet()


@final
class SystemEntropy(Entropy):
    """Expands operating-system randomness with ChaCha20.

    Guarantee:  independent fair bits if ChaCha20 and the operating system keep theirs (proofs/entropy.md#source)
    Cost:       under 1 µs for a small draw, 0.2 ns a byte for a large one

    A new key is made of 32 bytes that the old key set aside and 32 fresh bytes of the operating system, so that what
    came before the last refresh cannot be recomputed from memory, and either source alone would do.
    """

    def __init__(self) -> None:
        self._drawn = self._next = 0
        self._forget()
        _alive.add(self)

    def __reduce__(self) -> tuple[type[SystemEntropy], tuple[()]]:
        # A copy of key and buffer would give the same bytes again: a copy is a new source.
        return SystemEntropy, ()

    @property
    def replayable(self) -> bool:
        """False: nobody can have these bits again."""
        return False

    @property
    def drawn(self) -> int:
        """Counts the bytes handed out so far."""
        return self._drawn

    def octets(self, count: int) -> bytes:
        """Draws ``count`` random bytes."""
        with self._lock:
            if self._process != os.getpid() or time.monotonic() >= self._expires:
                self._rekey()
            self._drawn += count
            if count > BLOCK_LEAST:
                return self._large(count)
            start = self._next
            end = start + count
            if end > len(self._block):
                self._refill()
                start, end = 0, count
            self._next = end
            return self._block[start:end]

    def _forget(self) -> None:
        """Drops key and buffer, and the lock too: after a fork its owner may not exist any more."""
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._key = bytes(32)
        self._grown = BLOCK_LEAST
        self._rekey()

    def _rekey(self) -> None:
        fresh = int.from_bytes(os.urandom(32), "little")
        self._cipher = _stream((fresh ^ int.from_bytes(self._key, "little")).to_bytes(32, "little"))
        # The next key is set aside now, so that no key that made output is ever needed again.
        self._key = self._cipher.update(_ZEROS[:32])
        self._made = 0
        self._expires = time.monotonic() + REFRESH_SECONDS
        self._block, self._next = b"", 0
        self._process = os.getpid()

    def _make(self, count: int) -> bytes:
        if self._made + count > REKEY_BYTES:
            self._rekey()
        self._made += count
        return self._cipher.update(_ZEROS[:count])

    def _refill(self) -> None:
        self._block, self._next = self._make(self._grown), 0
        self._grown = min(2 * self._grown, BLOCK_MOST)

    def _large(self, count: int) -> bytes:
        if count <= PIECE:
            return self._make(count)
        return b"".join(self._make(min(PIECE, count - done)) for done in range(0, count, PIECE))


def _after_fork() -> None:
    for source in list(_alive):
        source._forget()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_after_fork)

_own = threading.local()


def system() -> SystemEntropy:
    """This thread's own source of operating-system entropy."""
    source: SystemEntropy | None = getattr(_own, "source", None)
    if source is None:
        source = _own.source = SystemEntropy()
    return source


@final
class ReplayEntropy(Entropy):
    """Repeats the same bits for the same seed; for tests, never for data.

    >>> ReplayEntropy(7).bits(16) == ReplayEntropy(7).bits(16)
    True
    """

    def __init__(self, seed: bytes | int) -> None:
        text = seed if isinstance(seed, bytes) else str(integer(seed, "seed")).encode()
        self._cipher = _stream(hashlib.sha256(b"sfumato replay " + text).digest())
        self._lock = threading.Lock()
        self._drawn = 0

    @property
    def replayable(self) -> bool:
        """True: whoever knows the seed can have these bits again."""
        return True

    @property
    def drawn(self) -> int:
        """Counts the bytes handed out so far."""
        return self._drawn

    def octets(self, count: int) -> bytes:
        """Draws the next bytes of the stream."""
        with self._lock:
            self._drawn += count
            return self._cipher.update(bytes(count))
