"""Workers killed at every step of charge → run → store, and at random: the book never counts too little."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

HARNESS = Path(__file__).with_name("killed.py")


def kills(*words: object) -> list[dict[str, Any]]:
    """Runs the harness, and gives what it found after each kill."""
    command = [sys.executable, str(HARNESS), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def points(found: Sequence[dict[str, Any]]) -> set[str]:
    return {one["point"] for one in found if one["point"] is not None}


def faults(found: Sequence[dict[str, Any]]) -> list[object]:
    return [one for one in found if one["faults"]]


EVERYWHERE = {
    "before append", "before decision", "after decision", "after append", "clock",
    "before looking", "while looking", "after looking", "before delivery", "after delivery",
}  # fmt: skip
IN_SQLITE = {
    "before BEGIN", "after BEGIN", "before INSERT", "after INSERT", "before COMMIT", "after COMMIT",
}  # fmt: skip


SPARSE = 4
"""The way through a session is long, and the book is read anew after each kill: by day every fourth point is enough."""


@pytest.mark.slow
@pytest.mark.parametrize("work", [pytest.param("by_session", marks=pytest.mark.nightly), "by_permit"])
def test_killed_at_every_point_sqlite(work: str, quick_folder: Path) -> None:
    found = kills(work, quick_folder / "book.db", 1)
    assert not faults(found)
    assert points(found) >= EVERYWHERE | IN_SQLITE
    assert found[-1]["done"]
    assert len(found) - 1 >= {"by_session": 130, "by_permit": 65}[work]


@pytest.mark.slow
def test_killed_here_and_there_in_a_session_sqlite(quick_folder: Path) -> None:
    found = kills("by_session", quick_folder / "book.db", SPARSE)
    assert not faults(found)
    assert found[-1]["done"]
    assert len(found) - 1 >= 130 // SPARSE


@pytest.mark.slow
def test_killed_while_the_book_is_made_sqlite(quick_folder: Path) -> None:
    found = kills("making", quick_folder / "book{number}.db")
    assert not faults(found)
    assert points(found) >= {"before script", "after script", "after INSERT", "charged"}


@pytest.mark.slow
@pytest.mark.parametrize("times", [20, pytest.param(60, marks=pytest.mark.nightly)])
def test_killed_at_random_sqlite(times: int, quick_folder: Path) -> None:
    found = kills("random", quick_folder / "book.db", times, 20261116)
    assert len(found) == times
    assert not faults(found)


@pytest.mark.slow
@pytest.mark.parametrize("work", [pytest.param("by_session", marks=pytest.mark.nightly), "by_permit"])
def test_killed_at_every_point_postgres(work: str, postgres_address: str) -> None:
    found = kills(work, postgres_address, 1)
    assert not faults(found)
    assert points(found) >= EVERYWHERE
    assert found[-1]["done"]
    assert len(found) - 1 >= 30


@pytest.mark.slow
def test_killed_here_and_there_in_a_session_postgres(postgres_address: str) -> None:
    found = kills("by_session", postgres_address, SPARSE)
    assert not faults(found)
    assert found[-1]["done"]


@pytest.mark.slow
def test_killed_while_the_book_is_made_postgres(postgres_address: str) -> None:
    found = kills("making", f"{postgres_address}&schema=made{{number}}")
    assert not faults(found)


@pytest.mark.slow
@pytest.mark.parametrize("times", [10, pytest.param(25, marks=pytest.mark.nightly)])
def test_killed_at_random_postgres(times: int, postgres_address: str) -> None:
    assert not faults(kills("random", postgres_address, times, 20261117))


def test_the_harness_notices_who_looks_first_and_pays_later(quick_folder: Path) -> None:
    found = kills("look_then_pay", quick_folder / "book.db", 1)
    missed = [one["point"] for one in faults(found) if "under-count" in str(one["faults"])]  # type: ignore[index]
    assert {"after looking", "before INSERT"} <= set(missed)
    assert not found[0]["faults"]
