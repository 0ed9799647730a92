"""Books in files that several processes use, that lose their log, or go away: nothing is lost unseen."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faults.books import LIMIT, in_child, sound, totals, unit

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import LedgerUnavailable
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores import sqlite

TENTH = Pure("0.1")

# The write-ahead log


def killed_after(path: Path, charges: int) -> None:
    """Lets a process charge and die, so that what it wrote is in the log alone."""
    if (child := os.fork()) == 0:
        ledger = Ledger.open(path)
        for _ in range(charges):
            ledger.charge("visits", TENTH)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


@pytest.fixture
def unclean(tmp_path: Path) -> Path:
    """Gives a book whose last 20 charges are in its log alone."""
    path = tmp_path / "book.db"
    ledger = Ledger.open(path)
    ledger.open_account("visits", limit=Pure(100))
    ledger.close()
    killed_after(path, 20)
    return path


def test_what_a_killed_process_wrote_is_in_the_log(unclean: Path) -> None:
    assert unclean.with_name("book.db-wal").stat().st_size > 0
    assert totals(unclean) == ["ε = 2", 22]
    assert sound(unclean)


def test_who_removes_the_log_loses_what_is_in_it_and_a_receipt_shows_it(unclean: Path) -> None:
    copied = unclean.with_name("copy.db")
    for rest in ("", "-wal"):
        shutil.copy(f"{unclean}{rest}", f"{copied}{rest}")
    ledger = Ledger.open(copied)
    head = ledger.head
    ledger.close()
    unclean.with_name("book.db-wal").unlink()
    ledger = Ledger.open(unclean)
    assert ledger["visits"].spent == Pure(0)
    assert ledger.verify().sound, "the chain alone cannot tell"
    assert [fault.entry for fault in ledger.verify(receipts=[head]).faults] == [22]
    ledger.close()


def test_a_broken_log_never_gives_half_an_entry(unclean: Path) -> None:
    log = unclean.with_name("book.db-wal")
    octets, main = log.read_bytes(), unclean.read_bytes()
    chance = random.Random(5)
    for _ in range(30):
        unclean.write_bytes(main)
        broken = bytearray(octets)
        broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        log.write_bytes(broken)
        unclean.with_name("book.db-shm").unlink(missing_ok=True)
        ledger = Ledger.open(unclean)
        assert ledger.verify().sound
        entries = ledger.head.entry
        assert ledger["visits"].spent == Pure(f"{entries - 2}/10")
        ledger.close()


# Files that move, and locks that get lost


@pytest.mark.parametrize("rest", ["", "-wal"])
@pytest.mark.parametrize("act", ["remove", "replace"])
def test_a_file_that_goes_away_while_it_is_in_use_is_noticed(tmp_path: Path, act: str, rest: str) -> None:
    path = tmp_path / "book.db"

    def work() -> list[object]:
        ledger = Ledger.open(path)
        ledger.open_account("scores", limit=LIMIT, unit=unit())
        file = Path(f"{path}{rest}")
        other = tmp_path / "other"
        shutil.copy(file, other)
        file.unlink() if act == "remove" else other.rename(file)
        told: list[object] = []
        for _ in range(2):
            try:
                ledger.charge("scores", Pure(1))
            except LedgerUnavailable as fault:
                told += [fault.why, fault.certain]
        return told

    assert in_child(work) == [sqlite.REPLACED, False, sqlite.REPLACED, True]


def test_two_handles_in_one_process_and_another_process_that_comes_and_goes(tmp_path: Path) -> None:
    """Whoever closes any handle on a file gives up all locks of the process on it: then the log could be removed."""
    path = tmp_path / "book.db"
    first = Ledger.open(path)
    first.open_account("visits", limit=Pure(10))
    second = Ledger.open(path)
    assert in_child(lambda: totals(path)) == ["ε = 0", 2]
    visitor = "import sys; from sfumato.ledger.ledger import Ledger; Ledger.open(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", visitor, str(path)], check=True)
    first.charge("visits", TENTH)
    second.charge("visits", TENTH)
    subprocess.run([sys.executable, "-c", visitor, str(path)], check=True)
    assert in_child(lambda: totals(path)) == ["ε = 0.2", 4]
    first.close()
    second.close()
    assert totals(path) == ["ε = 0.2", 4]


def test_a_fork_goes_on_charging_when_its_parent_has_closed_the_book(tmp_path: Path) -> None:
    """A child that has inherited a connection believes in locks that only its parent holds."""
    path = tmp_path / "book.db"
    ledger = Ledger.open(path)
    ledger.open_account("visits", limit=Pure(10))
    ready, closed = os.pipe(), os.pipe()
    if (child := os.fork()) == 0:
        ledger.charge("visits", TENTH)
        os.write(ready[1], b"x")
        os.read(closed[0], 1)
        ledger.charge("visits", TENTH)
        os._exit(0)
    os.read(ready[0], 1)
    ledger.charge("visits", TENTH)
    ledger.close()
    os.write(closed[1], b"x")
    assert os.waitpid(child, 0)[1] == 0
    for end in (*ready, *closed):
        os.close(end)
    assert totals(path) == ["ε = 0.3", 5]
    assert sound(path)


def test_a_fork_from_within_a_decision_leaves_the_parent_its_transaction(tmp_path: Path) -> None:
    path = tmp_path / "book.db"
    ledger = Ledger.open(path)
    ledger.open_account("visits", limit=Pure(10))
    children: list[int] = []

    def decide(pen: object) -> list[Any]:
        if (child := os.fork()) == 0:
            os._exit(0)
        children.append(child)
        return []

    ledger.store.append(ledger.head.entry, decide)
    os.waitpid(children[0], 0)
    ledger.charge("visits", TENTH)
    ledger.close()
    assert totals(path) == ["ε = 0.1", 3]


def test_a_book_that_others_keep_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE_SECONDS", 0.2)
    ledger = Ledger.open(tmp_path / "book.db")
    ledger.open_account("visits", limit=Pure(10))
    blocking = sqlite3.connect(tmp_path / "book.db", isolation_level=None)
    blocking.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerUnavailable, match="other writers have kept it busy") as refused:
        ledger.charge("visits", TENTH)
    assert refused.value.certain
    blocking.execute("ROLLBACK")
    blocking.close()
    ledger.charge("visits", TENTH)
    assert ledger["visits"].spent == TENTH
    ledger.close()
