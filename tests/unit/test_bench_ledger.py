"""The benchmark of the ledger: its books are valid, its ratios are what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

import ledger as benchmark
from contenders.ledger import blocks
from contenders.ledger.books import ACCOUNT, charging, filled
from side_by_side.contest import Contest, ratios_line


def test_a_book_that_was_filled_in_bulk_is_what_charging_would_leave(tmp_path: Path) -> None:
    book = filled(tmp_path / "book.db", 2500)
    assert book.head.entry == 2500
    kinds = [entry.kind for entry in book.entries()]
    assert kinds.count("balance") == 2
    assert kinds.count("charged") == 2496
    before = book[ACCOUNT].left
    charging(book)()
    assert book[ACCOUNT].left.within(before)
    assert book.verify()
    book.close()


def test_blocks_take_turns_and_the_ratio_is_the_second_over_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(blocks, "BLOCKS", 3)
    calls: list[str] = []
    times = iter([9.0, 9.0, 1.0, 2.0, 1.0, 4.0, 2.0, 4.0])
    monkeypatch.setattr(blocks, "block", lambda step: (step(), next(times))[1])
    blocks.in_turns("case", kind="speed", first=lambda: calls.append("a"), second=lambda: calls.append("b"))
    assert calls == ["a", "b"] * 4
    assert '"first": 1.0, "second": 4.0, "ratio": 2.0' in capsys.readouterr().out


def test_what_was_not_measured_is_a_question_mark() -> None:
    facts = {"contender": benchmark.SQLITE, "case": "SQLite", "kind": "speed", "ratio": 0.51}
    contest = Contest((facts,), (benchmark.POSTGRES,))
    ratios = {name: benchmark.ratio(contest, name, "speed") for name in (benchmark.SQLITE, benchmark.POSTGRES)}
    assert ratios_line(ratios) == "ratios: SQLite=0.51 PostgreSQL=?"
