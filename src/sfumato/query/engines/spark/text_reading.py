"""Reading texts in Spark: which forms of numbers, truth values, days and times there are. Each is one of one value.

The second table of docs/semantics.md, in SQL. A form that could mean two things (01/02/2012, 1,5) is none, unless the
codebook says how it is written (``format``, ``decimal``). Patterns repeat single letters only, which Java matches
without looking back; `\\z` is the end of a text, where `$` would also be before a line end.
"""

from __future__ import annotations

import re

from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators.time import MONTHS, WEEKDAYS

BLANK = "concat(' ', char(9), char(10), char(11), char(12), char(13))"
TRIMMED = f"trim(BOTH {BLANK} FROM {{0}})"
"""A text without the blanks around it."""

MISSING = ("", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none")
"""Words for a missing value, in any case, in columns of anything but texts."""

IS_MISSING = f"lower({TRIMMED}) IN ({', '.join(repr(word) for word in MISSING)})"

NUMBER = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
PARTS = "([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]+))?"

LONGEST_WHOLE = 38
"""Whole numbers of up to this many digits are named in full."""

TRUE, FALSE = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")


def matched(text: str, pattern: str) -> str:
    """The condition that the whole of a text has a form."""
    return f"({text} RLIKE r'\\A(?:{pattern})\\z')"


def let(name: str, value: str, template: str) -> str:
    """A template in which a name stands for something that is worked out once."""
    return f"element_at(transform(array({value}), {name} -> {template}), 1)"


def _part(place: int) -> str:
    return f"regexp_extract({{0}}, r'\\A{PARTS}\\z', {place})"


SCALED = let(
    "part",
    f"named_struct('sign', {_part(1)}, 'whole', {_part(2)}, 'rest', {_part(3)}, 'power', {_part(4)})",
    # All digits from the first that is no zero, and the power of ten of the last of them.
    "named_struct('sign', CASE WHEN part.sign = '-' THEN '-' ELSE '' END,"
    " 'digits', trim(LEADING '0' FROM concat(part.whole, part.rest)),"
    " 'power', CASE WHEN part.power = '' THEN 0L WHEN try_cast(part.power AS BIGINT) BETWEEN -1000000000000000L AND"
    " 1000000000000000L THEN try_cast(part.power AS BIGINT) END - length(part.rest))",
)
NORMAL = let(
    "long",
    SCALED,
    "named_struct('sign', long.sign, 'digits', trim(TRAILING '0' FROM long.digits),"
    " 'power', long.power + length(long.digits) - length(trim(TRAILING '0' FROM long.digits)))",
)
"""A number as sign, digits without zeros around them, and power of ten: two numbers are equal if all three are."""

ZEROS = f"repeat('0', CAST(least(greatest(n.power, 0L), {LONGEST_WHOLE}L) AS INT))"
POINT = "CAST(least(greatest(length(n.digits) + n.power, 0L), CAST(length(n.digits) AS BIGINT)) AS INT)"
BEFORE = f"left(n.digits, {POINT})"
BEHIND = f"substring(n.digits, {POINT} + 1)"
ROUNDED = (
    # Of the digits behind the point the first decides, or those behind it; of a half, whether the whole number is odd.
    "CASE WHEN n.digits = '' OR length(n.digits) + n.power < 0 THEN 0L WHEN length(n.digits) + n.power > 19 THEN NULL"
    f" WHEN n.power >= 0 THEN try_cast(concat(n.sign, n.digits, {ZEROS}) AS BIGINT) ELSE"
    f" try_cast((try_cast(concat('0', {BEFORE}) AS DECIMAL(38, 0))"
    f" + CASE WHEN {BEHIND} > '5' THEN 1 WHEN {BEHIND} = '5'"
    f" AND right({BEFORE}, 1) IN ('1', '3', '5', '7', '9') THEN 1 ELSE 0 END)"
    " * CASE WHEN n.sign = '-' THEN -1 ELSE 1 END AS BIGINT) END"
)
WHOLE = (
    f"CASE WHEN {matched('{0}', '[+-]?[0-9]{{1,18}}')} THEN try_cast({{0}} AS BIGINT)"
    f" WHEN {matched('{0}', NUMBER)} THEN {let('n', NORMAL, ROUNDED)} END"
)
FLOAT = f"CASE WHEN {matched('{0}', NUMBER)} THEN try_cast({{0}} AS DOUBLE) END"
BOOL = (
    f"CASE WHEN lower({{0}}) IN ({', '.join(map(repr, TRUE))}) THEN TRUE"
    f" WHEN lower({{0}}) IN ({', '.join(map(repr, FALSE))}) THEN FALSE END"
)
SHORT = (
    f"CASE WHEN n.digits = '' THEN '0' WHEN n.power BETWEEN 0 AND {LONGEST_WHOLE} - length(n.digits)"
    f" THEN concat(n.sign, n.digits, {ZEROS}) ELSE concat(n.sign, n.digits, 'e', CAST(n.power AS STRING)) END"
)
EXACT = (
    f"CASE WHEN {matched('{0}', '0|-?[1-9][0-9]{{0,' + str(LONGEST_WHOLE - 1) + '}}')} THEN {{0}}"
    f" WHEN {matched('{0}', NUMBER)} THEN {let('n', NORMAL, SHORT)} END"
)
"""A number as a text that is the same for equal numbers only, however many digits they have: whole ones in full."""

DAYS = "([0-9]{{4}})(?:-([0-9]{{1,2}})-([0-9]{{1,2}})|/([0-9]{{1,2}})/([0-9]{{1,2}}))"
CLOCK = "([0-9]{{1,2}}):([0-9]{{2}})(?::([0-9]{{2}})(?:[.]([0-9]+))?)?"
ZONE = "(?: ?(?:Z|UTC|GMT|([+-])([0-9]{{2}})(?::?([0-9]{{2}}))?))?"
LONG = f"{DAYS}(?:[ T]{CLOCK}{ZONE})?"
SHORT_DAY = "([0-9]{{4}})([0-9]{{2}})([0-9]{{2}})"


def _number(form: str, *places: int, otherwise: str = "0") -> str:
    """A number in a text of some form: that of the first of several groups that matched."""
    groups = ", ".join(f"try_cast(regexp_extract({{0}}, r'\\A{form}\\z', {place}) AS INT)" for place in places)
    return f"coalesce({groups}, {otherwise})"


def _moment_of(year: str, month: str, day: str, clock: str, micros: str) -> str:
    """A moment of a day, or nothing where there is no such day or no such time of it."""
    return f"timestampadd(MICROSECOND, {micros}, try_make_timestamp_ntz({year}, {month}, {day}, {clock}))"


def _micros(form: str, place: int) -> str:
    digits = f"regexp_extract({{0}}, r'\\A{form}\\z', {place})"
    return f"coalesce(try_cast(rpad(left({digits}, 6), 6, '0') AS BIGINT), 0L)"


def _second(form: str, place: int) -> str:
    """A second; a 60th one there is not, which Spark would take for the next minute."""
    text = f"regexp_extract({{0}}, r'\\A{form}\\z', {place})"
    return f"CASE WHEN {text} < '60' THEN coalesce(try_cast({text} AS DECIMAL(8, 6)), 0) END"


OFFSET = (
    f"(CASE WHEN regexp_extract({{0}}, r'\\A{LONG}\\z', 10) = '-' THEN 1 ELSE -1 END"
    f" * ({_number(LONG, 11)} * 60 + {_number(LONG, 12)}))"
)
MOMENT = (
    f"CASE WHEN {matched('{0}', LONG)} THEN timestampadd(MINUTE, {OFFSET}, "
    + _moment_of(
        _number(LONG, 1),
        _number(LONG, 2, 4),
        _number(LONG, 3, 5),
        f"{_number(LONG, 6)}, {_number(LONG, 7)}, {_second(LONG, 8)}",
        _micros(LONG, 9),
    )
    + f") WHEN {matched('{0}', SHORT_DAY)} THEN "
    + _moment_of(_number(SHORT_DAY, 1), _number(SHORT_DAY, 2), _number(SHORT_DAY, 3), "0, 0, 0", "0L")
    + " END"
)

FORMS = {Kind.INT: WHOLE, Kind.FLOAT: FLOAT, Kind.BOOL: BOOL, Kind.TIME: MOMENT, Kind.DATE: f"CAST({MOMENT} AS DATE)"}


def as_written(kind: Kind, written: str) -> str:
    """The template of a text as the codebook says that it is written, in the form in which it is read here."""
    if not written or not kind.numeric:
        return TRIMMED
    return f"CASE WHEN NOT contains({{0}}, '.') THEN replace({TRIMMED}, '{written}', '.') END"


LETTERS = {
    "Y": "([0-9]{{4}})", "y": "([0-9]{{2}})", "m": "([0-9]{{1,2}})", "d": "([0-9]{{1,2}})", "j": "([0-9]{{1,3}})",
    "H": "([0-9]{{1,2}})", "I": "([0-9]{{1,2}})", "M": "([0-9]{{1,2}})", "S": "([0-9]{{1,2}})", "f": "([0-9]{{1,6}})",
    "b": "([A-Za-z]{{3}})", "B": "([A-Za-z]{{3,9}})", "a": "([A-Za-z]{{3}})", "A": "([A-Za-z]{{6,9}})",
    "p": "([AaPp][Mm])",
}  # fmt: skip
"""What each letter of a format stands for in a text."""


def reading(kind: Kind, written: str = "") -> str:
    """The template that reads a text, without blanks around it, as a kind that is no text.

    ``written`` is the form of days and times, in the letters of strptime, or the sign before decimals.
    """
    if written and kind.temporal:
        moment = _formatted(written)
        return moment if kind is Kind.TIME else f"CAST({moment} AS DATE)"
    return FORMS[kind]


def _formatted(written: str) -> str:
    """The template of a moment in a format of the codebook."""
    pieces = re.split("%(.)", written)
    letters = pieces[1::2]
    form = "".join(
        LETTERS.get(piece, "%") if place % 2 else "".join(map(_sign, piece)) for place, piece in enumerate(pieces)
    )
    places = {letter: [one for one in letters if one != "%"].index(letter) + 1 for letter in letters if letter != "%"}

    def number(letter: str, otherwise: str) -> str:
        return _number(form, places[letter], otherwise="NULL") if letter in places else otherwise

    def text(letter: str) -> str:
        return f"lower(regexp_extract({{0}}, r'\\A{form}\\z', {places[letter]}))"

    def named(letter: str, words: tuple[str, ...], cut: int | None) -> str:
        listed = ", ".join(repr(word[:cut].lower()) for word in words)
        return f"nullif(CAST(array_position(array({listed}), {text(letter)}) AS INT), 0)"

    year = number("Y", "1900")
    if "y" in places and "Y" not in places:
        year = f"({number('y', '0')} + CASE WHEN {number('y', '0')} < 69 THEN 2000 ELSE 1900 END)"
    month = named("b", MONTHS, 3) if "b" in places else named("B", MONTHS, None) if "B" in places else number("m", "1")
    hour = number("H", "0")
    if "I" in places and "H" not in places:
        twelve = f"CASE WHEN {number('I', '0')} BETWEEN 1 AND 12 THEN {number('I', '0')} % 12 END"
        hour = f"({twelve} + CASE WHEN {text('p')} = 'pm' THEN 12 ELSE 0 END)" if "p" in places else f"({twelve})"
    second = f"CAST(CASE WHEN {number('S', '0')} < 60 THEN {number('S', '0')} END AS DECIMAL(8, 6))"
    micros = _micros(form, places["f"]) if "f" in places else "0L"
    known = [f"{named(letter, WEEKDAYS, cut)} > 0" for letter, cut in (("a", 3), ("A", None)) if letter in places]
    day = number("d", "1")
    moment = _moment_of(year, month, day, f"{hour}, {number('M', '0')}, {second}", micros)
    if "j" in places and not {"d", "m", "b", "B"} & set(places):
        moment = (
            f"CASE WHEN {number('j', '1')} BETWEEN 1 AND 365 + CASE WHEN {year} % 4 = 0 AND ({year} % 100 <> 0 OR"
            f" {year} % 400 = 0) THEN 1 ELSE 0 END THEN timestampadd(DAY, {number('j', '1')} - 1, {moment}) END"
        )
    return f"CASE WHEN {' AND '.join([matched('{0}', form), *known])} THEN {moment} END"


def _sign(sign: str) -> str:
    """A sign of a format as a pattern: in base 16, whatever it is."""
    return f"\\x{{{{{ord(sign):x}}}}}"
