"""Reading texts in DuckDB: which forms of numbers, truth values, days and times there are. Each is one of one value.

The second table of docs/semantics.md, in SQL. A form that could mean two things (01/02/2012, 1,5) is none, unless the
codebook says how it is written (``format``, ``decimal``).
"""

from __future__ import annotations

import re

from sfumato.query.nodes.kinds import Kind

BLANK = "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)"
TRIMMED = f"trim({{0}}, {BLANK})"
"""A text without the blanks around it."""

MISSING = ("", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none")
"""Words for a missing value, in any case, in columns of anything but texts."""

IS_MISSING = f"lower({TRIMMED}) IN ({', '.join(repr(word) for word in MISSING)})"

NUMBER = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
PARTS = "^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]+))?$"

LONGEST_WHOLE = 38
"""Whole numbers of up to this many digits are named in full."""

TRUE, FALSE = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")


def _let(name: str, value: str, template: str) -> str:
    """A template in which a name stands for something that is worked out once."""
    return f"list_transform([{value}], lambda {name}: {template})[1]"


SCALED = _let(
    "part",
    f"regexp_extract({{0}}, '{PARTS}', ['sign', 'whole', 'rest', 'power'])",
    # All digits from the first that is no zero, and the power of ten of the last of them.
    "struct_pack(sign := CASE WHEN part.sign = '-' THEN '-' ELSE '' END, digits := ltrim(part.whole || part.rest, '0'),"
    " power := CASE WHEN part.power = '' THEN 0 WHEN TRY_CAST(part.power AS BIGINT) BETWEEN -1000000000000000 AND"
    " 1000000000000000 THEN TRY_CAST(part.power AS BIGINT) END - strlen(part.rest))",
)
NORMAL = _let(
    "long",
    SCALED,
    "struct_pack(sign := long.sign, digits := rtrim(long.digits, '0'),"
    " power := long.power + strlen(long.digits) - strlen(rtrim(long.digits, '0')))",
)
"""A number as sign, digits without zeros around them, and power of ten: two numbers are equal if all three are."""

ZEROS = f"repeat('0', least(greatest(n.power, 0), {LONGEST_WHOLE}))"
BEFORE = "left(n.digits, greatest(strlen(n.digits) + n.power, 0))"
BEHIND = "substr(n.digits, greatest(strlen(n.digits) + n.power, 0) + 1)"
ROUNDED = (
    # Of the digits behind the point the first decides, or those behind it; of a half, whether the whole number is odd.
    "CASE WHEN n.digits = '' OR strlen(n.digits) + n.power < 0 THEN 0 WHEN strlen(n.digits) + n.power > 19 THEN NULL"
    f" WHEN n.power >= 0 THEN TRY_CAST(n.sign || n.digits || {ZEROS} AS BIGINT) ELSE"
    f" TRY_CAST((TRY_CAST('0' || {BEFORE} AS HUGEINT) + CASE WHEN {BEHIND} > '5' THEN 1 WHEN {BEHIND} = '5'"
    f" AND right({BEFORE}, 1) IN ('1', '3', '5', '7', '9') THEN 1 ELSE 0 END)"
    " * CASE WHEN n.sign = '-' THEN -1 ELSE 1 END AS BIGINT) END"
)
WHOLE = (
    "CASE WHEN regexp_full_match({0}, '[+-]?[0-9]{{1,18}}') THEN TRY_CAST({0} AS BIGINT)"
    f" WHEN regexp_full_match({{0}}, '{NUMBER}') THEN {_let('n', NORMAL, ROUNDED)} END"
)
FLOAT = f"CASE WHEN regexp_full_match({{0}}, '{NUMBER}') THEN TRY_CAST({{0}} AS DOUBLE) END"
BOOL = (
    f"CASE WHEN lower({{0}}) IN ({', '.join(map(repr, TRUE))}) THEN TRUE"
    f" WHEN lower({{0}}) IN ({', '.join(map(repr, FALSE))}) THEN FALSE END"
)
SHORT = (
    f"CASE WHEN n.digits = '' THEN '0' WHEN n.power BETWEEN 0 AND {LONGEST_WHOLE} - strlen(n.digits)"
    f" THEN n.sign || n.digits || {ZEROS} ELSE n.sign || n.digits || 'e' || n.power END"
)
EXACT = (
    f"CASE WHEN regexp_full_match({{0}}, '0|-?[1-9][0-9]{{{{0,{LONGEST_WHOLE - 1}}}}}') THEN {{0}}"
    f" WHEN regexp_full_match({{0}}, '{NUMBER}') THEN {_let('n', NORMAL, SHORT)} END"
)
"""A number as a text that is the same for equal numbers only, however many digits they have: whole ones in full."""

TWO = "[0-9][0-9]"
YEAR = TWO * 2
DAY = f"{YEAR}-{TWO}-{TWO}"
CLOCK = "([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?)"
OFFSET = f"(Z|[+-]{TWO}(:?{TWO})?)"
ISO = (
    "CASE WHEN regexp_full_match({0}, '" + DAY + CLOCK + "?') THEN TRY_CAST({0} AS TIMESTAMP)"
    " WHEN regexp_full_match({0}, '" + DAY + CLOCK + OFFSET + "')"
    " THEN make_timestamp(epoch_us(TRY_CAST({0} AS TIMESTAMPTZ))) END"
)

OTHER_FORMS = (
    ("^([0-9]{{4}})/([0-9]{{1,2}})/([0-9]{{1,2}})($|[ T])", r"\1-\2-\3\4"),
    ("^([0-9]{{4}})([0-9][0-9])([0-9][0-9])$", r"\1-\2-\3"),
    ("^([0-9]{{4}})-([0-9])-", r"\1-0\2-"),
    ("^([0-9]{{4}}-[0-9][0-9])-([0-9])($|[ T])", r"\1-0\2\3"),
    ("^([0-9-]{{10}})[ T] *([0-9]:)", r"\1 0\2"),
    ("(:[0-9][0-9](?:[.][0-9]+)?) ?(?:UTC|GMT|Z)$", r"\1Z"),
    ("(:[0-9][0-9](?:[.][0-9]+)?) ([+-][0-9][0-9])", r"\1\2"),
)
"""Other forms of days and times, and how each is written in ISO 8601."""


def _rewritten(text: str) -> str:
    for form, instead in OTHER_FORMS:
        text = f"regexp_replace({text}, '{form}', '{instead}')"
    return text


MOMENT = (
    f"CASE WHEN regexp_full_match({{0}}, '{DAY}({CLOCK}{OFFSET}?)?') THEN {ISO}"
    f" ELSE {_let('iso', _rewritten('{0}'), ISO.replace('{0}', 'iso'))} END"
)

FORMS = {Kind.INT: WHOLE, Kind.FLOAT: FLOAT, Kind.BOOL: BOOL, Kind.TIME: MOMENT, Kind.DATE: f"CAST({MOMENT} AS DATE)"}


def as_written(kind: Kind, written: str) -> str:
    """The template of a text as the codebook says that it is written, in the form in which it is read here."""
    if not written or not kind.numeric:
        return TRIMMED
    return f"CASE WHEN NOT contains({{0}}, '.') THEN replace({TRIMMED}, '{written}', '.') END"


def reading(kind: Kind, written: str = "") -> str:
    """The template that reads a text, without blanks around it, as a kind that is no text.

    ``written`` is the form of days and times, in the letters of strptime, or the sign before decimals.
    """
    if written and kind.temporal:
        shape = re.sub("%[A-Za-z]", lambda letter: YEAR if letter[0] == "%Y" else ".+", written.replace(".", "[.]"))
        # To DuckDB 31/01/12 is in the year 12, also where years are said to have four digits.
        moment = f"CASE WHEN regexp_full_match({{0}}, '{shape}') THEN try_strptime({{0}}, '{written}') END"
        return moment if kind is Kind.TIME else f"CAST({moment} AS DATE)"
    return FORMS[kind]
