"""Connections to the PostgreSQL port: TLS, limits on everything, cancelling, and what is logged of them."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.pq import ExecStatus
from tests.unit.server.postgres.certificates import write_certificate
from tests.unit.server.postgres.ports import COUNT, OpenPort, opened, startup
from tests.unit.server.world import MARKER, World, register, world_in

from sfumato.errors import BadArgument
from sfumato.server.postgres.port import Limits, tls_of
from sfumato.server.settings import ServerSettings
from sfumato.service.analysts import Analysts

SSL_REQUEST = struct.pack(">ii", 8, 80877103)
GSS_REQUEST = struct.pack(">ii", 8, 80877104)
LARGE = "SELECT a.*, b.* FROM pg_class AS a, pg_class AS b LIMIT 20000"
FIVE = Limits(message=1 << 20, startup=0.5, write=0.5, idle=0.7, connections=4, per_person=2)


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenPort, Path]]:
    """A service of its own with a certificate."""
    folder = tmp_path_factory.mktemp("encrypted")
    certificate, key = write_certificate(folder)
    with world_in(folder, certificate=certificate, private_key=key) as world:
        register(world)
        world.grant("ada")
        with opened(world) as port:
            yield port, certificate


def test_tls_with_a_certificate_that_is_checked_and_a_proof_that_is_bound(encrypted: tuple[OpenPort, Path]) -> None:
    port, certificate = encrypted
    said = {"sslmode": "verify-full", "sslrootcert": str(certificate), "channel_binding": "require"}
    with port.connect(**said) as connection:
        assert connection.pgconn.ssl_in_use
        assert len(connection.execute(COUNT).fetchall()) == 1
    with port.connect(sslmode="require", channel_binding="disable") as connection:
        assert len(connection.execute(COUNT).fetchall()) == 1


def test_no_proof_is_bound_without_tls(port: OpenPort) -> None:
    with pytest.raises(psycopg.OperationalError, match="channel binding"):
        port.connect(channel_binding="require")
    with pytest.raises(psycopg.OperationalError, match="does not support SSL"):
        port.connect(sslmode="require")


def test_a_certificate_that_cannot_be_read(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("nothing", encoding="ascii")
    with pytest.raises(BadArgument, match="certificate_file"):
        tls_of(wrong, wrong)


def test_others_are_let_in_by_tls_alone(encrypted: tuple[OpenPort, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadArgument, match="certificate"):
        ServerSettings(host="0.0.0.0", behind_proxy=True, pg_port=5433)
    port, certificate = encrypted
    own = ServerSettings(
        behind_proxy=True, pg_port=5433, pg_host="0.0.0.0", pg_certificate=certificate, pg_private_key=certificate
    )
    assert (own.pg_address, own.tls, own.pg_tls) == ("0.0.0.0", False, (certificate, certificate))
    monkeypatch.setitem(vars(port.world.running.settings), "pg_host", "0.0.0.0")
    with pytest.raises(psycopg.OperationalError, match="by TLS alone"):
        port.connect(sslmode="disable")


def test_nothing_that_was_sent_before_encryption_is_believed(encrypted: tuple[OpenPort, Path]) -> None:
    """A man in the middle who puts octets before the handshake (CVE-2021-23214) only ends the connection."""
    port, _ = encrypted
    answer = port.raw(SSL_REQUEST + startup(user="ada"))
    assert answer[:1] == b"E"
    assert b"before encryption" in answer


def test_a_handshake_that_is_none(encrypted: tuple[OpenPort, Path]) -> None:
    port, _ = encrypted
    with socket.create_connection(("127.0.0.1", port.number), 5) as connection:
        connection.sendall(SSL_REQUEST)
        assert connection.recv(1) == b"S"
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
        connection.settimeout(5)
        rest = b""
        while more := connection.recv(1000):
            rest += more
        assert b"R\0\0\0" not in rest
    with port.connect(sslmode="require") as again:
        assert len(again.execute(COUNT).fetchall()) == 1


def test_gss_is_declined_and_a_newer_protocol_is_spoken_down(port: OpenPort) -> None:
    answer = port.raw(GSS_REQUEST, SSL_REQUEST, startup(user="ada"))
    assert answer[:2] == b"NN"
    newer = struct.pack(">i", (3 << 16) + 2) + b"user\0ada\0_pq_.later\0on\0\0"
    answer = port.raw(struct.pack(">i", len(newer) + 4) + newer)
    assert answer[:1] == b"v"
    assert b"_pq_.later\0" in answer
    assert b"SCRAM-SHA-256\0" in answer


@pytest.mark.parametrize(
    ("octets", "code"),
    [
        (struct.pack(">ii", 8, 2 << 16), "08P01"),
        (struct.pack(">i", 7), "08P01"),
        (struct.pack(">i", 1 << 30), "08P01"),
        (struct.pack(">ii", 12, 3 << 16) + b"user", "08P01"),
        (startup(database="sfumato"), "28000"),
        (startup(user="ada", database="other"), "3D000"),
        (startup(user="ada", replication="database"), "0A000"),
        (startup(user="ada", options="-x 1"), "22023"),
        (GSS_REQUEST * 4, "08P01"),
        (startup(user="ada") + b"Q\0\0\0\5\0", "08P01"),
        (startup(user="ada") + b"p\0\0\0\5\0", "08P01"),
        (startup(user="ada") + b"p\0\xff\xff\xff\0", "08P01"),
    ],
)
def test_beginnings_that_are_refused(port: OpenPort, octets: bytes, code: str) -> None:
    answer = port.raw(octets)
    assert f"C{code}\0".encode() in answer
    assert b"SFATAL\0" in answer


@pytest.mark.parametrize(
    ("said", "code"), [("nosuch=1", "42704"), ("sfumato.epsilon=x", "22023"), ("server_version=9", "55P02")]
)
def test_settings_that_a_connection_cannot_begin_with(port: OpenPort, said: str, code: str) -> None:
    with pytest.raises(psycopg.OperationalError) as caught:
        port.connect(options=f"-c {said}")
    assert "FATAL" in str(caught.value)
    assert {"42704": "no setting", "22023": "must be", "55P02": "cannot be changed"}[code] in str(caught.value)


@pytest.fixture
def narrow(shared: World) -> Iterator[OpenPort]:
    """The same service behind a port with little room and patience."""
    with opened(shared, FIVE) as made:
        yield made


def closes(connection: socket.socket) -> bytes:
    connection.settimeout(10)
    answer = b""
    try:
        while more := connection.recv(65_536):
            answer += more
    except ConnectionError:
        pass
    return answer


def test_whoever_says_nothing_or_too_slowly_is_let_go(narrow: OpenPort) -> None:
    with socket.create_connection(("127.0.0.1", narrow.number), 5) as silent:
        assert closes(silent) == b""
    with socket.create_connection(("127.0.0.1", narrow.number), 5) as slow:
        began = startup(user="ada")
        slow.sendall(began[:-1])
        assert closes(slow) == b""


def test_whoever_asks_nothing_for_long_is_let_go(narrow: OpenPort) -> None:
    connection = narrow.connect()
    time.sleep(1.5)
    with pytest.raises(psycopg.OperationalError, match="nothing was asked"):
        connection.execute(COUNT)


def test_whoever_takes_no_answers_is_let_go(narrow: OpenPort) -> None:
    with narrow.connect() as whole:
        assert len(whole.execute(LARGE).fetchall()) == 20_000
    connection = narrow.connect()
    connection.pgconn.send_query(LARGE.encode())
    connection.pgconn.flush()
    time.sleep(2.5)
    with pytest.raises(psycopg.OperationalError):  # what was taken from the network is less than the whole
        while result := connection.pgconn.get_result():
            if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.SINGLE_TUPLE):
                raise psycopg.OperationalError(result.get_error_message())


def test_so_many_connections_and_so_many_of_one_person(narrow: OpenPort) -> None:
    with narrow.connect("ada"), narrow.connect("ada"):
        with pytest.raises(psycopg.OperationalError, match="at most 2"):
            narrow.connect("ada")
        with narrow.connect("ben"), narrow.connect("ben"), pytest.raises(psycopg.OperationalError, match="connection"):
            narrow.connect("cora")
    for _ in range(200):  # they are gone when the server has noticed
        with suppress(psycopg.OperationalError):
            narrow.connect("ada").close()
            break
        time.sleep(0.05)
    else:
        pytest.fail("nobody is let in where somebody has left")


def test_a_message_that_is_too_long_ends_the_connection(port: OpenPort) -> None:
    with port.connect() as connection:
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT '" + "x" * (2 << 20) + "'")
        assert connection.broken
    with port.connect() as connection:
        with pytest.raises(psycopg.errors.ProgramLimitExceeded):
            connection.execute("SELECT '" + "x" * 200_000 + "'")
        assert len(connection.execute(COUNT).fetchall()) == 1


@pytest.fixture
def slow(shared: World, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Makes questions wait until they are let go."""
    let_go, really = threading.Event(), Analysts.ask

    def ask(self: Analysts, *given: Any, **more: Any) -> Any:
        let_go.wait(20)
        return really(self, *given, **more)

    monkeypatch.setattr(Analysts, "ask", ask)
    return let_go


def test_cancelling_says_that_what_was_charged_stays_charged(port: OpenPort, slow: threading.Event) -> None:
    with port.connect() as connection:
        threading.Timer(0.5, connection.cancel_safe).start()
        with pytest.raises(psycopg.errors.QueryCanceled) as caught:
            connection.execute(f"{COUNT} WHERE minutes > 11")
        assert "stays charged" in str(caught.value.diag.message_detail)
        slow.set()
        assert len(connection.execute(f"{COUNT} WHERE minutes > 11").fetchall()) == 1


def test_statement_timeout(port: OpenPort, slow: threading.Event) -> None:
    with port.connect() as connection:
        connection.execute("SET statement_timeout = '200ms'")
        with pytest.raises(psycopg.errors.QueryCanceled, match="too long"):
            connection.execute(f"{COUNT} WHERE minutes > 12")
        slow.set()


def test_nobody_cancels_without_the_secret(port: OpenPort, slow: threading.Event) -> None:
    with port.connect() as connection:
        number = connection.info.backend_pid
        port.raw(struct.pack(">iiii", 16, 80877102, number, 0))
        port.raw(struct.pack(">iii", 12, 80877102, number))
        threading.Timer(0.5, slow.set).start()
        assert len(connection.execute(f"{COUNT} WHERE minutes > 13").fetchall()) == 1


def test_whoever_leaves_while_a_question_runs_leaves_nothing_behind(port: OpenPort, slow: threading.Event) -> None:
    connection = port.connect()
    connection.pgconn.send_query(f"{COUNT} WHERE minutes > 14".encode())
    time.sleep(0.3)
    connection.close()
    slow.set()
    with port.connect() as again:
        assert len(again.execute(COUNT).fetchall()) == 1


def test_whoever_leaves_in_the_middle_of_an_answer_is_no_fault(port: OpenPort) -> None:
    connection = port.connect()
    connection.pgconn.send_query(LARGE.encode())
    connection.pgconn.flush()
    connection.pgconn.finish()
    with port.connect() as again:
        assert len(again.execute(COUNT).fetchall()) == 1
    assert not [line for line in port.world.lines() if line["event"] == "fault"]


def test_the_log_and_counters_have_no_questions_no_names_and_no_data(port: OpenPort) -> None:
    with port.connect() as connection:
        connection.execute(f"{COUNT} WHERE minutes > 15.125")
        with pytest.raises(psycopg.Error):
            connection.execute(f"SELECT '{MARKER}' FROM secret_table")
    written, counted = port.world.log.getvalue(), port.world.running.metrics.text()
    lines = [json.loads(line) for line in written.splitlines()]
    assert [line for line in lines if line["event"] == "statement" and line["state"] == "42P01"]
    for word in ("15.125", MARKER, "secret_table", "COUNT", '"ada"', "127.0.0.1", "sfumato_0"):
        assert word not in written
        assert word not in counted
    assert 'method="PG",route="question",status="00000"' in counted
    assert 'method="PG",route="question",status="42P01"' in counted


def test_one_port_for_several_workers(shared: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(shared.running.settings), "several", True)
    with opened(shared) as first, opened(shared, number=first.number) as second:
        assert first.number == second.number
        for _ in range(8):
            with second.connect() as connection:
                assert len(connection.execute(COUNT).fetchall()) == 1


def test_tls_contexts_take_no_old_protocols(tmp_path: Path) -> None:
    context, binding = tls_of(*write_certificate(tmp_path))
    assert context is not None and context.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert binding is not None and len(binding) == 32


def test_another_worker_cancels_what_takes_long(
    shared: World, slow: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = pytest.importorskip("pg8000.native", reason="needs pg8000")
    monkeypatch.setitem(vars(shared.running.settings), "several", True)
    with opened(shared) as first, opened(shared) as second:
        connection = native.Connection("ada", "127.0.0.1", "sfumato", first.number, shared.tokens["ada"])
        connection.run("SET sfumato.epsilon = 0.1")
        connection.run("SET sfumato.max_rows = 5")
        told = struct.pack(">ii", 16, 80877102) + connection._backend_key_data
        second.raw(told)  # of what runs not yet, or not long, there is no note
        threading.Timer(1.6, lambda: second.raw(told[:-1] + bytes([told[-1] ^ 1]))).start()
        threading.Timer(2.6, lambda: second.raw(told)).start()
        with pytest.raises(native.DatabaseError) as caught:
            connection.run(f"{COUNT} WHERE minutes > 16")
        assert caught.value.args[0]["C"] == "57014"
        slow.set()
        connection.close()
        for _ in range(200):
            if not shared.house.records.all("call"):
                break
            time.sleep(0.05)
        else:
            pytest.fail("a note of what has ended is left behind")
