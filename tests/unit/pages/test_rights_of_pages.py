"""Who is shown which page, and whose forms are taken: the matrix of rights, as pages keep to it."""

from __future__ import annotations

import pytest
from starlette.routing import Route
from tests.unit.pages.site import OWN_PAGE, Site
from tests.unit.pages.world import HOSTILE, ROLES, STRANGER, UNASKED, VISITS, pages_of

from sfumato.server import pages
from sfumato.service.rights import Action

NEEDED: dict[str, tuple[Action, ...]] = {
    "people": (Action.MANAGE_PEOPLE,),
    "tokens of": (Action.MANAGE_PEOPLE,),
    "state": (Action.WATCH,),
    "new version": (Action.REGISTER,),
    "data set": (Action.DESCRIBE,),
    "ask": (Action.EXPLAIN,),
    "answers": (Action.SEE_OWN_ANSWERS, Action.SEE_ANSWERS),
    "answer": (Action.SEE_OWN_ANSWERS, Action.SEE_ANSWERS, Action.SEE_PUBLISHED),
    "share": (Action.REQUEST_SHARE,),
    "schedules": (Action.SCHEDULE,),
    "requests": (Action.SEE_LIMITS,),
    "limits": (Action.SEE_LIMITS,),
    "divide": (Action.DECIDE,),
    "checklist": (Action.KEEP_CHECKLIST,),
    "publish": (Action.PUBLISH,),
    "published": (Action.SEE_PUBLISHED,),
    "book": (Action.READ_BOOK,),
    "again": (Action.EXPLAIN,),
    "registry": (Action.PUBLISH,),
    "webhooks": (Action.KEEP_WEBHOOKS,),
}
"""What must be allowed to somebody who is shown a page: one of these."""

FOR_ALL = ("home", "meaning", "tokens", "account", "openly", "openly one")
OPENLY = ("openly", "openly one")
CURATORS = ("register", "upload")
SERVICE = ("people", "tokens of", "state")
PEOPLE = (*ROLES, STRANGER)


def expected(site: Site, who: str, page: str) -> int:
    if page in FOR_ALL:
        return 200
    if page in CURATORS:
        return 200 if ROLES.get(who) == "curator" else 403
    person = site.world.person(who)
    data_set = "" if page in SERVICE else VISITS
    return 200 if any(person.may(action, data_set).allowed for action in NEEDED[page]) else 403


@pytest.mark.parametrize("who", PEOPLE)
def test_pages_are_shown_by_the_matrix_of_rights(site: Site, who: str) -> None:
    wanted = {page: expected(site, who, page) for page in pages_of(VISITS, 1)}
    assert {200, 403} == set(wanted.values())
    addresses = pages_of(VISITS, site.world.answers[VISITS])
    assert {page: site.get(who, path).status_code for page, path in addresses.items()} == wanted


def test_whoever_is_not_signed_in_is_led_to_where_they_can(site: Site) -> None:
    for page, path in pages_of(VISITS, site.world.answers[VISITS]).items():
        answered = site.get(None, path)
        assert answered.status_code == (200 if page in OPENLY else 303), page
        assert page in OPENLY or answered.headers["location"].startswith("/sign-in")


def test_links_lead_nowhere_that_is_refused(site: Site) -> None:
    for who in PEOPLE:
        asked: dict[str, int] = {}
        for path in pages_of(VISITS, site.world.answers[VISITS]).values():
            page = site.get(who, path)
            hrefs = {part.partition('"')[0] for part in page.text.split('href="')[1:]}
            own = {href.replace("&amp;", "&") for href in hrefs if href.startswith("/") and "/static/" not in href}
            asked |= {href: site.get(who, href).status_code for href in own - asked.keys()}
            refused = {href for href in own if asked[href] in (403, 404, 422, 500)}
            assert not refused, (who, path, refused)


def forms() -> list[str]:
    """The addresses that take forms, on the data set of the tests."""
    routes = [route for kind in pages.KINDS for route in kind.router().routes if isinstance(route, Route)]
    return [route.path.replace("{data_set}", VISITS) for route in routes if route.methods and "POST" in route.methods]


def test_every_form_needs_the_token_of_the_visit_and_our_own_page(site: Site) -> None:
    assert len(forms()) > 15
    for path in forms():
        for who in ROLES:
            for token in ("", "0" * 64, None):
                assert site.post(who, path, {"a": "b"}, token=token).status_code == 403, path
            for headers in ({}, {"origin": "https://elsewhere.example"}, OWN_PAGE | {"sec-fetch-site": "cross-site"}):
                assert site.post(who, path, {"a": "b"}, headers=headers).status_code == 403, path


def test_forms_of_a_browser_that_sends_no_referrer_are_taken(site: Site) -> None:
    told = {"origin": "null", "sec-fetch-site": "same-origin"}
    assert site.post("ada", "/theme", {"theme": "dark"}, headers=told).status_code == 303
    assert site.post("ada", "/theme", {"theme": "dark"}, headers={"origin": "null"}).status_code == 403
    assert site.post("ada", "/theme", {}, headers=told | {"sec-fetch-site": "cross-site"}).status_code == 403


def test_forms_about_a_data_set_are_refused_to_strangers(site: Site) -> None:
    before = site.world.house.ledger.head.entry
    full = {
        "question": "SELECT COUNT(*) FROM visits",
        "epsilon": "0.01",
        "max_rows": "1",
        "do": "ask",
        "purpose": "p",
        "reason": "r",
        "name": "n",
        "words": "w",
        "item": "1a",
        "number": "1",
        "request": "1",
        "share": "ada",
        "needed": "1",
        "address": "https://hooks.example/x",
        "event-0": "yes",
    }
    for path in forms():
        if not path.startswith("/data/") and not path.startswith("/people"):
            continue
        for who in (STRANGER, "adam") if path.startswith("/data/") else PEOPLE:
            if who == "adam" and path.startswith("/people"):
                continue
            assert site.post(who, path, full).status_code == 403, (who, path)
    assert site.world.house.ledger.head.entry == before


def test_roles_stay_in_their_own_data_sets(site: Site) -> None:
    for who in ("ada", "olga", "axel"):
        for path in pages_of(UNASKED, 1).values():
            if f"/data/{UNASKED}" in path:
                assert site.get(who, path).status_code == 403


def test_an_answer_of_one_data_set_is_not_found_under_another(site: Site) -> None:
    number = site.world.answers[HOSTILE]
    assert site.get("ada", f"/data/{HOSTILE}/answers/{number}").status_code == 200
    assert site.get("ada", f"/data/{VISITS}/answers/{number}").status_code == 403
    assert site.get("ada", f"/data/{VISITS}/answers/999999").status_code == 403


def test_nobody_is_led_elsewhere(site: Site) -> None:
    for elsewhere in (
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "javascript:alert(1)",
    ):
        led = site.call("ada", "GET", "/sign-in", params={"next": elsewhere})
        assert led.headers["location"] == "/"
        shown = site.call(None, "GET", "/sign-in", params={"next": elsewhere})
        assert "evil" not in shown.text and "javascript:" not in shown.text
        assert site.post("ada", "/theme", {"next": elsewhere}).headers["location"] == "/"
    assert site.call("ada", "GET", "/sign-in", params={"next": "/tokens"}).headers["location"] == "/tokens"
