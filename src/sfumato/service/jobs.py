"""Jobs: questions that are answered later, at most once, by whichever worker takes them.

What is kept of a job is a record that all workers share; the charge is in the book, under a key that is derived from
whose job it is. A worker that takes a job over asks again under that key: what was charged is not charged again, what
was answered is found, and what was charged and not answered stays charged, for it may have been seen.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, final

from sfumato.errors import BadArgument, ChangedMeanwhile, NotAllowed, QueueFull
from sfumato.service.asking import Asked
from sfumato.service.charge_keys import JOB as WAY
from sfumato.service.charge_keys import charge_key_of, checked_key, digest_of_key
from sfumato.service.house import House
from sfumato.service.people import Person
from sfumato.service.records import NEW, Kept
from sfumato.service.rights import Action

JOB, WAITING, WORKER = "job", "job waiting", "worker"
"""Kinds of records: jobs, the places of a queue that they take, and workers that were seen."""

QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
ENDED = frozenset({DONE, FAILED, CANCELLED})


@final
@dataclass(frozen=True)
class Job:
    """A job as it stands; nothing here depends on data.

    ``number`` is that of its answer, once there is one; ``charged`` tells whether it was paid for, which stays so
    whatever becomes of it; ``fault`` names the kind of error, and ``why`` says what it says.
    """

    id: str
    person: str
    data_set: str
    key: str
    state: str
    submitted: str
    started: str = ""
    ended: str = ""
    number: int | None = None
    charged: bool = False
    cancelling: bool = False
    fault: str = ""
    why: str = ""
    version: int = 0

    @property
    def over(self) -> bool:
        """Tells whether it will change no more."""
        return self.state in ENDED


@final
@dataclass(frozen=True, eq=False)
class Jobs:
    """The use cases about jobs; each says first who does it, and refuses what they may not do (`NotAllowed`)."""

    house: House

    def submit(self, person: Person, data_set: str, asked: Asked, key: str) -> Job:
        """Queues a question; the same one under the same key again is the same job, whatever has become of it."""
        person.need(Action.ASK, data_set)
        if data_set not in self.house.data_sets:
            self.house.data_sets.registered(data_set)
        charged = charge_key_of(WAY, data_set, person.name, checked_key(key))
        return queued(self.house, person.name, data_set, asked, key, charged)

    def job(self, person: Person, data_set: str, job: str) -> Job:
        """One's own job as it stands."""
        person.need(Action.ASK, data_set)
        return job_of(self._own(person, data_set, job))

    def jobs(self, person: Person, data_set: str) -> list[Job]:
        """One's own jobs on a data set, the latest first."""
        person.need(Action.ASK, data_set)
        kept = self.house.records.all(JOB, f"{person.name}/")
        mine = [job_of(one) for one in kept if one.said["data_set"] == data_set]
        return sorted(mine, key=lambda job: job.submitted, reverse=True)

    def cancel(
        self, person: Person, data_set: str, job: str, *, unseen: Callable[[Job], bool] = lambda _: False
    ) -> Job:
        """Cancels a job: before it was charged it costs nothing; what was charged stays charged, and it says so.

        Where it is ``unseen`` that a job has ended, it becomes what one would that runs: who cancels learns nothing.
        """
        person.need(Action.ASK, data_set)
        while True:
            kept = self._own(person, data_set, job)
            over = kept.said["state"] in ENDED
            if (over and not unseen(job_of(kept))) or kept.said["cancelling"]:
                return job_of(kept)
            said = {**kept.said, "cancelling": True}
            if said["state"] == DONE:
                said["state"] = CANCELLED
            elif said["state"] == QUEUED:
                said |= {"state": CANCELLED, "ended": self.house.now().isoformat()}
            with suppress(ChangedMeanwhile):
                made = self.house.records.put(JOB, kept.name, said, expecting=kept.version)
                if said["state"] == CANCELLED and not over:
                    free_place(self.house, made)
                return job_of(made)

    def _own(self, person: Person, data_set: str, job: str) -> Kept:
        name = f"{person.name}/{job}" if isinstance(job, str) and job.isalnum() else ""
        kept = self.house.records.get(JOB, name) if name else None
        if kept is None or kept.said["data_set"] != data_set:
            raise NotAllowed(f"{person.name} has no such job on {data_set}")
        return kept


def queued(house: House, person: str, data_set: str, asked: Asked, key: str, charged: str) -> Job:
    """Queues a question for somebody, at most once under a key of its charge."""
    name = f"{person}/{digest_of_key(charged)[:32]}"
    said = {
        "data_set": data_set,
        "asked": asked.plain,
        "key": key,
        "charge_key": charged,
        "state": QUEUED,
        "submitted": house.now().isoformat(),
        "started": "",
        "ended": "",
        "number": None,
        "charged": False,
        "cancelling": False,
        "fault": "",
        "why": "",
        "tries": 0,
        "share": None,
        "worker": "",
        "until": "",
        "place": "",
    }
    known = house.records.get(JOB, name)
    if known is None:
        said["place"] = take_place(house, person, name)
        try:
            return job_of(house.records.put(JOB, name, said, expecting=NEW))
        except ChangedMeanwhile:
            free_place(house, Kept(name, NEW, said))  # the same job, from somewhere else: it has a place
        known = house.records.need(JOB, name)
    if known.said["asked"] != asked.plain or known.said["data_set"] != data_set:
        raise BadArgument("the key", "a new one: this one is that of another question", key)
    return job_of(known)


def take_place(house: House, person: str, job: str) -> str:
    """Takes one of the places that somebody has in the queue; refuses where all are taken (`QueueFull`)."""
    most = house.settings.jobs_per_person
    taken = {kept.name for kept in house.records.all(WAITING, f"{person}/")}
    for number in range(most):
        place = f"{person}/{number:03d}"
        if place in taken:
            continue
        with suppress(ChangedMeanwhile):
            house.records.put(WAITING, place, {"job": job, "at": house.now().isoformat()}, expecting=NEW)
            return place
    raise QueueFull(person, most)


def free_place(house: House, job: Kept) -> None:
    """Gives the place of a job in the queue back."""
    kept = house.records.get(WAITING, job.said["place"]) if job.said["place"] else None
    if kept is not None and kept.said["job"] == job.name:
        with suppress(ChangedMeanwhile):
            house.records.remove(WAITING, kept.name, expecting=kept.version)


def forget_old(house: House) -> int:
    """Removes jobs that ended long ago; their answers stay in the book, and their keys go on meaning them."""
    before, gone = house.now() - timedelta(seconds=house.settings.jobs_kept), 0
    for kept in house.records.all(JOB):
        ended = moment(kept.said["ended"])
        if kept.said["state"] in ENDED and ended is not None and ended < before:
            with suppress(ChangedMeanwhile):
                house.records.remove(JOB, kept.name, expecting=kept.version)
                gone += 1
    return gone


def job_of(kept: Kept) -> Job:
    """Reads a record."""
    said: dict[str, Any] = kept.said
    person, _, name = kept.name.partition("/")
    told = ("data_set", "key", "state", "submitted", "started", "ended", "number", "charged", "cancelling")
    facts = {field: said[field] for field in (*told, "fault", "why")}
    return Job(id=name, person=person, version=kept.version, **facts)


def moment(text: str) -> datetime | None:
    """Reads a moment of a record; None where there is none yet."""
    return datetime.fromisoformat(text) if text else None
