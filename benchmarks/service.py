"""How fast the service is over real sockets: explaining, asking again, asking anew, with a PostgreSQL ledger.

    python benchmarks/service.py                 # a few minutes; the machine should be idle
    python benchmarks/service.py --seconds 3     # a rough look
    python benchmarks/service.py --kills 504     # kills server, workers and PostgreSQL as well (half an hour more)

Two workers serve; whoever asks runs on the same machine. What is explained is never the same text twice: statistics,
columns, conditions, groups and literals change from one question to the next; so do they in what is asked anew. The
floor is a request that is let in and asks for nothing. The last line has the numbers; ``?`` is what was not
measured (kills, where none were asked for).
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from sfumato.datasets.visits import visits
from sfumato.ledger.requests import ask_for_share, decide_on
from sfumato.server.settings import ServerSettings
from sfumato.server.starting import serve_with_workers
from sfumato.service.analysts import Analysts
from sfumato.service.asking import Asked
from sfumato.service.data_sets import Registration
from sfumato.service.house import House
from sfumato.service.people import TOKEN, Person
from sfumato.service.rights import Grant
from sfumato.service.settings import Settings
from side_by_side.kills import killed
from side_by_side.postgres_server import running

ROWS, ANALYSTS, WORKERS, LOADED = 100_000, 200, 2, 32
PLACE = "/api/data-sets/visits"
LIMIT, SHARE = sf.ZCDP(10_000), sf.ZCDP(20)
SAID = {"rho": "0.0000001", "max_rows": 20}
STATISTICS = (
    "COUNT(*)",
    "COUNT(DISTINCT user_id)",
    "AVG(minutes)",
    "SUM(minutes)",
    "MEDIAN(minutes)",
    "STDDEV(minutes)",
    "AVG(minutes / 60)",
)
CONDITIONS = (
    "minutes < {0}.{1:06d}",
    "site = {0} AND minutes > 0.{1:06d}",
    "day >= DATE '2026-02-{2:02d}' AND minutes <> 0.{1:06d}",
    "minutes BETWEEN 0.{1:06d} AND {0}",
    "(site IN (1, 2, {0}) OR minutes > 3.{1:06d}) AND day <> DATE '2026-02-{2:02d}'",
)
GROUPS: tuple[dict[str, object], ...] = (
    {},
    {},
    {"by": "day", "max_groups": 5},
    {"by": "site", "keys": {"site": list(range(1, 51))}, "max_groups": 3},
)
FINE = [number / 1000 for number in range(1, 400)] + [1.0, 5.0, 60.0]
"""Time classes so fine that what is measured is work, not waiting."""


class Load(NamedTuple):
    """What a load came to: requests a second, and how long the slowest hundredth of them took."""

    rate: float
    p99: float
    failed: int


class Served(NamedTuple):
    """A server that runs: its port, its processes, and the tokens of its analysts."""

    port: int
    process: subprocess.Popen[bytes]
    tokens: list[str]


def request(token: str, path: str, said: object) -> bytes:
    """The octets of a request."""
    body = json.dumps(said).encode()
    head = (
        f"POST {PLACE}/{path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n"
        "accept: application/vnd.sfumato.release+json\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def known_request(token: str) -> bytes:
    """The octets of a request that asks for nothing but who one is: what is left of others is what they ask."""
    return f"GET /api/me HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\r\n".encode()


async def _one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, octets: bytes) -> bool:
    """Sends one request and reads its answer; tells whether it was answered as asked."""
    writer.write(octets)
    head = await reader.readuntil(b"\r\n\r\n")
    at = head.index(b"content-length: ") + 16
    body = await reader.readexactly(int(head[at : head.index(b"\r", at)]))
    right = head.startswith(b"HTTP/1.1 200")
    if not right:
        print(f"refused: {body[:300]!r}", file=sys.stderr)
    return right


async def _load(port: int, made: Callable[[int], bytes], seconds: float, rate: float | None) -> Load:
    """Asks as fast as answers come on many connections; or, with a rate, at that rate, whether they come or not."""
    numbers, times, failed = itertools.count(), list[float](), 0
    begun = time.perf_counter()

    async def ask() -> None:
        nonlocal failed
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
        while True:
            number = next(numbers)
            due = begun + (number / rate if rate else 0.0)
            if due > begun + seconds or time.perf_counter() > begun + seconds:
                break
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            sent = due if rate else time.perf_counter()
            failed += not await _one(reader, writer, made(number))
            times.append(time.perf_counter() - sent)
        writer.close()

    await asyncio.gather(*(ask() for _ in range(LOADED)))
    spent = time.perf_counter() - begun
    slow = sorted(times)[min(len(times) - 1, math.ceil(0.99 * len(times)))]
    return Load(len(times) / spent, slow, failed)


def load(port: int, made: Callable[[int], bytes], seconds: float, rate: float | None = None) -> Load:
    """Puts a load on the server, and says what came of it."""
    return asyncio.run(_load(port, made, seconds, rate))


async def _pg_load(server: Served, made: Callable[[int], str], seconds: float) -> Load:
    """Asks by the PostgreSQL port as fast as answers come, on many connections."""
    numbers, times, failed, begun = itertools.count(), list[float](), 0, time.perf_counter()
    together = asyncio.Barrier(LOADED)
    settings = " ".join(f"-c sfumato.{name}={value}" for name, value in SAID.items())

    async def ask(place: int) -> None:
        nonlocal failed, begun
        address = f"host=127.0.0.1 port={server.port + 1} dbname=sfumato user=analyst{place}"
        token = server.tokens[place]
        connecting = psycopg.AsyncConnection.connect(address, password=token, options=settings, autocommit=True)
        async with await connecting as one:
            await together.wait()
            begun = time.perf_counter()
            while (sent := time.perf_counter()) < begun + seconds:
                try:
                    await (await one.execute(made(next(numbers)))).fetchall()
                except psycopg.Error as refusal:
                    print(f"refused: {refusal}", file=sys.stderr)
                    failed += 1
                times.append(time.perf_counter() - sent)

    await asyncio.gather(*(ask(place) for place in range(LOADED)))
    slow = sorted(times)[min(len(times) - 1, math.ceil(0.99 * len(times)))]
    return Load(len(times) / (time.perf_counter() - begun), slow, failed)


def pg_small(server: Served, numbers: Iterator[int], seconds: float) -> float:
    """Small questions a second by the PostgreSQL port, every other one asked before; prints each kind, too."""
    known = str(fresh(0)["sql"])
    kinds: dict[str, Callable[[int], str]] = {
        "repeat": lambda _: known,
        "fresh": lambda _: str(fresh(next(numbers))["sql"]),
        "both": lambda number: known if number % 2 else str(fresh(next(numbers))["sql"]),
    }
    rates = {}
    for kind, made in kinds.items():
        whole = asyncio.run(_pg_load(server, made, seconds))
        rates[kind] = whole.rate
        print(f"pg {kind:6}{whole.rate:8.0f}/s, p99 {1000 * whole.p99:6.1f} ms at full load, failed {whole.failed}")
    return rates["both"]


def prepared(settings: Settings, folder: Path) -> list[str]:
    """Registers the visits, and gives the tokens of many analysts who each have a share."""
    made = visits(rows=ROWS)
    pq.write_table(pa.table(dict(made.columns)), folder / "visits.parquet")
    house = House.of(settings)
    registration = Registration("visits", str(folder / "visits.parquet"), made.codebook, LIMIT)
    house.data_sets.register(registration, by="curator")
    tokens = []
    for number in range(ANALYSTS):
        name = f"analyst{number}"
        house.people.add(name, [Grant("analyst", "visits")])
        tokens.append(house.people.issue(TOKEN, name).text)
        asked = ask_for_share(house.ledger, "visits", name, SHARE, purpose="a benchmark", by=name)
        decide_on(house.ledger, asked, grants=True, reason="a benchmark", by="owner")
    house.close()
    return tokens


@contextmanager
def served(ledger: str, folder: Path) -> Iterator[Served]:
    """Serves the visits with several workers."""
    os.environ |= {
        "SFUMATO_LEDGER": ledger,
        "SFUMATO_DATA_FOLDERS": json.dumps([str(folder)]),
        "SFUMATO_REQUESTS_PER_MINUTE": "100000000",
    }
    tokens = prepared(Settings(), folder)
    port = 18_470
    process = subprocess.Popen([sys.executable, __file__, "--serve", str(port)], start_new_session=True)
    try:
        ready(port, tokens[0])
        yield Served(port, process, tokens)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def ready(port: int, token: str) -> None:
    """Waits until the server answers, and both workers have opened the data."""
    until, said = time.monotonic() + 120, {"sql": "SELECT COUNT(*) AS n FROM visits", **SAID}
    while time.monotonic() < until:
        try:
            if not load(port, lambda _: request(token, "explain", said), 1.0).failed:
                return
        except (OSError, asyncio.IncompleteReadError):
            time.sleep(0.2)
    raise RuntimeError("the server does not answer")


def varied(number: int) -> dict[str, object]:
    """A question that nobody has explained before: other statistics, columns, conditions, groups and literals."""
    first, second = STATISTICS[number % 7], STATISTICS[(number // 7 + number) % 7]
    group = dict(GROUPS[number // 3 % 4])
    by = str(group.pop("by", ""))
    shown = f"{by}, {first} AS a, {second} AS b" if by else f"{first} AS a, {second} AS b"
    condition = CONDITIONS[number % 5].format(2 + number % 49, number % 1_000_000, 1 + number % 28)
    text = f"SELECT {shown} FROM visits WHERE {condition}" + (f" GROUP BY {by}" if by else "")
    bounds = {"max_rows_per_group": 4} if by else {"max_rows": 20}
    return {"sql": text, "rho": SAID["rho"], **bounds, **group}


def fresh(number: int) -> dict[str, object]:
    """A small question that nobody has asked before: of people, of visits or of minutes, in turn."""
    counted = ("COUNT(*)", "COUNT(DISTINCT user_id)", "AVG(minutes)")[number % 3]
    condition = CONDITIONS[number % 5].format(2 + number % 49, number % 1_000_000, 1 + number % 28)
    bounds = {"max_rows": 20} if number % 2 else {"max_rows_per_group": 20}
    return {"sql": f"SELECT {counted} AS n FROM visits WHERE {condition}", "rho": SAID["rho"], **bounds}


def in_process(ledger: str, folder: Path, seconds: float, first: int) -> dict[str, float]:
    """How many calls a second one process does without any server."""
    house = House.open(ledger, ledger, folders=(folder,))
    person, analysts = Person("analyst0", (Grant("analyst", "visits"),)), Analysts(house)
    again = fresh(first)

    def rate(act: Callable[[int], object]) -> float:
        act(-1)
        begun, count = time.perf_counter(), 0
        while time.perf_counter() - begun < seconds:
            act(count)
            count += 1
        return count / (time.perf_counter() - begun)

    def asked(said: dict[str, object]) -> Asked:
        return Asked.read(said["sql"], {name: value for name, value in said.items() if name != "sql"})

    made = {
        "explain": rate(lambda number: analysts.explain(person, "visits", asked(varied(first + number)))),
        "repeat": rate(lambda _: analysts.ask(person, "visits", asked(again))),
        "fresh": rate(lambda number: analysts.ask(person, "visits", asked(fresh(first + 2 + number)))),
    }
    house.close()
    return made


def memory(process: int) -> float:
    """The resident memory of a process and its children, in MiB."""
    listed = subprocess.run(["ps", "-o", "rss=", "-g", str(os.getpgid(process))], capture_output=True, text=True)
    return sum(map(int, listed.stdout.split())) / 1024


def one_by_one(server: Served, made: Callable[[int], bytes], count: int) -> float:
    """Requests a second on one connection, one after another."""

    async def ask() -> float:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 24)
        begun = time.perf_counter()
        for number in range(count):
            await _one(reader, writer, made(number))
        writer.close()
        return count / (time.perf_counter() - begun)

    return asyncio.run(ask())


def after_kills(kills: int) -> str:
    """Kills the service so many times under load; what the last line says of it. Ends where the book is wrong."""
    found = killed(kills, print) if kills else None
    if found is None:
        return "kills=? over_limit=?"
    print(found)
    if found.wrong:
        sys.exit("\n".join(found.wrong))
    return f"kills={found.kills.total()} over_limit={found.over_limit}"


def measured(server: Served, ledger: str, folder: Path, seconds: float, many: int) -> tuple[str, float]:
    """Measures all of it: the last line without its end, and small questions a second by the PostgreSQL port."""
    numbers = itertools.count(1)

    def token(number: int) -> str:
        return server.tokens[number % len(server.tokens)]

    known = fresh(0)
    kinds: dict[str, Callable[[int], bytes]] = {
        "floor": lambda number: known_request(token(number)),
        "same": lambda number: request(token(number), "explain", known),
        "explain": lambda number: request(token(number), "explain", varied(next(numbers))),
        "repeat": lambda number: request(token(number), "ask", known),
        "fresh": lambda number: request(token(number), "ask", fresh(next(numbers))),
    }
    for kind in ("same", "repeat"):  # whoever asks for the first time is planned, and counts the answer
        load(server.port, kinds[kind], 3 * seconds / 4)
    rates, slow = dict[str, float](), 0.0
    for kind, made in kinds.items():
        whole = load(server.port, made, seconds)
        half = load(server.port, made, seconds, whole.rate / 2)
        rates[kind], slow = whole.rate, max(slow, half.p99)
        print(f"{kind:8} {whole.rate:8.0f}/s, p99 {1000 * half.p99:6.1f} ms at half of it, failed {whole.failed}")
    small = pg_small(server, numbers, seconds)
    before, rate = memory(server.process.pid), load(server.port, kinds["repeat"], many / rates["repeat"]).rate
    after = memory(server.process.pid)
    print(f"memory   {before:.0f} MiB, after about {many:,} more requests ({rate:.0f}/s) {after:.0f} MiB")
    alone = in_process(ledger, folder, seconds / 2, 500_000)
    floor = 1 / one_by_one(server, lambda _: known_request(server.tokens[0]), int(50 * seconds))
    print(f"floor    {1000 * floor:.2f} ms over one connection, for whoever is let in and asks for nothing")
    mine = {
        "explain": lambda number: request(server.tokens[0], "explain", varied(700_000 + number)),
        "repeat": lambda _: request(server.tokens[0], "ask", fresh(500_000)),
        "fresh": lambda number: request(server.tokens[0], "ask", fresh(900_000 + number)),
    }
    overheads = {}
    for kind, call in mine.items():
        count = max(10, int(alone[kind] * seconds / 4))
        overheads[kind] = alone[kind] / one_by_one(server, call, count)
        print(f"{kind:8} in process {alone[kind]:.0f}/s, over one connection {overheads[kind]:.2f} times as long")
    line = (
        f"ratios: explain_s={rates['explain']:.0f} repeat_s={rates['repeat']:.0f} fresh_s={rates['fresh']:.0f} "
        f"p99_ms={1000 * slow:.0f} overhead={overheads['fresh']:.2f}"
    )
    return line, small


def main() -> None:
    """Serves, where it is told to; else measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--many", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--serve", type=int, default=0)
    said = parser.parse_args()
    if said.serve:
        over = {"time_classes": FINE, "host": "127.0.0.1", "port": said.serve, "pg_port": said.serve + 1}
        settings = ServerSettings.of(Settings(), **(over | {"time_classes": tuple(FINE)}))
        serve_with_workers(settings, WORKERS, {"file": None, "service": {}, "server": over, "silent": True})
        return
    with running() as postgres, tempfile.TemporaryDirectory() as folder:
        if postgres is None:
            sys.exit("needs PostgreSQL (scripts/debian-packages)")
        with served(postgres.url(), Path(folder)) as server:
            line, small = measured(server, postgres.url(), Path(folder), said.seconds, said.many)
    print(f"{line} {after_kills(said.kills)} pg_small_s={small:.0f}")


if __name__ == "__main__":
    main()
