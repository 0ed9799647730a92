"""One plain form for everything public in accounting: events, losses, curves, pairs, noises, relations.

Version 1 of the format: a record is its kind and its fields. A rational is ``"3/10"``, infinity ``"inf"``, a square
root ``{"root": "2"}``, text ``{"text": "…"}``, a relation ``{"relation": "add/remove"}``. Rules that never change: no
kind and no field is removed, none changes its meaning, none becomes required; what is unknown is refused. Reading runs
no code but the constructors listed in `records`, which check everything again.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from sfumato.accounting.records import NAMES, RECORDS
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, SfumatoError, UnknownFormat
from sfumato.exact import Root, root

FORMAT, VERSION = "sfumato/accounting", 1

DEEPEST = 80
"""Records may lie this deep inside each other."""

LARGEST = 1 << 26
"""The greatest length of a text that is read, in characters."""

MOST_DIGITS = 4000
"""A rational with more decimal digits is written in hexadecimal, which takes no long division."""

Plain: TypeAlias = "bool | int | str | list[Plain] | dict[str, Plain]"
"""What JSON can hold, without floats."""

_DECIMAL = re.compile(r"-?[0-9]+(/[0-9]+)?")
_HEXADECIMAL = re.compile(r"-?[0-9a-f]+/[0-9a-f]+")


def to_plain(value: object) -> dict[str, Plain]:
    """Gives an event, a loss or another public record as dictionaries, lists, texts and whole numbers.

    >>> from sfumato.accounting.events import Laplace
    >>> to_plain(Laplace(scale=2.5))
    {'format': 'sfumato/accounting', 'version': 1, 'kind': 'Laplace', 'scale': '5/2', 'shift': '1'}
    """
    return {"format": FORMAT, "version": VERSION, **_record(value, DEEPEST)}


def plain_record(value: object) -> dict[str, Plain]:
    """Gives a public record as `to_plain` does, without the header, for those who write one header for many records."""
    return _record(value, DEEPEST)


def from_plain(plain: object) -> object:
    """Reads what `to_plain` wrote; refuses every format, version, kind or field that it does not know."""
    if not isinstance(plain, dict):
        raise UnknownFormat("it is no dictionary")
    rest = dict(plain)
    if rest.pop("format", None) != FORMAT:
        raise UnknownFormat(f"its format is not {FORMAT!r}")
    version = rest.pop("version", None)
    if version != VERSION or type(version) is not int:
        raise UnknownFormat(f"its version is not {VERSION}")
    try:
        return _made(rest, DEEPEST)
    except RecursionError:
        raise UnknownFormat(f"it is nested more than {DEEPEST} deep") from None


def to_json(value: object) -> str:
    """Gives a public record as one line of JSON; equal records give equal texts."""
    return json.dumps(to_plain(value), ensure_ascii=False, allow_nan=False)


def from_json(text: str) -> object:
    """Reads what `to_json` wrote."""
    if not isinstance(text, str) or len(text) > LARGEST:
        raise UnknownFormat(f"it is no text of at most {LARGEST} characters")
    try:
        plain = json.loads(
            text, parse_float=_no_float, parse_constant=_no_float, parse_int=_small, object_pairs_hook=_no_twins
        )
    except UnknownFormat:
        raise
    except (ValueError, RecursionError):
        raise UnknownFormat("it is no JSON, or nested too deep") from None
    return from_plain(plain)


def _record(value: object, depth: int) -> dict[str, Plain]:
    name = NAMES.get(type(value))
    if name is None:
        raise BadArgument("what is written", "an event, a loss or another public record of accounting", value)
    if depth == 0:
        raise BadArgument("what is written", f"nested at most {DEEPEST} deep", f"more than {DEEPEST} levels")
    return {"kind": name, **{field: _plain(getattr(value, field), depth - 1) for field in _fields(name)}}


@cache
def _fields(name: str) -> tuple[str, ...]:
    """Names the fields of a kind of record."""
    return tuple(part.name for part in fields(RECORDS[name].record))


def _plain(value: object, depth: int) -> Plain:
    match value:
        case bool() | int():
            return value
        case str():
            return {"text": value}
        case Fraction():
            return _digits(value)
        case Root():
            return {"root": _digits(value.square)}
        case Relation():
            return {"relation": value.value}
        case tuple():
            return [_plain(part, depth) for part in value]
        case float() if value == math.inf:
            return "inf"
    return _record(value, depth)


def _digits(value: Fraction) -> Plain:
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits * math.log10(2) < MOST_DIGITS - 1:
        return str(value)
    return {"hexadecimal": f"{value.numerator:x}/{value.denominator:x}"}


def _made(plain: dict[object, object], depth: int) -> object:
    name = plain.get("kind")
    maker = RECORDS.get(name) if isinstance(name, str) else None
    if maker is None:
        raise UnknownFormat(f"its kind {_named(name)} is unknown")
    if depth == 0:
        raise UnknownFormat(f"it is nested more than {DEEPEST} deep")
    known = _fields(str(name))
    given = [key for key in plain if key != "kind"]
    if set(given) != set(known):
        raise UnknownFormat(f"a {name} has the fields {', '.join(known)} and no others")
    parts = {key: _value(plain[key], depth - 1) for key in known}
    try:
        return maker.make(parts)
    except UnknownFormat:
        raise
    except (SfumatoError, TypeError, ValueError, AttributeError, ArithmeticError) as refusal:
        raise UnknownFormat(f"no {name} has such fields ({type(refusal).__name__})") from refusal


def _value(plain: object, depth: int) -> object:
    match plain:
        case bool() | int():
            return plain
        case "inf":
            return math.inf
        case str():
            return _rational(plain, _DECIMAL, 10)
        case list():
            return tuple(_value(part, depth) for part in plain)
        case dict():
            return _made(plain, depth) if "kind" in plain else _wrapped(plain, depth)
    raise UnknownFormat("it holds something that is neither a whole number, a text, a list nor a record")


def _wrapped(plain: dict[object, object], depth: int) -> object:
    """Reads what JSON has no form of its own for: one word that says what it is, and the thing."""
    match list(plain.items()):
        case [("text", str(text))]:
            return text
        case [("root", inner)]:
            square = _value(inner, depth)
            if isinstance(square, Fraction) and square > 0 and isinstance(found := root(square), Root):
                return found
            raise UnknownFormat("a root in it is of no positive rational, or is rational itself")
        case [("hexadecimal", str(text))]:
            return _rational(text, _HEXADECIMAL, 16)
        case [("relation", str(text))] if text in [relation.value for relation in Relation]:
            return Relation(text)
    raise UnknownFormat("it holds a dictionary without a kind")


def _rational(text: str, shape: re.Pattern[str], base: int) -> Fraction:
    """Reads a rational in lowest terms, the one way in which it is written."""
    if not shape.fullmatch(text) or (base == 10 and len(text) > 2 * MOST_DIGITS + 2):
        raise UnknownFormat("a text in it stands where a number should")
    top, _, bottom = text.partition("/")
    below = int(bottom, base) if bottom else 1
    if below == 0:
        raise UnknownFormat("a number in it divides by zero")
    found = Fraction(int(top, base), below)
    if _digits(found) != (text if base == 10 else {"hexadecimal": text}):
        raise UnknownFormat("a number in it is not written in lowest terms")
    return found


def _named(name: object) -> str:
    return repr(name) if isinstance(name, str) and len(name) <= 40 else "(no short text)"


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
