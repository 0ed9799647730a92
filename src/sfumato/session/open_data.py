"""Data that stays where it is: files, data frames and databases, opened behind an engine with their codebook."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, final

from sfumato.codebook.book import Codebook
from sfumato.codebook.kinds import UnitKind
from sfumato.codebook.stating import A_ROW, Ends, Lists, stated_codebook
from sfumato.codebook.tables import FACT
from sfumato.core.domains import Data
from sfumato.core.metrics import AddRemove, Unit
from sfumato.errors import BadArgument, shown
from sfumato.exact import integer
from sfumato.query.engines.halves import open_halves
from sfumato.query.engines.inputs.tables import is_rows
from sfumato.query.engines.registry import EngineChoice, schema_of
from sfumato.query.nodes.catalog import Catalog, column_named
from sfumato.query.nodes.kinds import Value
from sfumato.query.nodes.relations import Scan
from sfumato.query.plan.open_tables import OpenTables, Unlocked

if TYPE_CHECKING:
    from sfumato.codebook.columns import Place
    from sfumato.core.space import Space
    from sfumato.query.engines.protocol import PublicTables


Units: TypeAlias = "Unit | Person | str | Mapping[str, Person | str] | None"
"""Who is protected: a unit, the column of somebody's ids, or several kinds of units by name."""

PERSON = "a person"
"""Who is protected, where nothing else is said."""


@final
@dataclass(frozen=True)
class Person:
    """Says that people are protected: all rows with one id belong to one of them, however many there are.

    ``protects`` says who else an id may stand for, ``rows`` how many one of them can have at most in every possible
    table: a fact, which is stated only where no codebook states it.

    >>> Person("user_id").protects
    'a person'
    """

    id: str
    protects: str = PERSON
    rows: int | None = None

    def __post_init__(self) -> None:
        if self.rows is not None:
            integer(self.rows, "the rows of a person", least=1)
        for name, text in (("id", self.id), ("protects", self.protects)):
            if not isinstance(text, str) or not text.strip():
                raise BadArgument(f"the {name} of a person", "a text", text)

    def told(self, codebook: Codebook) -> Codebook:
        """A codebook that names this unit too; refuses one that states facts about somebody else.

        That a visit has one row says nothing about how many a person has.
        """
        if self.rows is not None or codebook.kinds:
            raise BadArgument("unit", "left out, with its rows, where a codebook states units and their bounds", self)
        if codebook.window is not None:
            raise BadArgument(
                "unit", f"left out: the codebook protects an id in one {codebook.window.every} only", self
            )
        ids = {codebook.id} if codebook.id else {table.id for table in codebook.tables} - {""}
        if ids and ids != {self.id}:
            named = " and ".join(sorted(map(repr, ids)))
            raise BadArgument("unit", f"the one of the codebook, whose id is {named}", self.id)
        if ids and self.protects not in (PERSON, codebook.protects):
            raise BadArgument("unit", f"the one of the codebook, which calls it {codebook.protects!r}", self.protects)
        if not ids and (stated := codebook.stated_of_unit):
            raise BadArgument(
                "unit",
                f"the one of the codebook, {codebook.protects}, of which it states {' and '.join(stated)}: that says "
                f"nothing about {self.protects}. Write unit: {{protects: {self.protects}, id: {self.id}}} into the "
                f"codebook, with what holds for {self.protects}, or without (then bound each: max_rows_per_group=…)",
                self.protects,
            )
        if codebook.id == self.id:
            return codebook
        unit = {"protects": codebook.protects if ids else self.protects, "id": self.id}
        return replace(Codebook.read({**codebook.to_plain(), "unit": unit}), folder=codebook.folder)


def stated_facts(
    data: Data,
    unit: Units,
    between: Ends | None,
    categories: Lists | None,
    name: str | None,
    engine: EngineChoice = None,
) -> Codebook:
    """The codebook of one table that has none: its types, who is protected, and what was stated about its columns.

    Names and types of columns are public, as a frame or a file has them. Rows of dictionaries have no others than are
    stated here: which keys a row has is its own.
    """
    people = {"": unit} if isinstance(unit, str | Person) else unit if isinstance(unit, Mapping) else {}
    kinds = {name: Person(one) if isinstance(one, str) else one for name, one in people.items()}
    named = [*_ids(kinds), *(between or ()), *(categories or ())]
    rows = _called_rows(data, name or "data")
    schema = schema_of(data, name or "data", engine) if rows is None else {rows: dict.fromkeys(named, "")}
    if rows is not None and not named and unit is not None:
        must = (
            "given for the columns that will be asked about: a list of dictionaries has no others than are stated, for "
            "which keys a row has is its own; or turn it into a data frame"
        )
        raise BadArgument("between and categories", must, None)
    if len(schema) != 1:
        raise BadArgument(
            "codebook", "given, where there are several tables: it says what leads from one to another", None
        )
    [(table, types)] = schema.items()
    _refuse_index(data, [one for one in named if one not in types])
    said = {"between": between, "categories": categories}
    if kinds:
        units = {name: UnitKind(name, one.protects, one.id) for name, one in kinds.items()}
        most = {name: one.rows for name, one in kinds.items()}
        return stated_codebook(table, types, units=units, rows=most, **said)  # type: ignore[arg-type]
    match unit:
        case Unit(metric=AddRemove(), bound=int() as each_has):
            each = {"": UnitKind("", unit.protects, "")}
            return stated_codebook(table, types, units=each, rows={"": each_has}, **said)  # type: ignore[arg-type]
    must = f"the column that says whose a row is, unit='user_id'; or, where each row is somebody of their own, {A_ROW}"
    raise BadArgument("unit", must, unit)


def unnested(data: Data, facts: Codebook | None) -> Data:
    """Columns by name, where they are given under the name of the only table; all other data as it is."""
    if facts is None or len(facts.tables) != 1 or not isinstance(data, Mapping) or len(data) != 1:
        return data
    [(name, columns)] = data.items()
    return columns if name == facts.tables[0].name and isinstance(columns, Mapping) else data


def _called_rows(data: Data, name: str) -> str | None:
    """What a table of rows of dictionaries is called, given as it is or under a name; None of other tables."""
    if isinstance(data, Mapping) and len(data) == 1:
        [(name, data)] = data.items()
    return name if is_rows(data) else None


def _refuse_index(data: Data, unknown: Sequence[str]) -> None:
    """Refuses a name that is no column of a frame of pandas, but of its index."""
    index = getattr(getattr(data, "index", None), "names", ())
    for name in unknown:
        if name in index:
            raise BadArgument("data", f"a frame in which {name!r} is a column: frame.reset_index()", "it as the index")


def read_unit(unit: Units, codebook: Codebook | None) -> Unit | Person | None:
    """Reads one kind of unit; refuses several that a codebook does not state, and one where it states several."""
    if isinstance(unit, Mapping) or (unit is not None and codebook is not None and codebook.kinds):
        must = "left out, where a codebook says who is protected: write several kinds into it, units: {people: …}"
        raise BadArgument("unit", must, "given")
    if isinstance(unit, str) and codebook is None:
        raise BadArgument("unit", "an sf.Unit, where a space is given: a column is named of a table", unit)
    return Person(unit) if isinstance(unit, str) else unit


def _ids(kinds: Mapping[str, Person]) -> Iterator[str]:
    """The columns of ids; refuses kinds that are no kinds, and all but the first that state no bound on rows."""
    for place, (name, one) in enumerate(kinds.items()):
        if not isinstance(one, Person):
            raise BadArgument(f"unit {shown(name)}", "a column, or sf.Person('firm_id', 'a firm', rows=500)", one)
        if place and one.rows is None:
            must = (
                f"with rows=…: how many rows {one.protects} can have in every possible table. Rows of the first kind "
                "are cut where there are too many, and of no other: their rows are those of the first kind too"
            )
            raise BadArgument(f"unit {shown(name)}", must, one)
        yield one.id


def protects_people(codebook: Codebook) -> bool:
    """Tells whether a codebook says to whom rows belong, and not how many of them somebody has at most."""
    private = [table for table in codebook.tables if not table.public]
    bounds = [table.contributions for table in private]
    stated = all(bound is not None and bound.rows is not None and bound.by == FACT for bound in bounds)
    return bool(codebook.id) and not stated


def open_tables(
    data: Data, codebook: Codebook, *, rows_only: bool = False, engine: EngineChoice = None
) -> tuple[OpenTables, Unlocked]:
    """Opens tables behind the engine that reads them, as two halves: what is public, and what a permit unlocks."""
    catalog = Catalog(codebook, rows_only)
    public, private = open_halves(data, catalog, engine)
    lists = {
        f"{table.name}.{column.name}": _listed(public, catalog, column.keys)
        for table in codebook.tables
        for column in table.columns
        if column.keys is not None
    }
    known = Catalog(codebook, rows_only, lists) if lists else catalog
    return OpenTables(public, known, private.schema(), folders_of(data)), Unlocked(private, known)


def folders_of(data: Data) -> tuple[str, ...]:
    """The folders that files are looked for in, and so whatever else comes to be there: of globs, and of folders."""
    if isinstance(data, Mapping):
        return tuple(folder for part in data.values() for folder in folders_of(part))
    if not isinstance(data, str | os.PathLike):
        return ()
    text = os.fspath(data)
    fixed = re.split(r"[*?\[]", text, maxsplit=1)[0]
    if fixed == text and not os.path.isdir(text):
        return ()
    folder = text if fixed == text else os.path.dirname(fixed)
    return (folder if "://" in text else os.path.abspath(folder),)


def _listed(engine: PublicTables, catalog: Catalog, place: Place) -> tuple[Value, ...]:
    """The keys that a public table lists, each once; missing values are left out."""
    scan = catalog.table(place.table)
    column = column_named(place.column, scan.fields, place.table)
    values = engine.rows(Scan(scan.table, (column,)))[column.name]
    return tuple(value for value in dict.fromkeys(values) if value is not None)


def unit_of(codebook: Codebook, space: Space, *, by_rows: bool) -> Unit:
    """Who is protected in tables: whoever an id names, with all rows; or a number of rows, by a stated fact.

    Where a number of rows is public, units are exchanged, and not added or removed: one for another is one of each.
    """
    private = [table for table in codebook.tables if not table.public]
    if not by_rows:
        return Unit(codebook.protects, space.metric, 1 if all(table.size is None for table in private) else 2)
    rows = 0
    for table in private:
        unit = codebook.unit_in(table.name)
        rows += int(unit.metric.read(unit)) * (1 if table.size is None else 2)
    return Unit(codebook.protects, space.metric, rows)


def default_name(catalog: Catalog) -> str:
    """The name of a data set that was given none: that of its only private table."""
    private = [name for name, scan in catalog.tables.items() if scan.private]
    if len(private) == 1:
        return private[0]
    raise BadArgument("name", "given, where there are several private tables", None)


def about_of(codebook: Codebook) -> dict[str, str]:
    """What the book says of a data set, from its codebook; empty texts are left out."""
    said = {
        "title": codebook.title,
        "scope": codebook.scope or codebook.description or codebook.title,
        "url": codebook.url,
        "contact": codebook.contact,
        "codebook": codebook.digest,
    }
    return {name: text for name, text in said.items() if text}


def check_ids(unit: Unit, codebook: Codebook, space: Space) -> None:
    """Refuses other words for what one id stands for: what the codebook states of it would be believed of them, and who
    is protected in one window of time would be said to be protected always."""
    least = 2 if any(table.size is not None for table in codebook.tables) else 1
    alone = space.metric.read(unit) <= space.metric.read(least)
    stated = codebook.stated_of_unit or codebook.window is not None
    if unit.protects != codebook.protects and alone and stated:
        must = f"{codebook.protects!r}, as the codebook calls it; or say how many of them: unit=sf.Unit(…, bound=…)"
        raise BadArgument("what one id stands for", must, unit.protects)


def check_rows(unit: Unit, codebook: Codebook) -> None:
    """Refuses a unit of fewer rows than the codebook says that it may have."""
    bounds = [table.contributions for table in codebook.tables]
    stated = sum(one.rows for one in bounds if one is not None and one.rows is not None and one.by == FACT)
    if unit.protects == codebook.protects and isinstance(unit.bound, int) and unit.bound < stated:
        must = f"one of at least {stated} rows, which is how many {unit.protects} may have by the codebook"
        raise BadArgument("unit", must, unit.bound)
