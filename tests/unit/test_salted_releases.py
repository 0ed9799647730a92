"""Releases are kept with a salt: whoever sees entries and no answers cannot confirm a guess of an answer by a digest.

`golden/book_v1.jsonl` was written before there were salts; it is read as ever.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import LedgerDamaged
from sfumato.ledger import settling
from sfumato.ledger.entry import Entry, canonical, digest_of
from sfumato.ledger.export import as_lines
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.store import Row
from sfumato.ledger.stored_release import kept_text, read_kept
from sfumato.release.codec import release_to_plain
from sfumato.session.dataset import Dataset

OLD = Path(__file__).parent / "golden" / "book_v1.jsonl"
COUNT = "SELECT COUNT(*) AS n FROM visits"


def asked() -> tuple[Ledger, sf.Release]:
    ledger = Ledger.open("memory:")
    visits = {"who": ["a", "b"] * 20, "minutes": [10, 20] * 20}
    data = Dataset(visits, name="visits", unit="who", between={"minutes": (0, 60)}, version="1")
    session = data.session(limit=sf.Pure(1), ledger=ledger)
    return ledger, session.sql(COUNT, epsilon="0.5", max_rows_per_group=4)


def guess_is_confirmed(ledger: Ledger, guess: sf.Release) -> bool:
    """Tells whether lines without values, the digests in them and all they say, confirm a guess of the release."""
    likely = digest_of(canonical(release_to_plain(guess)))
    for line in as_lines(ledger.store, values=False):
        said = json.loads(line)
        named = dict(said["entry"], body={**said["entry"]["body"], "value": likely})
        if said["entry"]["kind"] == "released" and digest_of(canonical(named)) == said["digest"]:
            return True
    return False


def test_a_right_guess_is_not_confirmed() -> None:
    ledger, release = asked()
    assert not guess_is_confirmed(ledger, release)


def test_without_a_salt_it_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "kept_text", lambda release, _: canonical(release_to_plain(release)))
    ledger, release = asked()
    assert guess_is_confirmed(ledger, release)


def test_salts_are_new_for_each_release() -> None:
    rows = [row.value for _ in range(2) for row in asked()[0].store.rows(kinds=("released",))]
    salts = [json.loads(str(value))["salt"] for value in rows]
    assert len(set(salts)) == 2
    assert {len(salt) for salt in salts} == {32}


def test_a_book_from_before_is_read_and_goes_on(tmp_path: Path) -> None:
    ledger = Ledger.imported(OLD, tmp_path / "book.db")
    assert ledger.verify().sound
    row = next(ledger.store.rows(kinds=("released",)))
    release = read_kept(row)
    assert release is not None
    assert release.value.to_dict() == {"n": [-29], "m": [None]}
    assert ledger.recall("visits", str(row.question)) == release
    rows = {"who": ["a", "b", "c", "d"] * 20, "minutes": [10, 20, 30, 40] * 20}
    data = Dataset(rows, name="visits", unit="who", between={"minutes": (0, 60)}, version="2")
    newer = data.session(limit=sf.Pure(1), ledger=ledger).sql(COUNT, epsilon="0.5", max_rows_per_group=20)
    assert ledger.verify().sound
    ledger.export(tmp_path / "again.jsonl")
    again = Ledger.imported(tmp_path / "again.jsonl", tmp_path / "again.db")
    kept = [read_kept(row) for row in again.store.rows(kinds=("released",))]
    assert [str(one) for one in kept] == [str(release), str(newer)]
    assert again.verify().sound
    ledger.close()
    again.close()


def test_another_form_is_refused() -> None:
    ledger, release = asked()
    (row,) = ledger.store.rows(kinds=("released",))
    plain = json.loads(kept_text(release, bytes(16)) or "")
    unsalted = {name: said for name, said in plain.items() if name != "salt"}
    for wrong in ({**plain, "version": 3}, {**plain, "more": 1}, unsalted):
        with pytest.raises(LedgerDamaged):
            read_kept(resting_on(row, canonical(wrong)))
    assert read_kept(resting_on(row, canonical(plain))) is not None


def resting_on(row: Row, value: str) -> Row:
    """The row as it would be, had another text been kept."""
    entry = Entry.read(row.text, row.digest)
    text = row.text.replace(str(entry.body["value"]), digest_of(value))
    return row._replace(text=text, digest=digest_of(text), value=value)
