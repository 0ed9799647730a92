"""Kills a service under load: its server, one of its workers, PostgreSQL; and holds the book against what was answered.

Used by `tests/faults/test_killed_service.py` (a few kills; at night 504) and by `benchmarks/service.py`. In each round
an analyst with a share of their own asks from several threads, at once and by jobs, until the share is used up; at a
random moment something is killed. Whoever asks goes on under the same keys, as a client does.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, final

import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from sfumato.entropy import system
from sfumato.ledger.requests import ask_for_share, decide_on
from sfumato.remote.wire import RELEASE
from sfumato.service.charge_keys import ASKED, JOB
from sfumato.service.data_sets import Registration
from sfumato.service.house import House
from sfumato.service.people import TOKEN
from sfumato.service.rights import Grant
from side_by_side.postgres_server import PostgresServer, running
from side_by_side.told import GOT, LOST, PRICE, REFUSED, SHARE, Found, Outcome, check

SERVER, WORKER, POSTGRES, BOTH = "server", "worker", "postgres", "worker and postgres"
KINDS = (SERVER, WORKER, POSTGRES, BOTH)

ASKERS, WORKERS = 3, 2
LATEST, LONGEST_DOWN = 1.0, 4.0
"""Seconds of a round within which something is killed, and that PostgreSQL stays down where a worker is killed too."""

PATIENCE = 120.0
UNCOMPILED = "PYTHONDONTWRITEBYTECODE"
"""A setting with which every start would compile the whole program anew: no service runs so."""

BOOK = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a person", "id": "person"},
    "tables": {
        "visits": {
            "columns": {"person": {"type": "str"}, "minutes": {"type": "float", "between": [0, 60], "source": "clock"}}
        }
    },
}


@final
class Service:
    """A service that runs on a PostgreSQL ledger, and can be killed."""

    def __init__(self, folder: Path, postgres: PostgresServer) -> None:
        self.folder, self.postgres = folder, postgres
        self.address = postgres.url()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it with several workers, and waits until it is ready."""
        said = {
            "SFUMATO_LEDGER": self.address,
            "SFUMATO_DATA_FOLDERS": json.dumps([str(self.folder)]),
            "SFUMATO_JOB_LEASE": "2",
            "SFUMATO_REQUESTS_PER_MINUTE": "1000000",
        }
        command = [sys.executable, "-m", "sfumato", "serve", "--workers", str(WORKERS), "--port", str(self.port)]
        self._process = subprocess.Popen(
            command,
            env={name: value for name, value in os.environ.items() if name != UNCOMPILED} | said,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.ready()

    def ready(self) -> None:
        """Waits until it says that book and records can be read."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
                try:
                    connection.request("GET", "/readyz")
                    if connection.getresponse().status == 200:
                        return
                finally:
                    connection.close()
            time.sleep(0.01)
        raise RuntimeError("the service does not come back")

    def kill(self, kind: str, number: int) -> float:
        """Kills one part of it, and starts that again; the seconds until the service is ready."""
        process = self._process
        if process is None:
            raise RuntimeError("the service does not run")
        if kind == SERVER:
            self.stop()
            begun = time.monotonic()
            self.start()
            return time.monotonic() - begun
        if kind in (POSTGRES, BOTH):
            self.postgres.crash(first_alone=number % 8 < 4)
        if kind in (WORKER, BOTH):
            workers = self.workers()
            os.kill(workers[number % 8 < 4], signal.SIGKILL)
        if kind == BOTH:  # the new worker may find that there is no database
            time.sleep(moment() * LONGEST_DOWN)
        if kind in (POSTGRES, BOTH):
            self.postgres.come_back()
        begun = time.monotonic()
        self.ready()
        return time.monotonic() - begun

    def workers(self) -> list[int]:
        """The processes of its workers; waits until all are there."""
        process, until = self._process, time.monotonic() + PATIENCE
        while process is not None and time.monotonic() < until:
            listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            found = [int(one) for one in listed if _is_worker(one)]
            if len(found) == WORKERS:
                return found
            time.sleep(0.02)
        raise RuntimeError("the service has lost its workers")

    def stop(self) -> None:
        """Kills all of its processes."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def moment() -> float:
    """A random number from 0 to 1."""
    return int.from_bytes(system().octets(2), "big") / 65_536


def _is_worker(process: str) -> bool:
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False
    return b"spawn_main" in command


@final
class Asker:
    """Asks one new question after another from the share of one analyst, each until it is settled."""

    def __init__(self, service: Service, person: str, token: str, name: str, *, by_jobs: bool) -> None:
        self._service, self._person, self._token, self._name = service, person, token, name
        self._way = JOB if by_jobs else ASKED
        self.outcomes: list[Outcome] = []
        self.fault = ""

    def run(self) -> None:
        """Asks until the share is used up."""
        number, what = 0, ""
        try:
            while what != REFUSED:
                number += 1
                key = f"{self._name}-{number}"
                what, answer = self._settled(key, number)
                self.outcomes.append(Outcome(self._person, self._way, key, what, answer))
        except Exception as fault:  # it runs in a thread: whoever waits for it is told
            self.fault = f"{self._name}: {type(fault).__name__} {fault}"

    def _settled(self, key: str, number: int) -> tuple[str, str]:
        text = f"SELECT COUNT(*) AS n FROM visits WHERE minutes < {number}.{abs(hash(key)) % 10**8:08d}"
        said = {"sql": text, "epsilon": PRICE, "max_rows": 2}
        headers = {"idempotency-key": key, "content-type": "application/json", "accept": RELEASE}
        if self._way == JOB:
            headers["prefer"] = "respond-async"
        status, body = self._sent("POST", "/ask", json.dumps(said).encode(), headers)
        if status == 202:
            return self._job(json.loads(body)["id"])
        return _read(status, body)

    def _job(self, job: str) -> tuple[str, str]:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            status, body = self._sent("GET", f"/jobs/{job}", None, {})
            said = json.loads(body)
            if status == 200 and said["over"]:
                if said["number"] is not None:
                    return _read(*self._sent("GET", f"/answers/{said['number']}", None, {"accept": RELEASE}))
                return (REFUSED if said["fault"] == "LimitReached" else LOST), ""
            time.sleep(0.05)
        raise RuntimeError("a job does not end")

    def _sent(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        """Sends a request until it is answered: what is down comes back, and the key makes that safe."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self._service.port, timeout=90)
                try:
                    place = f"/api/data-sets/visits{path}"
                    connection.request(method, place, body, headers | {"authorization": f"Bearer {self._token}"})
                    answer = connection.getresponse()
                    octets = answer.read()
                    if answer.status not in (429, 503, 504):
                        return answer.status, octets
                finally:
                    connection.close()
            time.sleep(0.02)
        raise RuntimeError("nobody answers")


def _read(status: int, body: bytes) -> tuple[str, str]:
    if status == 200:
        return GOT, body.decode()
    problem = json.loads(body)
    match problem.get("error"):
        case "LimitReached":
            return REFUSED, ""
        case "PermitUsed" | "NotKept" | "RunFailed":
            return LOST, ""
    raise RuntimeError(f"{status} {problem.get('type')}")


def prepared(address: str, folder: Path, rounds: int) -> list[str]:
    """Registers data with a limit that is given out to the last, a share for each round; gives the tokens."""
    columns = {
        "person": [f"p{number // 2}" for number in range(400)],
        "minutes": [float(number % 60) for number in range(400)],
    }
    pq.write_table(pa.table(columns), folder / "visits.parquet")
    house = House.open(address, address, folders=(folder,))
    limit = sf.Pure(SHARE).times(rounds)
    source = str(folder / "visits.parquet")
    house.data_sets.register(Registration("visits", source, sf.Codebook.read(BOOK), limit), by="cora")
    tokens = []
    for number in range(rounds):
        name = f"a{number}"
        house.people.add(name, [Grant("analyst")])
        tokens.append(house.people.issue(TOKEN, name).text)
        asked = ask_for_share(house.ledger, "visits", name, sf.Pure(SHARE), purpose="a round", by=name)
        decide_on(house.ledger, asked, grants=True, reason="a round", by="olga")
    house.close()
    return tokens


def one_round(service: Service, found: Found, number: int, token: str, kind: str) -> None:
    """Asks until a share is used up, and kills something in the meantime."""
    person = f"a{number}"
    askers = [
        Asker(service, person, token, f"r{number}a{asker}", by_jobs=asker == ASKERS - 1) for asker in range(ASKERS)
    ]
    threads = [threading.Thread(target=asker.run) for asker in askers]
    for thread in threads:
        thread.start()
    time.sleep(moment() * LATEST)
    found.restarts.setdefault(kind, []).append(service.kill(kind, number))
    found.kills[kind] += 1
    for thread in threads:
        thread.join()
    for asker in askers:
        found.outcomes += asker.outcomes
        found.wrong += [asker.fault] if asker.fault else []


@contextmanager
def service_on(postgres: PostgresServer, folder: Path, rounds: int) -> Iterator[tuple[Service, list[str]]]:
    """Serves data with a share for each round."""
    tokens, service = prepared(postgres.url(), folder, rounds), Service(folder, postgres)
    service.start()
    try:
        yield service, tokens
    finally:
        service.stop()


def killed(
    rounds: int, tell: Callable[[Any], object] = lambda _: None, *, kinds: Sequence[str] = KINDS
) -> Found | None:
    """Kills each part in turn, so many times in all; None where there is no PostgreSQL."""
    found = Found()
    with running() as postgres, tempfile.TemporaryDirectory() as folder:
        if postgres is None:
            return None
        with service_on(postgres, Path(folder), rounds) as (service, tokens):
            for number, token in enumerate(tokens):
                one_round(service, found, number, token, kinds[number % len(kinds)])
                if number % 20 == 19:
                    tell(found)
        house = House.open(postgres.url(), postgres.url())
        check(house, found, rounds)
        house.close()
    return found
