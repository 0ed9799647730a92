"""Tables of a codebook: their columns, how many rows they have, and how much of them may belong to one unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, final

from sfumato.codebook.columns import Column, Plain
from sfumato.codebook.entries import Entries, comma_list, source_tree
from sfumato.codebook.impossible import Impossible, read_impossible
from sfumato.codebook.units import Link
from sfumato.core.domains import Frame
from sfumato.core.metrics import AddRemove, ChangeOne, Metric
from sfumato.core.space import Space
from sfumato.errors import BadArgument, BadCodebook, shown
from sfumato.release.record import Fact

Groups: TypeAlias = tuple[tuple[tuple[str, ...], int], ...]
"""Bounds by the columns that are grouped by."""

FACT, TRUNCATION = "fact", "truncation"


@final
@dataclass(frozen=True)
class Contributions:
    """How much of a table may belong to one unit: rows in all, groups it is in, rows in each group.

    ``by`` says what makes it so: a fact, which holds for every possible table, or truncation, which whoever asks the
    table must carry out (no more rows of a unit are kept). None of the numbers is ever read off the data.
    """

    rows: int | None = None
    groups: Groups = ()
    rows_each: Groups = ()
    by: str = FACT
    source: str = ""

    @staticmethod
    def read(entries: Entries, columns: Sequence[str]) -> Contributions:
        bounds = Contributions(
            rows=entries.whole("rows", least=1),
            groups=_groups(entries, "groups", columns),
            rows_each=_groups(entries, "rows_each", columns),
            by=entries.one_of("by", (FACT, TRUNCATION), usual=FACT),
            source=entries.source("these bounds are"),
        )
        entries.done()
        if bounds.rows is None and not bounds.groups and not bounds.rows_each:
            entries.refuse("it bounds nothing: give rows (in all), groups or rows_each (by columns)")
        return bounds

    def facts(self, table: str, who: str) -> tuple[Fact, ...]:
        """The bounds as public facts; truncation is none: each release says what it cut."""
        if self.by == TRUNCATION:
            return ()
        rows = "row" if self.rows == 1 else "rows"
        said = [] if self.rows is None else [f"{who} has at most {self.rows} {rows} of {table}"]
        said += [f"{who} is in at most {most} groups of {table} by {comma_list(names)}" for names, most in self.groups]
        said += [f"{who} has at most {m} rows of {table} in each {comma_list(names)}" for names, m in self.rows_each]
        return tuple(Fact(what, self.source) for what in said)

    def tree(self) -> Plain:
        said = {
            "rows": self.rows,
            "groups": {", ".join(names): most for names, most in self.groups},
            "rows_each": {", ".join(names): most for names, most in self.rows_each},
            "by": self.by,
            "source": source_tree(self.source),
        }
        return {key: value for key, value in said.items() if value}


@final
@dataclass(frozen=True)
class Table:
    """What is public about one table.

    ``size`` is its exact and ``least`` its least number of rows, where that is public, with ``size_source``. ``id`` is
    the column that says whose a row is, or ``link`` leads to the table that says so; ``key`` are the columns in which
    no two rows agree. A ``public`` table holds nothing about any unit, such as a list of stations. ``contributions``
    are those of the unit, or of the first of several kinds; ``others`` are those of the other kinds, by name.
    ``left_out`` says of columns that the data has besides why nothing can be asked about them, where that is known.
    ``impossible`` are combinations of values that no row can have.
    """

    name: str
    columns: tuple[Column, ...]
    description: str = ""
    size: int | None = None
    least: int = 0
    size_source: str = ""
    id: str = ""
    link: Link | None = None
    key: tuple[str, ...] = ()
    contributions: Contributions | None = None
    public: bool = False
    others: tuple[tuple[str, Contributions], ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict, compare=False)
    impossible: tuple[Impossible, ...] = ()

    @property
    def headline(self) -> str:
        """The name, and in what way its rows are somebody's."""
        owned = (
            "public"
            if self.public
            else f"whose: {self.id}"
            if self.id
            else f"whose: by {self.link.column} of {self.link.of}"
            if self.link
            else ""
        )
        return f"{self.name} ({owned})" if owned else self.name

    @staticmethod
    def read(name: str, value: object, *, id_column: str, kinds: Sequence[str] = ()) -> Table:
        """Reads a table; ``id_column`` is the one that the unit names for all tables, ``kinds`` those of units."""
        entries = Entries.read(value, f"table {name!r}")
        declared = entries.inner("columns")
        if declared is None or not declared.given:
            entries.missing("columns", "name each column and its type, as in minutes: {type: float}")
        columns = tuple(Column.read(_name(key, declared), column, name) for key, column in declared.given.items())
        names = [column.name for column in columns]
        size, least, size_source = _size(entries.inner("size"))
        own_bounds, others = _bounds(entries.inner("contributions"), names, kinds)
        public = entries.truth("public")
        own, link = _owner(entries, names, id_column, public=public)
        table = Table(
            name=name,
            columns=columns,
            description=entries.text("description"),
            size=size,
            least=least,
            size_source=size_source,
            id=own,
            link=link,
            key=tuple(entries.known(part, names, "key") for part in entries.texts("key")),
            contributions=own_bounds,
            public=public,
            others=others,
            impossible=read_impossible(entries, columns),
        )
        entries.done()
        if public and (own or link or own_bounds or others):
            entries.refuse("a public table holds nothing of any unit: it has no id and no contributions")
        return table

    def __getitem__(self, name: str) -> Column:
        if not isinstance(name, str):
            raise BadArgument("the name of a column", "a text", type(name).__name__)
        for column in self.columns:
            if column.name == name:
                return column
        raise BadCodebook(f"table {self.name!r}", f"it has no column {shown(name)}; it has {comma_list(self._names)}")

    @property
    def _names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def metric(self) -> Metric:
        """The distance between neighbours: rows are changed where their number is public, else added or removed."""
        return AddRemove() if self.size is None else ChangeOne()

    def _chosen(self, columns: Sequence[str] | None) -> tuple[Column, ...]:
        if columns is not None and not isinstance(columns, list | tuple):  # a column of somebody's data, say
            raise BadArgument("columns", "a list of names", columns)
        return self.columns if columns is None else tuple(self[name] for name in columns)

    def space(self, columns: Sequence[str] | None = None) -> Space:
        chosen = self._chosen(columns)
        return Space(Frame(tuple((c.name, c.atom) for c in chosen), self.size, self.least), self.metric)

    def facts(
        self, who: str, columns: Sequence[str] | None = None, *, others: Mapping[str, str] | None = None
    ) -> tuple[Fact, ...]:
        """What a release from the table, or from some columns, rests on; of ``who``, if anybody is named.

        ``others`` says who the other kinds of units are, by name.
        """
        chosen = self._chosen(columns)
        rows = f"{self.size} rows" if self.size is not None else f"at least {self.least} rows"
        size = (Fact(f"{self.name} has {rows}", self.size_source),) if self.size_source else ()
        bounds = () if self.contributions is None or not who else self.contributions.facts(self.name, who)
        beside = (fact for kind, one in self.others for fact in one.facts(self.name, (others or {})[kind]) if who)
        names = {column.name for column in chosen}
        zeros = (one.fact(self.name) for one in self.impossible if {name for name, _ in one.where} <= names)
        return (*size, *bounds, *beside, *(fact for column in chosen for fact in column.facts()), *zeros)

    def tree(self, kinds: Sequence[str] = ()) -> Plain:
        own = self.contributions and self.contributions.tree()
        by_kind = {kinds[0]: own, **{kind: one.tree() for kind, one in self.others}} if kinds else {}
        exactly = {"exactly": self.size} if self.size is not None else {"at_least": self.least}
        said = {
            "description": self.description,
            "public": self.public,
            "size": {**exactly, "source": source_tree(self.size_source)} if self.size_source else None,
            "id": self.link.tree() if self.link else self.id,
            "key": list(self.key),
            "contributions": {kind: said for kind, said in by_kind.items() if said} if kinds else own,
            "columns": {column.name: column.tree() for column in self.columns},
            "impossible": [one.tree() for one in self.impossible],
        }
        return {key: value for key, value in said.items() if value}


def _name(key: object, entries: Entries) -> str:
    if not isinstance(key, str) or not key.strip():
        entries.refuse(f"a name must be a text; got {shown(key)} (put it in quotes)")
    return key


def _owner(entries: Entries, names: Sequence[str], id_column: str, *, public: bool) -> tuple[str, Link | None]:
    """Reads the column that says whose a row is, or the foreign key that leads to it."""
    link = Link.read(entries, names)
    own = "" if link else entries.text("id")
    if public and id_column in names:
        entries.refuse(
            f"it is public, and has the column {id_column!r}, which says whose a row is: a public table holds nothing "
            "of any unit. Leave out public: true; or give the column another name, if it means another thing here"
        )
    if link and id_column in names:
        entries.refuse(
            f"id leads to {link.of}, and it has the column {id_column!r} of its own: only one of the two can say whose "
            "a row is. Leave out one, or give the column another name, if it means another thing here"
        )
    if own:
        return entries.known(own, names, "id"), None
    return (id_column if id_column in names else ""), link


def _bounds(
    entries: Entries | None, columns: Sequence[str], kinds: Sequence[str]
) -> tuple[Contributions | None, tuple[tuple[str, Contributions], ...]]:
    """Reads how much may be one unit's: of the only kind, or of the first of several and then of the others."""
    if entries is None:
        return None, ()
    if not kinds:
        return Contributions.read(entries, columns), ()
    inner = {kind: entries.inner(kind) for kind in kinds}
    entries.done()
    stated = {kind: Contributions.read(one, columns) for kind, one in inner.items() if one is not None}
    return stated.get(kinds[0]), tuple((kind, stated[kind]) for kind in kinds[1:] if kind in stated)


def _size(entries: Entries | None) -> tuple[int | None, int, str]:
    if entries is None:
        return None, 0, ""
    exactly, least = entries.whole("exactly", least=0), entries.whole("at_least", least=0)
    source = entries.source("it is")
    entries.done()
    if (exactly is None) == (least is None):
        entries.refuse("give one of exactly and at_least")
    return exactly, least or 0, source


def _groups(entries: Entries, key: str, columns: Sequence[str]) -> Groups:
    declared = entries.inner(key)
    if declared is None:
        return ()
    bounds: list[tuple[tuple[str, ...], int]] = []
    for name in list(declared.given):
        parts = tuple(part.strip() for part in str(name).split(","))
        for part in parts:
            declared.known(part, columns, key)
        if any(set(parts) == set(others) for others, _ in bounds):
            declared.refuse(f"there are two bounds by {comma_list(sorted(set(parts)))}, and only one can be meant")
        most = declared.whole(str(name), least=1)
        bounds.append((parts, most if most is not None else declared.refuse(f"{name} must be a whole number")))
    return tuple(bounds)
