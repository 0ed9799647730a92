"""Answers that are remembered beside the book: dropped when an entry answers anew, whoever wrote it, and bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf
from sfumato.ledger.known_answers import REMEMBERED, KnownAnswers
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.recall import answer_to
from sfumato.ledger.state import shared_key
from sfumato.ledger.store import Row
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.session.dataset import Dataset
from sfumato.session.session import Session

VISITS = {"who": ["a", "b", "c", "d"] * 20, "minutes": [10, 20, 30, 40] * 20}
TEXT = "SELECT COUNT(*) AS n FROM visits"
PAYING = {"epsilon": "0.5", "max_rows_per_group": 4}


def opened(address: str, name: str = "ada") -> Session:
    data = Dataset(VISITS, name="visits", unit="who", between={"minutes": (0, 60)}, version="1")
    session = data.session(limit=sf.Pure(10), ledger=address)
    return session.part(name, limit=sf.Pure(5))


def row(number: int, question: str | None) -> Row:
    return Row(number, "released", "", "", question=question)


def test_a_question_that_was_answered_elsewhere_is_known_at_once(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'book.db'}"
    here, there = opened(address), opened(address)
    assert not here.explain(TEXT, **PAYING).known
    release = there.sql(TEXT, **PAYING)
    assert here.explain(TEXT, **PAYING).known
    again = here.sql(TEXT, **PAYING)
    assert (again.receipt, again.value.to_dict()) == (release.receipt, release.value.to_dict())


def test_what_somebody_has_paid_elsewhere_is_owed_no_more(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'book.db'}"
    ada, ben, again = opened(address), opened(address, "ben"), opened(address, "ben")
    release = ada.sql(TEXT, **PAYING)
    assert ben.explain(TEXT, **PAYING).costs
    assert again.explain(TEXT, **PAYING).costs
    assert again.sql(TEXT, **PAYING).receipt == release.receipt
    for _ in range(2):
        assert not ben.explain(TEXT, **PAYING).costs
        assert ben.sql(TEXT, **PAYING).receipt == release.receipt
    assert ben.spent == sf.Pure("0.5")
    assert ben.ledger["visits"].spent == sf.Pure("0.5")


def test_whoever_has_not_paid_owes_it_whatever_others_have_been_shown() -> None:
    session = opened("memory:")
    book = session.ledger
    session.sql(TEXT, **PAYING)
    session.sql(TEXT, **PAYING)
    poor = Session(session.dataset, book, book.open_account("visits/poor", limit=sf.Pure("0.1")), by="poor")
    with pytest.raises(sf.errors.LimitReached):
        poor.sql(TEXT, **PAYING)
    assert poor.spent == sf.Pure(0)


def test_an_account_that_was_closed_elsewhere_pays_for_nothing_that_it_owes(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'book.db'}"
    ada, ben = opened(address), opened(address, "ben")
    ada.sql(TEXT, **PAYING)
    assert ben.explain(TEXT, **PAYING).costs
    Ledger.open(address).close_account("visits/ben")
    with pytest.raises(sf.errors.AccountRefused):
        ben.sql(TEXT, **PAYING)


def test_only_what_is_short_and_nobody_can_change_is_remembered() -> None:
    session = opened("memory:")
    book, wide = session.ledger, sf.KeySet.of(m=list(range(5_000)))
    session.sql(TEXT, **PAYING)
    session.sql(
        "SELECT CAST(FLOOR(minutes) AS BIGINT) AS m, COUNT(*) AS n FROM visits GROUP BY 1",
        keys=wide,
        max_groups=1,
        **PAYING,
    )
    rows = [row for row in book.store.rows(kinds=("released",)) if row.question is not None]
    known = [answer_to(book.store, row.question or "") for row in rows]
    assert [found is not None and keeps for found, keeps in known] == [True, False]
    assert answer_to(book.store, "never asked") == (None, True)
    rows_alone = Dataset([1.0, 2.0], name="scores", space=sf.vector(float, between=(0, 5)), version="1")
    other = rows_alone.session(limit=sf.Pure(1), ledger=book)
    other.run(sf.count() >> sf.laplace(scale=2))
    [*_, last] = book.store.rows(kinds=("released",))
    assert answer_to(book.store, last.question or "")[1] is False


def test_the_latest_answer_counts() -> None:
    known, looks = KnownAnswers[int](), list[str]()

    def found(question: str, answer: int | None) -> int | None:
        def look() -> tuple[int | None, bool]:
            looks.append(question)
            return answer, True

        return known.find(question, look)

    assert [found("a", None), found("a", 7), found("b", 1)] == [None, None, 1]
    known.forget([row(1, None), row(2, "c")])
    assert [found("a", 7), found("b", 2)] == [None, 1]
    known.forget([row(3, "a")])
    assert [found("a", 7), found("b", 2)] == [7, 1]
    known.forget([row(4, "b")])
    assert [found("a", 8), found("b", 2)] == [7, 2]
    assert looks == ["a", "b", "a", "b"]


def test_only_so_much_is_remembered() -> None:
    known, store = KnownAnswers[int](), MemoryStore()
    for number in range(REMEMBERED + 5):
        known.find(str(number), lambda one=number: (one, True))
    assert known.find("0", lambda: (-1, False)) == -1
    assert known.find("0", lambda: (-2, True)) == -2
    assert known.find(str(REMEMBERED), lambda: (-1, True)) == REMEMBERED
    assert len(known) == REMEMBERED
    key = shared_key("visits", 1)
    assert not known.has_key(store, key)
    store.append(0, lambda _: [Row(1, "charged", "digest", "text", key=key)])
    assert known.has_key(store, key)
    assert len(known) == REMEMBERED + 1
    assert known.has_key(MemoryStore(), key)  # a book only grows
