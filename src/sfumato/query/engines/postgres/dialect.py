"""PostgreSQL's dialect: every template is total there, whichever branch of a CASE is computed.

Only functions that PostgreSQL 13 has are used, but for a hash that it has since 14 (`dialect_of`). Texts are compared
by code points: whatever makes one says ``COLLATE "C"``, so that no collation of a database has a say.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from sfumato.query.engines.postgres.floats import EXPONENTIAL, FINITE, FLOATS, HYPERBOLIC, MODULO, POWER
from sfumato.query.engines.postgres.identity import common, form, identity
from sfumato.query.engines.postgres.patterns import WEEKDAY_MARK, format_of, pattern_of
from sfumato.query.engines.postgres.reading import RANGES, as_kind, parsed
from sfumato.query.engines.sql.dialect import ColumnTypes, Dialect
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators.time import PERIODS

C = ' COLLATE "C"'

FIRST = "CAST('0001-01-01' AS timestamp)"
DAYS = "(CAST({0} AS date) - CAST('0001-01-01' AS date))"
"""The number of days since the first one there is."""

MICROSECONDS = (
    f"(CAST({DAYS} AS int8) * 86400000000"
    " + CAST(round(date_part('epoch', CAST(CAST({0} AS timestamp) AS time)) * 1000000) AS int8))"
)
MONTHS = "(CAST(date_part('year', {0}) AS int8) * 12 + CAST(date_part('month', {0}) AS int8) - 13)"
MOVED = "(CASE WHEN {{1}} BETWEEN -{most} AND {most} THEN {{1}} END)"


def _part(name: str) -> str:
    return f"CAST(trunc(date_part('{name}', {{0}})) AS int8)"


def _kept(index: str, last: int, many: str, made: str) -> str:
    """A moment that is moved, if its number is one that there is; only then is it made."""
    return f"CASE WHEN {index} + {many} BETWEEN 0 AND {last} THEN {made} END"


_MANY = {
    unit: MOVED.format(most=most)
    for unit, most in (("month", 120_000), ("day", 3_652_059), ("microsecond", 315_537_897_600_000_000))
}
_MOVED_MONTHS = "CAST({0} AS timestamp) + make_interval(months => CAST(" + _MANY["month"] + " AS int4))"
_MOVED_DAYS = "CAST({0} AS timestamp) + make_interval(days => CAST(" + _MANY["day"] + " AS int4))"
_SUM = f"({MICROSECONDS} + {_MANY['microsecond']})"
_MOVED_TIME = (
    f"{FIRST} + make_interval(days => CAST({_SUM} / 86400000000 AS int4))"
    f" + CAST({_SUM} % 86400000000 AS float8) * CAST('1 microsecond' AS interval)"
)

OPERATORS = {
    "sign": "CASE WHEN {0} > 0 THEN CAST(1 AS int8) WHEN {0} < 0 THEN -1 WHEN {0} = 0 THEN 0 END",
    "mod": "({0} % CASE WHEN {1} = 0 THEN NULL WHEN {1} = -1 THEN 1 ELSE {1} END)",
    "float_mod": MODULO,
    "int_div": "CASE WHEN {1} = -1 THEN -(CASE WHEN {0} > CAST('-9223372036854775808' AS int8) THEN {0} END)"
    " ELSE {0} / CASE WHEN {1} <> 0 AND {1} <> -1 THEN {1} END END",
    "sqrt": "sqrt(CASE WHEN {0} >= 0 THEN {0} END)",
    "ln": "ln(CASE WHEN {0} > 0 THEN {0} END)",
    "log10": "log(CASE WHEN {0} > 0 THEN {0} END)",
    "log2": "(ln(CASE WHEN {0} > 0 THEN {0} END) / CAST('0.6931471805599453' AS float8))",
    **{name: f"{name}(CASE WHEN abs({{0}}) <= 1 THEN {{0}} END)" for name in ("asin", "acos")},
    **{name: f"{name}({{0}})" for name in ("sin", "cos", "tan", "atan", "cosh", "tanh", "trunc", "floor", "ceil")},
    "exp": EXPONENTIAL,
    "sinh": HYPERBOLIC,
    # −0.0 is 0.0, and has no angle of its own.
    "atan2": "atan2(CASE WHEN {0} = 0 THEN 0 ELSE {0} END, CASE WHEN {1} = 0 THEN 0 ELSE {1} END)",
    "power": POWER,
    "lower": f"lower({{0}}){C}",
    "upper": f"upper({{0}}){C}",
    "reverse": "reverse({0})",
    "trim": "btrim({0}, {1})",
    **{name: f"{name}({{0}}, {{1}})" for name in ("ltrim", "rtrim", "starts_with")},
    "right": "right({0}, CAST({1} AS int4))",
    **{name: f"{name}({{0}}, CAST({{1}} AS int4), {{2}})" for name in ("lpad", "rpad")},
    "length": "CAST(length({0}) AS int8)",
    "replace": "replace({0}, {1}, {2})",
    "split_part": "split_part({0}, {1}, CAST({2} AS int4))",
    "strpos": "CAST(strpos({0}, {1}) AS int8)",
    "ends_with": "(right({0}, length({1})) = {1})",
    "contains": "(strpos({0}, {1}) > 0)",
    # Patterns are checked beforehand (`nodes.operators.patterns`) and written anew (`patterns.pattern_of`).
    "regexp_matches": "({0} ~ {1})",
    "regexp_full_match": "({0} ~ {1})",
    "to_text": f"CAST({{0}} AS text){C}",
    "strftime": f"(replace(to_char(CAST({{0}} AS timestamp), {{1}}), '{WEEKDAY_MARK}',"
    f" CAST(date_part('dow', {{0}}) AS text)){C})",
    "like": "({0} LIKE {1} ESCAPE '')",
    "substring": "substr({0}, CAST({1} AS int4), CAST({2} AS int4))",
    **{name: _part(name) for name in ("year", "quarter", "month", "day", "isoyear", "week", "hour", "minute")},
    "second": _part("second"),
    "weekday": _part("isodow"),
    "dayofyear": _part("doy"),
    **{f"periods {unit}": f"({MICROSECONDS} / {width})" for unit, width in PERIODS.items()},
    "periods month": MONTHS,
    "periods quarter": f"({MONTHS} / 3)",
    "periods year": "(CAST(date_part('year', {0}) AS int8) - 1)",
    "periods decade": "(CAST(date_part('year', {0}) AS int8) / 10)",
    "shift month": _kept(MONTHS, 119_987, _MANY["month"], _MOVED_MONTHS),
    "shift day": _kept(DAYS, 3_652_058, _MANY["day"], _MOVED_DAYS),
    "shift microsecond": _kept(MICROSECONDS, 315_537_897_599_999_999, _MANY["microsecond"], _MOVED_TIME),
    "to_date": "CAST({0} AS date)",
    "to_time": "CAST({0} AS timestamp)",
    "date_sub": "CAST({0} - {1} AS int8)",
}

WIDE = {
    "neg": "(-CAST({0} AS numeric))",
    "abs": "abs(CAST({0} AS numeric))",
    "add": "(CAST({0} AS numeric) + CAST({1} AS numeric))",
    "sub": "(CAST({0} AS numeric) - CAST({1} AS numeric))",
    "mul": "(CAST({0} AS numeric) * CAST({1} AS numeric))",
}

# From which place on, and up to which one, of a list that may begin with any number.
_ITEMS = (
    "({0})[array_lower({0}, 1) : CAST(least(CAST(array_upper({0}, 1) AS int8),"
    " CAST(array_lower({0}, 1) AS int8) + {2} - 1) AS int4)]"
)

POSTGRES = Dialect(
    types={
        Kind.BOOL: "bool",
        Kind.INT: "int8",
        Kind.FLOAT: "float8",
        Kind.TEXT: "text",
        Kind.DATE: "date",
        Kind.TIME: "timestamp",
    },
    operators=OPERATORS,
    columns=ColumnTypes(parsed, as_kind, identity, form, common, RANGES),
    parameter="${}",
    finite=FINITE,
    clamped_float="CASE WHEN {0} BETWEEN {1} AND {2} THEN {0}"
    " WHEN {0} > {2} AND {0} < CAST('Infinity' AS float8) THEN {2}"
    " WHEN {0} < {1} AND {0} > CAST('-Infinity' AS float8) THEN {1} END",
    to_whole="CASE WHEN {0} >= -9223372036854775808 AND {0} < 9223372036854775808 THEN CAST({0} AS int8) END",
    wide_to_float="CAST({0} AS float8)",
    first_letters="left({0}, {1})",
    # Bytes are counted without looking at them, and no text has fewer of them than characters.
    short_text="CASE WHEN octet_length({0}) <= {1} THEN {0} ELSE left({0}, {1}) END",
    truncated="CAST(date_trunc({1}, CAST({0} AS timestamp)) AS {2})",
    # Sums of int4 have 64 bits: those of 2 ** 40 numbers below 2 ** 22 fit.
    whole_types=((22, "int4"), (63, "int8"), (127, "numeric")),
    key_types=(),  # of any size they are sorted in the same time, and arrays of different ones are never equal
    wide=WIDE,
    rounded="CAST({0} AS {1})",
    wide_sum="coalesce(sum({0}), 0)",
    wide_product="CAST({0} AS numeric) * {1}",
    scaled="CASE WHEN {1} <= {2} THEN {0} ELSE div(CAST({0} AS numeric) * {2}, greatest({1}, {2})) END",
    least="least({0}, {1})",
    # Twice: hashes of columns are put together so that some keys would come first more often than others.
    hashed="hashint8extended(hash_record_extended(ROW({0}), 0), 0)",
    rank_hash="hashint8extended(hash_record_extended(ROW({0}), 0), 0)",
    key_hash="hash_record_extended(ROW({0}), 0)",
    number_type="",  # to sort units by texts takes no longer than to number these
    # Not a record: those that lie in others have no hash.
    distinct_tuple="jsonb_build_array({0})",
    unnest=f"unnest(CASE WHEN array_ndims({{0}}) = 1 THEN {_ITEMS} END)",
    unnest_kept=f"unnest(CASE WHEN array_ndims({{0}}) = 1 THEN {_ITEMS} ELSE CAST(ARRAY[NULL] AS {{1}}[]) END)",
    each_of="unnest(ARRAY[{0}])",
    # IS NOT DISTINCT FROM is compared row by row with each row; arrays are hashed, and their missing items are equal.
    same="ARRAY[{0}] = ARRAY[{1}]",
    numbered="SELECT {0}, row_number() OVER (PARTITION BY {0}) AS j FROM ({1}) AS q",
    semi_join="SELECT {0}.* FROM {0} WHERE EXISTS (SELECT 1 FROM {1} WHERE {2})",
    anti_join="SELECT {0}.* FROM {0} WHERE NOT EXISTS (SELECT 1 FROM {1} WHERE {2})",
    collation=C,
    floats=FLOATS,
    reworded={
        "regexp_matches": pattern_of,
        "regexp_full_match": lambda pattern: pattern_of(pattern, whole=True),
        "strftime": format_of,
    },
    truth_folds={"min": "bool_and({0})", "max": "bool_or({0})"},
    from_bool="CAST(CAST({0} AS int4) AS {1})",
    # OFFSET 0 keeps PostgreSQL from writing expressions out again where they are named.
    layer="SELECT *, {0} FROM ({1}) AS q OFFSET 0",
)

HASHED_AS_TEXT = "hashtextextended(CAST(ROW({0}) AS text), 0)"


@lru_cache
def dialect_of(version: int, unicode: str) -> Dialect:
    """The dialect of a server: of its version, such as 150004, and the collation by which letters have a case."""
    cased = {name: f'({name}({{0}} COLLATE {unicode}) COLLATE "C")' for name in ("lower", "upper")} if unicode else {}
    made = replace(POSTGRES, operators={**OPERATORS, **cased})
    if version >= 140000:
        return made
    return replace(made, hashed=HASHED_AS_TEXT, rank_hash=HASHED_AS_TEXT, key_hash=HASHED_AS_TEXT)
