"""SQL means here what it means elsewhere: DuckDB, given the text itself, agrees with the reference on the nodes read.

On public tables whole rows are compared, on private ones the true statistics. The data are tame (no overflow, halves
or strange floats): where those differ, docs/semantics.md says how.
"""

from __future__ import annotations

import datetime
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import duckdb
import pytest
from tests.examples.sql import BOOK, catalog
from tests.reference.interpreter import ByValue, Owned, Reference

from sfumato.codebook import Codebook
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.questions import (
    Count,
    CountDistinct,
    CountUnits,
    Mean,
    MeanDistinct,
    Quantile,
    Question,
    Statistic,
    StatisticValue,
    Sum,
    SumDistinct,
)
from sfumato.query.sql import read_sql

TYPES = {
    "str": "VARCHAR",
    "categories": "VARCHAR",
    "date": "DATE",
    "time": "TIMESTAMP",
    "float": "DOUBLE",
    "int": "BIGINT",
}


@cache
def data() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Gives small tables with missing values where the codebook allows them."""
    draw = random.Random(5)
    people = [f"u{number}" for number in range(9)]
    visits = [
        {
            "user_id": draw.choice(people),
            "site": draw.choice("abc"),
            "day": datetime.date(2024, 1, 1) + datetime.timedelta(draw.randrange(366)),
            "began": None if draw.random() < 0.1 else datetime.datetime(2024, 3, 1, draw.randrange(24), 30, 5),
            "minutes": None if draw.random() < 0.1 else draw.randrange(1, 360) / 4 + 0.0625,
            "age": draw.randrange(1, 100),
            "weight": draw.randrange(1, 1000) / 8,
            "first": draw.random() < 0.5,
            "note": draw.choice([None, "", "Ab", " ab ", "b_%c", "abcdef"]),
        }
        for _ in range(60)
    ]
    accounts = [
        {"user_id": one, "plan": draw.choice(["free", "paid"]), "age": draw.randrange(100)} for one in people[:6]
    ]
    sites = [{"site": "a", "region": "north", "beds": 3}, {"site": "b", "region": "south", "beds": 5}]
    return {"visits": visits, "accounts": accounts, "sites": [*sites, {"site": "b", "region": "north", "beds": 3}]}


@cache
def engine() -> duckdb.DuckDBPyConnection:
    """Gives DuckDB with the tables."""
    connection = duckdb.connect()
    for table, described in BOOK["tables"].items():  # type: ignore[attr-defined]
        columns = {name: TYPES.get(column["type"], "BOOLEAN") for name, column in described["columns"].items()}
        connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in columns.items())})")
        rows = [[row[name] for name in columns] for row in data()[table]]
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    return connection


@cache
def public() -> Catalog:
    """Gives the same tables as if they were all public, so that rows can be asked for."""
    tables = {
        name: {**table, "public": True, "columns": {**table["columns"]}}
        for name, table in BOOK["tables"].items()  # type: ignore[attr-defined]
    }
    return Catalog(Codebook.read({**BOOK, "unit": {"protects": "nobody here"}, "tables": tables}))


def told(text: str) -> list[tuple[Any, ...]]:
    """Gives what DuckDB says."""
    return [tuple(map(plain, row)) for row in engine().execute(text).fetchall()]


def plain(value: Any) -> Any:
    """Gives a value so that those which mean the same are equal."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date()
    return value if value is None or isinstance(value, bool | str | datetime.date) else round(float(value), 9)


def in_order(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=lambda row: [(value is None, str(type(value)), value) for value in row])


VALUES = [
    "age + 1, age - minutes, age * 2, age / 7, -age, age % 7, +age",
    "2 + 3 * age - 4 / 2, (2 + age) * 3, -age * 2, 10 - 5 - age",
    "ABS(age - 50), SIGN(age - 50), FLOOR(minutes), CEIL(minutes), CEILING(minutes), ROUND(minutes), ROUND(age / 7, 1)",
    "SQRT(age), LN(age), EXP(age / 100), LOG10(age), LOG2(age), POWER(age, 2), age ** 3, age ^ 2, POW(minutes, 4)",
    "LEAST(age, minutes), GREATEST(age, minutes, 50), COALESCE(minutes, 0), IFNULL(minutes, age), NULLIF(age, 3)",
    "CASE WHEN age < 30 THEN 'a' WHEN age < 60 THEN 'b' END, CASE site WHEN 'a' THEN 1 WHEN 'b' THEN 2 ELSE 3.5 END",
    "IF(first, age, 0), CASE WHEN minutes > 40 THEN minutes ELSE NULL END",
    "LOWER(note), UPPER(note), TRIM(note), LENGTH(note), SUBSTRING(note, 2, 3), SUBSTR(note, 1, 0)",
    "note || '-' || site, CONCAT(note, '-', site), CONCAT(site, note)",
    "note LIKE 'a%', note NOT LIKE '%b%', note LIKE '_b%', note LIKE '%b_\\%c'",
    "YEAR(day), QUARTER(day), MONTH(day), DAY(day), HOUR(began), MINUTE(began)",
    (
        "EXTRACT(dow FROM day), EXTRACT(isodow FROM day), DAYOFWEEK(day), WEEKDAY(day), ISODOW(day), "
        "DATE_PART('month', day)"
    ),
    "DATE_TRUNC('month', day), DATE_TRUNC('week', day), DATE_TRUNC('hour', began), DATE_TRUNC('year', began)",
    "day - DATE '2024-02-28', DATE_DIFF('day', day, DATE '2024-05-01'), DATE_DIFF('month', day, DATE '2024-05-01')",
    "DATE_DIFF('year', DATE '2022-12-31', day), DATEDIFF('day', began, TIMESTAMP '2024-05-01 00:10:00')",
    (
        "CAST(minutes AS INT), age::DOUBLE / 2, CAST(first AS INT), began::DATE, CAST(day AS "
        "TIMESTAMP), TRY_CAST(age AS BIGINT)"
    ),
    "age BETWEEN 20 AND 60, age NOT BETWEEN 20 AND 60, age IN (1, 2, 3), site NOT IN ('a', 'b')",
    "minutes IS NULL, minutes IS NOT NULL, minutes > 30 IS TRUE, (minutes > 30) IS NOT FALSE, NOT (minutes > 30)",
    "minutes > 30 AND first, minutes > 30 OR first, NOT first AND minutes > 30, NOT (first OR minutes > 30)",
    "day > '2024-06-01', day BETWEEN '2024-02-01' AND '2024-08-01', began > '2024-03-01 12:00:00', day < began",
    "first = TRUE, site >= 'b', NOT first = (age > 50), age = 50 OR age <> 50 AND FALSE",
    "LOG(age), TRUNC(minutes), TRUNC(-minutes), age // 7, (age - 50) // 7, minutes % 7, POWER(age, 0.5), PI() * age",
    "SIN(age), COS(age), TAN(age), ATAN(age), ATAN2(age, minutes), ASIN(age / 100), ACOS(age / 100), COT(age)",
    "DEGREES(age), RADIANS(age), CBRT(age), SINH(age / 50), COSH(age / 50), TANH(age), LOG(2, age)",
    "day + INTERVAL '3' DAY, day - INTERVAL 1 MONTH, day + 7, day - 3, began + INTERVAL '1 day 2 hours', 5 + day",
    "day + INTERVAL 3 HOUR, DATE '2024-01-31' + INTERVAL 1 MONTH, day + INTERVAL (age) DAY, LAST_DAY(day)",
    "EXTRACT(week FROM day), EXTRACT(doy FROM day), EXTRACT(second FROM began), EXTRACT(epoch FROM began)",
    "EXTRACT(decade FROM day), EXTRACT(century FROM day), WEEK(day), DAYOFYEAR(day), YEARWEEK(day), ISOYEAR(day)",
    "EXTRACT(millisecond FROM began), EXTRACT(microsecond FROM began), SECOND(began), DATE_PART('epoch', day)",
    "MONTHNAME(day), DAYNAME(day), STRFTIME(day, '%Y-%m-%d %j %A %b %% %u %w'), STRFTIME(began, '%H:%M:%S.%f %p')",
    (
        "DATE_DIFF('hour', began, TIMESTAMP '2024-05-01 00:10:00'), DATE_DIFF('quarter', day, DATE '2025-01-01'), "
        "DATE_DIFF('minute', began, TIMESTAMP '2023-05-01 00:10:00')"
    ),
    "DATE_DIFF('decade', day, DATE '2031-01-01'), DATE_DIFF('millisecond', day, began)",
    "DATE_TRUNC('minute', began), DATE_TRUNC('second', began), DATE_TRUNC('quarter', day), DATE_TRUNC('decade', day)",
    "LEFT(note, 2), RIGHT(note, 2), SUBSTR(note, -3), SUBSTRING(note, 2), REPLACE(note, 'b', 'xy'), REVERSE(note)",
    "SPLIT_PART(note, 'b', 2), LPAD(note, 4, '*'), RPAD(note, 4, 'ab'), LTRIM(note), RTRIM(note), TRIM(note, 'ab')",
    "POSITION('b' IN note), STRPOS(note, 'c'), STARTS_WITH(note, 'a'), ENDS_WITH(note, 'f'), CONTAINS(note, 'b')",
    "note ILIKE 'A%', note NOT ILIKE '%B%', note LIKE 'b!_!%c' ESCAPE '!', note SIMILAR TO 'a.*', note ~ 'b'",
    "REGEXP_MATCHES(note, '^.b'), REGEXP_MATCHES(note, 'AB', 'i'), REGEXP_FULL_MATCH(note, '[a-f]+')",
    "REGEXP_EXTRACT(note, '(b)(.)', 2), REGEXP_REPLACE(note, '[ab]', '-'), REGEXP_REPLACE(note, '[ab]', '-', 'g')",
    "CONCAT_WS('-', note, site, age), age || site, first || note, day || site, CONCAT(age, note)",
    "CAST(age AS VARCHAR), CAST(day AS VARCHAR), CAST(began AS VARCHAR), CAST(first AS VARCHAR), CAST(age AS BOOLEAN)",
    "CAST(minutes AS DECIMAL(6, 1)), CAST(age AS DECIMAL(2, 0)), age::SMALLINT, age::REAL, CAST(site = 'a' AS DOUBLE)",
    "TRY_CAST(note AS INT), TRY_CAST('12' AS INT), TRY_CAST(CAST(day AS VARCHAR) AS DATE)",
    "first = 1, first <> 0, age = '30', age IN ('1', 2), minutes > '1.5', first = 'true'",
    "note IS DISTINCT FROM site, note IS NOT DISTINCT FROM NULL, minutes IS DISTINCT FROM 3",
    "CASE WHEN first THEN DATE '2024-01-01' ELSE day END, COALESCE(began, TIMESTAMP '2024-01-01 00:00:01')",
]


@pytest.mark.parametrize("values", VALUES)
def test_values_of_rows_are_those_of_duckdb(values: str) -> None:
    check_rows(f"SELECT {values} FROM visits")


ROWS = [
    "SELECT * FROM visits WHERE first",
    "SELECT v.*, s.region FROM visits v JOIN sites s ON v.site = s.site",
    "SELECT v.age, s.region FROM visits v LEFT JOIN sites s ON s.site = v.site AND s.beds > 3",
    "SELECT site, age, region, beds FROM visits JOIN sites USING (site) WHERE beds = 3",
    "SELECT a.age, v.age AS years FROM visits v JOIN accounts a ON a.user_id = v.user_id AND a.age < v.age",
    "SELECT * FROM sites JOIN (SELECT user_id, site AS place FROM visits) t ON sites.site = t.place",
    (
        "WITH w AS (SELECT age, site FROM visits WHERE age > 50) SELECT x.age, y.age AS other FROM w x "
        "JOIN w y USING (site)"
    ),
    "SELECT x * 2 FROM (SELECT age AS x, site FROM visits UNION ALL SELECT beds, region FROM sites) WHERE site <> 'a'",
    "SELECT t.age AS site, t.site AS age FROM (SELECT site, age FROM visits) t WHERE age > 50",
    "WITH visits AS (SELECT age + 1 AS age FROM visits), w AS (SELECT age FROM visits) SELECT age FROM w",
]


@pytest.mark.parametrize("text", ROWS)
def test_rows_are_those_of_duckdb(text: str) -> None:
    check_rows(text)


def check_rows(text: str) -> None:
    relation = read_sql(text, public()).rows
    assert relation is not None
    found = [tuple(map(plain, row.values())) for _, row in Reference(data(), ByValue()).rows(relation)]
    assert in_order(found) == in_order(told(text))


QUESTIONS = [
    "SELECT COUNT(DISTINCT (site, user_id)), COUNT(DISTINCT (site, minutes)), SUM(DISTINCT minutes), "
    "AVG(DISTINCT minutes) FROM visits",
    "SELECT COUNT(*), COUNT(minutes), COUNT(DISTINCT user_id), COUNT(DISTINCT site), COUNT_IF(first) FROM visits",
    "SELECT SUM(age), AVG(minutes), MIN(age), MAX(minutes), AVG(first::INT) FROM visits WHERE site <> 'a'",
    "SELECT site, COUNT(*) AS n, SUM(age) / COUNT(*) AS mean FROM visits GROUP BY site ORDER BY n DESC, site LIMIT 2",
    "SELECT site, SUM(age) AS age FROM visits GROUP BY site HAVING age > 900 ORDER BY age",
    "SELECT site AS s, first, COUNT(*) FILTER (WHERE age > 30) FROM visits GROUP BY 2, s ORDER BY s DESC, 2",
    (
        "SELECT DATE_TRUNC('quarter', day) AS q, MONTH(DATE_TRUNC('quarter', day)) + 1 AS m, COUNT(*) "
        "FROM visits GROUP BY q"
    ),
    "SELECT site, first, COUNT(*), SUM(age) FROM visits GROUP BY ROLLUP (site, first)",
    "SELECT site, first, COUNT(*) FROM visits GROUP BY CUBE (site, first)",
    "SELECT site, first, COUNT(*) FROM visits GROUP BY GROUPING SETS ((site), (first), ())",
    "SELECT site, MONTH(day) > 6 AS late, COUNT(*) FROM visits GROUP BY first, GROUPING SETS ((site, late), site)",
    "SELECT region, COUNT(*), COUNT(DISTINCT user_id) FROM visits LEFT JOIN sites USING (site) GROUP BY region",
    "SELECT plan, COUNT(*), SUM(v.age + a.age) FROM visits v JOIN accounts a USING (user_id) GROUP BY ALL",
    "SELECT COUNT(*), COUNT(DISTINCT a.user_id), COUNT(a.plan) FROM visits v LEFT JOIN accounts a USING (user_id)",
    "SELECT COUNT(*) FROM visits v JOIN visits w ON v.user_id = w.user_id AND v.site = w.site AND v.age < w.age",
    "SELECT AVG(n), MAX(n), SUM(s) FROM (SELECT user_id, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY user_id)",
    "SELECT site, AVG(m) FROM (SELECT user_id, site, MAX(age) - MIN(age) AS m FROM visits GROUP BY 1, 2) GROUP BY site",
    (
        "SELECT COUNT(*), MAX(m) FROM (SELECT user_id u, AVG(age) m FROM visits GROUP BY u HAVING "
        "COUNT(*) > 5) WHERE m < 60"
    ),
    (
        "SELECT SUM(a), SUM(b) FROM (SELECT user_id, COUNT(*) FILTER (WHERE first) a, COUNT(DISTINCT "
        "site) b FROM visits GROUP BY 1)"
    ),
    (
        "SELECT plan, AVG(n) FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id) JOIN "
        "accounts USING (user_id) GROUP BY plan"
    ),
    (
        "WITH w AS (SELECT user_id, age FROM visits UNION ALL SELECT user_id, age FROM accounts) SELECT "
        "COUNT(*), SUM(age) FROM w"
    ),
    (
        "SELECT CASE WHEN age < 50 THEN 'young' ELSE 'old' END AS band, ROUND(AVG(age), 1) AS a FROM "
        "visits GROUP BY band ORDER BY a"
    ),
]


@pytest.mark.parametrize("text", QUESTIONS)
def test_statistics_are_those_of_duckdb(text: str) -> None:
    question = read_sql(text, catalog()).question
    assert question is not None
    found, expected = [tuple(map(plain, row)) for row in answers(question)], told(text)
    assert len(expected) > 0
    assert (found == expected) if question.order else (in_order(found) == in_order(expected))


def answers(question: Question) -> list[tuple[Any, ...]]:
    """Answers a question without any noise."""
    reference = Reference(data(), ByValue())
    rows = reference.rows(question.source)
    lines = []
    for places in question.sets:
        groups: dict[tuple[Any, ...], list[Owned]] = defaultdict(list)
        for one in rows:
            kept = [reference.value(made, one.row) for _, made in question.keys]
            groups[tuple(value if place in places else None for place, value in enumerate(kept))].append(one)
        for key, group in groups.items():
            lines.append(({name: value for (name, _), value in zip(question.keys, key, strict=True)}, group))

    def worked_out(made: Expression, line: tuple[dict[str, Any], list[Owned]]) -> Any:
        return reference.value(with_numbers(made, line[1], reference), line[0])

    if question.having is not None:
        lines = [line for line in lines if worked_out(question.having, line) is True]
    for order in reversed(question.order):
        lines.sort(key=lambda line, by=order.by: worked_out(by, line), reverse=order.descending)  # type: ignore[misc]
    return [tuple(worked_out(made, line) for _, made in question.columns) for line in lines[: question.limit]]


def with_numbers(made: Expression, group: list[Owned], reference: Reference) -> Expression:
    """Puts numbers where an expression has statistics."""
    match made:
        case StatisticValue(statistic):
            return Literal(statistic_of(statistic, group, reference), made.kind)
        case Call():
            return replace(made, parts=tuple(with_numbers(part, group, reference) for part in made.parts))
        case Column() | Literal():
            return made
    raise TypeError(made)


def statistic_of(statistic: Statistic, group: list[Owned], reference: Reference) -> Any:
    """Computes a statistic of some rows as SQL would."""
    kept = [one for one in group if statistic.where is None or reference.value(statistic.where, one.row) is True]
    values = [reference.value(operand, one.row) for operand in statistic.operands for one in kept]
    there: list[Any] = [value for value in values if value is not None]
    match statistic:
        case Count(None):
            return len(kept)
        case Count():
            return len(there)
        case CountUnits():
            return len({one.unit for one in kept})
        case CountDistinct(operands=operands):
            rows = [tuple(reference.value(operand, one.row) for operand in operands) for one in kept]
            return len({row for row in rows if None not in row})
        case SumDistinct():
            return sum(set(there))
        case MeanDistinct():
            return sum(set(there)) / len(set(there))
        case Sum():
            return sum(there)
        case Mean():
            return sum(there) / len(there)
        case Quantile(_, at) if at in (0, 1):
            return max(there) if at else min(there)
    raise TypeError(statistic)
