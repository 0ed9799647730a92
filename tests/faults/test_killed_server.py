"""A server that is killed at any moment: no answer without a charge, never over the limit, and it starts again.

`make test` kills it a few times; at night 500 times. Whoever asks retries under the same key, as the client does.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.unit.server.world import BOOK, write_visits

import sfumato as sf
from sfumato.entropy import system
from sfumato.errors import LimitReached, PermitUsed, SfumatoError
from sfumato.ledger.requests import ask_for_share, decide_on
from sfumato.remote import RemoteSession
from sfumato.remote.connection import Connection
from sfumato.service.data_sets import Registration
from sfumato.service.house import House
from sfumato.service.people import TOKEN
from sfumato.service.rights import Grant

ASKERS, PRICE = 3, sf.Pure("0.01")


@dataclass
class Asked:
    """What one asker got: releases by the keys under which they were asked for."""

    got: dict[str, sf.Release] = field(default_factory=dict)
    refused: int = 0


@dataclass
class Killed:
    """A service in a folder, with a share for an analyst."""

    folder: Path
    token: str
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def house(self) -> House:
        return house_in(self.folder)

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Starts the command, waits until it answers, and kills what is left of it."""
        command = [sys.executable, "-m", "sfumato", "serve", "--folder", str(self.folder), "--port", str(self.port)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while process.poll() is None:
                with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 0.2):
                    break
                time.sleep(0.02)
            assert process.poll() is None, "it does not start again"
            yield process
        finally:
            process.kill()
            process.wait()

    def ask(self, asked: Asked, name: str, stop: threading.Event) -> None:
        """Asks one question after another, each under a key of its own, until the server is gone."""
        session = RemoteSession(Connection(self.url, self.token, timeout=20), "visits")
        number = 0
        while not stop.is_set():
            number += 1
            key = f"{name}-{number}"
            try:
                asked.got[key] = question(session, number, name, key)
            except (LimitReached, PermitUsed):
                asked.refused += 1
            except SfumatoError:
                break
        session.close()


def question(session: RemoteSession, number: int, name: str, key: str) -> sf.Release:
    text = f"SELECT COUNT(*) AS n FROM visits WHERE minutes < {1 + number % 50}.{abs(hash(name)) % 10_000:04d}"
    return session.sql(text, loss=PRICE, max_rows=2, key=key)


def house_in(folder: Path) -> House:
    places = (f"sqlite:///{folder / 'ledger.db'}", f"sqlite:///{folder / 'records.db'}")
    return House.open(*places, folders=(folder / "data",))


@pytest.fixture
def killed(tmp_path: Path) -> Killed:
    (tmp_path / "data").mkdir()
    write_visits(tmp_path / "data" / "visits.parquet")
    house = house_in(tmp_path)
    house.people.add("ada", [Grant("analyst")])
    token = house.people.issue(TOKEN, "ada").text
    source = str(tmp_path / "data" / "visits.parquet")
    house.data_sets.register(Registration("visits", source, sf.Codebook.read(BOOK), sf.Pure(100)), by="cora")
    asked = ask_for_share(house.ledger, "visits", "ada", sf.Pure("0.6"), purpose="to learn", by="ada")
    decide_on(house.ledger, asked, grants=True, reason="fine", by="olga")
    house.close()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Killed(tmp_path, token, port)


def wrong_in(house: House, got: dict[str, sf.Release]) -> list[str]:
    """Says what the book has to say against what was answered."""
    wrong = [str(fault) for fault in house.ledger.verify().faults]
    share = house.ledger["visits/ada"]
    if not share.spent.within(share.limit):
        wrong.append(f"{share.spent} was spent of {share.limit}")
    charges = {entry.number: entry.digest for entry in house.ledger.entries(kinds=("charged",))}
    for key, release in got.items():
        if release.receipt is None or charges.get(release.receipt.entry) != release.receipt.digest:
            wrong.append(f"{key} was answered without a charge")
    return wrong


def rounds(killed: Killed, times: int) -> dict[str, sf.Release]:
    """Kills the server so many times while it is asked, and gives all that was answered."""
    got: dict[str, sf.Release] = {}
    for turn in range(times):
        asked, stop = Asked(), threading.Event()
        with killed.running() as process:
            names = [f"t{turn}a{asker}" for asker in range(ASKERS)]
            threads = [threading.Thread(target=killed.ask, args=(asked, name, stop)) for name in names]
            for thread in threads:
                thread.start()
            time.sleep(int.from_bytes(system().octets(2), "big") / 65_536 * 1.5)
            process.send_signal(signal.SIGKILL)
            stop.set()
            for thread in threads:
                thread.join(60)
        got |= asked.got
    return got


def check(killed: Killed, times: int) -> None:
    got = rounds(killed, times)
    with killed.running():
        session = RemoteSession(Connection(killed.url, killed.token), "visits")
        with suppress(LimitReached):
            got["afterwards"] = question(session, 1, "afterwards", "afterwards")
        kept = {release.receipt: release for release in session.releases()}
        session.close()
    for key, release in got.items():
        assert str(kept[release.receipt]) == str(release), f"{key} was answered with what the book does not have"
    house = killed.house()
    assert not wrong_in(house, got)
    key, release = next(iter(got.items()))
    assert release.receipt is not None
    forged = replace(release, receipt=replace(release.receipt, digest="0" * 64))
    assert wrong_in(house, {key: forged}) == [f"{key} was answered without a charge"]
    house.close()


def test_kills_of_the_server(killed: Killed) -> None:
    check(killed, 3)


@pytest.mark.nightly
def test_five_hundred_kills_of_the_server(killed: Killed) -> None:
    check(killed, 500)
