"""Eight processes race for the last of a limit: nobody gets more than there is, nothing is lost or doubled."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.books import PROGRAM

from sfumato.accounting.losses.measures import Pure
from sfumato.ledger.ledger import Ledger

KEYS = 200

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, quick_folder: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_address"))
    return str(quick_folder / "book.db")


@pytest.fixture
def ledger(address: str) -> Iterator[Ledger]:
    opened = Ledger.open(address)
    yield opened
    opened.close()


def raced(name: str, address: str, count: int) -> list[dict[str, Any]]:
    """Runs a race, and gives what each racer tells."""
    command = [sys.executable, str(PROGRAM), name, address, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    racers: list[dict[str, Any]] = json.loads(done.stdout)["racers"]
    assert [racer["fault"] for racer in racers if "fault" in racer] == []
    return racers


def charges_in(ledger: Ledger) -> set[int]:
    return {entry.number for entry in ledger.entries(kinds=("charged",))}


def test_a_new_book_is_made_once(address: str) -> None:
    racers = raced("to_make_the_book", address, 80)
    ledger = Ledger.open(address)
    won = {entry for racer in racers for entry in racer["won"]}
    assert won == charges_in(ledger)
    assert len(won) == 80
    assert ledger.head.entry == 82
    assert ledger.verify().sound
    ledger.close()


@pytest.mark.parametrize("charges", [2_000, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_thousands_of_charges_for_the_last_of_a_limit(ledger: Ledger, address: str, charges: int) -> None:
    limit, fit = charges // 40, charges // 4
    ledger.open_account("visits", limit=Pure(limit))
    racers = raced("for_the_last", address, charges)
    won = [entry for racer in racers for entry in racer["won"]]
    assert len(won) == len(set(won)) == fit
    assert set(won) == charges_in(ledger)
    assert sum(racer["refused"] for racer in racers) == charges - fit
    assert ledger["visits"].spent == Pure(limit)
    assert ledger["visits"].left == Pure(0)
    assert sum(len(racer["won"]) > 0 for racer in racers) > 1, "there was no race"
    assert ledger.verify().sound


def test_the_same_keys_from_everywhere_are_charged_once(ledger: Ledger, address: str) -> None:
    ledger.open_account("visits", limit=Pure(250))
    racers = raced("for_the_same_keys", address, KEYS)
    assert len(charges_in(ledger)) == KEYS
    assert ledger["visits"].spent == Pure(KEYS // 10)
    assert all(racer["entries"] == racers[0]["entries"] for racer in racers), "a key stands for one entry"
    usable = [key for racer in racers for key in racer["usable"]]
    assert sorted(usable) == sorted(racers[0]["entries"]), "each charge gives one permit that works, and no more"
    assert ledger.verify().sound


def test_analysts_who_collude_stay_within_the_limit_of_the_data(ledger: Ledger, address: str) -> None:
    ledger.open_account("visits", limit=Pure(60))
    for analyst in range(2):
        ledger.open_account(f"visits/analyst {analyst}", limit=Pure(40))
    racers = raced("together", address, 1600)
    won = [entry for racer in racers for entry in racer["won"]]
    assert len(won) == len(set(won))
    assert set(won) == charges_in(ledger)
    parts = [ledger[name] for name in ledger.accounts if "/part " in name]
    by_analysts = [ledger[f"visits/analyst {analyst}"].spent for analyst in range(2)]
    assert len(parts) == sum(racer["held"] for racer in racers) > 0
    assert ledger["visits"].spent == Pure(f"{len(won)}/10")
    assert ledger["visits"].spent.within(Pure(60))
    assert all(spent.within(Pure(40)) for spent in by_analysts)
    for part in parts:
        assert part.spent.within(Pure("0.1"))
    assert sum(racer["refused"] for racer in racers) > 0, "nobody came to the limit"
    assert ledger.verify().sound


def test_the_race_catches_who_reads_first_and_charges_later(ledger: Ledger, address: str) -> None:
    ledger.open_account("visits", limit=Pure(50))
    racers = raced("carelessly", address, 800)
    assert sum(len(racer["won"]) for racer in racers) > 20
