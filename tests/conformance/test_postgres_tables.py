"""Tables of PostgreSQL of every sort: names, types, views, rights, and databases that sort in their own way."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.examples.postgres_tables import address, connection

import sfumato as sf
from sfumato.audit.grey_box_queries import grey_box_query
from sfumato.audit.record import Verdict
from sfumato.cli.main import main
from sfumato.core.outages import Outage
from sfumato.errors import BadArgument, QueryRefused, RunFailed
from sfumato.query.engines.postgres.connections import Connections
from sfumato.query.engines.postgres.opening import Postgres
from sfumato.query.engines.postgres.server import Address
from sfumato.query.engines.protocol import Engine
from sfumato.query.engines.registry import opener_of, schema_of
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Column, Literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Scan, Where
from sfumato.query.plan.engine_plan import Cells, Rows, Units

SCHEMA = """
DROP SCHEMA IF EXISTS "Clinic" CASCADE;
CREATE SCHEMA "Clinic";
CREATE TYPE "Clinic".mood AS ENUM ('good', 'bad');
CREATE DOMAIN "Clinic".age AS int CHECK (value > 0);
CREATE DOMAIN "Clinic".years AS "Clinic".age;
CREATE TABLE "Clinic"."My {Visits}" (
    "user id" int, mood "Clinic".mood, age "Clinic".years, code char(5), id uuid, short varchar(3), at timestamptz,
    day date, price numeric(12, 2), wide numeric, small real, flag bool, tags text[], scores int[], blob bytea);
INSERT INTO "Clinic"."My {Visits}" VALUES
    (1, 'good', 30, 'ab', '0a000000-0000-0000-0000-000000000000', 'abc', '2024-01-01 00:30:00+02', '2024-02-29', 1.50,
     1e300, 0.5, true, '[5:7]={a,NULL,b}', '{1,2}', 'x'),
    (1, 'bad', NULL, 'ab   ', NULL, 'ab ', 'infinity', '-infinity', 'NaN',
     'Infinity', 'NaN', false, '{}', '{{1,2},{3,4}}', ''),
    (2, NULL, 31, '', NULL, '', '-infinity', '4713-01-01 BC', -2.5, 'NaN', '-Infinity', NULL, NULL, NULL, NULL),
    (NULL, 'good', 32, 'x', NULL, NULL, NULL, '294277-01-01', 0, 1e-400, 3e38, true, '{z}', '{9223372}', NULL);
CREATE TABLE parted (user_id int, n int) PARTITION BY LIST (n);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_other PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT i % 10, i % 4 FROM generate_series(1, 100) AS i;
CREATE TABLE visits (user_id int, n int);
INSERT INTO visits SELECT i % 10, i % 4 FROM generate_series(1, 100) AS i;
CREATE MATERIALIZED VIEW stored AS SELECT * FROM visits WHERE n > 0;
CREATE VIEW plain AS SELECT user_id, n + 1 AS n FROM visits WHERE n > 0;
CREATE VIEW random_rows AS SELECT user_id, (random() * 10)::int AS n FROM visits;
CREATE VIEW below AS SELECT * FROM random_rows;
CREATE VIEW totals AS SELECT user_id, sum(n)::int AS n FROM visits GROUP BY user_id;
CREATE VIEW ranked AS SELECT user_id, rank() OVER (ORDER BY n)::int AS n FROM visits;
CREATE VIEW first_ones AS SELECT * FROM visits ORDER BY n LIMIT 3;
CREATE VIEW apart AS SELECT DISTINCT user_id, n FROM visits;
CREATE VIEW less AS SELECT * FROM visits EXCEPT SELECT * FROM parted;
CREATE VIEW sampled AS SELECT * FROM visits TABLESAMPLE BERNOULLI (50);
CREATE TABLE guarded (user_id int, n int);
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON guarded USING (n = 1);
INSERT INTO guarded SELECT * FROM visits;
CREATE TABLE sites (site text, n int);
INSERT INTO sites VALUES ('a', 1), ('b', 2), ('b', 3), (NULL, NULL);
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Gives a database with tables of every sort."""
    with connection(address()) as made:
        made.execute(b"DROP DATABASE IF EXISTS sorts WITH (FORCE)")
        made.execute(b"CREATE DATABASE sorts")
    there = address().replace("/engines?", "/sorts?")
    with connection(there) as made:
        schema = (
            SCHEMA if made.info.server_version >= 140_000 else SCHEMA.replace("'Infinity', 'NaN', f", "'NaN', 'NaN', f")
        )
        made.execute(schema.encode())
    yield there


def book(table: str, columns: Mapping[str, Any], unit: str = "user_id") -> dict[str, Any]:
    return {
        "codebook": 1,
        "title": "Sorts",
        "unit": {"protects": "a person", "id": unit},
        "tables": {table: {"columns": {unit: {"type": "int"}, **columns}}},
    }


def opened(url: Any, table: str, columns: Mapping[str, Any], unit: str = "user_id", **settings: Any) -> Engine:
    catalog = Catalog(sf.Codebook.read(book(table, columns, unit)))
    return Postgres(**settings).open(url, catalog)


def rows_of(engine: Engine, table: str, scan: Scan, *names: str) -> set[tuple[Any, ...]]:
    columns = {column.name: column for column in scan.columns}
    found = engine.run(Cells(scan, tuple(columns[name] for name in names), (Rows(),)))
    return set(zip(*found.keys, strict=True))


N = {"n": {"type": "int"}}


@pytest.mark.parametrize("table", ["visits", "parted", "plain", "stored", "public.visits", '"public"."visits"'])
def test_tables_and_views_that_are_opened(url: str, table: str) -> None:
    with closing(opened(url, table, N)) as engine:
        scan = Catalog(sf.Codebook.read(book(table, N))).tables[table]
        found = engine.run(Cells(scan, (), (Rows(), Units())))
        most = 75 if table in ("plain", "stored") else 100
        assert [int(one[0]) for one in found.numbers] == [most, 10]


def test_of_a_foreign_table_nothing_is_believed(url: str) -> None:
    """Whatever it promises, its rows are taken as they come, and no condition goes to the other server."""
    psycopg = pytest.importorskip("psycopg", reason="needs psycopg")
    folder = url.partition("host=")[2]
    with connection(url) as made:
        try:
            made.execute(b"CREATE EXTENSION IF NOT EXISTS postgres_fdw")
        except psycopg.Error:
            pytest.skip("needs postgres_fdw")
        made.execute(b"DROP SERVER IF EXISTS back CASCADE")
        made.execute(
            f"CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{folder}', dbname 'sorts')".encode()
        )
        made.execute(
            b"CREATE USER MAPPING FOR postgres SERVER back OPTIONS (user 'postgres', password_required 'false')"
        )
        made.execute(
            b"CREATE FOREIGN TABLE afar (user_id int NOT NULL, n int CHECK (n > 90)) SERVER back"
            b" OPTIONS (table_name 'visits')"
        )
    run, sent = Connections.run, list[str]()
    with closing(opened(url, "afar", N)) as engine, pytest.MonkeyPatch.context() as patch:
        scan = Catalog(sf.Codebook.read(book("afar", N))).tables["afar"]
        patch.setattr(Connections, "run", lambda self, text, values=(): sent.append(text) or run(self, text, values))
        few = Where(scan, call("lt", scan.columns[1], Literal(2, scan.columns[1].kind)))
        assert [int(one[0]) for one in engine.run(Cells(few, (), (Rows(), Units()))).numbers] == [50, 10]
        _, plan = engine._connections.run(f"EXPLAIN (VERBOSE) {sent[0]}", (2,))
    remote = [row[0] for row in plan if "Remote SQL" in row[0]]
    assert remote and not any("WHERE" in line for line in remote)


REFUSED = [
    ("random_rows", "calls a function that is volatile"),
    ("below", "calls a function that is volatile"),
    ("totals", "aggregates and groups"),
    ("ranked", "ranks"),
    ("first_ones", "cuts with LIMIT"),
    ("apart", "groups"),
    ("less", "takes apart or out what is alike"),
    ("sampled", "samples"),
    ("nothing", "a table nothing"),
    ("Visits", "Did you mean 'visits'"),
    ("pg_class", "a table pg_class"),
]


@pytest.mark.parametrize(("table", "why"), REFUSED, ids=[name for name, _ in REFUSED])
def test_tables_and_views_that_are_refused(url: str, table: str, why: str) -> None:
    with pytest.raises(BadArgument, match=why):
        opened(url, table, N)


def test_a_view_that_is_vouched_for_is_opened(url: str) -> None:
    opened(url, "totals", N, vouched=("totals",)).close()
    opened(url, "totals", N, vouched=("public.totals",)).close()
    with pytest.raises(BadArgument, match="volatile"):
        opened(url, "random_rows", N, vouched=("random_rows",))


TYPES = {
    "mood": ("str", {("good",), ("bad",), (None,)}),
    "age": ("int", {(30,), (None,), (31,)}),
    "code": ("str", {("ab",), ("",)}),
    "id": ("str", {("0a000000-0000-0000-0000-000000000000",), (None,)}),
    "short": ("str", {("abc",), ("ab ",), ("",)}),
    "at": ("time", {(datetime.datetime(2023, 12, 31, 22, 30),), (None,)}),
    "day": ("date", {(datetime.date(2024, 2, 29),), (None,)}),
    "price": ("float", {(1.5,), (None,), (-2.5,)}),
    "wide": ("float", {(1e300,), (None,)}),
    "small": ("float", {(0.5,), (None,)}),
    "flag": ("bool", {(True,), (False,), (None,)}),
}


@pytest.mark.parametrize("name", TYPES)
def test_every_type_is_read_as_it_is(url: str, name: str) -> None:
    kind, expected = TYPES[name]
    table, columns = "Clinic.My {Visits}", {name: {"type": kind}}
    with closing(opened(url, table, columns, "user id")) as engine:
        scan = Catalog(sf.Codebook.read(book(table, columns, "user id"))).tables[table]
        assert rows_of(engine, table, scan, name) == expected


def test_decimals_are_rounded_to_the_even_one_and_types_that_are_none_are_refused(url: str) -> None:
    table, columns = "Clinic.My {Visits}", {"price": {"type": "int"}}
    with closing(opened(url, table, columns, "user id")) as engine:
        scan = Catalog(sf.Codebook.read(book(table, columns, "user id"))).tables[table]
        assert rows_of(engine, table, scan, "price") == {(2,), (None,), (-2,)}
    for name, kind, shown in (("blob", "str", "bytea"), ("mood", "date", ""), ("flag", "int", "boolean")):
        if shown:
            with pytest.raises(BadArgument, match=f"can be read as .*{shown}"):
                opened(url, table, {name: {"type": kind}}, "user id")
    with pytest.raises(BadArgument, match=r"the column .*nothing"):
        opened(url, table, {"nothing": {"type": "int"}}, "user id")


@pytest.mark.parametrize(("name", "kind", "expected"), [
    ("tags", "str", {("a",): 1, ("b",): 1, (None,): 1}),
    ("scores", "int", {(1,): 1, (2,): 1}),
])  # fmt: skip
def test_items_of_lists_that_begin_anywhere_and_of_none_that_are_nested(
    url: str, name: str, kind: str, expected: dict[Any, int]
) -> None:
    described = {name: {"type": "list", "items": {"type": kind}}}
    catalog = Catalog(sf.Codebook.read(book("Clinic.My {Visits}", described, "user id")))
    scan = next(iter(catalog.tables.values()))
    items = replace(scan, unnested=scan.lists)
    with closing(Postgres().open(url, catalog)) as engine:
        key = items.fields[-1]
        found = engine.run(Cells(items, (key,), (Rows(),)))
        assert dict(zip(zip(*found.keys, strict=True), map(int, found.numbers[0]), strict=True)) == expected


def test_ids_of_several_types_are_told_apart_exactly(url: str) -> None:
    with connection(url) as made:
        made.execute(b"DROP TABLE IF EXISTS one, other")
        made.execute(b"CREATE TABLE one (user_id float8); CREATE TABLE other (user_id text)")
        floats = "1, 1.4, 1.0, '-0', 0, 'NaN', NULL, 'Infinity', 1e300, 9007199254740992, 1e22, 0.1"
        texts = "'1', '1.0', ' +1.40', 'x', 'NA', '2e0', '2', '9007199254740993', '9007199254740992.0', '1e400', '.1'"
        made.execute(f"INSERT INTO one SELECT unnest(ARRAY[{floats}]::float8[])".encode())
        made.execute(f"INSERT INTO other SELECT unnest(ARRAY[{texts}])".encode())
    facts = book("one", {})
    facts["unit"]["id"] = "user_id"
    facts["tables"] = {name: {"columns": {"user_id": {"type": "float"}}} for name in ("one", "other")}
    catalog = Catalog(sf.Codebook.read(facts))
    with closing(Postgres().open(url, catalog)) as engine:
        units = {
            name: int(engine.run(Cells(scan, (), (Units(),))).numbers[0][0]) for name, scan in catalog.tables.items()
        }
    assert units == {"one": 8, "other": 8}


def test_names_in_addresses(url: str) -> None:
    table = {"v": f"{url}&table=visits"}
    opened(table, "v", N).close()
    opened({"v": f"{url}&schema=public&table=visits"}, "v", N).close()
    opened(f"{url}&schema=public", "visits", N).close()
    odd = f"{url}&schema=Clinic&table=My%20%7BVisits%7D"
    opened({"v": odd}, "v", {}, "user id").close()
    with pytest.raises(BadArgument, match="a table visits in the schema Clinic"):
        opened(f"{url}&schema=Clinic", "visits", N)
    with pytest.raises(BadArgument, match="in one database of one server"):
        opened({"v": table["v"], "w": address()}, "v", N)
    with pytest.raises(BadArgument, match=r"given for each table"):
        opened(table, "w", N)
    assert schema_of(f"{url}&table=visits") == {"visits": {"user_id": "INT4", "n": "INT4"}}
    assert schema_of(f"{url}&schema=Clinic")["My {Visits}"]["price"] == "NUMERIC(12,2)"
    assert "Clinic.My {Visits}" in schema_of(url)
    assert isinstance(opener_of(url), Postgres) and isinstance(opener_of(table), Postgres)


# Rights


@pytest.fixture
def reader(url: str) -> Iterator[str]:
    """Gives the address of a role that may do what docs/engines.md says, and nothing else."""
    with connection(url) as made:
        made.execute(b"DROP ROLE IF EXISTS analyst")
        made.execute(b"CREATE ROLE analyst LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT")
        made.execute(b"REVOKE CREATE, TEMPORARY ON DATABASE sorts FROM PUBLIC")
        made.execute(b"REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        made.execute(b'GRANT USAGE ON SCHEMA public, "Clinic" TO analyst')
        made.execute(b'GRANT SELECT ON visits, sites, guarded, "Clinic"."My {Visits}" TO analyst')
    yield url.replace("postgres@", "analyst@")
    with connection(url) as made:
        made.execute(b"DROP OWNED BY analyst")
        made.execute(b"DROP ROLE analyst")


def test_a_role_that_may_read_tables_and_nothing_else_is_enough(reader: str) -> None:
    facts = book("visits", N)
    facts["tables"]["sites"] = {"public": True, "columns": {"site": {"type": "str"}, "n": {"type": "int"}}}
    session = sf.Dataset(reader, name="visits", codebook=facts).session(limit=sf.Pure(1000), ledger="memory:")
    release = session.sql(
        "SELECT COUNT(*) AS n FROM visits JOIN sites ON visits.n = sites.n", loss=sf.Pure(900), max_rows=50
    )
    assert abs(release.value.to_dict()["n"][0] - 75) < 20
    odd = book("Clinic.My {Visits}", {"mood": {"type": "str"}, "age": {"type": "int"}}, "user id")
    sf.Dataset(reader, name="odd", codebook=odd).session(limit=sf.Pure(1), ledger="memory:")
    with pytest.raises(BadArgument, match="lacks a right"):
        sf.Dataset(reader, name="parted", codebook=book("parted", N))
    assert set(schema_of(reader)) == {"visits", "sites", "guarded", "Clinic.My {Visits}"}


def test_rows_that_a_policy_would_leave_out_silently_are_not_left_out(reader: str, url: str) -> None:
    with pytest.raises(BadArgument, match="that this role can read whole"):
        opened(reader, "guarded", N)
    opened(url, "guarded", N).close()


def test_a_role_that_is_named_is_what_reads(reader: str, url: str) -> None:
    opened(url, "visits", N, role="analyst").close()
    with pytest.raises(BadArgument, match="lacks a right"):
        opened(url, "parted", N, role="analyst")
    with pytest.raises(BadArgument, match="that this role can read whole"):
        opened(url, "guarded", N, role="analyst")


def leads_to(start: object, *kinds: type) -> list[object]:
    """Finds what attributes and containers lead to, of some types."""
    waiting, seen, met = [start], set[int](), []
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, kinds):
            met.append(thing)
        held = [getattr(thing, name, None) for name in ("__self__", "__wrapped__", "__func__", "cell_contents")]
        held += [*vars(thing).values()] if hasattr(thing, "__dict__") and not isinstance(thing, type) else []
        held += [*(getattr(thing, "__closure__", None) or ())]
        held += [*thing] if isinstance(thing, list | tuple | set | frozenset) else []
        held += [*thing.values()] if isinstance(thing, dict) else []
        waiting += held
    return met


def test_nothing_that_a_session_holds_leads_to_the_server(url: str) -> None:
    data = sf.Dataset(url, name="visits", codebook=book("visits", N))
    session = data.session(limit=sf.Pure(2), ledger="memory:")
    session.sql("SELECT COUNT(*) AS c FROM visits", loss=sf.Pure(1), max_rows=3)
    assert leads_to([data, session], Connections, Address) == []
    assert leads_to([session], type(session)) == [session]
    with closing(opened(url, "visits", N)) as engine:
        assert leads_to(engine, Connections) and leads_to(engine, Address)


def test_the_planner_names_no_table(url: str, reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = book("visits", N)
    facts["tables"]["sites"] = {"public": True, "columns": {"site": {"type": "str"}, "n": {"type": "int"}}}
    catalog = Catalog(sf.Codebook.read(facts))
    nobody = reader.replace("analyst@", "nobody_at_all@")
    with connection(url) as made:
        made.execute(b"DROP ROLE IF EXISTS nobody_at_all")
        made.execute(b"CREATE ROLE nobody_at_all LOGIN")
    run, sent = Connections.run, list[str]()
    for settings in (Postgres(), Postgres(planner=nobody)):
        sent.clear()
        with closing(settings.open(url, catalog)) as private:
            planner = settings.open_public(url, catalog, private.held)
            with closing(planner), pytest.MonkeyPatch.context() as patch:
                patch.setattr(
                    Connections, "run", lambda self, text, values=(): sent.append(text) or run(self, text, values)
                )
                planner.prepare(Cells(catalog.tables["visits"], (), (Rows(),)))
                assert (
                    planner.matches(catalog.tables["sites"], (Column("site", catalog.tables["sites"].columns[0].kind),))
                    == 2
                )
                with pytest.raises(TypeError):
                    planner.run(Cells(catalog.tables["visits"], (), (Rows(),)))
                with pytest.raises(KeyError):
                    planner.matches(replace(catalog.tables["visits"], owner=None), ())
                assert not hasattr(planner, "answer") and leads_to(planner, Connections, Address) == []
        assert sent and not any('"public"' in text for text in sent)
        assert private.fingerprints(b"")["sites"] == planner.fingerprints(b"")["sites"]


# Databases in which texts, days and numbers are written and sorted in another way


QUESTIONS = [
    "SELECT s, COUNT(*) AS n, SUM(x) AS m FROM t GROUP BY s",
    "SELECT COUNT(*) AS n FROM t WHERE s < 'a'",
    "SELECT CAST(d AS VARCHAR) AS z, COUNT(*) AS n FROM t GROUP BY z",
    "SELECT CAST(at AS DATE) AS z, COUNT(*) AS n FROM t GROUP BY z",
    "SELECT STRFTIME(at, '%A %d %B %H') AS z, COUNT(*) AS n FROM t GROUP BY z",
    "SELECT COUNT(*) AS n FROM t WHERE s LIKE '%\\_%' OR w = 0.1",
]
QUESTIONS.append(
    "SELECT least, COUNT(*) AS n FROM (SELECT user_id, MIN(s) AS least FROM t GROUP BY user_id) AS q GROUP BY least"
)
OTHER = """
CREATE TABLE t (user_id int, s text, d date, at timestamptz, x float8, w text);
INSERT INTO t VALUES (1, 'B', '2024-02-03', '2024-02-03 23:30:00+00', 0.1, '0.1'),
    (1, 'a', '2024-12-01', '2024-06-30 22:30:00+00', 0.30000000000000004, '1e-1'), (2, E'\\\\_', '2024-02-03',
    '2024-03-31 01:30:00+00', 12345678.9, ',1'), (3, 'ä', '0001-01-01', '0001-01-01 00:00:00+00', 1, 'NA'),
    (3, 'Z', 'infinity', 'infinity', 'NaN', ''), (4, NULL, NULL, NULL, NULL, NULL);
"""
SETTINGS = {
    "TimeZone": "Pacific/Auckland",
    "DateStyle": "SQL, DMY",
    "IntervalStyle": "iso_8601",
    "extra_float_digits": "-10",
    "lc_time": "C",
    "search_path": "elsewhere, public",
    "standard_conforming_strings": "off",
    "transform_null_equals": "on",
    "work_mem": "64kB",
    "default_transaction_isolation": "serializable",
    "constraint_exclusion": "on",
    "jit": "on",
    "backslash_quote": "on",
    "bytea_output": "escape",
    "default_transaction_deferrable": "on",
}


def test_what_a_database_and_its_functions_are_set_to_changes_no_number(url: str) -> None:
    """The same rows in a database sorted and set otherwise, where functions stand in the way of the server's own."""
    with connection(address()) as made:
        sorted_otherwise = "LOCALE_PROVIDER icu ICU_LOCALE 'de-AT' LOCALE 'C.UTF-8'"
        if made.info.server_version < 150_000:
            sorted_otherwise = "LOCALE 'C.UTF-8'"
        for name, words in (("plainly", "LOCALE 'C'"), ("otherwise", sorted_otherwise)):
            made.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
            made.execute(f"CREATE DATABASE {name} ENCODING 'UTF8' {words} TEMPLATE template0".encode())
        for name, value in SETTINGS.items():
            listed = ", ".join(f"'{part}'" for part in value.split(", "))
            made.execute(f"ALTER DATABASE otherwise SET {name} = {listed}".encode())
    answers = []
    for name in ("plainly", "otherwise"):
        there = address().replace("/engines?", f"/{name}?")
        with connection(there) as made:
            made.execute(b"SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET search_path = public")
            made.execute(b"SET standard_conforming_strings = on")
            made.execute(OTHER.encode())
            if name == "otherwise":
                made.execute(b"CREATE SCHEMA elsewhere")
                for function in ("length", "lower", "sum", "count"):
                    made.execute(
                        f"CREATE FUNCTION elsewhere.{function}(text) RETURNS int LANGUAGE sql AS 'SELECT 7'".encode()
                    )
                made.execute(b"CREATE TABLE elsewhere.u AS SELECT * FROM public.t LIMIT 0")
        answers.append(all_answers(there))
    assert answers[0] == answers[1]
    assert all(answers[0])


def all_answers(there: str) -> list[Any]:
    from sfumato.query.build.settings import Settings
    from sfumato.query.plan.compile import compile_question
    from sfumato.query.plan.open_tables import OpenTables
    from sfumato.query.sql import read_sql

    columns = {
        "s": {"type": "str"}, "d": {"type": "date"}, "at": {"type": "time"}, "w": {"type": "float"},
        "x": {"type": "float", "between": [0, 100], "source": "a list"},
    }  # fmt: skip
    catalog = Catalog(sf.Codebook.read(book("t", columns)))
    found: list[Any] = []
    with closing(Postgres().open(there, catalog)) as engine:
        for text in QUESTIONS:
            question = read_sql(text, catalog, ()).question
            assert question is not None
            settings = Settings.read(loss=sf.Approx(1, 1e-6), max_groups=9, max_rows_per_group=9)
            compiled = compile_question(question, settings, OpenTables(engine, catalog), limit=sf.Approx, d_in=1)
            for level in compiled.levels:
                computed = engine.run(level.cells)
                found.append((computed.keys, [list(map(int, one)) for one in computed.numbers]))
    return found


# What the server refuses


def test_a_conflict_on_a_standby_is_tried_again_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    psycopg = pytest.importorskip("psycopg", reason="needs psycopg")
    scan = Catalog(sf.Codebook.read(book("visits", N))).tables["visits"]
    with closing(opened(url, "visits", N)) as engine:
        run, left = Connections.run, [1]

        def conflicting(self: Connections, text: str, values: Any = ()) -> Any:
            if left[0]:
                left[0] -= 1
                raise psycopg.errors.SerializationFailure("User query might have needed to see row secret")
            return run(self, text, values)

        monkeypatch.setattr(Connections, "run", conflicting)
        assert int(engine.run(Cells(scan, (), (Rows(),))).numbers[0][0]) == 100
        left[0] = 2
        with pytest.raises(RunFailed, match="as a standby does") as raised:
            engine.run(Cells(scan, (), (Rows(),)))
        assert raised.value.outage is Outage.CONFLICT and "secret" not in str(raised.value)
        assert raised.value.__context__ is None


def test_a_text_that_no_table_can_hold_is_refused_unpaid(url: str) -> None:
    session = sf.Dataset(url, name="sites", codebook=book("visits", {**N})).session(limit=sf.Pure(1), ledger="memory:")
    with pytest.raises(QueryRefused, match=r"U\+0000"):
        session.sql(
            "SELECT COUNT(*) AS c FROM visits WHERE CAST(n AS VARCHAR) = ?", ("\0",), loss=sf.Pure(1), max_rows=2
        )
    with pytest.raises(QueryRefused, match="PostgreSQL repeats nothing more than 255 times"):
        session.sql(
            "SELECT COUNT(*) AS c FROM visits WHERE REGEXP_MATCHES(CAST(n AS VARCHAR), '1{256}')",
            loss=sf.Pure(1),
            max_rows=2,
        )
    with pytest.raises(QueryRefused, match="PostgreSQL cannot compute regexp_extract"):
        session.sql(
            "SELECT COUNT(*) AS c FROM visits WHERE REGEXP_EXTRACT(CAST(n AS VARCHAR), '1', 0) = '1'",
            loss=sf.Pure(1),
            max_rows=2,
        )
    assert session.spent == sf.Pure(0)


# From the outside


def test_what_is_randomized_on_a_server_is_what_was_priced(url: str) -> None:
    """The grey-box audit, on a table and on the same without one person."""
    with connection(url) as made:
        made.execute(b"DROP TABLE IF EXISTS without_one")
        made.execute(b"CREATE TABLE without_one AS SELECT * FROM visits WHERE user_id <> 3")
    facts = book("visits", {"n": {"type": "int", "between": [0, 3], "source": "a list"}})
    here, there = ({"visits": f"{url}&table={name}"} for name in ("visits", "without_one"))
    for text in (
        "SELECT COUNT(*) AS c, SUM(n) AS s FROM visits",
        "SELECT AVG(n) AS m, COUNT(DISTINCT n) AS d FROM visits",
    ):
        audit = grey_box_query(text, here, there, codebook=facts, loss=sf.Pure(1), max_rows=4)
        assert audit.verdict is Verdict.SOUND, audit.faults
        assert not audit.faults


def test_commands_ask_a_server_and_show_no_password(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = url.replace("postgres@", "postgres:topsecret@")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_LEDGER", raising=False)
    said = ""

    def run(*arguments: str) -> int:
        nonlocal said
        monkeypatch.setattr("sys.argv", ["sfumato", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        said = "".join(capsys.readouterr())
        assert "topsecret" not in said
        return int(left.value.code or 0)

    drafted = (
        "codebook",
        "init",
        f"{given}&table=visits",
        "--unit",
        "user_id",
        "--protects",
        "a person",
        "-o",
        "book.yaml",
    )
    assert run(*drafted) == 0
    text = "SELECT COUNT(*) FROM visits"
    asked = ("query", given, text, "--codebook", "book.yaml", "--epsilon", "1", "--max-rows", "10")
    assert run(*asked, "--limit-epsilon", "3") == 0 and "left   ε = 2" in said
    assert (tmp_path / "sfumato-ledger.db").is_file()
    assert b"topsecret" not in (tmp_path / "sfumato-ledger.db").read_bytes()
    assert run("codebook", "check", "book.yaml", given) == 0 and "100 rows" in said
    assert run("query", given, text, "--epsilon", "1") == 2
    assert run("query", given.replace("/sorts?", "/nowhere?"), text, "--codebook", "book.yaml", "--epsilon", "1") == 3
    assert "there is no such database" in said
    assert run("query", f"{given}&table=nothing", text, "--codebook", "book.yaml", "--epsilon", "1") == 3
    assert "a table nothing" in said
