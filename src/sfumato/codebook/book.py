"""The codebook: public facts on data, written down before anything is spent."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import final

from sfumato.codebook.columns import Column, Place, Plain
from sfumato.codebook.draft import refuse_draft
from sfumato.codebook.entries import TOP, Entries, listed, source_tree
from sfumato.codebook.sampling import Sampling
from sfumato.codebook.smartnoise import from_smartnoise
from sfumato.codebook.strict_yaml import begins_codebook, read_text, text_of, write_text
from sfumato.codebook.tables import FACT, Table
from sfumato.codebook.units import UnitPath, Window, unit_path
from sfumato.core.metrics import Unit
from sfumato.core.space import Space
from sfumato.errors import BadArgument, BadCodebook, shown
from sfumato.release.record import Fact

FORMAT = 1
"""The version of the format; the first entry of every codebook."""

SHEET = ("motivation", "composition", "collection", "preprocessing", "uses", "distribution", "maintenance")
"""The sections of a datasheet (Gebru and others 2021, arXiv 1803.09010)."""


@final
@dataclass(frozen=True)
class Codebook:
    """Is what is public about one or several tables: who is protected, columns, bounds, and where each fact is from.

    None of it may come from the private data; a bound that was read off the data is refused.

    >>> book = Codebook.read({
    ...     "codebook": 1, "title": "An exam", "unit": {"protects": "a student"},
    ...     "tables": {"scores": {
    ...         "size": {"exactly": 10, "source": "the roll of the class"},
    ...         "contributions": {"rows": 1, "source": "one exam each"},
    ...         "columns": {"score": {"type": "int", "between": [0, 100], "source": "the marking scheme"}},
    ...     }},
    ... })
    >>> str(book.space())
    '10 rows of (score: integers in [0, 100]) under the change-one distance'
    >>> book.unit
    Unit(protects='a student', metric=ChangeOne(), bound=1)
    """

    title: str
    protects: str
    tables: tuple[Table, ...]
    id: str = ""
    window: Window | None = None
    description: str = ""
    scope: str = ""
    contact: str = ""
    url: str = ""
    created: datetime.date | None = None
    collected: tuple[datetime.date, ...] = ()
    sampling: Sampling | None = None
    invariants: tuple[Fact, ...] = ()
    public: tuple[Fact, ...] = ()
    releases: tuple[Fact, ...] = ()
    not_protected: tuple[str, ...] = ()
    datasheet: tuple[tuple[str, str], ...] = ()
    ledger: str = ""
    folder: Path | None = field(default=None, compare=False, repr=False)

    @staticmethod
    def read(given: str | Path | Mapping[str, object]) -> Codebook:
        """Reads a codebook from a file, from its text (YAML or JSON), or from plain data."""
        if isinstance(given, Mapping):
            return _read(given)
        text = text_of(given)
        if not begins_codebook(text):
            why = f"it is no codebook: it does not begin with codebook: {FORMAT}. Is it the data?"
            raise BadCodebook("the file", why)
        refuse_draft(text)
        found = _read(read_text(text))
        return found if text is given else replace(found, folder=Path(given).resolve().parent)

    @staticmethod
    def read_smartnoise(given: str | Path | Mapping[str, object]) -> tuple[Codebook, tuple[str, ...]]:
        """Reads metadata of SmartNoise SQL; gives the codebook, and notes on what somebody must check in it."""
        if isinstance(given, Mapping):
            said, notes = from_smartnoise(given)
        else:
            text = text_of(given)
            said, notes = from_smartnoise(read_text(text), file="" if text is given else Path(given).name)
        return _read(said), notes

    def table(self, name: str | None = None) -> Table:
        """Gives a table; the only one where no name is given."""
        names = [table.name for table in self.tables]
        if name is None and len(names) > 1:
            raise BadArgument("table", f"one of {listed(names)}: there are several", None)
        for table in self.tables:
            if name in (None, table.name):
                return table
        raise BadArgument("table", f"one of {listed(names)}", name)

    def space(self, table: str | None = None, *, columns: Sequence[str] | None = None) -> Space:
        """Gives a table, or some columns of it, as a space: what `sf.frame` would declare, from the codebook."""
        return self.table(table).space(columns)

    def unit_in(self, table: str | None = None) -> Unit:
        """Gives who is protected in a table, as a distance: how many rows one unit may have, by a stated fact."""
        found = self.table(table)
        bounds, where = found.contributions, f"table {found.name!r}"
        if found.public:
            raise BadCodebook(where, f"it is public: nothing in it is of {self.protects}")
        if bounds is None or bounds.rows is None:
            raise BadCodebook(
                where,
                f"how many rows may {self.protects} have? Without a bound nobody knows what noise hides. If a column "
                f"says whose a row is, name it, unit: {{protects: {self.protects}, id: …}}. If there is none, and each "
                f"row is all of {self.protects} in every possible table, write contributions: {{rows: 1, source: …}}",
            )
        if bounds.by != FACT:
            raise BadCodebook(
                where,
                f"at most {bounds.rows} rows for {self.protects} hold only once the table is cut to them (by: "
                f"{bounds.by}); the data as it stands may have more",
            )
        return Unit(self.protects, found.metric, bounds.rows)

    @property
    def stated_of_unit(self) -> tuple[str, ...]:
        """Names the entries that are facts about the unit, and about no other one."""
        bounded = (f"contributions of {table.name}" for table in self.tables if table.contributions is not None)
        drawn = self.sampling is not None and self.sampling.why_not is None
        return (*bounded, *(["sampling"] * drawn))

    @property
    def unit(self) -> Unit:
        """Is who is protected, where all protected tables agree on it."""
        found = {table.name: self.unit_in(table.name) for table in self.tables if not table.public}
        if len(set(found.values())) != 1:
            raise BadArgument("table", f"one of {listed([*found])}, whose units differ: unit_in(table)", None)
        return next(iter(found.values()))

    def unit_path(self, table: str | None = None) -> UnitPath | None:
        """Gives how the rows of a table are known to be somebody's; None where each row is a unit of its own."""
        found = self.table(table)
        if found.public:
            raise BadCodebook(f"table {found.name!r}", f"it is public: nothing in it is of {self.protects}")
        if not self.id and not any(one.id for one in self.tables):
            return None
        return unit_path(self.tables, found.name, self.window)

    def facts(
        self, table: str | None = None, *, columns: Sequence[str] | None = None, of_unit: bool = True
    ) -> tuple[Fact, ...]:
        """Gives the public facts that a release rests on: of one table or of all, of some columns or of all.

        Without ``of_unit``, those about the unit are left out: a release that protects another one rests on others.
        """
        tables = self.tables if table is None and columns is None else (self.table(table),)
        found = (fact for one in tables for fact in one.facts(self.protects if of_unit else "", columns))
        return (*found, *self.invariants, *self.public, *self.releases)

    @property
    def flags(self) -> tuple[str, ...]:
        """Are the things to look at before anything is published; none of them stops anything."""
        found = []
        if self.created is None:
            found.append("it does not say when it was created, so nobody knows whether that was before the data came")
        elif self.collected and self.created > self.collected[0]:
            found.append(
                f"it was created on {self.created}, after collection began on {self.collected[0]}: what it states may "
                "have been read off the data"
            )
        if self.window is not None and not self.window.reason:
            found.append(
                f"it protects one {self.window.every} at a time and does not say why that is enough (window: reason): "
                "the losses of somebody who is in several of them add up"
            )
        found += [
            f"{table.name}.{column.name} is sensitive for whole groups: {column.sensitive}"
            for table in self.tables
            for column in table.columns
            if column.sensitive
        ]
        if self.sampling is not None and self.sampling.why_not is not None and self.sampling.method != "census":
            found.append(f"sampling saves nothing: {self.sampling.why_not}")
        return tuple(found)

    @property
    def ledger_address(self) -> str:
        """Is where the codebook says that charges are written down; a relative path starts in the codebook's folder."""
        return anchored(self.ledger, self.folder)

    @cached_property
    def digest(self) -> str:
        """Is a fingerprint of all that is stated about data, the same however it was written down."""
        stated = {key: value for key, value in self.to_plain().items() if key != "ledger"}
        text = json.dumps(stated, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def to_plain(self) -> Plain:
        """Gives the codebook as plain data, of which `read` makes the same codebook; decimals as texts."""
        return {key: _plain(value) for key, value in self._tree().items()}

    def to_yaml(self) -> str:
        """Gives the codebook as YAML, of which `read` makes the same codebook."""
        return write_text(self._tree())

    def _tree(self) -> Plain:
        unit = {"protects": self.protects, "id": self.id, "window": self.window and self.window.tree()}
        said = {
            "codebook": FORMAT,
            "title": self.title,
            **{key: getattr(self, key) for key in ("description", "scope", "contact", "url")},
            "created": self.created and str(self.created),
            "collected": [str(day) for day in self.collected],
            "unit": {key: value for key, value in unit.items() if value},
            "not_protected": list(self.not_protected),
            "sampling": self.sampling and self.sampling.tree(),
            **{key: _facts(getattr(self, key)) for key in ("invariants", "public", "releases")},
            "datasheet": dict(self.datasheet),
            "ledger": self.ledger,
            "tables": {table.name: table.tree() for table in self.tables},
        }
        return {key: value for key, value in said.items() if value}


def _read(given: object) -> Codebook:
    entries = Entries.read(given, TOP)
    version = entries.value("codebook")
    if type(version) is not int or version != FORMAT:  # true and 1.0 equal 1
        entries.refuse(f"it must begin with codebook: {FORMAT}, the version of the format that this program reads")
    unit = entries.inner("unit") or entries.missing("unit", "say who is protected, as in unit: {protects: a person}")
    id_column, window = unit.text("id"), unit.inner("window")
    sheet = entries.inner("datasheet")
    sampling = entries.inner("sampling")
    found = Codebook(
        title=entries.needed("title", "say in a few words what the data is"),
        protects=unit.needed("protects", "say who is protected, in words that are printed with every release"),
        tables=_tables(entries, id_column),
        id=id_column,
        window=window and Window.read(window),
        description=entries.text("description"),
        scope=entries.text("scope"),
        contact=entries.text("contact"),
        url=entries.text("url"),
        created=next(iter(_one_date(entries)), None),
        collected=entries.dates("collected"),
        sampling=sampling and Sampling.read(sampling),
        invariants=entries.facts("invariants"),
        public=entries.facts("public"),
        releases=entries.facts("releases"),
        not_protected=entries.texts("not_protected"),
        datasheet=() if sheet is None else tuple((key, sheet.text(key)) for key in SHEET if sheet.has(key)),
        ledger=_ledger(entries),
    )
    for part in (entries, unit, *([sheet] if sheet else [])):
        part.done()
    _check_ways(found)
    return found


def _check_ways(book: Codebook) -> None:
    """Refuses ways from table to table that lead nowhere: to the id, to the window, to the keys."""
    if book.window is not None and not book.id:
        raise BadCodebook("unit", "a window is of somebody: name the column that says of whom (id)")
    for table in book.tables:
        if table.id or table.link:
            unit_path(book.tables, table.name, book.window)
        for column in table.columns:
            if column.keys is not None:
                _check_keys(column, column.keys, book.tables)


def _check_keys(column: Column, keys: Place, tables: Sequence[Table]) -> None:
    where = f"table {column.table!r}, column {column.name!r}, keys"
    named = [table for table in tables if table.name == keys.table]
    if not named:
        raise BadCodebook(where, f"there is no table {keys.table!r}: {listed([table.name for table in tables])}")
    if not named[0].public:
        raise BadCodebook(where, f"{keys.table} is not public, and so neither are the values in it")
    listing = named[0][keys.column]
    kinds = {type(value).__name__ for value in listing.categories} or {listing.type}
    if kinds != {column.type}:
        raise BadCodebook(
            where, f"{keys} is {listing.type}, and this column is {column.type}: they would never be equal"
        )


def _tables(entries: Entries, id_column: str) -> tuple[Table, ...]:
    given = entries.inner("tables")
    if given is None or not given.given:
        entries.missing("tables", "name each table and its columns")
    found = []
    for name, table in given.given.items():
        if not isinstance(name, str) or not name.strip():
            entries.refuse(f"the name of a table must be a text; got {shown(name)} (put it in quotes)")
        found.append(Table.read(name, table, id_column=id_column))
    if id_column and not any(table.id for table in found):
        entries.refuse(f"the unit has the id {id_column!r}, and no table has such a column")
    return tuple(found)


def _ledger(entries: Entries) -> str:
    """Reads where charges are written down: a file or a server, without anybody's password."""
    found = entries.text("ledger")
    if found == "memory:" or ("://" in found and "@" in found):
        entries.refuse("ledger must name a file or a server, without a password: everybody may read a codebook")
    return found


def anchored(address: str, folder: Path | None) -> str:
    """Gives the address of a ledger that a file in a folder names: a relative path starts in that folder.

    >>> anchored("sqlite:///spent.db", Path("/data")), anchored("postgresql://host/books", Path("/data"))
    ('sqlite:////data/spent.db', 'postgresql://host/books')
    """
    path = address.removeprefix("sqlite:///")
    if "://" in path:
        return address
    if folder is None and not Path(path).is_absolute():
        raise BadCodebook("ledger", "a relative path starts in the codebook's folder, and this one is in no file")
    return f"sqlite:///{Path(folder or '') / path}"


def _one_date(entries: Entries) -> tuple[datetime.date, ...]:
    found = entries.dates("created")
    return found if len(found) < 2 else entries.refuse("created must be one date")


def _facts(facts: Sequence[Fact]) -> list[Plain]:
    return [{"what": fact.what, "source": source_tree(fact.source)} for fact in facts]


def _plain(value: object) -> object:
    match value:
        case Mapping():
            return {key: _plain(part) for key, part in value.items()}
        case list():
            return [_plain(part) for part in value]
        case Decimal():
            return f"{value:f}"
    return value
