"""Data sets of a service: what was registered, and data sets that are open in this process.

A registration is public but for where the data is. Its version is published with it, so that every worker knows a
question again that another one answered; data that is no longer what was registered is refused when it is opened.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, final

from sfumato.accounting.losses.measures import Loss
from sfumato.codebook.book import Codebook
from sfumato.errors import BadArgument
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.rules import plain_loss, read_loss
from sfumato.service.records import NEW, Kept, Records
from sfumato.session.dataset import Dataset
from sfumato.session.session import Session

DATA_SET = "data set"
"""The kind of record."""

Source: TypeAlias = str | Mapping[str, str]
"""Where data is: a path or an address, or one for each table."""


@final
@dataclass(frozen=True)
class Registration:
    """What a curator says of data: its name, where it is, its codebook, its limit, and under which version it goes."""

    name: str
    source: Source
    codebook: Codebook
    limit: Loss
    version: str = "1"
    period: str | None = None
    engine: str | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """The record that is kept."""
        return {
            "source": self.source if isinstance(self.source, str) else dict(self.source),
            "codebook": self.codebook.to_plain(),
            "limit": plain_loss(self.limit),
            "version": self.version,
            "period": self.period,
            "engine": self.engine,
        }

    @staticmethod
    def of(kept: Kept) -> Registration:
        """Reads a record."""
        said = kept.said
        return Registration(
            kept.name,
            said["source"],
            Codebook.read(said["codebook"]),
            read_loss(said["limit"]),
            said["version"],
            said["period"],
            said["engine"],
        )

    def opened(self) -> Dataset:
        """Opens the data."""
        return Dataset(self.source, name=self.name, codebook=self.codebook, version=self.version, engine=self.engine)


@final
class DataSets:
    """The data sets of a service. Only files inside of ``folders`` and addresses of ``servers`` can be registered."""

    def __init__(
        self, records: Records, ledger: Ledger, *, folders: tuple[Path, ...] = (), servers: tuple[str, ...] = ()
    ) -> None:
        self._records, self._ledger = records, ledger
        self._folders, self._servers = tuple(one.resolve() for one in folders), servers
        self._open: dict[str, tuple[int, Session]] = {}
        self._shares: dict[tuple[str, int, str], Session] = {}
        self._lock = threading.RLock()

    def __iter__(self) -> Iterator[Registration]:
        return (Registration.of(kept) for kept in self._records.all(DATA_SET))

    def __contains__(self, name: str) -> bool:
        return self._records.get(DATA_SET, name) is not None

    def registered(self, name: str) -> Registration:
        """What was registered under a name."""
        return Registration.of(self._known(name))

    def register(self, registration: Registration, *, by: str) -> None:
        """Opens data and its account, and registers it; what is wrong with it is said to whoever registers it."""
        self._check_place(registration.source)
        session = registration.opened().session(
            limit=registration.limit, period=registration.period, ledger=self._ledger, by=by
        )
        kept = self._records.get(DATA_SET, registration.name)
        if kept is not None and kept.said == registration.plain:
            return
        version = NEW if kept is None else kept.version
        kept = self._records.put(DATA_SET, registration.name, registration.plain, expecting=version)
        with self._lock:
            self._open[registration.name] = kept.version, session

    def session(self, name: str) -> Session:
        """The session on all of a data set's limit: of this process, opened when it is first asked for."""
        kept = self._known(name)
        with self._lock:
            version, session = self._open.get(name, (NEW, None))
            if session is None or version != kept.version:
                registration = Registration.of(kept)
                session = registration.opened().session(
                    limit=registration.limit, period=registration.period, ledger=self._ledger, by="service"
                )
                self._open[name] = kept.version, session
            return session

    def share(self, name: str, person: str) -> Session:
        """The session on the share of somebody; refused where none was granted (`AccountRefused`)."""
        kept = self._known(name)
        with self._lock:
            key = name, kept.version, person
            if key not in self._shares:
                self._shares[key] = self.session(name).part(person)
            return self._shares[key]

    def _known(self, name: str) -> Kept:
        kept = self._records.get(DATA_SET, name)
        if kept is None:
            raise BadArgument("the data set", "one that is registered", name)
        return kept

    def _check_place(self, source: Source) -> None:
        """Refuses a place that the service was not told to read from: curators are not its administrators."""
        for place in (source,) if isinstance(source, str) else source.values():
            if "://" in place:
                inside = any(place.startswith(server) for server in self._servers)
            else:
                inside = any(Path(place).resolve().is_relative_to(folder) for folder in self._folders)
            if not inside:
                must = "in a folder or on a server that the settings of the service name (data_folders, data_servers)"
                raise BadArgument("the source", must, "another place")
