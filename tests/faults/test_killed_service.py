"""A service with two workers on PostgreSQL, of which something is killed under load: at night 504 times.

`side_by_side.kills` kills and looks. Every charge belongs to what somebody asked, and whoever asked was told what the
book has; no limit is passed, and none of it is lost: each share is used up to the last answer that it pays for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from sfumato.service.charge_keys import ASKED
from side_by_side.kills import BOTH, KINDS, killed
from side_by_side.told import GOT, LOST, REFUSED, Charge, Found, Outcome, wrong_with


def check(found: Found | None, kills: int) -> None:
    if found is None:
        pytest.skip("needs PostgreSQL (scripts/debian-packages)")
    assert found.wrong == []
    assert found.over_limit == 0
    assert found.kills.total() == kills
    told = Counter(one.what for one in found.outcomes)
    assert len(found.charges) == told[GOT] + told[LOST] == 12 * kills
    assert told[REFUSED] == 3 * kills, "everybody asked until the limit was reached"


@pytest.mark.slow
def test_a_worker_and_postgres_are_killed_at_once_under_load() -> None:
    check(killed(1, kinds=(BOTH,)), 1)


@pytest.mark.slow
@pytest.mark.nightly
def test_five_hundred_kills_of_server_workers_and_postgres(capsys: pytest.CaptureFixture[str]) -> None:
    found = killed(504, kinds=KINDS)
    with capsys.disabled():
        print(f"\n{found}")  # noqa: T201 - counts, and how long restarts took, which no test asserts
    check(found, 504)


def outcome(key: str, what: str, answer: str = "") -> Outcome:
    return Outcome("a0", ASKED, key, what, answer)


def charge(number: int, key: str, settled: str = "released", answer: str = "{}") -> Charge:
    return Charge(number, "visits/a0", outcome(key, GOT).charge_key, settled, answer)


def test_what_is_wrong_is_found() -> None:
    """The account of what was told and what was charged is right only where each is the other's."""
    told = [outcome("k1", GOT, "{}"), outcome("k2", LOST), outcome("k3", REFUSED)]
    charges = [charge(7, "k1"), charge(9, "k2", "", "")]
    assert wrong_with(charges, told) == []
    wrong = {
        "k1 was answered, and is not charged": (charges[1:], told),
        "k2 was lost, and is not charged": (charges[:1], told),
        "k3 was refused, and is charged": ([*charges, charge(10, "k3")], told),
        "charge 10 is a second one for its key": ([*charges, charge(10, "k1")], told),
        "charge 10 is one that nobody asked for": ([*charges, charge(10, "k4")], told),
        "k1 was answered with what the book does not have": ([charge(7, "k1", answer="[]"), charges[1]], told),
        "k1 is charged to visits/a1": ([replace(charges[0], account="visits/a1"), charges[1]], told),
    }
    for words, (book, said) in wrong.items():
        assert words in wrong_with(book, said), words
