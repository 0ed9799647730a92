"""People of a service: who they are, what they may do, and how they prove that they are who they are.

Passwords are kept as argon2 hashes; of everything that is drawn at random (tokens, visits, one-time links) the digest
alone is kept, so that whoever reads the records can sign in as nobody. A refusal says nothing of what was wrong.
"""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, final

from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, ChangedMeanwhile, MissingExtra, SignInRefused
from sfumato.service.records import NEW, Kept, Records
from sfumato.service.rights import EVERYWHERE, Action, Grant, Role, Verdict, verdict
from sfumato.service.scram import Verifier, salt_of

if TYPE_CHECKING:
    from argon2 import PasswordHasher

PERSON, TOKEN, VISIT, LINK = "person", "token", "visit", "link"
"""Kinds of records: somebody, and the three kinds of secrets by which they are known."""

SALT, EVERYBODY = "salt", "everybody"
"""The record of what the salts of proofs follow from."""

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}", re.ASCII)
SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 200
SECRET_BYTES, TAG_BYTES = 32, 8
PREFIX = "sfumato_"
"""What secrets begin with, so that whoever scans for leaked ones finds them."""

SECRET = re.compile(PREFIX + r"[0-9a-f]{16}_[A-Za-z0-9_-]{43}", re.ASCII)

LASTS = {TOKEN: timedelta(days=90), VISIT: timedelta(hours=12), LINK: timedelta(days=1)}
"""How long each kind of secret is good, where nothing else is said."""

Clock: TypeAlias = Callable[[], datetime]


@final
@dataclass(frozen=True)
class Person:
    """Somebody who was let in: a name, grants, and of a token what it is good for (None: for all that they may do)."""

    name: str
    grants: tuple[Grant, ...]
    scope: frozenset[Action] | None = None

    def may(self, action: Action, data_set: str = "") -> Verdict:
        """Decides whether this person may do something to a data set, or to the service itself."""
        if self.scope is not None and action not in self.scope:
            return Verdict(False, f"this token of {self.name} is not good to {action.value}")
        return verdict(self.name, self.grants, action, data_set)

    def need(self, action: Action, data_set: str = "") -> None:
        """Refuses what this person may not do (`NotAllowed`)."""
        self.may(action, data_set).enforce()


@final
@dataclass(frozen=True)
class Known:
    """Somebody in a list: what they may do, whether they are let in, and whether they have chosen a password."""

    name: str
    grants: tuple[Grant, ...]
    active: bool
    has_password: bool


@final
@dataclass(frozen=True)
class Secret:
    """A secret that was just drawn; its text is shown once, and its place in the records is kept."""

    text: str = field(repr=False)
    place: str
    until: datetime


@final
class People:
    """Everybody whom a service knows.

    ``clock`` says when secrets end, ``entropy`` draws them: both are values, so that tests need no patching.
    """

    def __init__(self, records: Records, *, clock: Clock | None = None, entropy: Entropy | None = None) -> None:
        self._records, self._entropy = records, entropy
        self._now = clock or (lambda: datetime.now(UTC))

    # Who there is

    def __iter__(self) -> Iterator[Person]:
        return (_person(kept) for kept in self._records.all(PERSON) if kept.said["active"])

    def named(self, name: str) -> Person | None:
        """Somebody by name; None where nobody active has it."""
        kept = self._records.get(PERSON, name)
        return _person(kept) if kept is not None and kept.said["active"] else None

    def known(self) -> list[Known]:
        """Everybody, also those who have left."""
        kept = self._records.all(PERSON)
        return [Known(x.name, _person(x).grants, bool(x.said["active"]), bool(x.said["password"])) for x in kept]

    def add(self, name: str, grants: Iterable[Grant] = ()) -> Secret:
        """Adds somebody; the one-time link that is given lets them choose a password."""
        if not isinstance(name, str) or not NAME.fullmatch(name):
            must = "a name in small letters, digits, dots, dashes and underlines, of at most 63"
            raise BadArgument("the name of a person", must, name)
        tag = self._octets(TAG_BYTES).hex()
        said = {"grants": _plain(grants), "password": "", "active": True, "tag": tag}
        self._records.put(PERSON, name, said, expecting=NEW)
        return self.invite(name)

    def set_grants(self, name: str, grants: Iterable[Grant]) -> Person:
        """Says anew what somebody may do: from the next request on, whoever they signed in as before."""
        kept = self._records.need(PERSON, name)
        return _person(self._change(kept, grants=_plain(grants)))

    def leave(self, name: str) -> None:
        """Lets somebody in no more; their name stays taken, for the book names them."""
        kept = self._records.need(PERSON, name)
        self._change(kept, active=False, password="", grants=[])
        for kind in (TOKEN, VISIT, LINK):
            self._forget(kind, name)

    def start(self, name: str = "administrator") -> Secret | None:
        """The one-time link of the first administrator; None where there is one who has a password."""
        administrators = [one for one in self._records.all(PERSON) if _administers(one)]
        if any(one.said["password"] for one in administrators):
            return None
        known = self._records.get(PERSON, name)
        grant = Grant(Role.ADMINISTRATOR.value)
        return self.add(name, [grant]) if known is None else self.invite(known.name)

    # How they are known

    def invite(self, name: str) -> Secret:
        """A new one-time link for somebody to choose a password; older ones are good no more."""
        self._forget(LINK, name)
        return self._draw(LINK, name)

    def choose_password(self, link: str, password: str) -> Person:
        """Lets whoever holds a one-time link choose a password; the link is used up, and earlier visits end."""
        check_password(password)
        kept = self._known(LINK, link)
        if kept is None or (known := self._records.get(PERSON, kept.said["of"])) is None or not known.said["active"]:
            raise SignInRefused
        self._records.remove(LINK, kept.name, expecting=kept.version)  # of two at once, one goes on
        person = _person(self._change(known, password=self._hasher.hash(password, salt=self._octets(16))))
        self._forget(VISIT, person.name)
        return person

    def sign_in(self, name: str, password: str) -> Person:
        """Lets somebody in by name and password."""
        kept = self._records.get(PERSON, name) if isinstance(name, str) and NAME.fullmatch(name) else None
        known = kept.said["password"] if kept is not None and kept.said["active"] else ""
        said = password[: LONGEST_PASSWORD + 1] if isinstance(password, str) else ""
        right = self._matches(known or self._nobody, said)
        if not known or not right or kept is None:
            raise SignInRefused
        return _person(kept)

    def change_password(self, name: str, old: str, new: str) -> Person:
        """Gives somebody who knows their password another one; all their visits end, and one-time links too."""
        check_password(new)
        kept = self._records.get(PERSON, name)
        self.sign_in(name, old)
        if kept is None:
            raise SignInRefused
        hashed = self._hasher.hash(new, salt=self._octets(16))
        person = _person(self._change(kept, password=hashed))  # of somebody who was let out meanwhile: refused
        for kind in (VISIT, LINK):
            self._forget(kind, name)
        return person

    def issue(
        self,
        kind: str,
        name: str,
        *,
        scope: Iterable[Action] | None = None,
        lasts: timedelta | None = None,
        called: str = "",
    ) -> Secret:
        """Draws a token or a visit of somebody, good for a time and perhaps for some actions only."""
        return self._draw(kind, name, scope=scope, lasts=lasts, called=called)

    def known_by(self, kind: str, text: str) -> Person:
        """Lets somebody in by the text of a token or a visit."""
        if not _is_secret(text):
            raise SignInRefused
        return self.still_known_by(kind, place_of(text))

    def still_known_by(self, kind: str, place: str) -> Person:
        """Lets somebody in by the place of a token that they have proved before, if it is still good."""
        found = self._records.with_named(kind, place, PERSON, "of")
        if found is None:
            raise SignInRefused
        kept, known = found
        if self._ended(kept) or known is None or not known.said["active"]:
            raise SignInRefused
        person, scope = _person(known), kept.said["scope"]
        return (
            person if scope is None else Person(person.name, person.grants, frozenset(Action[name] for name in scope))
        )

    def salt(self, name: str) -> bytes:
        """The salt of the proofs of somebody, and of everybody who is not known: nobody learns which."""
        return salt_of(self._salt_key, name)

    def provable(self, name: str) -> list[tuple[str, Verifier]]:
        """The tokens of somebody that can be proved without being sent: their places, and what proofs fit to."""
        known = isinstance(name, str) and NAME.fullmatch(name) and self.named(name) is not None
        kept = [one for one in self.secrets(TOKEN, name) if not self._ended(one)] if known else []
        return [(one.name, Verifier.read(one.said["scram"])) for one in kept if "scram" in one.said]

    def secrets(self, kind: str, name: str) -> list[Kept]:
        """What is kept of the secrets of somebody: what each is called, and when it ends."""
        kept = self._records.get(PERSON, name)
        return [] if kept is None else self._records.all(kind, f"{kept.said['tag']}-")

    def revoke(self, kind: str, name: str, place: str) -> None:
        """Makes a secret of somebody good no more."""
        kept = self._records.get(kind, place)
        if kept is not None and kept.said["of"] == name:
            self._remove(kind, kept)

    def end_visit(self, text: str) -> None:
        """Signs somebody out."""
        kept = self._known(VISIT, text)
        if kept is not None:
            self._remove(VISIT, kept)

    def end_visits(self, name: str) -> None:
        """Signs somebody out everywhere."""
        self._forget(VISIT, name)

    def tidy(self) -> None:
        """Removes secrets that have ended."""
        for kind in (TOKEN, VISIT, LINK):
            for kept in self._records.all(kind):
                if self._ended(kept):
                    self._remove(kind, kept)

    def _forget(self, kind: str, name: str) -> None:
        """Makes all secrets of a kind that somebody has good no more."""
        for kept in self.secrets(kind, name):
            self._remove(kind, kept)

    def _remove(self, kind: str, kept: Kept) -> None:
        with suppress(ChangedMeanwhile):  # somebody else has removed it: a secret is never changed
            self._records.remove(kind, kept.name, expecting=kept.version)

    def _draw(
        self,
        kind: str,
        name: str,
        *,
        scope: Iterable[Action] | None = None,
        lasts: timedelta | None = None,
        called: str = "",
    ) -> Secret:
        tag = self._records.need(PERSON, name).said["tag"]
        text = f"{PREFIX}{tag}_{urlsafe_b64encode(self._octets(SECRET_BYTES)).decode().rstrip('=')}"
        until, place = self._now() + (LASTS[kind] if lasts is None else lasts), place_of(text)
        said = {
            "of": name,
            "until": until.isoformat(),
            "scope": None if scope is None else sorted(action.name for action in scope),
            "called": called,
        }
        if kind == TOKEN:
            said["scram"] = Verifier.of(text, self.salt(name)).text
        self._records.put(kind, place, said, expecting=NEW)
        return Secret(text, place, until)

    def _known(self, kind: str, text: str) -> Kept | None:
        """The record of a secret that has not ended. It is found by its digest: comparing takes no time that tells."""
        kept = self._records.get(kind, place_of(text)) if _is_secret(text) else None
        return None if kept is None or self._ended(kept) else kept

    @cached_property
    def _salt_key(self) -> bytes:
        """What salts follow from: drawn once for a service, and the same for all of its workers."""
        with suppress(ChangedMeanwhile):  # another worker was faster
            if self._records.get(SALT, EVERYBODY) is None:
                self._records.put(SALT, EVERYBODY, {"key": self._octets(SECRET_BYTES).hex()}, expecting=NEW)
        return bytes.fromhex(self._records.need(SALT, EVERYBODY).said["key"])

    def _ended(self, kept: Kept) -> bool:
        return datetime.fromisoformat(kept.said["until"]) <= self._now()

    def _change(self, kept: Kept, **said: Any) -> Kept:
        return self._records.put(PERSON, kept.name, {**kept.said, **said}, expecting=kept.version)

    def _octets(self, count: int) -> bytes:
        return (self._entropy or system()).octets(count)

    @cached_property
    def _hasher(self) -> PasswordHasher:
        try:
            from argon2 import PasswordHasher as Made
        except ImportError:
            raise MissingExtra("a service with passwords", "server") from None
        return Made()

    @cached_property
    def _nobody(self) -> str:
        """A hash that no password has: who is not known is looked at for as long as everybody else."""
        return str(self._hasher.hash(self._octets(32).hex(), salt=self._octets(16)))

    def _matches(self, known: str, password: str) -> bool:
        from argon2.exceptions import Argon2Error, InvalidHashError

        try:
            return bool(self._hasher.verify(known, password))
        except (Argon2Error, InvalidHashError):
            return False


def check_password(password: str) -> None:
    """Refuses a password that is too short to be safe, or too long to be hashed in time."""
    if not isinstance(password, str) or not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        must = f"of {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} letters"
        raise BadArgument("the password", must, "another length")


def _is_secret(text: object) -> bool:
    """Tells whether a text could be one that was drawn here."""
    return isinstance(text, str) and SECRET.fullmatch(text) is not None


def place_of(text: str) -> str:
    """Where a secret is kept: under the tag of whose it is, so that all of theirs are found, and its digest."""
    tag = text.removeprefix(PREFIX).partition("_")[0]
    return f"{tag}-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def _person(kept: Kept) -> Person:
    return Person(kept.name, tuple(Grant(role, data_set) for role, data_set in kept.said["grants"]))


def _plain(grants: Iterable[Grant]) -> list[list[str]]:
    made = sorted(set(grants))
    for grant in made:
        if grant.role not in {role.value for role in Role}:
            raise BadArgument("a role", f"one of {', '.join(role.value for role in Role)}", grant.role)
        if grant.data_set != EVERYWHERE and not grant.data_set:
            raise BadArgument("a grant", "for a data set, or for all of them ('*')", grant.data_set)
    return [[grant.role, grant.data_set] for grant in made]


def _administers(kept: Kept) -> bool:
    return bool(kept.said["active"]) and [Role.ADMINISTRATOR.value, EVERYWHERE] in kept.said["grants"]
