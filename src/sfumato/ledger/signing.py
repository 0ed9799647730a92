"""Signed checkpoints: whoever holds the public key can tell that a book, up to there, is the one that was signed."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from sfumato.entropy import system
from sfumato.errors import BadArgument
from sfumato.ledger.entry import FORMAT, Body, Entry, canonical

KEY_BYTES = 32


def new_signing_key() -> bytes:
    """Draws a new secret key for signing checkpoints; keep it apart from the ledger."""
    return system().octets(KEY_BYTES)


def public_key(secret: bytes) -> bytes:
    """The public key that belongs to a secret one, for whoever checks signatures."""
    return _private(secret).public_key().public_bytes_raw()


def signed(secret: bytes, *, book: str, number: int, previous: str) -> Body:
    """What a checkpoint adds: the signature of a book up to the entry before, and the signer's public key."""
    signature = _private(secret).sign(_message(book, number, previous))
    return {"signer": public_key(secret).hex(), "signature": signature.hex()}


def check_signature(entry: Entry, book: str, signer: bytes | None) -> bool:
    """Tells whether a checkpoint bears its signer's signature, and the signer is the one that is expected."""
    whose, signature = entry.body.get("signer"), entry.body.get("signature")
    if not isinstance(whose, str) or not isinstance(signature, str) or (signer is not None and whose != signer.hex()):
        return False
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(whose))
        key.verify(bytes.fromhex(signature), _message(book, entry.number, entry.previous))
    except (ValueError, InvalidSignature):
        return False
    return True


def _private(secret: bytes) -> Ed25519PrivateKey:
    if not isinstance(secret, bytes) or len(secret) != KEY_BYTES:
        raise BadArgument("the signing key", f"{KEY_BYTES} secret bytes, as new_signing_key() gives", "something else")
    return Ed25519PrivateKey.from_private_bytes(secret)


def _message(book: str, number: int, previous: str) -> bytes:
    return canonical([FORMAT, "checkpoint", book, number, previous]).encode()
