"""The book on PostgreSQL when things go wrong: connections that break at the worst moment, servers that refuse."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from tests.examples.stores import Writer, add, authors, row
from tests.faults.wires import LATE_QUESTION, LOST_ANSWER, LOST_QUESTION, Wire

from sfumato.errors import BadArgument, LedgerDamaged, LedgerUnavailable, MissingExtra
from sfumato.ledger.store import Pen, Row
from sfumato.ledger.stores import postgres
from sfumato.ledger.stores import postgres_server as reached
from sfumato.ledger.stores.postgres import PostgresStore
from side_by_side.postgres_server import PostgresServer, running

psycopg = pytest.importorskip("psycopg", reason="needs psycopg")


@pytest.fixture
def wire(tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer) -> Iterator[Wire]:
    made = Wire(tmp_path_factory.mktemp("w"), postgres_server)
    yield made
    made.close()


@pytest.fixture
def wired(wire: Wire, postgres_address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    """Gives a store behind the wire, with one row in it."""
    # A server that has not noticed that we are gone holds up our own second attempt for a while.
    monkeypatch.setattr(reached, "SESSION", reached.SESSION.replace("20s", "700ms"))
    folder = Path(wire._listening.getsockname()).parent
    store = PostgresStore(f"{postgres_address.partition('host=')[0]}host={folder}")
    add(store, 0, row(1))
    yield store
    store.close()


@pytest.fixture
def other(postgres_address: str) -> Iterator[PostgresStore]:
    """Gives a store on the same book that nothing disturbs."""
    store = PostgresStore(postgres_address)
    yield store
    store.close()


def wary(store: PostgresStore) -> None:
    """Makes a writer wait for its turn."""
    for held in store._held.values():
        held.wary = postgres.WARY


class Decision:
    """Decides on a row, a different one each time, and counts how often it was asked."""

    def __init__(self, key: str | None = None) -> None:
        self.times, self.key = 0, key

    def __call__(self, pen: Pen) -> Sequence[Row]:
        self.times += 1
        return [row(2 + len(pen.news), f"marked {self.times}", key=self.key, value="kept")]


@pytest.mark.parametrize("fault", [LOST_QUESTION, LOST_ANSWER, LATE_QUESTION])
@pytest.mark.parametrize(("careful", "mark"), [(False, b"marked"), (True, b"marked"), (True, b"COMMIT")])
def test_an_append_on_a_breaking_connection_is_made_exactly_once(
    wire: Wire, wired: PostgresStore, other: PostgresStore, fault: str, careful: bool, mark: bytes
) -> None:
    if careful:
        wary(wired)
    decide = Decision()
    wire.arm(fault, mark)
    assert list(wired.append(1, decide)) == []
    assert decide.times == 1, "while it is in doubt nothing else is decided"
    assert [one.text for one in other.rows()] == ["text", "marked 1"]
    assert list(wired.append(2, lambda pen: [row(3, "goes on")])) == []
    assert [one.value for one in other.rows()] == [None, "kept", None]


@pytest.mark.parametrize("fault", [LOST_QUESTION, LOST_ANSWER])
def test_another_writer_may_be_faster_while_the_connection_is_broken(
    wire: Wire, wired: PostgresStore, other: PostgresStore, fault: str
) -> None:
    decide = Decision()
    wire.arm(fault, b"marked")
    wire.refuses, wire.meanwhile = True, lambda: other.append(1, lambda pen: [row(2 + len(pen.news), "other")])
    news = [one.text for one in wired.append(1, decide)]
    texts = [one.text for one in other.rows()]
    if fault == LOST_ANSWER:
        assert (news, texts, decide.times) == ([], ["text", "marked 1", "other"], 1)
    else:
        assert (news, texts, decide.times) == (["other"], ["text", "other", "marked 2"], 2)


def test_a_late_question_loses_to_another_writer(wire: Wire, wired: PostgresStore, other: PostgresStore) -> None:
    """The number is taken when it arrives: it can never be written, whatever was decided in the meantime."""
    decide = Decision()
    wire.arm(LATE_QUESTION, b"marked")
    wire.refuses, wire.meanwhile = True, lambda: other.append(1, lambda pen: [row(2 + len(pen.news), "other")])
    assert [one.text for one in wired.append(1, decide)] == ["other"]
    assert [one.text for one in other.rows()] == ["text", "other", "marked 2"]


def test_a_key_of_long_ago_and_a_lost_question_together(wire: Wire, wired: PostgresStore, other: PostgresStore) -> None:
    add(other, 1, row(2, key="k"))
    wire.arm(LOST_QUESTION, b"marked")
    found: list[Row | None] = []

    def decide(pen: Pen) -> Sequence[Row]:
        found.append(pen.by_key("k"))
        return [] if found[-1] else [row(3, "marked", key="k")]

    assert list(wired.append(2, decide)) == []
    assert [one and one.number for one in found] == [None, 2]
    assert len(list(other.rows())) == 2


def test_what_cannot_be_known_is_said(
    wire: Wire, wired: PostgresStore, other: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "PATIENCE_SECONDS", 1)
    wire.arm(LOST_ANSWER, b"marked")
    wire.refuses = True
    with pytest.raises(LedgerUnavailable, match="may have been charged") as raised:
        wired.append(1, Decision(key="k"))
    assert not raised.value.certain
    wire.refuses = False
    asked: list[Row | None] = []
    wired.append(1, lambda pen: asked.append(pen.by_key("k")) or [])
    assert asked[-1] is not None, "the same key finds what was written after all"
    assert len(list(other.rows())) == 2
    wire.refuses = True
    wired.close()
    with pytest.raises(LedgerUnavailable, match="Nothing was charged") as raised:
        wired.append(2, lambda pen: [row(3)])
    assert raised.value.certain


def test_an_append_is_one_round_trip(wire: Wire, wired: PostgresStore) -> None:
    writer = Writer(wired, "w")
    writer.known = 1
    for _ in range(10):  # afterwards the statement is prepared
        writer.write()
    before = wire.asked
    for _ in range(100):
        writer.write()
    assert wire.asked - before == 100
    for held in wired._held.values():
        assert held.wary == 0


def test_after_a_lost_race_a_writer_waits_for_its_turn_and_then_hopes_again(
    wired: PostgresStore, other: PostgresStore
) -> None:
    add(other, 1, row(2))
    assert len(wired.append(1, Decision())) == 1
    [held] = wired._held.values()
    assert held.wary == postgres.WARY
    for number in range(4, 4 + postgres.WARY):
        assert held.wary > 0
        add(wired, number - 1, row(number))
    assert held.wary == 0


def test_reads_go_on_after_the_connection_broke(wire: Wire, wired: PostgresStore) -> None:
    wire.arm(LOST_ANSWER, b"entries.number >")
    assert list(wired.rows()) == [row(1)]
    wire.arm(LOST_QUESTION, b"secrets")
    assert wired.secret("seal", lambda: b"made") == b"made"


def test_a_transaction_that_was_broken_off_swallows_nothing(wired: PostgresStore, other: PostgresStore) -> None:
    """Whatever left the connection inside a transaction: an append into that would not be durable."""
    [held] = wired._held.values()
    assert held.connection is not None
    held.connection.execute(b"BEGIN")
    add(wired, 1, row(2))
    assert len(list(other.rows())) == 2


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """Gives a server that only this test uses."""
    with running() as made:
        if made is None:
            pytest.skip("needs PostgreSQL (scripts/debian-packages)")
        yield made


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "crashed"])
def test_the_server_restarts(server: PostgresServer, kill: bool) -> None:
    other = PostgresStore(server.url())
    add(other, 0, row(1))
    server.stop(kill=kill)
    try:
        with pytest.raises(LedgerUnavailable):
            list(other.rows())
        with pytest.raises(LedgerUnavailable, match="Nothing was charged"):
            add(other, 1, row(2))
    finally:
        server.start()
    assert list(other.rows()) == [row(1)], "what was appended is there after a crash"
    add(other, 1, row(2))
    server.stop(kill=kill)
    server.start()
    add(other, 2, row(3))
    assert len(list(other.rows())) == 3
    other.close()


def test_racing_processes_survive_a_crash_of_the_server(server: PostgresServer) -> None:
    root = Path(__file__).parents[2]
    names = [f"p{i}" for i in range(3)]
    with closing(PostgresStore(server.url())) as other:
        racers = [
            subprocess.Popen([sys.executable, "-c", RACER, server.url(), name, "300"], cwd=root) for name in names
        ]
        while len(authors(other)) < len(racers):  # a process that is slow to begin has not connected yet
            assert not any(racer.poll() for racer in racers), "none has failed before the crash"
            time.sleep(0.02)
        server.stop(kill=True)
        server.start()
        assert [racer.wait() for racer in racers] == [0, 0, 0]
        assert authors(other) == dict.fromkeys(names, 300)


RACER = """
import sys, time
from sfumato.errors import LedgerUnavailable
from sfumato.ledger.stores.postgres import PostgresStore
from tests.examples.stores import Writer
store = PostgresStore(sys.argv[1])
writer = Writer(store, sys.argv[2])
for _ in range(int(sys.argv[3])):
    while True:
        rows = writer.rows
        try:
            writer.write()
            break
        except LedgerUnavailable as fault:
            if not fault.certain:
                raise
            writer.rows = rows
            time.sleep(0.1)
store.close()
"""


def ask(address: str, *statements: str) -> list[object]:
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def setting(store: PostgresStore, name: str) -> str:
    [held] = store._held.values()
    assert held.connection is not None
    found = held.connection.execute(f"SHOW {name}".encode()).fetchone()
    assert found is not None
    return str(found[0])


@pytest.mark.parametrize(
    ("said", "holds"), [("off", "on"), ("local", "on"), ("remote_write", "on"), ("remote_apply", "remote_apply")]
)
def test_a_commit_is_durable_whatever_the_server_says(postgres_address: str, said: str, holds: str) -> None:
    name = postgres_address.partition("?")[0].rpartition("/")[2]
    ask(postgres_address, f"ALTER DATABASE {name} SET synchronous_commit = {said}")
    ask(postgres_address, f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
    store = PostgresStore(postgres_address)
    assert setting(store, "synchronous_commit") == holds
    assert setting(store, "transaction_isolation") == "read committed"
    store.close()


def test_a_schema_of_another_name(postgres_address: str, other: PostgresStore) -> None:
    odd = PostgresStore(f'{postgres_address}&schema=a%20"b"')
    add(odd, 0, row(1, "odd"))
    assert list(other.rows()) == []
    assert ask(postgres_address, 'SELECT text FROM "a ""b""".entries') == [("odd",)]
    assert odd._server.lock != other._server.lock
    odd.close()
    for name in ("", "x" * 64):
        with pytest.raises(BadArgument, match="schema"):
            PostgresStore(f"{postgres_address}&schema={name}")


def test_many_open_a_new_book_at_once(postgres_address: str) -> None:
    faults: list[BaseException] = []

    def run() -> None:
        try:
            PostgresStore(postgres_address).close()
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE sfumato.kept",
        "DROP TRIGGER append_only ON sfumato.entries",
        "ALTER TABLE sfumato.entries DISABLE TRIGGER append_only",
        "DROP INDEX sfumato.by_settles",
        "ALTER TABLE sfumato.entries RENAME COLUMN digest TO hash",
        "DROP SCHEMA sfumato CASCADE; CREATE SCHEMA sfumato; CREATE TABLE sfumato.entries (a int)",
    ],
)
def test_other_tables_than_those_of_a_ledger_are_not_touched(postgres_address: str, change: str) -> None:
    PostgresStore(postgres_address).close()
    ask(postgres_address, change)
    with pytest.raises(LedgerDamaged, match="another shape"):
        PostgresStore(postgres_address)


def test_tables_that_disappear_are_not_made_again(postgres_address: str, other: PostgresStore) -> None:
    add(other, 0, row(1))
    ask(postgres_address, "DROP SCHEMA sfumato CASCADE")
    with pytest.raises(LedgerDamaged, match="missing"):
        list(other.rows())
    with pytest.raises(LedgerDamaged, match="missing"):
        add(other, 1, row(2))
    other.close()
    with pytest.raises(LedgerDamaged, match="missing"):
        other.by_key("k")


def test_a_role_that_may_only_read(postgres_address: str, other: PostgresStore) -> None:
    add(other, 0, row(1))
    ask(
        postgres_address,
        "DROP ROLE IF EXISTS reader",
        "CREATE ROLE reader LOGIN PASSWORD 'hush-hush'",
        "GRANT USAGE ON SCHEMA sfumato TO reader",
        "GRANT SELECT ON ALL TABLES IN SCHEMA sfumato TO reader",
    )
    reader = PostgresStore(postgres_address.replace("postgres@", "reader:hush-hush@"))
    assert list(reader.rows()) == [row(1)]
    with pytest.raises(LedgerUnavailable, match="lacks a right") as raised:
        add(reader, 1, row(2))
    assert "hush" not in repr(reader) + repr(raised.value)
    assert raised.value.__suppress_context__
    reader.close()
    ask(postgres_address, "DROP OWNED BY reader", "DROP ROLE reader")


def test_a_server_that_only_reads(postgres_address: str, other: PostgresStore) -> None:
    add(other, 0, row(1))
    standby = PostgresStore(f"{postgres_address}&options=-cdefault_transaction_read_only%3Don")
    assert list(standby.rows()) == [row(1)]
    with pytest.raises(LedgerUnavailable, match="can only read"):
        add(standby, 1, row(2))
    standby.close()


@pytest.mark.parametrize("careful", [False, True])
def test_waiting_has_an_end(
    postgres_address: str, other: PostgresStore, monkeypatch: pytest.MonkeyPatch, careful: bool
) -> None:
    add(other, 0, row(1))
    monkeypatch.setattr(reached, "SESSION", reached.SESSION.replace("60s", "200ms"))
    store = PostgresStore(postgres_address)
    with psycopg.connect(postgres_address) as blocking:
        if careful:
            wary(store)
            blocking.execute(f"SELECT pg_advisory_xact_lock({store._server.lock})")
        else:
            blocking.execute("INSERT INTO sfumato.entries VALUES (2, 'noted', 'digest', 'not committed')")
        with pytest.raises(LedgerUnavailable, match="kept it busy"):
            add(store, 1, row(2))
        blocking.rollback()
    add(store, 1, row(2))
    store.close()


@pytest.mark.parametrize(
    ("state", "kind", "said"),
    [
        ("53100", LedgerUnavailable, "disk of its server is full"),
        ("53300", LedgerUnavailable, "no more connections"),
        ("57P01", LedgerUnavailable, "stopping or starting"),
        ("08006", LedgerUnavailable, "connection to its server was lost"),
        (None, LedgerUnavailable, "connection to its server was lost"),
        ("57014", LedgerUnavailable, "took too long"),
        ("22012", LedgerUnavailable, "error 22012"),
        ("42P01", LedgerDamaged, "tables are missing"),
        ("42703", LedgerDamaged, "another shape"),
        ("XX001", LedgerDamaged, "stored data is broken"),
        ("23502", LedgerDamaged, "written twice, or changed"),
    ],
)
def test_what_the_server_says_is_not_passed_on(state: str | None, kind: type[Exception], said: str) -> None:
    fault = psycopg.Error("Key (key)=(ada lovelace) already exists")
    fault.sqlstate = state
    told = reached.in_our_words(fault)
    assert type(told) is kind
    assert said in str(told)
    assert "ada" not in str(told)


def test_a_statement_that_the_server_breaks_off(postgres_address: str, other: PostgresStore) -> None:
    add(other, 0, row(1))
    slow = PostgresStore(postgres_address)
    [held] = slow._held.values()
    assert held.connection is not None
    held.connection.execute(b"SET statement_timeout = '200ms'")  # not before: to open a book may take longer
    with psycopg.connect(postgres_address) as blocking:
        blocking.execute("LOCK TABLE sfumato.entries")
        with pytest.raises(LedgerUnavailable, match="took too long"):
            add(slow, 1, row(2))
        with pytest.raises(LedgerUnavailable, match="took too long"):
            list(slow.rows())
    slow.close()


def test_an_address_shows_no_password() -> None:
    for wrong in ("postgresql://ada:hush-hush@[::1/db", "postgresql://ada:hush-hush@h/db?nonsense=1"):
        with pytest.raises(BadArgument, match="PostgreSQL understands") as raised:
            PostgresStore(wrong)
        assert "hush" not in str(raised.value)
        assert raised.value.__context__ is None
    with pytest.raises(LedgerUnavailable, match="cannot be reached") as unreachable:
        PostgresStore("postgresql://ada:hush-hush@localhost:1/db?connect_timeout=2")
    assert "hush" not in str(unreachable.value) + str(unreachable.value.__context__)


def test_a_database_in_another_encoding_is_refused(postgres_server: PostgresServer) -> None:
    ask(postgres_server.url(), "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(LedgerUnavailable, match="encoding"):
        PostgresStore(postgres_server.url("latin"))


def test_without_the_driver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"a ledger on PostgreSQL needs .* 'sfumato\[postgres\]'"):
        PostgresStore("postgresql:///book")


def test_nothing_loads_the_driver_before_it_is_needed() -> None:
    code = "import sys, sfumato, sfumato.ledger.stores.postgres; raise SystemExit('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
