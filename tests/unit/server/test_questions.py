"""Asking: answers in every form, the same question again, keys, jobs, watching and cancelling them, lists, ETags."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.unit.server.world import BOOK, COUNT, World, register, world_in, write_visits

import sfumato as sf
from sfumato.release.codec import release_from_plain
from sfumato.remote.wire import RELEASE, explanation_from_plain, loss_from_plain
from sfumato.server.answering import FORMS, cursor_of, number_of
from sfumato.server.calling import until_class_ends
from sfumato.server.problems import Refused

PLACE = "/api/data-sets/visits"


def spent(world: World, who: str = "ada") -> sf.Loss:
    return loss_from_plain(world.call(who, "GET", f"{PLACE}/shares").json()["items"][-1]["spent"]["exact"])


def exact(world: World, who: str, said: dict[str, Any] | None = None, **more: Any) -> sf.Release:
    headers = {"accept": RELEASE, **more}
    answer = world.ask(who, said, headers=headers)
    assert answer.status_code == 200, answer.text
    return release_from_plain(answer.json())


def test_an_explanation_spends_nothing_and_is_the_one_that_a_session_gives(world: World) -> None:
    answer = world.post("ada", f"{PLACE}/explain?other_prices=true", COUNT)
    said = answer.json()
    share = world.house.data_sets.share("visits", "ada")
    there = share.explain(str(COUNT["sql"]), epsilon="0.1", max_rows=5)
    assert explanation_from_plain(said["exact"]) == there
    assert (said["fits"], said["price"]["epsilon"], said["left"]["epsilon"]) == (True, 0.1, 2.0)
    assert spent(world) == sf.Pure(0)
    assert said["other_prices"] == [list(row) for row in there.others] != []
    short = world.post("ada", f"{PLACE}/explain", COUNT).json()
    assert short["other_prices"] == short["exact"]["others"] == []
    assert {name: short[name] for name in said if name not in ("other_prices", "exact")} == {
        name: said[name] for name in said if name not in ("other_prices", "exact")
    }


def test_an_answer_is_the_release_in_the_book(world: World) -> None:
    release = exact(world, "ada")
    kept = world.house.data_sets.share("visits", "ada").releases()
    assert [one.receipt for one in kept] == [release.receipt]
    assert release.value.to_dict() == kept[0].value.to_dict()
    assert spent(world) == sf.Pure("0.1")


def test_the_same_question_again_costs_nothing(world: World) -> None:
    first, second = exact(world, "ada"), exact(world, "ada", {"sql": "select  count(*) as n\nfrom visits"})
    assert first.receipt == second.receipt
    assert spent(world) == sf.Pure("0.1")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_by_name_and_by_kind(shared: World, form: str) -> None:
    by_name = shared.ask("ada", params={"format": form})
    by_kind = shared.ask("ada", headers={"accept": f"text/nothing, {FORMS[form]};q=0.5"})
    assert by_name.status_code == by_kind.status_code == 200, by_name.text
    assert by_name.content == by_kind.content
    assert by_name.headers["content-type"].partition(";")[0] == FORMS[form]
    number = by_name.headers["x-sfumato-answer"]
    again = shared.call("ada", "GET", f"{PLACE}/answers/{number}", params={"format": form})
    assert again.content == by_name.content
    if form == "parquet":
        assert pq.read_table(io.BytesIO(again.content)).column_names == ["n", "n_low", "n_high"]


def test_a_form_that_there_is_not(shared: World) -> None:
    for more in ({"params": {"format": "pickle"}}, {"headers": {"accept": "application/x-pickle"}}):
        before = spent(shared, "ben")
        assert shared.ask("ben", {"epsilon": "0.01"}, **more).status_code == 406
        assert spent(shared, "ben") == before, "a form that there is not was found out after paying"


def test_a_key_makes_a_retry_safe(world: World) -> None:
    keyed = {"idempotency-key": "tuesday-1"}
    grouped = {"sql": "SELECT site, COUNT(*) AS n FROM visits GROUP BY site", "epsilon": "0.3"}
    first = exact(world, "ada", grouped, **keyed)
    again = exact(world, "ada", grouped, **keyed)
    assert first.receipt == again.receipt
    assert spent(world) == sf.Pure("0.3")
    other = world.ask("ada", headers=keyed)
    assert other.status_code in (409, 422), "a key of one question answers another"
    for key in ("a b", "x" * 201, "ü"):
        assert world.ask("ada", headers={"idempotency-key": key.encode()}).status_code == 422


def test_what_does_not_fit_is_refused_and_not_charged(world: World) -> None:
    answer = world.ask("ada", {"epsilon": "3"})
    problem = answer.json()
    assert (answer.status_code, problem["type"], problem["error"]) == (409, "urn:sfumato:limit-reached", "LimitReached")
    assert problem["facts"]["account"] == "visits/ada"
    assert loss_from_plain(problem["facts"]["left"]["loss"]) == sf.Pure(2)
    assert spent(world) == sf.Pure(0)


def test_who_has_no_share_is_told_to_request_one(world: World) -> None:
    answer = world.ask("ben")
    assert answer.status_code == 403
    assert "request one" in answer.json()["detail"]


def test_a_job_is_queued_done_and_answered(world: World) -> None:
    headers = {"prefer": "respond-async", "idempotency-key": "nightly"}
    queued = world.ask("ada", headers=headers)
    assert (queued.status_code, queued.json()["state"]) == (202, "queued")
    place = queued.headers["location"]
    assert world.ask("ada", headers=headers).json()["id"] == queued.json()["id"]
    assert world.call("ben", "GET", place).status_code == 403
    assert world.running.keeping.workers.worker.work()
    done = world.call("ada", "GET", place).json()
    assert (done["state"], done["over"], done["charged"]) == ("done", True, True)
    assert not {"started", "ended"} & done.keys(), "a job tells how long its question took"
    assert world.call("ada", "GET", done["answer"], headers={"accept": RELEASE}).status_code == 200
    assert [job["id"] for job in world.call("ada", "GET", f"{PLACE}/jobs").json()["items"]] == [done["id"]]
    assert spent(world) == sf.Pure("0.1")


def test_a_job_runs_until_its_time_class_ends(tmp_path: Path) -> None:
    with world_in(tmp_path, time_classes=(3600.0,)) as world:
        register(world)
        world.grant("ada")
        place = world.ask("ada", headers={"prefer": "respond-async"}).headers["location"]
        assert world.running.keeping.workers.worker.work()
        for told in (
            world.call("ada", "GET", place).json(),
            world.call("ada", "GET", f"{PLACE}/jobs").json()["items"][0],
        ):
            assert (told["state"], told["over"], told["answer"], told["charged"]) == ("running", False, None, False)


def test_a_job_that_is_cancelled_costs_nothing(world: World) -> None:
    queued = world.ask("ada", headers={"prefer": "wait=5, respond-async"}).headers["location"]
    assert world.call("ada", "DELETE", queued).json()["state"] == "cancelled"
    assert not world.running.keeping.workers.worker.work()
    assert spent(world) == sf.Pure(0)


def test_a_job_is_watched_until_it_is_over(world: World) -> None:
    place = world.ask("ada", headers={"prefer": "respond-async"}).headers["location"]
    worker = world.running.keeping.workers.worker
    world.loop.call_soon_threadsafe(
        world.loop.call_later, 0.1, lambda: world.running.quick._threads.submit(worker.work)
    )
    stream = world.call("ada", "GET", f"{place}/events")
    assert stream.headers["content-type"].startswith("text/event-stream")
    events = [block.splitlines() for block in stream.text.strip().split("\n\n") if not block.startswith(":")]
    names = [lines[1].removeprefix("event: ") for lines in events]
    assert (names[0], names[-1]) == ("queued", "done")
    assert json.loads(events[-1][2].removeprefix("data: "))["over"] is True


def test_lists_go_on_where_they_stopped(world: World) -> None:
    for number in range(5):
        exact(world, "ada", {"epsilon": f"0.0{number + 1}"})
    seen: list[int] = []
    cursor: str | None = ""
    while cursor is not None:
        page = world.call("ada", "GET", f"{PLACE}/answers", params={"many": 2, "cursor": cursor}).json()
        assert len(page["items"]) <= 2
        seen += [line["number"] for line in page["items"]]
        cursor = page["next"]
    assert seen == sorted(set(seen))
    assert len(seen) == 5
    whole = world.call("cora", "GET", f"{PLACE}/answers", params={"of": "all"}).json()
    assert [line["number"] for line in whole["items"]] == seen


def test_cursors_are_those_that_were_given() -> None:
    assert number_of(cursor_of(12_345)) == 12_345
    assert number_of(None) == number_of("") == 0
    for word in ("12345", "YWZ0ZXI6LTE", "YWZ0ZXI6", "%%", "é", "A" * 41, "YWZ0ZXI64pGg"):
        with pytest.raises(Refused) as refusal:
            number_of(word)
        assert refusal.value.problem.status == 400


def test_what_has_not_changed_is_not_sent_again(world: World) -> None:
    exact(world, "ada")
    number = world.call("ada", "GET", f"{PLACE}/answers").json()["items"][0]["number"]
    for path in (f"{PLACE}/codebook", "/api/data-sets", PLACE, f"{PLACE}/answers/{number}", f"{PLACE}/releases"):
        first = world.call("ada", "GET", path)
        tag = first.headers["etag"]
        for seen in (tag, f'"other", W/{tag}', "*"):
            again = world.call("ada", "GET", path, headers={"if-none-match": seen})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert world.call("ada", "GET", path, headers={"if-none-match": '"other"'}).status_code == 200


def registering(world: World, **said: Any) -> dict[str, Any]:
    return {"source": str(world.folder / "visits.parquet"), "codebook": BOOK, "limit": {"epsilon": 10}, **said}


def test_a_registration_changes_for_those_alone_who_have_seen_it(world: World) -> None:
    new = registering(world, version="2")
    assert world.call("cora", "PUT", PLACE, json=new).status_code == 428
    assert world.call("cora", "PUT", PLACE, json=new, headers={"if-match": '"other"'}).status_code == 412
    tag = world.call("cora", "GET", f"{PLACE}/registration").headers["etag"]
    made = world.call("cora", "PUT", PLACE, json=new, headers={"if-match": tag})
    assert (made.status_code, made.json()["version"]) == (200, "2")
    assert made.headers["etag"] != tag
    assert world.call("cora", "PUT", PLACE, json=new).status_code == 200, "the same again changes nothing"


def test_data_from_elsewhere_is_not_registered(world: World) -> None:
    for source in ("/etc/passwd", str(world.folder / ".." / "other.parquet"), "http://evil.example/a.parquet"):
        answer = world.call("cora", "PUT", "/api/data-sets/more", json=registering(world, source=source))
        assert answer.status_code == 422, answer.text
    assert "more" not in world.house.data_sets


def test_publishing_shows_an_answer_to_all(world: World) -> None:
    exact(world, "ada")
    number = world.call("ada", "GET", f"{PLACE}/answers").json()["items"][0]["number"]
    missing = world.call("cora", "GET", f"{PLACE}/answers/{number}/missing").json()["missing"]
    made = world.call("cora", "PUT", f"{PLACE}/releases/{number}", json={"title": "Visits"})
    assert made.status_code == (422 if missing else 200), made.text
    seen = world.call("amir", "GET", f"{PLACE}/releases/{number}")
    assert seen.status_code == (403 if missing else 200)


def test_the_book_verifies_and_holds_no_answers(world: World) -> None:
    release = exact(world, "ada", {"sql": "SELECT AVG(minutes) AS m FROM visits", "epsilon": "0.5"})
    lines = world.call("amir", "GET", f"{PLACE}/book/export").text.splitlines()
    assert all(json.loads(line).get("value") is None for line in lines)
    assert str(release.value.to_dict()["m"][0]) not in "".join(lines)
    head = world.call("amir", "GET", f"{PLACE}/book/head").json()
    receipt = {"entry": head["entry"], "digest": head["digest"], "account": head["account"], "time": head["time"]}
    sound = world.post("amir", f"{PLACE}/book/verify", {"receipts": [receipt]}).json()
    assert sound["sound"]
    forged = world.post("amir", f"{PLACE}/book/verify", {"receipts": [receipt | {"digest": "0" * 64}]}).json()
    assert not forged["sound"]


def test_answers_leave_at_the_end_of_a_time_class() -> None:
    classes = (0.5, 1.0, 4.0)
    assert [until_class_ends(seconds, classes) + seconds for seconds in (0, 0.25, 0.5, 0.75, 3, 5, 9)] == [
        *(0.5, 0.5, 0.5, 1.0, 4.0, 8.0, 12.0)
    ]


def test_two_data_sets_have_two_limits(world: World) -> None:
    write_visits(world.folder / "more.parquet", rows=300)
    register(world, "more", limit=sf.Pure(1), file="more.parquet")
    world.grant("ada", "more", "1")
    assert world.post("ada", "/api/data-sets/more/ask", COUNT | {"epsilon": 1}).status_code == 200
    assert world.post("ada", "/api/data-sets/more/ask", COUNT | {"epsilon": "0.5"}).status_code == 409
    assert spent(world) == sf.Pure(0)
