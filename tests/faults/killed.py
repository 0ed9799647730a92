"""Kills workers by SIGKILL at every step of charge → run → store, and looks at the book after each, for `test_killed`.

Run as a program: a warm process forks the workers, so that a kill takes milliseconds. Nothing in the product knows of
it: the store, the clock, the driver of the database and the measurement's function are wrapped in the worker. Prints
one line of JSON for each worker.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from types import ModuleType
from typing import Any, TypeAlias

from sfumato.accounting.losses.measures import Pure
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.space import vector
from sfumato.entropy import Entropy
from sfumato.ledger.addresses import store_at
from sfumato.ledger.entry import Entry, digest_of
from sfumato.ledger.ledger import Ledger
from sfumato.mechanisms.additive import laplace
from sfumato.session.dataset import Dataset
from sfumato.transforms.aggregate import mean
from sfumato.transforms.rowwise import clamp

psycopg: ModuleType | None
try:
    import psycopg
except ImportError:
    psycopg = None

LIMIT = Pure(10**7)
SCORES = [71.5, 64.0, 88.0, 93.5, 55.0] * 10
SPACE = vector(float, size=len(SCORES))
NAME = "scores"
OURSELVES = "harness"
"""Who charges a key again after a worker was killed; workers have not looked at anything for it."""


class Points:
    """Counts the points of a worker's way, and kills it at one of them."""

    def __init__(self, deadly: int, tell: Callable[..., object]) -> None:
        self.deadly, self.tell, self.count = deadly, tell, 0

    def at(self, name: str) -> None:
        self.count += 1
        if self.count == self.deadly:
            self.tell(point=name)
            os.kill(os.getpid(), signal.SIGKILL)


class DeadlyStore:
    """Passes everything on to a store, with a point before and after each call, and inside the decision."""

    def __init__(self, store: object, points: Points) -> None:
        self._store, self._points = store, points

    def __getattr__(self, name: str) -> object:
        found = getattr(self._store, name)
        return around(found, self._points, lambda _: f"store.{name}") if callable(found) else found

    def append(self, known: int, decide: Callable[..., object]) -> object:
        deciding = around(decide, self._points, lambda _: "decision")
        return around(self._store.append, self._points, lambda _: "append")(known, deciding)  # type: ignore[attr-defined]


def around(call: Callable[..., Any], points: Points, name: Callable[[tuple[Any, ...]], str]) -> Callable[..., Any]:
    """Puts a point before and one after a call."""

    def wrapped(*words: object, **settings: object) -> object:
        points.at(f"before {name(words)}")
        found = call(*words, **settings)
        points.at(f"after {name(words)}")
        return found

    return wrapped


def first_word(words: tuple[Any, ...]) -> str:
    """Names a statement by its verb."""
    said = words[-1] if isinstance(words[-1], str | bytes) else words[1]
    text = said.decode() if isinstance(said, bytes) else str(said)
    return text.split()[0].strip(";")


def deadly_drivers(points: Points) -> None:
    """Puts a point before and after each statement that reaches a database."""

    class Deadly(sqlite3.Connection):
        execute = around(sqlite3.Connection.execute, points, lambda words: first_word(words[:2]))
        executescript = around(sqlite3.Connection.executescript, points, lambda _: "script")
        close = around(sqlite3.Connection.close, points, lambda _: "close")

    true_connect = sqlite3.connect
    sqlite3.connect = lambda *words, **settings: true_connect(*words, factory=Deadly, **settings)  # type: ignore[assignment]
    if psycopg is None:
        return
    statement = around(psycopg.Connection.execute, points, lambda words: first_word(words[:2]))
    psycopg.Connection.execute = statement


def question(number: int) -> Measurement:
    """Gives a question that was not asked before; it costs the more, the larger its number."""
    asked = SPACE >> clamp(0, 100 + number) >> mean() >> laplace(scale=10)
    assert isinstance(asked, Measurement)
    return asked


def watched(asked: Measurement, points: Points, price: Fraction) -> Measurement:
    """Gives a measurement that tells what it costs before it looks at the data."""

    def looking(data: Data, entropy: Entropy) -> Data:
        points.at("before looking")
        points.tell(looks=str(price))
        points.at("while looking")
        found = asked.function(data, entropy)
        points.at("after looking")
        return found

    deadly = replace(asked, function=looking)
    object.__setattr__(deadly, "plan", asked.plan)
    return deadly


def price_of(asked: Measurement) -> Fraction:
    loss = asked.map(asked.source.closest)
    assert isinstance(loss, Pure)
    return Fraction(loss.epsilon)


def deliver(release: Any, points: Points) -> None:
    points.at("before delivery")
    points.tell(delivers=release.receipt.entry, loss=str(Fraction(release.loss.epsilon)))
    points.at("after delivery")


# What a worker does. `number` is new for each worker, so that nobody asks what was asked before.


def by_session(address: str, points: Points, number: int) -> None:
    """Asks through a session: once, once more with a key, and the first question again, which is free."""
    ledger = opened(address, points)
    session = Dataset(SCORES, name=NAME, space=SPACE).session(limit=LIMIT, ledger=ledger)
    first, second = question(2 * number), question(2 * number + 1)
    deliver(session.run(watched(first, points, price_of(first))), points)
    deliver(session.run(watched(second, points, price_of(second)), key=f"key {number}"), points)
    session.run(watched(first, points, price_of(first)))
    ledger.close()


def by_permit(address: str, points: Points, number: int) -> None:
    """Charges, and runs the permit."""
    ledger = opened(address, points)
    asked = question(number)
    price = price_of(asked)
    unit = Dataset(SCORES, name=NAME, space=SPACE).unit
    ledger.open_account(NAME, limit=LIMIT, unit=unit)
    permit = ledger.charge(NAME, Pure(price), key=f"key {number}")
    points.at("charged")
    deliver(permit.run(watched(asked, points, price), SCORES, d_in=unit), points)
    ledger.close()


def many_by_session(address: str, points: Points, number: int) -> None:
    """Asks without end, until the parent kills it."""
    session = Dataset(SCORES, name=NAME, space=SPACE).session(limit=LIMIT, ledger=opened(address, points))
    points.tell(ready=True)
    for turn in range(10_000):
        asked = question(1000 * number + turn)
        deliver(session.run(watched(asked, points, price_of(asked)), key=f"key {number}/{turn}"), points)


def look_then_pay(address: str, points: Points, number: int) -> None:
    """Is wrong on purpose: it pays for what it has looked at."""
    ledger = opened(address, points)
    asked = question(number)
    price = price_of(asked)
    ledger.open_account(NAME, limit=LIMIT, unit=Dataset(SCORES, name=NAME, space=SPACE).unit)
    watched(asked, points, price)(SCORES)
    permit = ledger.charge(NAME, Pure(price), key=f"key {number}")
    points.tell(delivers=permit.receipt.entry, loss=str(price))


def opened(address: str, points: Points) -> Ledger:
    def clock() -> datetime:
        points.at("clock")
        return datetime.now(UTC)

    return Ledger(DeadlyStore(store_at(address), points), clock=clock)  # type: ignore[arg-type]


Work: TypeAlias = Callable[[str, Points, int], None]
WORK: dict[str, Work] = {one.__name__: one for one in (by_session, by_permit, many_by_session, look_then_pay)}


@dataclass
class Book:
    """Is a book, and what workers have told of what they looked at and what they delivered."""

    address: str
    looked: Fraction = Fraction(0)
    delivered: list[tuple[int, Fraction]] = field(default_factory=list)

    def hear(self, told: list[dict[str, Any]]) -> None:
        self.looked += sum((Fraction(line["looks"]) for line in told if "looks" in line), Fraction(0))
        self.delivered += [(line["delivers"], Fraction(line["loss"])) for line in told if "delivers" in line]

    def faults(self, retried: str | None) -> list[str]:
        """Says what is wrong with the book now; opens it anew, and writes to it."""
        try:
            ledger = Ledger.open(self.address)
            ledger.open_account(NAME, limit=LIMIT, unit=Dataset(SCORES, name=NAME, space=SPACE).unit)
            ledger.note(NAME, "harness", "the book can be written")
            found = [] if retried is None else self._retry(ledger, retried)
            found += [str(fault) for fault in ledger.verify().faults]
            found += self._counts(ledger) + self._stored(ledger)
            ledger.close()
        except Exception as fault:
            return [f"{type(fault).__name__}: {fault}"]
        return found

    def _retry(self, ledger: Ledger, key: str) -> list[str]:
        """Charges with a key that may have been charged before: one charge, and a permit only if it is new."""
        before = keyed(ledger, key)
        loss = Pure(before[0]) if before else Pure(1)
        said = next((entry.body for entry in ledger.entries(kinds=("charged",)) if entry.body.get("key") == key), {})
        again = {name: said[name] for name in ("question", "what", "data") if name in said}
        permit = ledger.charge(NAME, loss, key=key, by=OURSELVES, **again)
        after = keyed(ledger, key)
        if len(after) != 1:
            return [f"the key {key} is charged {len(after)} times"]
        return [f"the key {key} gives a second permit"] if before and not permit.used else []

    def _counts(self, ledger: Ledger) -> list[str]:
        paid = {entry.number: charged(entry) for entry in ledger.entries(kinds=("charged",))}
        spent, all_paid = ledger[NAME].spent, sum(paid.values(), Fraction(0))
        found = [] if spent == Pure(all_paid) else [f"the account says {spent}, and the charges come to {all_paid}"]
        ours = (charged(entry) for entry in ledger.entries(kinds=("charged",)) if entry.by == OURSELVES)
        total = all_paid - sum(ours, Fraction(0))
        if self.looked > total:
            found.append(f"under-count: {self.looked} was looked at, and {total} is charged")
        twice = [entry for entry, times in Counter(entry for entry, _ in self.delivered).items() if times > 1]
        found += [f"entry {entry} has paid for two releases" for entry in twice]
        for entry, loss in self.delivered:
            if paid.get(entry, Fraction(0)) < loss:
                found.append(f"under-count: {loss} was delivered, and entry {entry} charged {paid.get(entry)}")
        return found

    def _stored(self, ledger: Ledger) -> list[str]:
        settled: Counter[object] = Counter()
        for row in ledger.store.rows(kinds=("released", "failed")):
            entry = Entry.read(row.text, row.digest)
            settled[entry.body["charge"]] += 1
            if entry.body.get("value") is not None and (
                row.value is None or digest_of(row.value) != entry.body["value"]
            ):
                return [f"entry {row.number} has no whole release"]
            if row.question is not None and ledger.recall(NAME, row.question) is None:
                return [f"the release of entry {row.number} is not found"]
        return [f"charge {charge} is settled {times} times" for charge, times in settled.items() if times > 1]


def charged(entry: Entry) -> Fraction:
    loss = entry.body["loss"]
    assert isinstance(loss, dict)
    return Fraction(str(loss["epsilon"]))


def keyed(ledger: Ledger, key: str) -> list[Fraction]:
    return [charged(entry) for entry in ledger.entries(kinds=("charged",)) if entry.body.get("key") == key]


def sent(work: Work, address: str, number: int, *, deadly: int = 0, after: float | None = None) -> list[dict[str, Any]]:
    """Forks a worker, lets it be killed at a point or after a time, and gives what it told."""
    reads, writes = os.pipe()
    if (child := os.fork()) == 0:
        os.close(reads)
        try:
            points = Points(deadly, lambda **told: os.write(writes, json.dumps(told).encode() + b"\n"))
            deadly_drivers(points)
            work(address, points, number)
            points.tell(done=points.count)
        except BaseException as fault:
            os.write(writes, json.dumps({"fault": f"{type(fault).__name__}: {fault}"}).encode() + b"\n")
        finally:
            os._exit(0)
    os.close(writes)
    heard = b""
    with os.fdopen(reads, "rb", buffering=0) as pipe:
        if after is not None:
            heard = pipe.readline()
            time.sleep(after)
            os.kill(child, signal.SIGKILL)
        heard += pipe.readall() or b""
    os.waitpid(child, 0)
    return [json.loads(line) for line in heard.decode().splitlines()]


def at_points(work: Work, address: str, stride: int) -> None:
    """Kills a worker at its first point, the next so many points later, and so on until one comes to its end."""
    book, number, done = Book(address), 0, False
    while not done:
        number += 1
        told = sent(work, address, number, deadly=1 + (number - 1) * stride)
        done = any("done" in line or "fault" in line for line in told)
        report(book, told, f"key {number}")


def while_making(folder: str) -> None:
    """Kills workers that find no book yet, each at another point."""
    for number in range(1, 1000):
        address = folder.replace("{number}", str(number))
        told = sent(by_permit, address, number, deadly=number)
        report(Book(address), told, f"key {number}")
        if any("charged" in str(line.get("point")) or "done" in line for line in told):
            return


def at_random(address: str, kills: int, seed: int) -> None:
    """Kills workers some time after they began to ask."""
    book, delays = Book(address), random.Random(seed)
    for number in range(kills):
        told = sent(many_by_session, address, number, after=delays.uniform(0, 0.03))
        report(book, told, f"key {number}/{sum('delivers' in line for line in told)}")


def report(book: Book, told: list[dict[str, Any]], retried: str) -> None:
    book.hear(told)
    faults = book.faults(retried) + [line["fault"] for line in told if "fault" in line]
    point = next((line["point"] for line in told if "point" in line), None)
    line = {"point": point, "done": any("done" in line for line in told), "faults": faults}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main(how: str, address: str, *words: str) -> None:
    if how == "making":
        while_making(address)
    elif how == "random":
        at_random(address, int(words[0]), int(words[1]))
    else:
        at_points(WORK[how], address, int(*words))


if __name__ == "__main__":
    by_session("memory:", Points(0, lambda **_: None), 0)  # so that workers find everything loaded
    main(*sys.argv[1:])
