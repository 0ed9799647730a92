"""The catalog of the PostgreSQL port: what tools ask is answered as PostgreSQL would, from codebooks alone (P3-122)."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.examples.catalog import CITY, NUMBERS, asked, city

import sfumato.server.postgres.catalog as package
from sfumato.codebook.book import Codebook
from sfumato.server.postgres.catalog.catalog import Catalog, Visit, parameter_text
from sfumato.server.postgres.catalog.described import Described
from sfumato.server.postgres.catalog.keeping import Catalogs
from sfumato.server.postgres.catalog.refusals import CatalogRefused


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    made = city()
    yield made
    made.close()


def rows(catalog: Catalog, sql: str, *values: object, **said: Any) -> list[tuple[str | None, ...]]:
    answer = catalog.answer(sql, values, **said)
    assert answer is not None
    return list(answer.rows)


def code(catalog: Catalog, sql: str, *values: object) -> str:
    with pytest.raises(CatalogRefused) as refusal:
        catalog.answer(sql, values)
    return refusal.value.code


def test_tools_get_the_columns_that_postgresql_gives(catalog: Catalog) -> None:
    """Every question of psql's backslash commands, drivers, ORMs and dashboards (P3-122)."""
    faults = []
    for one in asked():
        try:
            answer = catalog.answer(one.text, one.values)
            gives = None if answer is None else tuple((column.name, column.oid) for column in answer.columns)
            described = catalog.describe(one.text, [0] * len(one.values))
        except CatalogRefused as refusal:
            faults.append(f"{one.source}: refused with {refusal.code}: {refusal}\n{one.text}")
            continue
        if gives != one.gives or described is None or described.columns != (answer and answer.columns):
            faults.append(f"{one.source}: gives {gives}, not {one.gives}\n{one.text}")
    assert not faults, "\n\n".join(faults)
    assert len(asked()) > 150


def test_a_tool_finds_schemas_tables_and_columns(catalog: Catalog) -> None:
    found = rows(
        catalog,
        "SELECT table_schema, table_name, column_name, data_type, is_nullable FROM information_schema.columns "
        "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') "
        "ORDER BY table_schema, table_name, ordinal_position",
    )
    assert found == [
        ("city", "stations", "name", "text", "NO"),
        ("city", "stations", "docks", "bigint", "YES"),
        ("city", "trips", "rider", "text", "NO"),
        ("city", "trips", "day", "date", "YES"),
        ("city", "trips", "origin", "text", "YES"),
        ("city", "trips", "destination", "text", "YES"),
        ("city", "trips", "minutes", "double precision", "YES"),
        ("city", "trips", "bonus", "boolean", "YES"),
        ("city", "trips", "at", "timestamp without time zone", "YES"),
        ("city", "trips", "ratings", "ARRAY", "YES"),
        ("exam", "scores", "student", "bigint", "YES"),
        ("exam", "scores", "score", "double precision", "YES"),
    ]


def test_pg_attribute_says_the_same_in_postgresqls_own_words(catalog: Catalog) -> None:
    found = rows(
        catalog,
        "SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute "
        "WHERE attrelid = 'trips'::regclass AND attnum > 0 ORDER BY attnum",
    )
    assert found[:2] == [("rider", "text", "t"), ("day", "date", "f")]
    assert found[-1] == ("ratings", "bigint[]", "f")


def test_keys_and_references_are_those_of_the_codebook(catalog: Catalog) -> None:
    found = rows(
        catalog,
        "SELECT conname, contype, conrelid::regclass, confrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint"
        " ORDER BY contype DESC",
    )
    assert found == [
        ("stations_pkey", "p", "stations", "-", "PRIMARY KEY (name)"),
        ("trips_origin_fkey", "f", "trips", "stations", "FOREIGN KEY (origin) REFERENCES stations(name)"),
    ]
    assert rows(catalog, "SELECT indexdef FROM pg_indexes") == [
        ("CREATE UNIQUE INDEX stations_pkey ON city.stations USING btree (name)",)
    ]


def test_a_key_that_may_be_missing_is_no_primary_key() -> None:
    book = json.loads(json.dumps(CITY))
    del book["tables"]["stations"]["columns"]["name"]["nullable"]
    made = Catalog([Described("city", Codebook.read(book))], "ada", "warehouse")
    assert rows(made, "SELECT conname, contype FROM pg_constraint WHERE contype <> 'f'") == [("stations_name_key", "u")]
    made.close()


def test_what_the_codebook_says_is_shown_as_comments(catalog: Catalog) -> None:
    assert rows(catalog, "SELECT obj_description('trips'::regclass, 'pg_class')") == [("One row a trip",)]
    assert rows(catalog, "SELECT obj_description('stations'::regclass)") == [("public",)]
    assert rows(catalog, "SELECT col_description('trips'::regclass, 5)") == [("how long · [0, 1440]",)]
    said = "SELECT description FROM pg_description WHERE classoid = 'pg_namespace'::regclass ORDER BY 1"
    assert rows(catalog, said) == [("City bicycles",), ("Exam",)]
    assert rows(catalog, "SELECT n_live_tup FROM pg_stat_user_tables WHERE relname = 'stations'") == [("3",)]


def test_numbers_of_tables_are_the_same_in_every_process(catalog: Catalog) -> None:
    found = rows(
        catalog, "SELECT relname, oid FROM pg_class WHERE relname IN ('stations', 'trips', 'scores') ORDER BY 1"
    )
    assert found == [
        ("scores", str(NUMBERS["exam.scores"])),
        ("stations", str(NUMBERS["city.stations"])),
        ("trips", str(NUMBERS["city.trips"])),
    ]
    assert NUMBERS["city.trips"] == 1_350_746_123  # kept: workers of one service must agree, also while it is renewed


def test_nobody_sees_what_they_may_not(catalog: Catalog) -> None:
    """P3-122: a catalog shows the data sets of the one who asks, and no other people."""
    made = city("ben", with_exam=False)
    for table in ("pg_class", "pg_attribute", "pg_description", "pg_namespace", "pg_constraint", "pg_roles"):
        cells = {str(cell).casefold() for row in rows(made, f"SELECT * FROM {table}") for cell in row}
        assert not cells & {"exam", "scores", "student", "ada", str(NUMBERS["exam.scores"])}, table
        assert cells & {"trips", "ben", "city", str(NUMBERS["city.trips"])}, table
    assert rows(made, "SELECT to_regclass('exam.scores'), to_regnamespace('exam')") == [(None, None)]
    assert code(made, "SELECT 'exam.scores'::regclass") == "42P01"
    assert rows(made, "SELECT rolname FROM pg_roles ORDER BY 1") == [("ben",), ("sfumato",)]
    assert rows(catalog, "SELECT to_regclass('exam.scores')") == [("scores",)]
    made.close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM trips",
        "SELECT COUNT(*) FROM city.trips",
        'SELECT * FROM "pg_catalog.pg_class"',
        "WITH pg AS (SELECT * FROM trips) SELECT COUNT(*) FROM pg",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) FROM trips",
        "EXPLAIN SELECT 1",
        "INSERT INTO pg_class VALUES (1)",
        "SET search_path = city",
        "what is this",
    ],
)
def test_what_is_no_question_to_the_catalog_is_handed_on(catalog: Catalog, sql: str) -> None:
    assert catalog.answer(sql) is None
    assert catalog.describe(sql) is None


def test_a_question_asks_the_catalog_or_data(catalog: Catalog) -> None:
    assert code(catalog, "SELECT COUNT(*) FROM trips, pg_catalog.pg_class") == "0A000"
    assert code(catalog, "SELECT (SELECT COUNT(*) FROM pg_class) FROM city.trips") == "0A000"


def test_names_without_a_schema_are_looked_up_along_the_path(catalog: Catalog) -> None:
    both = [Described("one", Codebook.read(CITY)), Described("two", Codebook.read(CITY))]
    first = Catalog(both, "ada", "warehouse")
    second = Catalog(both, "ada", "warehouse", path=["two"])
    asking = "SELECT c.oid::regclass, pg_table_is_visible(c.oid) FROM pg_class c WHERE relname = 'trips' ORDER BY 1"
    assert sorted(rows(first, asking)) == [("trips", "t"), ("two.trips", "f")]
    assert sorted(rows(second, asking)) == [("one.trips", "f"), ("trips", "t")]
    assert rows(second, "SELECT current_schema(), current_schemas(true)") == [("two", "{pg_catalog,two}")]
    assert rows(catalog, "SHOW search_path") == [("city, exam",)]
    first.close()
    second.close()


def test_names_that_need_quotes_are_found_in_them() -> None:
    book = json.loads(json.dumps(CITY))
    book["tables"]["My Trips"] = book["tables"].pop("trips")
    made = Catalog([Described("a.b", Codebook.read(book))], "ada", "warehouse")
    oid = rows(made, "SELECT oid FROM pg_class WHERE relname = 'My Trips'")[0][0]
    assert rows(made, """SELECT '"My Trips"'::regclass::oid, '"a.b"."My Trips"'::regclass""") == [(oid, '"My Trips"')]
    sql = "SELECT format('%I.%I', n.nspname, relname)::regclass::oid = c.oid FROM pg_class c JOIN pg_namespace n ON"
    assert set(rows(made, f"{sql} n.oid = relnamespace WHERE relkind = 'r' AND nspname = 'a.b'")) == {("t",)}
    made.close()


def test_rights_are_those_to_look(catalog: Catalog) -> None:
    sql = (
        "SELECT has_table_privilege($1, 'SELECT'), has_table_privilege($1, 'INSERT'), "
        "has_any_column_privilege($1, 'select')"
    )
    assert rows(catalog, sql, "city.trips") == [("t", "f", "t")]
    assert rows(catalog, sql, "city.nosuch") == [("f", "f", "f")]
    assert rows(catalog, "SELECT has_table_privilege(oid, 'SELECT') FROM pg_class WHERE relname = 'trips'") == [("t",)]
    schemas = "SELECT nspname FROM pg_namespace WHERE has_schema_privilege(oid, 'USAGE') AND nspname LIKE '%a%'"
    assert {name for (name,) in rows(catalog, schemas)} == {"exam", "information_schema", "pg_catalog", "pg_toast"}
    assert rows(catalog, "SELECT has_schema_privilege('ada', 'city', 'CREATE'), pg_has_role('ada', 'USAGE')") == [
        ("f", "t")
    ]


def test_values_of_parameters_take_the_type_of_where_they_stand(catalog: Catalog) -> None:
    sql = (
        "SELECT attname FROM pg_attribute WHERE attrelid = $1 AND attname = ANY($2) AND $3::regclass = attrelid "
        "LIMIT $4"
    )
    described = catalog.describe(sql)
    assert described is not None
    assert described.parameters == (26, 1003, 2205, 20)
    assert rows(catalog, sql, NUMBERS["city.trips"], ["day", "at"], "trips", 1) == [("day",)]
    assert rows(catalog, "SELECT $1::int + 1, $2 || 'b', $3 IS NULL", 4, "a", None) == [("5", "ab", "t")]
    assert code(catalog, "SELECT $2", "a") == "42P02"
    assert parameter_text([1, None, "a b", True]) == '{1,NULL,"a b",t}'


def test_settings_of_the_connection_come_first(catalog: Catalog) -> None:
    visit = Visit({"application_name": "psql", "sfumato.epsilon": "0.1", "server_version": "16.0"}, 77)
    asking = "SELECT current_setting('application_name'), current_setting('sfumato.epsilon'), pg_backend_pid()"
    assert rows(catalog, asking, visit=visit) == [("psql", "0.1", "77")]
    assert rows(catalog, "SELECT version()", visit=visit)[0][0].startswith("PostgreSQL 16.0 (sfumato ")  # type: ignore[union-attr]
    assert rows(catalog, asking) == [("", None, "0")]
    answer = catalog.answer("show TIME ZONE;")
    assert answer is not None and (answer.columns[0].name, answer.rows, answer.tag) == ("TimeZone", (("UTC",),), "SHOW")
    assert code(catalog, "SHOW nosuch") == "42704"


def test_a_setting_is_set_by_a_call_where_the_connection_takes_it(catalog: Catalog) -> None:
    changed: dict[str, str] = {}
    visit = Visit(change=changed.__setitem__)
    assert rows(catalog, "SELECT pg_catalog.set_config('TimeZone', $1, false)", "UTC", visit=visit) == [("UTC",)]
    assert changed == {"TimeZone": "UTC"}
    assert code(catalog, "SELECT set_config('sfumato.epsilon', '9', false)") == "0A000"
    assert code(catalog, "SELECT set_config('a', relname, false) FROM pg_class") == "0A000"
    assert rows(catalog, "SELECT set_config('jit', 'off', false)") == [("off",)]


def test_catalogs_are_kept_for_who_may_see_the_same() -> None:
    kept = Catalogs(most=2)
    city_book = Described("city", Codebook.read(CITY))
    first = kept.of([city_book], "ada", "warehouse")
    assert kept.of([Described("city", Codebook.read(CITY))], "ada", "warehouse") is first
    assert kept.of([city_book], "ben", "warehouse") is not first
    assert kept.of([], "ada", "warehouse") is not first
    assert kept.of([city_book], "ada", "warehouse") is not first  # two others were asked since


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT relname FROM pg_class WHERE oid = 'pg_class'::regclass", "pg_class"),
        ("SELECT c.tableoid::regclass FROM pg_class c WHERE relname = 'pg_am'", "pg_class"),
        ("SELECT '{1,2}'::int[] || 3", "{1,2,3}"),
        ("SELECT (ARRAY['a','b','c'])[2:3]", "{b,c}"),
        ("SELECT indkey[0] FROM pg_index", "1"),
        ("SELECT indkey FROM pg_index", "1"),
        ("SELECT array_upper(indkey, 1) FROM pg_index", "0"),
        ("SELECT 'a\"b{'::text::name || ARRAY['x y', NULL, '']::text", 'a"b{{"x y",NULL,""}'),
        (
            r"""SELECT ARRAY['a=r/b', 'x y', 'null', '', NULL, 'q"', 'b\c']::text || ''""",
            r'{a=r/b,"x y","null","",NULL,"q\"","b\\c"}',
        ),
        ("SELECT relacl FROM pg_class WHERE relname = 'trips'", "{ada=r/sfumato}"),
        ("SELECT 1.50 + 1", "2.5"),
        ("SELECT 1e20::float8, 2", "1e+20"),
        ("SELECT interval '1 day' + interval '2 hours'", "1 day 02:00:00"),
        ("SELECT E'a\\'b' || $$c$$", "a'bc"),
        ("SELECT x FROM (VALUES (2), (1)) AS t(x) ORDER BY x DESC NULLS LAST LIMIT 1", "2"),
        ("SELECT count(*) FROM (SELECT 1 UNION ALL SELECT 1 UNION SELECT 1) x", "1"),
        ("SELECT max(n) FROM unnest(ARRAY['a', 'b']) WITH ORDINALITY AS t(x, n)", "2"),
        ("SELECT (information_schema._pg_expandarray(ARRAY['a'])).n", "1"),
        ("SELECT format('%I.%s=%L', 'a b', 1, NULL)", '"a b".1=NULL'),
        ("SELECT pg_typeof(1::int2)", "smallint"),
        ("SELECT 'x' SIMILAR TO '(x|y)%'", "t"),
        ("SELECT extract(epoch FROM timestamp '1970-01-02 00:00:00')", "86400"),
        (
            "WITH RECURSIVE a(n) AS (WITH b AS (SELECT 1 AS m) SELECT m FROM b UNION ALL "
            "SELECT n + 1 FROM a WHERE n < 3) "
            "SELECT sum(n) FROM a",
            "6",
        ),
        ("SELECT t.a FROM (SELECT 1 AS a) t JOIN (SELECT 1 AS a, 2 AS b) u USING (a)", "1"),
        ("SELECT NULL::text IS NULL AND NOT (NULL = 'a') IS NOT NULL", "t"),
    ],
)
def test_expressions_have_postgresqls_meaning(catalog: Catalog, sql: str, expected: str) -> None:
    assert rows(catalog, sql)[0][0] == expected


def test_names_in_quotes_and_without_are_postgresqls(catalog: Catalog) -> None:
    answer = catalog.answer('SELECT RELNAME AS Bare, oid AS "Quoted", 1 AS select FROM PG_CLASS LIMIT 0')
    assert answer is not None
    assert [column.name for column in answer.columns] == ["bare", "Quoted", "select"]
    assert code(catalog, 'SELECT "RELNAME" FROM pg_class') == "42703"
    assert code(catalog, "SELECT oid FROM pg_class, pg_type") == "42702"
    assert code(catalog, "SELECT x.oid FROM pg_class") == "42P01"
    assert code(catalog, "SELECT 1 FROM pg_catalog.nosuch") == "42P01"


def test_no_module_of_the_catalog_reaches_data() -> None:
    """P3-122: a catalog is made of codebooks; sessions, engines over data and ledgers are out of its reach."""
    files = list(Path(package.__path__[0]).glob("*.py"))
    assert len(files) > 10
    imports = {
        node.module
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("sfumato.")
    }
    beside = {name for name in imports if not name.startswith("sfumato.server.postgres.")}
    assert beside <= {"sfumato.errors", "sfumato.codebook.book", "sfumato.codebook.columns", "sfumato.codebook.tables"}
