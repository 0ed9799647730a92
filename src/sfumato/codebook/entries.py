"""Reads the entries of a mapping one by one, so that whatever is left over is a mistake and can be named."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import NoReturn, TypeVar, final

from sfumato.errors import BadCodebook, did_you_mean, shown
from sfumato.release.record import Fact

T = TypeVar("T")

READ_OFF = ("", "from", "observed in", "inferred from", "computed from", "estimated from", "range of", "min max of")
PRIVATE = (
    "data",
    "the data",
    "this data",
    "dataset",
    "the dataset",
    "data set",
    "the data set",
    "the sample",
    "sample",
)
LOOKED = ("observed", "inferred", "computed", "estimated", "min max", "min and max", "minimum and maximum")
SPENT_NOTHING = frozenset({*LOOKED, *(f"{verb} {what}".strip() for verb in READ_OFF for what in PRIVATE)})
"""Sources that are the private data itself."""

ADVICE = (
    "A bound or a list that was read off the private data shows it, and one unit can move it. Take it from what is "
    "known about anyone (an age is in [0, 120]) or from public data, and say from where; or spend a little on it "
    "first, such as a tenth of the limit on two private quantiles (sf.split, sf.quantile) or on "
    "sf.stats.bounds_by_histogram, and name that release as the source"
)

DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
"""How a day is written; Python would also read weeks, such as 2026-W01-1."""

MOMENT = re.compile(DAY.pattern + r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?")
"""How a moment is written: a day and a time of it, down to microseconds, without a zone."""

PUBLIC, RELEASE, PREPROCESSING = "public", "release", "preprocessing"
KINDS = (PUBLIC, RELEASE, PREPROCESSING)
"""What a fact can be known from: from public knowledge, an earlier private release, or how the data is prepared."""


OTHER_WORDS = {
    **dict.fromkeys(("text", "string", "varchar", "object", "utf8"), "str"),
    **dict.fromkeys(("double", "real", "number", "numeric", "decimal"), "float"),
    **dict.fromkeys(("bigint", "smallint", "int64", "long"), "int"),
    **dict.fromkeys(("datetime", "timestamp"), "time"),
    **dict.fromkeys(("category", "enum", "factor"), "categories"),
}
"""What other programs call the types of columns."""


@final
@dataclass(frozen=True)
class Entries:
    """A mapping in a codebook, with its place; every entry is asked for by name, and `done` refuses the rest."""

    given: Mapping[object, object]
    where: str
    asked: list[str] = field(default_factory=list)

    @staticmethod
    def read(value: object, where: str) -> Entries:
        if not isinstance(value, Mapping):
            raise BadCodebook(where, f"this must be a mapping of words to values; got {shown(value)}")
        return Entries(value, where)

    def refuse(self, why: str) -> NoReturn:
        """Raises `BadCodebook` for this place."""
        raise BadCodebook(self.where, why)

    def has(self, key: str) -> bool:
        """Tells whether an entry is there, and not null."""
        self.asked.append(key)
        return self.given.get(key) is not None

    def value(self, key: str) -> object:
        """An entry as it is, None where there is none."""
        return self.given.get(key) if self.has(key) else None

    def text(self, key: str) -> str:
        """Reads a text, empty where there is none."""
        value = self.value(key)
        return "" if value is None else self._text(value, key)

    def _text(self, value: object, key: str) -> str:
        if not isinstance(value, str) or not value.strip():
            self.refuse(f"{key} must be a text; got {shown(value)}")
        if not storable(value):
            self.refuse(f"{key} holds half a character, which nothing can store")
        return value.strip()

    def needed(self, key: str, why: str) -> str:
        """Reads a text that must be there."""
        return self.text(key) or self.missing(key, why)

    def missing(self, key: str, why: str) -> NoReturn:
        """Refuses a mapping without an entry, and names the one that may have been meant to be it."""
        others = [str(word) for word in self.given if word not in self.asked]
        self.refuse(f"{key} is missing: {why}" + did_you_mean(key, others, ". Is {!r} meant to be it?"))

    def source(self, of: str) -> str:
        """Reads where a fact is from, and refuses the private data itself.

        A text is public knowledge. ``{release: …}`` and ``{preprocessing: …}`` are kept with their kind in front, as
        they are printed; `source_tree` gives them back as they were.
        """
        return self.said_source() or self.missing("source", f"say where {of} known from. {ADVICE}")

    def said_source(self) -> str:
        """Reads where a fact is from, empty where nothing is said."""
        value = self.value("source")
        kind, stated = PUBLIC, value
        if isinstance(value, Mapping):
            if len(value) != 1 or not set(value) <= set(KINDS):
                self.refuse(f"source must be a text, or have one entry of {comma_list(KINDS)}; got {shown(value)}")
            kind, stated = next(iter(value.items()))
        text = "" if value is None else self._text(stated, "source")
        words = " ".join("".join(letter if letter.isalnum() else " " for letter in text.casefold()).split())
        if words in SPENT_NOTHING:
            self.refuse(f"the source must not be {text!r}, the private data itself. {ADVICE}")
        return text if kind == PUBLIC else f"{kind}: {text}"

    def truth(self, key: str) -> bool:
        """Reads true or false; false where there is none."""
        value = self.value(key)
        if value is not None and not isinstance(value, bool):
            self.refuse(f"{key} must be true or false; got {shown(value)}")
        return bool(value)

    def whole(self, key: str, *, least: int) -> int | None:
        """Reads a whole number of at least something, None where there is none."""
        value = self.value(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            self.refuse(f"{key} must be a whole number of at least {least}; got {shown(value)}")
        return value

    def one_of(self, key: str, allowed: Sequence[str], *, usual: str) -> str:
        """Reads a word out of a list; ``usual`` where the entry is left out."""
        word = self.text(key) or usual
        if word in allowed:
            return word
        usual_word = OTHER_WORDS.get(word.casefold(), word.casefold())
        hint = did_you_mean(usual_word, allowed, "; did you mean {!r}?")
        return self.refuse(f"{key} must be one of {comma_list(allowed)}; got {word!r}{hint}")

    def known(self, name: str, columns: Sequence[str], what: str) -> str:
        """Refuses a name that no column has, and returns the others."""
        if name not in columns:
            self.refuse(f"{what} names {name!r}, which is no column: {comma_list(columns)}")
        return name

    def texts(self, key: str) -> tuple[str, ...]:
        """Reads a list of texts; one text stands for a list of one."""
        value = self.value(key)
        parts = [] if value is None else [value] if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            self.refuse(f"{key} must be a list of texts; got {shown(value)}")
        return tuple(self._text(part, key) for part in parts)

    def inner(self, key: str) -> Entries | None:
        """Reads a mapping, None where there is none."""
        value = self.value(key)
        return None if value is None else Entries.read(value, f"{self.where}, {key}" if self.where != TOP else key)

    def facts(self, key: str) -> tuple[Fact, ...]:
        """Reads a list of public facts, each with its source."""
        value = self.value(key)
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            self.refuse(f"{key} must be a list of entries such as {{what: …, source: …}}; got {shown(value)}")
        return tuple(_fact(Entries.read(part, f"{key}, entry {place}")) for place, part in enumerate(value, 1))

    def dates(self, key: str) -> tuple[datetime.date, ...]:
        """Reads a date, or a first and a last one."""
        value = self.value(key)
        parts = [] if value is None else value if isinstance(value, list | tuple) else [value]
        days = tuple(read_date(part, lambda got: self.refuse(f"{key} {got}")) for part in parts)
        if len(days) > 2 or list(days) != sorted(days):
            self.refuse(f"{key} must be a date, or the first and the last one, in order; got {shown(value)}")
        return days

    def done(self) -> None:
        """Refuses entries that nobody asked for, with what may have been meant."""
        for key, value in self.given.items():
            if key not in self.asked:
                meant = did_you_mean(key, self.asked, "did you mean {!r}?")
                hint = meant or f"known here: {', '.join(sorted(self.asked))}"
                comma = "" if meant or value is not None else ". A text with a comma inside {…} needs quotes"
                self.refuse(f"there is no entry {shown(key)}; {hint}{comma}")


TOP = "at the top"
"""The place of the outermost mapping."""


def _fact(entries: Entries) -> Fact:
    fact = Fact(entries.needed("what", "say what is known"), entries.source("it is"))
    entries.done()
    return fact


def read_date(value: object, refuse: Callable[[str], NoReturn]) -> datetime.date:
    """Reads a day as YYYY-MM-DD, or as a date of Python."""
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    try:
        if isinstance(value, str) and DAY.fullmatch(value):
            return datetime.date.fromisoformat(value)
    except ValueError:
        pass
    return refuse(f"must be a date such as 2026-01-31; got {shown(value)}")


def read_moment(value: object, refuse: Callable[[str], NoReturn]) -> datetime.datetime:
    """Reads a moment without a zone, such as 2026-01-31T23:59:59.999999, or as a datetime of Python."""
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        return value.replace(fold=0)
    try:
        if isinstance(value, str) and MOMENT.fullmatch(value):
            return datetime.datetime.fromisoformat(value)
    except ValueError:
        pass
    return refuse(f"must be a moment without a zone, such as 2026-01-31T23:59:59; got {shown(value)}")


def source_tree(source: str) -> str | dict[str, str]:
    """A source as it was written: a text, or its kind and a text."""
    kind, mark, text = source.partition(": ")
    return {kind: text} if mark and kind in (RELEASE, PREPROCESSING) and text.strip() == text != "" else source


def storable(text: str) -> bool:
    """Tells whether a text can be written down: half of a surrogate pair cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def comma_list(words: Sequence[object]) -> str:
    """Joins words with commas."""
    return ", ".join(map(str, words))


def number_text(value: Fraction) -> int | Decimal | str:
    """A rational as people write it: a whole number, a decimal where it is one, else a fraction."""
    if value.denominator == 1:
        return int(value)
    rest, places = value.denominator, 0
    while rest % 10 == 0 or rest % 5 == 0 or rest % 2 == 0:
        rest = rest // 10 if rest % 10 == 0 else rest // 5 if rest % 5 == 0 else rest // 2
        places += 1
    if rest != 1 or places > 30:
        return str(value)
    return Decimal(f"{int(value * 10**places)}e-{places}")
