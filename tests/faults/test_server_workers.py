"""Two workers of one server on a PostgreSQL ledger: they race for the last of a limit, and the limit wins."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from tests.unit.server.world import BOOK, write_visits

import sfumato as sf
from sfumato.errors import LimitReached
from sfumato.ledger.requests import ask_for_share, decide_on
from sfumato.remote import RemoteSession
from sfumato.remote.connection import Connection
from sfumato.service.data_sets import Registration
from sfumato.service.house import House
from sfumato.service.people import TOKEN
from sfumato.service.rights import Grant

ASKERS, ANSWERS = 8, 5


def prepared(address: str, folder: Path) -> str:
    """Registers the visits, with a share that pays for a few answers; gives the token of its analyst."""
    write_visits(folder / "visits.parquet")
    house = House.open(address, address, folders=(folder,))
    house.people.add("ada", [Grant("analyst")])
    token = house.people.issue(TOKEN, "ada").text
    source = str(folder / "visits.parquet")
    house.data_sets.register(Registration("visits", source, sf.Codebook.read(BOOK), sf.Pure(10)), by="cora")
    asked = ask_for_share(house.ledger, "visits", "ada", sf.Pure("0.5"), purpose="to learn", by="ada")
    decide_on(house.ledger, asked, grants=True, reason="fine", by="olga")
    house.close()
    return token


def waited_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.05)
    raise AssertionError("it does not start")


def test_two_workers_race_for_the_last_of_a_limit(postgres_address: str, tmp_path: Path) -> None:
    address = postgres_address
    token = prepared(address, tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said = {"SFUMATO_LEDGER": address, "SFUMATO_DATA_FOLDERS": json.dumps([str(tmp_path)])}
    command = [sys.executable, "-m", "sfumato", "serve", "--workers", "2", "--port", str(port)]
    process = subprocess.Popen(
        command, env=os.environ | said, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    got, refused = list[sf.Release](), list[LimitReached]()

    def ask(number: int) -> None:
        session = RemoteSession(Connection(f"http://127.0.0.1:{port}", token), "visits")
        for turn in range(3):
            text = f"SELECT COUNT(*) AS n FROM visits WHERE minutes < {1 + 3 * number + turn}"
            try:
                got.append(session.sql(text, epsilon="0.1", max_rows=2))
            except LimitReached as refusal:
                refused.append(refusal)
        session.close()

    try:
        waited_for(port, process)
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(ASKERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        log = process.communicate(timeout=60)[1].decode()
    assert (len(got), len(refused)) == (ANSWERS, 3 * ASKERS - ANSWERS)
    assert len({release.receipt for release in got}) == ANSWERS
    assert log.count('"event": "started"') == 2
    assert token not in log
    assert "postgresql" not in log
    book = House.open(address, address)
    assert book.ledger.verify()
    assert book.ledger["visits/ada"].left == sf.Pure(0)
    book.close()
