"""Work on pages without any script: what each role comes for, by forms alone."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from tests.unit.pages.site import Site, site_in
from tests.unit.pages.world import BY_DAY, PASSWORD, STRANGER, VISITS

from sfumato.server.pages.views.answers import FORMS
from sfumato.service.answers import MEDIA

OWN = f"/data/{VISITS}"
COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def fresh(tmp_path: Path) -> Site:
    """A world of one's own, for what would be in other tests' way."""
    with site_in(tmp_path) as made:
        yield made


def test_a_question_is_explained_and_nothing_is_paid(site: Site) -> None:
    before = site.world.house.ledger.head.entry
    fields = {"question": COUNT, "epsilon": "0.25", "max_rows": "2", "do": "explain"}
    page = site.post("ada", f"{OWN}/ask", fields)
    part = site.post("ada", f"{OWN}/ask/explained", fields)
    for answered in (page, part):
        assert answered.status_code == 200
        assert "ε = 0.25" in answered.text
        assert "What other prices buy" in answered.text
        assert "at most 2 rows of a person" in answered.text
    assert 'value="0.25"' in page.text and "</html>" not in part.text
    assert "It costs ε = 0.25" in part.text  # what is read aloud
    assert site.world.house.ledger.head.entry == before


def test_a_question_is_paid_and_its_answer_shown_and_taken_away(site: Site) -> None:
    fields = {"question": BY_DAY, "epsilon": "0.125", "max_groups": "2", "max_rows_per_group": "1", "do": "ask"}
    led = site.post("ada", f"{OWN}/ask", fields)
    assert led.status_code == 303
    place = led.headers["location"]
    shown = site.get("ada", place)
    assert shown.status_code == 200
    assert "2026-02-14" in shown.text and "± " in shown.text and "<svg" in shown.text and "ε = 0.125" in shown.text
    assert site.post("ada", f"{OWN}/ask", fields).headers["location"] == place  # the same answer, for nothing
    assert place in site.get("ada", f"{OWN}/answers").text and place in site.get("ada", "/").text
    assert set(FORMS) == set(MEDIA)
    for form, media in MEDIA.items():
        taken = site.get("ada", f"{place}/{form}")
        assert taken.status_code == 200 and taken.headers["content-type"].startswith(media)
        assert taken.headers["content-disposition"].startswith("attachment;") and taken.content
    assert site.get("ada", f"{place}/exe").status_code == 422
    for who in ("olga", "axel", "adam", STRANGER):
        for path in (place, f"{place}/csv"):
            assert site.get(who, path).status_code == 403, who


@pytest.mark.parametrize(
    ("question", "marked"),
    [
        ("SELECT ARRAY_AGG(site) FROM visits", "ARRAY_AGG"),
        ("SELEC COUNT(*) FROM visits", "SELEC"),
        ("SELECT SUM(nothing) FROM visits", "nothing"),
        ("SELECT COUNT(*\nFROM visits", "FROM"),
    ],
)
def test_what_is_refused_is_marked_with_the_advice(site: Site, question: str, marked: str) -> None:
    for do in ("ask", "explain"):
        answered = site.post("ada", f"{OWN}/ask", {"question": question, "epsilon": "0.1", "max_rows": "2", "do": do})
        assert answered.status_code == (422 if do == "ask" else 200)
        assert f"<mark>{marked}</mark>" in answered.text
        assert question.partition("\n")[0] in answered.text.replace("<mark>", "").replace("</mark>", "")


def test_advice_names_the_fields_of_the_page(site: Site) -> None:
    part = site.post("ada", f"{OWN}/ask/explained", {"question": BY_DAY, "epsilon": "0.1"}).text
    assert 'data-fields="[&#34;max_rows_per_group&#34;]"' in part
    assert "“Rows in each group”" in part
    page = site.post("ada", f"{OWN}/ask", {"question": BY_DAY, "epsilon": "0.1", "do": "explain"}).text
    assert re.search(r'name="max_rows_per_group"[^>]*aria-invalid="true"', page)


def test_fields_that_are_filled_in_wrongly_say_so(site: Site) -> None:
    wrong = {"question": COUNT, "epsilon": "lots", "max_rows": "-1", "keys": "site", "do": "ask"}
    page = site.post("ada", f"{OWN}/ask", wrong)
    assert page.status_code == 422
    for field in ("epsilon", "max_rows", "keys"):
        assert re.search(rf'name="{field}"[^>]*aria-invalid="true"', page.text), field
    assert site.post("ada", f"{OWN}/ask", {"question": COUNT, "max_rows": "2", "do": "ask"}).status_code == 422


def test_accuracy_is_asked_for(site: Site) -> None:
    fields = {"question": COUNT, "by": "accuracy", "width": "50", "max_rows": "2", "do": "explain"}
    page = site.post("ada", f"{OWN}/ask", fields)
    assert page.status_code == 200 and "± in a group of" in page.text and 'value="accuracy" checked' in page.text


def test_more_than_is_left_is_refused_with_what_is_left(site: Site) -> None:
    fields = {"question": COUNT, "epsilon": "50", "max_rows": "2", "do": "ask"}
    page = site.post("ada", f"{OWN}/ask", fields)
    assert page.status_code == 422 and "is left" in page.text


def test_a_share_is_requested_granted_spent_and_closed(fresh: Site) -> None:
    sent = fresh.post("ada", f"{OWN}/share", {"epsilon": "0.75", "delta": "1e-8", "purpose": "A second look"})
    assert sent.status_code == 303 and "A second look" in fresh.get("ada", f"{OWN}/share").text
    queue = fresh.get("olga", f"{OWN}/requests").text
    number = re.findall(r'name="request" value="(\d+)"', queue)[-1]
    assert "A second look" in queue
    unsaid = fresh.post("olga", f"{OWN}/requests", {"request": number, "decision": "grant", "reason": " "})
    assert unsaid.status_code == 422 and "Say why" in unsaid.text
    said = {"request": number, "decision": "grant", "reason": "It fits"}
    assert fresh.post("olga", f"{OWN}/requests", said).headers["location"].endswith("done=granted")
    assert fresh.post("olga", f"{OWN}/requests", said).status_code == 422  # decided already
    limits = fresh.get("olga", f"{OWN}/limits").text
    assert "ε = 0.75" in limits and "It fits" in fresh.get("ada", f"{OWN}/share").text
    share = re.findall(r'name="share" value="([^"]*)"', limits)[-1]
    assert fresh.post("olga", f"{OWN}/limits/close", {"share": share}).status_code == 303
    assert "closed" in fresh.get("olga", f"{OWN}/limits").text
    assert fresh.get("axel", f"{OWN}/requests").status_code == 200
    assert 'name="decision"' not in fresh.get("axel", f"{OWN}/requests").text


def test_wrong_requests_say_what_is_wrong(site: Site) -> None:
    for fields, words in (
        ({"epsilon": "", "purpose": "p"}, "Say how much."),
        ({"epsilon": "1", "purpose": ""}, "Say what it is for"),
        ({"delta": "1e-9", "purpose": "p"}, "Say an ε with the δ."),
        ({"epsilon": "-1", "purpose": "p"}, "This must be"),
        ({"epsilon": "1", "rho": "1", "purpose": "p"}, "one of them"),
    ):
        page = site.post("ada", f"{OWN}/share", fields)
        assert page.status_code == 422 and words in page.text, (fields, words)


def test_a_checklist_is_begun_and_settled(fresh: Site) -> None:
    place = f"{OWN}/checklist"
    assert fresh.post("cora", f"{place}/begin", {"a": "b"}).status_code == 303
    page = fresh.get("cora", place).text
    assert "Nothing is released while these are open" in page and 'href="#item-7a"' in page
    asked = {"question": COUNT, "epsilon": "0.1", "max_rows": "2", "do": "ask"}
    blocked = fresh.post("ada", f"{OWN}/ask", asked)
    assert blocked.status_code in (409, 422) and "checklist" in blocked.text
    for item in re.findall(r'href="#item-(\w+)"', page):
        settled = fresh.post("cora", place, {"item": item, "move": "close", "words": "Settled in the meeting"})
        assert settled.status_code == 303
    assert "Nothing blocks a release." in fresh.get("cora", place).text
    assert fresh.post("ada", f"{OWN}/ask", asked).status_code == 303
    fresh.post("cora", place, {"item": "7a", "move": "reopen", "words": "Think again"})
    fresh.post("cora", place, {"item": "1a", "move": "assign", "words": "grace"})
    page = fresh.get("cora", place).text
    assert "Think again" in page and "Owner: <bdi>grace</bdi>" in page
    assert fresh.post("cora", place, {"item": "99z", "move": "close", "words": "x"}).status_code == 422
    assert fresh.post("cora", place, {"item": "7a", "move": "dance", "words": "x"}).status_code == 422


def test_an_answer_is_published_read_and_withdrawn(fresh: Site) -> None:
    places = re.findall(r'name="number" value="(\d+)"', fresh.get("cora", f"{OWN}/publish").text)
    other = next(number for number in places if int(number) != fresh.world.answers[VISITS])
    assert fresh.get("axel", f"{OWN}/answers/{other}").status_code == 403
    published = fresh.post(
        "cora", f"{OWN}/publish", {"number": other, "do": "publish", "words": "How long people stay"}
    )
    assert published.status_code == 303
    for who in ("axel", "olga", "ada"):
        assert "How long people stay" in fresh.get(who, f"{OWN}/published").text
        assert fresh.get(who, f"{OWN}/answers/{other}/csv").status_code == 200
    withdrawn = fresh.post(
        "cora", f"{OWN}/publish", {"number": other, "do": "withdraw", "words": "A better one follows"}
    )
    assert withdrawn.status_code == 303
    assert "How long people stay" not in fresh.get("axel", f"{OWN}/published").text
    assert fresh.get("axel", f"{OWN}/answers/{other}").status_code == 403
    assert fresh.post("cora", f"{OWN}/publish", {"number": "1", "do": "publish", "words": "x"}).status_code == 403


def test_the_book_is_read_verified_and_exported_without_answers(site: Site) -> None:
    page = site.get("axel", f"{OWN}/book").text
    assert "charged" in page and "ε = 0.5: SELECT day, COUNT(*) AS n" in page.replace("&nbsp;", " ")
    number = site.world.answers[VISITS]
    digest = re.search(rf"\b{number} ([0-9a-f]{{64}})", site.get("ada", f"{OWN}/answers/{number}").text)
    assert digest is not None
    sound = site.post("axel", f"{OWN}/book/verify", {"receipts": f"{number} {digest[1]}\n"})
    assert sound.status_code == 200 and "The chain holds." in sound.text
    forged = site.post("axel", f"{OWN}/book/verify", {"receipts": f"{number} {'0' * 64}"})
    assert "The book was changed or is damaged." in forged.text
    assert site.post("axel", f"{OWN}/book/verify", {"receipts": "some words"}).status_code == 422
    exported = site.get("axel", f"{OWN}/book/export")
    assert exported.status_code == 200 and '"value":null' in exported.text
    assert site.get("ada", f"{OWN}/book/export").status_code == 403


def test_somebody_is_added_comes_in_by_a_link_and_is_let_in_no_more(fresh: Site) -> None:
    page = fresh.post("adam", "/people/add", {"name": "grace", "grants": "analyst of visits\nauditor"})
    address = re.search(r"/welcome\?link=(sfumato_[\w-]+)", page.text)
    assert page.status_code == 200 and address is not None
    assert address[1] in fresh.get(None, address[0]).text
    told = {"link": address[1], "password": PASSWORD, "again": PASSWORD}
    led = fresh.post(None, "/welcome", told, token=None)
    assert led.status_code == 303 and "sfumato=" in led.headers["set-cookie"]
    assert fresh.post(None, "/welcome", told, token=None).status_code == 401
    assert fresh.post(None, "/sign-in", {"name": "grace", "password": PASSWORD}, token=None).status_code == 303
    assert fresh.post("adam", "/people/change", {"name": "grace", "grants": "curator of visits"}).status_code == 303
    assert "curator of <bdi>visits</bdi>" in fresh.get("adam", "/people").text
    assert fresh.post("adam", "/people/remove", {"name": "grace"}).status_code == 303
    assert fresh.post(None, "/sign-in", {"name": "grace", "password": PASSWORD}, token=None).status_code == 401
    for fields in ({"name": "Not A Name", "grants": ""}, {"name": "x", "grants": "king of visits"}):
        assert fresh.post("adam", "/people/add", fields).status_code in (200, 422)
        assert "x" not in [one.name for one in fresh.world.house.people]
    assert fresh.post("adam", "/people/change", {"name": "adam", "grants": ""}).status_code == 422


def test_a_wrong_password_is_told_on_the_same_page(site: Site) -> None:
    led = site.get(None, "/meaning?epsilon=0.5&delta=1e-8").headers["location"]
    shown = site.get(None, led).text
    onward = unescape(re.findall(r'name="next" value="([^"]*)"', shown)[-1])
    assert onward == "/meaning?epsilon=0.5&delta=1e-8"
    fields = {"name": "nobody-at-all", "password": "x", "next": onward}
    page = site.post(None, "/sign-in", fields, token=None)
    assert page.status_code == 401 and "do not fit together" in page.text and 'name="password"' in page.text
    assert 'value="nobody-at-all"' in page.text and 'value="/meaning?epsilon=0.5&amp;delta=1e-8"' in page.text
    astray = site.post(None, "/sign-in", {**fields, "next": "//evil.example"}, token=None)
    assert astray.status_code == 401 and "evil" not in astray.text
    right = site.post(None, "/sign-in", {"name": "ada", "password": PASSWORD, "next": onward}, token=None)
    assert right.headers["location"] == onward


def test_passwords_that_differ_use_no_link_up_without_scripts(site: Site) -> None:
    link = site.world.link("gone")
    told = {"link": link, "password": PASSWORD, "again": f"{PASSWORD}?"}
    refused = site.post(None, "/welcome", told, token=None)
    assert refused.status_code == 422 and "The two passwords differ." in refused.text
    assert site.world.house.people.choose_password(link, PASSWORD).name == "gone"


def test_tokens_are_made_shown_once_and_revoked(fresh: Site) -> None:
    made = fresh.post("ada", "/tokens", {"called": "notebook", "days": "10", "scope-EXPLAIN": "yes"})
    secret = re.search(r"sfumato_[\w-]{30,}", made.text)
    assert made.status_code == 200 and secret is not None
    again = fresh.get("ada", "/tokens").text
    assert "notebook" in again and secret[0] not in again and "have questions explained" in again
    place = re.search(r'name="place" value="([^"]*)"', again)
    assert place is not None
    fresh.post("cora", "/tokens/revoke", {"place": place[1]})
    assert "notebook" in fresh.get("ada", "/tokens").text  # nobody else's to revoke
    assert fresh.post("ada", "/tokens/revoke", {"place": place[1]}).status_code == 303
    assert "notebook" not in fresh.get("ada", "/tokens").text
    assert "sfumato_" not in fresh.post("ada", "/tokens", {"called": "x", "days": "never"}).text


def test_schedules_are_started_and_removed(fresh: Site) -> None:
    fields = {"name": "weekly", "question": COUNT, "epsilon": "0.05", "max_rows": "2", "every": "week", "at": "07:30"}
    assert fresh.post("ada", f"{OWN}/schedules", fields).status_code == 303
    assert "each week, at 07:30 UTC" in fresh.get("ada", f"{OWN}/schedules").text
    assert fresh.post("ada", f"{OWN}/schedules", {**fields, "name": "No Name!"}).status_code == 422
    assert fresh.post("ada", f"{OWN}/schedules", {**fields, "epsilon": "", "name": "free"}).status_code == 422
    assert fresh.post("ada", f"{OWN}/schedules/remove", {"name": "weekly"}).status_code == 303
    assert "07:30" not in fresh.get("ada", f"{OWN}/schedules").text.replace('value="06:00"', "")


def test_registering_says_what_is_wrong(site: Site) -> None:
    fields = {"name": VISITS, "version": "2", "source": "/etc/passwd", "codebook": "codebook: 1", "epsilon": "1"}
    wrong = site.post("cora", "/register", fields)
    assert wrong.status_code == 422 and "\n/etc/passwd</textarea>" in wrong.text
    assert re.search(r'name="codebook"[^>]*aria-invalid="true"', wrong.text)
    assert site.post("cora", "/register", {**fields, "epsilon": ""}).status_code == 422
    assert site.post("cora", "/register", {**fields, "name": "elsewhere"}).status_code == 403
    assert site.post("ada", "/register", fields).status_code == 403


def test_what_an_epsilon_means_is_said_and_drawn(site: Site) -> None:
    page = site.get("ada", "/meaning?epsilon=1&prior=20")
    assert page.status_code == 200 and page.text.count("<svg") > 2
    for words in ("73 of 100 possible outputs", "73.2 %", "5 % of the innocent", "20 %"):
        assert words in page.text, words
    for wrong in ("epsilon=x", "epsilon=-1", "epsilon=1e999999999", f"epsilon={'9' * 500}", "epsilon=1&delta=2"):
        assert site.get("ada", f"/meaning?{wrong}").status_code == 422, wrong
    assert site.get("ada", "/meaning?epsilon=1&prior=1e99999999").status_code == 200


def test_problems_have_pages_with_their_words(site: Site) -> None:
    absent = site.get("ada", "/nothing/there")
    assert absent.status_code == 404 and "There is no such thing" in absent.text and "<main" in absent.text
    refused = site.get("ada", "/people")
    assert refused.status_code == 403 and "ada may not add people" in refused.text
    assert site.get("ada", "/api/nothing").headers["content-type"] == "application/problem+json"


def test_light_and_dark_are_remembered_without_a_script(site: Site) -> None:
    led = site.post("ada", "/theme", {"theme": "dark", "next": "/tokens"})
    assert led.headers["location"] == "/tokens" and "sfumato-theme=dark" in led.headers["set-cookie"]
    chosen = site.call("ada", "GET", "/tokens", headers={"cookie": f"sfumato={site.visits['ada']}; sfumato-theme=dark"})
    assert '<html lang="en" data-theme="dark">' in chosen.text
    strange = site.call("ada", "GET", "/tokens", headers={"cookie": f"sfumato={site.visits['ada']}; sfumato-theme=x"})
    assert "data-theme" not in strange.text
    assert "set-cookie" not in site.post("ada", "/theme", {"theme": "<script>"}).headers


def test_what_pages_load_is_kept_for_ever_and_comes_from_here(site: Site) -> None:
    page = site.get(None, "/sign-in").text
    loaded = re.findall(r'(?:src|href)="(/static/[^"]*)"', page)
    assert len(loaded) >= 4
    for path in loaded:
        answered = site.get(None, path)
        assert answered.status_code == 200 and "immutable" in answered.headers["cache-control"]
        assert "http://" not in answered.text.replace("http://www.w3.org", "") and "https://" not in answered.text
    old = site.get(None, re.sub("/static/[0-9a-f]+/", "/static/0/", loaded[0]))
    assert old.status_code == 200 and old.headers["cache-control"] == "no-store"
    for path in ("/static/0/base.html", "/static/0/..%2fapp.py", "/static/0/%2e%2e"):
        assert site.get(None, path).status_code in (400, 404)


def test_pages_are_kept_by_nobody_and_forbid_scripts_of_their_own(site: Site) -> None:
    answered = site.get("ada", "/")
    policy = answered.headers["content-security-policy"]
    assert answered.headers["cache-control"] == "no-store" and "unsafe" not in policy and "script-src 'self'" in policy
