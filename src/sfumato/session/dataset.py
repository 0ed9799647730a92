"""Data sets that can only be reached through a permit: who is protected, what is public, and the data, unseen."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import NoReturn, final

from sfumato.accounting.measures import Loss
from sfumato.codebook.book import Codebook
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import start
from sfumato.core.space import Space
from sfumato.errors import BadArgument, NotInDomain
from sfumato.exact import Number
from sfumato.ledger.accounts import checked_name
from sfumato.ledger.book import Ledger
from sfumato.ledger.periods import Period
from sfumato.ledger.permit import Permit
from sfumato.ledger.rules import Rule
from sfumato.release.record import Fact, Release
from sfumato.session.fingerprint import version_of
from sfumato.session.members import Members
from sfumato.session.session import Session


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
        name: str,
        space: Space | None = None,
        codebook: Codebook | Mapping[str, object] | str | Path | None = None,
        unit: Unit | None = None,
        version: str | None = None,
        members: Members | None = None,
    ) -> None:
        facts = codebook if codebook is None or isinstance(codebook, Codebook) else Codebook.read(codebook)
        if (space is None) == (facts is None):
            must = "given, one of them: it says what holds for every possible data set"
            raise BadArgument("space or codebook", must, (space, codebook))
        self.name, self.codebook = _name(name), facts
        self.space = facts.space() if facts is not None else _space(space)
        self.unit = _unit(unit or (None if facts is None else facts.unit), self.space)
        self.version, self.members = version, members
        self.__data = copy.deepcopy(data)
        if not self.space.domain.member(self.__data):
            raise NotInDomain(self.space.domain)
        if members is not None:
            members.check(self.__data, self.space)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Gives the public facts that every release rests on, and where they come from."""
        return () if self.codebook is None else self.codebook.facts()

    def session(
        self,
        *,
        limit: Loss | Rule | None = None,
        ledger: Ledger | str | Path,
        period: Period | str | None = None,
        until: datetime | None = None,
        about: Mapping[str, str] | None = None,
        by: str = "analyst",
    ) -> Session:
        """Opens a session: an account of a ledger with a limit that was set once, and goes on where it was left.

        Where the account is open already, the limit can be left out.
        """
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
        told = f"label {self.version}" if self.version is not None else self.__data
        members = () if self.members is None else (self.members.ids, self.members.identity)
        return version_of([told, *members], ledger.secret("versions of data"))

    def check(self, measurement: Measurement, loss: Loss) -> None:
        """Refuses a measurement that is not one on this data, or that a register of members could not count."""
        start(self.space, measurement)
        if self.members is not None:
            self.members.cost(loss)
            self._rows()

    def release(self, permit: Permit, measurement: Measurement, *, confidence: Number) -> Release:
        """Runs what a permit was charged for; nothing else ever sees the data."""
        if not isinstance(permit, Permit) or permit.account.name.partition("/")[0] != self.name:
            raise BadArgument("permit", f"one that {self.name} was charged for", permit)
        self.check(measurement, permit.loss)
        asked = measurement if self.members is None else self.members.admitted(measurement, permit, self._rows())
        return permit.run(asked, self.__data, d_in=self.unit, confidence=confidence, facts=self.facts, name=self.name)

    def _rows(self) -> int:
        """Gives how many rows of one unit a release may use."""
        bound = self.unit.bound
        if not isinstance(bound, int):
            raise BadArgument("unit", "one that is bounded by a number of rows, where there are members", self.unit)
        return bound

    def rehearsal(self, made_up: Data, *, limit: Loss | Rule) -> Session:
        """Opens a session on made-up data, on the same terms and with a ledger of its own that is not kept."""
        twin = Dataset(made_up, name=self.name, space=self.space, unit=self.unit)
        return twin.session(limit=limit, ledger="memory:")

    def __reduce__(self) -> NoReturn:
        raise BadArgument("a data set", "opened where it is used: it is not copied with its data", "a copy")

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}: {self.space}, protects {self.unit.protects})"


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
