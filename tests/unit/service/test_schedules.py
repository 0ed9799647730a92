"""Schedules: once in each period, whoever looks; missed times as was said; stopped, with a reason, when refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.service.houses import ADA, BEN, CURATOR, OWNER, Clock, asked, opened, registration, visits

import sfumato as sf
from sfumato.errors import BadArgument, NotAllowed, QueueFull
from sfumato.ledger.periods import Period
from sfumato.service.curators import Curators
from sfumato.service.house import House
from sfumato.service.jobs import Jobs
from sfumato.service.owners import Owners
from sfumato.service.schedules import MISSED, Schedules, _advance, due, tick
from sfumato.service.workers import Worker


def scheduled(house: House, name: str = "daily", **said: Any) -> None:
    given_ = {"every": "day", "at": "06:00", "missed": "latest", **said}
    Schedules(house).add(ADA, "visits", name, asked(), **given_)


def work(house: House) -> int:
    done, worker = 0, Worker(house)
    while worker.work():
        done += 1
    return done


def test_it_is_asked_once_each_day_however_often_somebody_looks(house: House, clock: Clock) -> None:
    scheduled(house)  # at nine in the morning: today's time is over
    assert tick(house, clock()) == 0
    clock.pass_by(hours=21)
    assert [tick(house, clock()) for _ in range(3)] == [1, 0, 0]
    clock.pass_by(hours=1)
    assert tick(house, clock()) == 0
    assert work(house) == 1
    clock.pass_by(hours=23)
    assert tick(house, clock()) == 1
    assert work(house) == 1
    jobs = Jobs(house).jobs(ADA, "visits")
    assert [job.state for job in jobs] == ["done", "done"]
    assert len({job.number for job in jobs}) == 1  # the data is the same version: the same question is free
    assert house.ledger["visits/ada"].spent == sf.Pure("0.1")


def test_several_workers_that_look_at_once_ask_once(house: House, clock: Clock) -> None:
    scheduled(house)
    clock.pass_by(days=1)
    [kept] = house.records.all("schedule")
    assert _advance(house, kept, clock()) == 1
    assert _advance(house, kept, clock()) == 0  # who looked before the other had written
    assert len(Jobs(house).jobs(ADA, "visits")) == 1
    assert work(house) == 1


def test_a_new_version_each_month_is_asked_anew_under_a_renewable_limit(tmp_path: Path) -> None:
    clock = Clock()
    house = opened(tmp_path, clock, period="month")
    Owners(house).open_share(OWNER, "visits", "ada", sf.Pure("0.15"), reason="monthly figures", period="month")
    scheduled(house, every="month", at="00:00")
    for month in (12, 1, 2):
        clock.now = datetime(2026 if month == 12 else 2027, month, 1, 3, tzinfo=UTC)
        file = visits(tmp_path / f"{month}.parquet", shift=10 * month)
        Curators(house).register(CURATOR, registration(file, version=f"month-{month}", period="month"))
        assert tick(house, clock()) == 1
        assert work(house) == 1
    jobs = Jobs(house).jobs(ADA, "visits")
    assert [job.state for job in jobs] == ["done"] * 3
    assert len({job.number for job in jobs}) == 3
    assert house.ledger["visits/ada"].spent == sf.Pure("0.1")


@pytest.mark.parametrize(("missed", "expected"), [("skip", 0), ("latest", 1), ("all", 5)])
def test_missed_times_are_made_up_for_as_was_said(house: House, clock: Clock, missed: str, expected: int) -> None:
    scheduled(house, missed=missed)
    clock.pass_by(days=5)  # nine o'clock: three hours too late for the last one
    assert tick(house, clock()) == expected
    assert tick(house, clock()) == 0
    clock.pass_by(hours=21, minutes=30)
    assert tick(house, clock()) == 1


def test_it_stops_with_a_reason_when_it_is_refused(house: House, clock: Clock) -> None:
    Schedules(house).add(ADA, "visits", "dear", asked(epsilon="0.4"), every="day")
    Schedules(house).add(ADA, "visits", "dearer", asked(epsilon="0.45"), every="day")
    clock.pass_by(days=1)
    assert tick(house, clock()) == 2
    work(house)
    assert tick(house, clock()) == 0
    standing = {one.name: one for one in Schedules(house).schedules(ADA, "visits")}
    assert standing["dear"].active
    assert not standing["dearer"].active
    assert "cannot pay" in standing["dearer"].why
    clock.pass_by(days=1)
    assert tick(house, clock()) == 1
    resumed = Schedules(house).resume(ADA, "visits", "dearer")
    assert (resumed.active, resumed.why) == (True, "")
    assert tick(house, clock()) == 0
    Schedules(house).remove(ADA, "visits", "dearer")
    with pytest.raises(NotAllowed):
        Schedules(house).remove(ADA, "visits", "dearer")


def test_a_full_queue_is_waited_for(tmp_path: Path, clock: Clock) -> None:
    house = opened(tmp_path, clock, share=sf.Pure("0.5"), jobs_per_person=1)
    scheduled(house)
    Jobs(house).submit(ADA, "visits", asked("SELECT AVG(minutes) AS m FROM visits"), "k")
    with pytest.raises(QueueFull):
        Jobs(house).submit(ADA, "visits", asked(), "l")
    clock.pass_by(days=1)
    assert tick(house, clock()) == 0
    work(house)
    assert tick(house, clock()) == 1


def test_schedules_are_ones_own(house: House) -> None:
    scheduled(house)
    assert Schedules(house).schedules(BEN, "visits") == []
    with pytest.raises(NotAllowed):
        Schedules(house).remove(BEN, "visits", "daily")


@pytest.mark.parametrize(
    "said",
    [
        {"every": "hour"},
        {"every": "year"},
        {"every": None},
        {"at": "25:00"},
        {"at": "6"},
        {"at": None},
        {"missed": "some"},
        {"missed": None},
        {"name": "a/b"},
        {"name": ""},
    ],
)
def test_bad_schedules_are_refused(house: House, said: dict[str, Any]) -> None:
    with pytest.raises(BadArgument):
        scheduled(house, **said)
    with pytest.raises(BadArgument, match="what to pay"):
        Schedules(house).add(ADA, "visits", "x", asked(max_rows=3), every="day")
    assert Schedules(house).schedules(ADA, "visits") == []


moments = st.datetimes(datetime(2026, 1, 1), datetime(2027, 3, 1), timezones=st.just(UTC))


@given(
    moments,
    st.lists(st.timedeltas(timedelta(), timedelta(days=40)), min_size=1, max_size=12),
    st.sampled_from(["day", "week", "month"]),
    st.sampled_from(MISSED),
)
def test_no_period_comes_twice_or_before_its_time(
    begins: datetime, steps: list[timedelta], every: str, missed: str
) -> None:
    said = {"every": every, "at": "06:30", "missed": missed, "begins": begins.isoformat(), "last": ""}
    now, seen = begins, list[str]()
    for step in steps:
        now += step
        while found := due(said, now):
            for label, moment in found:
                assert begins <= moment <= now
                assert Period(every).label(moment) == label
                seen.append(label)
                said["last"] = label
    assert seen == sorted(set(seen))
    if missed == "all":
        assert len(seen) in range(len(seen), (now - begins).days + 2)
        expected = (now - begins).days if every == "day" else 0
        assert len(seen) >= expected
