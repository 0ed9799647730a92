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
from typing import TYPE_CHECKING, final

from sfumato.codebook.columns import COLUMN_HEAD, Column, Place, Plain
from sfumato.codebook.draft import draft, refuse_draft
from sfumato.codebook.entries import TOP, Entries, comma_list, source_tree
from sfumato.codebook.kinds import UnitKind, check_kinds, read_kinds
from sfumato.codebook.sampling import Sampling
from sfumato.codebook.smartnoise import from_smartnoise
from sfumato.codebook.strict_yaml import begins_codebook, read_text, text_of, write_text
from sfumato.codebook.tables import FACT, Table
from sfumato.codebook.units import UnitPath, Window, unit_path
from sfumato.core.metrics import Unit
from sfumato.core.space import Space
from sfumato.errors import BadArgument, BadCodebook, shown
from sfumato.release.record import Fact
from sfumato.release.render import document as form
from sfumato.release.render.displayed import Displayed

if TYPE_CHECKING:
    from sfumato.query.engines.registry import EngineChoice

FORMAT = 1
"""The version of the format; the first entry of every codebook."""

SHEET = ("motivation", "composition", "collection", "preprocessing", "uses", "distribution", "maintenance")
"""The sections of a datasheet (Gebru and others 2021, arXiv 1803.09010)."""


@final
@dataclass(frozen=True, repr=False)
class Codebook(Displayed):
    """Public facts on one or several tables: who is protected, columns, bounds, and where each fact is from.

    None of it may come from the private data; a bound that was read off the data is refused. ``kinds`` are the kinds of
    units that are protected, where there are several; the first is the one of ``protects`` and ``id``.

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
    kinds: tuple[UnitKind, ...] = ()
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
        book = _read(read_text(text))
        return book if text is given else replace(book, folder=Path(given).resolve().parent)

    @staticmethod
    def read_smartnoise(given: str | Path | Mapping[str, object]) -> tuple[Codebook, tuple[str, ...]]:
        """Reads metadata of SmartNoise SQL into a codebook, with notes on what somebody must check in it."""
        if isinstance(given, Mapping):
            plain, notes = from_smartnoise(given)
        else:
            text = text_of(given)
            plain, notes = from_smartnoise(read_text(text), file="" if text is given else Path(given).name)
        return _read(plain), notes

    @staticmethod
    def draft(
        data: object, *, unit: str | None = None, protects: str = "", name: str = "data", engine: EngineChoice = None
    ) -> str:
        """Writes a codebook to fill in, as YAML, from the names and types of columns in a file or a frame, no value.

        ``unit`` is the column that says whose a row is, ``protects`` who that is; a frame is called ``name``. One place
        is marked, and filled in the codebook answers how many rows there are; questions say what else they need.
        """
        from sfumato.query.engines.registry import schema_of

        return draft(schema_of(data, name, engine), id=unit, protects=protects)

    def table(self, name: str | None = None) -> Table:
        """Looks a table up by name; without a name, the only one there is."""
        names = [table.name for table in self.tables]
        if name is None and len(names) > 1:
            raise BadArgument("table", f"one of {comma_list(names)}: there are several", None)
        for table in self.tables:
            if name in (None, table.name):
                return table
        raise BadArgument("table", f"one of {comma_list(names)}", name)

    def space(self, table: str | None = None, *, columns: Sequence[str] | None = None) -> Space:
        """The space of a table, or of some of its columns: what `sf.frame` would declare, from the codebook."""
        return self.table(table).space(columns)

    def unit_in(self, table: str | None = None) -> Unit:
        """Who is protected in a table, as a distance: how many rows one unit may have, by a stated fact."""
        declared = self.table(table)
        bounds, where = declared.contributions, f"table {declared.name!r}"
        if declared.public:
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
        return Unit(self.protects, declared.metric, bounds.rows)

    @property
    def stated_of_unit(self) -> tuple[str, ...]:
        """Names the entries that are facts about the unit, and about no other one."""
        bounded = (f"contributions of {table.name}" for table in self.tables if table.contributions is not None)
        drawn = self.sampling is not None and self.sampling.why_not is None
        return (*bounded, "sampling") if drawn else tuple(bounded)

    @property
    def unit(self) -> Unit:
        """Who is protected, where all protected tables agree on it."""
        units = {table.name: self.unit_in(table.name) for table in self.tables if not table.public}
        if len(set(units.values())) != 1:
            raise BadArgument("table", f"one of {comma_list([*units])}: their units differ, see unit_in(table)", None)
        return next(iter(units.values()))

    def unit_path(self, table: str | None = None) -> UnitPath | None:
        """How the rows of a table are known to be somebody's; None where each row is its own unit."""
        declared = self.table(table)
        if declared.public:
            raise BadCodebook(f"table {declared.name!r}", f"it is public: nothing in it is of {self.protects}")
        if not self.id and not any(each.id for each in self.tables):
            return None
        return unit_path(self.tables, declared.name, self.window)

    def facts(
        self, table: str | None = None, *, columns: Sequence[str] | None = None, of_unit: bool = True
    ) -> tuple[Fact, ...]:
        """The public facts that a release rests on: of one table or of all, of some columns or of all.

        Without ``of_unit``, those about the unit are left out: a release that protects another one rests on others.
        """
        tables = self.tables if table is None and columns is None else (self.table(table),)
        who, others = self.protects if of_unit else "", {kind.name: kind.protects for kind in self.kinds}
        stated = (fact for each in tables for fact in each.facts(who, columns, others=others))
        return (*stated, *self.invariants, *self.public, *self.releases)

    @property
    def flags(self) -> tuple[str, ...]:
        """Doubts to look at before anything is published; none of them stops anything."""
        flags = []
        if self.created is None:
            flags.append("it does not say when it was created, so nobody knows whether that was before the data came")
        elif self.collected and self.created > self.collected[0]:
            flags.append(
                f"it was created on {self.created}, after collection began on {self.collected[0]}: what it states may "
                "have been read off the data"
            )
        if self.window is not None and not self.window.reason:
            flags.append(
                f"it protects one {self.window.every} at a time and does not say why that is enough (window: reason): "
                "the losses of somebody who is in several of them add up"
            )
        flags += [
            f"{table.name}.{column.name} is sensitive for whole groups: {column.sensitive}"
            for table in self.tables
            for column in table.columns
            if column.sensitive
        ]
        if self.sampling is not None and self.sampling.why_not is not None and self.sampling.method != "census":
            flags.append(f"sampling saves nothing: {self.sampling.why_not}")
        return tuple(flags)

    @property
    def ledger_address(self) -> str:
        """Where the codebook says that charges are recorded; a relative path starts in the codebook's folder."""
        return anchored(self.ledger, self.folder)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all that is stated about the data, the same however it was written down."""
        stated = {key: value for key, value in self.to_plain().items() if key != "ledger"}
        text = json.dumps(stated, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def document(self) -> form.Document:
        """The tables and their columns, for any form."""
        tables = tuple(
            form.Table(tuple(column.row() for column in table.columns), COLUMN_HEAD, title=table.headline)
            for table in self.tables
        )
        who = " and ".join(kind.protects for kind in self.kinds) or self.protects
        return form.Document(self.title, f"{self.title}: protects {who}", tables=tables)

    __repr__ = Displayed.__str__

    def to_plain(self) -> Plain:
        """The codebook as plain data, with decimals as texts; `read` restores it."""
        return {key: _plain(value) for key, value in self._tree().items()}

    def to_yaml(self) -> str:
        """The codebook as YAML; `read` restores it."""
        return write_text(self._tree())

    def _tree(self) -> Plain:
        unit = {"protects": self.protects, "id": self.id, "window": self.window and self.window.tree()}
        said = {
            "codebook": FORMAT,
            "title": self.title,
            **{key: getattr(self, key) for key in ("description", "scope", "contact", "url")},
            "created": self.created and str(self.created),
            "collected": [str(day) for day in self.collected],
            "unit": {key: value for key, value in unit.items() if value and not self.kinds},
            "units": {kind.name: kind.tree() for kind in self.kinds},
            "not_protected": list(self.not_protected),
            "sampling": self.sampling and self.sampling.tree(),
            **{key: _facts(getattr(self, key)) for key in ("invariants", "public", "releases")},
            "datasheet": dict(self.datasheet),
            "ledger": self.ledger,
            "tables": {table.name: table.tree([kind.name for kind in self.kinds]) for table in self.tables},
        }
        return {key: value for key, value in said.items() if value}


def _read(given: object) -> Codebook:
    entries = Entries.read(given, TOP)
    version = entries.value("codebook")
    if type(version) is not int or version != FORMAT:  # true and 1.0 equal 1
        entries.refuse(f"it must begin with codebook: {FORMAT}, the version of the format that this program reads")
    unit, kinds = _units(entries)
    id_column, window = unit.text("id"), unit.inner("window")
    sheet = entries.inner("datasheet")
    sampling = entries.inner("sampling")
    book = Codebook(
        title=entries.needed("title", "say in a few words what the data is"),
        protects=unit.needed("protects", "say who is protected, in words that are printed with every release"),
        tables=_tables(entries, id_column, [kind.name for kind in kinds]),
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
        kinds=kinds,
    )
    for part in (entries, unit, *([sheet] if sheet else [])):
        part.done()
    _check_ways(book)
    check_kinds(book)
    return book


def _units(entries: Entries) -> tuple[Entries, tuple[UnitKind, ...]]:
    """Reads who is protected: the unit, or the first of several kinds and all of them."""
    unit, several = entries.inner("unit"), entries.inner("units")
    if several is None:
        return unit or entries.missing("unit", "say who is protected, as in unit: {protects: a person}"), ()
    if unit is not None:
        entries.refuse("unit is one kind of unit, units are several: write one of the two")
    kinds = read_kinds(several)
    return Entries.read(kinds[0].tree(), "units"), kinds


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
        raise BadCodebook(where, f"there is no table {keys.table!r}: {comma_list([table.name for table in tables])}")
    if not named[0].public:
        raise BadCodebook(where, f"{keys.table} is not public, and so neither are the values in it")
    listing = named[0][keys.column]
    kinds = {type(value).__name__ for value in listing.categories} or {listing.type}
    if kinds != {column.type}:
        raise BadCodebook(
            where, f"{keys} is {listing.type}, and this column is {column.type}: they would never be equal"
        )


def _tables(entries: Entries, id_column: str, kinds: Sequence[str]) -> tuple[Table, ...]:
    declared = entries.inner("tables")
    if declared is None or not declared.given:
        entries.missing("tables", "name each table and its columns")
    tables = []
    for name, table in declared.given.items():
        if not isinstance(name, str) or not name.strip():
            entries.refuse(f"the name of a table must be a text; got {shown(name)} (put it in quotes)")
        tables.append(Table.read(name, table, id_column=id_column, kinds=kinds))
    if id_column and not any(table.id for table in tables):
        entries.refuse(f"the unit has the id {id_column!r}, and no table has such a column")
    return tuple(tables)


def _ledger(entries: Entries) -> str:
    """Reads where charges are written down: a file or a server, without anybody's password."""
    address = entries.text("ledger")
    if address == "memory:" or ("://" in address and "@" in address):
        entries.refuse("ledger must name a file or a server, without a password: everybody may read a codebook")
    return address


def anchored(address: str, folder: Path | None) -> str:
    """Resolves the ledger address that a codebook names: a relative path starts in the codebook's folder.

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
    dates = entries.dates("created")
    return dates if len(dates) < 2 else entries.refuse("created must be one date")


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
