"""Workers: they take jobs from the queue, ask, and write down how it ended; any number of them, in any process."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, final

from sfumato.entropy import system
from sfumato.errors import (
    ChangedMeanwhile,
    LedgerUnavailable,
    NotAllowed,
    NotKept,
    NotWorkedOut,
    PermitUsed,
    ServiceUnavailable,
    SfumatoError,
)
from sfumato.ledger.state import charge_key
from sfumato.release.record import Release
from sfumato.service.analysts import paid_from
from sfumato.service.asking import Asked
from sfumato.service.house import House
from sfumato.service.jobs import (
    CANCELLED,
    DONE,
    ENDED,
    FAILED,
    JOB,
    QUEUED,
    RUNNING,
    WAITING,
    WORKER,
    free_place,
    moment,
)
from sfumato.service.records import NEW, Kept
from sfumato.service.rights import Action
from sfumato.service.shares import paying

LOST = "AnswerLost"
"""The fault of a job that was charged by a worker that died before its answer was kept."""

SAID_LOST = (
    "it was charged, and the worker that asked it died before the answer was kept. What was charged stays charged, "
    "because the answer may have been seen; ask again, under another key, and pay again."
)
BROKEN = "something inside the service broke off; its administrator finds it in the log"
GRACE = timedelta(minutes=1)
"""How long a place in the queue may have no job: whoever took it is about to write the job, or died."""

PAUSE = 0.5
LONGEST_PAUSE = timedelta(minutes=5)


@final
class Worker:
    """Takes one job after another. Several threads may share one."""

    def __init__(self, house: House, name: str = "") -> None:
        self.house, self.name = house, name or f"worker-{system().octets(6).hex()}"
        self._held: dict[str, Kept] = {}
        self._lock = threading.Lock()

    def work(self) -> bool:
        """Takes a job and does it; tells whether there was one."""
        job = self.take()
        if job is None:
            return False
        try:
            self.perform(job)
        finally:
            with self._lock:
                self._held.pop(job.name, None)
        return True

    def take(self) -> Kept | None:
        """Takes the job that has waited longest, of those who have the fewest before it; None where there is none."""
        now = self.house.now()
        for place in self._places():
            job = self.house.records.get(JOB, place.said["job"])
            if job is None or job.said["state"] in ENDED or job.said["place"] != place.name:
                self._tidy(place, job, now)
                continue
            until = moment(job.said["until"])
            if until is not None and until > now:
                continue  # somebody is at work on it, or it waits to be tried again
            with suppress(ChangedMeanwhile):
                return self._taken(job, now)
        return None

    def perform(self, job: Kept) -> None:
        """Asks what a job asks, and writes down how it ended."""
        said = job.said
        if said["cancelling"]:
            return self._end(job, CANCELLED, charged=self._charged(job))
        if said["tries"] > self.house.settings.job_tries:
            charged = self._charged(job)
            return self._end(job, FAILED, charged=charged, fault=LOST, why=SAID_LOST if charged else BROKEN)
        try:
            release = self._asked(job)
        except (LedgerUnavailable, ServiceUnavailable) as fault:
            return self._again(job, fault)
        except PermitUsed:
            return self._end_lost(job)
        except (NotKept, NotWorkedOut) as fault:
            name, why = type(fault).__name__, str(fault).partition(". ")[0] + "."
            return self._end(job, FAILED, charged=True, fault=name, why=why)
        except ChangedMeanwhile:
            return None  # cancelled, or taken over: whoever changed it goes on with it
        except SfumatoError as fault:
            charged = self._charged(job)
            return self._end(job, FAILED, charged=charged, fault=type(fault).__name__, why=str(fault))
        except Exception:  # nothing of it may be shown: it can carry what the data holds
            broken = True
        else:
            return self._end_answered(job, release)
        return self._end(job, FAILED, charged=self._charged(job), fault="Broken", why=BROKEN) if broken else None

    def renew(self) -> None:
        """Says that this worker is there, and still at work on what it has taken."""
        now = self.house.now()
        with self._lock:
            held = list(self._held.values())
        for job in held:
            self._renewed(job, now)
        known = self.house.records.get(WORKER, self.name)
        with suppress(ChangedMeanwhile):
            version = NEW if known is None else known.version
            self.house.records.put(WORKER, self.name, {"seen": now.isoformat()}, expecting=version)
        for other in self.house.records.all(WORKER):
            if datetime.fromisoformat(other.said["seen"]) < now - 10 * self.house.settings.lease:
                with suppress(ChangedMeanwhile):
                    self.house.records.remove(WORKER, other.name, expecting=other.version)

    def leave(self) -> None:
        """Says that this worker is there no more."""
        with suppress(SfumatoError):
            known = self.house.records.get(WORKER, self.name)
            if known is not None:
                self.house.records.remove(WORKER, self.name, expecting=known.version)

    def _places(self) -> list[Kept]:
        """The places of the queue: first the oldest of each person, then the second of each, and so on."""
        waiting = sorted(self.house.records.all(WAITING), key=lambda place: (place.said["at"], place.name))
        ranks, ranked = Counter[str](), list[tuple[int, Kept]]()
        for place in waiting:
            person = place.name.partition("/")[0]
            ranked.append((ranks[person], place))
            ranks[person] += 1
        return [place for _, place in sorted(ranked, key=lambda one: one[0])]

    def _tidy(self, place: Kept, job: Kept | None, now: datetime) -> None:
        """Frees a place whose job has ended, or was never written."""
        if job is None and datetime.fromisoformat(place.said["at"]) > now - GRACE:
            return
        with suppress(ChangedMeanwhile):
            self.house.records.remove(WAITING, place.name, expecting=place.version)

    def _taken(self, job: Kept, now: datetime) -> Kept:
        until = now + self.house.settings.lease
        said = {
            **job.said,
            "state": RUNNING,
            "started": job.said["started"] or now.isoformat(),
            "worker": self.name,
            "until": until.isoformat(),
            "tries": job.said["tries"] + 1,
        }
        taken = self.house.records.put(JOB, job.name, said, expecting=job.version)
        with self._lock:
            self._held[job.name] = taken
        return taken

    def _renewed(self, job: Kept, now: datetime) -> None:
        known = self.house.records.get(JOB, job.name)
        if known is None or known.said["worker"] != self.name or known.said["state"] != RUNNING:
            return
        said = {**known.said, "until": (now + self.house.settings.lease).isoformat()}
        with suppress(ChangedMeanwhile):
            self.house.records.put(JOB, job.name, said, expecting=known.version)

    def _asked(self, job: Kept) -> Release:
        """Asks, as who they are now; from the share that was written down before anything was charged."""
        house, said = self.house, job.said
        person = house.people.named(job.name.partition("/")[0])
        if person is None:
            raise NotAllowed("whoever asked has left the service")
        person.need(Action.ASK, said["data_set"])
        share = said["share"]
        if share is None:
            share = paying(house.ledger, said["data_set"], person.name, said["charge_key"])
            self._note_share(job, share)
        session = house.data_sets.share(said["data_set"], share)
        sees = person.may(Action.SEE_LIMITS, said["data_set"]).allowed
        return paid_from(session, Asked.from_plain(said["asked"]), said["charge_key"], sees=sees)

    def _note_share(self, job: Kept, share: str) -> None:
        """Writes down which share pays; the last look at whether the job was cancelled, before it is charged."""
        while True:
            known = self._ours(job)
            if known is None or known.said["cancelling"]:
                if known is not None:
                    self._end(job, CANCELLED, charged=False)
                raise ChangedMeanwhile(f"the job {job.name}")
            with suppress(ChangedMeanwhile):
                self.house.records.put(JOB, job.name, {**known.said, "share": share}, expecting=known.version)
                return

    def _ours(self, job: Kept) -> Kept | None:
        """The record of a job, while this worker is the one that has it."""
        known = self.house.records.get(JOB, job.name)
        ours = known is not None and known.said["worker"] == self.name and known.said["state"] == RUNNING
        return known if ours and known is not None and known.said["tries"] == job.said["tries"] else None

    def _charged(self, job: Kept) -> bool:
        """Tells whether a job was paid for, by whichever worker."""
        known = self.house.records.get(JOB, job.name) or job
        account = f"{known.said['data_set']}/{known.said['share']}"
        return self.house.ledger.store.by_key(charge_key(account, known.said["charge_key"])) is not None

    def _end_answered(self, job: Kept, release: Release) -> None:
        known = self.house.records.get(JOB, job.name)
        said = job.said if known is None else known.said
        number = None if release.receipt is None else release.receipt.entry
        state = CANCELLED if said["cancelling"] else DONE
        self._end(job, state, charged=self._charged(job), number=number)

    def _end_lost(self, job: Kept) -> None:
        """Ends a job whose charge was used by another worker: with its answer, if that one has kept it by now."""
        known = self.house.records.get(JOB, job.name)
        said = job.said if known is None else known.said
        row = self.house.ledger.store.by_key(charge_key(f"{said['data_set']}/{said['share']}", said["charge_key"]))
        if row is not None and self.house.shelf.release(row.number) is not None:
            return self._end(job, CANCELLED if said["cancelling"] else DONE, charged=True, number=row.number)
        return self._end(job, FAILED, charged=True, fault=LOST, why=SAID_LOST)

    def _again(self, job: Kept, fault: SfumatoError) -> None:
        """Leaves a job to be tried again, later each time: what it needs cannot be reached now."""
        pause = min(timedelta(seconds=2.0 ** job.said["tries"]), LONGEST_PAUSE)
        with suppress(SfumatoError):
            known = self._ours(job)
            if known is not None:
                until = (self.house.now() + pause).isoformat()
                said = {**known.said, "state": QUEUED, "until": until, "worker": "", "why": str(fault)}
                self.house.records.put(JOB, job.name, said, expecting=known.version)

    def _end(self, job: Kept, state: str, **facts: Any) -> None:
        """Writes down how a job ended; an answer that comes late still counts, after others gave the job up."""
        while True:
            known = self.house.records.get(JOB, job.name)
            if known is None or (known.said["state"] in ENDED and not (state == DONE and known.said["fault"] == LOST)):
                return
            if state == FAILED and known.said["worker"] != self.name:
                return  # another worker has it
            end = {"state": state, "ended": self.house.now().isoformat(), "until": "", "fault": "", "why": "", **facts}
            with suppress(ChangedMeanwhile):
                ended = self.house.records.put(JOB, job.name, {**known.said, **end}, expecting=known.version)
                free_place(self.house, ended)
                return


@final
class Pool:
    """Threads that work on jobs, and one that renews what they have taken and tidies up."""

    def __init__(self, house: House, *, threads: int | None = None, worker: Worker | None = None) -> None:
        self.worker = worker or Worker(house)
        self._stop, self._wake = threading.Event(), threading.Event()
        many = house.settings.job_threads if threads is None else threads
        self._pulse = house.settings.job_lease / 3
        self._threads = [threading.Thread(target=self._loop, daemon=True) for _ in range(many)]
        self._threads.append(threading.Thread(target=self._beat, daemon=True))

    def start(self) -> None:
        """Starts to work."""
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Says that there is something to do, so that nobody waits for the next look."""
        self._wake.set()

    def stop(self, patience: float = 30.0) -> None:
        """Takes no more jobs, and waits for those that run."""
        self._stop.set()
        self._wake.set()
        for thread in self._threads:
            thread.join(patience)
        self.worker.leave()

    def _loop(self) -> None:
        while not self._stop.is_set():
            worked = False
            with suppress(SfumatoError):  # the records or the ledger cannot be reached: look again soon
                worked = self.worker.work()
            if not worked:
                self._wake.wait(PAUSE)
                self._wake.clear()

    def _beat(self) -> None:
        while not self._stop.is_set():
            with suppress(SfumatoError):
                self.worker.renew()
            self._stop.wait(self._pulse)
