"""Long runs when the process dies at any point of its way, and when two processes take one up at the same time."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import PermitUsed
from sfumato.ledger.progress import RunPermit
from sfumato.ledger.store import Decide, Row
from sfumato.ledger.stores.sqlite import SqliteStore
from sfumato.session.run import Run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")

STEPS, AHEAD = 6, 2
PLAN = sf.events.Repeat(sf.events.Gaussian(scale=10), STEPS)
PRICE = sf.ZCDP("3/100")
CLAIM = sf.claim("a test")
POINTS = 34
"""How many points the way of a worker has."""


class Way:
    """Counts the points of a worker's way, and kills it at one of them."""

    def __init__(self, deadly: int) -> None:
        self.deadly, self.count = deadly, 0

    def point(self) -> None:
        self.count += 1
        if self.count == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)


def opened(folder: Path) -> sf.Session:
    data = sf.Dataset([1.0, 2.0], name="scores", space=sf.vector(float), version="first")
    return data.session(limit=sf.ZCDP(1), ledger=folder / "ledger.db")


def started(folder: Path) -> Run:
    return opened(folder).start(PLAN, key="run", claim=CLAIM, ahead=AHEAD)


def look(folder: Path) -> Callable[[Any, Any], int]:
    """Gives a step that leaves a mark of its own where it has looked, so that it is counted whatever happens next."""

    def step(data: Any, _: Any) -> int:
        with (folder / "looks").open("a", encoding="utf-8") as file:
            file.write("x")
        return len(data)

    return step


def looks(folder: Path) -> int:
    return len((folder / "looks").read_text(encoding="utf-8")) if (folder / "looks").exists() else 0


def worker(folder: Path, way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs all steps with a checkpoint after each second one; its appends, steps and checkpoints have points."""
    appends = SqliteStore.append

    def append(self: SqliteStore, known: int, decide: Decide) -> Sequence[Row]:
        way.point()
        news = appends(self, known, decide)
        way.point()
        return news

    monkeypatch.setattr(SqliteStore, "append", append)
    run, step = started(folder), look(folder)
    while run.left:
        way.point()
        run.step(step)
        way.point()
        if run.taken % 2 == 0:
            run.checkpoint(f"after {run.taken}")
    way.point()
    run.finish("done")
    way.point()


def forked(work: Callable[[], None]) -> int:
    """Runs something in a child process; gives how it ended, 0 for well."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("deadly", range(1, POINTS + 1))
def test_a_run_that_is_killed_anywhere_goes_on_and_never_looks_more_often_than_it_paid(
    tmp_path: Path, deadly: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = forked(lambda: worker(tmp_path, Way(deadly), monkeypatch))
    assert ended == -signal.SIGKILL
    before = looks(tmp_path)
    session = opened(tmp_path)
    charged = session.spent == PRICE
    run = session.start(PLAN, key="run", claim=CLAIM, ahead=AHEAD)
    assert session.spent == PRICE and (charged or before == 0)
    if run.ended:
        assert run.release is not None and before == STEPS
    else:
        assert before <= run.taken <= before + AHEAD and run.state_step <= run.taken
        assert run.state == (f"after {run.state_step}" if run.state_step else None)
        for _ in range(run.left):
            run.step(look(tmp_path))
        assert run.finish("done").receipt is not None
    assert STEPS - AHEAD <= looks(tmp_path) <= STEPS
    assert session.spent == PRICE and session.ledger.verify()
    session.ledger.close()


def test_every_point_of_the_way_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    way = Way(POINTS + 1)
    worker(tmp_path, way, monkeypatch)
    assert way.count == POINTS


@pytest.fixture
def gate() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)


def test_of_two_processes_that_resume_at_once_one_goes_on(tmp_path: Path, gate: tuple[int, int]) -> None:
    started(tmp_path).step(look(tmp_path))
    reading, writing = gate

    def resume() -> None:
        os.close(writing)
        os.read(reading, 1)  # until the gate is opened, for all at once
        try:
            run = started(tmp_path)
            while run.left:
                run.step(look(tmp_path))
            run.finish("done")
        except (PermitUsed, sf.errors.NotKept):
            os._exit(7)

    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            try:
                resume()
            except BaseException:
                os._exit(1)
            os._exit(0)
        children.append(child)
    os.close(writing)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes.count(0) >= 1 and set(codes) <= {0, 7}
    session = opened(tmp_path)
    assert looks(tmp_path) <= STEPS and session.spent == PRICE and session.ledger.verify()
    assert len(list(session.ledger.entries(kinds=("released",)))) == 1
    session.ledger.close()


def test_a_permit_that_counts_nothing_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same test on a wrong ledger, which forgets what it counted before a step looked."""

    def careless(self: RunPermit, turn: object) -> None:
        pass

    with monkeypatch.context() as patched:
        patched.setattr(RunPermit, "_write", careless)
        first = started(tmp_path)
        for _ in range(STEPS):
            first.step(look(tmp_path))
    again = started(tmp_path)
    for _ in range(again.left):
        again.step(look(tmp_path))
    assert looks(tmp_path) == 2 * STEPS
