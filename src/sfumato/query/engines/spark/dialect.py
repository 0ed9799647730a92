"""Spark's dialect, in a session that is not ANSI's (`session.SETTINGS`): every template is total there.

Numbers beyond 64 bits are decimals of 38 digits: nothing that is made of them here reaches 2 to the power of 126, which
is below 10 to the power of 38; Spark gives NULL for what has more.
"""

from __future__ import annotations

from sfumato.query.engines.spark.identity import common, form, identity
from sfumato.query.engines.spark.reading import FINITE, INFINITY, RANGES, TO_WHOLE, WIDE, as_kind, parsed
from sfumato.query.engines.sql.dialect import LIMB, ColumnTypes, Dialect
from sfumato.query.nodes.kinds import LEAST_INT, Kind
from sfumato.query.nodes.operators.time import MONTHS, PERIODS, SHIFTS, WEEKDAYS

SINCE_1970 = 62_135_596_800_000_000
"""The microseconds from the beginning of the year 1 to that of 1970."""

MICROS = "unix_micros(CAST(CAST({0} AS TIMESTAMP_NTZ) AS TIMESTAMP))"
MONTH = "((CAST(year({0}) AS BIGINT) - 1) * 12 + month({0}) - 1)"
FLOOR = "(rint({0}) - CASE WHEN rint({0}) > {0} THEN 1 ELSE 0 END)"
CEIL = "(rint({0}) + CASE WHEN rint({0}) < {0} THEN 1 ELSE 0 END)"

MARK = "\x01"
"""What formats of days and times have in the place of %, which stands for itself behind another one."""


def _padded(number: str, digits: int) -> str:
    return f"lpad(CAST({number} AS STRING), {digits}, '0')"


def _word(words: tuple[str, ...], place: str, cut: int | None = None) -> str:
    return f"element_at(array({', '.join(repr(word[:cut]) for word in words)}), {place})"


WRITTEN = {
    "Y": _padded("year({0})", 4), "y": _padded("year({0}) % 100", 2), "m": _padded("month({0})", 2),
    "b": _word(MONTHS, "month({0})", 3), "B": _word(MONTHS, "month({0})"), "d": _padded("day({0})", 2),
    "j": _padded("dayofyear({0})", 3), "G": _padded("extract(YEAROFWEEK FROM {0})", 4),
    "V": _padded("weekofyear({0})", 2), "a": _word(WEEKDAYS, "weekday({0}) + 1", 3),
    "A": _word(WEEKDAYS, "weekday({0}) + 1"), "u": "CAST(weekday({0}) + 1 AS STRING)",
    "w": "CAST((weekday({0}) + 1) % 7 AS STRING)", "H": _padded("hour({0})", 2),
    "I": _padded("(hour({0}) + 11) % 12 + 1", 2), "M": _padded("minute({0})", 2), "S": _padded("second({0})", 2),
    "f": _padded(f"({MICROS} + {SINCE_1970}L) % 1000000L", 6), "p": "CASE WHEN hour({0}) < 12 THEN 'AM' ELSE 'PM' END",
}  # fmt: skip
"""What each letter of a format writes."""


def _strftime() -> str:
    text = "{1}"
    for letter, written in WRITTEN.items():
        text = f"replace({text}, concat(char(1), '{letter}'), {written})"
    return f"CASE WHEN {{0}} IS NOT NULL THEN {text} END"


def _marked(form: str) -> str:
    """A format with the mark before letters, and a single % for two."""
    return "%".join(part.replace("%", MARK) for part in form.split("%%"))


def _like(pattern: str) -> str:
    """A pattern of LIKE as one of Java's that never looks back: each piece is found at its first place."""
    first, *pieces = (
        "".join("." if sign == "_" else f"\\x{{{ord(sign):x}}}" for sign in part) for part in _split(pattern)
    )
    if not pieces:
        return f"(?s)\\A{first}\\z"
    between = "".join(f"(?>.*?{piece})" for piece in pieces[:-1])
    return f"(?s)\\A{first}{between}.*{pieces[-1]}\\z" if pieces[-1] else f"(?s)\\A{first}{between}"


def _split(pattern: str) -> list[str]:
    pieces = pattern.split("%")
    return [pieces[0], *(piece for piece in pieces[1:-1] if piece), pieces[-1]] if len(pieces) > 1 else pieces


OPERATORS = {
    "sign": "CASE WHEN {0} > 0 THEN 1L WHEN {0} < 0 THEN -1L WHEN {0} = 0 THEN 0L END",
    "mod": "({0} % {1})",
    "float_mod": "({0} % {1})",
    # The least number divided by -1 would be itself.
    "int_div": f"CASE WHEN NOT ({{0}} = CAST('{LEAST_INT}' AS BIGINT) AND {{1}} = -1) THEN {{0}} div {{1}} END",
    "sqrt": "CASE WHEN {0} >= 0 THEN sqrt({0}) END",
    **{name: f"{name}(CASE WHEN {{0}} > 0 THEN {{0}} END)" for name in ("ln", "log10", "log2")},
    **{name: f"{name}(CASE WHEN abs({{0}}) <= 1 THEN {{0}} END)" for name in ("asin", "acos")},
    **{name: f"{name}({{0}})" for name in ("exp", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh")},
    "atan2": "atan2(CASE WHEN {0} = 0 THEN 0D ELSE {0} END, CASE WHEN {1} = 0 THEN 0D ELSE {1} END)",
    "power": "pow({0}, {1})",
    # As floats: Spark's own are whole numbers already, the nearest one where it does not fit.
    "floor": FLOOR,
    "ceil": CEIL,
    "trunc": f"CASE WHEN {{0}} < 0 THEN {CEIL} ELSE {FLOOR} END",
    "round": "rint({0})",
    "to_int": "rint({0})",
    # Else letters are those of the language that a machine is set to, such as Turkish.
    **{name: f"({name}({{0}} COLLATE UNICODE) COLLATE UTF8_BINARY)" for name in ("lower", "upper")},
    "reverse": "reverse({0})",
    "trim": "trim(BOTH {1} FROM {0})",
    "ltrim": "trim(LEADING {1} FROM {0})",
    "rtrim": "trim(TRAILING {1} FROM {0})",
    "right": "right({0}, CAST({1} AS INT))",
    **{name: f"{name}({{0}}, CAST({{1}} AS INT), {{2}})" for name in ("lpad", "rpad")},
    "length": "CAST(length({0}) AS BIGINT)",
    "replace": "replace({0}, {1}, {2})",
    "split_part": "split_part({0}, {1}, CAST({2} AS INT))",
    "strpos": "CAST(locate({1}, {0}) AS BIGINT)",
    "starts_with": "startswith({0}, {1})",
    "ends_with": "endswith({0}, {1})",
    "contains": "contains({0}, {1})",
    "to_text": "CAST({0} AS STRING)",
    "strftime": _strftime(),
    "like": "({0} RLIKE {1})",
    "substring": "substring({0}, CAST({1} AS INT), CAST({2} AS INT))",
    **{name: f"CAST({name}({{0}}) AS BIGINT)" for name in ("year", "quarter", "month", "day", "dayofyear")},
    **{name: f"CAST({name}({{0}}) AS BIGINT)" for name in ("hour", "minute", "second")},
    "weekday": "CAST(weekday({0}) + 1 AS BIGINT)",
    "isoyear": "CAST(extract(YEAROFWEEK FROM {0}) AS BIGINT)",
    "week": "CAST(weekofyear({0}) AS BIGINT)",
    **{f"periods {unit}": f"(({MICROS} + {SINCE_1970}L) div {width}L)" for unit, width in PERIODS.items()},
    "periods month": MONTH,
    "periods quarter": f"({MONTH} div 3)",
    "periods year": "(CAST(year({0}) AS BIGINT) - 1)",
    "periods decade": "(CAST(year({0}) AS BIGINT) div 10)",
    **{
        f"shift {unit}": f"timestampadd({unit.upper()},"
        f" CASE WHEN {{1}} BETWEEN -{most} AND {most} THEN {{1}} END, {{0}})"
        for unit, most in SHIFTS.items()
    },
    "to_date": "CAST({0} AS DATE)",
    "to_time": "CAST({0} AS TIMESTAMP_NTZ)",
    "date_sub": "CAST(datediff({0}, {1}) AS BIGINT)",
}

LACKS = frozenset({"regexp_matches", "regexp_full_match", "regexp_extract", "regexp_replace"})
"""Java's regular expressions look back: a text of some row could take them longer than anybody waits."""

SPARK = Dialect(
    types={
        Kind.BOOL: "BOOLEAN",
        Kind.INT: "BIGINT",
        Kind.FLOAT: "DOUBLE",
        Kind.TEXT: "STRING",
        Kind.DATE: "DATE",
        Kind.TIME: "TIMESTAMP_NTZ",
    },
    operators=OPERATORS,
    columns=ColumnTypes(parsed, as_kind, identity, form, common, RANGES),
    parameter=":p{}",
    finite=FINITE,
    # To Spark NaN is above everything. Only what lies outside is asked whether it is a number at all.
    clamped_float="CASE WHEN {0} BETWEEN {1} AND {2} THEN {0}"
    f" WHEN {{0}} > {{2}} AND {{0}} < {INFINITY} THEN {{2}}"
    f" WHEN {{0}} < {{1}} AND {{0}} > -{INFINITY} THEN {{1}} END",
    to_whole=TO_WHOLE,
    wide_to_float="CAST({0} AS DOUBLE)",
    first_letters="left({0}, {1})",
    # Bytes are counted without looking at them, and no text has fewer of them than characters.
    short_text="CASE WHEN octet_length({0}) <= {1} THEN {0} ELSE left({0}, {1}) END",
    truncated="CAST(CASE WHEN {1} = 'decade' THEN timestampadd(YEAR, -(year({0}) % 10), date_trunc('year', {0}))"
    " ELSE date_trunc({1}, {0}) END AS {2})",
    whole_types=((31, "INT"), (63, "BIGINT"), (126, WIDE)),
    key_types=((31, "INT"),),
    wide={
        "neg": f"(-CAST({{0}} AS {WIDE}))",
        "abs": f"abs(CAST({{0}} AS {WIDE}))",
        **{
            name: f"(CAST({{0}} AS {WIDE}) {symbol} CAST({{1}} AS {WIDE}))"
            for name, symbol in (("add", "+"), ("sub", "-"), ("mul", "*"))
        },
    },
    rounded="CAST(rint({0}) AS {1})",
    wide_sum=f"coalesce(sum(CAST({{0}} AS {WIDE})), CAST(0 AS {WIDE}))",
    narrow_sum="coalesce(sum({0}), 0L)",
    limbs=(f"(CAST({{0}} AS BIGINT) >> {LIMB})", f"(CAST({{0}} AS BIGINT) & {2**LIMB - 1}L)"),
    joined=f"({{0}} * {2**LIMB}L + {{1}})",
    widened=f"CAST({{0}} AS {WIDE})",
    scaled_narrow="CASE WHEN {1} <= {2} THEN {0} WHEN {1} <= {3}L THEN {0} * {2} div {1} ELSE CAST({4} AS BIGINT) END",
    wide_sum_distinct=f"coalesce(sum(DISTINCT CAST({{0}} AS {WIDE})), CAST(0 AS {WIDE}))",
    wide_product=f"CAST({{0}} AS {WIDE}) * {{1}}",
    # What is left over is taken away first: then the quotient is a whole number, which no rounding changes.
    scaled=f"CASE WHEN {{1}} <= {{2}} THEN {{0}} ELSE CAST((CAST({{0}} AS {WIDE}) * {{2}}"
    f" - (CAST({{0}} AS {WIDE}) * {{2}}) % {{1}}) / {{1}} AS {WIDE}) END",
    least="least({0}, {1})",
    hashed="xxhash64(xxhash64({0}))",
    rank_hash="xxhash64(xxhash64({0}))",
    key_hash="xxhash64({0})",
    number_type="",
    distinct_tuple="struct({0})",
    unnest="explode(slice({0}, 1, CAST(least({2}L, 2147483647L) AS INT)))",
    unnest_kept="explode_outer(slice({0}, 1, CAST(least({2}L, 2147483647L) AS INT)))",
    each_of="explode(array({0}))",
    numbered="SELECT {0}, row_number() OVER (PARTITION BY {0} ORDER BY {0}) AS j FROM ({1}) AS q",
    semi_join="SELECT {0}.* FROM {0} LEFT SEMI JOIN {1} ON {2}",
    anti_join="SELECT {0}.* FROM {0} LEFT ANTI JOIN {1} ON {2}",
    wide_sum_over=f"coalesce(sum(CAST({{0}} AS {WIDE})) OVER peers, CAST(0 AS {WIDE}))",
    same="{0} <=> {1}",
    reworded={"like": _like, "strftime": _marked},
    dealt="SELECT * FROM ({0}) AS q DISTRIBUTE BY {1}",
    cells_first=True,
    long_list=100_000,
    once="",
    anew="",
)
