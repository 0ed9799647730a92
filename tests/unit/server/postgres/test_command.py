"""The real command, `sfumato serve` with a PostgreSQL port: it starts, answers by TLS, and forgets nothing."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.unit.server.postgres.certificates import write_certificate
from tests.unit.server.postgres.ports import COUNT
from tests.unit.server.world import BOOK, write_visits

import sfumato as sf
from sfumato.ledger.requests import ask_for_share, decide_on
from sfumato.service.data_sets import Registration
from sfumato.service.house import House
from sfumato.service.people import TOKEN
from sfumato.service.rights import Grant
from sfumato.service.settings import Settings


def prepared(folder: Path, number: int) -> tuple[Path, str]:
    """Writes settings, and fills ledger and records: the file, and the token of an analyst."""
    certificate, key = write_certificate(folder)
    data = folder / "data"
    data.mkdir(mode=0o700)
    write_visits(data / "visits.parquet")
    said: dict[str, Any] = {
        "ledger": f"sqlite:///{folder / 'ledger.db'}",
        "data_folders": [str(data)],
        "pg_certificate_file": str(certificate),
        "pg_certificate_key_file": str(key),
        "pg_port": number,
        "port": 0,
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in said.items()]
    file = folder / "settings.toml"
    file.write_text("\n".join([*lines, "[usual_loss]", 'epsilon = "0.1"', ""]), encoding="utf-8")
    house = House.of(Settings.read(file))
    registration = Registration("visits", str(data / "visits.parquet"), sf.Codebook.read(BOOK), sf.Pure(10))
    house.data_sets.register(registration, by="cora")
    house.people.add("ada", [Grant("analyst")])
    asked = ask_for_share(house.ledger, "visits", "ada", sf.Pure(1), purpose="to learn", by="ada")
    decide_on(house.ledger, asked, grants=True, reason="fine", by="olga")
    token = house.people.issue(TOKEN, "ada").text
    house.close()
    return file, token


@contextmanager
def served(file: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "sfumato", "serve", "--settings", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def connected(**said: Any) -> psycopg.Connection[Any]:
    until = time.monotonic() + 30
    while True:
        try:
            return psycopg.connect(**said, autocommit=True)
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


@pytest.mark.parametrize("starts", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_the_command_answers_by_tls_and_a_restart_forgets_nothing(tmp_path: Path, starts: int) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        number = held.getsockname()[1]
    file, token = prepared(tmp_path, number)
    said = {"host": "127.0.0.1", "port": number, "user": "ada", "password": token, "dbname": "sfumato"}
    said |= {"sslmode": "verify-full", "sslrootcert": str(tmp_path / "certificate.pem"), "channel_binding": "require"}
    answers, logs = [], ""
    for _ in range(starts):
        with served(file) as process:
            with connected(**said, options="-c sfumato.max_rows=5") as connection:
                answers.append(connection.execute(COUNT).fetchall())
            process.send_signal(signal.SIGTERM)
            logs += process.communicate(timeout=60)[1]
    assert answers[0] == answers[-1]
    assert token not in logs
    kinds = [json.loads(line) for line in logs.splitlines()]
    assert [line["state"] for line in kinds if line["event"] == "statement"] == ["00000"] * starts
