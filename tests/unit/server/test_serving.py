"""Settings of the server, the command that starts it, and what it refuses to start with."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sfumato.cli.main import app
from sfumato.errors import BadArgument, LedgerUnavailable, ServiceUnavailable
from sfumato.remote.connection import Connection
from sfumato.server.settings import ServerSettings
from sfumato.server.starting import opened
from sfumato.service.house import House
from sfumato.service.settings import Settings

DEPLOY = Path(__file__).parents[3] / "deploy"


@pytest.mark.parametrize(
    "said",
    [
        {"host": "0.0.0.0"},
        {"host": "10.0.0.1"},
        {"host": "::"},
        {"identity_header": "x-person"},
        {"time_classes": ()},
        {"host": "0.0.0.0", "behind_proxy": True, "pg_port": 5433},
        {"usual_loss": {"epsilon": "much"}},
        {"usual_loss": {"accuracy": "50"}},
        {"time_classes": (1.0, 0.5)},
    ],
)
def test_settings_that_are_not_safe(said: dict[str, Any]) -> None:
    with pytest.raises(BadArgument):
        ServerSettings(**said)


def test_settings_that_state_why_they_are_safe() -> None:
    assert ServerSettings(host="0.0.0.0", behind_proxy=True).secure
    assert ServerSettings(host="0.0.0.0", certificate=Path("a"), private_key=Path("b")).tls
    assert ServerSettings(port=80).address == "http://127.0.0.1:80"
    assert ServerSettings(host="::1", port=80).address == "http://[::1]:80"
    trusting = ServerSettings(trusted_proxies=(ip_network("10.0.0.0/8"),))
    assert [trusting.trusts(peer) for peer in ("10.1.2.3", "11.0.0.1", "", "x")] == [True, False, False, False]
    assert not ServerSettings().trusts("127.0.0.1")


def test_settings_of_the_service_are_those_of_its_server() -> None:
    said = Settings(
        host="127.0.0.1",
        port=9,
        public_address="https://dp.example.org/",
        behind_proxy=True,
        proxy_addresses=("10.0.0.7",),
    )
    made = ServerSettings.of(said, port=10)
    assert (made.port, made.address, made.secure) == (10, "https://dp.example.org", True)
    assert made.trusts("10.0.0.7")
    with pytest.raises(BadArgument):
        ServerSettings.of(Settings(proxy_addresses=("not an address",)))


def run(*words: str, **more: Any) -> Any:
    return CliRunner().invoke(app, ["serve", *words], **more)


def test_what_is_checked_before_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    right = run("--folder", str(tmp_path / "kept"), "--check")
    assert right.exit_code == 0, right.output
    assert "the settings are right" in right.output
    assert (tmp_path / "kept").stat().st_mode & 0o077 == 0
    (tmp_path / "wrong.toml").write_text('ledger = "memory:"\n', encoding="utf-8")
    wrong = run("--settings", "wrong.toml", "--check")
    assert wrong.exit_code == 1
    assert "wrong: ledger" in wrong.output
    for words in (["--host", "0.0.0.0"], ["--workers", "2"], ["--pg", "99999"], ["--settings", "nothing.toml"]):
        assert run("--folder", str(tmp_path / "kept"), *words).exit_code != 0, words


def test_what_is_deployed_reads_and_holds_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ServerSettings.of(Settings.read(DEPLOY / "settings.toml"))
    assert made.secure
    for file in DEPLOY.iterdir():
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"://[^/\s]*:[^/\s]*@", text), f"{file.name} holds a password"
    unit = (DEPLOY / "sfumato.service").read_text(encoding="utf-8")
    for word in ("DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "UMask=0077"):
        assert word in unit
    container = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    assert re.search(r"^USER sfumato$", container, re.MULTILINE)


@contextmanager
def served(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Starts the real command on a free port; gives it, and what it said."""
    command = [sys.executable, "-m", "sfumato", "serve", "--folder", str(folder), "--port", "0", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process, ""
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_the_command_starts_says_its_link_once_and_ends_when_told(tmp_path: Path) -> None:
    with served(tmp_path / "kept") as (process, _):
        assert process.stdout is not None
        assert process.stderr is not None
        said = [process.stdout.readline() for _ in range(3)]
        assert re.search(r"/welcome\?link=sfumato_\S{40}", said[2])
        started = process.stderr.readline()
        assert '"event": "started"' in started
        assert "sfumato_" not in started, "the log has the link in it"
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=60)[1]
        assert '"event": "stopped"' in rest
        assert process.returncode in (0, -signal.SIGTERM)


def test_a_connection_says_when_nobody_is_there() -> None:
    assert repr(Connection("http://127.0.0.1:9", "token")) == "Connection('http://127.0.0.1:9')"


def test_a_worker_waits_for_a_database_that_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """To die of it, and be started once more, would take seconds each time."""
    house = House.open("memory:", "memory:")
    outcomes: list[object] = [LedgerUnavailable("it starts"), ServiceUnavailable("it starts"), house]

    def of(_: Settings) -> House:
        outcome = outcomes.pop(0)
        if isinstance(outcome, House):
            return outcome
        raise outcome  # type: ignore[misc]

    monkeypatch.setattr(House, "of", staticmethod(of))
    assert opened(Settings(), pause=0) is house
    outcomes[:] = [LedgerUnavailable("it is gone for good")]
    with pytest.raises(LedgerUnavailable):
        opened(Settings(), patience=-1, pause=0)
    house.close()


@pytest.mark.slow
def test_workers_are_not_left_behind_where_the_ledger_cannot_be_reached(tmp_path: Path) -> None:
    said = {"SFUMATO_LEDGER": f"postgresql:///nothing?host={tmp_path}", "SFUMATO_DATA_FOLDERS": f'["{tmp_path}"]'}
    command = [sys.executable, "-m", "sfumato", "serve", "--workers", "2", "--port", "0"]
    ended = subprocess.run(command, env=os.environ | said, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode != 0
    assert "its server cannot be reached" in ended.stderr
    assert str(tmp_path) not in ended.stderr
