"""What comes in wrong is refused with a problem, and never breaks anything; every answer has its headers."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from tests.unit.server.live import Live
from tests.unit.server.world import COUNT, World

from sfumato.server.headers import ALWAYS

EXPLAIN = "/api/data-sets/visits/explain"
DEEP = b'{"sql": ' + b"[" * 5_000 + b"]" * 5_000 + b"}"


def sent(world: World, body: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
    said = {"content-type": "application/json", **headers}
    answer = world.call("ada", "POST", EXPLAIN, content=body, headers=said)
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.status_code, answer.json()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null x",
        DEEP,
        b'{"sql": "SELECT 1", "parameters": ' + b"[" * 40 + b"]" * 40 + b"}",
        b'{"sql": "SELECT 1", "epsilon": NaN}',
        b'{"sql": "SELECT 1", "epsilon": Infinity}',
        b'{"sql": "SELECT 1", "epsilon": 1e999}',
        b'{"sql": "SELECT 1", "max_rows": ' + b"9" * 5_000 + b"}",
        b'{"sql": "SELECT 1", "sql": "SELECT 2"}',
        b'{"sql": "SELECT \xff"}',
        b'{"sql": "SELECT \\ud800"}',
        b'{"sql": "SELECT \\u0000"}',
        b'\xef\xbb\xbf{"sql": "SELECT 1"}',
        b'{"\\u0000": 1}',
    ],
)
def test_json_that_is_none(shared: World, body: bytes) -> None:
    status, problem = sent(shared, body)
    assert status in (400, 422)
    assert problem["status"] == status


@pytest.mark.parametrize(
    "said",
    [
        {"max_rows": 10**30},
        {"max_rows": "5"},
        {"max_rows": True},
        {"max_rows": 2.0},
        {"epsilon": True},
        {"epsilon": "x" * 100},
        {"epsilon": -1},
        {"epsilon": "nan"},
        {"epsilon": "1e400000000"},
        {"epsilon": "1e99999"},
        {"epsilon": "1e٤٠٠٠٠٠٠٠"},
        {"delta": "1/0"},
        {"sql": "x" * 100_001},
        {"sql": 7},
        {"sql": "SELECT " + "(" * 2_000},
        {"sql": "DROP TABLE visits"},
        {"parameters": [1] * 101},
        {"parameters": [{}]},
        {"unknown": 1},
        {"noise": "cauchy"},
        {"keys": {}},
        {"keys": {"site": "north"}},
        {"confidence": 2},
        {"accuracy": [1]},
    ],
)
def test_questions_that_are_none(shared: World, said: dict[str, Any]) -> None:
    status, problem = sent(shared, json.dumps(COUNT | said).encode())
    assert status == 422
    assert "Traceback" not in json.dumps(problem)


def test_what_is_too_large_is_refused_before_it_is_read(shared: World) -> None:
    assert sent(shared, b" " * (1 << 20) + b"{}")[0] == 413
    assert sent(shared, b"{}", **{"content-length": "9" * 15})[0] == 413
    assert sent(shared, b"{}", **{"content-encoding": "gzip"})[0] == 415


def test_what_is_too_large_and_does_not_say_so_is_refused_as_it_comes(live: Live) -> None:
    head = f"POST {EXPLAIN} HTTP/1.1\r\nhost: {live.host}\r\nauthorization: Bearer {live.token('ada')}\r\n"
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    octets = (head + "content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n").encode() + chunk * 20
    assert live.raw(octets).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize(
    "path",
    [
        "/api/data-sets/..",
        "/api/data-sets/%2e%2e/codebook",
        "/api/data-sets/%2e%2e%2fledger",
        "/api/data-sets/a%00b",
        "/api/data-sets/a%0d%0aset-cookie:%20a=b",
        "/api/data-sets/a%5cb",
        "/api//data-sets",
        "/api/data-sets/%ff",
        "/" + "a" * 5_000,
        "/api/me?" + "&".join(f"a{number}=1" for number in range(100)),
        "/api/me?a=" + "x" * 9_000,
    ],
)
def test_paths_that_are_none(live: Live, path: str) -> None:
    answer = live.raw(
        f"GET {path} HTTP/1.1\r\nhost: {live.host}\r\nauthorization: Bearer {live.token('root')}\r\n"
        "connection: close\r\n\r\n".encode("latin-1")
    )
    status = int(answer.split()[1])
    assert 400 <= status < 500, answer[:100]
    assert b"set-cookie" not in answer.lower()


@pytest.mark.parametrize(
    "head",
    [
        "content-length: 2\r\ncontent-length: 3",
        "content-length: 2\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity",
        "transfer-encoding : chunked",
        "transfer-encoding: xchunked",
        "content-length: +2",
        "content-length: 0x2",
        "content-length: 2, 2",
        "host: evil.example",
        "authorization: Bearer another",
    ],
)
def test_no_two_servers_read_it_differently(live: Live, head: str) -> None:
    first = f"POST {EXPLAIN} HTTP/1.1\r\nhost: {live.host}\r\nauthorization: Bearer {live.token('ada')}\r\n"
    hidden = f"GET /api/me HTTP/1.1\r\nhost: {live.host}\r\nauthorization: Bearer {live.token('root')}\r\n\r\n"
    said = f"{first}content-type: application/json\r\n{head}\r\n\r\n{{}}{hidden}"
    answer = live.raw(said.encode())
    assert answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")) or not answer, answer[:200]
    assert b'"root"' not in answer, "a request that was hidden in another one was answered"


def test_another_name_is_another_server(shared: World) -> None:
    for host in ("evil.example", "testserver.evil.example", "", "testserver@evil.example"):
        answer = shared.call("ada", "GET", "/api/me", headers={"host": host})
        assert answer.status_code in (400, 421), host


def test_headers_stand_on_every_answer(shared: World) -> None:
    answers = [
        shared.call(None, "GET", "/healthz"),
        shared.call(None, "GET", "/no-such-page"),
        shared.call(None, "DELETE", "/healthz"),
        shared.call("ada", "GET", "/api/data-sets"),
        shared.call("ada", "GET", "/api/data-sets/visits/codebook"),
        shared.call(None, "GET", "/api/me"),
        shared.call("ada", "POST", EXPLAIN, content=b"{"),
        shared.call("ada", "GET", "/api/me", headers={"host": "evil.example"}),
        shared.call("amir", "GET", "/api/data-sets/visits/book/export"),
        shared.call(None, "GET", "/api/openapi.json"),
    ]
    for answer in answers:
        for name, value in ALWAYS:
            assert answer.headers[name.decode()] == value.decode(), answer.url
        assert answer.headers["cache-control"] in ("no-store", "private, no-cache")
        assert answer.headers["x-request-id"]
        assert "server" not in answer.headers
    policy = answers[0].headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_what_an_answer_says_of_the_request_cannot_break_out_of_a_header(live: Live) -> None:
    with socket.create_connection((live.address, live.port), 10) as connection:
        octets = f"GET /healthz HTTP/1.1\r\nhost: {live.host}\r\nx-request-id: a\r\n b\r\n\r\n".encode()
        connection.sendall(octets)
        answer = connection.recv(65_536)
    assert b"x-request-id: a" not in answer
