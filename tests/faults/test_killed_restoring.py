"""A restore that is killed in the middle: the service is as empty as before, or whole, or does not start: no mix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.service.houses import ADA, Clock, asked, opened

import sfumato as sf
from sfumato.errors import ServiceUnavailable
from sfumato.service.analysts import Analysts
from sfumato.service.backups import KINDS, Backup, backup, restore
from sfumato.service.house import House
from sfumato.service.jobs import Jobs
from sfumato.service.records import NEW, RESTORE, Records, records_at

ROOT = Path(__file__).parents[2]


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, dict[str, list[str]], Backup]:
    """A backup, and what is in it."""
    (tmp_path / "data").mkdir()
    house = opened(tmp_path / "data", Clock(), share=sf.Pure("0.5"))
    Analysts(house).ask(ADA, "visits", asked())
    Jobs(house).submit(ADA, "visits", asked(epsilon="0.2"), "k")
    made = backup(house, tmp_path / "backup")
    records = names_in(house.records)
    house.close()
    return tmp_path / "backup", records, made


def names_in(records: Records) -> dict[str, list[str]]:
    return {kind: [one.name for one in records.all(kind)] for kind in KINDS}


def state_of(folder: Path, names: dict[str, list[str]], made: Backup) -> str:
    """What a service that starts here would find: "nothing", "all", or that it must not start."""
    book, kept = f"sqlite:///{folder / 'book.db'}", f"sqlite:///{folder / 'records.db'}"
    try:
        house = House.open(book, kept)
    except ServiceUnavailable:
        return "refused"
    found, entries = names_in(house.records), list(house.ledger.entries())
    house.close()
    if len(entries) >= made.entries and entries[made.entries - 1].digest == made.head.digest and found == names:
        return "all"
    return "nothing" if not any(found.values()) and len(entries) == 1 else "a mix"


def kills(folder: Path, places: Path, points: range) -> list[dict[str, int]]:
    places.mkdir()
    command = [sys.executable, "-m", "tests.faults.killed_restoring", str(folder), str(places), *map(str, points)]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def again(folder: Path, place: Path) -> None:
    records = records_at(f"sqlite:///{place / 'records.db'}")
    restore(folder, f"sqlite:///{place / 'book.db'}", records)
    records.close()


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.nightly)])
def test_killed_at_the_steps_of_a_restore(
    kept: tuple[Path, dict[str, list[str]], Backup], quick_folder: Path, step: int
) -> None:
    folder, names, made = kept
    told = kills(folder, quick_folder / "places", range(1, 200, step))
    ends = [one["done"] for one in told if "done" in one]
    assert ends, "no try came to its end"
    assert len(told) - len(ends) >= 70 // step
    found = []
    for one in told:
        place = quick_folder / "places" / str(one["at"])
        found.append(state_of(place, names, made))
        if found[-1] == "refused":
            again(folder, place)
            assert state_of(place, names, made) == "all", f"killed at {one}, it could not be brought in again"
    assert set(found) == {"nothing", "refused", "all"}


def test_without_its_mark_there_would_be_a_mix(
    kept: tuple[Path, dict[str, list[str]], Backup], quick_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, names, made = kept
    records = records_at(f"sqlite:///{quick_folder / 'records.db'}")
    monkeypatch.setattr(records, "remove", broken)
    with pytest.raises(KeyboardInterrupt):
        restore(folder, f"sqlite:///{quick_folder / 'book.db'}", records)
    assert state_of(quick_folder, names, made) == "refused"
    monkeypatch.undo()
    assert names_in(records) == names
    lost = records.all("person")[0]
    records.remove("person", lost.name, expecting=lost.version)  # as if it had broken off some records earlier
    records.remove(RESTORE, RESTORE, expecting=1)
    assert state_of(quick_folder, names, made) == "a mix"
    records.close()


def broken(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_another_backup_may_follow_one_that_broke_off(
    kept: tuple[Path, dict[str, list[str]], Backup], quick_folder: Path
) -> None:
    folder, names, made = kept
    records = records_at(f"sqlite:///{quick_folder / 'records.db'}")
    records.put(RESTORE, RESTORE, {"head": "of another"}, expecting=NEW)
    records.put("person", "somebody else", {}, expecting=NEW)
    restore(folder, f"sqlite:///{quick_folder / 'book.db'}", records)
    records.close()
    assert state_of(quick_folder, names, made) == "all"
