"""Files and exported lines that somebody has changed: refused, or found by `verify`, and the entry is named."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.faults.books import SIGNING_KEY, full_book

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import LedgerDamaged, LedgerUnavailable
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.signing import public_key
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.ledger.stores.sqlite import SCHEMA, SqliteStore
from sfumato.ledger.verify import Verdict, verified

SIGNER = public_key(SIGNING_KEY)
BOOK = full_book(MemoryStore())
ROWS = tuple(BOOK.store.rows())
HEAD = BOOK.head
LAST = len(ROWS)


# In a file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "book.db"
    full_book(SqliteStore(file)).close()
    return file


def by_hand(path: Path, *statements: str) -> None:
    """Edits a file as somebody could who has it, and leaves no table or trigger behind that is not a ledger's."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript("DROP TRIGGER no_change; DROP TRIGGER no_removal;")
    for statement in statements:
        connection.execute(statement)
    connection.executescript(SCHEMA)
    connection.close()


def checked(path: Path, **settings: Any) -> Verdict:
    store = SqliteStore(path)
    try:
        return verified(store, **settings)
    finally:
        store.close()


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        (
            "UPDATE entries SET text = replace(text, 'scores/ben', 'scores/eve') WHERE number = 34",
            "entry 34 was changed",
        ),
        ("UPDATE entries SET text = CAST(x'ff' AS TEXT) WHERE number = 20", "entry 20 cannot be read"),
        ("UPDATE entries SET key = 'mine' WHERE number = 8", "entry 8 is listed under a key"),
        ("UPDATE entries SET question = 'mine' WHERE number = 7", "entry 7 is listed under a key, question"),
        ("UPDATE entries SET kind = 'noted' WHERE number = 48", "entry 48 is listed under"),
        ("UPDATE kept SET value = replace(value, 'scores', 'Scores') WHERE number = 9", "entry 9 does not belong"),
        ("DELETE FROM entries WHERE number = 25", "entry 25 is missing"),
        ("DELETE FROM entries WHERE number BETWEEN 25 AND 30", "entry 25 is missing (and all up to 30)"),
        ("UPDATE entries SET number = 1000 WHERE number = 60", "entry 60 is missing (and all up to 999)"),
    ],
)
def test_a_file_that_was_edited_by_hand(path: Path, statement: str, says: str) -> None:
    fixed = "UPDATE sqlite_sequence SET seq = (SELECT max(number) FROM entries)"
    by_hand(path, statement, fixed)
    assert str(checked(path).faults[0]).startswith(says)


def test_a_tail_cut_off_by_a_careless_hand_is_found_without_a_receipt(path: Path) -> None:
    by_hand(path, "DELETE FROM entries WHERE number > 50")
    with pytest.raises(LedgerDamaged, match="60 entries, and the last one in it is 50"):
        Ledger.open(path)
    by_hand(path, "UPDATE sqlite_sequence SET seq = 50")
    assert checked(path, signer=SIGNER).sound, "a careful one takes a receipt"
    ledger = Ledger.open(path)
    assert not ledger.verify(receipts=[HEAD])
    ledger.close()


def test_a_handle_that_is_open_notices_that_its_entries_are_gone(path: Path) -> None:
    ledger = Ledger.open(path)
    by_hand(path, "DELETE FROM entries WHERE number > 50", "UPDATE sqlite_sequence SET seq = 50")
    with pytest.raises(LedgerDamaged, match="no longer in it"):
        ledger.note("scores", "topic", "said")
    ledger.close()


@pytest.mark.parametrize(
    "gone", ["TRIGGER no_change", "TRIGGER no_removal", "INDEX by_key", "INDEX by_settles", "TABLE kept"]
)
def test_a_file_without_its_guards_is_not_written_to(path: Path, gone: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"DROP {gone}")
    connection.close()
    with pytest.raises(LedgerDamaged, match="other tables than those of a ledger"):
        Ledger.open(path)


def test_a_release_that_was_edited_is_not_given_out(path: Path) -> None:
    ledger = Ledger.open(path)
    question = next(str(row.question) for row in ledger.store.rows() if row.number == 7)
    assert ledger.recall("scores", question) is not None
    by_hand(path, "UPDATE kept SET value = replace(value, 'scores', 'Scores') WHERE number = 7")
    with pytest.raises(LedgerDamaged, match="entry 7 does not belong to the release"):
        ledger.recall("scores", question)
    by_hand(path, "DELETE FROM kept WHERE number = 7")
    assert ledger.recall("scores", question) is None
    assert not ledger.trial("scores", Pure(1), question=question).known
    ledger.close()


# Lines


def lines_of(tmp_path: Path, **settings: Any) -> list[str]:
    file = tmp_path / "book.jsonl"
    assert BOOK.export(file, **settings) == LAST
    return file.read_text().splitlines(keepends=True)


@pytest.mark.parametrize("values", [True, False])
def test_a_book_goes_out_and_in_again(tmp_path: Path, values: bool) -> None:
    again = Ledger.imported(lines_of(tmp_path, values=values), tmp_path / "again.db")
    assert again.verify(receipts=[HEAD], signer=SIGNER).sound
    assert [row.text for row in again.store.rows()] == [row.text for row in ROWS]
    assert [row.value for row in again.store.rows()] == [row.value if values else None for row in ROWS]
    assert again.accounts == BOOK.accounts
    assert [again[name].spent for name in again.accounts] == [BOOK[name].spent for name in BOOK.accounts]
    again.close()


@pytest.mark.parametrize("number", range(1, LAST + 1))
def test_a_line_that_was_edited_is_refused_and_named(tmp_path: Path, number: int) -> None:
    lines = lines_of(tmp_path)
    lines[number - 1] = lines[number - 1].replace('"time":"2026', '"time":"2027')
    with pytest.raises(LedgerDamaged, match=f"entry {number} was changed"):
        Ledger.imported(lines, tmp_path / "again.db")
    lines[number - 1] = "{" + lines[number - 1]
    with pytest.raises(LedgerDamaged, match=f"line {number} is no entry"):
        Ledger.imported(lines, tmp_path / "again.db")


def test_a_release_in_a_line_that_was_edited_is_refused_and_named(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    lines[6] = lines[6].replace('"confidence"', '"Confidence"')
    with pytest.raises(LedgerDamaged, match="entry 7"):
        Ledger.imported(lines, tmp_path / "again.db")


def test_lines_that_are_missing_moved_or_doubled_are_refused(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    for wrong in (lines[1:], lines[:20] + lines[21:], [*lines[:20], lines[21], lines[20]], [*lines, lines[-1]]):
        with pytest.raises(LedgerDamaged, match="does not follow entry"):
            Ledger.imported(wrong, tmp_path / "again.db")


def test_a_book_that_is_refused_leaves_the_place_empty(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    with pytest.raises(LedgerDamaged):
        Ledger.imported([*lines, lines[-1]], tmp_path / "again.db")
    Ledger.imported(lines, tmp_path / "again.db").close()
    with pytest.raises(LedgerUnavailable, match="only be brought into an empty store"):
        Ledger.imported(lines, tmp_path / "again.db")
