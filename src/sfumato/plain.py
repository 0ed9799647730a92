"""The one plain form: what JSON can hold, without floats, from which the same value comes back.

Everything that is stored or compared is written with the tools here: events, losses and noises (`accounting.codec`),
releases (`release.codec`), notes in ledgers, and plans, by which the same question is known again (`core.plan`). A
`Form` says how each class is written, and how each shape of JSON is read. Rules that never change: no name, word or
field is removed, none changes its meaning; what is unknown is refused. Reading runs no code but the classes that were
registered with `record`, which check everything again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from fractions import Fraction
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, TypeAlias, TypeVar, dataclass_transform, final

from sfumato.errors import BadArgument, SfumatoError, UnknownFormat
from sfumato.exact import Root, root

Plain: TypeAlias = "bool | int | str | list[Plain] | dict[str, Plain] | None"

DEEPEST = 160
"""Lists, dictionaries and records may lie this deep inside each other."""

LARGEST = 1 << 26
"""The greatest length of a text that is read, in characters."""

LOG_2, MOST_DIGITS = math.log10(2), 4000
"""A rational with more decimal digits is written in hexadecimal, which takes no long division."""

_DECIMAL = re.compile(r"-?[0-9]+(/[0-9]+)?")
_HEXADECIMAL = re.compile(r"-?[0-9a-f]+/[0-9a-f]+")

Part: TypeAlias = Callable[[Any], Any]
"""Writes, or reads, a part of a value."""

Rule: TypeAlias = Callable[[Any, Part], Any]
"""Writes a value of one class, or reads one shape of JSON, given how its parts are written or read."""

Kind = TypeVar("Kind", bound=type)


@final
@dataclass(frozen=True)
class Form:
    """A set of rules: how values of each class are written, and how each shape of JSON is read.

    ``what`` must be ``must``: so says the refusal of what has no form. ``other`` writes what is in no table.
    """

    what: str
    must: str
    writers: Mapping[type, Rule]
    readers: Mapping[type, Rule]
    other: Rule

    def write(self, value: object) -> Any:
        """Writes a value; refuses one that has no form."""
        try:
            return self._write(value, DEEPEST)
        except RecursionError:
            raise BadArgument(self.what, f"nested at most {DEEPEST} deep", "more levels") from None

    def read(self, plain: object) -> Any:
        """Reads what `write` gave; refuses what is of no known shape."""
        try:
            return self._read(plain, DEEPEST)
        except RecursionError:
            raise UnknownFormat(f"it is nested more than {DEEPEST} deep") from None

    def _write(self, value: object, depth: int) -> Any:
        if not depth:
            raise RecursionError
        rule = self.writers.get(type(value), self.other)
        return rule(value, lambda part: self._write(part, depth - 1))

    def _read(self, plain: object, depth: int) -> Any:
        if not depth:
            raise RecursionError
        rule = self.readers.get(type(plain))
        if rule is None:
            raise UnknownFormat("it holds something of no known shape")
        return rule(plain, lambda part: self._read(part, depth - 1))


def same(value: Any, part: Part) -> Any:
    """Writes or reads what JSON has a form of its own for."""
    return value


# Records, by names that they keep for ever.


@final
@dataclass(frozen=True)
class Registered:
    """A class that can be stored; the field in ``spread``, if any, is made of its positional arguments."""

    kind: type
    names: tuple[str, ...]
    spread: str | None

    def make(self, parts: dict[str, Any]) -> object:
        """Makes the record of these fields; the class checks them."""
        positional = parts.pop(self.spread) if self.spread else ()
        return self.kind(*positional, **parts)


RECORDS: dict[str, Registered] = {}
"""Every class that is stored by its fields, under the name it keeps for ever; filled at import."""

NAMES: dict[type, str] = {}

ENUMS: dict[str, type[Enum]] = {}


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(name: str, *, spread: str | None = None, repr: bool = True) -> Callable[[Kind], Kind]:
    """Makes a class a frozen record, stored under a name that it keeps for ever.

    A name is never given to another class, and no class is looked up by its module.
    """

    def register(kind: Kind) -> Kind:
        made: Any = dataclass(frozen=True, repr=repr)(kind)
        RECORDS[_given(name, made)] = Registered(made, tuple(part.name for part in fields(made)), spread)
        return kind

    return register


def word(name: str) -> Callable[[Kind], Kind]:
    """Stores the members of an enumeration under a word that it keeps for ever."""

    def register(kind: Kind) -> Kind:
        ENUMS[_given(name, kind)] = kind
        return kind

    return register


def _given(name: str, kind: type) -> str:
    if name in RECORDS or name in ENUMS:
        raise BadArgument("a stored name", "given once, to one class", name)
    NAMES[kind] = name
    return name


HOMES: list[ModuleType] = []
"""Packages in which classes register themselves: all of each is imported when a name is read that is not known yet."""


def load(package: ModuleType) -> None:
    """Imports every module of a package, so that all that registers itself there is known."""
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)


def registered(name: str) -> Registered | None:
    """The class of a name; imports the packages in `HOMES` until it is known. None where it is in none of them."""
    while name not in RECORDS and HOMES:
        load(HOMES.pop())
    return RECORDS.get(name)


def _record(value: object, part: Part) -> Plain:
    if type(value) is float and value == math.inf:
        return "inf"
    name = NAMES.get(type(value))
    if name is None:
        raise BadArgument(RECORD.what, RECORD.must, type(value).__name__)
    if isinstance(value, Enum):
        return {name: value.value}
    return {"kind": name, **{field: part(getattr(value, field)) for field in RECORDS[name].names}}


def _read_record(plain: dict[str, Any], part: Part) -> object:
    if "kind" not in plain:
        return _read_word(plain, part)
    name = plain["kind"]
    known = registered(name) if isinstance(name, str) else None
    if known is None:
        short = isinstance(name, str) and len(name) <= 40
        raise UnknownFormat(f"its kind {repr(name) if short else '(no short text)'} is unknown")
    if plain.keys() != {"kind", *known.names}:
        raise UnknownFormat(f"a {name} has the fields {', '.join(known.names)} and no others")
    parts = {field: part(plain[field]) for field in known.names}
    try:
        return known.make(parts)
    except UnknownFormat:
        raise
    except (SfumatoError, TypeError, ValueError, AttributeError, ArithmeticError) as refusal:
        raise UnknownFormat(f"no {name} has such fields ({type(refusal).__name__})") from refusal


def _read_word(plain: dict[str, Any], part: Part) -> object:
    match list(plain.items()):
        case [("text", str(text))]:
            return text
        case [("hexadecimal", str(text))]:
            return _rational(text, _HEXADECIMAL, 16)
        case [("root", inner)]:
            square = part(inner)
            if isinstance(square, Fraction) and square > 0 and isinstance(found := root(square), Root):
                return found
            raise UnknownFormat("a root in it is of no positive rational, or is rational itself")
        case [(word, str(text))] if word in ENUMS and text in [member.value for member in ENUMS[word]]:
            return ENUMS[word](text)
    raise UnknownFormat("it holds a dictionary without a kind")


RECORD = Form(
    "what is written",
    "an event, a loss or another public record of accounting",
    writers={
        **dict.fromkeys((bool, int), same),
        str: lambda value, part: {"text": value},
        Fraction: lambda value, part: digits(value),
        Root: lambda value, part: {"root": digits(value.square)},
        tuple: lambda value, part: [part(inner) for inner in value],
    },
    readers={
        **dict.fromkeys((bool, int), same),
        str: lambda text, part: math.inf if text == "inf" else _rational(text, _DECIMAL, 10),
        list: lambda parts, part: tuple([part(inner) for inner in parts]),
        dict: _read_record,
    },
    other=_record,
)
"""Registered records: a rational is ``"3/10"``, infinity ``"inf"``, a square root ``{"root": "2"}``, a text
``{"text": "…"}``, a member of an enumeration its word and value, a record its kind and its fields."""


def digits(value: Fraction) -> Plain:
    """Writes a rational in lowest terms.

    >>> digits(Fraction(3, 10)), digits(Fraction(7))
    ('3/10', '7')
    """
    top, bottom = value.as_integer_ratio()
    if max(top.bit_length(), bottom.bit_length()) * LOG_2 < MOST_DIGITS - 1:
        return str(top) if bottom == 1 else f"{top}/{bottom}"
    return {"hexadecimal": f"{top:x}/{bottom:x}"}


def _rational(text: str, shape: re.Pattern[str], base: int) -> Fraction:
    """Reads a rational in lowest terms, the one way in which it is written."""
    if not shape.fullmatch(text) or (base == 10 and len(text) > 2 * MOST_DIGITS + 2):
        raise UnknownFormat("a text in it stands where a number should")
    top, _, bottom = text.partition("/")
    below = int(bottom, base) if bottom else 1
    if below == 0:
        raise UnknownFormat("a number in it divides by zero")
    value = Fraction(int(top, base), below)
    if digits(value) != (text if base == 10 else {"hexadecimal": text}):
        raise UnknownFormat("a number in it is not written in lowest terms")
    return value


# Layouts: records that are no part of another form, each with its own fields.


@final
@dataclass(frozen=True)
class Field:
    """How one field is written, and read again."""

    write: Callable[[Any], Plain]
    read: Callable[[Any], Any]


def exactly(kind: type, name: str) -> Field:
    """Takes what JSON has a form of its own for, and nothing else."""

    def read(plain: object) -> object:
        if type(plain) is not kind:
            raise UnknownFormat(f"something else stands where {name} should")
        return plain

    return Field(lambda value: value, read)


TEXT, FLAG, WHOLE = exactly(str, "a text"), exactly(bool, "true or false"), exactly(int, "a whole number")
LIST = exactly(list, "a list")


def optional(field: Field) -> Field:
    """Writes None as itself."""
    return Field(
        lambda value: None if value is None else field.write(value),
        lambda plain: None if plain is None else field.read(plain),
    )


def listed(field: Field) -> Field:
    """Writes a tuple of equal fields."""
    return Field(
        lambda values: [field.write(value) for value in values],
        lambda plain: tuple([field.read(part) for part in LIST.read(plain)]),
    )


def member(kind: type[Enum]) -> Field:
    """Writes a member of an enumeration by its name."""

    def read(plain: object) -> Enum:
        if TEXT.read(plain) not in kind.__members__:
            raise UnknownFormat(f"it names no {kind.__name__}")
        return kind[str(plain)]

    return Field(lambda value: value.name, read)


def row(*parts: Field, make: Callable[..., Any]) -> Field:
    """Writes a record, or a tuple, as a list of its fields in order."""

    def write(value: Any) -> Plain:
        values = value if isinstance(value, tuple) else [getattr(value, part.name) for part in fields(value)]
        return [part.write(inner) for part, inner in zip(parts, values, strict=True)]

    def read(plain: object) -> Any:
        values = LIST.read(plain)
        if len(values) != len(parts):
            raise UnknownFormat(f"a list in it has not {len(parts)} parts")
        return make(*[part.read(inner) for part, inner in zip(parts, values, strict=True)])

    return Field(write, read)


def layout(
    make: Callable[..., Any], what: str, parts: Mapping[str, Field], later: Mapping[str, Field] | None = None
) -> Field:
    """Writes a record as a dictionary of its fields; of those that came ``later``, what says something.

    Where a later field is not there it says nothing: what was stored before is read as it always was.
    """
    known = {**parts, **(later or {})}

    def write(value: object) -> Plain:
        said = {name: getattr(value, name) for name in known}
        return {name: known[name].write(part) for name, part in said.items() if name in parts or part}

    def read(plain: object) -> Any:
        if not isinstance(plain, dict) or not parts.keys() <= plain.keys() <= known.keys():
            raise UnknownFormat(f"a {what} has the fields {', '.join(known)} and no others")
        return make(**{name: known[name].read(part) for name, part in plain.items()})

    return Field(write, read)


# Headers and JSON.


def without_header(plain: object, name: str, version: int) -> dict[str, Any]:
    """Strips the header and returns what stands under it; refuses other formats and other versions."""
    if not isinstance(plain, dict):
        raise UnknownFormat("it is no dictionary")
    if plain.get("format") != name:
        raise UnknownFormat(f"its format is not {name!r}")
    if type(plain.get("version")) is not int or plain["version"] != version:
        raise UnknownFormat(f"its version is not {version}")
    return {key: part for key, part in plain.items() if key not in ("format", "version")}


def parsed(text: object) -> Any:
    """Reads JSON that holds no float, no huge number and no key twice."""
    if not isinstance(text, str) or len(text) > LARGEST:
        raise UnknownFormat(f"it is no text of at most {LARGEST} characters")
    try:
        return json.loads(
            text, parse_float=_no_float, parse_constant=_no_float, parse_int=_small, object_pairs_hook=_no_twins
        )
    except UnknownFormat:
        raise
    except (ValueError, RecursionError):
        raise UnknownFormat("it is no JSON, or nested too deep") from None


def _no_float(text: str) -> object:
    raise UnknownFormat("it holds a floating-point number; rationals are written as texts")


def _small(text: str) -> int:
    if len(text) > 400:
        raise UnknownFormat("it holds a whole number of more than 400 digits")
    return int(text)


def _no_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise UnknownFormat("it says something twice")
    return found
