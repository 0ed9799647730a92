"""Which data an account is for: versions that its holder has published, and accounts that have the same data.

The store keeps keyed digests of data beside the book, with the key; they never leave with it. They are compared when a
session is opened, by whoever holds the data, and what that says is told to nobody else: a question is known again by
the name of a version, which is public, and never by the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.errors import AccountRefused, BadArgument, LedgerDamaged
from sfumato.guarantee import guarantee
from sfumato.ledger.entry import digest_of
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.store import Store, storable
from sfumato.release.claim import Claim

KEY = "versions of data"
"""The name of the key under which data is digested."""

LONGEST_VERSION = 100
"""Letters that the name of a version may have."""


@final
@dataclass(frozen=True, repr=False)
class Fingerprint:
    """Keyed digests of data: of the whole of it, and of each of its private tables without their names.

    ``whole`` is empty where there is no digest for the kind of data.
    """

    whole: str = ""
    parts: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class Identity:
    """Says what data is opened as: the name of its account, its published version, and why another account has it."""

    name: str
    version: str | None = None
    claim: Claim | None = None


def key_of(ledger: Ledger) -> bytes:
    """The key of the digests that a ledger keeps; made when first asked for."""
    return ledger.secret(KEY)


def read_version(version: object) -> str | None:
    """Reads the name of a published version."""
    if version is None:
        return None
    short = isinstance(version, str) and version.isprintable() and len(version) <= LONGEST_VERSION
    if isinstance(version, str) and short and version.strip() == version != "" and storable(version):
        return version
    must = f"a name such as '2026-11', of at most {LONGEST_VERSION} letters, under which the data is published"
    raise BadArgument("version", must, version)


@guarantee(
    claim="the name that a version is published under, or random bits of this opening: nothing of what the data holds",
    proof="proofs/ledger.md#free",
    reviewed="923785dcee66",
)
def label_of(version: str | None, opening: str, register: str) -> tuple[str, ...]:
    """Names data for questions to be known again by, and the register of its members, where there is one."""
    label = f"opening {opening}" if version is None else f"version {version}"
    return (label, f"register {register}") if register else (label,)


def check_data(ledger: Ledger, known: Identity, data: Fingerprint) -> None:
    """Refuses data that is not what a version was published as, or that another account has; writes nothing.

    The same data under a second name would have a second limit, and whoever is in it would lose both. A claim says why
    that is right; `keep_data` writes it into the book.
    """
    name, version, claim = known.name, known.version, known.claim
    if claim is not None and not isinstance(claim, Claim):
        raise BadArgument("claim", "one such as sf.claim('why the same data has a limit of its own here')", claim)
    published = "" if version is None else _kept(ledger.store, _version(name, version))
    if published and data.whole and published != data.whole:
        raise AccountRefused(
            f"the data changed since version {version!r} of {name} was published: publish it under a new name, "
            "version='…'. Answers of the old version stay in the book, and those of the new one are paid for."
        )
    for part in data.parts:
        other = _kept(ledger.store, _account(part))
        if other not in ("", name) and claim is None and ledger.last_note(name, _topic(other)) is None:
            raise AccountRefused(
                f"the data of {name} is that of the account {other}, which has a limit already; under a second name "
                f"it would have a second one, and those who are in it would lose both. Open it as name={other!r}; or, "
                "if it must be so, pass claim=sf.claim('why'), which is written into the book."
            )


def keep_data(ledger: Ledger, known: Identity, data: Fingerprint, *, by: str) -> None:
    """Keeps what the data of an account is, and the claim, where there is one and something that it is about."""
    name, version, claim = known.name, known.version, known.claim
    if version is not None and data.whole:
        ledger.store.secret(_version(name, version), data.whole.encode)
    for part in data.parts:
        other = _read(ledger.store.secret(_account(part), name.encode))
        if other != name and claim is not None and ledger.last_note(name, _topic(other)) is None:
            ledger.note(name, _topic(other), {"account": other, "claim": claim.text}, by=by)
    check_data(ledger, known, data)  # somebody may have been faster


def _version(name: str, version: str) -> str:
    return f"data of version {digest_of(f'{name}/{version}')}"


def _account(part: str) -> str:
    return f"account of data {part}"


def _topic(other: str) -> str:
    return f"the same data as {other}"


@final
class _Absent(Exception):
    """Says that nothing is kept under a name."""


def _kept(store: Store, name: str) -> str:
    """What is kept under a name, empty where nothing is: nothing is written to find out."""

    def absent() -> bytes:
        raise _Absent

    try:
        return _read(store.secret(name, absent))
    except _Absent:
        return ""


def _read(kept: bytes) -> str:
    try:
        return kept.decode()
    except UnicodeDecodeError:
        damaged = LedgerDamaged("what it keeps of the data of an account is no text")
    raise damaged
