"""A small book in which there is an entry of every kind, and how to look at books from elsewhere."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sfumato.accounting.events import Laplace, Repeat
from sfumato.accounting.losses.measures import Pure
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.space import vector
from sfumato.entropy import Entropy
from sfumato.errors import RunFailed
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.store import Store
from sfumato.mechanisms.additive import laplace
from sfumato.release.claim import claim
from sfumato.session.dataset import Dataset
from sfumato.transforms.aggregate import mean
from sfumato.transforms.rowwise import clamp

SIGNING_KEY = bytes(range(32))
SCORES = [71.5, 64.0, 88.0, 93.5, 55.0] * 10
SPACE = vector(float, size=len(SCORES))
LIMIT = Pure(100)
PROGRAM = Path(__file__).with_name("racers.py")
"""Runs several processes at once, from the command line."""


def ticking() -> Callable[[], datetime]:
    """Gives a clock that goes on by a second whenever it is asked."""
    now = datetime(2026, 11, 16, tzinfo=UTC)

    def clock() -> datetime:
        nonlocal now
        now += timedelta(seconds=1)
        return now

    return clock


def question(number: int = 0) -> Measurement:
    """Gives one of many questions."""
    asked = SPACE >> clamp(0, 100 + number) >> mean() >> laplace(scale=20)
    assert isinstance(asked, Measurement)
    return asked


def broken(number: int = 0) -> Measurement:
    """Gives a question that breaks off when it has looked."""

    def breaks(data: Data, entropy: Entropy) -> Data:
        raise OverflowError

    return replace(question(number), function=breaks)


def scores() -> Dataset:
    return Dataset(SCORES, name="scores", space=SPACE, version="spring")


def unit() -> Unit:
    return scores().unit


def full_book(store: Store) -> Ledger:
    """Fills a book: accounts that hold, that are monthly, that end; charges, runs, releases, notes, checkpoints."""
    ledger = Ledger(store, clock=ticking())
    session = scores().session(limit=LIMIT, ledger=ledger)
    ada = session.part("ada", limit=Pure(20), holds=True)
    ben = session.part("ben", limit=Pure(20), until=datetime(2030, 1, 1, tzinfo=UTC))
    ledger.open_account("monthly", limit=Pure(5), period="month", about={"scope": "made up"})
    for turn in range(4):
        session.run(question(turn))
        ada.run(question(10 + turn), key=f"key {turn}")
        ledger.charge("monthly", Pure("0.1"))
    ben.run(question(0))  # shares in what was paid for
    ledger.note("scores", "request", {"share": "eve", "why": "a study", "grants": [True, None, 3]})
    ledger.checkpoint()
    with suppress(RunFailed):
        session.run(broken(50))
    ledger.checkpoint(SIGNING_KEY)
    for turn in range(4, 8):
        session.run(question(turn))
        ben.run(question(20 + turn), key=f"key {turn}")
    ada.close_account()
    ledger.note("monthly", "decision", "granted")
    ledger.checkpoint(SIGNING_KEY)
    for turn in range(3):
        ledger.charge("monthly", Pure("0.2"), key=f"late {turn}", what="something")
    run = session.start(Repeat(Laplace(scale=100), 2), key="run", claim=claim("a test"))
    run.step(lambda data, _: len(data))
    run.checkpoint("after one step")
    run.step(lambda data, _: len(data))
    run.finish(len(SCORES))
    session.run(question(9))
    return ledger


def in_child(work: Callable[[], object]) -> Any:
    """Gives what some work gives in a forked process; its error, where it has one."""
    reads, writes = os.pipe()
    if (child := os.fork()) == 0:
        try:
            told = work()
        except BaseException as fault:
            told = f"{type(fault).__name__}: {fault}"
        os.write(writes, json.dumps(told).encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as answer:
        heard = answer.read()
    os.waitpid(child, 0)
    return json.loads(heard)


def totals(path: Path) -> list[object]:
    """Gives what every account has spent and the number of the last entry, from a handle of its own."""
    ledger = Ledger.open(path)
    try:
        return [str(ledger[name].spent) for name in ledger.accounts] + [ledger.head.entry]
    finally:
        ledger.close()


def sound(path: Path) -> bool:
    ledger = Ledger.open(path)
    try:
        ledger.note(ledger.accounts[0], "test", "the book can be written")
        return ledger.verify().sound
    finally:
        ledger.close()


def then(asked: Measurement, work: Callable[[], object]) -> Measurement:
    """Gives a question that does something when it has looked."""

    def function(data: Data, entropy: Entropy) -> Data:
        found = asked.function(data, entropy)
        work()
        return found

    return replace(asked, function=function)
