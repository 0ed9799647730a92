"""Reading texts in Polars: which forms of numbers, truth values, days and times there are. Each is one of one value.

The second table of docs/semantics.md. Numbers are taken apart into digits, days and times into whole numbers, so that
nothing of Polars' own readers decides what reads. A form that could mean two things (01/02/2012, 1,5) is none, unless
the codebook says how it is written (``format``, ``decimal``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import polars as pl

from sfumato.query.engines.polars.moments import A_DAY, days_of, length_of_month, of_microseconds, to_date
from sfumato.query.engines.polars.patterns import literally
from sfumato.query.engines.polars.scope import Piece, Scope
from sfumato.query.engines.polars.whole_numbers import finite, negative, to_whole
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators.time import MONTHS

BLANK = " \t\n\v\f\r"
MISSING = ("", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none")
"""Words for a missing value, in any case, in columns of anything but texts."""

NUMBER = "^[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9]+)?$"
PARTS = "^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]+))?$"
SHORT = "^(?:0|-?[1-9][0-9]{0,37})$"
"""Whole numbers that name themselves."""

LONGEST_WHOLE, MOST_DIGITS = 38, 19
MOST_POWER = 10**15

TRUE, FALSE = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")

ZONE = "Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?"
MOMENT = (
    "^(?:(?P<Y>[0-9]{4})(?:-(?P<m>[0-9]{1,2})-(?P<d>[0-9]{1,2})|/(?P<m2>[0-9]{1,2})/(?P<d2>[0-9]{1,2}))"
    f"(?:[ T](?P<H>[0-9]{{1,2}}):(?P<M>[0-9]{{2}})(?::(?P<S>[0-9]{{2}})(?:[.](?P<f>[0-9]+))?)? ?(?P<z>{ZONE})?)?"
    "|(?P<Y2>[0-9]{4})(?P<m3>[0-9]{2})(?P<d3>[0-9]{2}))$"
)

NAMES = "|".join(MONTHS)
ABBREVIATED = "|".join(name[:3] for name in MONTHS)
LETTERS = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    **dict.fromkeys("mdHIMS", "[0-9]{1,2}"),
    "j": "[0-9]{1,3}",
    "f": "[0-9]{1,6}",
    "b": f"(?i:{ABBREVIATED})",
    "B": f"(?i:{NAMES})",
    "p": "(?i:AM|PM)",
}
"""What each letter of a form (`Facts.written`) stands for."""

WHOLE = pl.Int64()

_Texts: TypeAlias = Callable[..., "pl.Expr | None"]
"""The first of some groups of a pattern that there are, by their names; None, where the pattern has none of them."""


class Digits(NamedTuple):
    """A number as sign, digits without zeros around them, and power of ten: two are equal if all three are."""

    sign: Piece
    digits: Piece
    power: Piece


def trimmed(text: Piece, kind: Kind, scope: Scope, written: str = "") -> Piece:
    """A text without blanks around it; numbers with the sign before decimals that is read here."""
    if not written or not kind.numeric:
        return scope.named(scope.fill(lambda one: one.str.strip_chars(BLANK), text, times=1))

    def with_point(one: pl.Expr) -> pl.Expr:
        bare = one.str.strip_chars(BLANK).str.replace_all(written, ".", literal=True)
        return pl.when(~one.str.contains(".", literal=True)).then(bare)

    return scope.named(scope.fill(with_point, text))


def of_text(text: Piece, kind: Kind, scope: Scope, written: str = "") -> Piece:
    """Reads texts as a kind that is no text; missing where they are none of its values."""
    bare = trimmed(text, kind, scope, written)
    match kind:
        case Kind.INT:
            return _whole(bare, scope)
        case Kind.FLOAT:
            return scope.fill(_float, bare, times=6)
        case Kind.BOOL:
            return scope.fill(_truth, bare, times=4)
    moment = moment_of(bare, scope, written if kind.temporal else "")
    return moment if kind is Kind.TIME else scope.fill(lambda one: to_date(one, Kind.TIME), moment, times=3)


def is_missing_word(text: pl.Expr) -> pl.Expr:
    """Tells whether a text is a word for a missing value."""
    return text.str.strip_chars(BLANK).str.to_lowercase().is_in(MISSING)


def _number(text: pl.Expr) -> pl.Expr:
    return text.cast(WHOLE, strict=False)


def _wide(text: pl.Expr) -> pl.Expr:
    return text.cast(pl.Int128, strict=False)


def _float(bare: pl.Expr) -> pl.Expr:
    digits = pl.when(bare.str.contains(NUMBER)).then(bare.str.strip_prefix("+"))
    return finite(digits.cast(pl.Float64, strict=False))


def _truth(bare: pl.Expr) -> pl.Expr:
    word = bare.str.to_lowercase()
    return pl.when(word.is_in(TRUE)).then(pl.lit(True)).when(word.is_in(FALSE)).then(pl.lit(False))


def digits_of(bare: Piece, scope: Scope) -> Digits:
    """Takes numbers apart; missing where a text is none."""
    number = scope.fill(lambda one: pl.when(one.str.contains(NUMBER)).then(one), bare)
    groups = scope.named(scope.fill(lambda one: one.str.extract_groups(PARTS), number, times=1))

    def field(place: int) -> Piece:
        return scope.fill(lambda group: group.struct.field(str(place)).fill_null(""), groups, times=1)

    whole, rest, raised = field(2), field(3), field(4)
    there = scope.fill(lambda one: pl.when(one.is_not_null()).then(pl.lit("", dtype=pl.String)), number, times=1)
    long = scope.named(scope.fill(lambda none, a, b: (none + a + b).str.strip_chars_start("0"), there, whole, rest))
    power = scope.fill(_power, raised, times=3)
    digits = scope.named(scope.fill(lambda one: one.str.strip_chars_end("0"), long, times=1))
    last = scope.fill(lambda one, b, a, c: one - _size(b) + _size(a) - _size(c), power, rest, long, digits, times=1)
    sign = scope.fill(lambda group: pl.when(group == "-").then(pl.lit("-")).otherwise(pl.lit("")), field(1), times=1)
    return Digits(sign, digits, scope.named(last))


def _power(raised: pl.Expr) -> pl.Expr:
    """The power of ten that is written; of one beyond all numbers, one that is."""
    number = _number(raised.str.strip_prefix("+"))
    far = pl.when(raised.str.starts_with("-")).then(-MOST_POWER).otherwise(MOST_POWER)
    near = pl.when(number.is_between(-MOST_POWER, MOST_POWER)).then(number).otherwise(far)
    return pl.when(raised == "").then(pl.lit(0, dtype=WHOLE)).otherwise(near)


def _size(text: pl.Expr) -> pl.Expr:
    return text.str.len_bytes().cast(WHOLE)


def _whole(bare: Piece, scope: Scope) -> Piece:
    """Numbers as whole ones of 64 bits, rounded to the even one of two."""
    sign, digits, power = digits_of(bare, scope)
    before = scope.named(scope.fill(lambda text, by: _size(text) + by, digits, power))
    inside = scope.named(scope.fill(lambda many: many.clip(0, MOST_DIGITS), before, times=1))
    zeros = "0" * MOST_DIGITS
    base = scope.named(
        scope.fill(
            lambda text, many: ("0" + (text + zeros).str.head(many)).cast(pl.Int128, strict=False), digits, inside
        )
    )
    behind = scope.named(scope.fill(lambda text, many: text.str.slice(many), digits, inside))

    def rounded(sign: pl.Expr, text: pl.Expr, many: pl.Expr, whole: pl.Expr, rest: pl.Expr) -> pl.Expr:
        up = (rest > "5") | ((rest == "5") & (whole % 2 == 1))
        size = whole + up.cast(pl.Int128)
        signed = pl.when(sign == "-").then(negative(size)).otherwise(size)
        nothing = pl.lit(0, dtype=pl.Int128)
        small = pl.when((text == "") | (many < 0)).then(nothing).when(many <= MOST_DIGITS).then(signed)
        return to_whole(small)

    return scope.fill(rounded, sign, digits, before, base, behind, times=4)


def exact_number(bare: Piece, scope: Scope) -> Piece:
    """A number as a text that is the same for equal numbers only, however many digits they have: whole ones in full."""
    sign, digits, power = digits_of(bare, scope)
    zeros = "0" * LONGEST_WHOLE

    def shown(bare: pl.Expr, sign: pl.Expr, text: pl.Expr, by: pl.Expr) -> pl.Expr:
        full = sign + text + pl.lit(zeros).str.head(by.clip(0, LONGEST_WHOLE))
        other = sign + text + "e" + by.cast(pl.String)
        short = pl.when((by >= 0) & (by <= LONGEST_WHOLE - _size(text))).then(full).otherwise(other)
        made = pl.when(text == "").then(pl.when(text.is_not_null()).then(pl.lit("0"))).otherwise(short)
        return pl.when(bare.str.contains(SHORT)).then(bare).when(text.is_not_null()).then(made)

    return scope.fill(shown, bare, sign, digits, power, times=6)


def moment_of(bare: Piece, scope: Scope, written: str = "") -> Piece:
    """Texts as times; missing where they are none."""
    pattern = form_of(written) if written else MOMENT
    known = re.findall("[?]P<([A-Za-z0-9]+)>", pattern)
    groups = scope.named(scope.fill(lambda one: one.str.extract_groups(pattern), bare, times=1))

    def text(*names: str) -> pl.Expr | None:
        fields = [groups.made.struct.field(name) for name in names if name in known]
        return pl.coalesce(*fields) if fields else None

    def named(made: pl.Expr) -> Piece:
        return scope.named(Piece(made, groups.level, 4))

    year, month, day = named(_year(text)), named(_month(text)), named(_whole_or(text("d", "d2", "d3"), 1))
    clock, zone, dated = named(_clock(text)), named(_offset(text("z"))), text("j")
    there = pl.coalesce(*(groups.made.struct.field(name) for name in known))

    def moment(year: pl.Expr, month: pl.Expr, day: pl.Expr, clock: pl.Expr, zone: pl.Expr) -> pl.Expr:
        days = days_of(year, month, day)
        valid = month.is_between(1, 12) & day.is_between(1, length_of_month(year, month)) & (year >= 1)
        if dated is not None:
            number = _whole_or(dated, 1)
            days = days_of(year, pl.lit(1), pl.lit(1)) + number - 1
            valid = (year >= 1) & number.is_between(1, 365 + (length_of_month(year, pl.lit(2)) - 28))
        return of_microseconds(pl.when(valid & there.is_not_null()).then(days * A_DAY + clock - zone))

    return scope.fill(moment, year, month, day, clock, zone, times=12)


def form_of(written: str) -> str:
    """The pattern of days and times in the letters of strptime; each letter is a group once."""
    made, seen = "", set[str]()
    for part in re.split("(%[A-Za-z])", written):
        letter = part[1:] if re.fullmatch("%[A-Za-z]", part) else ""
        if not letter:
            made += "".join(map(literally, part))
        else:
            made += f"(?:{LETTERS[letter]})" if letter in seen else f"(?P<{letter}>{LETTERS[letter]})"
            seen.add(letter)
    return f"^{made}$"


def _whole_or(text: pl.Expr | None, otherwise: int) -> pl.Expr:
    made = pl.lit(otherwise, dtype=WHOLE)
    return made if text is None else pl.when(text.is_null()).then(made).otherwise(_number(text))


def _year(text: _Texts) -> pl.Expr:
    four, two = text("Y", "Y2"), text("y")
    if four is not None or two is None:
        return _whole_or(four, 1900)
    short = _number(two)
    return pl.when(short < 69).then(short + 2000).otherwise(short + 1900)


def _month(text: _Texts) -> pl.Expr:
    name = text("b", "B")
    if name is None:
        return _whole_or(text("m", "m2", "m3"), 1)
    words = [month[:3].lower() for month in MONTHS]
    place = pl.lit(0, dtype=WHOLE)
    for number, word in enumerate(words, start=1):
        place = place + (name.str.to_lowercase().str.starts_with(word)).cast(WHOLE) * number
    return place


def _clock(text: _Texts) -> pl.Expr:
    """The microseconds since midnight; missing where there is no such time."""
    hour, half = _whole_or(text("H"), 0), text("p")
    valid = hour.is_between(0, 23)
    if (short := text("I")) is not None:
        twelve = _number(short)
        valid = twelve.is_between(1, 12)
        late = pl.lit(0, dtype=WHOLE) if half is None else (half.str.to_lowercase() == "pm").cast(WHOLE) * 12
        hour = twelve % 12 + late
    minute, second, rest = _whole_or(text("M"), 0), _whole_or(text("S"), 0), text("f")
    valid = valid & minute.is_between(0, 59) & second.is_between(0, 59)
    fraction = pl.lit(0, dtype=WHOLE) if rest is None else _number((rest.fill_null("") + "000000").str.head(6))
    return pl.when(valid).then(((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction)


def _offset(zone: pl.Expr | None) -> pl.Expr:
    """How many microseconds a zone is ahead."""
    if zone is None:
        return pl.lit(0, dtype=WHOLE)
    digits = (zone.str.slice(1).str.replace(":", "", literal=True) + "0000").str.head(4)
    minutes = _number(digits.str.head(2)) * 60 + _number(digits.str.slice(2))
    ahead = pl.when(zone.str.starts_with("-")).then(negative(minutes)).otherwise(minutes)
    signed = zone.str.contains("^[+-]")
    return pl.when(signed.fill_null(False)).then(ahead * 60_000_000).otherwise(0)
