"""Reading texts in PostgreSQL: which forms of numbers, truth values, days and times there are.

The second table of docs/semantics.md, in SQL that never raises: a text is cast once a regular expression has let it
through, and a day is made once its month has it. Numbers of more than 1,000 characters are unread (docs/engines.md).
"""

from __future__ import annotations

from sfumato.query.nodes.kinds import Kind

TRIMMED = "btrim({0}, E' \\t\\n\\x0b\\f\\r')"
"""A text without the blanks around it."""

MISSING = ("", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none")
"""Words for a missing value, in any case, in columns of anything but texts."""

IS_MISSING = f"lower({TRIMMED}) IN ({', '.join(repr(word) for word in MISSING)})"

_MANTISSA = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)"
_SHORT = f"length({{0}}) <= 1000 AND {{0}} ~ '^{_MANTISSA}([eE][+-]?0*[0-9]{{{{1,4}}}})?$'"
"""Numbers that PostgreSQL's decimals have room for, exactly."""

_TINY = f"length({{0}}) <= 1000 AND {{0}} ~ '^{_MANTISSA}[eE]-0*[1-9][0-9]{{{{4,}}}}$'"
_ZERO = "length({0}) <= 1000 AND {0} ~ '^[+-]?(0+([.]0*)?|[.]0+)[eE][+-]?[0-9]+$'"

DECIMAL = f"CASE WHEN {_SHORT} THEN CAST({{0}} AS numeric) WHEN {_TINY} THEN 0 WHEN {_ZERO} THEN 0 END"
"""A number; of those that are smaller than any float, 0."""

EXACT = f"CASE WHEN {_SHORT} THEN CAST(trim_scale(CAST({{0}} AS numeric)) AS text) WHEN {_ZERO} THEN '0' END"
"""A number as a text that is the same for equal numbers only."""

WHOLE_OF_DECIMAL = (
    "CASE WHEN {0} >= -9223372036854775808.5 AND {0} < 9223372036854775807.5"
    " THEN CASE WHEN abs({0} - trunc({0})) = 0.5 AND mod(trunc({0}), 2) = 0 THEN CAST(trunc({0}) AS int8)"
    " ELSE CAST(round({0}) AS int8) END END"
)
"""A decimal as a whole number, of two the even one; missing where that does not fit, or is none."""

_LARGEST = 2**1024 - 2**970
"""Decimals from here on are no floats: they would be rounded to infinity."""

_LEAST = f"{5**1075:01075d}"
"""Decimals up to 0.… with these digits, half of the least float there is, are rounded to 0."""

FLOAT_OF_DECIMAL = (
    f"CASE WHEN {{0}} = 'NaN' OR abs({{0}}) >= {_LARGEST} THEN NULL WHEN abs({{0}}) <= 0.{_LEAST} THEN 0"
    " ELSE CAST({0} AS float8) END"
)

FLOAT_OF_SHORT = "CASE WHEN {0} <> 'NaN' THEN CAST({0} AS float8) END"
"""The same of decimals whose type has few digits."""

_TRUE, _FALSE = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")
BOOL = (
    f"CASE WHEN lower({{0}}) IN ({', '.join(map(repr, _TRUE))}) THEN TRUE"
    f" WHEN lower({{0}}) IN ({', '.join(map(repr, _FALSE))}) THEN FALSE END"
)

_CLOCK = "([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.]([0-9]+))?)? ?(Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?"
_FORM = (
    ("^([0-9]{4})(?:-([0-9]{1,2})-|/([0-9]{1,2})/)([0-9]{1,2})(?:[ T]" + _CLOCK + ")?$")
    .replace("{", "{{")
    .replace("}", "}}")
)
_COMPACT = "^[0-9]{{8}}$"

_LENGTH = (
    "CASE WHEN month IN (4, 6, 9, 11) THEN 30 WHEN month <> 2 THEN 31"
    " WHEN year % 4 = 0 AND (year % 100 <> 0 OR year % 400 = 0) THEN 29 ELSE 28 END"
)
_VALID = (
    "year >= 1 AND month BETWEEN 1 AND 12 AND hour < 24 AND minute < 60 AND second < 60"
    f" AND day BETWEEN 1 AND ({_LENGTH})"
)
_MADE = (
    "make_timestamp(year, month, day, hour, minute, second)"
    " + CAST(left(rpad(coalesce(rest, ''), 6, '0'), 6) AS float8) * CAST('1 microsecond' AS interval)"
    " - make_interval(mins => ahead)"
)
_AHEAD = (
    "CASE WHEN m[9] LIKE '+%' OR m[9] LIKE '-%' THEN CASE WHEN m[9] LIKE '-%' THEN -1 ELSE 1 END"
    " * (60 * CAST(substr(m[9], 2, 2) AS int4)"
    " + CAST(rpad(substr(replace(m[9], ':', ''), 4), 2, '0') AS int4)) ELSE 0 END"
)
_FIELDS = (
    "CAST(m[1] AS int4) AS year, CAST(coalesce(m[2], m[3]) AS int4) AS month, CAST(m[4] AS int4) AS day,"
    " CAST(coalesce(m[5], '0') AS int4) AS hour, CAST(coalesce(m[6], '0') AS int4) AS minute,"
    f" CAST(coalesce(m[7], '0') AS int4) AS second, m[8] AS rest, {_AHEAD} AS ahead"
)
_WRITTEN = (
    f"CASE WHEN {{0}} ~ '{_COMPACT}' THEN substr({{0}}, 1, 4) || '-' || substr({{0}}, 5, 2) || '-' || substr({{0}}, 7)"
    " ELSE {0} END"
)
MOMENT = (
    f"(SELECT CASE WHEN {_VALID} THEN {_MADE} END FROM (SELECT {_FIELDS} FROM (SELECT regexp_match({_WRITTEN},"
    f" '{_FORM}') AS m OFFSET 0) AS matched OFFSET 0) AS fields)"
)
"""A day or a time, in UTC; still to be looked at is whether it is in a year that there is."""

FORMS = {
    Kind.INT: DECIMAL,
    Kind.FLOAT: DECIMAL,
    Kind.BOOL: BOOL,
    Kind.TIME: MOMENT,
    Kind.DATE: f"CAST({MOMENT} AS date)",
}


def as_written(kind: Kind, written: str) -> str:
    """The template of a text as the codebook says that it is written, in the form in which it is read here."""
    if not written or not kind.numeric:
        return TRIMMED
    return f"CASE WHEN strpos({{0}}, '.') = 0 THEN replace({TRIMMED}, '{written}', '.') END"
