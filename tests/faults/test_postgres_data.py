"""Data on PostgreSQL when things go wrong: clear errors without data or passwords, what was charged is in the book, and
a retry with the same key costs nothing more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
from tests.faults.wires import Wire

import sfumato as sf
from sfumato.ledger.ledger import Ledger
from sfumato.query.engines.postgres import connections
from sfumato.query.engines.postgres.opening import Postgres

if TYPE_CHECKING:
    from pathlib import Path

    from side_by_side.postgres_server import PostgresServer

psycopg = pytest.importorskip("psycopg", reason="needs psycopg")

pytestmark = pytest.mark.slow

SECRET = "a row nobody may see"
BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a person", "id": "user_id"},
    "tables": {
        "visits": {
            "columns": {
                "user_id": {"type": "int"},
                "site": {"type": "str"},
                "minutes": {"type": "int", "between": [0, 60], "source": "opening hours"},
            }
        }
    },
}
COUNT = "SELECT COUNT(*) AS n, SUM(minutes) AS m FROM visits WHERE user_id <> {}"
SLOW = (
    "SELECT COUNT(*) AS n FROM visits AS a JOIN visits AS b ON a.user_id = b.user_id"
    " WHERE a.site <> b.site AND a.user_id <> {}"
)
"""Questions, each with a number of its own: one that was answered is answered again for nothing."""


def admin(server: PostgresServer, *statements: str, database: str = "clinic") -> None:
    with psycopg.connect(server.url(database), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.fixture
def server(postgres_server: PostgresServer) -> Iterator[PostgresServer]:
    """Gives the server with a database in which there are visits."""
    start(postgres_server)
    admin(postgres_server, "DROP DATABASE IF EXISTS clinic WITH (FORCE)", "CREATE DATABASE clinic", database="postgres")
    admin(
        postgres_server,
        "CREATE TABLE visits (user_id int, site text, minutes int)",
        f"INSERT INTO visits SELECT i % 300, '{SECRET}', i % 60 FROM generate_series(1, 3000) AS i",
    )
    yield postgres_server
    start(postgres_server)


def start(server: PostgresServer) -> None:
    if server._process is None or server._process.poll() is not None:
        for _ in range(100):
            with suppress(RuntimeError):
                server.start()
                break
            time.sleep(0.1)


def session_of(url: str, settings: Postgres | None = None, ledger: str | Ledger = "memory:") -> sf.Session:
    data = sf.Dataset(url, name="visits", codebook=BOOK, engine=settings)
    return data.session(limit=sf.Pure(10), ledger=ledger)


def ask(session: sf.Session, key: str, text: str = COUNT) -> Any:
    return session.sql(text.format(1000 + crc32(key.encode())), loss=sf.Pure(1), max_rows=5, key=key)


def fails(session: sf.Session, key: str, match: str, text: str = COUNT) -> None:
    """Asserts that a question fails in our words, and that it is in the book."""
    before = session.spent
    with pytest.raises(RuntimeError, match=match) as raised:
        ask(session, key, text)
    seen: BaseException | None = raised.value
    while seen is not None:
        assert SECRET not in str(seen) and "topsecret" not in str(seen) and "visits" not in str(seen)
        seen = seen.__cause__ or seen.__context__
    assert session.spent == sf.Pure(before.epsilon + 1)  # type: ignore[attr-defined]


def costs_nothing_more(session: sf.Session, key: str, text: str = COUNT) -> None:
    """Asserts that a retry costs nothing and gives no second answer, and that the question can be asked anew."""
    before = session.spent
    with pytest.raises(sf.errors.PermitUsed):
        ask(session, key, text)
    assert session.spent == before
    release = ask(session, f"{key} anew", text)
    assert ask(session, f"{key} anew", text).value.to_dict() == release.value.to_dict()
    assert session.spent == sf.Pure(before.epsilon + 1)  # type: ignore[attr-defined]


def test_a_table_that_is_dropped_altered_or_taken_away_after_it_was_opened(server: PostgresServer) -> None:
    admin(server, "DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN", "GRANT SELECT ON visits TO reader")
    session = session_of(server.url("clinic").replace("postgres@", "reader@"))
    admin(server, "REVOKE SELECT ON visits FROM reader")
    fails(session, "revoked", "lacks a right on a table")
    admin(server, "GRANT SELECT ON visits TO reader")
    costs_nothing_more(session, "revoked")
    admin(server, "ALTER TABLE visits DROP COLUMN site")
    fails(session, "dropped", "a table is not what it was when it was opened")
    admin(server, "ALTER TABLE visits ADD COLUMN site text")
    costs_nothing_more(session, "dropped")
    admin(server, "ALTER TABLE visits RENAME COLUMN minutes TO hours")
    fails(session, "renamed", "a table is not what it was when it was opened")
    admin(server, "ALTER TABLE visits RENAME COLUMN hours TO minutes", "ALTER TABLE visits RENAME TO gone")
    fails(session, "gone", "a table is not what it was when it was opened")
    admin(server, "ALTER TABLE gone RENAME TO visits")
    costs_nothing_more(session, "gone")
    costs_nothing_more(session, "renamed")


def test_statements_that_take_too_long_or_wait_too_long(server: PostgresServer) -> None:
    session = session_of(server.url("clinic"), Postgres(statement_timeout=0.15, lock_timeout=0.1))
    with psycopg.connect(server.url("clinic")) as other:
        other.execute("LOCK TABLE visits IN ACCESS EXCLUSIVE MODE")
        fails(session, "locked", "held a lock")
    costs_nothing_more(session, "locked")
    admin(server, "INSERT INTO visits SELECT 7, 'x', 1 FROM generate_series(1, 600000)")
    fails(session, "slow", "took longer than it may")
    admin(server, "DELETE FROM visits WHERE site = 'x'")
    costs_nothing_more(session, "slow")


def test_a_spill_for_which_there_is_no_room(server: PostgresServer) -> None:
    admin(server, "INSERT INTO visits SELECT i % 900, repeat('y', 900), i FROM generate_series(1, 20000) AS i")
    admin(server, "ALTER DATABASE clinic SET temp_file_limit = '100kB'")
    session = session_of(server.url("clinic"), Postgres(work_mem="64kB"))
    grouped = "SELECT COUNT(DISTINCT site) AS n FROM visits WHERE user_id <> {}"
    fails(session, "spilled", "more memory or disk", grouped)
    admin(server, "ALTER DATABASE clinic RESET temp_file_limit")
    session = session_of(server.url("clinic"))
    ask(session, "roomy", grouped)


def test_a_server_that_restarts_in_the_middle_of_a_question(server: PostgresServer) -> None:
    admin(server, "INSERT INTO visits SELECT i % 300, 'x', 1 FROM generate_series(1, 40000) AS i")
    session = session_of(server.url("clinic"))
    found: list[BaseException] = []

    def question() -> None:
        try:
            ask(session, "restarted", SLOW)
        except BaseException as fault:
            found.append(fault)

    asking = threading.Thread(target=question)
    asking.start()
    with psycopg.connect(server.url("clinic"), autocommit=True) as seen:
        running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'WITH t0%visits%'"
        for _ in range(2000):
            row = seen.execute(running.encode()).fetchone()
            if row is not None and row[0]:
                break
            time.sleep(0.002)
    server.stop(kill=True)
    asking.join()
    assert len(found) == 1
    assert "the connection to the server of the data was lost" in str(found[0]) and SECRET not in str(found[0])
    assert session.spent == sf.Pure(1)
    start(server)
    costs_nothing_more(session, "restarted", SLOW)


@pytest.fixture
def wire(tmp_path_factory: pytest.TempPathFactory, server: PostgresServer) -> Iterator[Wire]:
    made = Wire(tmp_path_factory.mktemp("w"), server)
    yield made
    made.close()


@pytest.mark.parametrize("fault", ["lost question", "lost answer"])
def test_a_connection_that_breaks_before_anything_was_answered_is_made_anew(
    fault: str, wire: Wire, server: PostgresServer
) -> None:
    session = session_of(wire.url("clinic"))
    wire.arm(fault, b"WITH t0 AS NOT MATERIALIZED")
    release = ask(session, "again")
    assert session.spent == sf.Pure(1)
    assert ask(session, "again").value.to_dict() == release.value.to_dict()
    assert session.spent == sf.Pure(1)


def test_a_connection_that_breaks_when_something_was_answered_is_not(
    wire: Wire, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another connection would see other rows: nothing may be made of both."""
    session = session_of(wire.url("clinic"))
    two = "SELECT COUNT(*) AS n, MEDIAN(minutes) AS m FROM visits WHERE user_id <> {}"
    run, seen = connections.Connections.run, [0]

    def counted(self: Any, text: str, values: Any = ()) -> Any:
        if self.together is not None:
            seen[0] += 1
            if seen[0] == 2:
                wire.arm("lost question", b"WITH t0 AS NOT MATERIALIZED")
        return run(self, text, values)

    monkeypatch.setattr(connections.Connections, "run", counted)
    fails(session, "half", "the connection to the server of the data was lost", two)
    assert seen[0] == 2
    costs_nothing_more(session, "half", two)


def test_what_breaks_off_while_data_is_opened_was_not_charged(server: PostgresServer) -> None:
    admin(server, "CREATE TABLE words (user_id int, minutes text)", "INSERT INTO words VALUES (1, '1'), (2, 'x')")
    facts = {**BOOK, "tables": {"words": {"columns": {"user_id": {"type": "int"}, "minutes": {"type": "int"}}}}}
    quick = Postgres(lock_timeout=0.05)
    data = sf.Dataset(server.url("clinic"), name="words", codebook=facts, engine=quick)
    with psycopg.connect(server.url("clinic")) as other:
        other.execute("LOCK TABLE words IN ACCESS EXCLUSIVE MODE")
        for open_it in (
            lambda: sf.Dataset(server.url("clinic"), name="words", codebook=facts, engine=quick),
            lambda: data.session(limit=sf.Pure(1), ledger="memory:"),
            lambda: sf.check_data(server.url("clinic"), facts, engine=quick),
        ):
            with pytest.raises(sf.errors.BadArgument, match="held a lock") as raised:
                open_it()
            assert "charged" not in str(raised.value) and SECRET not in str(raised.value)
    data.session(limit=sf.Pure(1), ledger="memory:")


def test_a_server_that_does_not_come_back(server: PostgresServer) -> None:
    session = session_of(server.url("clinic"))
    ask(session, "there")
    server.stop(kill=True)
    fails(session, "away", "the connection to the server of the data was lost")
    start(server)
    costs_nothing_more(session, "away")


def test_a_question_sees_one_snapshot_whatever_others_write(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Postgres().open(server.url("clinic"), sf_catalog())
    with closing(data):
        with data.at_once():
            first = rows_of(data)
            admin(server, "DELETE FROM visits WHERE user_id < 100")
            assert rows_of(data) == first == 3000
        assert rows_of(data) == 2000


def rows_of(engine: Any) -> int:
    from sfumato.query.plan.engine_plan import Cells, Rows

    return int(engine.run(Cells(sf_catalog().tables["visits"], (), (Rows(),))).numbers[0][0])


def sf_catalog() -> Any:
    from sfumato.query.nodes.catalog import Catalog

    return Catalog(sf.Codebook.read(BOOK))


def test_data_and_ledger_on_one_server(server: PostgresServer) -> None:
    url = server.url("clinic")
    with closing(Ledger.open(f"{url}&schema=book")) as ledger:
        session = session_of(url, ledger=ledger)
        release = ask(session, "one")
        assert ask(session, "one").value.to_dict() == release.value.to_dict()
        assert session.spent == session_of(url, ledger=ledger).spent == sf.Pure(1)
        admin(server, "INSERT INTO visits VALUES (1, 'new', 2)")
        with pytest.raises(sf.errors.AccountRefused, match="is that of the account visits"):
            sf.Dataset(url, name="others", codebook=BOOK).session(limit=sf.Pure(10), ledger=ledger)


def test_a_published_version_that_changed_is_refused(server: PostgresServer, tmp_path: Path) -> None:
    def opened() -> sf.Session:
        data = sf.Dataset(server.url("clinic"), name="visits", codebook=BOOK, version="2026-11")
        return data.session(limit=sf.Pure(3), ledger=str(tmp_path / "book.db"))

    release = opened().sql(COUNT.format(0), loss=sf.Pure(1), max_rows=5)
    again = opened()
    assert again.sql(COUNT.format(0), loss=sf.Pure(1), max_rows=5).value.to_dict() == release.value.to_dict()
    assert again.spent == sf.Pure(1)
    for change, back in (
        ("UPDATE visits SET minutes = 61 WHERE user_id = 7", "UPDATE visits SET minutes = 60 WHERE false"),
        ("INSERT INTO visits VALUES (NULL, NULL, NULL)", "SELECT 1"),
    ):
        admin(server, change, back)
        with pytest.raises(sf.errors.AccountRefused, match="the data changed since version '2026-11'"):
            opened()
    assert b"topsecret" not in (tmp_path / "book.db").read_bytes()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ("postgres:topsecret@/nowhere?", "there is no such database"),
        ("nobody:topsecret@/clinic?", "no such role"),
        ("guarded:topsecret@/clinic?", "the password is wrong"),
    ],
)
def test_who_is_not_let_in_is_told_so_without_the_password(server: PostgresServer, change: str, match: str) -> None:
    hba = server._folder / "data" / "pg_hba.conf"
    before = hba.read_text()
    admin(server, "DROP ROLE IF EXISTS guarded", "CREATE ROLE guarded LOGIN PASSWORD 'right'")
    try:
        hba.write_text("local all guarded scram-sha-256\n" + before)
        admin(server, "SELECT pg_reload_conf()")
        time.sleep(0.2)
        with pytest.raises(sf.errors.BadArgument, match=match) as raised:
            session_of(f"postgresql://{change}{server.url().partition('?')[2]}")
        assert "topsecret" not in repr(raised.value) and raised.value.__cause__ is None
        seen: Callable[[], str] = raised.value.__str__
        assert "topsecret" not in seen()
    finally:
        hba.write_text(before)
        admin(server, "SELECT pg_reload_conf()")
