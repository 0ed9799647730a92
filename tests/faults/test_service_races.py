"""Workers of one service that race for the last of a share: exactly one wins, and the book says so."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.service.houses import ADA, OWNER, Clock, asked, opened

import sfumato as sf
from sfumato.errors import LimitReached
from sfumato.ledger.accounts import Account
from sfumato.service.analysts import Analysts
from sfumato.service.house import House
from sfumato.service.jobs import Jobs
from sfumato.service.owners import Owners
from sfumato.service.workers import Worker

WORKERS = 4


@pytest.fixture(params=["sqlite", "postgres"])
def houses(request: pytest.FixtureRequest, quick_folder: Path) -> Iterator[list[House]]:
    """Several workers of one service: each has connections and data of its own."""
    (quick_folder / "data").mkdir()
    if request.param == "postgres":
        book = kept = str(request.getfixturevalue("postgres_address"))
    else:
        book, kept = f"sqlite:///{quick_folder / 'book.db'}", f"sqlite:///{quick_folder / 'records.db'}"
    clock = Clock()
    first = opened(quick_folder / "data", clock, ledger=book, records=kept, share=sf.Pure("0.55"))
    made = [first, *(House.open(book, kept, folders=(quick_folder / "data",), now=clock) for _ in range(WORKERS - 1))]
    for house in made:
        house.data_sets.share("visits", "ada")
    yield made
    for house in made:
        house.close()


def at_once(houses: list[House], act: object) -> list[BaseException]:
    barrier, faults = threading.Barrier(len(houses)), list[BaseException]()

    def run(place: int, house: House) -> None:
        barrier.wait()
        try:
            act(place, house)  # type: ignore[operator]
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(houses)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults


def race(houses: list[House], turn: int) -> tuple[int, int]:
    """All workers ask at once, each something else; how many were answered, and how many could be paid for."""
    won: list[int] = []

    def ask(place: int, house: House) -> None:
        text = f"SELECT COUNT(*) AS n FROM visits WHERE minutes >= {10 * turn + place}"
        Analysts(house).ask(ADA, "visits", asked(text, epsilon="0.1"))
        won.append(place)

    left = houses[0].ledger["visits/ada"].left
    faults = at_once(houses, ask)
    assert all(isinstance(fault, LimitReached) for fault in faults), faults
    assert len(won) + len(faults) == WORKERS
    return len(won), min(int(left.epsilon / sf.Pure("0.1").epsilon), WORKERS)


@pytest.mark.slow
def test_of_workers_that_race_for_the_last_of_a_share_one_wins(
    houses: list[House], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [race(houses, turn) for turn in range(3)] == [(4, 4), (1, 1), (0, 0)]
    Analysts(houses[0]).ask(ADA, "visits", asked("SELECT SUM(minutes) AS s FROM visits", epsilon="0.05"))
    assert houses[1].ledger["visits/ada"].left == sf.Pure(0)
    assert houses[2].ledger.verify().sound
    monkeypatch.setattr(Account, "paying", lambda self, cost: self)  # limits that nobody enforces
    assert race(houses, 3) == (WORKERS, 0)


@pytest.mark.slow
def test_the_same_question_from_all_workers_is_charged_once(houses: list[House]) -> None:
    receipts: list[object] = []
    faults = at_once(
        houses, lambda _, house: receipts.append(Analysts(house).ask(ADA, "visits", asked(), key="k").receipt)
    )
    charged = list(houses[0].ledger.entries(kinds=("charged",)))
    assert len(charged) == 1
    assert len(set(receipts)) == 1
    assert len(receipts) + len(faults) == WORKERS  # who came while another one looked was refused, and not charged


@pytest.mark.slow
def test_one_job_is_taken_by_one_worker(houses: list[House]) -> None:
    jobs = [Jobs(houses[0]).submit(ADA, "visits", asked(epsilon=f"0.0{n}"), f"{n}") for n in range(1, 6)]

    def work(_: int, house: House) -> None:
        worker = Worker(house)
        while worker.work():
            pass

    assert at_once(houses, work) == []
    assert [Jobs(houses[1]).job(ADA, "visits", job.id).state for job in jobs] == ["done"] * 5
    assert len(list(houses[0].ledger.entries(kinds=("charged",)))) == 5
    assert houses[3].ledger["visits/ada"].spent == sf.Pure("0.15")


@pytest.mark.slow
def test_two_owners_give_the_last_of_a_limit_once(houses: list[House]) -> None:
    lines: list[object] = []

    def grant(place: int, house: House) -> None:
        lines.append(Owners(house).open_share(OWNER, "visits", f"p{place}", sf.Pure("0.45"), reason="a race"))

    faults = at_once(houses, grant)
    assert len(lines) == 1
    assert [type(fault) for fault in faults] == [LimitReached] * (WORKERS - 1)
