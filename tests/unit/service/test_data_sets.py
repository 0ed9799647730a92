"""Data sets: registered once by whoever is first, opened without making others wait, shown without passwords."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.unit.service.houses import (
    ADA,
    AUDITOR,
    CODEBOOK,
    CURATOR,
    OWNER,
    Clock,
    asked,
    opened,
    registration,
    somebody,
    visits,
)

import sfumato as sf
from sfumato.codebook.book import Codebook
from sfumato.errors import AccountRefused, BadArgument, ServiceUnavailable
from sfumato.service import data_sets
from sfumato.service.analysts import Analysts
from sfumato.service.auditors import Auditors
from sfumato.service.curators import Curators
from sfumato.service.data_sets import DATA_SET, Registration
from sfumato.service.house import House
from sfumato.service.owners import Owners
from sfumato.service.rights import Role

CURATOR_OF_ALL = somebody("carl", Role.CURATOR, data_set="*")


def test_the_same_registration_again_changes_nothing(house: House, tmp_path: Path) -> None:
    entries = house.ledger.head.entry
    assert not Curators(house).register(CURATOR, registration(tmp_path / "visits.parquet"))
    assert house.ledger.head.entry == entries


def test_who_reads_a_registration_knows_the_questions_of_who_made_it(tmp_path: Path, clock: Clock) -> None:
    book, kept = f"sqlite:///{tmp_path / 'book.db'}", f"sqlite:///{tmp_path / 'records.db'}"
    (tmp_path / "data").mkdir()
    first = opened(tmp_path / "data", clock, ledger=book, records=kept, share=sf.Pure("0.5"))
    release = Analysts(first).ask(ADA, "visits", asked(), key="k")
    again = House.open(book, kept, folders=(tmp_path / "data",), now=clock)
    assert again.data_sets.registered("visits").codebook.digest == first.data_sets.registered("visits").codebook.digest
    assert Analysts(again).explain(ADA, "visits", asked()).known
    assert Analysts(again).ask(ADA, "visits", asked(), key="k").receipt == release.receipt
    assert Analysts(again).ask(ADA, "visits", asked()).receipt == release.receipt
    assert again.ledger["visits/ada"].spent == sf.Pure("0.1")
    first.close()
    again.close()


def test_a_new_version_keeps_the_limit_and_what_was_spent(house: House, tmp_path: Path) -> None:
    analysts, curators = Analysts(house), Curators(house)
    first = analysts.ask(ADA, "visits", asked())
    november = visits(tmp_path / "november.parquet", shift=40)
    assert curators.register(CURATOR, registration(november, version="2026-11"))
    assert analysts.version(ADA, "visits") == "2026-11"
    second = analysts.ask(ADA, "visits", asked())
    assert first.receipt != second.receipt
    [share] = analysts.shares(ADA, "visits")
    assert share.spent == sf.Pure("0.2")
    versions = [entry.body["said"] for entry in house.ledger.notes("visits", "version")]
    assert [said["version"] for said in versions] == ["1", "2026-11"]  # type: ignore[index, call-overload]


def test_a_new_codebook_is_a_new_version_and_facts_may_change(house: House, tmp_path: Path) -> None:
    changed = Codebook.read({**CODEBOOK, "contact": "somebody else"})
    again = Registration("visits", str(tmp_path / "visits.parquet"), changed, sf.Pure(1), "1")
    with pytest.raises(BadArgument, match="version"):
        Curators(house).register(CURATOR, again)
    later = Registration("visits", str(tmp_path / "visits.parquet"), changed, sf.Pure(1), "1b")
    assert Curators(house).register(CURATOR, later)
    assert Analysts(house).codebook(ADA, "visits").contact == "somebody else"
    assert Analysts(house).ask(ADA, "visits", asked()).loss == sf.Pure("0.1")


@pytest.mark.parametrize(
    "said", [{"limit": sf.Pure(2)}, {"limit": sf.ZCDP(1)}, {"limit": sf.Pure("0.5")}, {"period": "month"}]
)
def test_a_limit_is_set_once(house: House, tmp_path: Path, said: dict[str, object]) -> None:
    file = visits(tmp_path / "november.parquet", shift=40)
    with pytest.raises(AccountRefused, match="limit"):
        Curators(house).register(CURATOR, registration(file, version="2", **said))  # type: ignore[arg-type]
    assert Analysts(house).version(ADA, "visits") == "1"


def test_other_kinds_of_units_are_refused(house: House, tmp_path: Path) -> None:
    file = visits(tmp_path / "november.parquet", shift=40)
    with pytest.raises(AccountRefused, match="kinds of units"):
        limits = {"people": sf.Pure(1), "firms": sf.Pure(1)}
        said = Registration("visits", str(file), Codebook.read(CODEBOOK), limits, "2")
        Curators(house).register(CURATOR, said)


def test_another_unit_is_refused(house: House, tmp_path: Path) -> None:
    other = Codebook.read({**CODEBOOK, "unit": {"protects": "a family", "id": "patient"}})
    file = visits(tmp_path / "november.parquet", shift=40)
    with pytest.raises(AccountRefused):
        Curators(house).register(CURATOR, Registration("visits", str(file), other, sf.Pure(1), "2"))


def test_the_same_data_has_no_second_limit(house: House, tmp_path: Path) -> None:
    with pytest.raises(AccountRefused, match="has a limit already"):
        Curators(house).register(CURATOR_OF_ALL, registration(tmp_path / "visits.parquet", name="again"))
    assert "again" not in house.data_sets


def test_data_that_changed_under_its_version_is_refused_to_all_without_its_path(tmp_path: Path, clock: Clock) -> None:
    address = f"sqlite:///{tmp_path / 'book.db'}"
    with_records = f"sqlite:///{tmp_path / 'records.db'}"
    (tmp_path / "data").mkdir()
    opened(tmp_path / "data", clock, ledger=address, records=with_records, share=sf.Pure("0.5")).close()
    visits(tmp_path / "data" / "visits.parquet", shift=1)
    again = House.open(address, with_records, folders=(tmp_path / "data",), now=clock)
    with pytest.raises(AccountRefused, match="changed since version"):
        Analysts(again).ask(ADA, "visits", asked())
    (tmp_path / "data" / "visits.parquet").unlink()
    with pytest.raises(ServiceUnavailable) as refusal:
        Analysts(again).ask(ADA, "visits", asked())
    assert "parquet" not in str(refusal.value)
    assert again.ledger["visits"].spent == sf.Pure(0)
    again.close()


@pytest.mark.parametrize("name", ["", "a/b", "visits (x)", "*", "../x", "a b", "x" * 64, None, 7, "ä"])
def test_names_that_could_be_mistaken_are_refused(house: House, tmp_path: Path, name: object) -> None:
    with pytest.raises(BadArgument):
        Curators(house).register(CURATOR_OF_ALL, registration(tmp_path / "visits.parquet", name=name))


@pytest.mark.parametrize("name", ["nothing", "", None, 7, "a/b", "x" * 1000, "\0"])
def test_data_sets_that_there_are_not(house: House, name: object) -> None:
    everything = somebody("eve", Role.ANALYST, data_set="*")
    with pytest.raises(BadArgument):
        Analysts(house).codebook(everything, name)  # type: ignore[arg-type]


def test_two_workers_register_at_once_and_both_are_told_that_it_is_there(tmp_path: Path) -> None:
    book, kept = f"sqlite:///{tmp_path / 'book.db'}", f"sqlite:///{tmp_path / 'records.db'}"
    (tmp_path / "data").mkdir()
    file = visits(tmp_path / "data" / "visits.parquet")
    houses = [House.open(book, kept, folders=(tmp_path / "data",)) for _ in range(4)]
    barrier, faults = threading.Barrier(4), list[BaseException]()

    def register(one: House) -> None:
        barrier.wait()
        try:
            Curators(one).register(CURATOR, registration(file))
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=register, args=(one,)) for one in houses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(houses[0].records.all(DATA_SET)) == 1
    assert houses[0].records.all(DATA_SET)[0].version == 1
    assert houses[1].ledger.accounts == ("visits",)
    Owners(houses[2]).open_share(OWNER, "visits", "ada", sf.Pure("0.5"), reason="a pilot")
    first, second = (Analysts(one).ask(ADA, "visits", asked()) for one in houses[:2])
    assert first.receipt == second.receipt
    for one in houses:
        one.close()


def test_one_data_set_that_is_slow_to_open_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    book, kept = f"sqlite:///{tmp_path / 'book.db'}", f"sqlite:///{tmp_path / 'records.db'}"
    (tmp_path / "data").mkdir()
    first = opened(tmp_path / "data", clock, ledger=book, records=kept)
    other = visits(tmp_path / "data" / "grades.parquet", shift=77)
    Curators(first).register(CURATOR_OF_ALL, registration(other, name="grades"))
    first.close()
    again = House.open(book, kept, folders=(tmp_path / "data",), now=clock)
    slow, free = threading.Event(), threading.Event()
    open_one = data_sets.Registration.opened

    def opening(self: Registration) -> object:
        if self.name == "visits":
            slow.set()
            assert free.wait(30)
        return open_one(self)

    monkeypatch.setattr(data_sets.Registration, "opened", opening)
    waiting = threading.Thread(target=again.data_sets.session, args=("visits",))
    waiting.start()
    assert slow.wait(30)
    assert again.data_sets.session("grades").dataset.name == "grades"
    assert waiting.is_alive()
    free.set()
    waiting.join(30)
    assert again.data_sets.session("visits").dataset.name == "visits"
    again.close()


def test_a_closed_data_set_answers_nothing_new_and_goes_on_showing_what_it_has(house: House) -> None:
    analysts = Analysts(house)
    release = analysts.ask(ADA, "visits", asked())
    house.ledger.close_account("visits", by="curator")
    other = asked("SELECT AVG(minutes) AS m FROM visits")
    with pytest.raises(AccountRefused, match="closed"):
        analysts.ask(ADA, "visits", other)
    explanation = analysts.explain(ADA, "visits", other)
    assert explanation.refusal is not None
    assert "closed" in explanation.refusal
    assert release.receipt is not None
    assert analysts.answer(ADA, "visits", release.receipt.entry).value.only() == release.value.only()
    assert Auditors(house).verify(AUDITOR, "visits").sound


def test_sessions_that_are_kept_ready_are_bounded(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_sets, "SHARES_KEPT", 3)
    names = [f"person{number}" for number in range(8)]
    Owners(house).open_shares(OWNER, "visits", dict.fromkeys(names, sf.Pure("0.01")), reason="a class")
    for name in names:
        house.data_sets.share("visits", name)
    assert len(house.data_sets._shares) == 3


def test_a_password_in_a_source_is_shown_nowhere(house: House) -> None:
    source = "postgresql://reader:hunter2@db.local/visits"
    made = Registration("visits", source, Codebook.read(CODEBOOK), sf.Pure(1))
    assert "hunter2" not in repr(made)
    with pytest.raises(BadArgument) as refusal:
        Curators(house).register(CURATOR, made)
    assert "hunter2" not in str(refusal.value)
    assert all("hunter2" not in entry.text for entry in house.ledger.entries())


def test_where_data_is_is_in_no_book(house: House, tmp_path: Path) -> None:
    assert all(str(tmp_path) not in entry.text for entry in house.ledger.entries())
