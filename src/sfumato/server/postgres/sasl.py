"""The server's side of a proof by SCRAM-SHA-256, bound to the TLS connection where there is one (RFC 5802, 5929, 7677).

Somebody unknown goes through the same steps: the salt is one that nobody can tell from another, and a proof is tried
against as many tokens.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import final

from sfumato.server.postgres.faults import Fault, protocol_fault
from sfumato.service.scram import ITERATIONS, NOBODY, Verifier

PLAIN, BOUND = "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"
BINDING = b"tls-server-end-point"
TRIED = 50
"""Tokens that every proof is tried against: as many as one person may have."""

FIRST = re.compile(rb"(n|y|p=([A-Za-z0-9.-]+)),,(n=[^,\0]*,r=([\x21-\x2b\x2d-\x7e]{1,200}))")
LAST = re.compile(rb"(c=([A-Za-z0-9+/=]{1,500}),r=([\x21-\x2b\x2d-\x7e]{1,300})),p=([A-Za-z0-9+/=]{1,100})")
HINT = (
    "The password is one of your API tokens, as pages and POST /api/tokens give them. A token from before this port "
    "was there has to be made anew."
)


def refused_fault() -> Fault:
    """The refusal of whoever proves nothing; it is the same whatever was wrong."""
    return Fault("28P01", "nobody is let in by this name with this token", hint=HINT, severity="FATAL")


@final
class Proof:
    """One exchange: what the client said first, what it has to sign, and whether it could."""

    def __init__(
        self, salt: bytes, tokens: Sequence[tuple[str, Verifier]], nonce: bytes, binding: bytes | None = None
    ) -> None:
        self._salt, self._tokens, self._nonce, self._binding = salt, list(tokens), nonce, binding
        self._header, self._said, self._whole = b"", b"", b""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The mechanisms that are offered: with binding only where there is something to bind to."""
        return (PLAIN,) if self._binding is None else (BOUND, PLAIN)

    def first(self, mechanism: str, said: bytes) -> bytes:
        """Reads what a client says first, and answers with salt and nonce."""
        found = FIRST.fullmatch(said)
        if mechanism not in self.mechanisms or found is None:
            raise protocol_fault("it begins no proof of a kind that was offered")
        flag, binding, bare, nonce = found.groups()
        if (mechanism == BOUND) != flag.startswith(b"p=") or binding not in (None, BINDING):
            raise protocol_fault("its proof is bound to something else than was offered")
        if flag == b"y" and self._binding is not None:
            raise protocol_fault("somebody has hidden from the client that proofs can be bound to this connection")
        self._header, self._whole = flag + b",,", nonce + self._nonce
        answer = b"r=" + self._whole + b",s=" + b64encode(self._salt) + b",i=" + str(ITERATIONS).encode()
        self._said = bare + b"," + answer
        return answer

    def last(self, said: bytes) -> tuple[str, bytes]:
        """Reads the proof: the place of the token that it fits, and the server's own proof; or refuses it."""
        found = LAST.fullmatch(said)
        if found is None:
            raise protocol_fault("it ends no proof")
        without, bound, nonce, proof = found.groups()
        header = self._header + (self._binding or b"" if self._header.startswith(b"p=") else b"")
        if nonce != self._whole or _decoded(bound) != header:
            raise refused_fault()
        signed = self._said + b"," + without
        place, verifier = self._fitting(signed, _decoded(proof))
        if verifier is None:
            raise refused_fault()
        return place, b"v=" + b64encode(verifier.signed(signed))

    def _fitting(self, signed: bytes, proof: bytes) -> tuple[str, Verifier | None]:
        nobody = Verifier(NOBODY, NOBODY)
        found: tuple[str, Verifier | None] = ("", None)
        for place, verifier in [*self._tokens, *[("", nobody)] * (TRIED - len(self._tokens))]:
            if verifier.fits(signed, proof) and verifier is not nobody:
                found = place, verifier
        return found


def _decoded(text: bytes) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return b""
