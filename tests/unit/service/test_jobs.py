"""Jobs: asked at most once, by whichever worker; cancelled before they cost, and honest about what they have cost."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.service.houses import ADA, AUDITOR, BEN, OWNER, Clock, asked, opened

import sfumato as sf
from sfumato.errors import BadArgument, LedgerUnavailable, NotAllowed, QueueFull
from sfumato.service import workers
from sfumato.service.analysts import Analysts
from sfumato.service.auditors import Auditors
from sfumato.service.house import House
from sfumato.service.jobs import JOB, WAITING, WORKER, Job, Jobs
from sfumato.service.owners import Owners
from sfumato.service.workers import LOST, Pool, Worker

MEAN = "SELECT AVG(minutes) AS m FROM visits"


def charges(house: House) -> int:
    return sum(1 for entry in house.ledger.entries(kinds=("charged",)))


def submitted(house: House, key: str = "k", text: str = MEAN, **said: Any) -> Job:
    return Jobs(house).submit(ADA, "visits", asked(text, **said), key)


def now(house: House, job: Job) -> Job:
    return Jobs(house).job(ADA, "visits", job.id)


def test_a_job_goes_from_queued_to_done(house: House) -> None:
    job = submitted(house)
    assert (job.state, job.charged, job.number, job.over) == ("queued", False, None, False)
    worker = Worker(house)
    taken = worker.take()
    assert taken is not None
    assert now(house, job).state == "running"
    assert worker.take() is None
    worker.perform(taken)
    done = now(house, job)
    assert (done.state, done.charged, done.over, done.why) == ("done", True, True, "")
    assert done.number is not None
    assert Analysts(house).answer(ADA, "visits", done.number).loss == sf.Pure("0.1")
    assert house.records.all(WAITING) == []
    assert not worker.work()


def test_the_same_key_is_the_same_job_and_another_question_needs_another(house: House) -> None:
    first, again = submitted(house), submitted(house)
    assert first == again
    with pytest.raises(BadArgument, match="key"):
        submitted(house, text="SELECT COUNT(*) AS n FROM visits")
    Worker(house).work()
    assert submitted(house).state == "done"
    assert charges(house) == 1
    with pytest.raises(BadArgument):
        submitted(house, key="")
    with pytest.raises(BadArgument):
        submitted(house, key="x" * 201)


def test_keys_of_two_people_never_meet(house: House) -> None:
    Owners(house).open_share(OWNER, "visits", "ben", sf.Pure("0.2"), reason="a pilot")
    mine = submitted(house)
    other = Jobs(house).submit(BEN, "visits", asked("SELECT COUNT(*) AS n FROM visits"), "k")
    assert mine.id != other.id
    for _ in range(2):
        Worker(house).work()
    assert Jobs(house).job(BEN, "visits", other.id).state == "done"
    assert now(house, mine).state == "done"
    with pytest.raises(NotAllowed):
        Jobs(house).job(BEN, "visits", mine.id)
    with pytest.raises(NotAllowed):
        Jobs(house).cancel(BEN, "visits", mine.id)
    assert [job.id for job in Jobs(house).jobs(BEN, "visits")] == [other.id]
    asking = Analysts(house).ask(ADA, "visits", asked("SELECT COUNT(*) AS n FROM visits"), key="k")
    assert asking.receipt is not None


def test_a_queue_is_bounded_for_each_person(tmp_path: Path) -> None:
    house = opened(tmp_path, share=sf.Pure("0.5"), jobs_per_person=2)
    first = submitted(house, "1")
    submitted(house, "2")
    with pytest.raises(QueueFull, match="2 questions waiting"):
        submitted(house, "3")
    assert submitted(house, "1") == first
    Jobs(house).cancel(ADA, "visits", first.id)
    assert submitted(house, "3").state == "queued"


def test_many_submissions_at_once_take_no_more_places_than_there_are(tmp_path: Path) -> None:
    house = opened(tmp_path, share=sf.Pure("0.5"), jobs_per_person=3)
    outcomes: list[str] = []

    def submit(number: int) -> None:
        try:
            submitted(house, f"{number % 6}")
            outcomes.append("queued")
        except QueueFull:
            outcomes.append("full")

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(house.records.all(WAITING)) <= 3
    assert len(house.records.all(JOB)) == len(house.records.all(WAITING))
    assert "full" in outcomes


def test_a_job_that_is_cancelled_before_it_is_charged_costs_nothing(house: House) -> None:
    job = submitted(house)
    cancelled = Jobs(house).cancel(ADA, "visits", job.id)
    assert (cancelled.state, cancelled.charged) == ("cancelled", False)
    assert Jobs(house).cancel(ADA, "visits", job.id) == cancelled
    assert not Worker(house).work()
    assert charges(house) == 0


def test_a_job_that_is_cancelled_once_it_is_taken_is_not_charged(house: House) -> None:
    job, worker = submitted(house), Worker(house)
    taken = worker.take()
    assert taken is not None
    assert Jobs(house).cancel(ADA, "visits", job.id).state == "running"
    worker.perform(taken)
    assert (now(house, job).state, now(house, job).charged) == ("cancelled", False)
    assert charges(house) == 0
    assert house.records.all(WAITING) == []


def test_a_job_that_is_cancelled_while_it_looks_stays_charged_and_says_so(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, worker = submitted(house), Worker(house)
    paid_from = workers.paid_from

    def cancelled_meanwhile(*words: Any, **said: Any) -> Any:
        Jobs(house).cancel(ADA, "visits", job.id)
        return paid_from(*words, **said)

    monkeypatch.setattr(workers, "paid_from", cancelled_meanwhile)
    worker.work()
    ended = now(house, job)
    assert (ended.state, ended.charged) == ("cancelled", True)
    assert ended.number is not None
    assert Analysts(house).answer(ADA, "visits", ended.number)


@pytest.mark.parametrize(
    ("text", "said", "fault"),
    [
        ("SELECT nonsense FROM visits", {"epsilon": "0.1"}, "QueryRefused"),
        ("SELECT", {"epsilon": "0.1"}, ""),
        (MEAN, {"epsilon": "5"}, "LimitReached"),
        (MEAN, {"max_rows": 3}, ""),
    ],
)
def test_what_is_refused_ends_the_job_and_costs_nothing(
    house: House, text: str, said: dict[str, Any], fault: str
) -> None:
    job = submitted(house, text=text, **said)
    Worker(house).work()
    ended = now(house, job)
    assert (ended.state, ended.charged) == ("failed", False)
    assert ended.fault
    assert fault in ("", ended.fault)
    assert ended.why
    assert charges(house) == 0


def test_rights_that_were_withdrawn_meanwhile_are_gone(house: House) -> None:
    job = submitted(house)
    house.people.set_grants("ada", [])
    Worker(house).work()
    assert (now(house, job).state, now(house, job).fault) == ("failed", "NotAllowed")
    other = submitted(house, "2")
    house.people.leave("ada")
    Worker(house).work()
    assert now(house, other).fault == "NotAllowed"
    assert charges(house) == 0


def test_another_worker_takes_over_when_a_lease_ends(house: House, clock: Clock) -> None:
    job, dead = submitted(house), Worker(house, "dead")
    assert dead.take() is not None
    alive = Worker(house, "alive")
    assert not alive.work()
    clock.pass_by(seconds=59)
    assert not alive.work()
    clock.pass_by(seconds=1)
    assert alive.work()
    assert now(house, job).state == "done"
    assert charges(house) == 1


def test_a_worker_that_is_alive_renews_what_it_has(house: House, clock: Clock) -> None:
    submitted(house)
    slow, other = Worker(house, "slow"), Worker(house, "other")
    taken = slow.take()
    assert taken is not None
    for _ in range(5):
        clock.pass_by(seconds=40)
        slow.renew()
        assert not other.work()
    assert [kept.name for kept in house.records.all(WORKER)] == ["slow"]
    clock.pass_by(minutes=30)
    other.renew()
    assert [kept.name for kept in house.records.all(WORKER)] == ["other"]
    other.leave()
    assert house.records.all(WORKER) == []


def test_a_slow_worker_that_was_given_up_for_dead_is_charged_once_and_its_answer_counts(
    house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, slow, other = submitted(house), Worker(house, "slow"), Worker(house, "other")
    dataset = type(house.data_sets.session("visits").dataset)
    release = dataset.release

    def taken_over(self: Any, permit: Any, measurement: Any, *, confidence: Any) -> Any:
        monkeypatch.setattr(dataset, "release", release)  # the other one finds the way as it is
        clock.pass_by(minutes=2)
        permit._use()  # as it is in the slow one, which is at work on it
        permit._used = True
        assert other.work()
        assert now(house, job).fault == LOST
        permit._used = False
        return release(self, permit, measurement, confidence=confidence)

    monkeypatch.setattr(dataset, "release", taken_over)
    assert slow.work()
    assert (now(house, job).state, now(house, job).charged, now(house, job).fault) == ("done", True, "")
    assert charges(house) == 1


def test_a_ledger_that_cannot_be_reached_is_tried_again_later(
    house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, worker = submitted(house), Worker(house)

    def unreachable(*_: Any, **__: Any) -> Any:
        raise LedgerUnavailable("its server does not answer")

    with monkeypatch.context() as broken:
        broken.setattr(workers, "paid_from", unreachable)
        assert worker.work()
    assert now(house, job).state == "queued"
    assert not worker.work()
    clock.pass_by(seconds=2)
    assert worker.work()
    assert now(house, job).state == "done"


def test_what_breaks_inside_tells_nothing_of_why(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    job = submitted(house)

    def breaks(*_: Any, **__: Any) -> Any:
        raise RuntimeError("patient p17 stayed 93 minutes")

    monkeypatch.setattr(workers, "paid_from", breaks)
    Worker(house).work()
    kept = house.records.all(JOB)[0]
    assert now(house, job).state == "failed"
    assert "p17" not in str(kept.said)


def test_a_job_that_kills_every_worker_is_given_up(house: House, clock: Clock) -> None:
    job = submitted(house)
    for _ in range(house.settings.job_tries):
        assert Worker(house).take() is not None
        clock.pass_by(minutes=2)
    assert Worker(house).work()
    assert (now(house, job).state, now(house, job).charged) == ("failed", False)


def test_people_take_turns(house: House) -> None:
    Owners(house).open_share(OWNER, "visits", "ben", sf.Pure("0.2"), reason="a pilot")
    for number in range(3):
        submitted(house, f"{number}")
    Jobs(house).submit(BEN, "visits", asked(MEAN), "late")
    order = [taken.name.partition("/")[0] for _ in range(4) if (taken := Worker(house).take()) is not None]
    assert order == ["ada", "ben", "ada", "ada"]


def test_places_without_a_job_are_tidied_up(house: House, clock: Clock) -> None:
    house.records.put(WAITING, "ada/000", {"job": "ada/none", "at": clock().isoformat()}, expecting=0)
    assert not Worker(house).work()
    assert len(house.records.all(WAITING)) == 1
    clock.now += timedelta(minutes=2)
    assert not Worker(house).work()
    assert house.records.all(WAITING) == []


def test_a_second_share_does_not_make_a_retry_pay_again(house: House, clock: Clock) -> None:
    job, dead = submitted(house), Worker(house, "dead")
    taken = dead.take()
    assert taken is not None
    dead._asked(taken)  # charged and kept; then it died
    Owners(house).open_share(OWNER, "visits", "ada+2", sf.Pure("0.2"), reason="more")
    clock.pass_by(minutes=2)
    Worker(house).work()
    assert now(house, job).state == "done"
    assert house.ledger["visits/ada+2"].spent == sf.Pure(0)
    first = Analysts(house).ask(ADA, "visits", asked("SELECT COUNT(*) AS n FROM visits"), key="a")
    Owners(house).open_share(OWNER, "visits", "ada+3", sf.Pure("0.1"), reason="more")
    again = Analysts(house).ask(ADA, "visits", asked("SELECT COUNT(*) AS n FROM visits"), key="a")
    assert first.receipt == again.receipt
    assert house.ledger["visits/ada+3"].spent == sf.Pure(0)


def test_a_pool_does_what_is_queued_and_stops(house: House) -> None:
    pool = Pool(house, threads=2)
    pool.start()
    jobs = [submitted(house, f"{number}", epsilon=f"0.0{number + 1}") for number in range(4)]
    pool.wake()
    waiting = threading.Event()
    for _ in range(600):
        if all(now(house, job).over for job in jobs):
            break
        waiting.wait(0.05)
    pool.stop()
    assert [now(house, job).state for job in jobs] == ["done"] * 4
    assert charges(house) == 4
    assert Auditors(house).verify(AUDITOR, "visits").sound
    assert house.records.all(WORKER) == []
