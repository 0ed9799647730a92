"""The databases that cells are written for, by name: what each calls things, as its documentation says."""

from __future__ import annotations

from sfumato.query.engines.elsewhere.database import LACKED, TWO_63, WRITTEN, Database, Words
from sfumato.query.engines.elsewhere.guarded_floats import GUARDED
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import OPERATORS

B, I, F, T, D, M = Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIME  # noqa: E741


def lacking(*more: str) -> frozenset[str]:
    """What is not written: all operators but the usual ones, and these of them."""
    return frozenset(OPERATORS) - WRITTEN | LACKED | frozenset(more)


def cut_by(template: str) -> dict[str, str]:
    """The starts of stretches of time, by one function with a word for each."""
    return {word: template.replace("{1}", word.upper()) for word in ("day", "week", "month", "quarter", "year")}


SNOWFLAKE = Database(
    "snowflake",
    "Snowflake",
    "snowflake",
    Words(
        {B: "BOOLEAN", I: "BIGINT", F: "DOUBLE", T: "VARCHAR", D: "DATE", M: "TIMESTAMP_NTZ(6)"},
        wide="DECIMAL(38, 0)",
        hashed="HASH({0})",
        same="EQUAL_NULL({0}, {1})",
        # All whole numbers have 38 digits there: what 64 bits do not hold is left out by hand.
        whole=f"CASE WHEN {{0}} >= -{TWO_63} AND {{0}} < {TWO_63} THEN {{0}} END",
        weekday="DAYOFWEEKISO({0})",
        days="DATEDIFF(DAY, {1}, {0})",
    ),
    lacks=lacking(),
    starts={
        **cut_by("DATE_TRUNC('{1}', {0})"),
        # The first day of its weeks is a setting of the session.
        "week": "DATEADD(DAY, 1 - DAYOFWEEKISO({0}), DATE_TRUNC('DAY', {0}))",
    },
    note="Names are quoted as the codebook has them, and so are not written in capitals.",
    texts_as_floats=True,
)

BIGQUERY = Database(
    "bigquery",
    "BigQuery",
    "bigquery",
    Words(
        {B: "BOOL", I: "INT64", F: "FLOAT64", T: "STRING", D: "DATE", M: "DATETIME"},
        wide="BIGNUMERIC",
        hashed="FARM_FINGERPRINT(TO_JSON_STRING(STRUCT({0})))",
        beside="TO_JSON_STRING(STRUCT({0}))",
        # Outer joins need an equality, and windows are not parted by floats.
        same="TO_JSON_STRING({0}) = TO_JSON_STRING({1})",
        partition="TO_JSON_STRING(STRUCT({0}))",
        most_whole=f"BIGNUMERIC '{TWO_63}'",
        quotient="DIV({0}, {1})",
        weekday="(MOD(EXTRACT(DAYOFWEEK FROM {0}) + 5, 7) + 1)",
        days="DATE_DIFF({0}, {1}, DAY)",
        operators={"mod": "MOD({0}, CASE WHEN {1} = 0 THEN NULL WHEN {1} = -1 THEN 1 ELSE {1} END)"},
        floats={
            "add": "SAFE_ADD({0}, {1})",
            "sub": "SAFE_SUBTRACT({0}, {1})",
            "mul": "SAFE_MULTIPLY({0}, {1})",
            "div": "SAFE_DIVIDE({0}, {1})",
        },
    ),
    lacks=lacking("exp"),
    starts={
        **cut_by("DATE_TRUNC({0}, {1})"),
        "week": "DATE_TRUNC({0}, ISOWEEK)",
    },
    bare_nulls=True,
    values=False,
)

DATABRICKS = Database(
    "databricks",
    "Databricks SQL",
    "databricks",
    Words(
        {B: "BOOLEAN", I: "BIGINT", F: "DOUBLE", T: "STRING", D: "DATE", M: "TIMESTAMP_NTZ"},
        wide="DECIMAL(38, 0)",
        hashed="XXHASH64({0})",
        beside="STRUCT({0})",
        even="RINT({0})",
        days="DATEDIFF({0}, {1})",
        # Its own floor and ceiling are whole numbers of 64 bits, which floats may not fit into.
        floor="(RINT({0}) - CASE WHEN RINT({0}) > {0} THEN 1 ELSE 0 END)",
        ceil="(RINT({0}) + CASE WHEN RINT({0}) < {0} THEN 1 ELSE 0 END)",
        toward_0="(RINT({0}) - CASE WHEN {0} > 0 AND RINT({0}) > {0} THEN 1 WHEN {0} < 0 AND RINT({0}) < {0} THEN -1"
        " ELSE 0 END)",
        weekday="(WEEKDAY({0}) + 1)",
        length="CHAR_LENGTH({0})",
        floats={"div": "TRY_DIVIDE({0}, {1})"},
    ),
    lacks=lacking(),
    starts=cut_by("DATE_TRUNC('{1}', {0})"),
)

TRINO = Database(
    "trino",
    "Trino",
    "trino",
    Words(
        {B: "BOOLEAN", I: "BIGINT", F: "DOUBLE", T: "VARCHAR", D: "DATE", M: "TIMESTAMP(6)"},
        wide="DECIMAL(38, 0)",
        hashed="XXHASH64(TO_UTF8(JSON_FORMAT(CAST(ROW({0}) AS JSON))))",
        beside="ROW({0})",
        toward_0="TRUNCATE({0})",
        infinity=("-INFINITY()", "INFINITY()"),
        most_whole=f"DECIMAL '{TWO_63}'",
        weekday="DAY_OF_WEEK({0})",
        days="DATE_DIFF('day', {1}, {0})",
        first_letters="SUBSTRING({0}, 1, {1})",
    ),
    lacks=lacking(),
    starts=cut_by("DATE_TRUNC('{1}', {0})"),
)

CLICKHOUSE = Database(
    "clickhouse",
    "ClickHouse 24.12 or later",
    "clickhouse",
    Words(
        {
            B: "Nullable(Bool)",
            I: "Nullable(Int64)",
            F: "Nullable(Float64)",
            T: "Nullable(String)",
            D: "Nullable(Date32)",
            M: "Nullable(DateTime64(6, 'UTC'))",
        },
        wide="Nullable(Int256)",
        hashed="sipHash64(toString(tuple({0})))",
        beside="tuple({0})",
        even="roundBankers({0})",
        # It casts what lies behind a missing value, too, and raises where that is no number.
        exactly="accurateCastOrNull({0}, '{1}')",
        toward_0="trunc({0})",
        floor="floor({0})",
        ceil="ceil({0})",
        quotient="intDiv({0}, {1})",
        part="{1}({0})",
        weekday="toDayOfWeek({0})",
        days="dateDiff('day', {1}, {0})",
        length="lengthUTF8({0})",
        first_letters="substringUTF8({0}, 1, {1})",
        substring="substringUTF8({0}, {1}, {2})",
        operators={
            "lower": "lowerUTF8({0})",
            "upper": "upperUTF8({0})",
        },
    ),
    lacks=lacking("date_trunc"),
    starts={},
    ending="SETTINGS join_use_nulls = 1, prefer_column_name_to_alias = 1",
    values=False,
    note="Numbers, days and times that its types do not hold are not in its tables, either.",
)

SQL_SERVER = Database(
    "tsql",
    "SQL Server 2022 or later",
    "tsql",
    Words(
        {B: "BIT", I: "BIGINT", F: "FLOAT", T: "NVARCHAR(1000)", D: "DATE", M: "DATETIME2(6)"},
        wide="DECIMAL(38, 0)",
        hashed="HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', {0})))",
        toward_0="ROUND({0}, 0, 1)",
        ceil="CEILING({0})",
        infinity=None,
        # Blanks at the end are nothing to it where texts are compared: such a text is no category.
        text="CASE WHEN DATALENGTH({0}) = DATALENGTH(RTRIM({0})) THEN CAST({0} AS NVARCHAR(1000)) END"
        " COLLATE Latin1_General_100_BIN2",
        collation=" COLLATE Latin1_General_100_BIN2",
        identity={T: ("CAST({0} AS VARBINARY(8000))", "VARBINARY")},
        first_letters="any_text({0}, {1})",
        part="DATEPART({1}, {0})",
        weekday="(((DATEDIFF(DAY, CAST('1900-01-01' AS DATE), {0}) % 7) + 7) % 7 + 1)",
        days="DATEDIFF(DAY, {1}, {0})",
        logarithm="LOG({0})",
        floats=GUARDED,
    ),
    lacks=lacking("lower", "upper", "length", "substring", "concat", "exp"),
    starts={**cut_by("DATETRUNC({1}, {0})"), "week": "DATETRUNC(ISO_WEEK, {0})"},
    bare_nulls=True,
    flat=True,
    bits=True,
    national="N",
    note="Texts are compared without the blanks at their ends: only categories are read, without such blanks.",
)


def mysql(name: str, title: str, collation: str) -> Database:
    """MySQL, or MariaDB: they call the collation by code points, which keeps blanks, by different names."""
    text = f"CONVERT({{0}} USING utf8mb4) COLLATE {collation}"
    return Database(
        name,
        title,
        "mysql",
        Words(
            {B: "SIGNED", I: "SIGNED", F: "DOUBLE", T: "CHAR", D: "DATE", M: "DATETIME(6)"},
            wide="DECIMAL(65, 0)",
            hashed="SHA2(CONCAT_WS('|', '', {0}), 256)",
            toward_0="TRUNCATE({0}, 0)",
            infinity=None,
            same="{0} <=> {1}",
            text=text,
            collation=f" COLLATE {collation}",
            identity={T: (text, "CHAR")},
            length="CHAR_LENGTH({0})",
            weekday="(WEEKDAY({0}) + 1)",
            days="DATEDIFF({0}, {1})",
            floats=GUARDED,
        ),
        lacks=lacking("concat", "exp"),
        starts={
            "day": "CAST({0} AS DATE)",
            "week": "DATE_SUB(CAST({0} AS DATE), INTERVAL WEEKDAY({0}) DAY)",
            "month": "DATE_SUB(CAST({0} AS DATE), INTERVAL (DAYOFMONTH({0}) - 1) DAY)",
            "year": "DATE_SUB(CAST({0} AS DATE), INTERVAL (DAYOFYEAR({0}) - 1) DAY)",
        },
        bare_nulls=True,
        flat=True,
        values=False,
        note="For a connection in utf8mb4, with an SQL mode that lets a backslash escape a letter, as it does by itself.",
    )


MYSQL = mysql("mysql", "MySQL 8.0.17 or later", "utf8mb4_0900_bin")
MARIADB = mysql("mariadb", "MariaDB 10.5 or later", "utf8mb4_nopad_bin")

DATABASES = (SNOWFLAKE, BIGQUERY, DATABRICKS, SQL_SERVER, MYSQL, MARIADB, CLICKHOUSE, TRINO)
