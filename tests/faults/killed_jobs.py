"""Kills workers by SIGKILL at every step of a job, and looks at what is left once another has taken over.

Run as a program, ``killed_jobs.py FOLDER LEDGER RECORDS STRIDE``: a warm process forks the workers. Prints one line of
JSON for each kill.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from tests.faults.killed import Points, deadly_drivers
from tests.unit.service.houses import ADA, CURATOR, OWNER, asked, registration, visits

import sfumato as sf
from sfumato.service.curators import Curators
from sfumato.service.house import House
from sfumato.service.jobs import JOB, WAITING, Jobs
from sfumato.service.owners import Owners
from sfumato.service.workers import LOST, Worker

LIMIT, PRICE = sf.Pure(1000), "0.01"
WARM = (
    "duckdb",
    "pyarrow",
    "polars",
    "sfumato.query.sql",
    "sfumato.session.planner",
    "sfumato.query.engines.duckdb.opening",
)
"""What each child would load by itself."""

Place: TypeAlias = tuple[str, str, str]
BEGINS = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


def opened(folder: str, ledger: str, records: str, minutes: int) -> House:
    """A house at a moment: each worker comes some minutes after the last one."""
    now = BEGINS + timedelta(minutes=minutes)
    return House.open(ledger, records, folders=(Path(folder),), now=lambda: now)


def prepare(place: Place) -> None:
    house = opened(*place, minutes=0)
    Curators(house).register(CURATOR, registration(visits(Path(place[0]) / "visits.parquet", rows=50), LIMIT))
    house.people.add("ada", ADA.grants)
    Owners(house).open_share(OWNER, "visits", "ada", sf.Pure(900), reason="kills")
    house.close()


def question(number: int) -> Any:
    """A question that was not asked before."""
    low, high = number % 40, 60 + number // 40
    return asked(f"SELECT COUNT(*) AS n FROM visits WHERE minutes >= {low} AND minutes <= {high}", epsilon=PRICE)


def in_child(work: Callable[[Callable[..., object]], object]) -> dict[str, Any]:
    """Forks a child for some work, and gives what it told. The parent opens no engine: its threads do not fork."""
    reads, writes = os.pipe()
    if (child := os.fork()) == 0:
        os.close(reads)
        tell = partial(_tell, writes)
        try:
            work(tell)
        except BaseException as fault:
            tell(fault=f"{type(fault).__name__}: {fault}")
        finally:
            os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        told = [json.loads(line) for line in pipe.read().splitlines()]
    _, status = os.waitpid(child, 0)
    said = {name: one for line in told for name, one in line.items()}
    killed_by_us = status == signal.SIGKILL and "point" in said
    return said if status == 0 or killed_by_us else {**said, "fault": f"a child ended with {status}"}


def _tell(pipe: int, **told: object) -> None:
    os.write(pipe, json.dumps(told).encode() + b"\n")


def submit(place: Place, number: int, tell: Callable[..., object]) -> None:
    house = opened(*place, minutes=10 * number)
    tell(job=Jobs(house).submit(ADA, "visits", question(number), f"job {number}").id)


def work(place: Place, number: int, deadly: int, tell: Callable[..., object]) -> None:
    """Takes the job, and is killed at a point, or comes to its end."""
    points = Points(0, tell)
    deadly_drivers(points)
    house = opened(*place, minutes=10 * number)
    house.data_sets.share("visits", "ada")
    points.count, points.deadly = 0, deadly
    Worker(house, f"worker {number}").work()
    tell(done=points.count)


def rescue(place: Place, number: int, job: str, told: dict[str, Any], tell: Callable[..., object]) -> None:
    """Takes over, and says what is wrong with how that ends."""
    house = opened(*place, minutes=10 * number + 5)
    rescuer = Worker(house, f"rescuer {number}")
    for _ in range(3):
        rescuer.work()
    ended = Jobs(house).job(ADA, "visits", job)
    tell(state=ended.state, charged=ended.charged, faults=faults(house, job, told))


def faults(house: House, job: str, told: dict[str, Any]) -> list[str]:
    """Says what is wrong with a job once somebody else has taken it over, and with the book."""
    ended = Jobs(house).job(ADA, "visits", job)
    kept = house.records.need(JOB, f"ada/{job}")
    entries = list(house.ledger.entries(kinds=("charged", "released", "failed")))
    own = [one for one in entries if one.kind == "charged" and one.body.get("key") == kept.said["charge_key"]]
    settled = [one for one in entries if own and one.body.get("charge") == own[0].number]
    found = [] if "fault" not in told else [str(told["fault"])]
    if len(own) > 1:
        found.append(f"charged {len(own)} times")
    if len(settled) > 1:
        found.append(f"answered {len(settled)} times")
    if not ended.over:
        found.append(f"it has not ended: {ended.state}")
    if ended.charged is not bool(own):
        found.append(f"it says charged: {ended.charged}, and the book has {len(own)} charges")
    if ended.state == "done" and (ended.number is None or house.shelf.release(ended.number) is None):
        found.append("it is done, and has no answer")
    if ended.state == "failed" and (ended.fault != LOST or not own or any(one.kind == "released" for one in settled)):
        found.append(f"it failed, for another reason than a lost answer: {ended.fault} {ended.why}")
    if house.records.all(WAITING):
        found.append("its place in the queue is taken still")
    charges = Counter(one.account for one in entries if one.kind == "charged")
    if house.ledger["visits/ada"].spent != sf.Pure(PRICE).times(charges["visits/ada"]):
        found.append(f"{house.ledger['visits/ada'].spent} is spent, and there are {charges} charges")
    if not house.ledger.verify():
        found.append("the book does not verify")
    return found


def main(folder: str, ledger: str, records: str, stride: int) -> None:
    place = (folder, ledger, records)
    for module in WARM:
        import_module(module)
    said = in_child(lambda _: prepare(place))
    number, done = 0, False
    while not done and "fault" not in said:
        number += 1
        job = str(in_child(partial(submit, place, number))["job"])
        told = in_child(partial(work, place, number, 1 + (number - 1) * stride))
        done = "point" not in told
        said = in_child(partial(rescue, place, number, job, told))
        line = {
            "point": told.get("point"),
            "done": told.get("done"),
            "faults": [said.get("fault", "no answer")],
            **said,
        }
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
