"""Columns of a codebook: what values they may have, by public knowledge, and where that knowledge is from."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import NamedTuple, NoReturn, TypeAlias, final

from sfumato.codebook.bins import Bins, bins_tree, read_bins
from sfumato.codebook.entries import Entries, comma_list, number_text, read_date, read_moment, source_tree, storable
from sfumato.core.atoms import Atom, Bounds, Categories, Floats, Integers, Texts
from sfumato.errors import BadArgument, BadCodebook, shown
from sfumato.exact import rational
from sfumato.release.record import Fact

Day: TypeAlias = datetime.date
Moment: TypeAlias = datetime.datetime
Range: TypeAlias = Bounds | tuple[Day, Day] | tuple[Moment, Moment]
Plain: TypeAlias = dict[str, object]

TYPES = ("float", "int", "bool", "str", "categories", "date", "time", "list")

MOST_DAYS = 100_000
"""A date column with more days than this is no list of days."""

LETTERS = "YymdbBjHIMSfp"
"""The letters of strptime that a format may have."""

WRITTEN = re.compile("(%[A-Za-z]|[-/.,:_T ])+")

INFINITE = {"inf", "infinity", ".inf", "+inf", "-inf", "-.inf", "+.inf", "-infinity"}


class Place(NamedTuple):
    """The address of a column: its table and its name."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


COLUMN_HEAD = ("column", "type", "values", "may be missing", "known from")
"""What is shown of each column."""

MOST_SHOWN = 12
"""How many categories are shown of a column."""


@final
@dataclass(frozen=True)
class Column:
    """What is public about one column: its type, the values it may have, and where that is known from.

    ``between`` holds for numbers, dates and times, ``categories`` for the rest; neither ever comes from the data.
    ``keys`` is the column of a public table that lists the values, where there are too many to write down. Values may
    be missing unless ``nullable`` is False, which is a fact with a source as any other; where nothing is said it is
    None, and only arrays in memory, which are checked when they are used, are taken to have none. ``missing`` says how
    missing values arise and what is done about them, ``erroneous`` the same of values that cannot be right;
    ``sensitive`` says why what this column tells about whole groups needs a second look before it is published.
    ``format`` says how texts of days and times are written, in the letters of strptime, and ``decimal`` which sign
    stands before the decimals of numbers; both are about texts only. A list has ``items``, which are described as a
    column is, and of each row at most the first ``most_items`` are looked at. ``bins`` says by how many bins numbers,
    days and times are told apart where combinations are counted, or where one bin ends: a choice, not a fact.
    """

    name: str
    type: str
    table: str
    between: Range | None = None
    categories: tuple[Hashable, ...] = ()
    keys: Place | None = None
    source: str = ""
    nullable: bool | None = None
    missing: str = ""
    erroneous: str = ""
    sensitive: str = ""
    description: str = ""
    format: str = ""
    decimal: str = ""
    items: Column | None = None
    most_items: int | None = None
    bins: Bins | None = None

    @staticmethod
    def read(name: str, value: object, table: str) -> Column:
        """Reads a column, or says what is wrong with it."""
        entries = Entries.read(value, f"table {table!r}, column {name!r}")
        has_list = entries.has("categories")
        if not (has_list or entries.has("type")):
            entries.missing("type", f"one of {comma_list(TYPES)}")
        kind = entries.one_of("type", TYPES, usual="categories")
        if has_list != (kind == "categories"):
            entries.refuse("categories and type must agree: only type: categories has a list, and it needs one")
        between = _bounds(entries, kind)
        nullable = entries.truth("nullable") if entries.has("nullable") else None
        stated = "its values are" if has_list or between else "that it is never missing is" if nullable is False else ""
        column = Column(
            name=name,
            type=kind,
            table=table,
            between=between,
            categories=_categories(entries) if has_list else (),
            keys=_keys(entries, kind),
            source=entries.source(stated) if stated else entries.said_source(),
            nullable=nullable,
            missing=entries.text("missing"),
            erroneous=entries.text("erroneous"),
            sensitive=entries.text("sensitive"),
            description=entries.text("description"),
            format=_format(entries, kind),
            decimal=_decimal(entries, kind),
            items=_items(entries, kind, name, table),
            most_items=entries.whole("most_items", least=1) if kind == "list" else None,
            bins=read_bins(entries, kind, between),
        )
        if column.missing and column.nullable is False:
            entries.refuse("it is never missing (nullable: false), and it says what is done about missing values")
        entries.done()
        return column

    @property
    def atom(self) -> Atom:
        """The domain of one value in memory; if ``nullable``, with NaN among floats or None among categories."""
        missing = (None,) if self.nullable else ()
        match self.type, self.between:
            case "float", between:
                return Floats(between if isinstance(between, Bounds) else None, nan=bool(self.nullable))
            case (("bool" | "categories"), _):
                listed_values = (False, True) if self.type == "bool" else self.categories
                return Categories((*listed_values, *missing))
            case "date", (first, last):
                days = (first + datetime.timedelta(day) for day in range((last - first).days + 1))
                return Categories((*days, *missing))
        if self.nullable or self.type in ("date", "time", "list"):
            raise BadCodebook(f"table {self.table!r}, column {self.name!r}", self._no_domain())
        return Integers(self.between if isinstance(self.between, Bounds) else None) if self.type == "int" else Texts()

    def _no_domain(self) -> str:
        if self.type == "date":
            return "without bounds there is no end of dates: give between: [first, last], with its source"
        if self.type == "list":
            return "lists have no domain in memory: leave the column out (columns=[…]), or ask with UNNEST in SQL"
        if self.type == "time":
            return "moments have no domain in memory: leave the column out (columns=[…]), or take dates"
        return (
            f"{self.type} values have no missing one in memory: leave the column out (columns=[…]), or declare it as "
            "float, whose missing value is NaN, or as categories, which may have None"
        )

    @property
    def written(self) -> str:
        """How texts of this column are written, where that is said: a format or the decimal sign."""
        return self.format or self.decimal

    def row(self) -> tuple[str, ...]:
        """The column as a row under `COLUMN_HEAD`."""
        values = "" if self.between is None else f"[{comma_list(self._ends)}]"
        values = values or comma_list(self.categories[:MOST_SHOWN]) + ", …" * (len(self.categories) > MOST_SHOWN)
        values = values or (f"those of {self.keys}" if self.keys else "")
        if self.items is not None:
            _, kind, values, *_ = self.items.row()
            most = "" if self.most_items is None else f"at most {self.most_items} "
            return self.name, f"list of {most}{kind}", values, "yes", self.items.source
        return self.name, self.type, values, "no" if self.nullable is False else "yes", self.source

    @property
    def place(self) -> Place:
        return Place(self.table, self.name)

    def facts(self) -> tuple[Fact, ...]:
        """What a release that uses this column rests on."""
        stated = [] if self.items is None else list(self.items.facts())
        if self.between is not None:
            ends = str(self.between) if isinstance(self.between, Bounds) else f"[{comma_list(self._ends)}]"
            stated.append(Fact(f"{self.place} is in {ends}", self.source))
        if self.categories:
            values = comma_list(self.categories[:6]) + (", …" if len(self.categories) > 6 else "")
            stated.append(Fact(f"{self.place} is one of {len(self.categories)}: {values}", self.source))
        if self.keys is not None:
            stated.append(Fact(f"{self.place} is one of those in {self.keys}", f"the public table {self.keys.table}"))
        if self.nullable is False:
            stated.append(Fact(f"{self.place} is never missing", self.source))
        return tuple(stated)

    @property
    def _ends(self) -> list[object]:
        match self.between:
            case Bounds(lower, upper):
                return [number_text(lower), number_text(upper)]
            case first, last:
                return [first.isoformat(), last.isoformat()]
        return []

    def tree(self) -> Plain:
        """The column as plain data, in a fixed order, without what was not said."""
        said = {
            "type": self.type,
            "between": self._ends,
            "bins": bins_tree(self.bins),
            "categories": list(self.categories),
            "keys": self.keys and self.keys._asdict(),
            "items": self.items and self.items.tree(),
            "most_items": self.most_items,
            "nullable": self.nullable,
            "source": source_tree(self.source),
            **{
                key: getattr(self, key)
                for key in ("missing", "erroneous", "sensitive", "description", "format", "decimal")
            },
        }
        return {key: value for key, value in said.items() if value or value is False}


def _items(entries: Entries, kind: str, name: str, table: str) -> Column | None:
    """Reads what the items of a list are: a column in all but lists of their own, and keys of another table."""
    if kind != "list":
        return None
    declared = entries.value("items")
    if declared is None:
        entries.missing("items", "what each item is, as in items: {type: str}")
    items = Column.read(f"{name}[]", declared, table)
    if items.type == "list" or items.keys is not None:
        entries.refuse("items are values: neither lists nor keys of another table")
    return items


def _bounds(entries: Entries, kind: str) -> Range | None:
    ends = entries.value("between")
    if ends is None:
        return None
    if kind not in ("float", "int", "date", "time"):
        entries.refuse(f"between is for numbers, dates and times, and this is {kind}")
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        entries.refuse(f"between must be two values, [lower, upper]; got {shown(ends)}")
    if kind in ("date", "time"):
        return _days(entries, ends) if kind == "date" else _moments(entries, ends)
    lower, upper = (_number(entries, part) for part in ends)
    if lower >= upper:
        entries.refuse(
            f"between must have its lower bound first, and some room: {_short(lower)} is not below {_short(upper)}"
        )
    if kind == "int" and not lower.denominator == upper.denominator == 1:
        entries.refuse(f"between must be whole numbers for an int column; got {_short(lower)} and {_short(upper)}")
    return Bounds(lower, upper)


def _days(entries: Entries, ends: Sequence[object]) -> tuple[Day, Day]:
    first, last = (read_date(part, _of_between(entries)) for part in ends)
    if first >= last:
        entries.refuse(f"between must have its first day first: {first} is not before {last}")
    if (last - first).days >= MOST_DAYS:
        entries.refuse(f"between must hold at most {MOST_DAYS} days; got {first} to {last}")
    return first, last


def _moments(entries: Entries, ends: Sequence[object]) -> tuple[Moment, Moment]:
    first, last = (read_moment(part, _of_between(entries)) for part in ends)
    if first >= last:
        entries.refuse(f"between must have its first moment first: {first} is not before {last}")
    return first, last


def _of_between(entries: Entries) -> Callable[[str], NoReturn]:
    def refuse(got: str) -> NoReturn:
        entries.refuse(f"between {got}")

    return refuse


def _format(entries: Entries, kind: str) -> str:
    """Reads how days or times are written, in letters of which each means one thing."""
    pattern = entries.text("format")
    if not pattern:
        return ""
    if kind not in ("date", "time"):
        entries.refuse(f"format is for texts of dates and times, and this is {kind}")
    letters = re.findall("%(.)", pattern.replace("%%", ""))
    whole = WRITTEN.fullmatch(pattern) and not set(letters) - set(LETTERS) and len(set(letters)) == len(letters)
    day = bool({"Y", "y"} & set(letters)) and (
        "j" in letters or ("d" in letters and bool({"m", "b", "B"} & set(letters)))
    )
    halves = ("I" in letters) == ("p" in letters)  # else 1:05 could be in either half of the day
    if not (whole and day and halves):
        known = ", ".join(f"%{letter}" for letter in LETTERS)
        entries.refuse(
            f"format must name year, month and day in the letters of strptime, each once, as '%d/%m/%Y' does ({known};"
            f" %I and %p together), with blanks and any of - / . , : _ T between them; got {shown(pattern)}"
        )
    return pattern


def _decimal(entries: Entries, kind: str) -> str:
    sign = entries.text("decimal")
    if sign and kind not in ("int", "float"):
        entries.refuse(f"decimal is for texts of numbers, and this is {kind}")
    if sign not in ("", ".", ","):
        entries.refuse(f"decimal must be the sign before decimals, '.' or ','; got {shown(sign)}")
    return sign.replace(".", "")


def _keys(entries: Entries, kind: str) -> Place | None:
    declared = entries.inner("keys")
    if declared is None:
        return None
    if kind not in ("str", "int"):
        entries.refuse(f"keys is for str and int columns, and this is {kind}")
    keys = Place(
        declared.needed("table", "name the public table that lists the values"),
        declared.needed("column", "name the column of that table that lists the values"),
    )
    declared.done()
    return keys


def _number(entries: Entries, value: object) -> Fraction:
    text = str(value).strip().casefold()
    if text in INFINITE:
        entries.refuse(
            "a bound must be finite: with an infinite one a single value could move a sum without limit, and no noise "
            "would hide it. Say what the largest sensible value is, and clamp what lies beyond it (sf.clamp)"
        )
    try:
        return rational(value if isinstance(value, Decimal | str | int | float | Fraction) else str(value), "a bound")
    except BadArgument:
        entries.refuse(f"a bound must be a number; got {shown(value)}")


def _short(value: Fraction) -> str:
    return str(number_text(value))


def _categories(entries: Entries) -> tuple[Hashable, ...]:
    declared = entries.value("categories")
    if not isinstance(declared, list | tuple):
        entries.refuse(f"categories must be a list; got {shown(declared)}")
    if not declared:
        entries.refuse(
            "categories must be at least one: an empty list says that no row can exist. Where nobody knows the values "
            "beforehand, declare type: str and let the keys be selected privately (sf.stats.select_keys)"
        )
    values: list[Hashable] = []
    known: set[Hashable] = set()
    texts: set[str] = set()
    for value in declared:
        category = float(value) if isinstance(value, Decimal) else value
        if isinstance(category, str) and not storable(category):
            entries.refuse("a category holds half a character, which nothing can store")
        if category is None or not isinstance(category, str | int | float | bool):
            days = " (of days and times say between)" if isinstance(category, datetime.date) else ""
            entries.refuse(f"a category must be a text, a number, true or false{days}; got {shown(value)}")
        if isinstance(category, float) and not isfinite(category):
            entries.refuse(f"a category must be finite; got {shown(category)}")
        if category in known:
            entries.refuse(
                f"categories must be distinct, and {shown(category)} is there twice (1, 1.0 and true are the same to "
                "Python): its rows would be counted twice"
            )
        if str(category) in texts:
            entries.refuse(
                f"categories must be distinct as texts, and {shown(str(category))} is there as a text and as something "
                "else: an array of texts could not tell the two apart. Write both in one way"
            )
        if isinstance(category, int) and not -(2**63) <= category < 2**63:
            entries.refuse(
                f"a category must be a whole number of 64 bits; got {shown(category)}. Write such keys as texts"
            )
        values.append(category)
        known.add(category)
        texts.add(str(category))
    return _of_one_kind(entries, values)


def _of_one_kind(entries: Entries, values: Sequence[Hashable]) -> tuple[Hashable, ...]:
    if len(kinds := sorted({_sort(value) for value in values})) > 1:
        entries.refuse(f"categories must be of one kind, as the values of a column are; got {' and '.join(kinds)}")
    return tuple(map(float, values) if any(isinstance(value, float) for value in values) else values)  # type: ignore[arg-type]


def _sort(value: object) -> str:
    return "texts" if isinstance(value, str) else "truth values" if isinstance(value, bool) else "numbers"
