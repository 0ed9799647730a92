"""Data sets of a service: what was registered, and data sets that are open in this process.

A registration is public but for where the data is. Its version is published with it, so that every worker knows a
question again that another one answered; data that is no longer what was registered is refused when it is opened.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, final

from sfumato.accounting.losses.measures import Loss
from sfumato.codebook.book import Codebook
from sfumato.errors import AccountRefused, BadArgument, ChangedMeanwhile, ServiceUnavailable, SfumatoError
from sfumato.ledger.entry import Said
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.periods import Period
from sfumato.ledger.permit import terms_of
from sfumato.ledger.rules import plain_loss, read_loss
from sfumato.service.places import Places, Source
from sfumato.service.records import NEW, Kept, Records
from sfumato.session.dataset import Dataset
from sfumato.session.kinds import account_of
from sfumato.session.session import Session

DATA_SET = "data set"
"""The kind of record."""

VERSIONS = "version"
"""The topic under which the book says which version of the data was registered, and by whom."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
SHARES_KEPT = 4096
"""Sessions on shares that are kept ready, the latest used ones."""

Limits: TypeAlias = Loss | Mapping[str, Loss]
"""What may be spent; by the names of the kinds of units, where there are several."""


@final
@dataclass(frozen=True)
class Registration:
    """What a curator says of data: its name, where it is, its codebook, its limit, and under which version it goes.

    The source may hold a password, and is shown nowhere.
    """

    name: str
    source: Source = field(repr=False)
    codebook: Codebook = field(repr=False)
    limit: Limits
    version: str = "1"
    period: str | None = None
    engine: str | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """The record that is kept."""
        limit = (
            {"kinds": {name: plain_loss(one) for name, one in self.limit.items()}}
            if isinstance(self.limit, Mapping)
            else plain_loss(self.limit)
        )
        return {
            "source": self.source if isinstance(self.source, str) else dict(self.source),
            "codebook": self.codebook.to_plain(),
            "limit": limit,
            "version": self.version,
            "period": self.period,
            "engine": self.engine,
        }

    @staticmethod
    def of(kept: Kept) -> Registration:
        """Reads a record."""
        said, limit = kept.said, kept.said["limit"]
        kinds = limit.get("kinds")
        return Registration(
            kept.name,
            said["source"],
            Codebook.read(said["codebook"]),
            read_loss(limit) if kinds is None else {name: read_loss(one) for name, one in kinds.items()},
            said["version"],
            said["period"],
            said["engine"],
        )

    def opened(self) -> Dataset:
        """Opens the data."""
        return Dataset(self.source, name=self.name, codebook=self.codebook, version=self.version, engine=self.engine)

    def session(self, ledger: Ledger, *, by: str) -> Session:
        """Opens the data and its account; an account that is open goes on, on its terms, under any version."""
        data = self.opened()
        if self.name not in ledger.accounts:
            return data.session(limit=self.limit, period=self.period, ledger=ledger, by=by)
        limits = self.limit if isinstance(self.limit, Mapping) else {"": self.limit}
        names = [self.name, *(account_of(self.name, kind) for kind in list(limits)[1:])]
        units = [data.unit, *data.others.values()]
        period = Period.named(self.period)
        if len(names) != len(units):
            raise AccountRefused(f"{self.name} protects other kinds of units already: that is set once, for good.")
        for name, limit, unit in zip(names, limits.values(), units, strict=True):
            account = ledger[name]
            if account.limit != limit or account.terms.protects != terms_of(unit).protects:
                raise AccountRefused(f"{self.name} has a limit already, set once, for good: {account.promise}.")
        if ledger[self.name].terms.period is not period:
            raise AccountRefused(f"{self.name} has a limit already, set once, for good: {ledger[self.name].promise}.")
        return data.session(ledger=ledger, by=by)


@final
class DataSets:
    """The data sets of a service. Only files inside of ``folders`` and addresses of ``servers`` can be registered."""

    def __init__(
        self, records: Records, ledger: Ledger, *, folders: tuple[Path, ...] = (), servers: tuple[str, ...] = ()
    ) -> None:
        self._records, self._ledger = records, ledger
        self._places = Places(folders, servers)
        self._open: dict[str, tuple[int, Session]] = {}
        self._shares: OrderedDict[tuple[str, int, str], Session] = OrderedDict()
        self._opening: dict[str, threading.Lock] = {}
        self._read: dict[str, tuple[int, Registration]] = {}
        self._lock = threading.RLock()

    def __iter__(self) -> Iterator[Registration]:
        return (self._registration(kept) for kept in self._records.all(DATA_SET))

    def __contains__(self, name: str) -> bool:
        return self._records.get(DATA_SET, name) is not None

    def registered(self, name: str) -> Registration:
        """What was registered under a name."""
        return self._registration(self._known(name))

    def register(self, registration: Registration, *, by: str) -> bool:
        """Opens data and its account, and registers it; what is wrong with it is said to whoever registers it.

        What is registered already can be registered again under another version name; its limit never changes. Tells
        whether anything is new.
        """
        checked = self._checked(registration)
        kept = self._records.get(DATA_SET, checked.name)
        if kept is not None and kept.said == checked.plain:
            return False
        if kept is not None and kept.said["version"] == checked.version:
            must = f"another than {checked.version!r}, which is registered and stays what it is"
            raise BadArgument("the version", must, checked.version)
        session = checked.session(self._ledger, by=by)
        said: Said = {"version": checked.version, "codebook": checked.codebook.digest}
        self._ledger.note(checked.name, VERSIONS, said, by=by)
        try:
            made = self._records.put(
                DATA_SET, checked.name, checked.plain, expecting=NEW if kept is None else kept.version
            )
        except ChangedMeanwhile:
            faster = self._records.get(DATA_SET, checked.name)
            if faster is None or faster.said != checked.plain:
                raise
            made = faster  # another worker registered the same
        with self._lock:
            self._open[checked.name] = made.version, session
        return True

    def checked_source(self, source: Source) -> Source:
        """The source with whole paths; refuses a place that the service was not told to read from."""
        return self._places.checked(source)

    def session(self, name: str) -> Session:
        """The session on all of a data set's limit: of this process, opened when it is first asked for."""
        return self._session(self._known(name))

    def share(self, name: str, share: str) -> Session:
        """The session on a share; refused where none was granted (`AccountRefused`)."""
        kept = self._known(name)
        key = name, kept.version, share
        with self._lock:
            if (known := self._shares.get(key)) is not None:
                self._shares.move_to_end(key)
                return known
        made = self._session(kept).part(share)
        with self._lock:
            self._shares[key] = made
            while len(self._shares) > SHARES_KEPT:
                self._shares.popitem(last=False)
        return made

    def _session(self, kept: Kept) -> Session:
        name = kept.name
        with self._lock:
            version, session = self._open.get(name, (NEW, None))
            if session is not None and version == kept.version:
                return session
            opening = self._opening.setdefault(name, threading.Lock())
        with opening:  # one data set that is slow to open keeps nobody waiting for another
            with self._lock:
                version, session = self._open.get(name, (NEW, None))
            if session is None or version != kept.version:
                session = self._opened(self._registration(kept))
                with self._lock:
                    self._open[name] = kept.version, session
            return session

    def _opened(self, registration: Registration) -> Session:
        """Opens data for others than who registered it; why it cannot be opened is not for them: it names files."""
        with suppress(BadArgument, OSError):
            self._places.checked(registration.source)
            return registration.opened().session(ledger=self._ledger, by="service")
        raise ServiceUnavailable(f"the data of {registration.name} cannot be opened as it was registered")

    def _checked(self, registration: Registration) -> Registration:
        name, version = registration.name, registration.version
        if not isinstance(name, str) or not NAME.fullmatch(name):
            must = "a name in letters, digits, dots, dashes and underlines, of at most 63"
            raise BadArgument("the name of a data set", must, name)
        if not isinstance(version, str) or not NAME.fullmatch(version):
            must = "a name such as '2026-11', in letters, digits, dots, dashes and underlines"
            raise BadArgument("the version", must, version)
        return Registration(
            name,
            self._places.checked(registration.source),
            registration.codebook,
            registration.limit,
            version,
            registration.period,
            registration.engine,
        )

    def _registration(self, kept: Kept) -> Registration:
        """Reads a record once: a codebook is long, and asked for with each question."""
        with self._lock:
            version, read = self._read.get(kept.name, (NEW, None))
        if read is None or version != kept.version:
            try:
                read = Registration.of(kept)
            except (SfumatoError, KeyError, TypeError, AttributeError):
                read = None
            if read is None:
                raise ServiceUnavailable(f"what was registered of {kept.name} cannot be read")
            with self._lock:
                self._read[kept.name] = kept.version, read
        return read

    def _known(self, name: str) -> Kept:
        kept = self._records.get(DATA_SET, name) if isinstance(name, str) and NAME.fullmatch(name) else None
        if kept is None:
            raise BadArgument("the data set", "one that is registered", name)
        return kept
