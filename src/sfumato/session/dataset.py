"""Data sets that can only be reached through a permit: who is protected, what is public, and the data, unseen."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import NoReturn, final

from sfumato.accounting.measures import Loss
from sfumato.codebook.book import Codebook
from sfumato.core.domains import Data, Tables
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove, Unit
from sfumato.core.partial import start
from sfumato.core.space import Space
from sfumato.errors import BadArgument, NotInDomain
from sfumato.exact import Number
from sfumato.ledger.accounts import checked_name
from sfumato.ledger.book import Ledger
from sfumato.ledger.periods import Period
from sfumato.ledger.permit import Permit
from sfumato.ledger.rules import Rule
from sfumato.query.lower import Opened
from sfumato.release.record import Fact, Release
from sfumato.session.fingerprint import version_of
from sfumato.session.members import Members
from sfumato.session.session import Session
from sfumato.session.tables import Person, default_name, is_tabular, open_tables, protects_people, unit_of


@final
class Dataset:
    """Is data with a unit of privacy and public facts; nothing of it can be seen but through a session.

    The data is taken as it is now: what is done to the original afterwards changes nothing. Facts come from a
    codebook, or from a space. With ``members`` a register keeps a limit for each unit besides.

    >>> from sfumato.accounting.measures import Pure
    >>> from sfumato.core.space import vector
    >>> from sfumato.mechanisms.additive import laplace
    >>> from sfumato.transforms.aggregate import mean
    >>> from sfumato.transforms.rowwise import clamp
    >>> scores = Dataset([71.5, 64.0, 88.0, 93.5, 55.0] * 50, name="scores", space=vector(float, size=250))
    >>> session = scores.session(limit=Pure(1), ledger="memory:")
    >>> release = session.run(clamp(0, 100) >> mean() >> laplace(scale=0.8))
    >>> release.loss, session.left
    (Pure(epsilon=0.5), Pure(epsilon=0.5))
    """

    def __init__(
        self,
        data: Data,
        *,
        name: str | None = None,
        space: Space | None = None,
        codebook: Codebook | Mapping[str, object] | str | Path | None = None,
        unit: Unit | Person | None = None,
        version: str | None = None,
        members: Members | None = None,
    ) -> None:
        facts = codebook if codebook is None or isinstance(codebook, Codebook) else Codebook.read(codebook)
        if (space is None) == (facts is None):
            must = "given, one of them: it says what holds for every possible data set"
            raise BadArgument("space or codebook", must, (space, codebook))
        if isinstance(unit, Person):
            facts, unit = unit.told(_needed(facts)), None
        self.codebook, self.version, self.members = facts, version, members
        self.__opened: Opened | None = None
        if facts is not None and (is_tabular(data) or (unit is None and protects_people(facts))):
            self._open(data, facts, unit, name)
            return
        self.name = _name(name)
        self.space = facts.space() if facts is not None else _space(space)
        self.unit = _unit(unit or (None if facts is None else facts.unit), self.space)
        self.__data = copy.deepcopy(data)
        if not self.space.domain.member(self.__data):
            raise NotInDomain(self.space.domain)
        if members is not None:
            members.check(self.__data, self.space)

    def _open(self, data: Data, facts: Codebook, unit: Unit | None, name: str | None) -> None:
        """Opens data that stays where it is."""
        if self.members is not None:
            raise BadArgument(
                "members", "left out, where data is asked in SQL: a register has no theorem for it", "given"
            )
        self.__opened = self.__data = opened = open_tables(data, facts)
        self.name = _name(default_name(opened.catalog) if name is None else name)
        self.space = opened.space
        self.unit = _unit(unit or unit_of(facts, self.space, by_rows=opened.catalog.by_rows), self.space)

    @property
    def opened(self) -> Opened:
        """Gives the tables behind an engine, to be asked in SQL and as data frames."""
        if self.__opened is None:
            self.__opened = self._as_tables()
        return self.__opened

    def _as_tables(self) -> Opened:
        """Puts data that is held in memory behind an engine; the unit stays what it is."""
        if self.codebook is None or not isinstance(self.__data, Mapping):
            must = "data with columns that a codebook describes, for it to be asked in SQL: give codebook=…"
            raise BadArgument("the data set", must, str(self.space))
        if not isinstance(self.unit.metric, AddRemove) or self.members is not None:
            must = "one of which rows are added and removed, without members, for it to be asked in SQL"
            raise BadArgument("the data set", must, str(self.space))
        return open_tables({self.codebook.table().name: self.__data}, self.codebook, rows_only=True)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Gives the public facts that every release rests on, and where they come from."""
        return () if self.codebook is None else self.codebook.facts()

    def session(
        self,
        *,
        limit: Loss | Rule | None = None,
        ledger: Ledger | str | Path | None = None,
        period: Period | str | None = None,
        until: datetime | None = None,
        about: Mapping[str, str] | None = None,
        by: str = "analyst",
    ) -> Session:
        """Opens a session: an account of a ledger with a limit that was set once, and goes on where it was left.

        Where the account is open already, the limit can be left out.
        """
        if ledger is None:
            must = "given: where charges are written down, such as 'sqlite:///spent.db' ('memory:' forgets them)"
            raise BadArgument("ledger", must, None)
        book = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger)
        if limit is None:
            return Session(self, book, book[self.name].name, by=by)
        public = {} if self.codebook is None else about_of(self.codebook)
        account = book.open_account(
            self.name, limit=limit, unit=self.unit, period=period, until=until, about={**public, **(about or {})}
        )
        return Session(self, book, account.name, by=by)

    def version_in(self, ledger: Ledger) -> str:
        """Gives what tells this data from other data of the same name: a label, or a digest under the ledger's key."""
        if self.version is None and isinstance(self.__data, Opened):
            return self.__data.engine.fingerprint(ledger.secret("versions of data"))
        told = f"label {self.version}" if self.version is not None else self.__data
        members = () if self.members is None else (self.members.ids, self.members.identity)
        return version_of([told, *members], ledger.secret("versions of data"))

    def check(self, measurement: Measurement, loss: Loss) -> None:
        """Refuses a measurement that is not one on this data, or that a register of members could not count."""
        start(self.space_for(measurement), measurement)
        if self.members is not None:
            self.members.cost(loss)
            self._rows()

    def release(self, permit: Permit, measurement: Measurement, *, confidence: Number) -> Release:
        """Runs what a permit was charged for; nothing else ever sees the data."""
        if not isinstance(permit, Permit) or permit.account.name.partition("/")[0] != self.name:
            raise BadArgument("permit", f"one that {self.name} was charged for", permit)
        self.check(measurement, permit.loss)
        asked = measurement if self.members is None else self.members.admitted(measurement, permit, self._rows())
        data = self.opened if isinstance(measurement.source.domain, Tables) else self.__data
        return permit.run(asked, data, d_in=self.unit, confidence=confidence, facts=self.facts, name=self.name)

    def space_for(self, measurement: object) -> Space:
        """Gives the space that a measurement is on: that of the tables, where it is a question in SQL."""
        source = getattr(measurement, "source", None)
        tables = isinstance(source, Space) and isinstance(source.domain, Tables)
        return self.opened.space if tables else self.space

    def _rows(self) -> int:
        """Gives how many rows of one unit a release may use."""
        bound = self.unit.bound
        if not isinstance(bound, int):
            raise BadArgument("unit", "one that is bounded by a number of rows, where there are members", self.unit)
        return bound

    def rehearsal(self, made_up: Data, *, limit: Loss | Rule) -> Session:
        """Opens a session on made-up data, on the same terms and with a ledger of its own that is not kept."""
        tables = isinstance(self.space.domain, Tables)
        space, facts = (None, self.codebook) if tables else (self.space, None)
        twin = Dataset(made_up, name=self.name, space=space, codebook=facts, unit=self.unit)
        return twin.session(limit=limit, ledger="memory:")

    def __reduce__(self) -> NoReturn:
        raise BadArgument("a data set", "opened where it is used: it is not copied with its data", "a copy")

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}: {self.space}, protects {self.unit.protects})"


def _needed(codebook: Codebook | None) -> Codebook:
    if codebook is None:
        raise BadArgument("codebook", "given, where people are protected: it describes the columns", None)
    return codebook


def _name(name: object) -> str:
    read = checked_name(name)
    if "/" in read:
        raise BadArgument("the name of a data set", "one without '/', which stands before the parts of it", name)
    return read


def _space(space: Space | None) -> Space:
    if not isinstance(space, Space):
        raise BadArgument("space", "a space such as sf.vector(float, size=25)", space)
    return space


def _unit(unit: Unit | None, space: Space) -> Unit:
    """Reads who is protected: neighbours of the space, unless told otherwise; never less than they are apart."""
    closest = space.closest
    if unit is None:
        return Unit(space.metric.unit(space.metric.read(closest)), space.metric, closest)
    if not isinstance(unit, Unit):
        raise BadArgument("unit", "an sf.Unit, such as sf.Unit('a patient', sf.AddRemove(), bound=3)", unit)
    if unit.metric != space.metric:
        raise BadArgument("unit", f"one in {space.metric}, the distance between data sets here", unit.metric)
    if not space.metric.read(closest) <= space.metric.read(unit):
        must = f"one that changes at least {closest} rows: where the size is public, no fewer can"
        raise BadArgument("unit", must, unit)
    return unit


def about_of(codebook: Codebook) -> dict[str, str]:
    """Gives what the book says of a data set, from its codebook."""
    said = {
        "title": codebook.title,
        "scope": codebook.scope or codebook.description or codebook.title,
        "url": codebook.url,
        "contact": codebook.contact,
        "codebook": codebook.digest,
    }
    return {name: text for name, text in said.items() if text}
