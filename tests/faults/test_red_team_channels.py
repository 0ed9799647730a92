"""What a live service tells beside its answers: errors, refusals, keys, ETags, jobs, sizes, times of jobs, the book.

Each is looked at beside its like on a neighbouring data set, from which one odd person is missing: whatever differs
would tell the two apart without any loss. Each comparison is also made against a double that does differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.faults.red_team import MARKER, ODD, WITH, WITHOUT, Target, name_of, patched, target_in

import sfumato as sf
from sfumato.errors import LimitReached, RunFailed
from sfumato.ledger import settling
from sfumato.ledger.entry import canonical, digest_of
from sfumato.release.codec import release_from_plain, release_to_plain
from sfumato.remote.wire import RELEASE
from sfumato.server import answering
from sfumato.server.routes import jobs as jobs_routes
from sfumato.service import analysts
from sfumato.service.answers import rendered_answer
from sfumato.service.jobs import JOB

ONE = f"minutes = {ODD}"
"""Holds for the target alone."""

ANSWERED = (
    f"SELECT SUM(CASE WHEN {ONE} AND 1 / (minutes - {ODD}) > 0 THEN 1 ELSE 0 END) AS s FROM visits",
    f"SELECT SUM(LEAST(GREATEST(CASE WHEN {ONE} THEN minutes * 1e300 * 1e300 ELSE 0 END, 0), 60)) AS s FROM visits",
    f"SELECT COUNT(*) AS n FROM visits WHERE {ONE} AND 9223372036854775807 + answer > 0",
    "SELECT COUNT(*) AS n FROM visits WHERE CAST(note AS INTEGER) > 0",
    "SELECT COUNT(*) AS n FROM visits WHERE CAST(note AS DATE) > DATE '2026-01-01'",
    f"SELECT COUNT(*) AS n FROM visits WHERE {ONE} AND LN(minutes - {ODD}) > 0",
    f"SELECT COUNT(*) AS n FROM visits WHERE {ONE} AND EXP(minutes * 100) > 1",
    "SELECT COUNT(*) AS n FROM visits WHERE 1 / (minutes - 59.75) > 0",
    "SELECT COUNT(*) AS n FROM visits WHERE 1 % CAST(minutes - 59.75 AS INTEGER) = 0",
    f"SELECT COUNT(*) AS n FROM visits WHERE {ONE} AND note LIKE '{'%a' * 60}%b'",
    f"SELECT COUNT(*) AS n FROM visits WHERE {ONE} AND note || note || note > 'b'",
    f"SELECT AVG(minutes) AS m FROM visits WHERE {ONE}",
)
"""Questions that would break, or last, where the target is, were they computed as they are written."""

REFUSED = (
    f"SELECT SUM(CASE WHEN {ONE} THEN 1 / (minutes - {ODD}) ELSE 0 END) AS s FROM visits",
    f"SELECT SUM(CASE WHEN {ONE} THEN CAST(note AS INTEGER) ELSE 0 END) AS s FROM visits",
    f"SELECT COUNT(*) AS n FROM visits WHERE {ONE} AND SQRT(minutes - 60) > 0",
    f"SELECT COUNT(*) AS n FROM visits WHERE REGEXP_LIKE(note, '{'(a*)*' * 8}b$')",
    f"SELECT COUNT(*) AS n FROM visits WHERE {ONE} AND LENGTH(REPEAT(note, 1000000000)) > 1",
    f"SELECT COUNT(*) AS n FROM visits WHERE {ONE} AND LENGTH(LPAD(note, 2000000000, 'x')) > 1",
    "SELECT note, COUNT(*) AS n FROM visits GROUP BY note",
    f"SELECT error(note) FROM visits WHERE {ONE}",
    f"SELECT COUNT(*) AS n FROM visits WHERE (SELECT note FROM visits WHERE {ONE}) = 'x'",
)
"""Such as are refused, from what is public alone."""

OWN = ("date", "x-request-id", "content-length", "etag", "x-sfumato-answer")


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with target_in(tmp_path_factory.mktemp("channels")) as made:
        yield made


def asked(target: Target, who: str, there: bool, question: str, **headers: str) -> Any:
    body = json.dumps({"sql": question, "epsilon": "0.5", "max_rows": 1, "max_groups": 2})
    path = f"/api/data-sets/{name_of('visits', there)}/ask"
    return target.sent(who, "POST", path, body, content_type="application/json", **headers)


def surface(answer: Any) -> tuple[Any, ...]:
    """What an answer shows beside its noisy numbers, and beside what names the request and the data set."""
    text = answer.octets.decode()
    assert MARKER not in text
    headers = {name.lower(): value for name, value in answer.getheaders() if name.lower() not in OWN}
    if answer.status == 200:
        said = json.loads(text)
        text = json.dumps({name: said[name] for name in ("mechanism", "loss", "unit", "asked")}) + str(sorted(said))
    text = re.sub(r"visits-with(out)?|urn:request:[0-9a-f-]+|\bt\d+\b|entry \d+", "…", text)
    return answer.status, text, tuple(sorted(headers.items()))


def surfaces(target: Target, question: str) -> list[tuple[Any, ...]]:
    """What the same question shows of either neighbour, asked by somebody new."""
    found = []
    for there in (WITH, WITHOUT):
        found.append(surface(asked(target, target.analyst((name_of("visits", there), 1)), there, question)))
    return found


@pytest.mark.parametrize("question", ANSWERED + REFUSED, ids=range(len(ANSWERED + REFUSED)))
def test_nothing_breaks_where_somebody_is(target: Target, question: str) -> None:
    seen = surfaces(target, question)
    assert seen[0] == seen[1]
    assert seen[0][0] == (200 if question in ANSWERED else 422), seen[0]


def breaking(patch: pytest.MonkeyPatch) -> None:
    """The service breaks off where the target is, as one does whose engine divides by 0."""
    paid = analysts.paid_from

    def broken(share: Any, question: Any, *words: Any, **said: Any) -> sf.Release:
        release = paid(share, question, *words, **said)
        if share.dataset.name == name_of("visits", WITH) and ONE in question.text:
            raise RunFailed("a count")
        return release

    patch.setattr(analysts, "paid_from", broken)


def test_a_service_that_breaks_where_somebody_is_would_be_seen(target: Target) -> None:
    with patched(breaking):
        seen = surfaces(target, ANSWERED[6])
    assert seen[0] != seen[1]


def test_refusals_and_what_is_left_depend_on_what_was_asked_alone(target: Target) -> None:
    """The same questions on either neighbour use the share up at the same one, in the same words."""

    def story() -> list[list[tuple[Any, ...]]]:
        told = []
        for there in (WITH, WITHOUT):
            data_set = name_of("visits", there)
            name = target.analyst((data_set, "1.2"))
            lines = []
            for number in range(4):
                answer = asked(
                    target, name, there, f"SELECT COUNT(*) AS n FROM visits WHERE {ONE} OR minutes < {number}"
                )
                lines.append(surface(answer))
                shares = target.sent(name, "GET", f"/api/data-sets/{data_set}/shares").octets
                body = json.dumps(
                    {"sql": f"SELECT COUNT(*) AS n FROM visits WHERE {ONE}", "epsilon": "0.5", "max_rows": 1}
                )
                place = f"/api/data-sets/{data_set}/explain"
                explained = target.sent(name, "POST", place, body, content_type="application/json")
                lines += [(_plain(shares),), (explained.status, _plain(explained.octets))]
            told.append(lines)
        return told

    with_target, without = story()
    assert with_target == without
    assert [line[0] for line in with_target[::3]] == [200, 200, 409, 409]
    with patched(leftover):
        with_target, without = story()
    assert with_target != without


def _plain(octets: bytes) -> str:
    return re.sub(r"visits-with(out)?|urn:request:[0-9a-f-]+|\bt\d+\b", "…", octets.decode())


def leftover(patch: pytest.MonkeyPatch) -> None:
    """What is left of a limit is told with how much of the data a question met."""
    paid = analysts.paid_from

    def telling(share: Any, question: Any, *words: Any, **said: Any) -> sf.Release:
        try:
            return paid(share, question, *words, **said)
        except LimitReached as refusal:
            if share.dataset.name == name_of("visits", WITH):
                raise LimitReached(refusal.account, "this", None, None, "it meets one more") from None
            raise

    patch.setattr(analysts, "paid_from", telling)


def test_that_something_was_asked_before_tells_nothing_of_data(target: Target) -> None:
    """`known` says that somebody asked; never of whom, and to nobody without a share."""
    for there in (WITH, WITHOUT):
        data_set = name_of("visits", there)
        ada, ben, eve = target.analyst((data_set, 1)), target.analyst((data_set, 1)), target.analyst()
        question = f"SELECT COUNT(*) AS n FROM visits WHERE {ONE} AND minutes < 3000.{next(target.numbers):06d}"
        known = []
        for before in (True, False):
            for name in (ada, ben, eve):
                body = json.dumps({"sql": question, "epsilon": "0.5", "max_rows": 1, "max_groups": 2})
                place = f"/api/data-sets/{data_set}/explain"
                answer = target.sent(name, "POST", place, body, content_type="application/json")
                known.append(json.loads(answer.octets)["known"])
            if before:
                assert asked(target, ada, there, question).status == 200
        assert known == [False, False, False, True, True, False]


def test_sizes_follow_from_what_was_released(target: Target) -> None:
    """Every form of an answer is made of its release alone: whoever sees sizes sees nothing that was not paid for."""
    data_set = name_of("visits", WITH)
    name = target.analyst((data_set, 1))
    question = f"SELECT COUNT(*) AS n FROM visits WHERE minutes < 40.{next(target.numbers):06d}"
    release = release_from_plain(json.loads(asked(target, name, WITH, question, accept=RELEASE).octets))

    def differing() -> list[str]:
        found = []
        for form in ("json", "csv", "html", "latex", "markdown", "text", "parquet"):
            number = release.receipt.entry
            answer = target.sent(name, "GET", f"/api/data-sets/{data_set}/answers/{number}?format={form}")
            assert answer.status == 200
            found += [] if answer.octets == rendered_answer(release, number, form).content else [form]
        return found

    assert differing() == []
    with patched(lambda patch: patch.setattr(answering, "rendered_answer", padded)):
        assert differing()


def padded(release: sf.Release, number: int, form: str) -> Any:
    made = rendered_answer(release, number, form)
    return replace(made, content=made.content + b" " * 65)


# Keys of others, ETags


def test_a_key_of_somebody_else_opens_nothing(target: Target) -> None:
    data_set, key = name_of("visits", WITH), f"monday-{next(target.numbers)}"
    ada, ben = target.analyst((data_set, 1)), target.analyst((data_set, 1))
    question = f"SELECT COUNT(*) AS n FROM visits WHERE minutes < 41.{next(target.numbers):06d}"
    first = asked(target, ada, WITH, question, idempotency_key=key)
    other = asked(target, ben, WITH, "SELECT COUNT(*) AS n FROM visits WHERE minutes < 3.25", idempotency_key=key)
    assert (first.status, other.status) == (200, 200)
    assert first.getheader("x-sfumato-answer") != other.getheader("x-sfumato-answer")
    assert target.spent(f"{data_set}/{ben}") == sf.Pure("0.5"), "a key of another has paid"
    again = asked(target, ada, WITH, question, idempotency_key=key)
    assert again.octets == first.octets
    crossed = asked(target, ada, WITH, "SELECT COUNT(*) AS n FROM visits WHERE minutes < 3.75", idempotency_key=key)
    neighbour = target.analyst((name_of("visits", WITHOUT), 1))
    asked(target, neighbour, WITHOUT, question, idempotency_key=key)
    apart = asked(
        target, neighbour, WITHOUT, "SELECT COUNT(*) AS n FROM visits WHERE minutes < 3.75", idempotency_key=key
    )
    assert surface(crossed) == surface(apart), "what a repeated key is told depends on data"
    assert crossed.status in (409, 422)


def test_tags_confirm_no_guess_to_whoever_may_not_look(target: Target) -> None:
    data_set = name_of("visits", WITH)
    ada, ben = target.analyst((data_set, 1)), target.analyst((data_set, 1))
    question = f"SELECT COUNT(*) AS n FROM visits WHERE minutes < 43.{next(target.numbers):06d}"
    number = asked(target, ada, WITH, question).getheader("x-sfumato-answer")
    place = f"/api/data-sets/{data_set}/answers/{number}"
    seen = target.sent(ada, "GET", place)
    tag = str(seen.getheader("etag"))
    assert target.sent(ada, "GET", place, if_none_match=tag).status == 304
    told = []
    for guess in (tag, '"0"', "*"):
        for path in (place, place.replace("answers", "releases"), f"/api/data-sets/{data_set}/answers/999999"):
            answer = target.sent(ben, "GET", path, if_none_match=guess)
            told.append((answer.status, json.loads(answer.octets)["detail"], answer.getheader("etag")))
    assert len(set(told)) == 1
    assert told[0][0] == 403


# Jobs


def queued(target: Target, name: str, there: bool, question: str, key: str) -> dict[str, Any]:
    answer = asked(target, name, there, question, prefer="respond-async", idempotency_key=key)
    assert answer.status == 202
    made: dict[str, Any] = json.loads(answer.octets)
    return made


def test_jobs_of_others_are_as_if_they_were_not(target: Target) -> None:
    data_set = name_of("visits", WITH)
    ada, ben = target.analyst((data_set, 1)), target.analyst((data_set, 1))
    job = queued(target, ada, WITH, "SELECT COUNT(*) AS n FROM visits WHERE minutes < 4.75", "mine")["id"]
    for path, method in (("", "GET"), ("", "DELETE"), ("/events", "GET")):
        told = []
        for name in (job, "0" * len(job)):
            answer = target.sent(ben, method, f"/api/data-sets/{data_set}/jobs/{name}{path}")
            told.append((answer.status, json.loads(answer.octets)["detail"]))
        assert told[0] == told[1]
        assert told[0][0] == 403
    assert json.loads(target.sent(ben, "GET", f"/api/data-sets/{data_set}/jobs").octets)["items"] == []
    assert queued(target, ben, WITH, "SELECT COUNT(*) AS n FROM visits WHERE minutes < 5.75", "mine")["id"] != job


def watched(target: Target, *, ended: bool, cancelled: bool, key: str) -> list[Any]:
    """What somebody sees of a job of theirs before its time class ends: while it runs, or once it has ended."""
    data_set = name_of("visits", WITH)
    name = target.analyst((data_set, 1))
    question = f"SELECT COUNT(*) AS n FROM visits WHERE minutes < 44.{next(target.numbers):06d}"
    job = queued(target, name, WITH, question, key)["id"]
    worker, place = target.world.running.keeping.workers.worker, f"/api/data-sets/{data_set}/jobs/{job}"
    taken = worker.take()
    assert taken is not None
    if not ended:
        worker._note_share(taken, name)  # what it does before it looks at data
    else:
        worker.perform(taken)
        assert target.world.house.records.need(JOB, f"{name}/{job}").said["state"] == "done"
    seen = [json.loads(target.sent(name, "DELETE" if cancelled else "GET", place).octets) for _ in range(2)]
    seen += [json.loads(target.sent(name, "GET", place).octets)]
    if not ended:
        worker.perform(target.world.house.records.need(JOB, f"{name}/{job}"))
    return [{said: what for said, what in one.items() if said not in ("id", "person", "submitted")} for one in seen]


@pytest.fixture(scope="module")
def coarse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A service with one time class, of an hour."""
    with target_in(tmp_path_factory.mktemp("coarse"), time_classes=(3600.0,)) as made:
        yield made


@pytest.mark.parametrize("cancelled", [False, True])
def test_until_its_time_class_ends_a_job_runs(coarse: Target, cancelled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a look nor an attempt to cancel tells when a job has ended: not by its state, nor by its version."""
    before, after = (watched(coarse, ended=ended, cancelled=cancelled, key="k") for ended in (False, True))
    assert before == after
    assert before[0]["state"] == "running"
    monkeypatch.setattr(jobs_routes, "hidden", lambda job, call: False)
    assert watched(coarse, ended=True, cancelled=cancelled, key="l") != before


# Schedules, webhooks, the book


def test_analysts_have_nothing_told_to_the_outside(target: Target) -> None:
    data_set = name_of("visits", WITH)
    name = target.analyst((data_set, 1))
    hook = json.dumps({"address": "https://evil.example/x", "events": ["limit low"]})
    place = f"/api/data-sets/{data_set}"
    assert target.sent(name, "PUT", f"{place}/webhooks/mine", hook, content_type="application/json").status == 403
    assert target.sent("cora", "PUT", f"{place}/webhooks/mine", hook, content_type="application/json").status == 422
    question = {"sql": "SELECT COUNT(*) AS n FROM visits"}
    for said, status in ((question, 422), ({**question, "epsilon": "0.1", "max_rows": 1}, 201)):
        body = json.dumps({"question": said, "every": "day"})
        answer = target.sent(name, "PUT", f"{place}/schedules/daily", body, content_type="application/json")
        assert answer.status == status
    for _ in range(2):
        assert target.spent(f"{data_set}/{name}") == sf.Pure(0), "a schedule has asked before its time, or unpaid"


def exported(target: Target, data_set: str) -> list[dict[str, Any]]:
    amir = target.sent("amir", "GET", f"/api/data-sets/{data_set}/book/export")
    assert amir.status == 200
    assert MARKER.encode() not in amir.octets
    return [json.loads(line) for line in amir.octets.splitlines()]


def guess_is_confirmed(target: Target) -> bool:
    """An auditor who guesses an answer exactly compares it with each digest of an export."""
    data_set = name_of("visits", WITH)
    name = target.analyst((data_set, 1))
    question = f"SELECT COUNT(*) AS n FROM visits WHERE minutes < 45.{next(target.numbers):06d}"
    answer = asked(target, name, WITH, question, accept=RELEASE)
    guess = digest_of(canonical(json.loads(answer.octets)))
    lines = exported(target, data_set)
    entries = [line["entry"] for line in lines if line.get("entry", {}).get("kind") == "released"]
    assert entries
    assert all(line["value"] is None for line in lines if "value" in line)
    digests = {line["digest"] for line in lines}
    rebuilt = {digest_of(canonical({**one, "body": {**one["body"], "value": guess}})) for one in entries}
    return any(guess in json.dumps(one) for one in entries) or bool(digests & rebuilt)


def test_an_auditor_confirms_no_guess(target: Target) -> None:
    assert not guess_is_confirmed(target)
    with patched(lambda patch: patch.setattr(settling, "kept_text", lambda one, _: canonical(release_to_plain(one)))):
        assert guess_is_confirmed(target)


def test_auditors_and_strangers_see_no_answers(target: Target) -> None:
    data_set = name_of("visits", WITH)
    name = target.analyst((data_set, 1))
    number = asked(target, name, WITH, "SELECT COUNT(*) AS n FROM visits WHERE minutes < 6.75").getheader(
        "x-sfumato-answer"
    )
    for who in ("amir", "olga", "root", target.analyst()):
        for path in (f"answers/{number}", f"answers/{number}?of=all", f"releases/{number}", "answers?of=all"):
            assert target.sent(who, "GET", f"/api/data-sets/{data_set}/{path}").status == 403, (who, path)
    pages = target.sent("amir", "GET", f"/api/data-sets/{data_set}/book?many=200")
    said = json.loads(pages.octets)["items"]
    assert said
    assert not any({"value", "states"} & set(line["said"]) for line in said)
