"""Backups: made while the service runs, brought back whole or not at all, and exposed by receipts when they are old."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.service.houses import ADA, AUDITOR, Clock, asked, opened

import sfumato as sf
from sfumato.errors import BadArgument, ServiceUnavailable, SfumatoError
from sfumato.service.analysts import Analysts
from sfumato.service.auditors import Auditors
from sfumato.service.backups import BOOK, HEAD, RECORDS, backup, read_backup, restore, rolled_back
from sfumato.service.house import House
from sfumato.service.jobs import Jobs
from sfumato.service.people import TOKEN, VISIT
from sfumato.service.records import records_at
from sfumato.service.schedules import Schedules
from sfumato.service.tokens import Tokens
from sfumato.service.workers import Worker

MEAN = "SELECT AVG(minutes) AS m FROM visits"


@pytest.fixture
def running(tmp_path: Path, clock: Clock) -> House:
    (tmp_path / "data").mkdir()
    return opened(tmp_path / "data", clock, share=sf.Pure("0.5"))


def brought_back(tmp_path: Path, clock: Clock, name: str = "new") -> House:
    (tmp_path / name).mkdir()
    book, kept = f"sqlite:///{tmp_path / name / 'book.db'}", f"sqlite:///{tmp_path / name / 'records.db'}"
    records = records_at(kept)
    restore(tmp_path / "backup", book, records)
    records.close()
    return House.open(book, kept, folders=(tmp_path / "data",), now=clock)


def test_what_was_backed_up_goes_on_where_it_stood(running: House, tmp_path: Path, clock: Clock) -> None:
    token = Tokens(running).issue(ADA, "laptop")
    visit = running.people.issue(VISIT, "ada")
    release = Analysts(running).ask(ADA, "visits", asked(), key="a")
    job = Jobs(running).submit(ADA, "visits", asked(MEAN), "k")
    Schedules(running).add(ADA, "visits", "daily", asked(), every="day")
    made = backup(running, tmp_path / "backup")
    assert made.entries == running.ledger.head.entry
    assert made.head.digest == running.ledger.head.digest
    assert read_backup(tmp_path / "backup") == made
    house = brought_back(tmp_path, clock)
    assert house.people.known_by(TOKEN, token.text).name == "ada"
    with pytest.raises(SfumatoError):
        house.people.known_by(VISIT, visit.text)
    again = Analysts(house).ask(ADA, "visits", asked(), key="a")
    assert (again.value.only(), again.receipt) == (release.value.only(), release.receipt)
    assert house.ledger["visits/ada"].spent == sf.Pure("0.1")
    assert Worker(house).work()
    assert Jobs(house).job(ADA, "visits", job.id).state == "done"
    assert [one.name for one in Schedules(house).schedules(ADA, "visits")] == ["daily"]
    assert Auditors(house).verify(AUDITOR, "visits", receipts=[made.head]).sound
    house.close()


def test_a_service_that_was_rolled_back_is_exposed_by_what_people_hold(
    running: House, tmp_path: Path, clock: Clock
) -> None:
    backup(running, tmp_path / "backup")
    release = Analysts(running).ask(ADA, "visits", asked())
    assert release.receipt is not None
    house = brought_back(tmp_path, clock)
    assert house.ledger.verify().sound  # by itself it looks right
    assert not rolled_back(house, [release.receipt]).sound
    Analysts(house).ask(ADA, "visits", asked(MEAN))
    Analysts(house).ask(ADA, "visits", asked())
    verdict = rolled_back(house, [release.receipt])
    assert [fault.entry for fault in verdict.faults] == [release.receipt.entry]
    house.close()


@pytest.mark.parametrize("name", [BOOK, RECORDS, HEAD])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_backup_is_refused_before_anything_is_written(
    running: House, tmp_path: Path, name: str, damage: str
) -> None:
    Analysts(running).ask(ADA, "visits", asked())
    backup(running, tmp_path / "backup")
    file = tmp_path / "backup" / name
    if damage == "gone":
        file.unlink()
    else:
        text = file.read_text()
        file.write_text(text[:-20] if damage == "cut" else text.replace("visits", "visitz").replace("entry", "entrx"))
    records = records_at("memory:")
    with pytest.raises(BadArgument):
        restore(tmp_path / "backup", f"sqlite:///{tmp_path / 'book.db'}", records)
    assert not (tmp_path / "book.db").exists()
    assert records.all("person") == []


def test_a_backup_is_brought_into_empty_stores_alone(running: House, tmp_path: Path) -> None:
    backup(running, tmp_path / "backup")
    with pytest.raises(ServiceUnavailable):
        restore(tmp_path / "backup", f"sqlite:///{tmp_path / 'book.db'}", running.records)
    records = records_at("memory:")
    restore(tmp_path / "backup", f"sqlite:///{tmp_path / 'book.db'}", records)
    with pytest.raises(SfumatoError):
        restore(tmp_path / "backup", f"sqlite:///{tmp_path / 'book.db'}", records_at("memory:"))


def test_a_backup_is_for_its_owner_alone_and_replaces_none(running: House, tmp_path: Path) -> None:
    backup(running, tmp_path / "backup")
    for file in (tmp_path / "backup", *(tmp_path / "backup").iterdir()):
        assert file.stat().st_mode & 0o077 == 0
    with pytest.raises(BadArgument):
        backup(running, tmp_path / "backup")
    with pytest.raises(BadArgument):
        backup(running, tmp_path / "none" / "backup")


def test_a_service_goes_on_while_it_is_backed_up(running: House, tmp_path: Path, clock: Clock) -> None:
    analysts = Analysts(running)
    step = 0

    def meanwhile(_: int) -> None:
        nonlocal step
        step += 1

    analysts.ask(ADA, "visits", asked())
    made = backup(running, tmp_path / "backup", progress=meanwhile)
    analysts.ask(ADA, "visits", asked(MEAN))
    assert running.ledger.verify(receipts=[made.head]).sound
    house = brought_back(tmp_path, clock)
    assert house.ledger["visits/ada"].spent == sf.Pure("0.1")
    house.close()
    assert step >= 0
