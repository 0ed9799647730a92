"""Books that somebody has changed: `verify` finds it, and names the entry.

Which entry is the right one to name: the one that was edited, the one that is missing, the first that is not where it
was written. Two things leave no trace in the book itself: an edit of the last entry together with its digest, and a
tail that was cut off. A receipt that is kept elsewhere shows both, and a signed checkpoint all that was done before it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from tests.faults.books import SIGNING_KEY, full_book

from sfumato.ledger.entry import KINDS, Entry, canonical, digest_of
from sfumato.ledger.signing import new_signing_key, public_key, signed
from sfumato.ledger.state import row_of
from sfumato.ledger.store import Row, Store
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.ledger.verify import Verdict, verified
from sfumato.release.record import Receipt

SIGNER = public_key(SIGNING_KEY)
BOOK = full_book(MemoryStore())
ROWS: Sequence[Row] = tuple(BOOK.store.rows())
HEAD = BOOK.head
LAST = len(ROWS)


def store_of(rows: Sequence[Row]) -> Store:
    """Gives a store that holds rows as they are, whether or not they make a book."""
    store = MemoryStore()
    store._rows = list(rows)
    return store


def verdict(rows: Sequence[Row], **settings: Any) -> Verdict:
    return verified(store_of(rows), **settings)


def named(found: Verdict) -> list[int]:
    return [fault.entry for fault in found.faults]


def test_the_book_has_every_kind_of_entry_and_is_sound() -> None:
    assert {row.kind for row in ROWS} == KINDS
    assert LAST == 60
    assert verdict(ROWS, receipts=[HEAD], signer=SIGNER).sound
    assert verdict(ROWS).signed == 2


# Editing one entry


def other(value: object) -> object:
    """Gives something else of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str() if len(value) == 64:
            return value[:-1] + ("0" if value[-1] != "0" else "1")
        case str() if value.startswith("2026-11-16T"):
            return value.replace("2026-11", "2026-10")
        case str():
            return value + "x"
        case list():
            return [*value, 1]
        case dict():
            return {**value, "more": 1}
    return "x"


def edits(row: Row) -> Iterator[tuple[str, str]]:
    """Gives, for each field of an entry, its name and the text of the entry with that field changed or left out."""
    found = json.loads(row.text)
    for path in [(name,) for name in found] + [("body", name) for name in found["body"]]:
        for how in ("changed", "left out"):
            edited = copy.deepcopy(found)
            place = edited if len(path) == 1 else edited["body"]
            if how == "changed":
                place[path[-1]] = other(place[path[-1]])
            else:
                del place[path[-1]]
            yield f"{'.'.join(path)} {how}", canonical(edited)
    for kind in sorted(KINDS - {row.kind}):
        yield f"kind {kind}", canonical({**found, "kind": kind})
    yield "time of no kind", canonical({**found, "time": 7})
    yield "no entry", "[]"


def with_row(number: int, row: Row) -> list[Row]:
    return [row if one.number == number else one for one in ROWS]


@pytest.mark.parametrize("number", range(1, LAST + 1))
def test_an_edit_of_any_field_is_found_by_the_digest(number: int) -> None:
    row = ROWS[number - 1]
    for what, text in edits(row):
        assert named(verdict(with_row(number, row._replace(text=text))))[:1] == [number], what


@pytest.mark.parametrize("number", range(1, LAST + 1))
def test_an_edit_of_any_field_with_its_digest_is_found_by_the_next_entry(number: int) -> None:
    row = ROWS[number - 1]
    for what, text in edits(row):
        rows = with_row(number, row._replace(text=text, digest=digest_of(text)))
        found = named(verdict(rows, receipts=[HEAD] if number == LAST else []))  # nothing follows the last one
        assert number in found, what
        first = number - 1 if what.startswith("previous") else number  # then the entry before it seems to be another
        assert min(found) in (first, number), what


def test_an_edit_of_the_last_entry_with_its_digest_takes_a_receipt() -> None:
    row = ROWS[-1]
    entry = json.loads(row.text)
    text = canonical({**entry, "by": "somebody else"})
    rows = with_row(LAST, row._replace(text=text, digest=digest_of(text)))
    assert verdict(rows, signer=SIGNER).sound, "the chain alone cannot tell"
    found = verdict(rows, receipts=[HEAD])
    assert str(found.faults[0]) == f"entry {LAST} is not the one for which there is a receipt"


COLUMNS = {"digest": "0" * 64, "kind": "noted", "key": "another", "question": "another", "settles": 6}


@pytest.mark.parametrize("number", range(1, LAST + 1))
@pytest.mark.parametrize("column", COLUMNS)
def test_what_an_entry_is_found_by_must_be_what_it_says(number: int, column: str) -> None:
    row = ROWS[number - 1]
    if getattr(row, column) != COLUMNS[column]:
        rows = with_row(number, row._replace(**{column: COLUMNS[column]}))  # type: ignore[arg-type]
        assert named(verdict(rows))[:1] == [number]


def test_a_release_that_was_swapped_or_edited_is_found() -> None:
    kept = [row for row in ROWS if row.value is not None]
    assert len(kept) == 18
    for row, next_one in zip(kept, kept[1:] + kept[:1], strict=True):
        for value in (next_one.value, row.value.replace("scores", "Scores"), "{}", ""):  # type: ignore[union-attr]
            assert named(verdict(with_row(row.number, row._replace(value=value)))) == [row.number]


# Moving entries


@pytest.mark.parametrize("number", range(1, LAST))
def test_a_removed_entry_is_named(number: int) -> None:
    found = verdict([row for row in ROWS if row.number != number])
    assert str(found.faults[0]) == f"entry {number} is missing"


@pytest.mark.parametrize("number", range(1, LAST))
def test_a_removed_entry_is_found_where_those_after_it_are_numbered_anew(number: int) -> None:
    rows = [row._replace(number=place) for place, row in enumerate((r for r in ROWS if r.number != number), 1)]
    found = verdict(rows)
    assert str(found.faults[0]) == f"entry {number} was moved: it was written as entry {number + 1}"


@pytest.mark.parametrize("number", range(1, LAST))
def test_swapped_neighbours_are_named(number: int) -> None:
    rows = list(ROWS)
    rows[number - 1], rows[number] = rows[number]._replace(number=number), rows[number - 1]._replace(number=number + 1)
    assert named(verdict(rows))[:2] == [number, number + 1]


@pytest.mark.parametrize("number", range(1, LAST + 1))
def test_a_doubled_entry_is_named(number: int) -> None:
    rows = [*ROWS, ROWS[number - 1]._replace(number=LAST + 1)]
    assert str(verdict(rows).faults[0]) == f"entry {LAST + 1} was moved: it was written as entry {number}"
    again = Entry.read(ROWS[number - 1].text, ROWS[number - 1].digest)
    if again.kind == "charged":  # written anew after the last one, but with the state of back then
        entry = made_anew(again, LAST + 1, ROWS[-1].digest)
        assert LAST + 1 in named(verdict([*ROWS, row_of(entry, None)]))


@pytest.mark.parametrize("cut", [1, 2, 10, 30, LAST - 1])
def test_a_tail_that_was_cut_off_takes_a_receipt(cut: int) -> None:
    rows = ROWS[: LAST - cut]
    assert verdict(rows).sound, "the chain alone cannot tell"
    found = verdict(rows, receipts=[HEAD])
    assert str(found.faults[0]) == f"entry {LAST} is not in the book, and there is a receipt for it"
    release = BOOK.recall("scores", str(ROWS[-1].question))
    assert release is not None
    assert release.receipt is not None
    assert (LAST - 1 in named(verdict(rows, receipts=[release.receipt]))) == (cut >= 2)


def test_a_tail_with_all_signed_checkpoints_cut_off_is_missed_by_its_signer() -> None:
    first = next(row.number for row in ROWS if "signature" in row.text)
    assert verdict(ROWS[:first], signer=SIGNER).sound
    found = verdict(ROWS[: first - 1], signer=SIGNER)
    assert (
        str(found.faults[0]) == f"entry {first - 1} is the last, and no checkpoint in the book is signed by the signer"
    )


# Writing the book anew


def made_anew(entry: Entry, number: int, previous: str, **changes: Any) -> Entry:
    """Writes an entry again, after another one."""
    said = {"kind": entry.kind, "time": entry.time, "by": entry.by, "account": entry.account, "body": entry.body}
    return Entry.made(number, previous, **(said | changes))


def anew(start: int, change: Callable[[Entry], dict[str, Any]], key: bytes | None = None) -> list[Row]:
    """Writes the book anew from an entry on, with all digests right; signs with a key where one is given."""
    rows, previous, book = list(ROWS[: start - 1]), ROWS[start - 2].digest, BOOK.book
    for row in ROWS[start - 1 :]:
        entry = Entry.read(row.text, row.digest)
        changes = change(entry) if row.number == start else {}
        if "signature" in entry.body and key is not None:
            seal = signed(key, book=book, number=row.number, previous=previous)
            changes = {"body": {**entry.body, **seal}}
        made = made_anew(entry, row.number, previous, **changes)
        previous = made.digest
        rows.append(row_of(made, row.value))
    return rows


def renamed(entry: Entry) -> dict[str, Any]:
    return {"by": "somebody else"}


FIRST_SIGNED, SECOND_SIGNED = (row.number for row in ROWS if "signature" in row.text)


def test_a_book_written_anew_fails_at_its_signed_checkpoints() -> None:
    found = verdict(anew(27, renamed), signer=SIGNER)
    assert named(found) == [FIRST_SIGNED, SECOND_SIGNED]
    assert "signature that is not that of the signer" in str(found)
    assert named(verdict(anew(27, renamed))) == [FIRST_SIGNED, SECOND_SIGNED], "even if nobody says who signs"
    assert named(verdict(anew(32, renamed), signer=SIGNER)) == [SECOND_SIGNED]
    assert verdict(anew(SECOND_SIGNED + 1, renamed), signer=SIGNER).sound, "nothing is signed after it"
    assert named(verdict(anew(SECOND_SIGNED + 1, renamed), receipts=[HEAD])) == [LAST]


def test_a_book_that_another_signs_is_told_apart_by_who_names_the_signer() -> None:
    rows = anew(27, renamed, key=new_signing_key())
    assert verdict(rows).sound
    assert named(verdict(rows, signer=SIGNER)) == [FIRST_SIGNED, SECOND_SIGNED]


@pytest.mark.parametrize("start", [6, 27, 59])
def test_a_book_written_anew_is_found_with_any_receipt_after_that(start: int) -> None:
    rows = anew(start, renamed)
    for number in range(start, LAST + 1):
        receipt = Receipt(number, ROWS[number - 1].digest, "", "")
        assert number in named(verdict(rows, receipts=[receipt]))
    before = Receipt(start - 1, ROWS[start - 2].digest, "", "")
    assert start - 1 not in named(verdict(rows, receipts=[before]))


@pytest.mark.parametrize("number", [row.number for row in ROWS if row.kind == "charged"])
def test_a_charge_that_is_made_cheaper_does_not_add_up(number: int) -> None:
    """Whoever writes the book anew must also work out every state after it, or the replay says which entry is wrong."""

    def cheaper(entry: Entry) -> dict[str, Any]:
        return {"body": {**entry.body, "loss": {**entry.body["loss"], "epsilon": "1/1000"}}}  # type: ignore[dict-item]

    assert named(verdict(anew(number, cheaper)))[0] == number


@pytest.mark.parametrize("octet", range(64))
def test_a_forged_signature_is_found(octet: int) -> None:
    def forged(entry: Entry) -> dict[str, Any]:
        seal = bytearray.fromhex(str(entry.body["signature"]))
        seal[octet] ^= 1
        return {"body": {**entry.body, "signature": seal.hex()}}

    assert named(verdict(anew(SECOND_SIGNED, forged), signer=SIGNER)) == [SECOND_SIGNED]


def test_a_signature_moved_to_another_checkpoint_is_found() -> None:
    seal = json.loads(ROWS[FIRST_SIGNED - 1].text)["body"]["signature"]
    rows = anew(SECOND_SIGNED, lambda entry: {"body": {**entry.body, "signature": seal}})
    assert named(verdict(rows, signer=SIGNER)) == [SECOND_SIGNED]
