"""What is kept of a token so that whoever holds it can prove it without sending it: SCRAM-SHA-256 (RFC 5802, RFC 7677).

Nobody who reads what is kept can sign in with it: a proof needs a number of which the digest alone is here, and which
follows from a token that is drawn from 256 bits and so cannot be guessed.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import final

ITERATIONS = 4096
"""The least that RFC 7677 allows: more would guard passwords that people choose, and tokens are drawn at random."""

SALT_BYTES = 16
NOBODY = bytes(32)


@final
@dataclass(frozen=True, repr=False)
class Verifier:
    """What a proof is checked against (``stored``), and what the server proves itself with (``server``)."""

    stored: bytes
    server: bytes

    @staticmethod
    def of(secret: str, salt: bytes, iterations: int = ITERATIONS) -> Verifier:
        """Makes what is kept of a secret."""
        salted = hashlib.pbkdf2_hmac("sha256", secret.encode(), salt, iterations)
        client = hmac.digest(salted, b"Client Key", "sha256")
        return Verifier(hashlib.sha256(client).digest(), hmac.digest(salted, b"Server Key", "sha256"))

    @staticmethod
    def read(text: str) -> Verifier:
        """Reads what `text` gave."""
        stored, _, server = text.partition(":")
        return Verifier(b64decode(stored), b64decode(server))

    @property
    def text(self) -> str:
        """The form in which it is kept."""
        return f"{b64encode(self.stored).decode()}:{b64encode(self.server).decode()}"

    def fits(self, said: bytes, proof: bytes) -> bool:
        """Tells whether a proof about what was said was made with the secret."""
        mask = hmac.digest(self.stored, said, "sha256")
        client = bytes(one ^ other for one, other in zip(mask, proof, strict=True)) if len(proof) == 32 else NOBODY
        return hmac.compare_digest(hashlib.sha256(client).digest(), self.stored)

    def signed(self, said: bytes) -> bytes:
        """The server's own proof about what was said."""
        return hmac.digest(self.server, said, "sha256")


def salt_of(key: bytes, name: str) -> bytes:
    """The salt of a name, known or not: whoever asks for it learns nothing of who there is."""
    return hmac.digest(key, b"salt " + name.encode("utf-8", "replace"), "sha256")[:SALT_BYTES]
