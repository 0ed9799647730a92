"""Data sets that can only be reached through a permit: who is protected, what is public, and the data, unseen."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import NoReturn, final

from sfumato.accounting.losses.measures import Loss
from sfumato.codebook.book import Codebook
from sfumato.codebook.stating import Ends, Lists
from sfumato.core.domains import Data, Tables
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove, Unit
from sfumato.core.partial import begin
from sfumato.core.space import Space
from sfumato.core.unscaled import Unscaled
from sfumato.entropy import system
from sfumato.errors import AccountRefused, BadArgument, NotChainable, NotInDomain, Several
from sfumato.exact import Number
from sfumato.ledger.accounts import checked_name
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.periods import Period
from sfumato.ledger.permit import Permit
from sfumato.ledger.progress import RunPermit, Step
from sfumato.ledger.versions import Identity, label_of, read_version
from sfumato.query.engines.registry import EngineChoice, is_tabular
from sfumato.query.plan.open_tables import OpenTables
from sfumato.release.claim import Claim
from sfumato.release.record import Fact, Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.session.kinds import Limit, account_of, open_accounts, read_limits, units_beside
from sfumato.session.members import Members
from sfumato.session.open_data import (
    Person,
    Units,
    about_of,
    check_ids,
    check_rows,
    default_name,
    open_tables,
    protects_people,
    read_unit,
    stated_facts,
    unit_of,
    unnested,
)
from sfumato.session.session import Session
from sfumato.session.vault import Asking, Holding, locked_tables, locked_values


@final
class Dataset(Displayed):
    """Data with a unit of privacy and public facts; nothing of it can be seen except through a session.

    The data is taken as it is now: what is done to the original afterwards changes nothing. Facts come from a
    codebook, or from a space; or they are stated here, of one table: ``Dataset(frame, unit="user_id", between={"age":
    (0, 120)}, categories={"sex": ["f", "m"]})``. With ``members`` a register keeps a limit for each unit besides. A
    ``version`` is the name under which the data, as it is now, is published: a question on it is known again whenever
    it is opened under that name, and other data under the same name is refused. Without one, every opening is a version
    of its own. Which ``engine`` computes follows from what the data is, unless one is named (docs/engines.md).

    Whoever has this object holds the data: they say which ledger pays. What a session has of it opens no session.

    >>> from sfumato.accounting.losses.measures import Pure
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
        unit: Units = None,
        between: Ends | None = None,
        categories: Lists | None = None,
        version: str | None = None,
        members: Members | None = None,
        engine: EngineChoice = None,
    ) -> None:
        facts = codebook if codebook is None or isinstance(codebook, Codebook) else Codebook.read(codebook)
        stated = between is not None or categories is not None
        named = isinstance(unit, str | Person | Mapping)
        if space is None and facts is None and (stated or named or is_tabular(data)):
            facts = stated_facts(data, unit, between, categories, name, engine)
            unit = None if named else unit
        elif stated:
            must = "left out, where a codebook or a space says what is public"
            raise BadArgument("between and categories", must, "given")
        if (space is None) == (facts is None):
            must = "given, one of them: it says what holds for every possible data set"
            raise BadArgument("space or codebook", must, Several(space, codebook))
        unit, data = read_unit(unit, facts), unnested(data, facts)
        if isinstance(unit, Person):
            facts, unit = unit.told(_needed(facts)), None
        self.codebook, self.version = facts, read_version(version)
        self._holding: Holding | None
        self._by_codebook = not isinstance(unit, Unit) or facts is None or unit.protects == facts.protects
        self._opening = system().octets(16).hex()
        self._tables: OpenTables | None = None
        self.others: Mapping[str, Unit] = {}
        tabular = is_tabular(data) or (facts is not None and bool(facts.kinds))
        if facts is not None and (tabular or (unit is None and protects_people(facts))):
            self._open(data, facts, unit, name, members, engine)
            return
        if engine is not None:
            raise BadArgument("engine", "left out, where data is not asked as tables: it is held in memory", engine)
        self.name = _name(facts.table().name if name is None and facts is not None else name)
        self.space = facts.space() if facts is not None else _space(space)
        self.unit = _unit(unit or (None if facts is None else facts.unit), self.space)
        if facts is not None:
            check_rows(self.unit, facts)
        taken = copy.deepcopy(data)
        if not self.space.domain.member(taken):
            raise NotInDomain(self.space.domain)
        if members is not None:
            members.check(taken, self.space)
        self._columns = isinstance(taken, Mapping)
        self._vault, self._holding = locked_values(taken, members)

    def _open(
        self,
        data: Data,
        facts: Codebook,
        unit: Unit | None,
        name: str | None,
        members: Members | None,
        engine: EngineChoice,
    ) -> None:
        """Opens data that stays where it is."""
        if members is not None:
            raise BadArgument(
                "members", "left out, where data is asked in SQL: a register has no theorem for it", "given"
            )
        opened, held = open_tables(data, facts, engine=engine)
        self._tables = opened
        self._vault, self._holding = locked_tables(held)
        self.name = _name(default_name(opened.catalog) if name is None else name)
        self.space = opened.space
        by_rows = opened.catalog.by_rows
        self.unit = _unit(unit or unit_of(facts, self.space, by_rows=by_rows), self.space)
        if by_rows:
            check_rows(self.unit, facts)
        else:
            check_ids(self.unit, facts, self.space)
            self._by_codebook = True  # what is stated of an id holds for each of several
        self.others = units_beside(facts, self.space)

    @property
    def tables(self) -> OpenTables:
        """What is public about the tables, for questions to be planned with: nothing in it leads to private ones.

        Data that is held in memory is put behind an engine when this is first asked for; the unit stays what it is.
        """
        if self._tables is None:
            if self.codebook is None or not self._columns:
                must = "data with columns that a codebook describes, for it to be asked in SQL: give codebook=…"
                raise BadArgument("the data set", must, str(self.space))
            if not isinstance(self.unit.metric, AddRemove) or self._vault.register:
                must = "one of which rows are added and removed, without members, for it to be asked in SQL"
                raise BadArgument("the data set", must, str(self.space))
            opened = self._vault.tables(self.codebook)
            if isinstance(opened, BaseException):
                raise opened
            self._tables = opened
        return self._tables

    @property
    def published(self) -> tuple[str, ...]:
        """Names the data, for questions to be known again by: public things alone, and never what the data holds.

        A version that its holder has published is the same one whenever it is opened. What has none is known as this
        opening of it, and as nothing else.
        """
        return label_of(self.version, self._opening, self._vault.register)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names the kinds of units, where several are protected."""
        return () if self.codebook is None else tuple(kind.name for kind in self.codebook.kinds)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """The public facts that every release rests on, and where they come from.

        Where rows are counted and another unit is protected than the codebook's, how many it has was stated with it.
        """
        if self.codebook is None:
            return ()
        rows = self.unit.bound
        if self._by_codebook or not isinstance(rows, int):
            return self.codebook.facts()
        said = f"{self.unit.protects} has at most {rows} {'row' if rows == 1 else 'rows'}"
        return (Fact(said, "stated as the unit of the data set"), *self.codebook.facts(of_unit=False))

    def session(
        self,
        *,
        limit: Limit | Mapping[str, Limit] | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        ledger: Ledger | str | Path | None = None,
        period: Period | str | None = None,
        until: datetime | None = None,
        about: Mapping[str, str] | None = None,
        claim: Claim | None = None,
        by: str = "analyst",
    ) -> Session:
        """Opens a session: an account of a ledger with a limit that was set once, and goes on where it was left.

        The limit is a loss, or an ``epsilon`` and perhaps a ``delta``; one for each kind of unit, by name, where there
        are several. Where the account is open already, it can be left out; so can the ledger, where the codebook names
        one. Data that another account of the ledger has is refused, but for a ``claim``, which is written into the
        book.
        """
        own, others = read_limits(limit, epsilon, delta, self.kinds)
        if not isinstance(ledger, Ledger):
            book = Ledger.open(self._address(ledger))
            try:
                return self.session(
                    limit=limit,
                    epsilon=epsilon,
                    delta=delta,
                    ledger=book,
                    period=period,
                    until=until,
                    about=about,
                    claim=claim,
                    by=by,
                )
            except BaseException:
                book.close()
                raise
        if self._holding is None:
            raise AccountRefused(
                f"sessions on {self.name} are opened by whoever holds the data, who says what may be spent. Within a "
                "session, open a part of it: session.part('name', limit=…)."
            )
        known = Identity(self.name, self.version, claim)
        self._holding.check(ledger, known)
        if own is None:
            opened = ledger[self.name]
        else:
            public = {} if self.codebook is None else about_of(self.codebook)
            said = {**public, **(about or {})}
            beside = {kind: (limit, self.others[kind]) for kind, limit in others.items()}
            opened = open_accounts(
                partial(ledger.open_account, period=period, until=until, about=said), self.name, own, self.unit, beside
            )
        self._holding.keep(ledger, known, by)
        return Session(self._asked, ledger, opened, by=by)

    @cached_property
    def _asked(self) -> Dataset:
        """The data set as sessions have it: without what opens them, or whoever may ask could set a new limit."""
        asked = object.__new__(Dataset)
        vars(asked).update(vars(self), _holding=None)
        return asked

    def _address(self, given: str | Path | None) -> str | Path:
        """The address of the ledger: the one that was given, or the one that the codebook names."""
        if given is not None:
            return given
        if self.codebook is not None and self.codebook.ledger:
            return self.codebook.ledger_address
        must = "given: where charges are written down, such as 'sqlite:///spent.db' ('memory:' forgets them)"
        raise BadArgument("ledger", must, None)

    def read(self, question: object, loss: Loss | None = None) -> Measurement:
        """Reads a question as a measurement on this data; refuses what is none, or shows exact values.

        Noise that waits for its scale is made as little as a loss allows.
        """
        measurement = begin(self._space_for(question), question)
        if isinstance(measurement, Unscaled):
            if loss is None:
                must = (
                    "given: it decides the scale of the noise, which has none yet: session.run(question, epsilon=0.5)"
                )
                raise BadArgument("loss", must, None)
            measurement = measurement.with_loss(loss, d_in=self.unit)
        if not isinstance(measurement, Measurement):
            raise NotChainable("this shows exact values: a question must end in a mechanism that adds noise to them.")
        return measurement

    def check_members(self, loss: Loss) -> None:
        """Refuses a loss that a register of members, where there is one, could not count."""
        if self._vault.charges(loss):
            self._rows()

    def release(self, permit: Permit, measurement: Measurement, *, confidence: Number) -> Release:
        """Runs what a permit was charged for; nothing else ever sees the data."""
        self._check_ours(permit, Permit)
        asked = self.read(measurement)
        self.check_members(permit.loss)
        rows = self._rows() if self._vault.register else 0
        units = {account_of(self.name, kind): unit for kind, unit in self.others.items()}
        asking = Asking(self.unit, confidence, self.facts, self.name, rows, units)
        ended = self._vault.run(permit, asked, asking)
        if isinstance(ended, BaseException):
            raise ended
        return ended

    def step(self, permit: RunPermit, function: Step) -> Data:
        """Hands the data to the next step of a run; what the step gives is all that leaves."""
        self._check_ours(permit, RunPermit)
        ended = self._vault.step(permit, function)
        if isinstance(ended, BaseException):
            raise ended
        return ended[0]

    def _check_ours(self, permit: Permit | RunPermit, kind: type[Permit | RunPermit]) -> None:
        if not isinstance(permit, kind) or permit.account.name.partition("/")[0] != self.name:
            raise BadArgument("permit", f"one that {self.name} was charged for", permit)

    def _space_for(self, measurement: object) -> Space:
        """The space that a measurement is on: that of the tables, where it is a question in SQL."""
        source = getattr(measurement, "source", None)
        tables = isinstance(source, Space) and isinstance(source.domain, Tables)
        return self.tables.space if tables else self.space

    def _rows(self) -> int:
        """How many rows of one unit a release may use; refuses a unit that is not bounded by a number of rows."""
        bound = self.unit.bound
        if not isinstance(bound, int):
            raise BadArgument("unit", "one that is bounded by a number of rows, where there are members", self.unit)
        return bound

    def rehearsal(self, made_up: Data, *, limit: Limit | Mapping[str, Limit]) -> Session:
        """Opens a session on made-up data, on the same terms and with a ledger of its own that is not kept."""
        tables = isinstance(self.space.domain, Tables)
        space, facts = (None, self.codebook) if tables else (self.space, None)
        unit = None if self.others else self.unit
        twin = Dataset(made_up, name=self.name, space=space, codebook=facts, unit=unit)
        return twin.session(limit=limit, ledger="memory:")

    def __reduce__(self) -> NoReturn:
        raise BadArgument("a data set", "opened where it is used: it is not copied with its data", "a copy")

    def document(self) -> Document:
        """What is public about the data, for any form: nothing in it comes from rows."""
        described = (("holds", str(self.space)),)
        tables = (Table(described),) if self.codebook is None else self.codebook.document().tables
        return Document(self.name, f"{self.name}: protects {self._who}", tables=tables)

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}: {self.space}, protects {self._who})"

    @property
    def _who(self) -> str:
        return " and ".join(unit.protects for unit in (self.unit, *self.others.values()))


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
