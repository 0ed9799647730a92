"""DuckDB's dialect: every template is total there, whichever branch of a CASE is computed."""

from __future__ import annotations

from sfumato.query.engines.duckdb.identity import common, form, identity
from sfumato.query.engines.duckdb.reading import FINITE, RANGES, as_kind, parsed
from sfumato.query.engines.sql.dialect import ColumnTypes, Dialect
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators.time import PERIODS, SHIFTS

SINCE_1970 = 62_135_596_800_000_000
"""The microseconds from the beginning of the year 1 to that of 1970."""

MONTHS = "((CAST(year({0}) AS BIGINT) - 1) * 12 + month({0}) - 1)"

OPERATORS = {
    "sign": "CASE WHEN {0} > 0 THEN CAST(1 AS BIGINT) WHEN {0} < 0 THEN -1 WHEN {0} = 0 THEN 0 END",
    # DuckDB raises for a divisor of 0, and for the least number divided by -1.
    "mod": "({0} % CASE WHEN {1} = 0 THEN NULL WHEN {1} = -1 THEN 1 ELSE {1} END)",
    "float_mod": "({0} % CASE WHEN {1} <> 0 THEN {1} END)",
    "int_div": "TRY_CAST(CAST({0} AS HUGEINT) // CASE WHEN {1} <> 0 THEN CAST({1} AS HUGEINT) END AS BIGINT)",
    "sqrt": "sqrt(CASE WHEN {0} >= 0 THEN {0} END)",
    **{name: f"{name}(CASE WHEN {{0}} > 0 THEN {{0}} END)" for name in ("ln", "log10", "log2")},
    **{name: f"{name}(CASE WHEN abs({{0}}) <= 1 THEN {{0}} END)" for name in ("asin", "acos")},
    **{name: f"{name}({{0}})" for name in ("exp", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "trunc")},
    # −0.0 is 0.0, and has no angle of its own.
    "atan2": "atan2(CASE WHEN {0} = 0 THEN 0 ELSE {0} END, CASE WHEN {1} = 0 THEN 0 ELSE {1} END)",
    "power": "pow({0}, {1})",
    "floor": "floor({0})",
    "ceil": "ceil({0})",
    "lower": "lower({0})",
    "upper": "upper({0})",
    # By code points: DuckDB's own reverse keeps together what looks like one letter.
    "reverse": "array_to_string(list_reverse(string_split({0}, '')), '')",
    **{name: f"{name}({{0}}, {{1}})" for name in ("trim", "ltrim", "rtrim", "right")},
    **{name: f"{name}({{0}}, CAST({{1}} AS INTEGER), {{2}})" for name in ("lpad", "rpad")},
    "length": "length({0})",
    "replace": "replace({0}, {1}, {2})",
    "split_part": "split_part({0}, {1}, {2})",
    "strpos": "CAST(strpos({0}, {1}) AS BIGINT)",
    **{name: f"{name}({{0}}, {{1}})" for name in ("starts_with", "ends_with", "contains")},
    # Patterns are checked beforehand (`nodes.operators.patterns`): DuckDB raises for those that it cannot compile.
    **{name: f"{name}({{0}}, {{1}})" for name in ("regexp_matches", "regexp_full_match")},
    "regexp_extract": "regexp_extract({0}, {1}, CAST({2} AS INTEGER))",
    "regexp_replace": "regexp_replace({0}, {1}, {2})",
    "regexp_replace g": "regexp_replace({0}, {1}, {2}, 'g')",
    "to_text": "CAST({0} AS VARCHAR)",
    "strftime": "strftime({0}, {1})",
    "like": "({0} LIKE {1})",
    # Places beyond all texts are bound: DuckDB raises for very large ones.
    "substring": "substring({0}, {1}, {2})",
    "year": "CAST(year({0}) AS BIGINT)",
    "quarter": "CAST(quarter({0}) AS BIGINT)",
    "month": "CAST(month({0}) AS BIGINT)",
    "day": "CAST(day({0}) AS BIGINT)",
    "weekday": "CAST(isodow({0}) AS BIGINT)",
    **{name: f"CAST({name}({{0}}) AS BIGINT)" for name in ("isoyear", "week", "dayofyear", "hour", "minute", "second")},
    # Since the first moment there is, so that nothing is negative, which DuckDB would round up.
    **{f"periods {unit}": f"((epoch_us({{0}}) + {SINCE_1970}) // {width})" for unit, width in PERIODS.items()},
    "periods month": MONTHS,
    "periods quarter": f"({MONTHS} // 3)",
    "periods year": "(CAST(year({0}) AS BIGINT) - 1)",
    "periods decade": "(CAST(year({0}) AS BIGINT) // 10)",
    **{
        f"shift {unit}": f"({{0}} + to_{unit}s(CASE WHEN {{1}} BETWEEN -{most} AND {most} THEN {{1}} END))"
        for unit, most in SHIFTS.items()
    },
    "to_date": "CAST({0} AS DATE)",
    "to_time": "CAST({0} AS TIMESTAMP)",
    "date_sub": "({0} - {1})",
}

WIDE = {
    "neg": "(-CAST({0} AS HUGEINT))",
    "abs": "abs(CAST({0} AS HUGEINT))",
    "add": "(CAST({0} AS HUGEINT) + CAST({1} AS HUGEINT))",
    "sub": "(CAST({0} AS HUGEINT) - CAST({1} AS HUGEINT))",
    "mul": "(CAST({0} AS HUGEINT) * CAST({1} AS HUGEINT))",
}

DUCKDB = Dialect(
    types={
        Kind.BOOL: "BOOLEAN",
        Kind.INT: "BIGINT",
        Kind.FLOAT: "DOUBLE",
        Kind.TEXT: "VARCHAR",
        Kind.DATE: "DATE",
        Kind.TIME: "TIMESTAMP",
    },
    operators=OPERATORS,
    columns=ColumnTypes(parsed, as_kind, identity, form, common, RANGES),
    parameter="${}",
    finite=FINITE,
    # To DuckDB NaN is above everything. Only what lies outside is asked whether it is a number at all.
    clamped_float="CASE WHEN {0} BETWEEN {1} AND {2} THEN {0}"
    " WHEN {0} > {2} AND {0} < CAST('inf' AS DOUBLE) THEN {2}"
    " WHEN {0} < {1} AND {0} > CAST('-inf' AS DOUBLE) THEN {1} END",
    to_whole="TRY_CAST({0} AS BIGINT)",
    # DuckDB rounds wide numbers twice; their texts are rounded once.
    wide_to_float="coalesce(CAST(TRY_CAST({0} AS BIGINT) AS DOUBLE), CAST(CAST({0} AS VARCHAR) AS DOUBLE))",
    first_letters="left({0}, {1})",
    # Bytes are counted without looking at them, and no text has fewer of them than characters.
    short_text="CASE WHEN strlen({0}) <= {1} THEN {0} ELSE left({0}, {1}) END",
    truncated="CAST(date_trunc({1}, {0}) AS {2})",
    whole_types=((31, "INTEGER"), (63, "BIGINT"), (127, "HUGEINT")),
    key_types=((15, "SMALLINT"), (31, "INTEGER")),
    wide=WIDE,
    rounded="CAST({0} AS {1})",
    wide_sum="CAST(coalesce(sum({0}), 0) AS HUGEINT)",
    wide_product="CAST({0} AS HUGEINT) * {1}",
    scaled="CASE WHEN {1} <= {2} THEN {0} ELSE CAST({0} AS HUGEINT) * {2} // greatest({1}, {2}) END",
    least="least({0}, {1})",
    # Twice: DuckDB puts hashes of columns together so that some keys would come first more often than others.
    hashed="hash(hash({0}))",
    rank_hash="CAST(hash(hash({0})) >> 48 AS USMALLINT)",
    key_hash="hash({0})",
    number_type="UINTEGER",
    distinct_tuple="({0})",
    unnest="unnest(CAST({0} AS {1}[])[:{2}])",
    unnest_kept="unnest(CASE WHEN len(CAST({0} AS {1}[])) > 0 THEN CAST({0} AS {1}[])[:{2}] ELSE [NULL] END)",
    each_of="unnest([{0}])",
    numbered="SELECT {0}, unnest(range(count(*))) AS j FROM ({1}) GROUP BY {0}",
    semi_join="SELECT {0}.* FROM {0} SEMI JOIN {1} ON {2}",
    anti_join="SELECT {0}.* FROM {0} ANTI JOIN {1} ON {2}",
    # The digits of a product are those of its factors, which it has room for: DuckDB leaves out to look for overflow.
    factor="DECIMAL({0}, 0)",
    factor_digits=18,
)
