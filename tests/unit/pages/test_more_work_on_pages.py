"""More work without any script: one's account, webhooks, policies, registries, asking again, watching the service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import quote

import pytest
from tests.unit.pages.site import Site, site_in
from tests.unit.pages.world import PASSWORD, ROLES, VISITS

from sfumato.service.people import LINK, TOKEN, VISIT
from sfumato.service.rights import Grant

OWN = f"/data/{VISITS}"
OTHER = "another sentence that is easy to keep"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A world of this module's own, for what would be in the way of tests elsewhere."""
    with site_in(tmp_path_factory.mktemp("more")) as site:
        yield site


@pytest.fixture
def fresh(made: Site) -> Site:
    """That world, with everybody signed in anew, whatever an earlier test has ended."""
    made.visits.update({who: made.world.house.people.issue(VISIT, who).text for who in ROLES})
    return made


def test_a_password_is_changed_by_who_knows_it_and_all_other_visits_end(fresh: Site) -> None:
    people = fresh.world.house.people
    elsewhere, link = people.issue(VISIT, "ada").text, people.issue(LINK, "ada").text
    token = people.issue(TOKEN, "ada").text
    change = {"old": PASSWORD, "password": OTHER, "again": OTHER}
    for wrong, words in (
        ({**change, "old": "a guess"}, "This is not your password."),
        ({**change, "password": "short", "again": "short"}, "It must be of 12 to 200 letters."),
        ({**change, "again": "something else"}, "The two passwords differ."),
    ):
        page = fresh.post("ada", "/account/password", wrong)
        assert page.status_code == 422 and words in page.text
        assert OTHER not in page.text
    led = fresh.post("ada", "/account/password", change)
    assert led.status_code == 303 and led.headers["set-cookie"].startswith("sfumato=sfumato_")
    fresh.visits["ada"] = re.match(r"sfumato=([^;]*)", led.headers["set-cookie"])[1]
    assert fresh.get("ada", "/account").text.count("this one") == 1
    for ended, kind in ((elsewhere, VISIT), (link, LINK)):
        with pytest.raises(Exception, match="let in"):
            people.known_by(kind, ended)
    assert people.known_by(TOKEN, token).name == "ada"
    assert fresh.post(None, "/sign-in", {"name": "ada", "password": PASSWORD}, token=None).status_code == 401
    assert fresh.post(None, "/sign-in", {"name": "ada", "password": OTHER}, token=None).status_code == 303


def test_a_password_is_not_guessed_from_a_visit_that_was_left_open(fresh: Site) -> None:
    guess = {"old": "a guess", "password": OTHER, "again": OTHER}
    told = [fresh.post("olga", "/account/password", guess).status_code for _ in range(8)]
    assert told[0] == 422 and told[-1] == 429
    assert fresh.post("olga", "/account/password", {**guess, "old": PASSWORD}).status_code == 429


def test_visits_are_ended_one_by_one_and_all_at_once(fresh: Site) -> None:
    people = fresh.world.house.people
    mine, others = people.issue(VISIT, "ada"), people.issue(VISIT, "cora")
    page = fresh.get("ada", "/account").text
    assert mine.place in page and others.place not in page
    fresh.post("ada", "/account/visits/end", {"place": others.place})
    assert people.known_by(VISIT, others.text).name == "cora"
    assert fresh.post("ada", "/account/visits/end", {"place": mine.place}).status_code == 303
    assert mine.place not in fresh.get("ada", "/account").text
    led = fresh.post("ada", "/account/sign-out", {"a": "b"})
    assert led.headers["location"] == "/sign-in" and 'sfumato=""' in led.headers["set-cookie"]
    assert fresh.get("ada", "/account").headers["location"].startswith("/sign-in")
    assert fresh.get("cora", "/account").status_code == 200


def test_whoever_comes_in_through_a_proxy_has_no_password_to_change(fresh: Site) -> None:
    house = fresh.world.house
    house.people.add("prue", [Grant("analyst", VISITS)])
    fresh.visits["prue"] = house.people.issue(VISIT, "prue").text
    page = fresh.get("prue", "/account").text
    assert "the sign-in of your organisation" in page and 'name="old"' not in page
    change = {"old": "", "password": OTHER, "again": OTHER}
    assert fresh.post("prue", "/account/password", change).status_code == 422


def test_webhooks_are_added_tested_and_removed(fresh: Site) -> None:
    place = f"{OWN}/webhooks"
    fields = {"name": "ward", "address": "https://hooks.example/ward", "event-0": "yes", "event-3": "yes"}
    shown = fresh.post("cora", place, fields)
    secret = re.search(r'id="secret">([0-9a-f]{64})<', shown.text)
    assert shown.status_code == 200 and secret is not None
    again = fresh.get("olga", place).text
    assert secret[1] not in again and "https://hooks.example/ward" in again
    assert "Told when a share is granted; a release is published." in again
    for wrong, field in (
        ({**fields, "name": "Not A Name"}, "name"),
        ({**fields, "name": "ward"}, "name"),
        ({**fields, "name": "b", "address": "https://elsewhere.example/"}, "address"),
        ({**fields, "name": "b", "address": "http://hooks.example/"}, "address"),
    ):
        page = fresh.post("cora", place, wrong)
        assert page.status_code == 422 and re.search(rf'name="{field}"[^>]*aria-invalid="true"', page.text), wrong
    assert (
        "Choose at least one" in fresh.post("cora", place, {**fields, "name": "b", "event-0": "", "event-3": ""}).text
    )
    assert fresh.post("olga", f"{place}/test", {"name": "ward"}).status_code == 303
    assert "1 message waits" in fresh.get("olga", place).text
    assert fresh.post("olga", f"{place}/test", {"name": "ward"}).status_code == 422  # one at a time
    assert fresh.post("olga", f"{place}/test", {"name": "../hostile/chat"}).status_code == 422
    assert fresh.post("olga", f"{place}/remove", {"name": "ward"}).status_code == 303
    assert "https://hooks.example/ward" not in fresh.get("olga", place).text
    assert "arrived" in fresh.get("olga", place).text  # what became of the test of the other one


def test_an_amount_is_divided_after_it_was_shown(fresh: Site) -> None:
    place = f"{OWN}/limits/divide"
    fields = {"epsilon": "0.3", "delta": "", "names": "gina: 1\nhans: 2", "how": "equally", "do": "propose"}
    accounts = set(fresh.world.house.ledger.accounts)
    shown = fresh.post("olga", place, fields)
    assert shown.status_code == 200 and "ε = 0.1, δ = 0" in shown.text and "ε = 0.2, δ = 0" in shown.text
    assert "ε = 0.2, δ = 0" in fresh.post("olga", place, {**fields, "names": "gina\nhans", "how": "rank"}).text
    for wrong in (
        {"names": ""},
        {"names": "gina: x"},
        {"names": "gina: 1\ngina: 2"},
        {"epsilon": ""},
        {"epsilon": "x"},
    ):
        assert fresh.post("olga", place, {**fields, **wrong}).status_code == 422, wrong
    assert fresh.post("olga", place, {**fields, "do": "open", "reason": ""}).status_code == 422
    assert fresh.post("cora", place, {**fields, "do": "open", "reason": "r"}).status_code == 403
    assert set(fresh.world.house.ledger.accounts) == accounts
    assert fresh.post("olga", place, {**fields, "do": "open", "reason": "A pilot"}).status_code == 303
    assert set(fresh.world.house.ledger.accounts) == accounts | {"visits/gina", "visits/hans"}


def test_a_policy_is_changed_and_then_nobody_opens_a_share_alone(fresh: Site) -> None:
    opened = {"name": "cleo", "epsilon": "0.1", "delta": "", "reason": "a pilot", "period": ""}
    assert fresh.post("olga", f"{OWN}/limits/open", opened).status_code == 303
    assert "visits/cleo" in fresh.get("olga", f"{OWN}/limits").text
    for wrong, field in (("epsilon", "epsilon"), ("reason", "reason"), ("name", "name")):
        page = fresh.post("olga", f"{OWN}/limits/open", {**opened, wrong: ""})
        assert page.status_code == 422 and re.search(rf'name="{field}"[^>]*aria-invalid="true"', page.text), field
    place = f"{OWN}/requests/policy"
    assert "One person grants a share." in fresh.get("cora", f"{OWN}/requests").text
    assert fresh.post("cora", place, {"needed": "2", "reason": "r"}).status_code == 403
    for wrong in ({"needed": "0", "reason": "r"}, {"needed": "x", "reason": "r"}, {"needed": "2", "reason": ""}):
        assert fresh.post("olga", place, wrong).status_code == 422
    assert fresh.post("olga", place, {"needed": "2", "reason": "The board says so"}).status_code == 303
    for who in ("olga", "cora", "axel"):
        page = fresh.get(who, f"{OWN}/requests").text
        assert "2 people must grant a share." in page and "The board says so" in page
    assert fresh.post("olga", f"{OWN}/limits/open", {**opened, "name": "dora"}).status_code == 422
    assert "Open a share" not in fresh.get("olga", f"{OWN}/limits").text


def test_a_question_is_asked_again_or_changed_without_scripts(site: Site) -> None:
    answer = site.world.answers[VISITS]
    page = site.get("ada", f"{OWN}/answers/{answer}").text
    place = unescape(re.search(r'href="([^"]*\?again=\d+)"', page)[1])
    again = site.get("ada", place).text
    assert "SELECT day, COUNT(*) AS n FROM visits GROUP BY day" in unescape(again)
    assert 'value="0.5"' in again and "this was asked before" in again
    fields = {
        name: re.search(rf'name="{name}"[^>]* value="([^"]*)"', again)[1]
        for name in ("epsilon", "max_groups", "max_rows_per_group")
    }
    assert fields == {"epsilon": "0.5", "max_groups": "3", "max_rows_per_group": "1"}
    question = unescape(re.search(r'name="question"[^>]*>\n(.*?)</textarea>', again, re.DOTALL)[1])
    led = site.post("ada", f"{OWN}/ask", {**fields, "question": question, "do": "ask"})
    assert led.headers["location"] == f"{OWN}/answers/{answer}"
    assert site.get("olga", f"{OWN}/ask?again={answer + 2}").status_code == 403  # not hers to see, and not published
    assert site.get("ada", f"{OWN}/ask?again=999999").status_code == 403


def test_the_entry_for_a_registry_is_stated_and_taken_away(site: Site) -> None:
    place = f"{OWN}/publish/registry"
    page = site.get("cora", f"{place}?region={quote('=The town')}").text
    assert "Pure DP" in page or "Approximate DP" in page
    files = dict(re.findall(r'href="([^"]*registry/(?:csv|json)[^"]*)"[^>]*>(\w+)', page))
    assert sorted(files.values()) == ["CSV", "JSON"]
    for path in map(unescape, files):
        taken = site.get("cora", path)
        assert taken.status_code == 200 and taken.headers["content-disposition"].startswith("attachment;")
        assert "The town" in taken.text
        assert site.get("olga", path).status_code == 403
    assert "'=The town" in site.get("cora", f"{place}/csv?region={quote('=The town')}").text  # no formula
    for form in ("csv", "json", "html", "latex"):
        assert site.get("cora", f"{OWN}/publish/table/{form}").status_code == 200
    assert site.get("cora", f"{OWN}/publish/table/exe").status_code == 404
    assert site.get("axel", f"{OWN}/publish/table/csv").status_code == 403


def test_the_book_is_signed_off_and_its_receipts_verify_it(fresh: Site) -> None:
    before = fresh.world.house.ledger.head.entry
    assert fresh.post("axel", f"{OWN}/book/checkpoint", {"a": "b"}).status_code == 303
    assert fresh.world.house.ledger.head.entry == before + 1
    taken = fresh.get("axel", f"{OWN}/book/receipts")
    assert taken.status_code == 200 and len(taken.text.splitlines()) > 10
    assert "The chain holds." in fresh.post("axel", f"{OWN}/book/verify", {"receipts": taken.text}).text
    for who in ("cora", "ada", "olga", "adam"):
        assert fresh.get(who, f"{OWN}/book/receipts").status_code == 403
        assert fresh.post(who, f"{OWN}/book/checkpoint", {"a": "b"}).status_code == 403


def test_administrators_watch_sign_out_and_revoke(fresh: Site) -> None:
    house = fresh.world.house
    page = fresh.get("adam", "/state").text
    assert "checkpoints are not signed" in page and "visits/" not in page
    secret = house.people.issue(TOKEN, "ada", called="a notebook")
    assert "a notebook" in fresh.get("adam", "/people/tokens?of=ada").text
    assert fresh.post("adam", "/people/tokens/revoke", {"name": "ada", "place": secret.place}).status_code == 303
    assert "a notebook" not in fresh.get("adam", "/people/tokens?of=ada").text
    assert fresh.post("adam", "/people/sign-out", {"name": "ada"}).status_code == 303
    assert fresh.get("ada", "/").status_code == 303
    for who in ("cora", "olga", "axel"):
        assert fresh.get(who, "/people/tokens?of=adam").status_code == 403
        assert fresh.post(who, "/people/sign-out", {"name": "adam"}).status_code == 403


def test_the_hint_for_tools_that_speak_postgresql_is_for_those_who_ask(site: Site) -> None:
    assert "The password is a token" in site.get("ada", "/tokens").text
    assert "The password is a token" not in site.get("axel", "/tokens").text


def test_what_cannot_be_published_is_said_on_the_page(fresh: Site) -> None:
    number = fresh.world.answers[VISITS]
    untitled = fresh.post("cora", f"{OWN}/publish", {"number": str(number), "do": "publish", "words": ""})
    assert untitled.status_code == 422 and "a line of at most 200 letters" in untitled.text


def test_what_is_too_large_is_refused_with_a_page(site: Site) -> None:
    for path, octets in (("/theme", "2000000"), ("/upload", str(1 << 40))):
        refused = site.call("ada", "POST", path, content=b"x", headers={"content-length": octets})
        assert refused.status_code == 413 and "<main" in refused.text, path
    program = site.call("ada", "POST", "/api/sign-in", content=b"x", headers={"content-length": "2000000"})
    assert program.status_code == 413 and program.headers["content-type"] == "application/problem+json"
