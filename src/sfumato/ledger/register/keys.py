"""What the key of a register does: it names units by tags, and hides what the register says of them.

From the caller's key and the salt of one file three keys are derived: one for tags, one for numbers, one for texts. The
file holds none of them. Two files never share tags, even under one key.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import final

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import ECB
from numpy.typing import NDArray

from sfumato.entropy import system
from sfumato.errors import LedgerDamaged

KEY, SALT, TAG = 32, 32, 16
"""Lengths in bytes."""

BLOCK = 16
"""Length in bytes of a hidden number."""

ROOM = 128
"""Texts are filled up to a multiple of this before they are sealed, so that their length says little."""

_NONCE = 12


@final
class Keys:
    """What is derived from the caller's key for one file; never shown, never stored."""

    def __init__(self, key: bytes, salt: bytes) -> None:
        self._tags = hmac.new(_derived(key, b"tags", salt), digestmod=hashlib.sha256)
        self._numbers = Cipher(AES256(_derived(key, b"numbers", salt)), ECB())
        self._texts = AESGCM(_derived(key, b"texts", salt))

    def tags(self, names: Sequence[bytes]) -> NDArray[np.uint64]:
        """The tags of units, one row of two words each: the first half of HMAC-SHA256 of the name."""
        tags = bytearray()
        begin = self._tags.copy
        for name in names:
            made = begin()
            made.update(name)
            tags += made.digest()[:TAG]
        return np.frombuffer(bytes(tags), dtype="<u8").reshape(-1, 2)

    def tag(self, *parts: bytes) -> bytes:
        """One tag for several names in a row; the length of each is part of it, so that none runs into the next."""
        joined = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
        return bytes(self.tags([joined]))

    def hidden(self, numbers: NDArray[np.uint64], tags: NDArray[np.uint64]) -> bytes:
        """Hides the number of each unit: enciphered with a word of its tag and fresh bits, so none looks like another.

        Each is one block of AES: 32 bits of the number, 32 of the tag, 64 fresh ones. A block cipher with fresh bits in
        every block needs no chaining.
        """
        bound = numbers | (tags[:, 0] << np.uint64(32))
        plain = np.column_stack((bound, system().words(len(numbers)))).astype("<u8").tobytes()
        return self._numbers.encryptor().update(plain)

    def numbers(self, blocks: bytes, tags: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Reveals hidden numbers; refuses those that were not hidden for these tags."""
        plain = np.frombuffer(self._numbers.decryptor().update(blocks), dtype="<u8").reshape(-1, 2)[:, 0]
        low = np.uint64(0xFFFFFFFF)
        if ((plain >> np.uint64(32)) != (tags[:, 0] & low)).any():
            raise LedgerDamaged("a unit of the register was changed by somebody without its key")
        return plain & low

    def sealed(self, text: str, number: int) -> bytes:
        """Seals a text that belongs to a number."""
        plain = text.encode()
        nonce = system().octets(_NONCE)
        return nonce + self._texts.encrypt(nonce, plain.ljust(-(-len(plain) // ROOM) * ROOM), number.to_bytes(8))

    def opened(self, sealed: bytes, number: int) -> str:
        """Opens a sealed text; refuses one that was changed, or belongs to another number."""
        try:
            plain = self._texts.decrypt(sealed[:_NONCE], sealed[_NONCE:], number.to_bytes(8))
        except (InvalidTag, ValueError):
            raise LedgerDamaged("a history of the register was changed by somebody without its key") from None
        return plain.decode().rstrip()


def check_value(key: bytes, salt: bytes, limit: str) -> bytes:
    """A value that shows at opening that key, salt and limit belong together, and tells nothing of the key."""
    return _derived(key, b"check", salt + limit.encode())


def _derived(key: bytes, use: bytes, what: bytes) -> bytes:
    return hmac.digest(key, b"sfumato register " + use + b" " + what, "sha256")
