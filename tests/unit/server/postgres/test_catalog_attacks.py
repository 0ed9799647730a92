"""Hostile questions to the catalog: nothing is reached or changed, and none takes all of the memory or time."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples.catalog import asked, city

from sfumato.server.postgres.catalog import engine
from sfumato.server.postgres.catalog.calls import signatures
from sfumato.server.postgres.catalog.catalog import Catalog
from sfumato.server.postgres.catalog.described import Database
from sfumato.server.postgres.catalog.objects import Objects
from sfumato.server.postgres.catalog.refusals import CatalogRefused


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    made = city()
    yield made
    made.close()


REACHING = [
    "SELECT read_csv('/etc/passwd')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM parquet_scan('x.parquet')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM pragma_version()",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('x')",
    "SELECT getenv('HOME')",
    "SELECT getvariable('settings')",
    "SELECT pg_catalog.getvariable('settings')",
    "SELECT nextval('x')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT pg_sleep(100)",
    "SELECT pg_terminate_backend(1)",
    "SELECT random(), gen_random_uuid()",
    "SELECT repeat('x', 1000000000)",
    "SELECT lpad('x', 1000000000)",
    "SELECT error('x')",
    "SELECT s1.c0 FROM pg_class",
    "SELECT c0 FROM pg_class s1",
    "SELECT v FROM unnest(ARRAY[1]) AS x",
    "SELECT * FROM pg_class TABLESAMPLE bernoulli (1)",
    "SELECT * FROM pg_class FOR UPDATE",
    "SELECT * INTO x FROM pg_class",
    "WITH x AS (DELETE FROM pg_class RETURNING 1) SELECT * FROM x",
    "SELECT * FROM other.pg_catalog.pg_class",
    "SELECT 1::duckdb_type",
    "SELECT 1 OPERATOR(pg_catalog.@@@) 1",
    "SELECT x'41'",
]
"""What would reach files, settings, other functions of the engine, its own names, or time and randomness."""

NOT_ANSWERED = [
    "COPY (SELECT 1) TO '/tmp/x'",
    "ATTACH '/tmp/x.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA database_list",
    "SET memory_limit = '10GB'",
    "CALL pragma_version()",
    "CREATE TABLE x (a int)",
    "DROP TABLE pg_class",
    "DELETE FROM pg_class",
    "UPDATE pg_class SET relname = 'x'",
    "EXPLAIN ANALYZE SELECT 1",
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM "/etc/passwd"',
    'SELECT * FROM "pg_catalog.pg_class"',
    'SELECT * FROM main."pg_catalog.pg_class"',
    "SELECT * FROM sqlite_master",
    "SELECT * FROM s1",
    "SELECT 1; SELECT 2",
    "SELECT 1; ATTACH 'x'",
]
"""What is no question to the catalog, and is handed on to whoever refuses it."""

BELOW = [
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "COPY (SELECT 1) TO '/tmp/x.csv'",
    "ATTACH '/tmp/x.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET memory_limit = '10GB'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET temp_directory = '/tmp'",
]
"""What the engine itself must refuse, were one of these texts ever to reach it."""

LONG = "x" * 9000
GREEDY = [
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
    "SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_attribute c WHERE a.attname || b.attname ~ c.attname",
    "SELECT * FROM pg_attribute a, pg_attribute b",
    "SELECT string_agg(a.attname, ',') FROM pg_attribute a, pg_attribute b",
    "SELECT array_agg(a.attname) FROM pg_attribute a, pg_attribute b, pg_class c",
    "SELECT * FROM generate_series(1, 1000000000)",
    "WITH RECURSIVE t(x) AS (SELECT ARRAY[1] UNION ALL SELECT x || x FROM t) SELECT cardinality(x) FROM t",
    f"WITH RECURSIVE t(n, x) AS (SELECT 1, '{LONG}'::text UNION ALL SELECT n + 1, x FROM t) "
    "SELECT count(DISTINCT x || n) FROM t",
    "SELECT " + "array[" * 900 + "1" + "]" * 900 + " FROM pg_class",
    "SELECT " + "(" * 3000 + "1" + ")" * 3000 + " FROM pg_class",
    "SELECT " + "lower(" * 900 + "'a'" + ")" * 900 + " FROM pg_class",
    "SELECT " + ", ".join(["1"] * 5000),
    "SELECT concat(" + ", ".join(["attname"] * 3000) + ") FROM pg_attribute",
    reduce(lambda inner, _: f"WITH RECURSIVE t AS ({inner}) SELECT 1 FROM t UNION ALL SELECT 1", range(30), "SELECT 1"),
    "SELECT '" + "a" * 200_000 + "' FROM pg_class",
    "SELECT attname ~ '((((a{1,100}){1,100}){1,100}))' FROM pg_attribute",
]
"""What would take all memory or time, or makes too much of a short text."""


@pytest.mark.parametrize("sql", REACHING)
def test_what_is_not_in_the_lists_is_refused(catalog: Catalog, sql: str) -> None:
    with pytest.raises(CatalogRefused) as refusal:
        catalog.answer(sql)
    assert refusal.value.code in ("0A000", "42601", "42703", "42704", "42883", "42P01")
    assert "duckdb" not in str(refusal.value).lower().replace("duckdb_", "")


@pytest.mark.parametrize("sql", NOT_ANSWERED)
def test_what_is_no_question_is_not_run(catalog: Catalog, sql: str) -> None:
    assert catalog.answer(sql) is None
    assert catalog.answer("SELECT count(*) > 200 FROM pg_class") is not None


@pytest.mark.parametrize("sql", BELOW)
def test_the_engine_reaches_nothing_either(sql: str) -> None:
    database = Database((), "ada", "warehouse")
    made = engine.Engine(database, Objects(database))
    with pytest.raises(CatalogRefused) as refusal:
        made.run(sql, [], {})
    assert str(refusal.value) == "the catalog cannot work this question out."
    assert made.run("SELECT 1", [], {}) == [(1,)]
    made.close()


@pytest.mark.parametrize("sql", GREEDY, ids=range(len(GREEDY)))
def test_what_is_greedy_is_refused(catalog: Catalog, sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "LONGEST_RUN", 0.3)
    with pytest.raises(CatalogRefused) as refusal:
        catalog.answer(sql)
    assert refusal.value.code in ("0A000", "42601", "53200", "54000", "54001", "54011", "57014", "42883")
    answer = catalog.answer("SELECT 1")
    assert answer is not None and answer.rows == (("1",),)


CHAINED = " || ".join(["x"] * 10)
GROWING = [
    "SELECT sum(cardinality(x)) FROM (SELECT (SELECT array_agg(a.attname) FROM pg_attribute a "
    "WHERE a.attname <> b.attname) x FROM pg_attribute b) y",
    "SELECT sum(length(x)) FROM (SELECT (SELECT string_agg(a.attname, ',') FROM pg_attribute a "
    "WHERE a.attname <> b.attname) x FROM pg_attribute b) y",
    f"WITH a AS (SELECT array(SELECT generate_series(1, 2000)) x), b AS (SELECT {CHAINED} x FROM a), "
    f"c AS (SELECT {CHAINED} x FROM b), d AS (SELECT {CHAINED} x FROM c), e AS (SELECT {CHAINED} x FROM d) "
    f"SELECT cardinality(x) FROM e",
    "SELECT max(length(replace(replace(replace(replace(d.s, 'x', '{y}'), 'x', '{y}'), 'x', '{y}'), 'x', '{y}'))) {d}",
    "SELECT max(length(regexp_replace(d.s || attname, '.*', '{r}', 'g'))) {d}",
    "SELECT max(cardinality(string_to_array(d.s || attname, 'x'))) {d}",
    "SELECT max(length(array_to_string(ARRAY[{many}], ''))) {d}",
    "SELECT sum(cardinality(x)) FROM (SELECT (SELECT array_agg(g) FROM generate_series(1, 1900 + attnum) g) x "
    "FROM pg_attribute) y",
]
"""What makes much of little, which the engine does not count as memory."""

MEASURE = """
import resource, sys
from tests.examples.catalog import city
made = city()
made.answer("SELECT count(*) FROM pg_attribute")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    made.answer(sys.stdin.read())
except Exception:
    pass
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
made.close()
"""


@pytest.mark.parametrize("sql", GROWING, ids=range(len(GROWING)))
@pytest.mark.nightly
def test_a_short_question_takes_no_gigabytes(sql: str) -> None:
    said = {"y": "x" * 32, "r": r"\\0" * 16, "many": ", ".join(["d.s || attname"] * 200)}
    text = sql.format(d=f"FROM (SELECT '{LONG}'::text AS s) d, pg_attribute", **said)
    root = Path(__file__).parents[4]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], input=text, capture_output=True, text=True, cwd=root, check=True, timeout=120
    )
    assert int(done.stdout.split()[0]) < 500  # MB; 110 where it was written


def test_texts_do_not_grow_without_end(catalog: Catalog) -> None:
    """The short form of the test above: what may grow is cut, wherever it grows."""
    doubled = "s || s || s || s || s || s || s || s || s || s"
    steps = ", ".join(f"t{step} AS (SELECT {doubled} AS s FROM t{step - 1})" for step in range(1, 8))
    answer = catalog.answer(f"WITH t0 AS (SELECT 'xxxxxxxxxx'::text AS s), {steps} SELECT length(s) FROM t7")
    assert answer is not None and answer.rows == (("10000",),)
    longer = catalog.answer(f"SELECT length(replace('{LONG}', 'x', '{'y' * 100}'))")
    assert longer is not None and int(str(longer.rows[0][0])) <= 4000 * 32


def test_every_function_is_of_the_list_and_uses_each_argument_once() -> None:
    """A template that repeats an argument would double the text with each call inside of a call."""
    for name, ways in signatures().items():
        for way in ways:
            places = [f"{{{place}}}" for place in range(len(way.takes))]
            assert all(way.body.count(place) <= 1 for place in places), name


def test_neither_texts_nor_reasons_of_the_engine_are_told(catalog: Catalog, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for sql in (
        "SELECT 'zz-marker'::text::int8",
        "SELECT zz_marker('zz-marker')",
        "SELECT 'zz-marker'::regclass, 'zz-marker'::regtype",
        "SELECT 'zz-marker'::int4",
        "SET zz-marker",
        "SELECT 'zz-marker",
    ):
        try:
            catalog.answer(sql)
        except CatalogRefused as refusal:
            assert "zz-marker" not in str(refusal)
            assert refusal.__cause__ is None and (refusal.__context__ is None or refusal.__suppress_context__)
    assert "zz-marker" not in caplog.text


WORDS = st.sampled_from(
    [
        "SELECT",
        "FROM",
        "WHERE",
        "pg_class",
        "pg_attribute",
        "oid",
        "relname",
        "(",
        ")",
        ",",
        ".",
        "*",
        "=",
        "ANY",
        "ARRAY",
        "[",
        "]",
        "1",
        "'a'",
        "::",
        "regclass",
        "text",
        "CASE",
        "WHEN",
        "THEN",
        "END",
        "AS",
        "x",
        "JOIN",
        "ON",
        "true",
        "LATERAL",
        "UNION",
        "ALL",
        "ORDER",
        "BY",
        "LIMIT",
        "WITH",
        "NOT",
        "NULL",
        "IN",
        "||",
        "~",
        "count",
        "unnest",
        "$1",
        '"',
        ";",
        "--",
        "E'",
    ]
)


@given(st.lists(WORDS, max_size=40))
def test_strange_texts_are_answered_or_refused(words: list[str]) -> None:
    _survives(" ".join(words))


@given(st.sampled_from([one.text for one in asked()]), st.data())
def test_damaged_questions_are_answered_or_refused(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    _survives(text[:start] + data.draw(st.text(max_size=5)) + text[end:])


KEPT: list[Catalog] = []


def _survives(text: str) -> None:
    if not KEPT:
        KEPT.append(city())
    try:
        answer = KEPT[0].answer(text, ["1"])
    except CatalogRefused as refusal:
        assert len(refusal.code) == 5 and len(str(refusal)) < 300
    else:
        assert answer is None or all(len(row) == len(answer.columns) for row in answer.rows)
