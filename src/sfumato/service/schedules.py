"""Schedules: a question that is asked again each day, week or month, once in each, by whichever worker looks first.

Each time it is a job whose key is that of the schedule and the period, so that several workers, and workers that die,
ask it once. The clock is a value: ``tick`` is told what time it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, final

from sfumato.errors import BadArgument, ChangedMeanwhile, NotAllowed, QueueFull, SfumatoError
from sfumato.ledger.periods import Period
from sfumato.service.asking import Asked
from sfumato.service.charge_keys import SCHEDULE as WAY
from sfumato.service.charge_keys import digest_of_key
from sfumato.service.house import House
from sfumato.service.jobs import CANCELLED, FAILED, JOB, job_of, queued
from sfumato.service.people import NAME, Person
from sfumato.service.records import NEW, Kept
from sfumato.service.rights import Action

SCHEDULE = "schedule"
"""The kind of record."""

EVERY = (Period.DAY, Period.WEEK, Period.MONTH)
SKIP, LATEST, ALL = "skip", "latest", "all"
MISSED = (SKIP, LATEST, ALL)
"""What becomes of times that nobody was there for: skipped, the latest asked late, or all asked late."""

LATE = timedelta(hours=1)
"""After this a time counts as missed."""

MOST_AT_ONCE, MOST = 31, 50
"""How many missed times are made up for in one look, and how many schedules one person has for one data set."""


@final
@dataclass(frozen=True)
class Schedule:
    """A schedule as it stands: whose, on what, how often, at which time (UTC), what was last, and whether it runs."""

    name: str
    person: str
    data_set: str
    every: str
    at: str
    missed: str
    begins: str
    active: bool
    last: str
    why: str
    jobs: tuple[str, ...]


@final
@dataclass(frozen=True, eq=False)
class Schedules:
    """The use cases about schedules; each says first who does it, and refuses what they may not do (`NotAllowed`)."""

    house: House

    def add(
        self,
        person: Person,
        data_set: str,
        name: str,
        asked: Asked,
        *,
        every: str,
        at: str = "00:00",
        missed: str = LATEST,
    ) -> Schedule:
        """Has a question asked each day, week (on Monday) or month (on the first), paid from one's own share."""
        person.need(Action.SCHEDULE, data_set)
        self.house.data_sets.registered(data_set)
        if not asked.priced:
            raise BadArgument(
                "a question that is scheduled", "one that says what to pay, or how near to come", "another"
            )
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise BadArgument("the name of a schedule", "in small letters, digits, dots and dashes, at most 63", name)
        if len(self.house.records.all(SCHEDULE, _place(person.name, data_set, ""))) >= MOST:
            raise BadArgument("schedules", f"at most {MOST} of one person for a data set", MOST)
        said: dict[str, Any] = {
            "asked": asked.plain,
            "every": _every(every).value,
            "at": _time(at).isoformat("minutes"),
            "missed": _missed(missed),
            "begins": self.house.now().astimezone(UTC).isoformat(),
            "active": True,
            "last": "",
            "why": "",
            "jobs": [],
        }
        return _read(self.house.records.put(SCHEDULE, _place(person.name, data_set, name), said, expecting=NEW))

    def schedules(self, person: Person, data_set: str) -> list[Schedule]:
        """One's own schedules on a data set."""
        person.need(Action.SCHEDULE, data_set)
        return [_read(kept) for kept in self.house.records.all(SCHEDULE, _place(person.name, data_set, ""))]

    def remove(self, person: Person, data_set: str, name: str) -> None:
        """Asks no more; what was asked stays."""
        person.need(Action.SCHEDULE, data_set)
        kept = self._own(person, data_set, name)
        self.house.records.remove(SCHEDULE, kept.name, expecting=kept.version)

    def resume(self, person: Person, data_set: str, name: str) -> Schedule:
        """Goes on with a schedule that was stopped, from now on."""
        person.need(Action.SCHEDULE, data_set)
        kept = self._own(person, data_set, name)
        now = self.house.now().astimezone(UTC).isoformat()
        said = {**kept.said, "active": True, "why": "", "begins": now, "jobs": []}
        return _read(self.house.records.put(SCHEDULE, kept.name, said, expecting=kept.version))

    def _own(self, person: Person, data_set: str, name: str) -> Kept:
        kept = self.house.records.get(SCHEDULE, _place(person.name, data_set, str(name)))
        if kept is None:
            raise NotAllowed(f"{person.name} has no such schedule on {data_set}")
        return kept


def tick(house: House, now: datetime) -> int:
    """Queues what is due at a moment, once for each period, whoever else looks; gives how many it has queued."""
    return sum(_advance(house, kept, now.astimezone(UTC)) for kept in house.records.all(SCHEDULE))


def due(said: Mapping[str, Any], now: datetime) -> list[tuple[str, datetime]]:
    """The periods whose time has come, and which are not done: with their times, the oldest first."""
    every, begins = _every(said["every"]), datetime.fromisoformat(said["begins"])
    times = [moment for moment in _times(every, _time(said["at"]), begins, now) if moment >= begins]
    left = [(every.label(moment), moment) for moment in times]
    left = [(label, moment) for label, moment in left if label > said["last"]]
    match said["missed"]:
        case "skip":
            return [(label, moment) for label, moment in left if now - moment <= LATE]
        case "latest":
            return left[-1:]
    return left[:MOST_AT_ONCE]


def _advance(house: House, kept: Kept, now: datetime) -> int:
    """Moves one schedule on: stops it where it was refused, or queues what is due."""
    if not kept.said["active"]:
        return 0
    with suppress(ChangedMeanwhile):
        why = _refused(house, kept)
        if why:
            house.records.put(SCHEDULE, kept.name, {**kept.said, "active": False, "why": why}, expecting=kept.version)
            return 0
        return _queue(house, kept, now)
    return 0


def _queue(house: House, kept: Kept, now: datetime) -> int:
    person, data_set, name = kept.name.split("/")
    done = 0
    for label, _ in due(kept.said, now):
        key = f"{WAY}/{digest_of_key(person, data_set, name, kept.said['begins'], label)}"
        said = {**kept.said, "last": label}
        try:
            job = queued(house, person, data_set, Asked.from_plain(kept.said["asked"]), f"{name} {label}", key)
        except QueueFull:
            return done  # it is looked at again
        except SfumatoError as refusal:
            house.records.put(
                SCHEDULE, kept.name, {**said, "active": False, "why": str(refusal)}, expecting=kept.version
            )
            return done
        said["jobs"] = [*kept.said["jobs"], job.id][-10:]
        kept = house.records.put(SCHEDULE, kept.name, said, expecting=kept.version)  # the job is there: once is enough
        done += 1
    return done


def _refused(house: House, kept: Kept) -> str:
    """Why a schedule must stop: its last job was refused or given up."""
    person = kept.name.partition("/")[0]
    for job in kept.said["jobs"][-1:]:
        found = house.records.get(JOB, f"{person}/{job}")
        if found is not None and found.said["state"] in (FAILED, CANCELLED):
            return job_of(found).why or "its last question was cancelled"
    return ""


def _times(every: Period, at: time, begins: datetime, now: datetime) -> Iterator[datetime]:
    """The times of a schedule from the period in which it begins up to now."""
    day = begins.date()
    if every is Period.WEEK:
        day -= timedelta(days=day.weekday())
    elif every is Period.MONTH:
        day = day.replace(day=1)
    while (moment := datetime.combine(day, at, UTC)) <= now:
        yield moment
        if every is Period.MONTH:
            day = (day.replace(day=28) + timedelta(days=4)).replace(day=1)
        else:
            day += timedelta(days=7 if every is Period.WEEK else 1)


def _read(kept: Kept) -> Schedule:
    person, data_set, name = kept.name.split("/")
    facts = {field: kept.said[field] for field in ("every", "at", "missed", "begins", "active", "last", "why")}
    return Schedule(name=name, person=person, data_set=data_set, jobs=tuple(kept.said["jobs"]), **facts)


def _place(person: str, data_set: str, name: str) -> str:
    return f"{person}/{data_set}/{name}"


def _every(every: object) -> Period:
    found = Period.named(every)
    if found not in EVERY:
        raise BadArgument("every", "'day', 'week' or 'month'", every)
    return found


def _time(at: object) -> time:
    try:
        if isinstance(at, str) and len(at) == 5:
            return time.fromisoformat(at)
    except ValueError:
        pass
    raise BadArgument("at", "a time in UTC, such as '06:30'", at)


def _missed(missed: object) -> str:
    if isinstance(missed, str) and missed in MISSED:
        return missed
    raise BadArgument("missed", "'skip', 'latest' or 'all'", missed)
