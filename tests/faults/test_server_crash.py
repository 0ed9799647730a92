"""A PostgreSQL server that crashes in the middle of charges and comes back: nothing is lost, nothing is doubled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from tests.faults.books import LIMIT, PROGRAM, SCORES, question, then, unit

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import LedgerUnavailable, NotKept
from sfumato.ledger.ledger import Ledger

if TYPE_CHECKING:
    from side_by_side.postgres_server import PostgresServer

pytestmark = pytest.mark.slow


def start(server: PostgresServer, address: str) -> None:
    """Starts a server and waits until it lets somebody in; again where what is left of a killed one is in its way."""
    psycopg = pytest.importorskip("psycopg", reason="needs psycopg")
    for _ in range(600):
        if server._process is None or server._process.poll() is not None:
            with suppress(RuntimeError):
                server.start()
        try:
            psycopg.connect(address).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise AssertionError("the server does not come back")


def crash(server: PostgresServer, address: str, how: signal.Signals) -> None:
    """Kills the server as a whole, or its first process alone, which takes the others along; starts it again."""
    process = server._process
    assert process is not None
    if how is signal.SIGKILL:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    else:
        server.stop(kill=True)
    start(server, address)


@pytest.mark.parametrize("how", [signal.SIGQUIT, signal.SIGKILL], ids=["quit", "kill"])
def test_a_server_that_crashes_while_eight_processes_charge(
    how: signal.Signals, postgres_server: PostgresServer, postgres_address: str
) -> None:
    charges = 800
    ledger = Ledger.open(postgres_address)
    ledger.open_account("visits", limit=Pure(charges // 10))
    command = [sys.executable, str(PROGRAM), "through_a_crash", postgres_address, str(charges)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as racing:
        while ledger.head.entry < charges // 8:
            time.sleep(0.02)
            assert racing.poll() is None
        crash(postgres_server, postgres_address, how)
        told, _ = racing.communicate(timeout=600)
    racers: list[dict[str, Any]] = json.loads(told)["racers"]
    assert [racer["fault"] for racer in racers if "fault" in racer] == []
    entries = {key: entry for racer in racers for key, entry in racer["entries"].items()}
    assert len(entries) == charges
    again = Ledger.open(postgres_address)
    written = {str(entry.body["key"]): entry.number for entry in again.entries(kinds=("charged",))}
    assert written == entries, "each key is charged once, and where its racer was told"
    assert again["visits"].spent == Pure(charges // 10)
    assert sum(racer["permits"] for racer in racers) <= charges
    assert again.verify().sound
    assert ledger.charge("visits", Pure(0)).receipt.entry == again.head.entry, "the handle of before works again"
    for handle in (ledger, again):
        handle.close()


def test_a_server_that_is_gone_when_a_release_is_to_be_stored(
    postgres_server: PostgresServer, postgres_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.ledger.stores import postgres

    monkeypatch.setattr(postgres, "PATIENCE_SECONDS", 1)
    ledger = Ledger.open(postgres_address)
    ledger.open_account("scores", limit=LIMIT, unit=unit())
    permit = ledger.charge("scores", Pure(1))
    try:
        with pytest.raises(NotKept) as kept:
            permit.run(then(question(), lambda: postgres_server.stop(kill=True)), SCORES)
        with pytest.raises(LedgerUnavailable):
            ledger.charge("scores", Pure(1))
    finally:
        start(postgres_server, postgres_address)
    assert isinstance(kept.value.release.value, float)  # type: ignore[attr-defined]
    assert ledger["scores"].spent == Pure(1), "the charge stands, and the one that was refused is not there"
    assert ledger.verify().sound
    ledger.close()
