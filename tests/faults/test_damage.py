"""Disks that are full, files that are read-only or broken: a clear error, nothing lost, and no wrong total."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.books import LIMIT, SCORES, full_book, in_child, question, scores, sound, then, totals, unit

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import AccountRefused, BadArgument, LedgerDamaged, LedgerUnavailable, NotKept
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.sqlite import SqliteStore

TENTH = Pure("0.1")
PAGE = 4096


# A full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Gives a file system of 1 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "sfumato-test", str(place)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root can mount a file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> None:
    with suppress(OSError), (place / "waste").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(512))


def fill_with_notes(ledger: Ledger) -> None:
    """Uses up the room that a file and its log have taken already."""
    for size in (1000, 10):
        with suppress(LedgerUnavailable):
            while True:
                ledger.note("scores", "waste", "x" * size)


def test_a_full_disk_at_the_charge(small_disk: Path) -> None:
    ledger = Ledger.open(small_disk / "book.db")
    ledger.open_account("visits", limit=Pure(1000))
    fill(small_disk)
    before = ledger["visits"].spent
    with pytest.raises(LedgerUnavailable, match=r"the disk is full\. Nothing was charged and nothing ran") as refused:
        for _ in range(10_000):  # until the room that the log had already taken is used up
            before = ledger["visits"].spent
            ledger.charge("visits", TENTH)
    assert refused.value.certain
    assert ledger["visits"].spent == before
    (small_disk / "waste").unlink()
    ledger.charge("visits", TENTH)
    assert ledger["visits"].spent == before.then(TENTH)
    assert ledger.verify().sound
    ledger.close()
    assert sound(small_disk / "book.db")


def test_a_full_disk_at_the_storing_of_a_release(small_disk: Path) -> None:
    ledger = Ledger.open(small_disk / "book.db")
    ledger.open_account("scores", limit=LIMIT, unit=unit())
    permit = ledger.charge("scores", Pure(1))

    def no_room() -> None:
        fill(small_disk)
        fill_with_notes(ledger)

    with pytest.raises(NotKept, match="It is not lost") as kept:
        permit.run(then(question(), no_room), SCORES)
    assert isinstance(kept.value.release.value, float)  # type: ignore[attr-defined]
    assert permit.used
    assert permit.release is None
    (small_disk / "waste").unlink()
    assert ledger["scores"].spent == Pure(1), "the charge stands"
    assert ledger.verify().sound
    ledger.close()


def test_no_room_for_a_new_book(small_disk: Path) -> None:
    fill(small_disk)
    with pytest.raises(LedgerUnavailable):
        Ledger.open(small_disk / "book.db")
    assert [file.name for file in small_disk.iterdir()] == ["waste"]
    (small_disk / "waste").unlink()
    assert Ledger.open(small_disk / "book.db").verify().sound


def no_more_pages(store: SqliteStore) -> None:
    """Makes a file as large as it may become."""
    assert store._connection is not None
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "book.db")
    ledger = Ledger(store)
    ledger.open_account("scores", limit=LIMIT, unit=unit())
    permit = ledger.charge("scores", Pure(1))

    def no_room() -> None:
        no_more_pages(store)
        fill_with_notes(ledger)

    with pytest.raises(NotKept):
        permit.run(then(question(), no_room), SCORES)
    with pytest.raises(LedgerUnavailable, match="the disk is full"):
        ledger.charge("scores", Pure(1), what="x" * 10_000)
    assert ledger["scores"].spent == Pure(1)
    ledger.close()
    assert sound(tmp_path / "book.db")


# Files that cannot be written

NOBODY = 65534


def by_nobody(path: Path) -> list[str]:
    """Reads a book and charges, as somebody whom permissions bind."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    told = []
    try:
        ledger = Ledger.open(path)
        told.append(str(ledger["visits"].spent))
        ledger.charge("visits", TENTH)
        told.append("charged")
    except LedgerUnavailable as fault:
        told.append(type(fault).__name__)
    return told


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Gives a folder that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "says"),
    [
        (0o666, 0o777, ["ε = 0.1", "charged"]),
        (0o444, 0o777, ["ε = 0.1", "LedgerUnavailable"]),
        (0o444, 0o555, ["LedgerUnavailable"]),
        (0o666, 0o555, ["LedgerUnavailable"]),
        (0o000, 0o777, ["LedgerUnavailable"]),
        (0o666, 0o000, ["LedgerUnavailable"]),
    ],
)
def test_a_file_or_folder_that_may_not_be_written(
    open_folder: Path, file_mode: int, folder_mode: int, says: list[str]
) -> None:
    path = open_folder / "book.db"
    ledger = Ledger.open(path)
    ledger.open_account("visits", limit=Pure(1))
    ledger.charge("visits", TENTH)
    ledger.close()
    path.chmod(file_mode)
    open_folder.chmod(folder_mode)
    told = in_child(lambda: by_nobody(path))
    open_folder.chmod(0o700)
    path.chmod(0o600)
    assert told == says
    assert totals(path) == [str(TENTH.then(TENTH) if "charged" in says else TENTH), 4 if "charged" in says else 3]
    assert sound(path)


# Files that are broken


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[object]]:
    """Gives the octets of a book, and what it comes to."""
    path = tmp_path_factory.mktemp("whole") / "book.db"
    full_book(SqliteStore(path)).close()
    return path.read_bytes(), totals(path)


def judged(path: Path, truth: list[object]) -> str:
    """Opens a file that may be broken, reads it, verifies it and asks it something; all must be refused or be right."""
    try:
        ledger = Ledger.open(path)
    except (LedgerDamaged, LedgerUnavailable) as fault:
        return type(fault).__name__
    try:
        found = [str(ledger[name].spent) for name in ledger.accounts] + [ledger.head.entry]
        verdict = ledger.verify()
        with suppress(LedgerDamaged, LedgerUnavailable, AccountRefused):  # the last, where a digest of the data changed
            scores().session(limit=LIMIT, ledger=ledger).run(question())
        if found != truth:
            return f"a wrong total: {found}" if verdict.sound else "found by verify"
        return "not touched" if verdict.sound else "found by verify"
    except (LedgerDamaged, LedgerUnavailable) as fault:
        return type(fault).__name__
    finally:
        ledger.close()


ALLOWED = {"LedgerDamaged", "LedgerUnavailable", "found by verify", "not touched"}


def put(path: Path, octets: bytes | bytearray) -> Path:
    for rest in ("-wal", "-shm"):
        path.with_name(path.name + rest).unlink(missing_ok=True)
    path.write_bytes(octets)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_octets_changed_anywhere_are_found_or_do_no_harm(
    seed: int, quick_folder: Path, whole: tuple[bytes, list[object]]
) -> None:
    octets, truth = whole
    chance, seen = random.Random(seed), set()
    for _ in range(120):
        broken = bytearray(octets)
        place, length = chance.randrange(len(octets)), chance.choice([1, 1, 1, 4, 64, PAGE])
        if chance.random() < 0.3:  # where SQLite keeps how a page is laid out
            place, length = place // PAGE * PAGE + chance.randrange(40), 1
        end = min(place + length, len(octets))
        broken[place:end] = chance.randbytes(end - place)
        seen.add(judged(put(quick_folder / "book.db", broken), truth))
    assert seen <= ALLOWED
    assert {"LedgerDamaged", "found by verify"} <= seen


@pytest.mark.slow
def test_a_page_that_hides_its_last_entries_is_found(quick_folder: Path, whole: tuple[bytes, list[object]]) -> None:
    """SQLite itself does not notice that a page says it has fewer rows: then the end of the book would be gone."""
    octets, truth = whole
    seen = set()
    for page in range(0, len(octets), PAGE):
        start = page + (100 if page == 0 else 0)
        count = int.from_bytes(octets[start + 3 : start + 5], "big")
        if octets[start] in (2, 5, 10, 13):  # a page of a table or an index
            for fewer in range(count):
                broken = bytearray(octets)
                broken[start + 3 : start + 5] = fewer.to_bytes(2, "big")
                seen.add(judged(put(quick_folder / "book.db", broken), truth))
    assert seen <= ALLOWED
    assert "LedgerDamaged" in seen


def test_a_file_that_was_cut_off_is_found(tmp_path: Path, whole: tuple[bytes, list[object]]) -> None:
    octets, truth = whole
    lengths = [0, 1, 15, 16, 99, 100, 512, PAGE - 1, *range(PAGE, len(octets), PAGE), len(octets) - 1]
    for length in lengths:
        assert judged(put(tmp_path / "book.db", octets[:length]), truth) in ALLOWED - {"not touched"}, length


@pytest.mark.parametrize(
    "octets", [b"", b"\n", b"a text, and not a short one\n" * 1000, bytes(PAGE), b"SQLite format 3\0"]
)
def test_a_file_that_is_no_ledger_is_refused_and_left_as_it_is(tmp_path: Path, octets: bytes) -> None:
    path = put(tmp_path / "book.db", octets)
    with pytest.raises(LedgerDamaged):
        Ledger.open(path)
    assert path.read_bytes() == octets


@pytest.mark.parametrize("statement", ["CREATE TABLE entries (number INTEGER)", "CREATE TABLE mine (x)", "VACUUM"])
def test_the_file_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "book.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 7")
    connection.execute(statement)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(LedgerDamaged, match="other tables than those of a ledger"):
        Ledger.open(path)
    assert path.read_bytes() == before


def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="this is a folder"):
        Ledger.open(tmp_path)
    with pytest.raises(LedgerUnavailable):
        Ledger.open(tmp_path / "no folder" / "book.db")
